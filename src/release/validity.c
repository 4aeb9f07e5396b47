/*
 * The check of a whole source: see validity.h.
 *
 * A known content costs a pass of hashing; a new one is read table by table,
 * with room for the columns of constraints of one table at a time.
 */
#include "release/validity.h"

#include <string.h>

#include "base/sha256.h"
#include "ledger/ledger.h"
#include "release/child.h"

/* --- what is declared ----------------------------------------------------- */

static void declared_columns(struct sb *b, const struct table *t)
{
    for (size_t i = 0; i < t->n_cols; i++)
        sb_printf(b, "%s%.*s %s%s", i ? ", " : " (", PSTR(t->cols[i].name),
                  type_name(t->cols[i].type),
                  t->cols[i].not_null ? " not null" : "");
    sb_cstr(b, ")");
}

enum status validity_declared(struct prepared *p, struct str *out,
                              struct err *err)
{
    struct sb b;
    char hex[SHA256_HEX];
    sb_init(&b, &p->arena);
    for (size_t i = 0; i < p->schema.tables.n; i++) {
        const struct table *t = &p->schema.tables.p[i];
        sb_str(&b, t->name);
        declared_columns(&b, t);
        schema_print_form(&b, &p->schema, t);
        for (size_t k = 0; k < t->degrees.n; k++) {
            sb_cstr(&b, degree_counts_rows(&t->degrees.p[k]) ? " rows " : " ");
            degree_print(&b, t, &t->degrees.p[k]);
        }
        if (t->bytes_at_most) {
            sb_cstr(&b, " bytes ");
            sb_u128(&b, t->bytes_at_most);
        }
        sb_char(&b, '\n');
    }
    if (b.failed)
        return err_nomem(err);
    sha256_text(b.p, b.n, hex);
    *out = str_copy(&p->arena, str_of(hex));
    return out->p ? OK : err_nomem(err);
}

/* --- the rows ------------------------------------------------------------- */

static bool *constrained(struct prepared *p, const struct table *t)
{
    bool *wanted = NEWS(&p->arena, bool, t->n_cols + 1);
    for (size_t i = 0; wanted && i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        for (size_t c = 0; c < d->n_x; c++)
            wanted[d->x[c]] = true;
        for (size_t c = 0; !degree_counts_rows(d) && c < d->n_y; c++)
            wanted[d->y[c]] = true;
    }
    for (size_t c = 0; wanted && t->bytes_at_most && c < t->n_cols; c++)
        wanted[c] = true;
    return wanted;
}

static enum status check_table(struct prepared *p, size_t table,
                               struct violations *v, struct err *err)
{
    struct store *st;
    bool *wanted = constrained(p, &p->schema.tables.p[table]);
    if (!wanted)
        return err_nomem(err);
    TRY(store_new(&p->session->mem, &p->schema, &st, err));
    enum status s = source_load_strictly(p->source, table, wanted, st, err);
    if (s == OK)
        s = evaluate_constraints(p, st, v, err);
    store_free(st);
    return s;
}

/* Is everything that is declared true of the tables? Table by table, all
 * columns read; E_DATA, E_SOURCE, E_CONSTRAINT. OWNER. */
static enum status validity_of_rows(struct prepared *p, struct err *err)
{
    struct violations v = {0};
    struct sb b;
    for (size_t i = 0; i < p->schema.tables.n; i++)
        TRY(check_table(p, i, &v, err));
    if (!v.list.n)
        return OK;
    sb_init(&b, &p->arena);
    degree_print(&b, &p->schema.tables.p[v.list.p[0].table],
                 v.list.p[0].degree);
    return err_set(err, E_CONSTRAINT,
                   "the data break the declared constraint %s", b.p ? b.p : "");
}

/* --- in processes of their own -------------------------------------------- */

struct validity_job {
    struct prepared *p;
    const struct source_print *print; /* of the content to be checked */
};

static enum status reopen(struct prepared *p, struct err *err)
{
    p->session->progress.tick = NULL;
    p->session->mem.limit = 0; /* not a matter of what the question needs */
    return prepare_reopen(p, err);
}

static enum status hash_work(void *ctx, struct str *out, struct err *err)
{
    struct validity_job *j = ctx;
    struct source_print print;
    TRY(reopen(j->p, err));
    TRY(source_fingerprint(j->p->source, &j->p->arena, &print, err));
    *out = (struct str){(const char *)print.each, print.n * sizeof *print.each};
    return OK;
}

static enum status check_work(void *ctx, struct str *out, struct err *err)
{
    struct validity_job *j = ctx;
    *out = STR("");
    TRY(reopen(j->p, err));
    TRY(source_expect(j->p->source, j->print, err));
    return validity_of_rows(j->p, err);
}

/* A program with threads cannot fork: then it happens here. */
static enum status apart(struct validity_job *j, child_fn *fn, struct str *out,
                         struct err *err)
{
    int kept[SOURCE_KEPT];
    struct child_limits l = {.keep = kept, .n_keep = prepare_kept(j->p, kept)};
    struct progress progress = j->p->session->progress;
    size_t limit = j->p->session->mem.limit;
    if (child_possible(NULL) == OK)
        return child_run(&j->p->arena, &l, fn, j, out, err);
    enum status s = fn(j, out, err);
    prepare_carry(j->p);
    j->p->session->progress = progress;
    j->p->session->mem.limit = limit;
    return s;
}

static enum status take_print(struct prepared *p, struct str bytes,
                              struct source_print *out, struct err *err)
{
    out->n = bytes.n / sizeof *out->each;
    out->each = NEWS(&p->arena, struct source_hash, out->n + 1);
    if (!out->each)
        return err_nomem(err);
    memcpy(out->each, bytes.p, out->n * sizeof *out->each);
    return OK;
}

