/*
 * What a plan promises, looked at again: for builds that check their objects
 * (DPC_CHECKS).
 */
#include "join/message/message.h"

/* The boundary first: the variables whose largest value is searched. */
static const char *fixed_check(const struct plan *p)
{
    gset seen = 0;
    for (uint32_t i = 0; i < p->n_x; i++) {
        gset one = gset_one(p->x[i]);
        if (p->x[i] >= p->g.n_vars || !(p->live & one) || (seen & one))
            return "plan: a fixed variable that is gone, or fixed twice";
        if ((i < p->n_max) != (p->g.v[p->x[i]].kind == W_MAX))
            return "plan: the boundary does not come first";
        seen |= one;
    }
    return seen == p->x_set ? NULL : "plan: its set of fixed variables";
}

const char *plan_check(const struct plan *p)
{
    if (p->n_x > p->g.n_vars || p->n_max > p->n_x)
        return "plan: more fixed than there are";
    if (p->root >= 0 && ((uint32_t)p->root >= p->g.n_vars ||
                         (p->x_set & gset_one((unsigned)p->root)) ||
                         p->g.v[p->root].kind != W_MAX))
        return "plan: a root that is fixed, or no boundary";
    if (!p->n_terms || !p->terms)
        return "plan: no terms";
    return fixed_check(p);
}
