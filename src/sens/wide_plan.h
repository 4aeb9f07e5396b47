/*
 * Plans of queries with many private atoms: not every set F has a number of
 * its own. Where F falls into parts once its boundary is fixed, the product of
 * their numbers stands for T_F, and the sums over E of a step are sums and
 * products of such numbers, written once each (PROOF.md, many atoms).
 */
#ifndef SENS_WIDE_PLAN_H
#define SENS_WIDE_PLAN_H

#include <gmp.h>
#include "sens/plan.h"

/* Fills the coordinates and the terms of p, whose tables are known. */
enum status sens_wide_plan(struct arena *a, struct sens_plan *p,
                           struct err *err) WARN_UNUSED;

/*
 * by_size[j], j = 1 .. n_priv: at least the sum of T_F over the F that lack j
 * private atoms, from the numbers t of the coordinates. Given initialised.
 */
enum status sens_wide_sums(struct arena *a, const struct sens_plan *p, mpz_t *t,
                           mpz_t *by_size, struct err *err) WARN_UNUSED;

#endif
