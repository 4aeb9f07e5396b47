/*
 * Loops without an interpreter for the shape that closes most patterns: one
 * fixed variable, a root, and below the root one kind of leaf that is a
 * neighbour of the fixed variable, all without weights. The value at a root
 * id is the number of its leaf neighbours among those of the fixed id, to a
 * power (plain, or falling where copies of the leaf must differ). In maxima
 * several boundary variables may be fixed; the leaf is next to them all.
 *
 *   closing   the root is a neighbour of the fixed variable too: its leaf
 *             neighbours are looked up among marks
 *   pushing   it is not: the leaves count at their root neighbours
 */
#ifndef JOIN_KERNEL_H
#define JOIN_KERNEL_H

#include "join/message/message.h"

/* Which of its neighbours an id takes: all, or those below or above itself. */
enum kernel_side { SIDE_ALL, SIDE_BELOW, SIDE_ABOVE };

struct kernel {
    bool ok, pushes;
    bool far;                              /* rows are not in a near cache */
    enum kernel_side root_side, leaf_side; /* of the fixed id */
    gset root_differs;    /* from these fixed ids; pushing only */
    bool leaf_above_root; /* closing only */
    bool falling;
    uint32_t power;
    const struct csr *to_root; /* from the fixed variable; closing only */
    const struct csr *to_leaf; /* from one of several fixed variables */
    const struct tnode *leaf;
    const struct csr *down; /* from the root to the leaf */
};

/* k->ok: the plan has the shape, and what kernel_sum adds up for `at_once`
 * fixed ids stays below 2^62. */
void kernel_make(const struct plan *p, uint32_t at_once, struct kernel *k);
/* The sum over fixed ids from .. to-1 and over the root. */
uint64_t kernel_sum(const struct kernel *k, struct runner *r, uint32_t from,
                    uint32_t to);
/* The largest value at a root id not below `least`, given the fixed ids. */
uint64_t kernel_max(const struct kernel *k, struct runner *r, uint32_t least);
/* No value with this (only) fixed id, or at this root id, is larger. */
uint64_t kernel_bound(const struct kernel *k, uint32_t x);
uint64_t kernel_root_bound(const struct kernel *k, uint32_t root);

#endif
