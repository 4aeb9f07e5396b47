/* Forward laws with enclosures: see law.h. */
#include <stdlib.h>

#include "harness/iv_more.h"
#include "harness/law.h"

/* --- smooth-laplace ------------------------------------------------------- */

/* Where the slope's pieces meet, each by solving for w: (e-b)/(k-bw) = e and
 * (e+b)/(k+bw) = e. */
static void set_pieces(struct law *l)
{
    const struct noise *n = l->n;
    mpq_t one, r;
    mpq_inits(one, r, NULL);
    mpq_set_ui(one, 1, 1);
    mpq_div(l->c, n->a, n->beta);
    mpq_div(l->m, n->epsilon, n->beta);
    mpq_inv(r, l->m);
    mpq_sub(l->w1, n->a, one);
    mpq_add(l->w1, l->w1, r);
    mpq_div(l->w1, l->w1, n->beta);
    if (mpq_sgn(l->w1) < 0)
        mpq_set_ui(l->w1, 0, 1);
    mpq_sub(l->w2, one, n->a);
    mpq_add(l->w2, l->w2, r);
    mpq_div(l->w2, l->w2, n->beta);
    mpq_clears(one, r, NULL);
}

/* (1 - w/c)^m */
static void core_power(const struct law *l, mpq_srcptr w, struct iv *out)
{
    mpq_t t;
    mpq_init(t);
    mpq_div(t, w, l->c);
    mpq_neg(t, t);
    iv_set_q(out, t);
    iv_log1p(out, out);
    iv_mul_q(out, out, l->m);
    iv_exp(out, out);
    mpq_clear(t);
}

/* h1 exp(-e (w - w1)) */
static void middle_height(const struct law *l, mpq_srcptr w, struct iv *out)
{
    mpq_t t;
    mpq_init(t);
    mpq_sub(t, l->w1, w);
    mpq_mul(t, t, l->n->epsilon);
    iv_set_q(out, t);
    iv_exp(out, out);
    iv_mul(out, out, &l->h1);
    mpq_clear(t);
}

static void set_heights(struct law *l)
{
    mpq_t t, one;
    mpq_inits(t, one, NULL);
    mpq_set_ui(one, 1, 1);
    core_power(l, l->w1, &l->h1);
    mpq_div(t, l->w1, l->c);
    mpq_sub(t, one, t);
    mpq_inv(t, t);
    iv_mul_q(&l->h1, &l->h1, t); /* (1 - w1/c)^(m-1) */
    middle_height(l, l->w2, &l->h2);
    mpq_clears(t, one, NULL);
}

/* Tail from `from` on: h2 (c+w2)/m ((c+w2)/(c+from))^m */
static void tail_mass(const struct law *l, mpq_srcptr from, struct iv *out)
{
    mpq_t edge, t;
    mpq_inits(edge, t, NULL);
    mpq_add(edge, l->c, l->w2);
    mpq_add(t, l->c, from);
    mpq_div(t, edge, t);
    iv_set_q(out, t);
    iv_log(out, out);
    iv_mul_q(out, out, l->m);
    iv_exp(out, out);
    iv_mul(out, out, &l->h2);
    mpq_div(t, edge, l->m);
    iv_mul_q(out, out, t);
    mpq_clears(edge, t, NULL);
}

/* Mass of [w, infinity), not normalised. */
static void mass_beyond(const struct law *l, mpq_srcptr w, struct iv *out)
{
    struct iv t, u;
    mpq_t q;
    mpq_init(q);
    iv_init(&t, l->prec);
    iv_init(&u, l->prec);
    tail_mass(l, mpq_cmp(w, l->w2) > 0 ? w : l->w2, out);
    if (mpq_cmp(w, l->w2) < 0) { /* middle: difference of heights / e */
        middle_height(l, mpq_cmp(w, l->w1) > 0 ? w : l->w1, &t);
        iv_sub(&t, &t, &l->h2);
        mpq_inv(q, l->n->epsilon);
        iv_mul_q(&t, &t, q);
        iv_add(out, out, &t);
    }
    if (mpq_cmp(w, l->w1) < 0) { /* core: (c/m) ((1-w/c)^m - (1-w1/c)^m) */
        core_power(l, w, &t);
        core_power(l, l->w1, &u);
        iv_sub(&t, &t, &u);
        mpq_div(q, l->c, l->m);
        iv_mul_q(&t, &t, q);
        iv_add(out, out, &t);
    }
    iv_fini(&t);
    iv_fini(&u);
    mpq_clear(q);
}

/* --- generalized-cauchy ----------------------------------------------------
 */

/* 1 - (ln((q+r)/(q-r)) + 2 atan(r+1) + 2 atan(r-1)) / (2 pi), q = z^2+1,
 * r = sqrt(2) z, z = alpha w. */
