/*
 * A packing without listing: every entity lets its results count in part, so
 * that nobody exceeds t. A lower bound of Q(D, t) (PROOF.md, claim 14).
 * OWNER: everything here is secret.
 */
#ifndef ENTITY_FILL_H
#define ENTITY_FILL_H

#include "entity/pack.h"
#include "join/census.h"

/* At most Q(D, t), without witnesses; `has` as for peel_open. Entities that
 * the census does not tell apart must have at most t. */
enum status peel_fill(struct mem *m, struct join_census *census,
                      uint32_t entities, unsigned k, const u128 *has,
                      uint64_t t, u128 *out, struct err *err) WARN_UNUSED;

#endif
