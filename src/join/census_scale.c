/*
 * Results that count in part: see census.h.
 *
 * The passes of census.c with numbers that need not be whole: every key takes
 * its factor of a row.
 */
#include "join/census_int.h"

#include <string.h>

struct scaling {
    const struct join_census *c;
    const double *factor;
    double *load;
    double **rise, **sink; /* by node, by value of the link above */
    double total;
};

static double own_part(const struct scaling *x, const struct census_node *n,
                       uint32_t i)
{
    double v = (double)n->times[i];
    for (uint32_t r = 0; r < n->n_roles; r++)
        v *= x->factor[n->who[r][i]];
    return v;
}

static void rise_parts(const struct scaling *x, uint32_t node)
{
    const struct census_node *n = &x->c->node[node];
    double *to = x->rise[node];
    to[census_one(n)] = 1;
    for (uint32_t i = 0; i < n->n; i++) {
        double v = own_part(x, n, i);
        for (uint32_t k = 0; k < n->n_kids; k++)
            v *= x->rise[n->kid[k]][n->kid_key[k][i]];
        to[n->up[i]] += v;
    }
}

/* What all sides but kid k give, down to it; what all give, to the keys. */
static void sink_parts(struct scaling *x, uint32_t node)
{
    const struct census_node *n = &x->c->node[node];
    double before[MAX_ATOMS + 1];
    for (uint32_t i = 0; i < n->n; i++) {
        double after = own_part(x, n, i);
        before[0] = n->up ? x->sink[node][n->up[i]] : 1;
        for (uint32_t k = 0; k < n->n_kids; k++)
            before[k + 1] = before[k] * x->rise[n->kid[k]][n->kid_key[k][i]];
        double all = before[n->n_kids] * after;
        x->total += n->up ? 0 : all;
        for (uint32_t r = 0; r < n->n_roles; r++)
            x->load[n->who[r][i]] += all;
        for (uint32_t k = n->n_kids; k-- > 0;) {
            uint32_t kid = n->kid[k], key = n->kid_key[k][i];
            x->sink[kid][key] += before[k] * after;
            after *= x->rise[kid][key];
        }
    }
}

static enum status open_parts(struct scaling *x, struct arena *a,
                              struct err *err)
{
    const struct join_census *c = x->c;
    x->rise = NEWS(a, double *, c->n);
    x->sink = NEWS(a, double *, c->n);
    for (uint32_t i = 0; x->rise && x->sink && i < c->n; i++) {
        x->rise[i] = NEWS(a, double, census_links(&c->node[i]));
        x->sink[i] = NEWS(a, double, census_links(&c->node[i]));
        if (!x->rise[i] || !x->sink[i])
            return err_nomem(err);
    }
    return x->rise && x->sink ? OK : err_nomem(err);
}

enum status join_census_scale(struct join_census *c, const double *factor,
                              double *load, double *total, struct err *err)
{
    struct scaling x = {.c = c, .factor = factor, .load = load};
    struct arena a;
    arena_init(&a, c->j->mem);
    a.wipe = true;
    enum status s = open_parts(&x, &a, err);
    memset(load, 0, ((size_t)c->ids + 1) * sizeof *load);
    for (uint32_t at = 0; s == OK && at + 1 < c->n; at++)
        rise_parts(&x, c->order[at]);
    for (uint32_t at = c->n; s == OK && at-- > 0;)
        sink_parts(&x, c->order[at]);
    *total = x.total;
    arena_fini(&a);
    if (s == OK && join_cancelled(c->j))
        return err_set(err, E_CANCELLED, "counting was stopped");
    return s;
}
