/*
 * Sampling a symmetric density by its inverse survival function, refined
 * until the rounded result is certain.
 *
 * V is uniform on (0,1), known to some bits. A distribution supplies tables
 * of enclosures at a precision and maps an enclosure of V to one of
 * w = Q^-1(V), where Q(w) = P(|Z| > w). When both ends of S w round to the
 * same integer, that integer is round(S Q^-1(V)) whatever the later bits of V
 * are: the law is exact. Otherwise V gets more bits and the tables more
 * precision.
 */
#ifndef NOISE_INVERSE_H
#define NOISE_INVERSE_H

#include "noise/random_bits.h"
#include "num/iv.h"

/* A table: enclosures at one precision, all in one array. */
struct inverse_table {
    mpfr_prec_t prec;
    size_t n;
    struct iv *v;
};

struct inverse {
    /* Number of enclosures that `build` will fill at this precision. */
    size_t (*size)(const struct noise *n, mpfr_prec_t prec);
    void (*build)(const struct noise *n, struct inverse_table *t);
    /* w from V; false: V is not yet known well enough. `tmp` is scratch. */
    bool (*eval)(const struct noise *n, const struct inverse_table *t,
                 const struct iv *v, struct iv *w, struct iv *tmp);
};

extern const struct inverse inverse_smooth_laplace;
extern const struct inverse inverse_staircase;

enum { INVERSE_PREC = 160 };

/* The table that a struct noise keeps for its draws (noise_fini frees it). */
enum status noise_prepare(struct noise *n, struct err *err) WARN_UNUSED;
void inverse_table_fini(struct inverse_table *t, struct mem *m);

/* One draw. bits and prec are the first round's; 0: chosen from s. Tests pass
 * small ones to force refinement. */
enum status sample_inverse(struct draw *d, const struct noise *n, mpq_srcptr s,
                           mp_bitcnt_t bits, mpfr_prec_t prec,
                           mpz_t out) WARN_UNUSED;

#endif
