/* Loading and counting: see evaluate.h. */
#include "base/clock.h"
#include "release/evaluate.h"

#include "entity/own.h"
#include "pushdown/pushdown_tree.h"
#include "release/strict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void evaluated_fini(struct evaluated *e)
{
    store_free(e->store);
    memset(e, 0, sizeof *e);
}

const char *evaluated_engine(const struct evaluated *e)
{
    return e->sql ? "sql" : "embedded";
}

void engine_close(struct engine *e)
{
    if (e->join)
        join_close(e->join);
    if (e->database)
        pushdown_close(e->database);
    *e = (struct engine){0};
}

/* --- loading -------------------------------------------------------------- */

/* A column that a constraint speaks of must be loaded to check it, though
 * the query may not ask for it. PRIVACY: a constraint that nobody could check
 * must not lower the noise. */
static void want_constraint_columns(const struct table *t, struct atom *at)
{
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        for (size_t c = 0; c < d->n_x; c++)
            at->args[d->x[c]].kind = TERM_VAR;
        if (degree_counts_rows(d))
            continue; /* about whole rows: see constraints.c */
        for (size_t c = 0; c < d->n_y; c++)
            at->args[d->y[c]].kind = TERM_VAR;
    }
}

/* Adds to an atom of the same table what this one names. */
static void want_atom(const struct atom *from, struct atom *to)
{
    for (uint32_t c = 0; c < from->n_args; c++)
        if (from->args[c].kind != TERM_ANY)
            to->args[c].kind = TERM_VAR;
}

static struct atom *atom_of(struct cq *q, uint32_t table)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table)
            return &q->atoms[i];
    return NULL;
}

static struct atom *new_atom(struct prepared *p, const struct atom *like,
                             struct cq *out)
{
    struct atom *at = &out->atoms[out->n_atoms];
    *at = *like;
    at->args = NEWS(&p->arena, struct term, at->n_args + 1);
    if (!at->args)
        return NULL;
    for (uint32_t c = 0; c < at->n_args; c++)
        at->args[c].kind = TERM_ANY;
    want_constraint_columns(&p->schema.tables.p[at->table], at);
    out->n_atoms++;
    return at;
}

static enum status want_body(struct prepared *p, const struct cq *q,
                             struct cq *out, struct err *err)
{
    for (uint32_t k = 0; k < q->n_atoms; k++) {
        struct atom *at = atom_of(out, q->atoms[k].table);
        if (!at && !(at = new_atom(p, &q->atoms[k], out)))
            return err_nomem(err);
        want_atom(&q->atoms[k], at);
    }
    return OK;
}

struct owned_atoms {
    struct prepared *p;
    struct cq *load;
};

static struct atom *owned_atom(void *ctx, uint32_t table)
{
    struct owned_atoms *x = ctx;
    struct atom *at = atom_of(x->load, table);
    struct atom like = {.table = table,
                        .n_args = (uint32_t)x->p->schema.tables.p[table].n_cols,
                        .rowid = -1};
    return at ? at : new_atom(x->p, &like, x->load);
}

/* The columns by which owners are found, of all tables on the way to them. */
static enum status want_owners(struct prepared *p, struct cq *load,
                               struct err *err)
{
    struct owned_atoms x = {p, load};
    for (size_t i = 0; p->schema.has_entities && i < p->n_counts; i++)
        for (size_t b = 0; b < p->counts[i].n_bodies; b++)
            TRY(owners_want(&p->schema, p->counts[i].bodies[b], owned_atom, &x,
                            &p->arena, err));
    return OK;
}

/* A query that is good for one thing, to say which columns to load: an atom
 * for each table of the request. */
enum status evaluate_wanted(struct prepared *p, struct cq *out, struct err *err)
{
    *out = (struct cq){.schema = p->counts[0].query->schema};
    out->atoms = NEWS(&p->arena, struct atom, p->schema.tables.n + 1);
    if (!out->atoms)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_counts; i++) {
        const struct count *c = &p->counts[i];
        for (size_t b = 0; b < c->n_bodies; b++)
            TRY(want_body(p, c->bodies[b], out, err));
    }
    return want_owners(p, out, err);
}

