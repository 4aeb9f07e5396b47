/*
 * Composition: how prices add up, and whether they still fit.
 *
 * SUM adds epsilon and delta: basic composition, valid for prices chosen
 * adaptively (Rogers, Roth, Ullman, Vadhan 2016: the sum is a privacy
 * filter). ZCDP adds rho (a filter too: Feldman and Zrnic 2021; Whitehouse,
 * Ramdas, Rogers, Wu 2023) and converts at the end. The delta that the
 * conversion uses is fixed when the budget is made and has a column of its
 * own: no later grant moves it, so it does not depend on the answers.
 *
 * Exact but for the conversion, which is rounded up (MPFR, every operation
 * towards the larger epsilon). No double anywhere.
 */
#include <mpfr.h>

#include "ledger/db.h"

enum { PRECISION = 192, MAX_BITS = 4096, GRID_BITS = 1024 };

void price_init(struct price *p)
{
    mpq_inits(p->epsilon, p->delta, p->rho, NULL);
    p->half = false;
}

void price_fini(struct price *p)
{
    mpq_clears(p->epsilon, p->delta, p->rho, NULL);
}

static void round_up(mpq_t v, unsigned digits)
{
    mpz_t ten;
    mpz_init(ten);
    mpz_ui_pow_ui(ten, 10, digits);
    mpz_mul(mpq_numref(v), mpq_numref(v), ten);
    mpz_cdiv_q(mpq_numref(v), mpq_numref(v), mpq_denref(v));
    mpz_set(mpq_denref(v), ten);
    mpq_canonicalize(v);
    mpz_clear(ten);
}

void price_round(struct price *p)
{
    round_up(p->epsilon, 9);
    round_up(p->delta, 30);
    round_up(p->rho, 9);
}

/* Fractions with unlike denominators would make the sum's text grow with
 * every charge. PRIVACY: rounded up, so a sum is never too small. */
static void tame(mpq_t v)
{
    if (mpz_sizeinbase(mpq_denref(v), 2) <= MAX_BITS)
        return;
    mpz_t up;
    mpz_init(up);
    mpz_mul_2exp(up, mpq_numref(v), GRID_BITS);
    mpz_cdiv_q(up, up, mpq_denref(v));
    mpq_set_z(v, up);
    mpq_div_2exp(v, v, GRID_BITS);
    mpz_clear(up);
}

/* epsilon-DP implies epsilon^2/2-zCDP (Bun and Steinke 2016). */
static void rho_of(const struct price *p, mpq_t out)
{
    mpq_mul(out, p->epsilon, p->epsilon);
    mpq_div_2exp(out, out, 1);
    mpq_add(out, out, p->rho);
}

void compose_add(struct account *acc, const struct price *p)
{
    mpq_t rho;
    mpq_init(rho);
    rho_of(p, rho);
    mpq_add(acc->epsilon, acc->epsilon, p->epsilon);
    mpq_add(acc->delta, acc->delta, p->delta);
    mpq_add(acc->rho, acc->rho, rho);
    tame(acc->epsilon);
    tame(acc->delta);
    tame(acc->rho);
    mpq_clear(rho);
}

/* rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016). */
static void simple_bound(mpfr_t rho, mpfr_t log_inv_delta, mpfr_t out)
{
    mpfr_mul(out, rho, log_inv_delta, MPFR_RNDU);
    mpfr_sqrt(out, out, MPFR_RNDU);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDU);
    mpfr_add(out, out, rho, MPFR_RNDU);
}

/* The bound of Canonne, Kamath and Steinke 2020 at one order al > 1 (any
 * order is valid): al rho + L/(al-1) + ln(al-1) - al ln(al)/(al-1). */
