/*
 * Arsinh-normal: Z = sinh(sigma Y) / sigma with Y standard normal.
 *
 * |Y| = k + x is drawn exactly without a normal quantile (Karney: Sampling
 * Exactly from the Normal Distribution, 2016): k with weight exp(-k^2/2), x
 * uniform on (0,1) and kept with probability exp(-x (2k + x) / 2). x is known
 * to as many bits as the comparison and the final rounding need.
 */
#include "noise/sampler.h"

#include "num/iv.h"
#include "num/secret_scale.h"

struct arsinh {
    unsigned long k;
    struct lazy x, w;
};

/* k >= 0 with weight exp(-k/2) exp(-k (k-1) / 2) = exp(-k^2 / 2), or keep is
 * false. */
static enum status draw_whole(struct arsinh *a, struct draw *d, bool *keep)
{
    mpz_t num, two;
    mpz_init_set_ui(num, 1);
    mpz_init_set_ui(two, 2);
    bool more = true;
    enum status st = OK;
    for (a->k = 0; st == OK && more; a->k += more)
        st = draw_exp(d, num, two, &more);
    mpz_set_ui(num, a->k);
    mpz_mul_ui(num, num, a->k > 0 ? a->k - 1 : 0);
    if (st == OK)
        st = draw_exp(d, num, two, keep);
    mpz_clears(num, two, NULL);
    return st;
}

/* exp(-x (2k + x) / 2) for x / 2^b, rounded in direction `way`. */
static void weight(mpfr_t out, const struct arsinh *a, mpz_srcptr x,
                   mpfr_rnd_t way)
{
    mpz_t e;
    mpz_init_set_ui(e, a->k);
    mpz_mul_2exp(e, e, a->x.b + 1);
    mpz_add(e, e, x);
    mpz_mul(e, e, x);
    mpz_neg(e, e);
    mpfr_set_z_2exp(out, e, -(mpfr_exp_t)(2 * a->x.b + 1), way);
    mpfr_exp(out, out, way);
    mpz_wipe_clear(e);
}

/* 1: W < weight certainly, 0: W >= weight certainly, -1: not known. */
static int compare_weight(const struct arsinh *a)
{
    mpfr_t g, w;
    mpz_t next;
    mpfr_prec_t prec = (mpfr_prec_t)a->x.b + 32;
    mpz_init(next);
    mpfr_init2(g, prec);
    mpfr_init2(w, prec); /* wider than w.u + 1: exact */
    int answer = -1;
    mpz_add_ui(next, a->x.u, 1);
    weight(g, a, next, MPFR_RNDD);
    mpz_add_ui(next, a->w.u, 1);
    mpfr_set_z_2exp(w, next, -(mpfr_exp_t)a->w.b, MPFR_RNDU);
    if (mpfr_lessequal_p(w, g))
        answer = 1;
    weight(g, a, a->x.u, MPFR_RNDU);
    mpfr_set_z_2exp(w, a->w.u, -(mpfr_exp_t)a->w.b, MPFR_RNDD);
    if (mpfr_greaterequal_p(w, g))
        answer = 0;
    mpfr_clear(g);
    mpfr_clear(w);
    mpz_wipe_clear(next);
    return answer;
}

static enum status refine(struct arsinh *a, struct draw *d)
{
    if (a->x.b > LAZY_BITS_MAX)
        return draw_stuck(d);
    mp_bitcnt_t more = a->x.b;
    TRY(lazy_refine(&a->x, d, more));
    return lazy_refine(&a->w, d, more);
}

static enum status arsinh_round(struct arsinh *a, struct draw *d,
                                mp_bitcnt_t bits, bool *keep)
{
    TRY(draw_whole(a, d, keep));
    if (!*keep)
        return OK;
    TRY(lazy_start(&a->x, d, bits));
    TRY(lazy_start(&a->w, d, bits));
    int answer;
    while ((answer = compare_weight(a)) < 0)
        TRY(refine(a, d));
    *keep = answer;
    return OK;
}

/* round(scale sinh(sigma (k + x)) / sigma), when the bits of x decide it. */
static bool try_value(const struct arsinh *a, mpq_srcptr sigma,
                      mpq_srcptr scale, mpz_t out)
{
    mpz_t from, to;
    struct iv y;
    mpz_init_set_ui(from, a->k);
    mpz_init(to);
    iv_init(&y, (mpfr_prec_t)a->x.b + 64);
    mpz_mul_2exp(from, from, a->x.b);
    mpz_add(from, from, a->x.u);
    mpz_add_ui(to, from, 1);
    iv_set_z_2exp(&y, from, to, a->x.b);
    iv_mul_q(&y, &y, sigma);
    iv_sinh(&y, &y);
    bool sure = iv_round_scaled(out, &y, scale);
    iv_wipe_fini(&y);
    mpz_wipe_clear(from);
    mpz_wipe_clear(to);
    return sure;
}

enum status sample_arsinh(struct draw *d, mpq_srcptr sigma, mpq_srcptr scale,
                          mp_bitcnt_t bits, mpz_t out)
{
    struct arsinh a = {0};
    bool keep = false, minus = false;
    enum status st = OK;
    mpq_t per_sigma;
    lazy_init(&a.x);
    lazy_init(&a.w);
    mpq_init(per_sigma);
    mpq_div(per_sigma, scale, sigma);
    bits = bits ? bits : lazy_first_bits(scale);
    while (st == OK && !keep)
        st = arsinh_round(&a, d, bits, &keep);
    while (st == OK && !try_value(&a, sigma, per_sigma, out))
        st = refine(&a, d);
    lazy_fini(&a.x);
    lazy_fini(&a.w);
    mpq_wipe_clear(per_sigma);
    TRY(st);
    TRY(draw_flip(d, &minus));
    if (minus)
        mpz_neg(out, out);
    return OK;
}
