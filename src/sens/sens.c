/*
 * All sensitivities of one query on one instance (sens.h): the plan from the
 * query, the vector T from the counter, the capped sequence and its smooth
 * maximum, then the baselines.
 */
#include "base/clock.h"
#include "sens/sens.h"

#include <string.h>
#include "num/rat.h"
#include "sens/capped.h"
#include "sens/elastic.h"
#include "sens/smooth.h"

/* Baselines are for display: no longer scan is worth its time. */
enum { BASELINE_MAX_K = 20000 };

struct job {
    struct arena *a;
    const struct cq *q;
    const struct sens_counter *counter;
    const struct sens_options *opt;
    uint32_t order;
    struct sens_plan *plan;
    struct sens_state state;
    struct sens_paper paper;
    uint64_t k_hat;
    struct sens *out;
    struct err *err;
};

static enum status keep_list(struct arena *a, const struct sens_peak *peak,
                             mpz_t **list, size_t *n, struct err *err)
{
    *list = NEWS(a, mpz_t, peak->n_list);
    if (!*list)
        return err_nomem(err);
    for (*n = 0; *n < peak->n_list; (*n)++)
        mpz_init_set((*list)[*n], peak->list[*n]);
    return OK;
}

static enum status count_query(struct job *w)
{
    double start = clock_seconds();
    if (w->counter->count)
        TRY(w->counter->count(w->counter->ctx, &w->out->count, w->err));
    secret_count_clamp(&w->out->count, COUNT_MOST, false);
    w->out->seconds_count = clock_seconds() - start;
    return OK;
}

static enum status list_residuals(struct job *w)
{
    struct sens *out = w->out;
    out->residuals = NEWS(w->a, struct sens_residual, w->plan->n_coords);
    if (!out->residuals)
        return err_nomem(w->err);
    for (size_t i = 0; i < w->plan->n_coords; i++) {
        const struct sens_coord *c = &w->plan->coords[i];
        if (c->kind != COORD_ASKED || !c->keeps_public ||
            c->atoms == w->plan->all)
            continue;
        struct sens_residual *r = &out->residuals[out->n_residuals++];
        r->removed = w->plan->all & ~c->atoms;
        r->boundary = c->boundary;
        if (!mpz_get_u128(w->state.t[i], &r->t))
            return err_internal(w->err, "sens: a count is not a count");
    }
    return OK;
}

static enum status count_residuals(struct job *w)
{
    double start = clock_seconds();
    TRY(sens_state_fill(&w->state, w->counter, w->err));
    if (!w->opt->in_release)
        TRY(sens_state_check(&w->state, w->err));
    TRY(list_residuals(w));
    w->out->seconds_residuals += clock_seconds() - start;
    return OK;
}

/* min(s, COUNT_MOST): no two vectors of clamped counts are further apart. */
static void sens_clamp(mpq_t s)
{
    mpq_t most;
    mpq_init(most);
    mpz_set_u128(mpq_numref(most), COUNT_MOST);
    if (mpq_cmp(s, most) > 0)
        mpq_set(s, most);
    mpq_clear(most);
}

void sens_keep_scale(const struct sens_peak *peak, struct secret_scale *out)
{
    mpq_t s;
    mpq_init(s);
    sens_peak_rational(peak, s);
    sens_clamp(s);
    secret_scale_set(out, s);
    mpq_wipe_clear(s);
}

static enum status keep_capped(struct job *w, const struct sens_peak *peak)
{
    struct sens *out = w->out;
    sens_keep_scale(peak, &out->s);
    out->value = mpfr_get_d(peak->best, MPFR_RNDU);
    if (out->value > (double)COUNT_MOST)
        out->value = (double)COUNT_MOST;
    out->k = peak->k;
    out->k_scanned = peak->scanned;
    TRY(keep_list(w->a, peak, &out->ls_hat, &out->n_ls_hat, w->err));
    if (!mpz_get_u128(out->ls_hat[0], &out->local_upper))
        out->local_upper = U128_INF;
    return OK;
}

/* The largest term of the capped sequence times e^(-beta k), for one beta. */
static enum status scan(struct job *w, mpq_srcptr beta, struct sens_peak *peak)
{
    struct sens_capped c;
    TRY(sens_capped_init(&c, w->a, &w->state, &w->paper, beta, w->order,
                         w->opt->global_upper, w->err));
    enum status st = sens_scan(w->a, beta, &c.seq, peak, w->err);
    sens_capped_fini(&c);
    return st;
}

static enum status capped(struct job *w)
{
    struct sens_peak peak = {0};
    enum status st = scan(w, w->opt->beta, &peak);
    if (st == OK)
        st = keep_capped(w, &peak);
    sens_peak_fini(&peak);
    return st;
}

struct paper_sequence {
    struct sens_paper *p;
    uint32_t order;
    mpz_t part;
};

static void paper_value(void *ctx, uint64_t k, mpz_t out)
{
    struct paper_sequence *s = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < s->order; t++)
        if (sens_paper_at(s->p, k * s->order + t, s->part))
            mpz_add(out, out, s->part);
}

