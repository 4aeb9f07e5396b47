/*
 * From random bytes to exact random objects: uniform integers, Bernoulli
 * trials with rational and exponential probabilities (Canonne, Kamath,
 * Steinke: The Discrete Gaussian for Differential Privacy, 2020), and uniform
 * reals that are refined when a comparison needs more of their bits.
 *
 * A struct draw bounds what one draw of noise may consume. With random bytes
 * the bound is met with probability below 2^-200; a stuck source (all zeros,
 * all ones) meets it and gives E_ENTROPY, so every loop here ends.
 */
#ifndef NOISE_RANDOM_BITS_H
#define NOISE_RANDOM_BITS_H

#include <gmp.h>
#include "noise/noise.h"

/* A uniform number that has more bits than LAZY_BITS_MAX is not refined again:
 * random bits need that with probability below 2^-700 (PROOF.md, claim 8). */
enum { DRAW_BYTES = 1 << 20, LAZY_BITS_MAX = 1 << 11 };

struct draw {
    struct entropy *rng;
    size_t left;
    struct err *err;
};

void draw_begin(struct draw *d, struct entropy *rng, struct err *err);
/* E_ENTROPY: the source repeats itself. */
enum status draw_stuck(struct draw *d);
enum status draw_bits(struct draw *d, mp_bitcnt_t n, mpz_t out) WARN_UNUSED;
/* Uniform on 0..n-1 by rejection; n > 0. The two agree on one byte stream. */
enum status draw_below(struct draw *d, mpz_srcptr n, mpz_t out) WARN_UNUSED;
enum status draw_below_u64(struct draw *d, uint64_t n,
                           uint64_t *out) WARN_UNUSED;
enum status draw_flip(struct draw *d, bool *out) WARN_UNUSED;
/* True with probability exp(-num/den); num >= 0, den > 0. The first takes
 * the fast way where the numbers are small; the second never does. */
enum status draw_exp(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                     bool *out) WARN_UNUSED;
enum status draw_exp_slow(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                          bool *out) WARN_UNUSED;

/* A uniform real known to lie in [u, u+1] / 2^b. */
struct lazy {
    mpz_t u;
    mp_bitcnt_t b;
};
void lazy_init(struct lazy *l);
void lazy_fini(struct lazy *l); /* wipes */
/* Forgets the number, and draws the first n bits of a new one. */
enum status lazy_start(struct lazy *l, struct draw *d,
                       mp_bitcnt_t n) WARN_UNUSED;
enum status lazy_refine(struct lazy *l, struct draw *d,
                        mp_bitcnt_t n) WARN_UNUSED;
/* Bits to start with for a result of about this size: 64 more than it has, so
 * that the first look nearly always suffices. */
mp_bitcnt_t lazy_first_bits(mpq_srcptr scale);

#endif
