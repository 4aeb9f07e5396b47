/*
 * Rows in the order of a pass: see census_int.h.
 *
 * A pass is bound by memory, not by arithmetic: a row asks each neighbour for
 * what it tells about a value. From the root down, values of a link get numbers
 * in the order in which the parent's rows come to them first, and the kid's
 * rows are sorted by these, so that both sides go through the messages between
 * them more or less from front to back. Counts do not change: numbers of a
 * link's values are names that these two atoms alone use.
 */
#include "join/census_int.h"

#include <string.h>

struct aligning {
    struct join_census *c;
    struct arena *a;      /* of what stays */
    struct arena scratch; /* of one link */
    struct err *err;
};

/* New numbers by old ones, of a link's values; UINT32_MAX: nobody has it. */
static uint32_t *number_link(struct aligning *x, const struct census_node *n,
                             uint32_t k, uint32_t *size)
{
    const struct census_node *kid = &x->c->node[n->kid[k]];
    size_t links = census_links(kid);
    uint32_t *to = NEWS(&x->scratch, uint32_t, links);
    *size = 0;
    if (!to)
        return NULL;
    memset(to, 0xff, links * sizeof *to);
    for (uint32_t i = 0; i < n->n; i++) {
        uint32_t v = n->kid_key[k][i];
        if (v < kid->up_size && to[v] == UINT32_MAX)
            to[v] = (*size)++;
    }
    to[census_nothing(kid)] = *size;
    to[census_one(kid)] = *size + 1;
    return to;
}

static uint32_t *renamed(struct aligning *x, const uint32_t *from, uint32_t n,
                         const uint32_t *to)
{
    uint32_t *out = NEWS(x->a, uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = to[from[i]];
    return out;
}

/* Where each row of the kid goes: counting sort by the new number, stable;
 * UINT32_MAX: nowhere. */
static uint32_t *place_rows(struct aligning *x, const struct census_node *kid,
                            const uint32_t *to, uint32_t size, uint32_t *left)
{
    uint32_t *at = NEWS(&x->scratch, uint32_t, (size_t)size + 2);
    uint32_t *place = NEWS(&x->scratch, uint32_t, (size_t)kid->n + 1);
    if (!at || !place)
        return NULL;
    for (uint32_t i = 0; i < kid->n; i++)
        if (to[kid->up[i]] != UINT32_MAX)
            at[to[kid->up[i]] + 1]++;
    for (uint32_t v = 0; v < size; v++)
        at[v + 1] += at[v];
    *left = at[size];
    for (uint32_t i = 0; i < kid->n; i++) {
        uint32_t v = to[kid->up[i]];
        place[i] = v == UINT32_MAX ? UINT32_MAX : at[v]++;
    }
    return place;
}

static uint32_t *moved(struct aligning *x, const uint32_t *from, uint32_t n,
                       const uint32_t *place, uint32_t left)
{
    uint32_t *out = NEWS(x->a, uint32_t, (size_t)left + 1);
    for (uint32_t i = 0; out && i < n; i++)
        if (place[i] != UINT32_MAX)
            out[place[i]] = from[i];
    return out;
}

static bool move_rows(struct aligning *x, struct census_node *n,
                      const uint32_t *place, uint32_t left)
{
    u128 *times = NEWS(x->a, u128, (size_t)left + 1);
    bool all = times != NULL;
    for (uint32_t i = 0; all && i < n->n; i++)
        if (place[i] != UINT32_MAX)
            times[place[i]] = n->times[i];
    n->times = times;
    n->up = moved(x, n->up, n->n, place, left);
    all = all && n->up;
    for (uint32_t k = 0; k < n->n_kids; k++) {
        n->kid_key[k] = moved(x, n->kid_key[k], n->n, place, left);
        all = all && n->kid_key[k];
    }
    for (uint32_t r = 0; r < n->n_roles; r++) {
        n->who[r] = moved(x, n->who[r], n->n, place, left);
        all = all && n->who[r];
    }
    n->n = left;
    return all;
}

static enum status align_link(struct aligning *x, struct census_node *n,
                              uint32_t k)
{
    struct census_node *kid = &x->c->node[n->kid[k]];
    uint32_t size, left;
    uint32_t *to = number_link(x, n, k, &size);
    uint32_t *place = to ? place_rows(x, kid, to, size, &left) : NULL;
    if (!place)
        return err_nomem(x->err);
    n->kid_key[k] = renamed(x, n->kid_key[k], n->n, to);
    kid->up = renamed(x, kid->up, kid->n, to);
    if (!n->kid_key[k] || !kid->up || !move_rows(x, kid, place, left))
        return err_nomem(x->err);
    kid->up_size = size;
    return OK;
}

enum status join_census_align(struct join_census *c, struct arena *a,
                              struct err *err)
{
    struct aligning x = {.c = c, .a = a, .err = err};
    arena_init(&x.scratch, c->j->mem);
    x.scratch.wipe = true;
    enum status s = OK;
    for (uint32_t at = c->n; at-- > 0;) {
        struct census_node *n = &c->node[c->order[at]];
        for (uint32_t k = 0; s == OK && k < n->n_kids; k++) {
            struct arena_mark mark = arena_mark(&x.scratch);
            s = align_link(&x, n, k);
            arena_release(&x.scratch, mark);
        }
    }
    arena_fini(&x.scratch);
    return s;
}
