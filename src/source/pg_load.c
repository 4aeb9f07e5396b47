/*
 * Rows of a PostgreSQL table: binary COPY of the wanted columns. A column
 * whose type is not read natively, or whose declared type is another than the
 * server's, comes as text.
 */
#include "source/pg.h"

#include <libpq-fe.h>
#include <endian.h>
#include <string.h>

struct field {
    uint32_t oid;
};

struct copy {
    struct source *src;
    const struct src_table *t;
    struct store_loader *l;
    struct field *fields;
    bool started; /* the header was seen */
    uint64_t bytes;
    struct ticker tick;
    struct err *err;
};

/* Can the cell functions take the server's type as the declared one? */
static bool fits(const struct src_column *c, enum type want)
{
    if (c->as_text)
        return false;
    if (c->type == T_INT || c->type == T_TEXT)
        return want != T_BOOL || c->type == T_TEXT;
    return c->type == want;
}

static enum status copy_sql(struct copy *c, const uint32_t *from, struct sb *b)
{
    sb_init(b, &c->l->arena);
    sb_cstr(b, "COPY (SELECT ");
    for (size_t i = 0; i < c->l->n_cols; i++) {
        const struct src_column *col = &c->t->cols[from[i]];
        bool native = fits(col, c->l->cols[i].want);
        sb_cstr(b, i ? ", " : "");
        sql_ident(b, col->name);
        sb_cstr(b, native ? "" : "::text");
        c->fields[i].oid = native ? col->type_oid : (uint32_t)OID_TEXT;
    }
    sb_cstr(b, c->l->n_cols ? " FROM " : "1 FROM ");
    sql_ident(b, c->t->namespace_);
    sb_char(b, '.');
    sql_ident(b, c->t->name);
    sb_cstr(b, ") TO STDOUT (FORMAT binary)");
    return b->failed ? store_nomem(c->src->mem, c->err) : OK;
}

static enum status bad_stream(struct copy *c)
{
    return err_set(c->err, E_SOURCE, "PostgreSQL's binary COPY is malformed");
}

/* Signature, flags, extension length and as many bytes. */
static enum status skip_header(struct copy *c, const char **p, const char *end)
{
    static const char sign[11] = "PGCOPY\n\377\r\n";
    uint32_t ext;
    if (end - *p < 19 || memcmp(*p, sign, sizeof sign) != 0)
        return bad_stream(c);
    memcpy(&ext, *p + 15, 4);
    ext = be32toh(ext);
    *p += 19;
    if ((size_t)(end - *p) < ext)
        return bad_stream(c);
    *p += ext;
    c->started = true;
    return OK;
}

static enum status load_fields(struct copy *c, const char **p, const char *end)
{
    struct store_loader *l = c->l;
    for (size_t i = 0; i < l->n_cols; i++) {
        uint32_t n;
        enum status s;
        if (end - *p < 4)
            return bad_stream(c);
        memcpy(&n, *p, 4);
        n = be32toh(n);
        *p += 4;
        if (n == UINT32_MAX) {
            s = cell_null(l, i, c->err);
        } else {
            if ((size_t)(end - *p) < n)
                return bad_stream(c);
            s = pg_cell(l, i, c->fields[i].oid, (struct str){*p, n}, c->err);
            *p += n;
        }
        if (s == E_DATA || s == E_CONSTRAINT)
            err_detail(c->err, "In table \"%.*s\".", PSTR(c->t->name));
        TRY(s);
    }
    return OK;
}

/* One CopyData message: a row, the header or the trailer, or several. */
static enum status load_message(struct copy *c, const char *p, size_t n)
{
    const char *end = p + n;
    if (!c->started)
        TRY(skip_header(c, &p, end));
    while (end - p >= 2) {
        uint16_t count;
        memcpy(&count, p, 2);
        count = be16toh(count);
        p += 2;
        if (count == UINT16_MAX)
            return OK; /* trailer */
        size_t want = c->l->n_cols ? c->l->n_cols : 1;
        if (count != want)
            return bad_stream(c);
        TRY(loader_room(c->l, c->err));
        TRY(load_fields(c, &p, end));
        if (!c->l->n_cols)
            p = end;
        c->l->n_rows++;
    }
    return OK;
}

/* Takes what has arrived; *done at the end of the stream. */
static enum status drain(struct copy *c, bool *done)
{
    PGconn *conn = c->src->pg->conn;
    char *buf;
    int n;
    while ((n = PQgetCopyData(conn, &buf, 1)) > 0) {
        enum status s = load_message(c, buf, (size_t)n);
        c->bytes += (uint64_t)n;
        PQfreemem(buf);
        TRY(s);
        if (c->l->n_rows % 4096 == 0)
            TRY(ticker_tick(&c->tick, c->l->n_rows, c->err));
    }
    if (n == -2)
        return pg_failed(c->src, "read from", NULL, c->err);
    *done = n == -1;
    return OK;
}

static enum status stream(struct copy *c)
{
    bool done = false;
    TRY(drain(c, &done));
    while (!done) {
        TRY(pg_wait(c->src, &c->tick, c->l->n_rows, c->err));
        TRY(drain(c, &done));
    }
    enum status s = OK;
    for (PGresult *res; (res = PQgetResult(c->src->pg->conn));) {
        if (s == OK && PQresultStatus(res) != PGRES_COMMAND_OK)
            s = pg_failed(c->src, "read from", res, c->err);
        PQclear(res);
    }
    return s;
}

/* Stops a COPY that is not read to its end; the connection is not used
 * again, but the server should not go on. */
static void stop_copy(struct source *src)
{
    char text[256];
    PGcancel *cancel = PQgetCancel(src->pg->conn);
    if (cancel)
        PQcancel(cancel, text, sizeof text);
    PQfreeCancel(cancel);
}

enum status pg_load(struct source *src, const struct src_table *t,
                    struct store_loader *l, const struct progress *p,
                    struct err *err)
{
    struct copy c = {.src = src, .t = t, .l = l, .err = err};
    uint32_t *from;
    struct sb b;
    PGresult *res;
    ticker_init(&c.tick, p, t->name.p, 0);
    c.fields = NEWS(&l->arena, struct field, l->n_cols + 1);
    if (!c.fields)
        return store_nomem(src->mem, err);
    TRY(loader_sources(t, l, &from, err));
    TRY(copy_sql(&c, from, &b));
    TRY(pg_query(src, b.p, &c.tick, &res, err));
    PQclear(res);
    enum status s = stream(&c);
    if (s != OK)
        stop_copy(src);
    return s;
}