static void cauchy_survival(const struct law *l, mpq_srcptr w, struct iv *out)
{
    mpfr_prec_t prec = l->prec;
    struct iv q, r, t, one;
    mpq_t z;
    mpq_init(z);
    iv_init(&q, prec);
    iv_init(&r, prec);
    iv_init(&t, prec);
    iv_init(&one, prec);
    iv_set_ui(&one, 1);
    mpq_mul(z, l->n->a, w);
    iv_set_ui(&r, 2);
    iv_sqrt(&r, &r);
    iv_mul_q(&r, &r, z);
    mpq_mul(z, z, z);
    iv_set_q(&q, z);
    iv_add(&q, &q, &one);
    iv_sub(&t, &q, &r);
    iv_add(out, &q, &r);
    iv_div(out, out, &t);
    iv_log(out, out);
    for (int i = 0; i < 2; i++) {
        if (i)
            iv_sub(&t, &r, &one);
        else
            iv_add(&t, &r, &one);
        iv_atan(&t, &t);
        iv_add(&t, &t, &t);
        iv_add(out, out, &t);
    }
    mpfr_const_pi(t.lo, MPFR_RNDD);
    mpfr_const_pi(t.hi, MPFR_RNDU);
    iv_add(&t, &t, &t);
    iv_div(out, out, &t);
    iv_sub(out, &one, out);
    iv_fini(&q);
    iv_fini(&r);
    iv_fini(&t);
    iv_fini(&one);
    mpq_clear(z);
}

/* --- arsinh-normal ----------------------------------------------------------
 */

static void arsinh_survival(const struct law *l, mpq_srcptr w, struct iv *out)
{
    struct iv root;
    mpq_t x;
    mpq_init(x);
    iv_init(&root, l->prec);
    mpq_mul(x, w, l->n->b);
    mpq_mul(x, x, l->n->a);
    iv_set_q(out, x);
    mpfr_asinh(out->lo, out->lo, MPFR_RNDD);
    mpfr_asinh(out->hi, out->hi, MPFR_RNDU);
    mpq_inv(x, l->n->a);
    iv_mul_q(out, out, x);
    iv_set_ui(&root, 2);
    iv_sqrt(&root, &root);
    iv_div(out, out, &root);
    iv_erfc(out, out);
    iv_fini(&root);
    mpq_clear(x);
}

/* --- staircase ---------------------------------------------------------------
 */

/* h_k times e^-c_k, with z the band's outer end. */
static void drop(const struct law *l, const struct iv *beta, const struct iv *z,
                 const struct iv *h, struct iv *out)
{
    struct iv t;
    iv_init(&t, l->prec);
    iv_set_ui(out, 1);
    iv_div(out, out, z);
    iv_log1p(out, out);
    if (mpfr_less_p(beta->hi, out->lo))
        iv_set(out, beta);
    else
        mpfr_min(out->hi, out->hi, beta->hi, MPFR_RNDU);
    iv_set_q(&t, l->n->epsilon);
    iv_sub(out, out, &t);
    iv_exp(out, out);
    iv_mul(out, out, h);
    iv_fini(&t);
}

/* Bands until z_k h_k is below 2^-prec; the rest gets a coarse bound. */
static void set_bands(struct law *l)
{
    struct iv beta, grow, one;
    iv_init(&beta, l->prec);
    iv_init(&grow, l->prec);
    iv_init(&one, l->prec);
    iv_set_q(&beta, l->n->beta);
    iv_exp(&grow, &beta);
    iv_set_ui(&one, 1);
    l->z = calloc(3 * LAW_BANDS, sizeof *l->z);
    l->h = l->z + LAW_BANDS;
    l->beyond = l->h + LAW_BANDS;
    size_t k = 0;
    do {
        iv_init(&l->z[k], l->prec);
        iv_init(&l->h[k], l->prec);
        iv_init(&l->beyond[k], l->prec);
        if (k == 0) {
            iv_set_ui(&l->z[0], 0);
            iv_set_ui(&l->h[0], 1);
            continue;
        }
        if (k == 1) {
            iv_set_q(&l->z[1], l->n->a);
        } else {
            iv_mul(&l->z[k], &l->z[k - 1], &grow);
            iv_add(&l->z[k], &l->z[k], &one);
        }
        drop(l, &beta, &l->z[k], &l->h[k - 1], &l->h[k]);
        iv_mul(&l->beyond[k], &l->z[k], &l->h[k]);
    } while (++k < LAW_BANDS &&
             (k < 3 || mpfr_get_exp(l->beyond[k - 1].hi) > -l->prec));
    l->n_bands = --k;
    /* The last band is at most e^beta z wide, and from band to band the mass
     * falls by e^(2 beta - epsilon) <= e^(-1/3): less than 4 e^beta z h. */
    iv_mul(&l->beyond[k], &l->z[k], &l->h[k]);
    mpfr_mul_ui(l->beyond[k].hi, l->beyond[k].hi, 1000000, MPFR_RNDU);
    mpfr_set_zero(l->beyond[k].lo, 1);
    while (k-- > 0) {
        iv_sub(&grow, &l->z[k + 1], &l->z[k]);
        iv_mul(&grow, &grow, &l->h[k]);
        iv_add(&l->beyond[k], &l->beyond[k + 1], &grow);
    }
    iv_fini(&beta);
    iv_fini(&grow);
    iv_fini(&one);
}