static enum status paper(struct job *w)
{
    struct sens *out = w->out;
    if (w->paper.n_tables > 1 && w->paper.n_table < (w->k_hat + 1) * w->order)
        return OK;
    struct paper_sequence s = {.p = &w->paper, .order = w->order};
    struct sens_sequence seq = {.ctx = &s,
                                .value = paper_value,
                                .from = w->k_hat,
                                .zero_after = UINT64_MAX};
    struct sens_peak peak = {0};
    mpz_init(s.part);
    mpz_init_set_si(seq.limit, -1);
    enum status st = sens_scan(w->a, w->opt->beta, &seq, &peak, w->err);
    if (st == OK)
        st = keep_list(w->a, &peak, &out->paper_ls_hat, &out->n_paper_ls_hat,
                       w->err);
    if (st == OK) {
        out->has_paper = true;
        out->paper = mpfr_get_d(peak.best, MPFR_RNDU);
        out->paper_k = peak.k;
    }
    sens_peak_fini(&peak);
    mpz_wipe_clear(s.part);
    mpz_clear(seq.limit);
    return st;
}

static enum status elastic(struct job *w)
{
    if (w->k_hat > BASELINE_MAX_K)
        return OK;
    struct sens_elastic *e;
    struct sens_peak peak = {0};
    TRY(sens_elastic_new(w->a, w->q, w->counter, &e, w->err));
    enum status st =
        sens_elastic_peak(w->a, e, w->opt->beta, w->order, &peak, w->err);
    if (st == OK) {
        w->out->has_elastic = true;
        w->out->elastic = mpfr_get_d(peak.best, MPFR_RNDU);
        w->out->elastic_k = peak.k;
    }
    sens_peak_fini(&peak);
    sens_elastic_fini(e);
    return st;
}

static enum status smooth_star(struct job *w, uint32_t centre)
{
    u128 d;
    struct sens_peak peak = {0};
    TRY(w->counter->max(w->counter->ctx, 1, vset_one(centre),
                        atom_vars(w->q, 0), &d, w->err));
    enum status st =
        sens_star_peak(w->a, w->q->n_atoms, d, w->opt->beta, &peak, w->err);
    if (st == OK) {
        w->out->has_smooth = true;
        w->out->smooth = mpfr_get_d(peak.best, MPFR_RNDU);
        w->out->smooth_k = peak.k;
    }
    sens_peak_fini(&peak);
    return st;
}

static enum status smooth_triangle(struct job *w, bool cycle)
{
    const struct store *store = w->opt->store;
    uint32_t table = w->q->atoms[0].table;
    if (!store || table >= store->n_tables || !store->tables[table].loaded)
        return OK;
    struct sens_graph g;
    TRY(sens_graph_load(store, table, &g, w->err));
    enum status st = sens_triangle_peak(&g, cycle, mpq_get_d(w->opt->beta),
                                        &w->out->has_smooth, &w->out->smooth,
                                        &w->out->smooth_k, w->err);
    sens_graph_free(&g);
    return st;
}

static enum status smooth(struct job *w)
{
    uint32_t centre;
    enum sens_shape shape = sens_shape_of(w->q, &centre);
    if (w->order != 1 || shape == SHAPE_OTHER)
        return OK;
    if (shape == SHAPE_STAR)
        return smooth_star(w, centre);
    return smooth_triangle(w, shape == SHAPE_CYCLE);
}

/* An order comparison: T_F may leave it out, or a best value may break it. */
static bool compares(const struct cq *q)
{
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].op != CMP_NE)
            return true;
    return false;
}

/* Is T_F a lower bound on LS^(n_P - 1)? The argument inserts a row for every
 * removed atom, with the values of the best boundary: the query must be full,
 * and nothing may forbid such rows. */
static bool lower_bound_holds(const struct job *w)
{
    const struct cq *q = w->q;
    if (!w->plan->n_priv || !cq_is_full(q) || q->n_preds || q->n_calcs ||
        compares(q))
        return false;
    for (uint32_t v = 0; v < q->n_vars; v++)
        if (q->vars[v].type == T_BOOL)
            return false;
    for (size_t i = 0; i < w->plan->n_tables; i++)
        if (q->schema->tables.p[w->plan->tables[i]].degrees.n)
            return false;
    return true;
}

static void optimality(struct job *w)
{
    struct sens *out = w->out;
    out->has_lower = lower_bound_holds(w);
    if (!out->has_lower)
        return;
    for (size_t i = 0; i < out->n_residuals; i++)
        if (out->residuals[i].t > out->neighbourhood_lower)
            out->neighbourhood_lower = out->residuals[i].t;
    if (out->neighbourhood_lower)
        out->optimality = out->value / (double)out->neighbourhood_lower;
}

static enum status baselines(struct job *w)
{
    double start = clock_seconds();
    TRY(paper(w));
    TRY(elastic(w));
    TRY(smooth(w));
    optimality(w);
    w->out->seconds_baselines = clock_seconds() - start;
    return OK;
}

/* Every coordinate but that of no atoms, and the count: last, because it may
 * rest on a residual. */
