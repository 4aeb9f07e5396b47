/* Loading and counting: see evaluate.h. */
#include "release/evaluate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void evaluated_fini(struct evaluated *e)
{
    if (e->join)
        join_close(e->join);
    source_counter_close(e->counter);
    store_free(e->store);
    memset(e, 0, sizeof *e);
}

const char *evaluated_engine(const struct evaluated *e)
{
    return e->counter ? "sql" : "embedded";
}

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

/* A copy of q that is good for one thing, to say which columns to load. */
static enum status wanted(struct prepared *p, const struct cq *q,
                          struct cq *out, struct err *err)
{
    *out = *q;
    out->atoms = NEWS(&p->arena, struct atom, q->n_atoms);
    if (!out->atoms)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        struct atom *at = &out->atoms[i];
        *at = q->atoms[i];
        at->args = NEWS(&p->arena, struct term, at->n_args);
        if (!at->args)
            return err_nomem(err);
        memcpy(at->args, q->atoms[i].args, at->n_args * sizeof *at->args);
        want_constraint_columns(&p->schema.tables.p[at->table], at);
    }
    return OK;
}

/* --engine; auto: the database counts what does not fit the memory. */
static enum status use_sql(struct prepared *p, const struct cq *q, bool *out,
                           struct err *err)
{
    struct str name = p->session->opt.engine;
    *out = str_is(name, "sql");
    if (!str_is(name, "auto") || p->keys_found)
        return OK;
    return source_prefers_sql(p->source, q, p->session->mem.limit, out, err);
}

static enum status open_counter(struct prepared *p, const struct cq *q,
                                struct evaluated *e, struct err *err)
{
    source_counter_close(e->counter);
    e->counter = NULL;
    e->progress = session_progress(p->session);
    return source_counter_open(p->source, q, p->filters_exact, &e->progress,
                               &e->counter, err);
}

/* PRIVACY: what auto chooses depends on the tables' sizes, so a query that
 * only the embedded engine can count is given to it rather than refused. */
enum status evaluate_engine(struct prepared *p, const struct cq *q,
                            struct evaluated *e, struct err *err)
{
    bool sql;
    e->chosen = true;
    TRY(use_sql(p, q, &sql, err));
    if (!sql)
        return OK;
    enum status s = p->normal ? open_counter(p, p->normal, e, err) : OK;
    if (s == OK)
        s = open_counter(p, q, e, err);
    if (s != E_UNSUPPORTED || !str_is(p->session->opt.engine, "auto"))
        return s;
    source_counter_close(e->counter);
    e->counter = NULL;
    return OK;
}

enum status evaluate_load(struct prepared *p, const struct cq *q,
                          struct evaluated *e, struct err *err)
{
    struct cq load;
    double start = now();
    if (!e->chosen)
        TRY(evaluate_engine(p, q, e, err));
    if (e->counter)
        return OK; /* nothing to load */
    TRY(wanted(p, q, &load, err));
    TRY(store_new(&p->session->mem, &p->schema, &e->store, err));
    e->progress = session_progress(p->session);
    const struct cq *asked[] = {q, p->query, p->normal};
    TRY(source_load_for(p->source, &load, asked, 3, e->store, &e->progress,
                        err));
    e->seconds_load = now() - start;
    return OK;
}

enum status evaluate_join(struct prepared *p, const struct cq *q,
                          struct evaluated *e, struct err *err)
{
    if (e->counter)
        return open_counter(p, q, e, err);
    struct join_options opt = {.threads = p->threads,
                               .cancelled = session_cancelled,
                               .ctx = p->session};
    return join_open(&p->session->mem, q, e->store, &opt, &e->join, err);
}

enum status evaluate_count(const struct evaluated *e, u128 *out,
                           struct err *err)
{
    return e->counter ? source_counter_count(e->counter, out, err)
                      : join_count(e->join, out, err);
}

static struct sens_counter database(const struct evaluated *e)
{
    return (struct sens_counter){e->counter, source_counter_max,
                                 source_counter_max_exact,
                                 source_counter_prepare};
}