static void order_bound(mpfr_t rho, mpfr_t log_inv_delta, mpfr_t al, mpfr_t out)
{
    mpfr_t less, t;
    mpfr_inits2(PRECISION, less, t, (mpfr_ptr)0);
    mpfr_sub_ui(less, al, 1, MPFR_RNDD); /* exact: see optimal_order */
    mpfr_mul(out, al, rho, MPFR_RNDU);
    mpfr_div(t, log_inv_delta, less, MPFR_RNDU);
    mpfr_add(out, out, t, MPFR_RNDU);
    mpfr_log(t, less, MPFR_RNDU);
    mpfr_add(out, out, t, MPFR_RNDU);
    mpfr_log(t, al, MPFR_RNDD);
    mpfr_mul(t, t, al, MPFR_RNDD);
    mpfr_div(t, t, less, MPFR_RNDD);
    mpfr_sub(out, out, t, MPFR_RNDU);
    mpfr_clears(less, t, (mpfr_ptr)0);
}

/* 1 + sqrt(L/rho), cut to 32 bits after the point so that order - 1 is
 * exact; false if that is not a usable order. */
static bool optimal_order(mpfr_t rho, mpfr_t log_inv_delta, mpfr_t out)
{
    mpfr_div(out, log_inv_delta, rho, MPFR_RNDN);
    mpfr_sqrt(out, out, MPFR_RNDN);
    if (mpfr_cmp_ui_2exp(out, 1, 60) > 0 || mpfr_cmp_ui_2exp(out, 1, -20) < 0)
        return false;
    mpfr_mul_2ui(out, out, 32, MPFR_RNDN);
    mpfr_rint(out, out, MPFR_RNDN);
    mpfr_div_2ui(out, out, 32, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    return true;
}

void compose_rho_to_epsilon(mpq_srcptr rho, mpq_srcptr delta, mpq_t out)
{
    mpq_set_ui(out, 0, 1);
    if (mpq_sgn(rho) == 0)
        return;
    mpfr_t r, l, al, e, e2;
    mpfr_inits2(PRECISION, r, l, al, e, e2, (mpfr_ptr)0);
    mpfr_set_q(r, rho, MPFR_RNDU);
    mpfr_set_q(l, delta, MPFR_RNDD);
    mpfr_log(l, l, MPFR_RNDD);
    mpfr_neg(l, l, MPFR_RNDU); /* exact */
    simple_bound(r, l, e);
    if (optimal_order(r, l, al)) {
        order_bound(r, l, al, e2);
        if (mpfr_cmp(e2, e) < 0 && mpfr_sgn(e2) >= 0)
            mpfr_set(e, e2, MPFR_RNDU);
    }
    mpfr_get_q(out, e);
    mpfr_clears(r, l, al, e, e2, (mpfr_ptr)0);
}

void compose_spent(const struct account *acc, mpq_t epsilon, mpq_t delta)
{
    mpq_set(delta, acc->delta);
    mpq_set(epsilon, acc->epsilon);
    if (acc->composition == COMPOSE_SUM || mpq_sgn(acc->rho) == 0)
        return;
    compose_rho_to_epsilon(acc->rho, acc->conversion, epsilon);
    mpq_add(delta, delta, acc->conversion);
}

void compose_amount(enum composition c, const struct price *p, mpq_t out)
{
    if (c == COMPOSE_ZCDP)
        rho_of(p, out);
    else
        mpq_set(out, p->epsilon);
}

bool compose_fits(const struct account *acc)
{
    mpq_t epsilon, delta;
    mpq_inits(epsilon, delta, NULL);
    compose_spent(acc, epsilon, delta);
    bool fits = mpq_cmp(epsilon, acc->epsilon_total) <= 0 &&
                mpq_cmp(delta, acc->delta_total) <= 0;
    mpq_clears(epsilon, delta, NULL);
    return fits;
}

enum status compose_check(const struct account *acc, const struct price *p,
                          struct err *err)
{
    if (mpq_sgn(p->epsilon) < 0 || mpq_sgn(p->delta) < 0 ||
        mpq_sgn(p->rho) < 0 || (!mpq_sgn(p->epsilon) && !mpq_sgn(p->rho)))
        return err_internal(err, "compose_check");
    if (acc->composition == COMPOSE_SUM && mpq_sgn(p->rho)) {
        err_set(err, E_VALUE, "this ledger does not add up zCDP prices");
        err_hint(err, "Give --delta, so that the price can be stated as "
                      "(epsilon, delta), or make the ledger with "
                      "--composition zcdp.");
        return E_VALUE;
    }
    return OK;
}