enum status evaluate_prefers_sql(struct prepared *p, bool *out, bool *believed,
                                 struct err *err)
{
    double bytes = 0, room = (double)p->session->mem.limit;
    *out = *believed = false;
    if (!source_counts(p->source))
        return OK;
    TRY(source_bytes(p->source, p->rows_declared, &bytes, believed, err));
    if (!p->session->mem.limit)
        room = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    *out = bytes > room / 3;
    return OK;
}

/* --engine; auto: the database counts what does not fit the memory. */
static enum status use_sql(struct prepared *p, bool *out, struct err *err)
{
    struct str name = p->session->opt.engine;
    *out = str_is(name, "sql");
    if (p->schema.has_entities || !str_is(name, "auto") || p->keys_found ||
        p->steady)
        return OK;
    if (p->engine != ENGINE_OPEN || p->session->discreet) {
        *out = p->engine == ENGINE_SQL;
        return OK;
    }
    bool believed;
    return evaluate_prefers_sql(p, out, &believed, err);
}

static enum status open_counter(struct prepared *p, struct evaluated *e,
                                const struct cq *q, struct engine *out,
                                struct err *err)
{
    e->progress = session_progress(p->session);
    TRY(pushdown_open(p->source, q, p->filters_exact, &e->progress,
                      &out->database, err));
    pushdown_plan_only(out->database, e->plan_only);
    out->counter = sens_database(out->database);
    return OK;
}

/* Could the database count q? */
static enum status try_counter(struct prepared *p, struct evaluated *e,
                               const struct cq *q, struct err *err)
{
    struct engine once = {0};
    enum status s = q ? open_counter(p, e, q, &once, err) : OK;
    engine_close(&once);
    return s;
}

/* Parts are asked for residuals, the tree for its count. */
static enum status try_tree(struct count *q, struct evaluated *e,
                            struct err *err)
{
    struct pushdown_tree_ask ask = {0};
    for (size_t i = 0; i < q->bound.n_parts; i++)
        TRY(try_counter(q->p, e, q->bound.parts[i].path, err));
    for (size_t i = 0; i < q->bound.n_other; i++)
        TRY(try_counter(q->p, e, q->bound.other_parts[i].path, err));
    return pushdown_tree(q->p->source, q->tree, &ask, NULL, err);
}

static enum status try_counters(struct prepared *p, struct evaluated *e,
                                struct err *err)
{
    for (size_t i = 0; i < p->n_counts; i++) {
        struct count *q = &p->counts[i];
        if (q->tree) {
            TRY(try_tree(q, e, err));
            continue;
        }
        TRY(try_counter(p, e, q->normal, err));
        TRY(try_counter(p, e, q->query, err));
    }
    return OK;
}

/* A query that only the embedded engine can count is given to it rather than
 * refused if nobody named an engine. */
enum status evaluate_engine(struct prepared *p, struct evaluated *e,
                            struct err *err)
{
    e->chosen = true;
    TRY(use_sql(p, &e->sql, err));
    if (!e->sql)
        return OK;
    enum status s = try_counters(p, e, err);
    if (s != E_UNSUPPORTED || !str_is(p->session->opt.engine, "auto"))
        return s;
    e->sql = false;
    return OK;
}

/* What to load: columns, and queries whose rows matter. */
struct loading {
    struct cq columns;
    const struct cq **asked;
    size_t n;
};

