/*
 * Admission: see strict.h. PRIVACY: everything here is a function of the
 * query, the policy, the ledger's limits and public tables.
 */
#include "release/strict.h"

#include <string.h>

#include "bound/work.h"
#include "release/evaluate.h"

static bool says_yes(struct str s)
{
    return str_is(s, "yes");
}

/* --- public sizes --------------------------------------------------------- */

/* A query over the public tables of the question, a column of each. */
static enum status public_query(struct prepared *p, struct cq *out,
                                struct err *err)
{
    struct schema *s = &p->schema;
    *out = (struct cq){.schema = s};
    out->atoms = NEWS(&p->arena, struct atom, s->tables.n + 1);
    if (!out->atoms)
        return err_nomem(err);
    for (uint32_t t = 0; t < s->tables.n; t++) {
        bool used = false;
        for (size_t i = 0; i < p->n_counts; i++)
            used = used || prepare_count_uses(&p->counts[i], t);
        if (!used || table_is_private(&s->tables.p[t]))
            continue;
        struct atom *at = &out->atoms[out->n_atoms++];
        *at = (struct atom){
            .table = t, .n_args = (uint32_t)s->tables.p[t].n_cols, .rowid = -1};
        at->args = NEWS(&p->arena, struct term, at->n_args + 1);
        if (!at->args)
            return err_nomem(err);
        at->args[0].kind = TERM_VAR;
    }
    return OK;
}

/* Rows of public tables; of all others U128_INF. */
static enum status public_rows(struct prepared *p, u128 **out, struct err *err)
{
    struct cq q;
    struct store *st = NULL;
    u128 *rows = NEWS(&p->arena, u128, p->schema.tables.n + 1);
    *out = rows;
    if (!rows)
        return err_nomem(err);
    for (size_t t = 0; t < p->schema.tables.n; t++)
        rows[t] = U128_INF;
    TRY(public_query(p, &q, err));
    if (!q.n_atoms || !p->source)
        return OK;
    TRY(store_new(&p->session->mem, &p->schema, &st, err));
    enum status s = source_load(p->source, &q, st, NULL, err);
    for (uint32_t i = 0; s == OK && i < q.n_atoms; i++)
        rows[q.atoms[i].table] = st->tables[q.atoms[i].table].n_rows;
    store_free(st);
    return s;
}

/* --- what nothing bounds -------------------------------------------------- */

static enum status not_offered(const char *what, const char *hint,
                               struct err *err)
{
    err_set(err, E_UNSUPPORTED, "strict mode does not admit %s", what);
    err_detail(err, "The owner admits only questions whose work is bounded by "
                    "declared sizes. Nothing was charged.");
    err_hint(err, "%s", hint);
    return E_UNSUPPORTED;
}

static enum status covered(struct prepared *p, const struct priced *c,
                           struct err *err)
{
    if (p->source && source_is_server(p->source))
        return not_offered("questions to a server",
                           "The owner seals a copy: dpcount seal --out FILE.",
                           err);
    if (str_is(p->session->opt.engine, "sql"))
        return not_offered("--engine sql", "Leave --engine out.", err);
    if (p->schema.has_entities)
        return not_offered("entities", "Ask the owner.", err);
    if (c->q->is_sum)
        return not_offered("sums and averages",
                           "Ask for a count, or ask the owner.", err);
    if (c->q->tree)
        return not_offered("negation, unions and outer joins",
                           "Ask for a plain join, or ask the owner.", err);
    if (c->keys.found)
        return not_offered("keys that are found in private rows",
                           "Name the keys with --groups.", err);
    if (p->filters_exact)
        return not_offered("--filters exact", "Leave --filters out.", err);
    return OK;
}

static enum status name_missing(const struct table *t, const char *key,
                                struct err *err)
{
    err_set(err, E_TOO_COSTLY,
            "nothing bounds the work: table \"%.*s\" has no %s", PSTR(t->name),
            key);
    err_detail(err, "The owner admits only questions whose work is bounded by "
                    "declared sizes. Nothing was charged.");
    err_hint(err, "The owner declares %s for it in the policy.", key);
    return E_TOO_COSTLY;
}

static bool has_text(const struct table *t)
{
    for (size_t c = 0; c < t->n_cols; c++)
        if (t->cols[c].type == T_TEXT || t->cols[c].type == T_UNKNOWN)
            return true;
    return false;
}