/* --- seals ---------------------------------------------------------------- */

enum status validity_fingerprint(struct prepared *p, struct ledger *l,
                                 const struct source_print *print,
                                 struct str *out, struct err *err)
{
    char hex[SHA256_HEX];
    TRY(ledger_fingerprint(l, print->each, print->n * sizeof *print->each, hex,
                           err));
    *out = str_copy(&p->arena, str_of(hex));
    return out->p ? OK : err_nomem(err);
}

enum status validity_open(struct prepared *p, struct ledger *l,
                          struct validity *out, struct err *err)
{
    struct ledger_seal seal;
    struct sb b;
    bool found = false;
    sb_init(&b, &p->arena);
    source_name(p->source, &b);
    if (b.failed)
        return err_nomem(err);
    *out = (struct validity){.version = STR("live"), .source = sb_view(&b)};
    out->checkable =
        source_has_files(p->source) && source_is_repeatable(p->source);
    if (l && out->checkable)
        TRY(ledger_seal_get(l, &p->arena, p->session->opt.dataset, out->source,
                            STR(""), &seal, &found, err));
    out->sealed = found;
    out->copy = source_is_sealed_copy(p->source);
    sb_init(&b, &p->arena);
    if (out->checkable && source_stamp(p->source, &b, &out->newest))
        out->stamp = sb_view(&b);
    if (b.failed)
        return err_nomem(err);
    if (found)
        out->version = seal.version;
    return OK;
}

/* PRIVACY: once for a version, so that what is written to a table, or what
 * statistics the server takes, is not seen in how long later answers take. The
 * limit on memory is the owner's: another one is another decision. */
enum status validity_engine(struct prepared *p, struct ledger *l,
                            const struct validity *v, struct err *err)
{
    struct ledger_engine e = {.dataset = p->session->opt.dataset,
                              .source = v->source,
                              .version = v->version};
    bool sql = false, found = false;
    if (!str_is(p->session->opt.engine, "auto") || !source_counts(p->source))
        return OK;
    e.memory = str_printf(&p->arena, "%zu", p->session->mem.limit);
    if (!e.memory.p)
        return err_nomem(err);
    TRY(ledger_engine_get(l, &e, &found, &sql, err));
    if (!found) {
        TRY(evaluate_prefers_sql(p, &e.sql, &e.believed, err));
        TRY(ledger_engine_put(l, &e, &sql, err));
    }
    p->engine = sql ? ENGINE_SQL : ENGINE_EMBEDDED;
    return OK;
}

static enum status stale(struct err *err)
{
    err_set(err, E_STALE, "the data are not the sealed version");
    err_detail(err, "Nothing was charged.");
    err_hint(err, "The owner seals a new version with dpcount seal.");
    return E_STALE;
}

static enum status unsealed(struct err *err)
{
    err_set(err, E_STALE, "the data are not sealed");
    err_detail(err, "Nothing was charged.");
    err_hint(err, "The owner seals them with dpcount seal.");
    return E_STALE;
}

/* PRIVACY: one text for every reason. */
static enum status invalid(struct err *err)
{
    err_set(err, E_DATA, "the data could not be read");
    err_detail(err, "A file is malformed, or a declared constraint does not "
                    "hold. Nothing was charged.");
    err_hint(err, "The owner finds the place with dpcount check.");
    return E_DATA;
}

/* Checks a content that is new, and remembers the outcome where it is one of
 * the content and not of the machine. */
static enum status check_new(struct prepared *p, struct ledger *l,
                             struct ledger_seal *seal, struct validity *v,
                             struct err *why, struct err *err)
{
    struct validity_job j = {p, &v->print};
    struct str out;
    enum status s = apart(&j, check_work, &out, why);
    seal->valid = s == OK;
    if (s == OK || s == E_CONSTRAINT)
        TRY(ledger_seal_put(l, seal, err));
    return s == OK ? OK : invalid(err);
}

static enum status check_content(struct prepared *p, struct ledger *l,
                                 struct validity *v, struct err *why,
                                 struct err *err)
{
    struct ledger_seal known,
        seal = {.dataset = p->session->opt.dataset, .source = v->source};
    bool found;
    TRY(validity_fingerprint(p, l, &v->print, &seal.fingerprint, err));
    TRY(validity_declared(p, &seal.constraints, err));
    seal.version = seal.fingerprint;
    if (v->copy && !v->sealed)
        return stale(err);
    if (v->sealed) {
        TRY(ledger_seal_get(l, &p->arena, seal.dataset, v->source, v->version,
                            &known, &found, err));
        if (!found || !str_eq(known.fingerprint, seal.fingerprint))
            return stale(err);
    }
    TRY(ledger_seal_find(l, &p->arena, seal.dataset, v->source,
                         seal.fingerprint, seal.constraints, &known, &found,
                         err));
    if (!found)
        return check_new(p, l, &seal, v, why, err);
    err_set(why, E_CONSTRAINT, "this content was found to be wrong before");
    return known.valid ? OK : invalid(err);
}

enum status validity_check(struct prepared *p, struct ledger *l,
                           struct validity *v, struct err *why, struct err *err)
{
    struct validity_job j = {p, NULL};
    struct str out;
    err_clear(why);
    if (p->session->opt.sealed && !v->sealed)
        return unsealed(err);
    if (!v->checkable)
        return OK;
    if (!validity_known_get(p, v)) {
        if (apart(&j, hash_work, &out, why) != OK)
            return invalid(err);
        TRY(take_print(p, out, &v->print, err));
        validity_known_put(p, v);
    }
    return check_content(p, l, v, why, err);
}