static enum status loading_make(struct prepared *p, struct loading *l,
                                struct err *err)
{
    size_t n = p->n_counts;
    for (size_t i = 0; i < p->n_counts; i++)
        n += p->counts[i].n_bodies;
    l->asked = NEWS(&p->arena, const struct cq *, n);
    if (!l->asked)
        return err_nomem(err);
    l->n = 0;
    for (size_t i = 0; i < p->n_counts; i++) {
        const struct count *c = &p->counts[i];
        for (size_t b = 0; b < c->n_bodies; b++)
            l->asked[l->n++] = c->bodies[b];
        l->asked[l->n++] = c->normal;
    }
    /* PRIVACY: owners are found in whole tables; a filter would make many of
     * one. */
    if (p->schema.has_entities)
        l->n = 0;
    return evaluate_wanted(p, &l->columns, err);
}

enum status evaluate_plan(struct prepared *p, struct evaluated *e,
                          struct err *err)
{
    struct loading l;
    struct store *none = NULL;
    if (e->sql)
        return OK;
    TRY(loading_make(p, &l, err));
    TRY(store_new(&p->session->mem, &p->schema, &none, err));
    enum status s =
        source_load_plan(p->source, &l.columns, l.asked, l.n, none, err);
    store_free(none);
    return s;
}

enum status evaluate_load(struct prepared *p, struct evaluated *e,
                          struct err *err)
{
    struct loading l;
    double start = clock_seconds();
    if (!e->chosen)
        TRY(evaluate_engine(p, e, err));
    if (e->sql || e->store)
        return OK; /* nothing to load */
    TRY(loading_make(p, &l, err));
    TRY(store_new(&p->session->mem, &p->schema, &e->store, err));
    e->progress = session_progress(p->session);
    TRY(source_load_for(p->source, &l.columns, l.asked, l.n, e->store,
                        &e->progress, err));
    e->seconds_load = clock_seconds() - start;
    return OK;
}

/* --- counting ------------------------------------------------------------- */

enum status evaluate_open(struct prepared *p, struct evaluated *e,
                          const struct cq *q, struct engine *out,
                          struct err *err)
{
    *out = (struct engine){.data = e};
    if (e->sql)
        return open_counter(p, e, q, out, err);
    struct join_options opt = {.threads = p->threads,
                               .cancelled = session_cancelled,
                               .ctx = p->session};
    if (p->steady)
        TRY(strict_order(p, q, &opt, err));
    TRY(join_open(&p->session->mem, q, e->store, &opt, &out->join, err));
    out->counter = sens_engine(out->join);
    return OK;
}

enum status evaluate_listed(struct count *q, struct evaluated *data,
                            struct listed **out, struct err *err)
{
    *out = NULL;
    if (!data->sql)
        return OK;
    data->progress = session_progress(q->p->session);
    return listed_open(&q->p->session->mem, q->p->source, q->query, &q->owners,
                       &data->progress, out, err);
}

enum status evaluate_prepare(struct count *q, const struct engine *e,
                             struct err *err)
{
    return e->database && !q->tree
               ? sens_prepare(&q->p->arena, q->normal, &e->counter,
                              q->p->filters_exact, err)
               : OK;
}

enum status
evaluate_list(struct prepared *p, struct evaluated *e, const struct cq *q,
              enum status (*each)(void *ctx, const struct value *key,
                                  u128 count, struct err *err),
              void *ctx, struct err *err)
{
    struct engine rows;
    if (!e->store)
        return err_internal(err, "evaluate_list: nothing was loaded");
    TRY(evaluate_open(p, e, q, &rows, err));
    enum status s = join_list_groups(rows.join, each, ctx, err);
    engine_close(&rows);
    return s;
}

/* One engine for each part, all open at once. */
static enum status sens_of_parts(struct count *q, struct evaluated *data,
                                 const struct tree_part *list, size_t n,
                                 const struct sens_options *opt,
                                 struct sens *out, struct err *err)
{
    size_t open = 0;
    struct engine *parts = NEWS(&q->p->arena, struct engine, n + 1);
    struct sens_counter *counters =
        NEWS(&q->p->arena, struct sens_counter, n + 1);
    if (!parts || !counters)
        return err_nomem(err);
    enum status st = OK;
    for (; st == OK && open < n; open++) {
        st = evaluate_open(q->p, data, list[open].path, &parts[open], err);
        if (st == OK)
            counters[open] = parts[open].counter;
    }
    if (st == OK)
        st = sens_compute_parts(&q->p->arena, list, n, counters, opt, out, err);
    while (open-- > 0)
        engine_close(&parts[open]);
    return st;
}

