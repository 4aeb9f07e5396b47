/* Branch and bound over the boundary: see solve_max.c and bound.c. */
#ifndef JOIN_SEARCH_H
#define JOIN_SEARCH_H

#include <stdlib.h>
#include "join/solve.h"

struct candidate {
    uint64_t bound;
    uint32_t id;
};

struct bound {
    uint32_t n_trees, main; /* main: the tree whose root is y */
    struct tree *trees;
    uint64_t slack; /* weights of dropped edges */
    unsigned y;
    gset fixed;
    bool wide;
};

enum status bound_make(struct plan *p, gset fixed, unsigned y, struct bound *b,
                       struct err *err) WARN_UNUSED;
/* Lowers nodes to the values of their subtrees' own problems. */
enum status bound_caps(struct plan *p, struct bound *b,
                       struct err *err) WARN_UNUSED;
/* Ids of y whose bound exceeds `above`, unsorted. */
uint32_t bound_eval(const struct bound *b, struct runner *r, uint64_t above,
                    struct candidate *out);
/* No value exceeds this, by largest degrees alone. */
uint64_t bound_limit(const struct plan *p);
void candidates_sort(struct candidate *c, uint32_t n);

#endif
