/*
 * The samplers behind noise_draw, one per distribution. Each gives the noise
 * rounded to an integer, with exactly the law that its comment names.
 */
#ifndef NOISE_SAMPLER_H
#define NOISE_SAMPLER_H

#include "noise/bits.h"
#include "noise/noise.h"

/* P(x) proportional to exp(-|x| s / t), for scale t/s > 0. */
enum status sample_discrete_laplace(struct draw *d, mpz_srcptr t, mpz_srcptr s,
                                    mpz_t out) WARN_UNUSED;
/* P(x) proportional to exp(-x^2 / (2 sigma2)). */
enum status sample_discrete_gaussian(struct draw *d, mpq_srcptr sigma2,
                                     mpz_t out) WARN_UNUSED;

#endif