/* PRIVACY: two smooth bounds of one change: the smaller of both is one. */
static void take_smaller(struct sens *s, struct sens *other)
{
    if (other->value < s->value) {
        struct sens t = *s;
        *s = *other;
        *other = t;
    }
    secret_scale_least(&s->s, &other->s);
}

static enum status sens_of_tree(struct count *q, const struct engine *e,
                                const struct sens_options *opt,
                                struct sens *out, struct err *err)
{
    const struct bound *b = &q->bound;
    struct sens_options o = *opt;
    struct fragile_job job = {q, e->data};
    struct sens_fragile fragile = {&job, evaluate_fragile};
    struct sens other = {0};
    o.fragile = e->data->sql ? NULL : &fragile;
    o.both_signs = q->query->n_group || q->p->schema.neighbours == CHANGE_ONE;
    TRY(sens_of_parts(q, e->data, b->parts, b->n_parts, &o, out, err));
    if (!b->n_other)
        return OK;
    o.fragile = NULL;
    enum status st =
        sens_of_parts(q, e->data, b->other_parts, b->n_other, &o, &other, err);
    if (st == OK)
        take_smaller(out, &other);
    sens_fini(&other);
    return st;
}

enum status evaluate_sens(struct count *q, const struct engine *e,
                          const struct sens_options *opt, struct sens *out,
                          struct err *err)
{
    return q->tree ? sens_of_tree(q, e, opt, out, err)
                   : sens_compute(&q->p->arena, q->normal, &e->counter, opt,
                                  out, err);
}

/* PRIVACY: each at C, so that all of them together are never further apart than
 * COUNT_MOST, which S is clamped at (sens/PROOF.md, 2a). */
static void clamp_counts(const struct count *q, struct secret_count *counts,
                         size_t n)
{
    bool is_signed = tree_is_signed(q->tree);
    u128 most = count_limit(n, is_signed);
    for (size_t i = 0; i < n; i++)
        secret_count_clamp(&counts[i], most, is_signed);
}

static enum status tree_in_sql(struct count *q, struct evaluated *data,
                               const struct group_keys *k,
                               struct secret_count *out, struct err *err)
{
    struct pushdown_tree_ask ask = {.keys = k->vals,
                                    .n_keys = k->n,
                                    .plan_only = data->plan_only,
                                    .progress = &data->progress};
    size_t n = q->query->n_group ? k->n : 1;
    data->progress = session_progress(q->p->session);
    for (size_t i = 0; i < n; i++)
        out[i] = secret_count_of(0);
    return pushdown_tree(q->p->source, q->tree, &ask,
                         data->plan_only ? NULL : out, err);
}

enum status evaluate_counts(struct count *q, struct evaluated *data,
                            const struct engine *e, const struct group_keys *k,
                            struct secret_count *out, struct err *err)
{
    struct engine grouped;
    if (q->tree) {
        TRY(data->sql ? tree_in_sql(q, data, k, out, err)
                      : evaluate_tree(q, data, k, out, err));
        clamp_counts(q, out, q->query->n_group ? k->n : 1);
        return OK;
    }
    if (!q->query->n_group) {
        TRY(e->counter.count(e->counter.ctx, out, err));
        clamp_counts(q, out, 1);
        return OK;
    }
    /* normalisation may drop a key that a constraint makes redundant; the
     * keys are those of the query as written */
    TRY(evaluate_open(q->p, data, q->query, &grouped, err));
    enum status s =
        grouped.counter.groups(grouped.counter.ctx, k->vals, k->n, out, err);
    engine_close(&grouped);
    if (s == OK)
        clamp_counts(q, out, k->n);
    return s;
}

