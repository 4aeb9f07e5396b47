/*
 * Chi-square fit of noise_draw (or a sampler in its place) to the law of a
 * continuous kind: signed bins that reach far into the tail.
 */
#ifndef HARNESS_FIT_H
#define HARNESS_FIT_H

#include "noise/noise.h"

typedef enum status (*fit_sampler)(const struct noise *n, mpq_srcptr s,
                                   struct entropy *rng, mpz_t out);

/* p-value of `draws` draws of `from` at scale `s` under the law of `law` at
 * scale `s`; sampler NULL: noise_draw. A failed draw gives -1. */
double fit_chi2(const struct noise *from, const struct noise *law, mpq_srcptr s,
                mpq_srcptr law_s, unsigned draws, struct entropy *rng,
                fit_sampler sampler);

/* p-value of Kolmogorov and Smirnov's test on |noise|, at a scale so large that
 * rounding does not show; `off` multiplies the scale of the draws. */
double fit_ks(const struct noise *n, const char *off, unsigned draws,
              struct entropy *rng);

/* Calibrates for tests; any failure fails the test. Texts as in rat_read;
 * epsilon is rho for arsinh-normal. */
void fit_noise(struct noise *n, enum noise_kind kind, const char *epsilon,
               const char *beta);

#endif
