/*
 * The samplers behind noise_draw, one per distribution. Each gives the noise
 * rounded to an integer, with exactly the law that its comment names.
 */
#ifndef NOISE_SAMPLER_H
#define NOISE_SAMPLER_H

#include "noise/random_bits.h"
#include "noise/noise.h"

/* floor(E t / s) for E exponential with mean 1, in law. */
enum status sample_geometric(struct draw *d, mpz_srcptr t, mpz_srcptr s,
                             mpz_t out) WARN_UNUSED;
/* The pair of joint.c; n: joint-laplace. */
enum status sample_joint(struct draw *d, const struct noise *n, mpz_t x,
                         mpz_t y) WARN_UNUSED;
/* P(x) proportional to exp(-|x| s / t), for scale t/s > 0. */
enum status sample_discrete_laplace(struct draw *d, mpz_srcptr t, mpz_srcptr s,
                                    mpz_t out) WARN_UNUSED;
/* P(x) proportional to exp(-x^2 / (2 sigma2)). */
enum status sample_discrete_gaussian(struct draw *d, mpq_srcptr sigma2,
                                     mpz_t out) WARN_UNUSED;
/*
 * The continuous ones, times `scale`, rounded to the nearest integer (halves
 * away from zero; they have no mass). `bits`: how much is drawn before the
 * first look, 0: enough for this scale; tests pass little to force refining.
 */
/* Survival function of rational_laplace.c, in units of 1/epsilon: scale is
 * S / epsilon. 2 <= m. */
enum status sample_rational_laplace(struct draw *d, unsigned long m,
                                    mpq_srcptr scale, mp_bitcnt_t bits,
                                    mpz_t out) WARN_UNUSED;
/* Density proportional to 1 / (1 + z^4). */
enum status sample_cauchy(struct draw *d, mpq_srcptr scale, mp_bitcnt_t bits,
                          mpz_t out) WARN_UNUSED;
/* sinh(sigma Y) / sigma, Y standard normal. */
enum status sample_arsinh(struct draw *d, mpq_srcptr sigma, mpq_srcptr scale,
                          mp_bitcnt_t bits, mpz_t out) WARN_UNUSED;

#endif