static enum status prepare(struct arena *a, const struct sens_plan *plan,
                           const struct sens_counter *counter, struct err *err)
{
    if (!counter->prepare)
        return OK;
    struct pushdown_ask *asks =
        NEWS(a, struct pushdown_ask, plan->n_coords + 1);
    if (!asks)
        return err_nomem(err);
    size_t n = 0;
    for (size_t i = 1; i < plan->n_coords; i++) {
        const struct sens_coord *c = &plan->coords[i];
        if (c->kind == COORD_ASKED)
            asks[n++] = (struct pushdown_ask){c->atoms, c->boundary, c->outs,
                                              plan->filters_exact};
    }
    asks[n++] = (struct pushdown_ask){.f = aset_first_n(plan->q->n_atoms),
                                      .outs = cq_free(plan->q)};
    return counter->prepare(counter->ctx, asks, n, err);
}

enum status sens_prepare(struct arena *a, const struct cq *q,
                         const struct sens_counter *counter, bool filters_exact,
                         struct err *err)
{
    struct sens_plan *plan;
    if (q->unsat)
        return OK;
    TRY(sens_plan_new(a, q, filters_exact, &plan, err));
    return prepare(a, plan, counter, err);
}

/* What can be refused by query and beta alone; the plan is made on the way. */
static enum status admit(struct arena *a, const struct cq *q,
                         const struct sens_counter *counter,
                         const struct sens_options *opt,
                         struct sens_plan **plan, uint64_t *k_hat,
                         uint64_t *up_to, struct err *err)
{
    if (opt->filters_exact && !counter->max_exact)
        return err_set(err, E_UNSUPPORTED,
                       "exact filters are not available for this data source");
    TRY(sens_plan_new(a, q, opt->filters_exact, plan, err));
    return sens_paper_range(*plan, opt->beta, opt->order ? opt->order : 1,
                            k_hat, up_to, err);
}

static enum status check_beta(const struct sens_options *opt, struct err *err)
{
    return mpq_sgn(opt->beta) > 0
               ? OK
               : err_set(err, E_VALUE, "beta must be positive");
}

enum status sens_admit(struct arena *a, const struct cq *q,
                       const struct sens_counter *counter,
                       const struct sens_options *opt, struct err *err)
{
    struct sens_plan *plan;
    uint64_t k_hat, up_to;
    TRY(check_beta(opt, err));
    return q->unsat ? OK
                    : admit(a, q, counter, opt, &plan, &k_hat, &up_to, err);
}

/* Plan and T, the scan over them, and baselines where they are wanted. */
static enum status run(struct job *w)
{
    uint64_t up_to;
    TRY(admit(w->a, w->q, w->counter, w->opt, &w->plan, &w->k_hat, &up_to,
              w->err));
    double start = clock_seconds();
    TRY(prepare(w->a, w->plan, w->counter, w->err));
    w->out->seconds_residuals =
        clock_seconds() - start; /* with the count, if at all */
    TRY(count_query(w));
    TRY(sens_state_new(w->a, w->plan, &w->state, w->err));
    TRY(count_residuals(w));
    TRY(sens_paper_new(w->a, &w->state, up_to, &w->paper, w->err));
    TRY(capped(w));
    return w->opt->want_baselines ? baselines(w) : OK;
}

/* No instance has an answer: every sensitivity is 0. */
static enum status nothing(struct job *w)
{
    w->out->ls_hat = NEWS(w->a, mpz_t, 1);
    if (!w->out->ls_hat)
        return err_nomem(w->err);
    mpz_init(w->out->ls_hat[0]);
    w->out->n_ls_hat = 1;
    return OK;
}

enum status sens_begin(const struct sens_options *opt, struct sens *out,
                       struct err *err)
{
    memset(out, 0, sizeof *out);
    TRY(check_beta(opt, err));
    secret_scale_init(&out->s);
    out->ready = true;
    out->global_upper = opt->global_upper;
    return OK;
}

enum status sens_compute(struct arena *a, const struct cq *q,
                         const struct sens_counter *counter,
                         const struct sens_options *opt, struct sens *out,
                         struct err *err)
{
    TRY(sens_begin(opt, out, err));
    struct job w = {.a = a,
                    .q = q,
                    .counter = counter,
                    .opt = opt,
                    .order = opt->order ? opt->order : 1,
                    .out = out,
                    .err = err};
    enum status st = q->unsat ? nothing(&w) : run(&w);
    sens_paper_fini(&w.paper);
    sens_state_fini(&w.state);
    return st;
}

void sens_fini(struct sens *s)
{
    if (!s->ready)
        return;
    secret_scale_fini(&s->s);
    for (size_t i = 0; i < s->n_ls_hat; i++)
        mpz_wipe_clear(s->ls_hat[i]);
    for (size_t i = 0; i < s->n_paper_ls_hat; i++)
        mpz_wipe_clear(s->paper_ls_hat[i]);
    if (s->residuals)
        mem_wipe(s->residuals, s->n_residuals * sizeof *s->residuals);
    mem_wipe(s, sizeof *s);
}
