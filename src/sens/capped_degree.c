/*
 * The degree in k of the capped sequence, and its value on empty tables: both
 * from the query alone, so that beta and an expected error can be chosen
 * before a row is read.
 *
 * A step adds to T_F terms of degree d, so T_F gets degree d + 1, unless a
 * constant caps it; a product has the sum of the degrees.
 */
#include "sens/capped.h"

static unsigned largest_term(const struct sens_coord *c, const unsigned *d)
{
    unsigned best = 0;
    for (size_t i = 0; i < c->n_terms; i++)
        if (d[c->terms[i].from] > best)
            best = d[c->terms[i].from];
    return best;
}

static unsigned degree_of(const struct sens_coord *c, const unsigned *d)
{
    if (c->kind == COORD_SUM || c->kind == COORD_PRODUCT) {
        unsigned x = d[c->splits[0].a], y = d[c->splits[0].b];
        return c->kind == COORD_PRODUCT ? x + y : x > y ? x : y;
    }
    if (c->cap != U128_INF || !c->n_terms)
        return 0;
    unsigned best = 1 + largest_term(c, d);
    for (size_t i = 0; i < c->n_splits; i++) {
        unsigned sum = d[c->splits[i].a] + d[c->splits[i].b];
        if (sum < best)
            best = sum;
    }
    return best;
}

enum status sens_plan_degree(struct arena *a, const struct sens_plan *p,
                             unsigned *out, struct err *err)
{
    unsigned *d = NEWS(a, unsigned, p->n_coords);
    if (!d)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_coords; i++)
        d[i] = degree_of(&p->coords[i], d);
    *out = largest_term(&p->top, d);
    return OK;
}

enum status sens_degree(struct arena *a, const struct cq *q, u128 global_upper,
                        unsigned *out_degree, struct err *err)
{
    *out_degree = 0;
    if (global_upper != U128_INF || q->unsat)
        return OK;
    struct sens_plan *p;
    TRY(sens_plan_new(a, q, false, &p, err));
    return sens_plan_degree(a, p, out_degree, err);
}

static enum status floor_peak(struct arena *a, struct sens_state *s,
                              mpq_srcptr beta, uint32_t order, u128 global,
                              mpq_t out, struct err *err)
{
    struct sens_paper paper;
    struct sens_capped c;
    struct sens_peak peak = {0};
    uint64_t k_hat, up_to;
    TRY(sens_paper_range(s->p, beta, order, &k_hat, &up_to, err));
    enum status st = sens_paper_new(a, s, up_to, &paper, err);
    if (st == OK)
        st = sens_capped_init(&c, a, s, &paper, beta, order, global, err);
    if (st == OK) {
        st = sens_scan(a, beta, &c.seq, &peak, err);
        if (st == OK)
            sens_peak_rational(&peak, out);
        sens_peak_fini(&peak);
        sens_capped_fini(&c);
    }
    sens_paper_fini(&paper);
    return st;
}

enum status sens_floor(struct arena *a, const struct cq *q, mpq_srcptr beta,
                       uint32_t order, u128 global_upper, mpq_t out,
                       struct err *err)
{
    struct sens_plan *p;
    struct sens_state s = {0};
    mpq_set_ui(out, 0, 1);
    if (q->unsat)
        return OK;
    TRY(sens_plan_new(a, q, false, &p, err));
    enum status st = sens_state_new(a, p, &s, err);
    if (st == OK)
        st = floor_peak(a, &s, beta, order ? order : 1, global_upper, out, err);
    sens_state_fini(&s);
    return st;
}