enum status evaluate_prepare(struct prepared *p, const struct evaluated *e,
                             struct err *err)
{
    struct sens_counter c = database(e);
    return e->counter
               ? sens_prepare(&p->arena, p->normal, &c, p->filters_exact, err)
               : OK;
}

enum status evaluate_sens(struct prepared *p, const struct evaluated *e,
                          const struct sens_options *opt, struct sens *out,
                          struct err *err)
{
    struct sens_counter c = database(e);
    return e->counter
               ? sens_compute_with(&p->arena, p->normal, &c, opt, out, err)
               : sens_compute(&p->arena, p->normal, e->join, opt, out, err);
}

enum status evaluate_counts(struct prepared *p, struct evaluated *e,
                            const struct group_keys *k, u128 *out,
                            struct err *err)
{
    if (!p->query->n_group)
        return evaluate_count(e, out, err);
    /* normalisation may drop a key that a constraint makes redundant; the
     * keys are those of the query as written */
    struct evaluated grouped = {.store = e->store};
    enum status s;
    if (e->counter) {
        TRY(open_counter(p, p->query, &grouped, err));
        s = source_counter_groups(grouped.counter, k->vals, k->n, out, err);
        source_counter_close(grouped.counter);
        return s;
    }
    TRY(evaluate_join(p, p->query, &grouped, err));
    s = join_count_groups(grouped.join, k->vals, k->n, out, err);
    join_close(grouped.join);
    return s;
}

/* --- keys that are found -------------------------------------------------- */

struct finding {
    struct prepared *p;
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

static enum status add_found(void *ctx, const struct value *key, u128 count,
                             struct err *err)
{
    struct finding *f = ctx;
    struct arena *a = f->a;
    size_t n = f->k->n_cols;
    for (size_t i = 0; i < n; i++)
        if (!allowed(&f->k->only[i], &key[i]))
            return OK;
    struct found_key x = {NEWS(a, struct value, n), count};
    if (!x.vals)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        x.vals[i] = key[i];
        if (!value_canonical(a, &x.vals[i], key_type(f->p->query, i)) ||
            (x.vals[i].s.p && !(x.vals[i].s = str_copy(a, x.vals[i].s)).p))
            return err_nomem(err);
    }
    return VEC_PUSH(a, &f->out->list, x) ? OK : err_nomem(err);
}

static int compare_found(const void *a, const void *b, void *n_cols)
{
    const struct found_key *x = a, *y = b;
    int c = 0;
    for (size_t i = 0; !c && i < *(const size_t *)n_cols; i++)
        c = value_cmp(&x->vals[i], &y->vals[i]);
    return c;
}

enum status evaluate_found(struct prepared *p, const struct evaluated *e,
                           const struct group_keys *k, struct arena *a,
                           struct found_keys *out, struct err *err)
{
    struct evaluated grouped = {.store = e->store};
    struct finding f = {p, k, a, out};
    size_t n_cols = k->n_cols;
    if (!e->store)
        return err_internal(err, "evaluate_found: nothing was loaded");
    TRY(evaluate_join(p, p->query, &grouped, err));
    enum status s = join_list_groups(grouped.join, add_found, &f, err);
    join_close(grouped.join);
    if (s == OK && out->list.n)
        qsort_r(out->list.p, out->list.n, sizeof *out->list.p, compare_found,
                &n_cols);
    return s;
}

enum status evaluate_smooth(struct prepared *p, struct evaluated *e,
                            mpq_srcptr beta, mpq_srcptr factor,
                            struct secret_rat *out, struct err *err)
{
    struct sens s = {0};
    struct sens_options opt = {.beta = beta,
                               .order = p->schema.order,
                               .filters_exact = p->filters_exact,
                               .global_upper = p->bound.upper};
    enum status st = evaluate_sens(p, e, &opt, &s, err);
    if (st == OK) {
        /* PRIVACY: S is smooth, so it is 0 for all private rows or for none
         * (an empty public table); any constant will do in its place. */
        if (!mpq_sgn(s.s))
            mpq_set_ui(s.s, 1, 1);
        mpq_mul(s.s, s.s, factor);
        secret_rat_set(out, s.s);
    }
    sens_fini(&s);
    return st;
}
