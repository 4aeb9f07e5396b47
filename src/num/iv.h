/*
 * Enclosures: intervals [lo, hi] of MPFR numbers that contain the exact value
 * by directed rounding. A comparison is either certain or says that it is
 * not, and then the caller computes again with more precision.
 *
 * Results may be the same object as operands. All operands of a function
 * should have one precision; the result is rounded to its own. Sizes: a
 * caller bounds the precision (MPFR aborts when memory is out).
 */
#ifndef NUM_IV_H
#define NUM_IV_H

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>

struct iv {
    mpfr_t lo, hi;
};

void iv_init(struct iv *x, mpfr_prec_t prec);
void iv_fini(struct iv *x);
void iv_wipe_fini(struct iv *x); /* clears the digits first: for secrets */

void iv_set(struct iv *out, const struct iv *x);
void iv_set_ui(struct iv *out, unsigned long v);
void iv_set_q(struct iv *out, mpq_srcptr q);
/* [from, to] / 2^bits */
void iv_set_z_2exp(struct iv *out, mpz_srcptr from, mpz_srcptr to,
                   mp_bitcnt_t bits);

void iv_neg(struct iv *out, const struct iv *x);
void iv_add(struct iv *out, const struct iv *x, const struct iv *y);
void iv_sub(struct iv *out, const struct iv *x, const struct iv *y);
void iv_mul(struct iv *out, const struct iv *x, const struct iv *y);
/* y > 0 certainly */
void iv_div(struct iv *out, const struct iv *x, const struct iv *y);
void iv_mul_q(struct iv *out, const struct iv *x, mpq_srcptr q);

/* Functions that rise. */
void iv_exp(struct iv *out, const struct iv *x);
void iv_expm1(struct iv *out, const struct iv *x);
void iv_log(struct iv *out, const struct iv *x); /* x >= 0; log 0 = -inf */
void iv_log1p(struct iv *out, const struct iv *x);
void iv_sinh(struct iv *out, const struct iv *x);
void iv_sqrt(struct iv *out, const struct iv *x); /* x >= 0 */
/* x^e for x >= 0 and a rational e > 0 */
void iv_pow_q(struct iv *out, const struct iv *x, mpq_srcptr e);

/* A certain comparison. */
bool iv_at_most(const struct iv *x, const struct iv *y); /* x <= y */

/* The larger and the smaller end as rationals (exact). */
void iv_hi_q(mpq_t out, const struct iv *x);
void iv_lo_q(mpq_t out, const struct iv *x);

/* floor(s x + 1/2) when both ends agree (s > 0); else false. */
bool iv_round_scaled(mpz_t out, const struct iv *x, mpq_srcptr s);

#endif
