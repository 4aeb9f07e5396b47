/* Lower bounds: how one table's witness is looked for, and those of trees. */
#ifndef BOUND_LOWER_WAYS_H
#define BOUND_LOWER_WAYS_H

#include "bound/bound.h"
#include "bound/upper.h"
#include "witness/lower.h"

enum { BOUND_FAMILY = 16 };

/* One after the other until the target is reached. */
enum status bound_lower_ways(struct witness_search *l, uint64_t size,
                             bool *unbounded, struct err *err) WARN_UNUSED;

/* A part of a tree with what its own atoms can bring about. */
struct part_upper {
    uint32_t branch, node;
    bool gain, loss;
    const struct cq *path;
    aset own; /* atoms of up.t */
    struct upper up;
};
/* Fills in lower, witness and exact. */
enum status bound_tree_lower(struct arena *a, const struct ctree *t,
                             const struct part_upper *parts, size_t n,
                             const struct bound_options *opt, struct bound *b,
                             struct err *err) WARN_UNUSED;

#endif
