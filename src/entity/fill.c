/*
 * A packing without listing: see fill.h.
 *
 * A result counts as the product of its owners' factors. Factors of entities
 * that exceed t fall, those of entities that have room rise, as long as it
 * pays; at last those that exceed t fall once more, which nobody else's can
 * undo.
 */
#include "entity/fill.h"

#include <math.h>

enum { FILLS = 10 };
/* Of what a pass says, on the safe side (claim 14). */
static const double SLACK = 0x1p-12;

struct fill {
    struct mem *mem;
    struct arena arena;
    struct join_census *census;
    uint32_t entities;
    double t;
    double *factor, *load;
};

/* Within what a pass takes. */
static double in_range(double f)
{
    return f >= 1 ? 1 : f >= 0x1p-40 ? f : 0x1p-40;
}

static enum status open_fill(struct fill *x, const u128 *has, struct err *err)
{
    size_t n = (size_t)x->entities + 1;
    x->factor = NEWS(&x->arena, double, n);
    x->load = NEWS(&x->arena, double, n);
    if (!x->factor || !x->load)
        return err_nomem(err);
    for (uint32_t u = 0; u < x->entities; u++)
        x->factor[u] = has[u] ? in_range(x->t / (double)has[u]) : 1;
    x->factor[x->entities] = 1;
    return OK;
}

/* Loads towards t, a part of the way: a result has up to k owners. */
static void move_factors(struct fill *x, double way)
{
    for (uint32_t u = 0; u < x->entities; u++)
        if (x->load[u] > 0)
            x->factor[u] = in_range(x->factor[u] * pow(x->t / x->load[u], way));
}

static void lower_factors(struct fill *x)
{
    for (uint32_t u = 0; u < x->entities; u++)
        if (x->load[u] > x->t)
            x->factor[u] = x->load[u] < INFINITY
                               ? in_range(x->factor[u] * x->t / x->load[u])
                               : 0;
}

/* PRIVACY: what is left of `total` when the largest load is t, rounded down;
 * nothing where a number was too large to be one. */
static u128 scaled(const struct fill *x, double total)
{
    double most = x->t;
    bool sane = total < 0x1p500;
    for (uint32_t u = 0; u < x->entities; u++) {
        sane = sane && x->load[u] < 0x1p500;
        most = x->load[u] > most ? x->load[u] : most;
    }
    double v = sane ? total * (1 - SLACK) * (x->t / most) : 0;
    return v < 0x1p96 ? (u128)v : (u128)1 << 96;
}

static enum status fill(struct fill *x, unsigned k, u128 *out, struct err *err)
{
    double total, way = k > 2 ? 1.5 / k : 0.7;
    for (int i = 0; i < FILLS; i++) {
        TRY(join_census_scale(x->census, x->factor, x->load, &total, err));
        if (i + 1 < FILLS)
            move_factors(x, way);
    }
    lower_factors(x);
    TRY(join_census_scale(x->census, x->factor, x->load, &total, err));
    *out = scaled(x, total);
    return OK;
}

enum status peel_fill(struct mem *m, struct join_census *census,
                      uint32_t entities, unsigned k, const u128 *has,
                      uint64_t t, u128 *out, struct err *err)
{
    struct fill x = {
        .mem = m, .census = census, .entities = entities, .t = (double)t};
    arena_init(&x.arena, m);
    x.arena.wipe = true;
    enum status s = open_fill(&x, has, err);
    if (s == OK)
        s = fill(&x, k, out, err);
    arena_fini(&x.arena);
    return s;
}
