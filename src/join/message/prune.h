/* Branch and bound over the boundary: see solve_max.c and prune.c. */
#ifndef JOIN_PRUNE_H
#define JOIN_PRUNE_H

#include "join/message/message.h"

struct prune {
    uint32_t n_trees, main; /* main: the tree whose root is y */
    struct jtree *trees;
    uint64_t slack; /* weights of dropped edges */
    unsigned y;
    gset fixed;
    bool wide;
};

enum status prune_make(struct plan *p, gset fixed, unsigned y, struct prune *b,
                       struct err *err) WARN_UNUSED;
/* Lowers nodes to the values of their subtrees' own problems. */
enum status prune_caps(struct plan *p, struct prune *b,
                       struct err *err) WARN_UNUSED;
/* Ids of y whose bound exceeds `above`, unsorted. */
uint32_t prune_eval(const struct prune *b, struct runner *r, uint64_t above,
                    struct candidate *out);
/* No value exceeds this, by largest degrees alone. */
uint64_t prune_limit(const struct plan *p);
/* Lowers *limit to the value without variables that cannot raise it. */
enum status prune_limit_core(struct plan *p, uint64_t *limit,
                             struct err *err) WARN_UNUSED;
/* Falling by candidate_rank; tmp holds n more. */
void candidates_order(struct candidate *c, uint32_t n, struct candidate *tmp);

enum { CANDIDATE_RANKS = 1024 };

/* Rises with the bound, sixteen steps for a doubling: an order that costs a
 * pass where sorting costs many. */
static inline uint32_t candidate_rank(uint64_t bound)
{
    if (bound < 16)
        return (uint32_t)bound;
    uint32_t e = 63 - (uint32_t)__builtin_clzll(bound);
    return (e - 3) * 16 + (uint32_t)(bound >> (e - 4) & 15);
}

#endif
