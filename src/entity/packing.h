/*
 * One packing problem after collapse: only the m heavy entities (more than t)
 * have constraints, results with equal heavy owners are one column, and what
 * has no heavy owner is counted outside (PROOF.md, claim 2).
 *
 *   max sum over groups g of min(w_g, sum of x_c, c in g)
 *   x >= 0, for each row u: the x_c of its columns sum to at most t
 *
 * Without witnesses a group is one column, and weights are clipped to t, which
 * no column can exceed. With witnesses they sum to less than 2^32.
 */
#ifndef ENTITY_PACKING_H
#define ENTITY_PACKING_H

#include "entity/pack.h"

struct packing {
    uint64_t t;
    uint32_t rows;          /* heavy entities */
    uint32_t groups, cols;  /* columns of a group stand together */
    const uint32_t *first;  /* groups + 1: first column of each group */
    const uint32_t *start;  /* cols + 1: where the owners of a column start */
    const uint32_t *owner;  /* rows */
    const uint64_t *weight; /* of each group */
};

/* A proposal and what it is worth. y in units of 2^-unit, at most one; x in
 * units of 2^-unit. Any values do: bad ones give a wide interval. */
struct proposal {
    const u128 *x;     /* cols */
    const uint64_t *y; /* rows */
};
/* Bits after the point with which no sum below 2^32 columns overflows. */
unsigned packing_unit(const struct packing *p);

/*
 * PRIVACY: the only place that says what Q is. lo: x is made feasible by
 * clipping, scaling down and filling up; hi: the dual bound of y (PROOF.md,
 * claim 4). `room` has room for all columns and rows.
 */
struct scratch {
    u128 *col, *row;
};
void packing_certify(const struct packing *p, const struct proposal *from,
                     struct scratch room, struct pack_interval *out);
/* Room for a proposal and what certifies it, in one piece. */
struct packing_room {
    size_t bytes;
    u128 *x;
    uint64_t *y;
    struct scratch room;
};
bool packing_room_take(const struct packing *p, struct mem *m,
                       struct packing_room *out);
void packing_room_give(struct mem *m, struct packing_room *r); /* wipes */

/* Solvers. Each fills `out` with a certified interval; flow's is a point. */
struct solver {
    struct mem *mem;
    const struct pack_options *opt;
    struct err *err;
};
/* Columns with at most two owners, groups of one column; or groups of any
 * columns with one owner each. */
enum status packing_flow(const struct packing *p, const struct solver *s,
                         struct pack_interval *out) WARN_UNUSED;
enum status packing_climb(const struct packing *p, const struct solver *s,
                          struct pack_interval *out) WARN_UNUSED;
/* Narrows `out` by an exact simplex if the problem is small enough. */
enum status packing_simplex(const struct packing *p, const struct solver *s,
                            struct pack_interval *out) WARN_UNUSED;

bool packing_closed(const struct packing *p, const struct pack_interval *v);

#endif
