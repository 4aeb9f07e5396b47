/*
 * Texts of a database that is not in UTF-8. The server would convert them on
 * their way, and it ends the whole statement at the first that it cannot: a
 * byte that is no character of the encoding, or, in SQL_ASCII, no UTF-8.
 *
 * PRIVACY: so such texts are sent as their bytes, and are converted here,
 * where nothing fails: one row must not decide whether a question is answered.
 * Each byte has its own character (one of private use if the encoding has
 * none), so texts that differ there differ here. Encodings of several bytes are
 * refused before anything is charged.
 */
#include <stdio.h>
#include <string.h>

#include "source/postgres/pg.h"
#include "source/postgres/pg_lib.h"

enum { ASCII = 128, BYTES = 256, PRIVATE_USE = 0xF700 };

/* Encodings of one byte, and the bytes that are no character in them. */
static const struct single {
    const char *name, *holes;
} singles[] = {
    {"LATIN1", ""},
    {"LATIN2", ""},
    {"LATIN3", "a5aebec3d0e3f0"},
    {"LATIN4", ""},
    {"LATIN5", ""},
    {"LATIN6", ""},
    {"LATIN7", ""},
    {"LATIN8", ""},
    {"LATIN9", ""},
    {"LATIN10", ""},
    {"WIN1250", "8183889098"},
    {"WIN1251", "98"},
    {"WIN1252", "818d8f909d"},
    {"WIN1253", "81888a8c8d8e8f90989a9c9d9e9faad2ff"},
    {"WIN1254", "818d8e8f909d9e"},
    {"WIN1255", "818a8c8d8e8f909a9c9d9e9fcad9dadbdcdddedffbfcff"},
    {"WIN1256", ""},
    {"WIN1257", "8183888a8c90989a9c9fa1a5"},
    {"WIN1258", "818a8d8e8f909a9d9e"},
    {"WIN866", ""},
    {"WIN874",
     "81828384868788898a8b8c8d8e8f9098999a9b9c9d9e9fdbdcdddefcfdfeff"},
    {"KOI8R", ""},
    {"KOI8U", ""},
    {"ISO_8859_5", ""},
    {"ISO_8859_6", "a1a2a3a5a6a7a8a9aaabaeafb0b1b2b3b4b5b6b7b8b9babcbdbec0dbdc"
                   "dddedff3f4f5f6f7f8f9fafbfcfdfeff"},
    {"ISO_8859_7", "aed2ff"},
    {"ISO_8859_8", "a1bfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9da"
                   "dbdcdddedffbfcff"},
};

static const char *encoding_of(const struct source *src)
{
    const char *e = PQparameterStatus(src->pg->conn, "server_encoding");
    return e ? e : "an unknown encoding";
}

static const struct single *single_of(const char *name)
{
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (!strcmp(singles[i].name, name))
            return &singles[i];
    return NULL;
}

static bool is_text(const struct src_column *c)
{
    switch ((enum pg_oid)c->type_oid) {
    case OID_NAME:
    case OID_TEXT:
    case OID_BPCHAR:
    case OID_VARCHAR:
        return true;
    default:
        return c->as_text;
    }
}

bool pg_text_is_bytes(const struct source *src, const struct src_column *c)
{
    return is_text(c) && strcmp(encoding_of(src), "UTF8") != 0;
}

enum status pg_text_sql(const struct source *src, struct sb *column,
                        struct sb *out, struct err *err)
{
    const char *e = encoding_of(src);
    if (!single_of(e) && strcmp(e, "SQL_ASCII") != 0) {
        err_set(err, E_UNSUPPORTED,
                "texts of a database in %s cannot all be read", e);
        err_detail(err, "The server fails at characters that Unicode does not "
                        "have, and that would depend on the rows.");
        err_hint(err, "Restore a dump of it into a database in UTF8.");
        return E_UNSUPPORTED;
    }
    /* into its own encoding: nothing is converted */
    sb_printf(out, "pg_catalog.convert_to(%.*s, '%s')", PSTR(sb_view(column)),
              e);
    return OK;
}

/* --- one byte, one character -------------------------------------------------
 */

static bool is_hole(const struct single *s, unsigned byte)
{
    char hex[3];
    snprintf(hex, sizeof hex, "%02hhx", (unsigned char)byte);
    for (const char *p = s->holes; *p; p += 2)
        if (!strncmp(p, hex, 2))
            return true;
    return false;
}

static void give(struct pg_text *t, unsigned byte, const char *p, size_t n)
{
    memcpy(t->utf8[byte - ASCII], p, n);
    t->n[byte - ASCII] = (unsigned char)n;
}

static void give_private(struct pg_text *t, unsigned byte)
{
    unsigned c = PRIVATE_USE + byte;
    const char p[3] = {(char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                       (char)(0x80 | (c & 63))};
    give(t, byte, p, sizeof p);
}

/* Bytes of the character that begins at p; 0: none does. */
static size_t length_at(const char *p)
{
    unsigned char c = (unsigned char)*p;
    size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return *p && strlen(p) >= n ? n : 0;
}

/* The characters of all bytes that have one, in order. */
static enum status take(struct pg_text *t, const struct single *s,
                        const char *p, struct err *err)
{
    for (unsigned byte = ASCII; byte < BYTES; byte++) {
        if (is_hole(s, byte)) {
            give_private(t, byte);
            continue;
        }
        size_t n = length_at(p);
        if (!n)
            return err_internal(err, "pg_text: an encoding of other bytes");
        give(t, byte, p, n);
        p += n;
    }
    return OK;
}

enum status pg_text_open(struct source *src, struct pg_text *out,
                         struct err *err)
{
    char sql[2 * BYTES + 100];
    const struct single *s = single_of(encoding_of(src));
    PGresult *res;
    *out = (struct pg_text){.raw = !s};
    if (!s)
        return OK;
    int n = snprintf(sql, sizeof sql, "SELECT pg_catalog.convert_from('\\x");
    for (unsigned byte = ASCII; byte < BYTES; byte++)
        if (!is_hole(s, byte))
            n += snprintf(sql + n, sizeof sql - (size_t)n, "%02x", byte);
    snprintf(sql + n, sizeof sql - (size_t)n, "', '%s')", s->name);
    TRY(pg_query(src, sql, NULL, &res, err));
    enum status r = take(out, s, PQgetvalue(res, 0, 0), err);
    PQclear(res);
    return r;
}

static size_t convert(const struct pg_text *t, struct str d, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d.n; i++) {
        unsigned char c = (unsigned char)d.p[i];
        if (c < ASCII) {
            out[n++] = d.p[i];
            continue;
        }
        memcpy(out + n, t->utf8[c - ASCII], t->n[c - ASCII]);
        n += t->n[c - ASCII];
    }
    return n;
}

enum status pg_text_cell(const struct pg_text *t, struct store_loader *l,
                         size_t i, struct str d, struct err *err)
{
    if (t->raw)
        return cell_text(l, i, d, err);
    arena_fini(&l->scratch);
    char *out = arena_alloc(&l->scratch, 4 * d.n + 1);
    if (!out)
        return store_nomem(l->st->mem, err);
    return cell_text(l, i, (struct str){out, convert(t, d, out)}, err);
}
