/*
 * Goodness of fit for tests: chi-square over bins whose exact probabilities
 * the test supplies, with bins of small expectation merged into neighbours.
 */
#ifndef HARNESS_STAT_H
#define HARNESS_STAT_H

#include <stddef.h>

/* p-value of the counts (n_bins of them, `total` draws) under `prob`, whose
 * sum is 1. Neighbouring bins are merged until each expects at least 8. */
double stat_chi2(const double *count, const double *prob, size_t n_bins,
                 double total);
/* P(X > x) for chi-square with k degrees of freedom. */
double stat_chi2_tail(double x, double k);
/* P(sup distance > d) for n draws, Kolmogorov's series. */
double stat_ks_tail(double d, double n);

#endif
