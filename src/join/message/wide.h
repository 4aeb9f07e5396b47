/*
 * Graphs whose numbers leave 64 bits: the same plan (message_plan.c,
 * terms.c, jointree.c) with numbers of as many words as the sizes of the
 * relations can ask for (words.h). Exact; only the final value is clamped.
 *
 *   wide_tree.c    messages along a tree, given the fixed variables
 *   wide_solve.c   sums, maxima and groups over the fixed variables
 *
 * There are no kernels here, and one thread: this is several times slower than
 * the fast engine, but touches the same pairs.
 */
#ifndef JOIN_WIDE_H
#define JOIN_WIDE_H

#include "join/graph/wide_graph.h"
#include "join/message/prune.h"

/* --- wide_tree.c --------------------------------------------------------- */
/* Values of one node; all zero but at `ids`. */
struct wide_node {
    uint64_t *val;
    uint32_t *ids, n_ids;
};

struct wide_work {
    struct join *j;
    struct arena arena;
    uint32_t words, n; /* of ids at most */
    uint32_t n_free;
    struct wide_node *free[2 * G_VARS];
    bool nomem;
};
void wide_work_open(struct wide_work *w, struct join *j, uint32_t words,
                    uint32_t n);
void wide_work_close(struct wide_work *w);
/* The root's values; NULL when memory is out. `only` (may be NULL): the ids
 * that are of interest. Give it back with wide_give. */
struct wide_node *wide_eval(const struct jtree *t, struct wide_work *w,
                            const uint32_t *fixed, const uint32_t *only,
                            uint32_t n_only);
void wide_give(struct wide_work *w, struct wide_node *x);
/* Sum (largest, any) of the root's values into `out`. */
void wide_total(const struct jtree *t, const struct wide_node *x,
                uint32_t words, uint64_t *out);

/* --- wide_solve.c -------------------------------------------------------- */
/* The value of a graph with words, clamped; PASS: no plan. `solve` gives
 * those of smaller problems. */
enum status wide_solve(struct join *j, const struct graph *g,
                       graph_solver *solve, u128 *out, enum outcome *what,
                       struct err *err) WARN_UNUSED;
/* The counts of keys of a tree's boundary variables, as acyclic_groups. */
struct group_ids;
enum status wide_groups(struct join *j, const struct graph *g,
                        const struct group_ids *k, u128 *out,
                        enum outcome *what, struct err *err) WARN_UNUSED;

#endif
