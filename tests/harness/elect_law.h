/*
 * The law of an election from its exponents, by formulas of its own: the
 * exponential mechanism, exp(-x_j) / sum, and permute and flip,
 * p_j * integral over u in [0, 1] of the product over i != j of (1 - p_i u).
 * Enclosures.
 */
#ifndef HARNESS_ELECT_LAW_H
#define HARNESS_ELECT_LAW_H

#include <gmp.h>
#include "num/iv.h"

enum { ELECT_LAW_BITS = 400, ELECT_LAW_MAX = 16 };

/* out: n initialised enclosures of ELECT_LAW_BITS; n <= ELECT_LAW_MAX. */
void elect_law(const mpq_t *x, unsigned n, bool permute, struct iv *out);
/* An upper bound of ln P(j) - ln P'(j), as a double rounded up by 1e-12. */
double elect_log_ratio(const struct iv *p, const struct iv *q);

#endif
