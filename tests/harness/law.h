/*
 * The laws that the samplers claim, written forwards (survival functions from
 * the definition of each density) and enclosed: what tests compare with. No
 * code is shared with the samplers but the interval arithmetic.
 */
#ifndef HARNESS_LAW_H
#define HARNESS_LAW_H

#include "noise/noise.h"
#include "num/iv.h"

enum { LAW_BANDS = 2000 };

struct law {
    const struct noise *n;
    mpfr_prec_t prec;
    /* smooth-laplace: c = k/b, m = e/b, pieces end at w1 and w2; h1, h2
     * heights there; all: the mass of one side */
    mpq_t c, m, w1, w2;
    struct iv h1, h2, all;
    /* staircase: bands and the mass beyond each */
    size_t n_bands;
    struct iv *z, *h, *beyond;
};

void law_open(struct law *l, const struct noise *n, mpfr_prec_t prec);
void law_close(struct law *l);
/* P(|Z| > w) for the continuous kinds, in units of S; w >= 0. */
void law_survival(const struct law *l, mpq_srcptr w, struct iv *out);
/* P(round(s Z) = k). */
void law_mass(const struct law *l, mpq_srcptr s, mpz_srcptr k, struct iv *out);
/* P(round(s |Z|) >= k) for k >= 1, as a double. */
double law_tail(const struct law *l, mpq_srcptr s, mpz_srcptr k);

#endif
