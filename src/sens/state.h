/*
 * The vector T of a plan and what the sequence of local sensitivity bounds
 * does with it: step, caps, and the sum g. T is clamped when it is filled in;
 * from there on integers of any size: PRIVACY: a sum that wraps would be no
 * upper bound.
 */
#ifndef SENS_STATE_H
#define SENS_STATE_H

#include <gmp.h>
#include "sens/plan.h"
#include "sens/sens.h"

struct sens_state {
    const struct sens_plan *p;
    mpz_t *t;    /* one for each coordinate */
    mpz_t *next; /* scratch of the same size */
    mpz_t sum, product;
};

/* All zero, except T of the empty set, which is 1. */
enum status sens_state_new(struct arena *a, const struct sens_plan *p,
                           struct sens_state *s, struct err *err) WARN_UNUSED;
void sens_state_fini(struct sens_state *s); /* wipes */

/* Asks the counter for every T_F. */
enum status sens_state_fill(struct sens_state *s,
                            const struct sens_counter *counter,
                            struct err *err) WARN_UNUSED;
/* Would no cap lower a T_F? E_CONSTRAINT if a static bound does, E_INTERNAL if
 * another cap. */
enum status sens_state_check(const struct sens_state *s,
                             struct err *err) WARN_UNUSED;

/* T := cap(step(T)): bounds T after one more row in a private relation. */
void sens_state_step(struct sens_state *s);
/* What a step adds to a coordinate before caps. */
void sens_state_increment(struct sens_state *s, uint32_t coord, mpz_t out);
/* g(T): bounds the change of the count by one row. */
void sens_state_local(struct sens_state *s, mpz_t out);

#endif
