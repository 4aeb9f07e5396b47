/*
 * Recounts a witness from the query as written. Shares no code with the
 * analysis: no structures, no chase, no plans, only nested loops over rows
 * and the definition of each constraint.
 */
#ifndef WITNESS_CHECKER_H
#define WITNESS_CHECKER_H

#include "witness/admissible.h"

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

/* rows[insert] is the row that one database has and the other has not, which
 * has rows[old] in its place if old < n_rows. `adm` may be NULL: then
 * dependencies alone are asked of them. */
enum status checker_run(struct arena *a, const struct cq *q,
                        const struct admissible *adm,
                        const struct checker_row *rows, size_t n_rows,
                        size_t insert, size_t old, uint64_t steps,
                        struct checker_result *out,
                        struct err *err) WARN_UNUSED;

/* The same for a tree (tree_checker.c): sums are counts of units. */
enum status checker_run_tree(struct arena *a, const struct ctree *t,
                             const struct admissible *adm,
                             const struct checker_row *rows, size_t n_rows,
                             size_t insert, size_t old, uint64_t steps,
                             struct checker_result *out,
                             struct err *err) WARN_UNUSED;

/* checker_admits.c: may the column hold the value, by its length and list? */
bool checker_fits_column(const struct column *c, const struct value *v);
/* Does the row break the CHECK? When in doubt: yes. */
enum status checker_breaks(struct arena *a, const struct row_check *c,
                           const struct checker_row *row, bool *breaks,
                           struct err *err) WARN_UNUSED;

#endif
