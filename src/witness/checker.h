/*
 * Recounts a witness from the query as written. Shares no code with the
 * analysis: no structures, no chase, no plans, only nested loops over rows
 * and the definition of each constraint.
 */
#ifndef WITNESS_CHECKER_H
#define WITNESS_CHECKER_H

#include "cq/cq.h"
#include "tree/tree.h"

struct checker_row {
    uint32_t table;
    const struct value *vals;
    size_t n_vals;
};

struct checker_result {
    bool holds; /* both databases satisfy every constraint, counts known */
    u128 before, after; /* of a sum with two signs: raised by the same number */
    uint64_t steps;     /* taken */
};

/* rows[insert] is the row that the larger database has in addition. */
enum status checker_run(struct arena *a, const struct cq *q,
                        const struct checker_row *rows, size_t n_rows,
                        size_t insert, uint64_t steps,
                        struct checker_result *out,
                        struct err *err) WARN_UNUSED;

/* The same for a tree (tree_checker.c): sums are counts of units. */
enum status checker_run_tree(struct arena *a, const struct ctree *t,
                             const struct checker_row *rows, size_t n_rows,
                             size_t insert, uint64_t steps,
                             struct checker_result *out,
                             struct err *err) WARN_UNUSED;

#endif
