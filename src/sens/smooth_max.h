/*
 * max over k of e^{-beta k} L(k) for a sequence of integers, rounded up: the
 * step from LS-hat to a smooth sensitivity. Used for the capped residual
 * sensitivity, where the rounding carries the guarantee, and for the
 * baselines.
 */
#ifndef SENS_SMOOTH_MAX_H
#define SENS_SMOOTH_MAX_H

#include <gmp.h>
#include <mpfr.h>
#include <stdint.h>
#include "base/err.h"
#include "base/mem.h"
#include "num/secret_scale.h"

enum {
    SENS_LIST = 32,    /* values of the sequence that are kept */
    SENS_LIST_MIN = 8, /* and looked at in any case */
    SENS_PRECISION = 256,
    SENS_MAX_K = 10000000,
};

struct sens_sequence {
    void *ctx;
    /* L(k); called with k = 0, 1, 2, ... in this order. */
    void (*value)(void *ctx, uint64_t k, mpz_t out);
    /* V(k) >= L(j) e^{-beta (j - k)} for all j >= k >= from. NULL: L itself
     * falls from there on. */
    void (*bound)(void *ctx, uint64_t k, mpz_t out);
    uint64_t from;
    /* No later value exceeds this; negative: not known. value() may set it. */
    mpz_t limit;
    /* All later values are 0 if the first `zero_after` + 1 are. */
    uint64_t zero_after;
};

struct sens_peak {
    mpfr_t best; /* rounded up, relative error below 2^-200 */
    uint64_t k, scanned;
    mpz_t *list;
    size_t n_list;
    bool ready;
};

/* Runs through the sequence until no later k can win. */
enum status sens_scan(struct arena *a, mpq_srcptr beta,
                      struct sens_sequence *seq, struct sens_peak *out,
                      struct err *err) WARN_UNUSED;
void sens_peak_fini(struct sens_peak *p); /* wipes */
/* The peak as a rational, without another rounding. */
void sens_peak_rational(const struct sens_peak *p, mpq_t out);
/* The same as a secret, clamped (sens_clamp). */
void sens_keep_scale(const struct sens_peak *p, struct secret_scale *out);

/*
 * The smallest integer >= parts / (1 - exp(-beta / degree)): from there on
 * e^{-beta k} times a sum of products of at most `degree` of `parts` numbers
 * that add up to k falls. E_TOO_LARGE beyond SENS_MAX_K. degree 0 gives 0.
 */
enum status sens_falls_from(mpq_srcptr beta, unsigned long degree,
                            unsigned long parts, uint64_t *out,
                            struct err *err) WARN_UNUSED;

#endif
