/* The backtracking join's plan: see walk.c. */
#ifndef JOIN_WALK_H
#define JOIN_WALK_H

#include "join/join_int.h"

enum walk_kind { W_MAX, W_SUM, W_EXISTS };

struct walk_part { /* an atom that has the node's variable at this depth */
    uint32_t slot, depth;
    bool last; /* its last column: ids are distinct within a range */
};

struct walk_node {
    enum walk_kind kind;
    uint32_t var;
    bool binary;   /* the value is 0 or 1: stop at the first result */
    bool is_fixed; /* one given value only */
    bool tells;    /* the boundary is complete here: r->each is called */
    bool rows;     /* sums over the rest of one atom: rows can be counted */
    uint32_t n_parts;
    struct walk_part *parts;
    uint64_t free_size; /* no atom has it: positions 0 .. free_size-1 */
    uint32_t n_checks;
    struct jcmp *checks; /* decided once this variable has a value */
    uint32_t n_kids;
    struct walk_node **kids; /* independent given the variables so far */
};

struct walk_slot {
    const struct trie *trie;
    uint32_t n_cols;
    uint8_t order[MAX_VARS];
    uint32_t depth; /* columns placed so far, while planning */
    uint32_t atom;
};

struct walk_plan {
    uint32_t n_slots;
    struct walk_slot *slots;
    uint32_t n_roots;
    struct walk_node **roots;
    bool empty; /* an atom without variables has no row */
};

enum status walk_plan_make(struct join *j, const struct request *r,
                           struct arena *a, struct walk_plan *out,
                           struct err *err) WARN_UNUSED;

#endif
