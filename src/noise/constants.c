/*
 * Real constants of the calibrations, as rationals on the safe side.
 *
 * PRIVACY: each function names its side; enclosures (num/iv.h) keep the
 * rounding of every step, and only the last line picks the end.
 */
#include "noise/calibrate.h"

#include "num/iv.h"

enum { PREC = 96 };

void pure_epsilon(const struct guarantee *g, mpq_t out)
{
    if (g->kind != PRIVACY_ZCDP) {
        mpq_set(out, g->epsilon);
        return;
    }
    struct iv x;
    iv_init(&x, PREC);
    mpq_mul_2exp(out, g->rho, 1);
    iv_set_q(&x, out);
    iv_sqrt(&x, &x);
    iv_lo_q(out, &x);
    iv_fini(&x);
}

void slack_beta(mpq_srcptr beta, mpq_t out)
{
    mpq_t more;
    mpq_init(more);
    mpq_div_2exp(more, beta, 60);
    mpq_add(out, beta, more);
    mpq_clear(more);
}

void kappa_above(mpq_srcptr beta, mpq_t out)
{
    struct iv b, e;
    iv_init(&b, PREC);
    iv_init(&e, PREC);
    iv_set_q(&b, beta);
    iv_expm1(&e, &b);
    iv_div(&b, &b, &e);
    iv_hi_q(out, &b);
    if (mpq_cmp_ui(out, 1, 1) > 0)
        mpq_set_ui(out, 1, 1);
    iv_fini(&b);
    iv_fini(&e);
}

/* (e^x - 1)^(1/4) (1 - e^y)^(3/4) for rationals x > 0 > y. */
static void cauchy_term(mpq_srcptr x, mpq_srcptr y, struct iv *out)
{
    struct iv t;
    mpq_t power;
    iv_init(&t, PREC);
    mpq_init(power);
    iv_set_q(out, x);
    iv_expm1(out, out);
    mpq_set_ui(power, 1, 4);
    iv_pow_q(out, out, power);
    iv_set_q(&t, y);
    iv_expm1(&t, &t);
    iv_neg(&t, &t);
    mpq_set_ui(power, 3, 4);
    iv_pow_q(&t, &t, power);
    iv_mul(out, out, &t);
    iv_fini(&t);
    mpq_clear(power);
}

static void keep_smaller(const struct iv *term, mpq_t least)
{
    mpq_t v;
    mpq_init(v);
    iv_lo_q(v, term);
    if (mpq_sgn(least) == 0 || mpq_cmp(v, least) < 0)
        mpq_set(least, v);
    mpq_clear(v);
}

/* alpha = min over the scale's change by 1, e^beta and e^-beta. */
void cauchy_alpha_below(mpq_srcptr epsilon, mpq_srcptr beta, mpq_t out)
{
    struct iv t, grow;
    mpq_t third, x, y;
    iv_init(&t, PREC);
    iv_init(&grow, PREC);
    mpq_inits(third, x, y, NULL);
    mpq_set_ui(third, 1, 3);
    mpq_mul(third, third, epsilon);
    mpq_set_ui(out, 0, 1);

    mpq_neg(y, third);
    cauchy_term(epsilon, y, &t);
    keep_smaller(&t, out);

    mpq_add(x, epsilon, beta);
    mpq_sub(y, beta, third);
    cauchy_term(x, y, &t);
    keep_smaller(&t, out);

    mpq_sub(x, epsilon, beta);
    mpq_neg(y, beta);
    mpq_sub(y, y, third);
    cauchy_term(x, y, &t);
    iv_set_q(&grow, beta);
    iv_exp(&grow, &grow);
    iv_mul(&t, &t, &grow);
    keep_smaller(&t, out);

    mpq_clears(third, x, y, NULL);
    iv_fini(&t);
    iv_fini(&grow);
}

/*
 * rho(a) = (epsilon + (ln delta + ln(a-1) - a ln(1 - 1/a)) / (a-1)) / a for
 * an order a = 1 + order > 1: the rho at which the conversion of Canonne,
 * Kamath, Steinke (2020, Proposition 12) at order a gives exactly delta.
 */
static void rho_at(mpq_srcptr epsilon, mpq_srcptr delta, mpq_srcptr order,
                   struct iv *out)
{
    struct iv t;
    mpq_t a, q;
    iv_init(&t, PREC);
    mpq_inits(a, q, NULL);
    mpq_set_ui(a, 1, 1);
    mpq_add(a, a, order);
    iv_set_q(out, delta);
    iv_log(out, out);
    iv_set_q(&t, order);
    iv_log(&t, &t);
    iv_add(out, out, &t);
    mpq_inv(q, a);
    mpq_neg(q, q);
    iv_set_q(&t, q);
    iv_log1p(&t, &t);
    iv_mul_q(&t, &t, a);
    iv_sub(out, out, &t);
    mpq_inv(q, order);
    iv_mul_q(out, out, q);
    iv_set_q(&t, epsilon);
    iv_add(out, out, &t);
    mpq_inv(q, a);
    iv_mul_q(out, out, q);
    iv_fini(&t);
    mpq_clears(a, q, NULL);
}

/* Every order is safe; the best of a grid (16 per octave) is taken. */
void rho_below(mpq_srcptr epsilon, mpq_srcptr delta, mpq_t out)
{
    struct iv t;
    mpq_t order, v;
    iv_init(&t, PREC);
    mpq_inits(order, v, NULL);
    mpq_set_ui(out, 0, 1);
    for (unsigned octave = 0; octave < 24; octave++) {
        for (unsigned step = 16; step < 32; step++) {
            mpq_set_ui(order, step, 16);
            mpq_canonicalize(order);
            mpq_mul_2exp(order, order, octave);
            mpq_div_2exp(order, order, 6);
            rho_at(epsilon, delta, order, &t);
            iv_lo_q(v, &t);
            if (mpq_cmp(v, out) > 0)
                mpq_set(out, v);
        }
    }
    iv_fini(&t);
    mpq_clears(order, v, NULL);
}