static void stair_survival(const struct law *l, mpq_srcptr w, struct iv *out)
{
    size_t k = 0;
    while (k < l->n_bands && mpfr_cmp_q(l->z[k + 1].lo, w) <= 0)
        k++;
    if (k == l->n_bands) {
        iv_set(out, &l->beyond[k]);
    } else { /* beyond the band, and the part of the band beyond w */
        iv_set_q(out, w);
        iv_sub(out, &l->z[k + 1], out);
        iv_mul(out, out, &l->h[k]);
        iv_add(out, out, &l->beyond[k + 1]);
    }
    iv_div(out, out, &l->beyond[0]);
}

void law_open(struct law *l, const struct noise *n, mpfr_prec_t prec)
{
    *l = (struct law){.n = n, .prec = prec};
    mpq_inits(l->c, l->m, l->w1, l->w2, NULL);
    iv_init(&l->h1, prec);
    iv_init(&l->h2, prec);
    iv_init(&l->all, prec);
    if (n->kind == NOISE_SMOOTH_LAPLACE) {
        mpq_t zero;
        mpq_init(zero);
        set_pieces(l);
        set_heights(l);
        mass_beyond(l, zero, &l->all);
        mpq_clear(zero);
    } else if (n->kind == NOISE_STAIRCASE) {
        set_bands(l);
    }
}

void law_close(struct law *l)
{
    mpq_clears(l->c, l->m, l->w1, l->w2, NULL);
    iv_fini(&l->h1);
    iv_fini(&l->h2);
    iv_fini(&l->all);
    for (size_t k = 0; l->z && k <= l->n_bands; k++) {
        iv_fini(&l->z[k]);
        iv_fini(&l->h[k]);
        iv_fini(&l->beyond[k]);
    }
    free(l->z);
}

void law_survival(const struct law *l, mpq_srcptr w, struct iv *out)
{
    if (l->n->kind == NOISE_SMOOTH_LAPLACE) {
        mass_beyond(l, w, out);
        iv_div(out, out, &l->all);
    } else if (l->n->kind == NOISE_GENERALIZED_CAUCHY) {
        cauchy_survival(l, w, out);
    } else if (l->n->kind == NOISE_ARSINH_NORMAL) {
        arsinh_survival(l, w, out);
    } else {
        stair_survival(l, w, out);
    }
}

/* Survival at (|k| + half) / s. */
static void at_edge(const struct law *l, mpq_srcptr s, mpz_srcptr k, int half,
                    struct iv *out)
{
    mpq_t w;
    mpq_init(w);
    mpz_abs(mpq_numref(w), k);
    mpz_mul_2exp(mpq_numref(w), mpq_numref(w), 1);
    if (half > 0)
        mpz_add_ui(mpq_numref(w), mpq_numref(w), 1);
    else
        mpz_sub_ui(mpq_numref(w), mpq_numref(w), 1);
    mpq_div_2exp(w, w, 1);
    mpq_div(w, w, s);
    law_survival(l, w, out);
    mpq_clear(w);
}

void law_mass(const struct law *l, mpq_srcptr s, mpz_srcptr k, struct iv *out)
{
    struct iv t;
    iv_init(&t, l->prec);
    at_edge(l, s, k, 1, &t);
    if (mpz_sgn(k) == 0) {
        iv_set_ui(out, 1);
        iv_sub(out, out, &t);
    } else {
        at_edge(l, s, k, -1, out);
        iv_sub(out, out, &t);
        mpfr_div_2ui(out->lo, out->lo, 1, MPFR_RNDD);
        mpfr_div_2ui(out->hi, out->hi, 1, MPFR_RNDU);
    }
    iv_fini(&t);
}

double law_tail(const struct law *l, mpq_srcptr s, mpz_srcptr k)
{
    struct iv t;
    iv_init(&t, l->prec);
    at_edge(l, s, k, -1, &t);
    double out = mpfr_get_d(t.lo, MPFR_RNDN);
    iv_fini(&t);
    return out;
}
