/*
 * Peeling (PROOF.md, claim 13): entities that surely reach t by results of
 * their own are set aside with t each, together with all their results. What
 * is left to pack are the results of few entities, so that combinations of
 * owners are listed for these alone, however many results there are.
 *
 *   Q(D, t) = t |P| + Q(D - P, t)
 *
 * PRIVACY: an equation between exact numbers; which P is found depends on the
 * rows, the value does not. OWNER: everything here is secret.
 */
#ifndef ENTITY_PEEL_H
#define ENTITY_PEEL_H

#include "entity/pack.h"
#include "join/census.h"

struct peel;
/* has[u]: at least what u has; whole: what all results weigh. Census and has
 * stay the caller's. */
enum status peel_open(struct mem *m, struct join_census *census,
                      uint32_t entities, unsigned k, const u128 *has,
                      u128 whole, struct peel **out,
                      struct err *err) WARN_UNUSED;
void peel_close(struct peel *p); /* NULL allowed */

/* The rest to pack at t; until the next call or the close. See pack_core. */
enum status peel_at(struct peel *p, uint64_t t, struct pack_core *out,
                    struct err *err) WARN_UNUSED;
/* An interval of Q(D, t) in whole results by passes over the rows alone,
 * however many combinations of owners there are; it may be wide. */
enum status peel_bounds(struct peel *p, uint64_t t, u128 *lo, u128 *hi,
                        struct err *err) WARN_UNUSED;

#endif
