/*
 * How much work a count can be, from the query, declared bounds and public
 * sizes alone. PRIVACY: no row of a private table is looked at, so whether a
 * question is admitted tells nothing of them. PROOF.md, "Work".
 */
#ifndef BOUND_WORK_H
#define BOUND_WORK_H

#include "cq/cq.h"

/* One number that the engine is asked for (join.h: join_max; with keys:
 * join_count_groups, whose keys are the boundary). */
struct bound_ask {
    aset f;
    vset boundary, outs;
    uint64_t keys; /* how many keys are given; 0: none, the largest is asked */
};

/* Sizes of tables that are known beside what is declared, by table; U128_INF:
 * not known. */
struct bound_sizes {
    const u128 *rows;
};

/* The most rows that an atom can have. U128_INF: nothing bounds it. */
enum status bound_rows(struct arena *a, const struct cq *q, uint32_t atom,
                       const struct bound_sizes *sizes, u128 *out,
                       struct err *err) WARN_UNUSED;
/*
 * The most steps of a steady join (join.h) for one ask, on any database that
 * keeps to the bounds: rows taken into the hand, ids tried. U128_INF: no bound.
 * *linear (may be NULL): every part is counted row by row. rank (may be NULL;
 * MAX_VARS of them): the order in which the others are walked, for the join.
 */
enum status bound_work(struct arena *a, const struct cq *q,
                       const struct bound_sizes *sizes,
                       const struct bound_ask *ask, uint32_t *rank, u128 *out,
                       bool *linear, struct err *err) WARN_UNUSED;

#endif
