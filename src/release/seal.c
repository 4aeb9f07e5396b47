/*
 * seal: gives the content of a source a name. Everything is read strictly, all
 * declared constraints are checked, and the ledger remembers the content's
 * fingerprint under the owner's name for it. With --out the rows are written
 * into a file of their own that nobody writes to again; a server is sealed only
 * so, since what it holds cannot be compared with what was sealed.
 *
 * OWNER: what does not hold is told in full; a version that fails is not
 * written down. Memory: one table at a time.
 */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sha256.h"
#include "ledger/ledger.h"
#include "release/release.h"
#include "release/validity.h"

struct sealing {
    struct session *session;
    struct prepared p; /* the source as it is */
    struct source_print print;
    struct source_copy *copy; /* NULL: none */
    struct violations violations;
    size_t n_tables, n_converted, n_dropped;
    struct sha256 rows;                /* of all tables, in order */
    unsigned char cells[SHA256_BYTES]; /* what that came to */
};

/* --- what is asked -------------------------------------------------------- */

static enum status check_name(struct str name, struct err *err)
{
    bool bad = !name.n || name.n > 100 || str_is(name, "live");
    for (size_t i = 0; i < name.n; i++)
        bad |= (unsigned char)name.p[i] <= 0x20 || name.p[i] == 0x7f;
    if (!bad)
        return OK;
    err_set(err, E_VALUE,
            "a version is named by up to 100 characters without "
            "blanks, and not \"live\"");
    err_hint(err, "For example --version 2024-06.");
    return E_VALUE;
}

static enum status check_options(const struct session *s, struct err *err)
{
    const struct options *o = &s->opt;
    TRY(check_name(o->version, err));
    if (o->ledger.n)
        return OK;
    err_set(err, E_USAGE, "no ledger was given");
    err_hint(err, "The seal is kept in the ledger: --ledger FILE.");
    return E_USAGE;
}

static enum status check_source(const struct sealing *s, struct err *err)
{
    const struct source *src = s->p.source;
    if (source_is_sealed_copy(src))
        return err_set(err, E_USAGE, "this is a sealed copy already");
    if (s->session->opt.out.n ||
        (!source_is_server(src) && source_is_repeatable(src)))
        return OK;
    err_set(err, E_USAGE, "this source is sealed only as a copy");
    err_hint(err, "Name the file: --out FILE. Releases then read it with "
                  "--db FILE.");
    return E_USAGE;
}

/* --- the rows ------------------------------------------------------------- */

/* PRIVACY: the transaction begins behind the first hash (fingerprint.c). */
static enum status fix_content(struct sealing *s, struct err *err)
{
    struct prepared *p = &s->p;
    if (!source_has_files(p->source) || !source_is_repeatable(p->source))
        return OK;
    TRY(source_fingerprint(p->source, &p->arena, &s->print, err));
    prepare_close_source(p);
    TRY(prepare_reopen(p, err));
    return source_expect(p->source, &s->print, err);
}

static void count_odd(struct sealing *s, const struct store_table *t)
{
    s->n_tables++;
    s->n_dropped += t->n_dropped;
    for (size_t i = 0; i < t->n_cols; i++)
        s->n_converted += t->cols[i].odd.n_converted;
}

static enum status take_table(struct sealing *s, size_t table, struct store *st,
                              const struct progress *progress, struct err *err)
{
    TRY(source_load_whole(s->p.source, table, st, progress, err));
    const struct store_table *t = &st->tables[table];
    if (!t->loaded)
        return OK;
    count_odd(s, t);
    source_hash_rows(t, &s->rows);
    TRY(evaluate_constraints(&s->p, st, &s->violations, err));
    return s->copy ? source_copy_table(s->copy, table, t, err) : OK;
}

static enum status take_tables(struct sealing *s, struct err *err)
{
    struct progress progress = session_progress(s->session);
    sha256_init(&s->rows);
    for (size_t i = 0; i < s->p.schema.tables.n; i++) {
        struct store *st;
        TRY(store_new(&s->session->mem, &s->p.schema, &st, err));
        enum status r = take_table(s, i, st, &progress, err);
        store_free(st);
        TRY(r);
    }
    sha256_end(&s->rows, s->cells);
    return OK;
}

static enum status judge(const struct sealing *s, struct err *err)
{
    if (s->violations.list.n) {
        err_set(err, E_CONSTRAINT, "the data break %zu declared constraints",
                s->violations.list.n);
        err_hint(err, "dpcount check lists them. Nothing was sealed.");
        return E_CONSTRAINT;
    }
    bool whole = !s->n_converted && !s->n_dropped;
    /* PRIVACY: a row that does not exist for counting still hands on
     * ownership, and an ill-typed key is its bytes, not NULL. A copy of typed
     * cells has neither. */
    if (s->session->opt.out.n && !whole && s->p.schema.has_entities) {
        err_set(err, E_UNSUPPORTED,
                "a copy of ill-typed cells would not know whose rows they are");
        err_hint(err, "Correct the cells that dpcount check lists, or seal "
                      "without --out. Nothing was sealed.");
        return E_UNSUPPORTED;
    }
    if (s->session->opt.accept_nulls || whole)
        return OK;
    err_set(err, E_DATA,
            "%zu cells are not of their declared types, and %zu rows do not "
            "exist for that or for a NULL",
            s->n_converted, s->n_dropped);
    err_hint(err, "dpcount check lists them. With --accept-nulls such cells "
                  "are NULL. Nothing was sealed.");
    return E_DATA;
}

