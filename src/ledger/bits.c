/*
 * What locks may tell, in bits, booked beforehand. Between two unlocks at most
 * N questions can be paid, so which of them was the first to fail is one of
 * N + 1 outcomes; with J rungs of the ladder each rung is one more such
 * choice: at most (J + 1) log2(N + 1) bits. N is what remains, divided by the
 * least price.
 *
 * Rounded up everywhere (MPFR); no double.
 */
#include <mpfr.h>

#include "ledger/db.h"

enum { PRECISION = 128, STEPS = 200, SLACK_BITS = 20 };

static bool rho_fits(const struct account *acc, mpq_srcptr rho)
{
    mpq_t e;
    mpq_init(e);
    compose_rho_to_epsilon(rho, acc->conversion, e);
    bool fits = mpq_cmp(e, acc->epsilon_total) <= 0;
    mpq_clear(e);
    return fits;
}

/* Bisection. The conversion rises with rho up to its rounding, which the slack
 * of 2^-20 covers by far. */
void bits_total_rho(const struct account *acc, mpq_t out)
{
    mpq_t low, high, mid;
    mpq_inits(low, high, mid, NULL);
    mpq_set_ui(high, 1, 1);
    while (rho_fits(acc, high))
        mpq_mul_2exp(high, high, 1);
    for (int i = 0; i < STEPS; i++) {
        mpq_add(mid, low, high);
        mpq_div_2exp(mid, mid, 1);
        mpq_set(rho_fits(acc, mid) ? low : high, mid);
    }
    mpq_div_2exp(mid, high, SLACK_BITS);
    mpq_add(out, high, mid);
    mpq_clears(low, high, mid, NULL);
}

void bits_questions(const struct account *acc, mpq_srcptr least, mpz_t out)
{
    mpq_t left;
    mpq_init(left);
    if (acc->composition == COMPOSE_ZCDP) {
        bits_total_rho(acc, left);
        mpq_sub(left, left, acc->rho);
    } else {
        mpq_sub(left, acc->epsilon_total, acc->epsilon);
    }
    mpz_set_ui(out, 0);
    if (mpq_sgn(left) > 0 && mpq_sgn(least) > 0) {
        mpq_div(left, left, least);
        mpz_fdiv_q(out, mpq_numref(left), mpq_denref(left));
    }
    mpq_clear(left);
}

void bits_of(unsigned rungs, mpz_srcptr n, mpq_t out)
{
    mpfr_t x;
    mpz_t up;
    mpfr_init2(x, PRECISION);
    mpz_init(up);
    mpz_add_ui(up, n, 1);
    mpfr_set_z(x, up, MPFR_RNDU);
    mpfr_log2(x, x, MPFR_RNDU);
    mpfr_mul_ui(x, x, 100 * (rungs + 1UL), MPFR_RNDU);
    mpfr_get_z(up, x, MPFR_RNDU);
    mpq_set_z(out, up);
    mpz_set_ui(mpq_denref(out), 100);
    mpq_canonicalize(out);
    mpz_clear(up);
    mpfr_clear(x);
}
