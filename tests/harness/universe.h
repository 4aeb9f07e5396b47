/*
 * Every instance of a small universe, and the definitions by brute force:
 * local sensitivity at distance k, smoothness between neighbours. A sequence
 * of bounds that breaks one of them is reported.
 *
 * A slot is one row that a private table may have; a bag has two slots for
 * the same row. An instance is a set of slots that satisfies the declared
 * constraints. The distance of two instances is, table by table, the larger of
 * the numbers of rows that one has and the other lacks: a row may be
 * inserted, deleted or replaced in one step.
 */
#ifndef HARNESS_UNIVERSE_H
#define HARNESS_UNIVERSE_H

#include "harness/tiny.h"
#include "sens/plan.h"

enum { SLOTS = 10, INSTANCES = 1 << SLOTS, LEVELS = 4 };

struct universe {
    const struct cq *q;
    struct tiny base; /* public tables filled, private ones empty */
    unsigned n_slots;
    unsigned table_of[SLOTS];
    int row_of[SLOTS][TINY_COLS];
    unsigned tables[TINY_TABLES]; /* slots of each table, as a mask */
    bool valid[INSTANCES];
    uint64_t count[INSTANCES];
    uint64_t local[3][INSTANCES]; /* LS at distance 0, 1, 2 */
};

/* Slots: all rows over the domain of each private table of the query, each
 * `copies` times; public tables get rows by chance. False: too many slots. */
bool universe_init(struct universe *u, const struct cq *q, int domain,
                   int copies, uint64_t *seed);
/* After base.tables of public tables have been changed by hand. */
void universe_recount(struct universe *u);
void universe_instance(const struct universe *u, unsigned set, struct tiny *t);
unsigned universe_distance(const struct universe *u, unsigned x, unsigned y);
/* Fills `local` for neighbours of `order` rows. */
void universe_local(struct universe *u, unsigned order);

/* seq[k][instance], k < LEVELS: how often is it below LS^(k), or above the
 * value at k+1 of a neighbour? Infinity is UINT64_MAX. */
typedef uint64_t universe_sequence[LEVELS][INSTANCES];
unsigned universe_violations(const struct universe *u, unsigned order,
                             universe_sequence *seq);

/* The capped sequence of a plan (which a test may have broken) on every
 * instance. `mixed`: with the deliberate mistake of tiny.h. The check of caps
 * on T(I) is skipped if `broken`. False: an error, in err. */
bool universe_capped(struct universe *u, const struct sens_plan *p,
                     unsigned order, u128 global, bool mixed, bool broken,
                     universe_sequence *seq, struct err *err);
bool universe_paper(struct universe *u, const struct sens_plan *p,
                    universe_sequence *seq, struct err *err);
bool universe_elastic(struct universe *u, universe_sequence *seq,
                      struct err *err);

uint64_t universe_random(uint64_t *seed, uint64_t below);

#endif