static enum status read_rows(struct sealing *s, struct err *err)
{
    const struct options *o = &s->session->opt;
    if (o->out.n)
        TRY(source_copy_begin(s->p.source, o->out.p, o->version, &s->copy,
                              err));
    enum status st = take_tables(s, err);
    if (st == OK)
        st = judge(s, err);
    if (st != OK)
        source_copy_abort(s->copy);
    else if (s->copy)
        st = source_copy_end(s->copy, err);
    s->copy = NULL;
    return st;
}

/* --- what was written ----------------------------------------------------- */

/* Opens the copy as a release will, and compares the rows. */
static enum status compare(struct sealing *s, struct sealing *written,
                           struct err *err)
{
    TRY(prepare_schema(&written->p, SOURCE_REQUIRED, err));
    TRY(fix_content(written, err));
    TRY(take_tables(written, err));
    return memcmp(s->cells, written->cells, sizeof s->cells)
               ? err_internal(err, "seal: the copy has other rows")
               : OK;
}

/* --- the ledger ----------------------------------------------------------- */

static enum status put(struct sealing *s, struct ledger *l, struct err *err)
{
    const struct options *o = &s->session->opt;
    char cells[SHA256_HEX];
    struct sb name;
    struct ledger_seal seal = {.dataset = o->dataset,
                               .version = o->version,
                               .copy = o->out,
                               .explicit_ = true,
                               .valid = true};
    sb_init(&name, &s->p.arena);
    source_name(s->p.source, &name);
    if (name.failed)
        return err_nomem(err);
    seal.source = sb_view(&name);
    TRY(ledger_fingerprint(l, s->cells, sizeof s->cells, cells, err));
    seal.cells = str_of(cells);
    TRY(validity_declared(&s->p, &seal.constraints, err));
    TRY(validity_fingerprint(&s->p, l, &s->print, &seal.fingerprint, err));
    return ledger_seal_put(l, &seal, err);
}

static enum status remember(struct sealing *s, struct err *err)
{
    const struct options *o = &s->session->opt;
    struct ledger_access access = {.anchor = o->anchor.p};
    struct ledger *l;
    TRY(ledger_open(&s->session->mem, o->ledger.p, &access, &l, err));
    enum status st = put(s, l, err);
    ledger_close(l);
    return st;
}

/* --- the command ---------------------------------------------------------- */

static void report(const struct sealing *s, struct result *out)
{
    const struct options *o = &s->session->opt;
    struct json j;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "version");
    json_str(&j, o->version);
    json_key(&j, "tables");
    json_u128(&j, s->n_tables);
    json_key(&j, "checked");
    json_u128(&j, s->violations.n_checked);
    json_key(&j, "converted");
    json_u128(&j, s->n_converted);
    json_key(&j, "rows_left_out");
    json_u128(&j, s->n_dropped);
    json_key(&j, "copy");
    if (o->out.n)
        json_str(&j, o->out);
    else
        json_raw(&j, STR("null"));
    json_end(&j, '}');
    sb_printf(&out->text, "sealed %zu tables as version %.*s%s%.*s\n",
              s->n_tables, PSTR(o->version), o->out.n ? " in " : "",
              PSTR(o->out));
}

static enum status seal_copy(struct sealing *s, struct err *err)
{
    struct options *o = &s->session->opt;
    struct sealing written = {.session = s->session};
    struct str db = o->db;
    str_list tables = o->tables;
    prepared_init(&written.p, s->session);
    o->db = o->out;
    o->tables = (str_list){0};
    enum status st = compare(s, &written, err);
    if (st == OK)
        st = remember(&written, err);
    if (st != OK) /* nobody would take it for a version */
        unlink(o->out.p);
    prepared_fini(&written.p);
    o->db = db;
    o->tables = tables;
    return st;
}

static enum status seal(struct sealing *s, struct err *err)
{
    TRY(check_options(s->session, err));
    s->p.keep_all = true;
    TRY(prepare_schema(&s->p, SOURCE_REQUIRED, err));
    TRY(check_source(s, err));
    TRY(fix_content(s, err));
    TRY(read_rows(s, err));
    return s->session->opt.out.n ? seal_copy(s, err) : remember(s, err);
}

enum status ask_seal(struct session *session, struct str query,
                     struct result *out, struct err *err)
{
    struct sealing s = {.session = session};
    (void)query;
    prepared_init(&s.p, session);
    enum status st = seal(&s, err);
    if (st == OK)
        report(&s, out);
    prepared_fini(&s.p);
    return st;
}