/* --- keys that are found -------------------------------------------------- */

struct finding {
    const struct count *q;
    const struct group_keys *k;
    struct arena *a;
    struct found_keys *out;
};

/* Is the value among those declared of this column? */
static bool allowed(const struct key_list *only, const struct value *v)
{
    for (size_t i = 0; i < only->n; i++)
        if (value_eq(&only->vals[i], v))
            return true;
    return !only->n;
}

static enum type key_type(const struct cq *q, size_t col)
{
    const struct term *t = &q->outs[col];
    return t->kind == TERM_VAR ? q->vars[t->id].type : T_UNKNOWN;
}

enum status evaluate_key(const struct count *q, const struct group_keys *k,
                         struct arena *a, const struct value *key,
                         struct value **out, struct err *err)
{
    size_t n = k->n_cols;
    *out = NULL;
    for (size_t i = 0; i < n; i++)
        if (!allowed(&k->only[i], &key[i]))
            return OK;
    struct value *x = NEWS(a, struct value, n);
    if (!x)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        x[i] = key[i];
        if (!value_canonical(a, &x[i], key_type(q->query, i)) ||
            (x[i].s.p && !(x[i].s = str_copy(a, x[i].s)).p))
            return err_nomem(err);
    }
    *out = x;
    return OK;
}

static enum status add_found(void *ctx, const struct value *key, u128 count,
                             struct err *err)
{
    struct finding *f = ctx;
    struct found_key x = {NULL, secret_count_of(count)};
    TRY(evaluate_key(f->q, f->k, f->a, key, &x.vals, err));
    if (!x.vals)
        return OK;
    return VEC_PUSH(f->a, &f->out->list, x) ? OK : err_nomem(err);
}

int evaluate_compare_keys(const struct value *a, const struct value *b,
                          size_t n)
{
    int c = 0;
    for (size_t i = 0; !c && i < n; i++)
        c = value_cmp(&a[i], &b[i]);
    return c;
}

static int compare_found(const void *a, const void *b, void *n_cols)
{
    const struct found_key *x = a, *y = b;
    return evaluate_compare_keys(x->vals, y->vals, *(const size_t *)n_cols);
}

enum status evaluate_found(struct count *q, struct evaluated *data,
                           const struct group_keys *k, struct arena *a,
                           struct found_keys *out, struct err *err)
{
    struct finding f = {q, k, a, out};
    size_t n_cols = k->n_cols;
    enum status s =
        q->tree ? evaluate_tree_groups(q, data, add_found, &f, err)
                : evaluate_list(q->p, data, q->query, add_found, &f, err);
    if (s == OK && out->list.n)
        qsort_r(out->list.p, out->list.n, sizeof *out->list.p, compare_found,
                &n_cols);
    return s;
}

/* --- sensitivity ---------------------------------------------------------- */

static struct sens_options smooth_options(const struct count *q,
                                          mpq_srcptr beta)
{
    return (struct sens_options){.beta = beta,
                                 .order = q->p->schema.order,
                                 .filters_exact = q->p->filters_exact,
                                 .in_release = true,
                                 .global_upper = q->bound.upper};
}

enum status evaluate_admit(struct count *q, mpq_srcptr beta, struct err *err)
{
    struct sens_options opt = smooth_options(q, beta);
    struct sens_counter both = sens_database(NULL);
    return sens_admit(&q->p->arena, q->normal, &both, &opt, err);
}

enum status evaluate_smooth(struct count *q, const struct engine *e,
                            mpq_srcptr beta, mpq_srcptr factor,
                            struct secret_scale *out, struct err *err)
{
    struct sens s = {0};
    struct sens_options opt = smooth_options(q, beta);
    enum status st = evaluate_sens(q, e, &opt, &s, err);
    if (st == OK) {
        secret_scale_copy(out, &s.s);
        noise_scale_times(out, factor);
    }
    sens_fini(&s);
    return st;
}
