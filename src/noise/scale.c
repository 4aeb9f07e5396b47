/*
 * A private estimate of the secret scale S, for error bars.
 *
 * ln S changes by at most beta between neighbours. On the public grid of step
 * beta/16 its index ceil(16 ln S / beta) changes by at most 16, so the index
 * plus discrete Laplace noise of scale 16/epsilon2 is epsilon2-DP (PROOF.md,
 * claim 7). As it is, it lies in the middle; a public shift makes it an upper
 * estimate but with probability `miss`. PRIVACY: the index is exact, decided by
 * enclosures that are refined until they agree, because a rounding that depends
 * on the machine would not be a function of S.
 */
#include "noise/calibrate.h"
#include "noise/sampler.h"
#include "num/iv.h"
#include "num/open_scale.h"

enum { STEPS = 16 };

/* ceil(x) when both ends agree. */
static bool ceil_of(mpz_t out, const struct iv *x)
{
    mpz_t high;
    mpz_init(high);
    mpfr_get_z(out, x->lo, MPFR_RNDU);
    mpfr_get_z(high, x->hi, MPFR_RNDU);
    bool same = mpz_cmp(out, high) == 0;
    mpz_wipe_clear(high);
    return same;
}

/* ceil(16 ln s / beta). For rational s other than 1 the logarithm is
 * irrational, so refining ends; the bound on it is for the reader. */
static enum status grid_index(mpq_srcptr s, mpq_srcptr beta, mpz_t out,
                              struct err *err)
{
    mpz_set_ui(out, 0);
    if (mpq_cmp_ui(s, 1, 1) == 0)
        return OK;
    mpq_t per;
    mpq_init(per);
    mpq_set_ui(per, STEPS, 1);
    mpq_div(per, per, beta);
    bool sure = false;
    for (mpfr_prec_t prec = 128; !sure && prec <= 1 << 16; prec *= 2) {
        struct iv x;
        iv_init(&x, prec);
        iv_set_q(&x, s);
        iv_log(&x, &x);
        iv_mul_q(&x, &x, per);
        sure = ceil_of(out, &x);
        iv_wipe_fini(&x);
    }
    mpq_clear(per);
    return sure ? OK : err_internal(err, "noise_release_scale: index");
}

/* Smallest shift c with exp(-c epsilon2 / 16) / 2 <= miss: then
 * P(noise < -c) <= miss. */
static void shift_for(mpq_srcptr scale, mpq_srcptr miss, mpz_t out)
{
    struct iv x;
    mpq_t twice;
    mpq_init(twice);
    iv_init(&x, 96);
    mpq_mul_2exp(twice, miss, 1);
    mpq_inv(twice, twice);
    iv_set_q(&x, twice);
    iv_log(&x, &x);
    iv_mul_q(&x, &x, scale);
    mpfr_get_z(out, x.hi, MPFR_RNDU);
    if (mpz_sgn(out) < 0)
        mpz_set_ui(out, 0);
    iv_fini(&x);
    mpq_clear(twice);
}

/* exp(beta steps / 16), for display. */
static double grid_value(mpz_srcptr steps, mpq_srcptr beta) /* display */
{
    struct iv x;
    mpq_t q;
    mpq_init(q);
    iv_init(&x, 96);
    mpq_set_z(q, steps);
    mpq_mul(q, q, beta);
    mpq_div_2exp(q, q, 4);
    iv_set_q(&x, q);
    iv_exp(&x, &x);
    double out = mpfr_get_d(x.hi, MPFR_RNDU); /* display */
    iv_fini(&x);
    mpq_clear(q);
    return out;
}

enum status noise_release_scale(const struct ledger_hold *hold,
                                const struct noise *n,
                                const struct secret_scale *s,
                                mpq_srcptr epsilon2, mpq_srcptr miss,
                                struct entropy *rng, struct scale_estimate *out,
                                struct err *err)
{
    (void)hold; /* the caller has it: see noise.h */
    if (!n->smooth || mpq_sgn(secret_scale_open(s)) <= 0)
        return err_internal(err, "noise_release_scale");
    TRY(noise_check_parameter(epsilon2, "the epsilon of the error bar", err));
    TRY(noise_check_parameter(miss, "the failure probability", err));
    mpz_t index, x;
    mpq_t scale, within;
    struct draw d;
    mpz_inits(index, x, NULL);
    mpq_inits(scale, within, NULL);
    mpq_set(within, secret_scale_open(s));
    noise_clamp_scale(within);
    mpq_set_ui(scale, STEPS, 1);
    mpq_div(scale, scale, epsilon2);
    draw_begin(&d, rng, err);
    enum status st = grid_index(within, n->scale_beta, index, err);
    if (st == OK)
        st = sample_discrete_laplace(&d, mpq_numref(scale), mpq_denref(scale),
                                     x);
    if (st == OK) {
        mpz_add(index, index, x);
        out->middle = grid_value(index, n->scale_beta); /* display */
        shift_for(scale, miss, x);
        mpz_add(index, index, x);
        out->upper = grid_value(index, n->scale_beta); /* display */
    }
    mpz_wipe_clear(index);
    mpz_wipe_clear(x);
    mpq_clear(scale);
    mpq_wipe_clear(within);
    return st;
}
