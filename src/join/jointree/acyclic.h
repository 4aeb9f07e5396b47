/*
 * Trees of variables with at most two boundary variables: messages as arrays
 * over all ids, one pass over the ids or pairs of an edge each, and for two
 * boundary variables one pass that groups by both. Nothing is planned, fixed
 * or searched; whatever is not such a tree is left to message_plan.c.
 *
 *   acyclic.c   counts variables away, leaf by leaf, and reads the result
 *   jointree_message.c      one message
 *   path_pairs.c      the pairs of two boundary variables, and their counts
 */
#ifndef JOIN_ACYCLIC_H
#define JOIN_ACYCLIC_H

#include "join/graph/graph.h"

/* No number reaches this: sums and products of two fit 64 bits checked. */
#define ACYCLIC_MOST ((uint64_t)1 << 62)

/* A tree that shrinks. The unary weights of a variable are its own factor
 * times the messages that it got. */
struct acyclic {
    struct join *j;
    struct graph g;
    gset live;
    gset own;             /* variables whose weights are scratch of ours */
    uint64_t top[G_VARS]; /* the largest weight */
    bool wide;            /* a number left 64 bits: no result */
};

/* Counts leaf v away into its only neighbour, over edge number `edge`. */
enum status acyclic_fold(struct acyclic *x, unsigned v, uint32_t edge,
                         struct err *err) WARN_UNUSED;

/* Counts that are asked for, of pairs of ids: the pairs of first id i are
 * off[i] .. off[i+1], the second id of a pair and where its count goes. */
struct pair_keys {
    const uint32_t *off, *second;
    uint64_t *out;
};

/* The live variables form a path whose ends are a and b; inner ones are sums.
 * *best: the largest count of a pair. keys (may be NULL): counts to fill in.
 * PASS: the path is none of those that one pass can do. */
enum status acyclic_pairs(struct acyclic *x, unsigned a, unsigned b,
                          const struct pair_keys *keys, uint64_t *best,
                          enum outcome *what, struct err *err) WARN_UNUSED;

/* The value of a graph. PASS: not a tree of this kind; WIDE: its numbers are
 * too large for it. */
enum status acyclic_solve(struct join *j, const struct graph *g, u128 *out,
                          enum outcome *what, struct err *err) WARN_UNUSED;

/* Keys of a graph's boundary variables, one or two: ids[i][key] for the i-th
 * of them, NO_ID where the key does not count. */
struct group_ids {
    uint32_t n_vars;
    const uint32_t *ids[2];
    size_t n;
    uint64_t *out; /* by key */
};
/* The counts of keys; *what as above. */
enum status acyclic_groups(struct join *j, const struct graph *g,
                           const struct group_ids *k, enum outcome *what,
                           struct err *err) WARN_UNUSED;

#endif
