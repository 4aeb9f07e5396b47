/*
 * Geometric staircase: constant on bands that grow like the scale can, for
 * large epsilon. z_0 = 0, z_1 = nu, z_(k+1) = e^beta z_k + 1; at z_(k+1) the
 * logarithm of the density drops by
 *     c_k = epsilon - min(beta, ln(1 + 1/z_(k+1))).
 * A neighbour moves a point at most one band outwards, and only with a change
 * of scale that the drop has left room for (PROOF.md, claim 4).
 */
#include "noise/inverse.h"

/*
 * Bands kept at a precision: from one band to the next the mass falls by at
 * least q = exp(2 beta - epsilon), so prec ln 2 / (epsilon - 2 beta) of them
 * leave a rest of about 2^-prec, which is enclosed as [0, bound].
 */
static size_t bands(const struct noise *n, mpfr_prec_t prec)
{
    mpq_t gap, count;
    mpz_t k;
    mpq_inits(gap, count, NULL);
    mpz_init(k);
    mpq_sub(gap, n->epsilon, n->beta);
    mpq_sub(gap, gap, n->beta);
    mpq_set_ui(count, (unsigned long)prec * 7, 10);
    mpq_canonicalize(count);
    mpq_div(count, count, gap);
    mpz_cdiv_q(k, mpq_numref(count), mpq_denref(count));
    size_t out = (size_t)mpz_get_ui(k) + 2;
    mpq_clears(gap, count, NULL);
    mpz_clear(k);
    return out;
}

/* Layout: z_0..z_K, then survival masses 0..K, then heights 0..K. */
static size_t stair_size(const struct noise *n, mpfr_prec_t prec)
{
    return 3 * (bands(n, prec) + 1);
}

static void iv_min(struct iv *out, const struct iv *x, const struct iv *y)
{
    mpfr_min(out->lo, x->lo, y->lo, MPFR_RNDD);
    mpfr_min(out->hi, x->hi, y->hi, MPFR_RNDU);
}

struct staircase_scratch {
    struct iv beta, eps, grow, one, x;
};

static void scratch_init(struct staircase_scratch *s, const struct noise *n,
                         mpfr_prec_t prec)
{
    iv_init(&s->beta, prec);
    iv_init(&s->eps, prec);
    iv_init(&s->grow, prec);
    iv_init(&s->one, prec);
    iv_init(&s->x, prec);
    iv_set_q(&s->beta, n->beta);
    iv_set_q(&s->eps, n->epsilon);
    iv_set_ui(&s->one, 1);
    iv_exp(&s->grow, &s->beta);
}

static void scratch_fini(struct staircase_scratch *s)
{
    iv_fini(&s->beta);
    iv_fini(&s->eps);
    iv_fini(&s->grow);
    iv_fini(&s->one);
    iv_fini(&s->x);
}

/* h_(k+1) = h_k exp(-c_k), where z is z_(k+1). */
static void next_height(struct staircase_scratch *s, const struct iv *z,
                        const struct iv *h, struct iv *next)
{
    iv_div(&s->x, &s->one, z);
    iv_log1p(&s->x, &s->x);
    iv_min(&s->x, &s->x, &s->beta);
    iv_sub(&s->x, &s->x, &s->eps); /* -c_k */
    iv_exp(&s->x, &s->x);
    iv_mul(next, h, &s->x);
}

/* [0, mass of band K / (1 - q)]: all bands from K on. */
static void rest_mass(struct staircase_scratch *s, const struct iv *z,
                      const struct iv *height, struct iv *out)
{
    iv_sub(&s->x, &s->beta, &s->eps);
    iv_add(&s->x, &s->x, &s->beta);
    iv_expm1(&s->x, &s->x);
    iv_neg(&s->x, &s->x); /* 1 - q */
    /* width of band K: e^beta z_K + 1 - z_K */
    iv_mul(out, &s->grow, z);
    iv_add(out, out, &s->one);
    iv_sub(out, out, z);
    iv_mul(out, out, height);
    iv_div(out, out, &s->x);
    mpfr_set_zero(out->lo, 1);
}

static void stair_build(const struct noise *n, struct inverse_table *t)
{
    size_t last = t->n / 3 - 1;
    struct iv *z = t->v, *surv = z + last + 1, *h = surv + last + 1;
    struct staircase_scratch s;
    scratch_init(&s, n, t->prec);
    iv_set_ui(&z[0], 0);
    iv_set_q(&z[1], n->a);
    iv_set_ui(&h[0], 1);
    for (size_t k = 1; k < last; k++) {
        iv_mul(&z[k + 1], &s.grow, &z[k]);
        iv_add(&z[k + 1], &z[k + 1], &s.one);
    }
    for (size_t k = 0; k < last; k++)
        next_height(&s, &z[k + 1], &h[k], &h[k + 1]);
    rest_mass(&s, &z[last], &h[last], &surv[last]);
    for (size_t k = last; k-- > 0;) {
        iv_sub(&s.x, &z[k + 1], &z[k]);
        iv_mul(&s.x, &s.x, &h[k]);
        iv_add(&surv[k], &surv[k + 1], &s.x);
    }
    scratch_fini(&s);
}

static bool stair_eval(const struct noise *n, const struct inverse_table *t,
                       const struct iv *v, struct iv *w, struct iv *tmp)
{
    (void)n;
    size_t last = t->n / 3 - 1, k = 0;
    struct iv *z = t->v, *surv = z + last + 1, *h = surv + last + 1;
    iv_mul(tmp, v, &surv[0]); /* at most surv[0] by its meaning */
    while (k < last && !iv_at_most(&surv[k + 1], tmp))
        k++;
    if (k == last || (k > 0 && !iv_at_most(tmp, &surv[k])))
        return false;
    iv_sub(w, tmp, &surv[k + 1]);
    iv_div(w, w, &h[k]);
    iv_sub(w, &z[k + 1], w);
    if (mpfr_less_p(w->lo, z[k].lo))
        mpfr_set(w->lo, z[k].lo, MPFR_RNDD);
    return true;
}

const struct inverse inverse_staircase = {stair_size, stair_build, stair_eval};