/* Every private table asked must have its bounds. */
static enum status bounds_there(struct prepared *p, const struct priced *c,
                                const u128 *rows, struct err *err)
{
    const struct cq *q = c->q->query;
    struct bound_sizes sizes = {rows};
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct table *t = &p->schema.tables.p[q->atoms[i].table];
        u128 most;
        TRY(bound_rows(&p->arena, q, i, &sizes, &most, err));
        if (most == U128_INF)
            return name_missing(t, "rows_at_most", err);
        if (table_is_private(t) && !t->bytes_at_most && has_text(t))
            return name_missing(t, "bytes_at_most", err);
    }
    return OK;
}

/* --- what would help ------------------------------------------------------ */

struct admission {
    struct prepared *p;
    struct priced *counts;
    u128 *rows;
    u128 work, memory; /* limits; U128_INF: none */
};

static bool fits(const struct admission *x, const struct strict_cost *c)
{
    return c->work <= x->work && c->memory <= x->memory;
}

static enum status total_cost(const struct admission *x,
                              struct strict_cost *out, struct err *err)
{
    *out = (struct strict_cost){0};
    for (size_t i = 0; i < x->p->n_counts; i++) {
        const struct priced *c = &x->counts[i];
        struct strict_cost one;
        if (c->choice.kind == CHOICE_EXACT)
            continue;
        TRY(strict_cost(c, x->rows, c->choice.kind == CHOICE_SMOOTH, x->work,
                        &one, err));
        out->work = u128_add_inf(out->work, one.work);
        out->memory = u128_add_inf(out->memory, one.memory);
    }
    return OK;
}

/* Without a key equal rows are rows apart, and no bound on values bounds
 * them. */
static enum status propose_key(struct prepared *p, uint32_t table,
                               struct err *err)
{
    const struct table *t = &p->schema.tables.p[table];
    uint32_t *all = NEWS(&p->arena, uint32_t, t->n_cols + 1);
    if (!all)
        return err_nomem(err);
    for (uint32_t c = 0; c < t->n_cols; c++)
        all[c] = c;
    return table_has_key(t) ? OK
                            : table_add_whole(&p->schema, table, all, t->n_cols,
                                              1, true, STR("proposal"), err);
}

/* Would it be admitted if rows differed, and one value of the column had at
 * most k rows? */
static enum status try_bound(const struct admission *x, uint32_t table,
                             uint32_t col, uint64_t k, bool *out,
                             struct err *err)
{
    struct schema *s = &x->p->schema;
    struct strict_cost c;
    size_t had = s->tables.p[table].degrees.n;
    enum status st = propose_key(x->p, table, err);
    if (st == OK)
        st = table_add_whole(s, table, &col, 1, k, false, STR("proposal"), err);
    if (st == OK)
        st = total_cost(x, &c, err);
    s->tables.p[table].degrees.n = had;
    TRY(st);
    *out = fits(x, &c);
    return OK;
}

static bool asked(const struct admission *x, uint32_t table, uint32_t col)
{
    for (size_t i = 0; i < x->p->n_counts; i++) {
        const struct cq *q = x->p->counts[i].query;
        for (uint32_t a = 0; a < q->n_atoms; a++)
            if (q->atoms[a].table == table && col < q->atoms[a].n_args &&
                q->atoms[a].args[col].kind == TERM_VAR)
                return true;
    }
    return false;
}

static struct str help_text(struct prepared *p, const struct table *t,
                            uint32_t col, uint64_t k)
{
    struct sb b;
    sb_init(&b, &p->arena);
    sb_printf(&b, "%.*s: %.*s -> * <= %llu", PSTR(t->name),
              PSTR(t->cols[col].name), (unsigned long long)k);
    for (size_t c = 0; !table_has_key(t) && c < t->n_cols; c++)
        sb_printf(&b, "%s%.*s%s", c ? ", " : "; and its rows all differ: (",
                  PSTR(t->cols[c].name), c + 1 < t->n_cols ? "" : ") -> *");
    return b.failed ? (struct str){0} : sb_view(&b);
}

