/*
 * The threshold for keys that are found in private rows (PROOF.md, claim 11).
 *
 * A key that only one of two neighbours has must hardly ever be shown. Its
 * noisy count reaches tau with probability h(c) = q^(tau - c) / (1 + q), where
 * c < tau is its count and q = exp(-1/scale). Of at most `keys` such keys, with
 * counts that sum to at most `mass`, the worst are one key with the whole mass
 * or as many keys as there may be, all but one with count 1. tau is the
 * smallest integer for which both are certainly rare enough.
 * PRIVACY: a comparison counts only if the enclosure makes it certain, so
 * rounding can raise tau and never lower it.
 * Cost: one enclosure for each bit of tau.
 */
#include "noise/calibrate.h"
#include "num/iv.h"

enum { PRECISION = 512 };

/* ln(1 - h(c)); count < tau. */
static void log_hidden(const struct noise *n, mpz_srcptr tau, mpz_srcptr count,
                       struct iv *out)
{
    struct iv q;
    mpq_t x;
    iv_init(&q, PRECISION);
    mpq_init(x);
    mpq_inv(x, n->a);
    mpq_neg(x, x);
    iv_set_q(&q, x);
    iv_exp(&q, &q);
    iv_set_ui(out, 1);
    iv_add(&q, &q, out); /* 1 + q */
    mpz_sub(mpq_numref(x), count, tau);
    mpz_set_ui(mpq_denref(x), 1);
    mpq_div(x, x, n->a);
    iv_set_q(out, x);
    iv_exp(out, out);
    iv_div(out, out, &q);
    iv_neg(out, out);
    iv_log1p(out, out);
    mpq_clear(x);
    iv_fini(&q);
}

/* Is it certain that none of `keys` keys, one with count mass - keys + 1 and
 * the others with 1, is shown with probability at least 1 - delta? */
static bool rare(const struct noise *n, mpz_srcptr tau, mpz_srcptr mass,
                 mpz_srcptr keys, mpq_srcptr delta)
{
    struct iv sum, x;
    mpz_t count;
    mpq_t q;
    iv_init(&sum, PRECISION);
    iv_init(&x, PRECISION);
    mpz_init_set_ui(count, 1);
    mpq_init(q);
    log_hidden(n, tau, count, &sum);
    mpz_sub_ui(mpq_numref(q), keys, 1);
    iv_mul_q(&sum, &sum, q);
    mpz_sub(count, mass, mpq_numref(q));
    log_hidden(n, tau, count, &x);
    iv_add(&sum, &sum, &x);
    mpq_neg(q, delta);
    iv_set_q(&x, q);
    iv_log1p(&x, &x);
    bool sure = iv_at_most(&x, &sum);
    mpq_clear(q);
    mpz_clear(count);
    iv_fini(&x);
    iv_fini(&sum);
    return sure;
}

static bool all_rare(const struct noise *n, mpz_srcptr tau, mpz_srcptr mass,
                     mpz_srcptr keys, mpq_srcptr delta)
{
    mpz_t one;
    mpz_init_set_ui(one, 1);
    bool sure =
        rare(n, tau, mass, one, delta) && rare(n, tau, mass, keys, delta);
    mpz_clear(one);
    return sure;
}

static enum status check(const struct noise *n, mpz_srcptr mass,
                         mpz_srcptr keys, mpq_srcptr delta, struct err *err)
{
    if (n->kind != NOISE_DISCRETE_LAPLACE || mpz_sgn(keys) <= 0 ||
        mpz_cmp(keys, mass) > 0)
        return err_internal(err, "noise_threshold");
    TRY(noise_check_parameter(delta, "delta", err));
    if (mpq_cmp_ui(delta, 1, 2) > 0)
        return err_set(err, E_VALUE, "delta must be at most one half");
    return OK;
}

enum status noise_threshold(const struct noise *n, mpz_srcptr mass,
                            mpz_srcptr keys, mpq_srcptr delta, mpz_t out,
                            struct err *err)
{
    mpz_t low, high, step;
    TRY(check(n, mass, keys, delta, err));
    /* delta <= 1/2 < h(mass) at tau = mass: never enough */
    mpz_init_set(low, mass);
    mpz_init(high);
    mpz_init_set_ui(step, 1);
    mpz_add(high, low, step);
    while (!all_rare(n, high, mass, keys, delta)) {
        mpz_set(low, high);
        mpz_mul_2exp(step, step, 1);
        mpz_add(high, high, step);
    }
    mpz_sub(step, high, low);
    while (mpz_cmp_ui(step, 1) > 0) { /* low does not do, high does */
        mpz_add(out, low, high);
        mpz_fdiv_q_2exp(out, out, 1);
        mpz_set(all_rare(n, out, mass, keys, delta) ? high : low, out);
        mpz_sub(step, high, low);
    }
    mpz_set(out, high);
    mpz_clears(low, high, step, NULL);
    return OK;
}
