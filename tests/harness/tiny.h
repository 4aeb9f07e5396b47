/*
 * Tiny instances and a counter of nested loops over them: the oracle for
 * residual counts. Shares no code with the join engine. Values are small
 * integers, spaced by TINY_GAP so that a value between two neighbours exists.
 */
#ifndef HARNESS_TINY_H
#define HARNESS_TINY_H

#include "cq/cq.h"
#include "sens/sens.h"

enum { TINY_TABLES = 4, TINY_ROWS = 24, TINY_COLS = 3, TINY_GAP = 4 };

struct tiny_table {
    size_t n_rows;
    int rows[TINY_ROWS][TINY_COLS];
};

struct tiny {
    const struct cq *q;
    int domain; /* values 0, GAP, ..., GAP (domain - 1) */
    struct tiny_table tables[TINY_TABLES];
    /* A deliberate mistake: comparisons that reach outside count exactly for
     * sets of one atom and are ignored for the others. */
    bool mixed_filters;
};

/* The functions of a sens_counter; ctx is a struct tiny. No predicates. */
enum status tiny_max(void *ctx, aset f, vset boundary, vset outs, u128 *out,
                     struct err *err);
enum status tiny_max_exact(void *ctx, aset f, vset boundary, vset outs,
                           u128 *out, struct err *err);
enum status tiny_sealed(void *ctx, struct secret_count *out, struct err *err);
uint64_t tiny_count(struct tiny *t);

#endif
