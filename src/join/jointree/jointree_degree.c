/*
 * How many neighbours an id of the root needs before its value can matter.
 *
 * The value of a root id is the sum of the child's values over its
 * neighbours, each at most once, times weights of pairs. With d neighbours it
 * is at most the sum of the d largest values the child has, times the largest
 * weight, to the power with which the child counts (a falling power is less
 * than a plain one). Everything else that can be asked of the root only takes
 * away. So what the messages of the child amount to, largest first, tells
 * below which degree no id of the root exceeds a given number: most ids of a
 * graph with few hubs are never looked at.
 *
 * Values are put into classes, each taken for its largest member, which
 * raises a bound and never lowers it. Cost: one pass over the child's ids.
 */
#include "join/jointree/jointree.h"

enum { SINGLE = 256, STEPS = 16, CLASSES = SINGLE + (64 - 8) * STEPS };

/* Values below SINGLE by themselves, then sixteen classes a doubling. */
static uint32_t class_of(uint64_t v)
{
    if (v < SINGLE)
        return (uint32_t)v;
    uint32_t e = 63 - (uint32_t)__builtin_clzll(v);
    return SINGLE + (e - 8) * STEPS + (uint32_t)(v >> (e - 4) & 15);
}

/* The largest value of a class. */
static uint64_t class_top(uint32_t c)
{
    if (c < SINGLE)
        return c;
    uint32_t e = (c - SINGLE) / STEPS + 8, step = (c - SINGLE) % STEPS;
    return (((uint64_t)STEPS + step) << (e - 4)) |
           (((uint64_t)1 << (e - 4)) - 1);
}

static bool power_exceeds(uint64_t v, uint32_t power, uint64_t above)
{
    uint64_t p = 1;
    while (power--)
        if (!u64_mul(p, v, &p))
            return true;
    return p > above;
}

/* The largest sum of values whose weighted power is not above `above`. */
static uint64_t largest_harmless(const struct tnode *k, uint64_t above)
{
    uint64_t lo = 0, hi = above; /* lo is harmless */
    while (lo < hi) {
        uint64_t mid = hi - (hi - lo) / 2, v;
        bool harmless = u64_mul(mid, k->up->max_w, &v) &&
                        !power_exceeds(v, k->power, above);
        lo = harmless ? mid : lo;
        hi = harmless ? hi : mid - 1;
    }
    return lo;
}

/* The least d for which the d largest values add up to more than `sum`. */
static uint32_t values_needed(const uint32_t *count, uint64_t sum)
{
    uint64_t d = 0;
    for (uint32_t c = CLASSES; c-- > 1;) {
        uint64_t all;
        if (!u64_mul(class_top(c), count[c], &all) || all > sum)
            return (uint32_t)(d + sum / class_top(c) + 1);
        sum -= all;
        d += count[c];
    }
    return UINT32_MAX;
}

bool jtree_degree_bounds(const struct jtree *t)
{
    const struct tnode *root = &t->node[0], *k = &t->node[root->kids[0]];
    return root->n_kids == 1 && !root->n_lists && !root->unary && !k->is_free &&
           k->kind == W_SUM;
}

uint32_t jtree_least_degree(const struct jtree *t, const struct twork *w,
                            uint64_t above)
{
    const struct tnode *root = &t->node[0], *k = &t->node[root->kids[0]];
    const struct nwork *x = &w->node[root->kids[0]];
    uint32_t count[CLASSES] = {0};
    if (!jtree_degree_bounds(t) || w->wide)
        return 0;
    uint64_t sum = largest_harmless(k, above);
    if (x->mark)
        return x->n_ids > sum ? (uint32_t)sum + 1 : UINT32_MAX;
    for (uint32_t i = 0; i < x->n_ids; i++)
        count[class_of(x->val[x->ids[i]])]++;
    return values_needed(count, sum);
}
