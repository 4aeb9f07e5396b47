/*
 * Logic on conjunctive queries: homomorphisms, chase, core, unification.
 * Sees queries and schemas, never rows. Every function that gives up (budget)
 * gives up on the sound side and says so.
 */
#ifndef LOGIC_LOGIC_H
#define LOGIC_LOGIC_H

#include "cq/cq.h"

/* Steps a search may take before it gives up. */
struct work {
    uint64_t left;
    bool exhausted;
};

/*
 * chase: applies all degree constraints with k = 1 (representative: constant
 * > free > bound; PRIVACY: a free variable is never replaced by a bound one).
 * A clash of constants, x != x or x < x gives unsat. core: smallest
 * equivalent query that fixes free variables, filter variables and non-null
 * demands. Bag atoms are never merged.
 * logic_normalise = chase, then core.
 */
enum status logic_chase(struct arena *a, const struct cq *q, struct cq **out,
                        struct err *err) WARN_UNUSED;
enum status logic_core(struct arena *a, const struct cq *q, struct work *work,
                       struct cq **out, struct err *err) WARN_UNUSED;
enum status logic_normalise(struct arena *a, const struct cq *q,
                            struct work *work, struct cq **out,
                            struct err *err) WARN_UNUSED;

/*
 * Can one row match all atoms of `atoms` (all over one table) at once,
 * without merging two constants, the sides of a != or of a strict comparison,
 * or two row ids' demands? Row ids do not prevent it: one inserted row has
 * one row id, and both atoms may map to it. When in doubt: true (sound).
 */
bool logic_unifiable(const struct cq *q, aset atoms);

#endif
