/*
 * Rows of a table by equal values: a partition, refined column by column.
 * Two rows are in one group if they agree in every column so far; NULL agrees
 * with NULL (grouping's view). Groups are numbered 0, 1, ... as their first
 * rows come, so the work is on 32-bit numbers and no value is compared.
 *
 * Exact: a column's cells are equal if and only if their words are (codes of
 * a dictionary without repeats, integers, doubles with one zero and one NaN),
 * and groups are told apart by the full pair of old group and word.
 *
 * Cost of a column: O(rows), by a table indexed with group and word where
 * that has at most a few places for each row, else by hashing. Memory: 4 bytes
 * a row, and while refining 4 to 16 more, and 16 for each group when hashing.
 */
#ifndef STORE_PARTITION_H
#define STORE_PARTITION_H

#include "store/store.h"

struct partition {
    struct mem *mem;
    uint32_t *group; /* by row */
    size_t n_rows, n_groups;
};

/* All rows in one group. E_LIMIT beyond 2^32 - 2 rows. */
enum status partition_new(struct mem *m, size_t n_rows, struct partition *out,
                          struct err *err) WARN_UNUSED;
enum status partition_refine(struct partition *p, const struct store_column *c,
                             struct err *err) WARN_UNUSED;
void partition_free(struct partition *p);

#endif
