/*
 * Counting a conjunctive query by nested loops over rows, exactly as its
 * definition says: all assignments, then the distinct outputs. Slow and plain
 * on purpose; shares no code with the join engine. For tables of a few rows.
 */
#ifndef HARNESS_NAIVE_H
#define HARNESS_NAIVE_H

#include "cq/cq.h"

struct naive_table {
    size_t n_rows;
    struct value **rows; /* as many values as the schema's table has columns */
};

struct naive_group {
    struct str key; /* the values, tabs between; "\N" is NULL */
    uint64_t count;
};

struct naive_groups {
    struct naive_group *p;
    size_t n, cap;
};

/* tables: by number in the schema. The groups that occur; without GROUP BY
 * one with an empty key, or none when the count is 0. */
enum status naive_count(struct arena *a, const struct cq *q,
                        const struct naive_table *tables,
                        struct naive_groups *out, struct err *err);

#endif