/* The weakest promise about one column that suffices; false: there is none. */
static bool find_help(const struct admission *x, struct str *out)
{
    static const uint64_t ks[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    const struct schema *s = &x->p->schema;
    struct err ignored;
    for (size_t k = 0; k < sizeof ks / sizeof *ks; k++)
        for (uint32_t t = 0; t < s->tables.n; t++)
            for (uint32_t c = 0; c < s->tables.p[t].n_cols; c++) {
                bool good = false;
                if (!asked(x, t, c) ||
                    try_bound(x, t, c, ks[k], &good, &ignored) != OK || !good)
                    continue;
                *out = help_text(x->p, &s->tables.p[t], c, ks[k]);
                return out->p;
            }
    return false;
}

/* --- the decision --------------------------------------------------------- */

static enum status too_costly(const struct admission *x,
                              const struct strict_cost *c, struct err *err)
{
    char w[U128_DIGITS], most[U128_DIGITS];
    bool work = c->work > x->work;
    u128 has = work ? c->work : c->memory, may = work ? x->work : x->memory;
    struct str help;
    err_set(err, E_TOO_COSTLY,
            "the question may take more %s than the owner admits",
            work ? "work" : "memory");
    err_detail(err,
               "Its bound is at least %s %s; admitted are %s. Nothing was "
               "charged.",
               has == U128_INF ? "no number of" : u128_text(has, w),
               work ? "steps" : "bytes", u128_text(may, most));
    if (find_help(x, &help))
        err_hint(err,
                 "It would be admitted with a declared bound such as "
                 "\"%.*s\".",
                 PSTR(help));
    else
        err_hint(err, "Ask with fewer tables, or the owner for smaller "
                      "rows_at_most or a larger work_at_most.");
    return E_TOO_COSTLY;
}

/* Noise measured on the data is given up where nobody asked for it by name. */
static enum status settle(struct admission *x, struct err *err)
{
    struct strict_cost c;
    TRY(total_cost(x, &c, err));
    bool named = x->p->session->opt.mechanism.n;
    for (size_t i = 0; !named && !fits(x, &c) && i < x->p->n_counts; i++) {
        struct priced *q = &x->counts[i];
        if (q->choice.kind != CHOICE_SMOOTH || q->q->bound.l1_upper == U128_INF)
            continue;
        TRY(choose_without_data(q->q, &q->choice, err));
        TRY(total_cost(x, &c, err));
    }
    x->p->work = c.work;
    return fits(x, &c) ? OK : too_costly(x, &c, err);
}

static enum status read_limit(struct str text, const char *what, u128 *out,
                              struct err *err)
{
    mpq_t v;
    mpq_init(v);
    u128 n = U128_INF;
    enum status s = rat_read(text, what, v, err);
    if (s == OK && (mpq_sgn(v) <= 0 || mpz_cmp_ui(mpq_denref(v), 1) != 0 ||
                    !mpz_get_u128(mpq_numref(v), &n)))
        s = err_set(err, E_VALUE, "%s must be a whole number above 0", what);
    mpq_clear(v);
    if (s == OK && n < *out)
        *out = n;
    return s;
}

static enum status read_limits(struct admission *x,
                               const struct strict_limits *l, struct err *err)
{
    const struct policy_limits *own = &x->p->schema.limits;
    const struct str work[] = {l->work_at_most, own->work_at_most};
    size_t bytes = 0;
    x->work = x->memory = U128_INF;
    for (size_t i = 0; i < 2; i++)
        if (work[i].n)
            TRY(read_limit(work[i], "work_at_most", &x->work, err));
    if (l->memory.n && !str_is(l->memory, "none")) {
        TRY(session_read_size(l->memory, &bytes, err));
        x->memory = bytes;
    }
    if (x->p->session->mem.limit && x->p->session->mem.limit < x->memory)
        x->memory = x->p->session->mem.limit;
    if (x->work != U128_INF)
        return OK;
    err_set(err, E_POLICY, "strict mode needs work_at_most");
    err_hint(err, "The owner finds what this machine does in the time of "
                  "respond_after with dpcount calibrate.");
    return E_POLICY;
}

enum status strict_admit(struct prepared *p, struct priced *counts,
                         const struct strict_limits *ledger, struct err *err)
{
    struct admission x = {.p = p, .counts = counts};
    bool all_exact = true;
    if (!says_yes(ledger->strict) && !says_yes(p->schema.limits.strict))
        return OK;
    for (size_t i = 0; i < p->n_counts; i++)
        all_exact = all_exact && counts[i].choice.kind == CHOICE_EXACT;
    if (all_exact)
        return OK;
    TRY(read_limits(&x, ledger, err));
    for (size_t i = 0; i < p->n_counts; i++)
        TRY(covered(p, &counts[i], err));
    TRY(public_rows(p, &x.rows, err));
    for (size_t i = 0; i < p->n_counts; i++)
        if (counts[i].choice.kind != CHOICE_EXACT)
            TRY(bounds_there(p, &counts[i], x.rows, err));
    p->steady = true;
    p->sizes = x.rows;
    return settle(&x, err);
}
