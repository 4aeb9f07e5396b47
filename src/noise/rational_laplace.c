/*
 * smooth-laplace with kappa = 1 and epsilon/beta = m a whole number: its
 * survival function is a rational function, so integers alone suffice.
 *
 * With u = epsilon w, A = 2 (m-1)^(m-1), D = m^m + A:
 *   P(|Z| > w) = ((m-u)^m + A) / D                          for u <= 1
 *              = (m-1)^(m-1) (m+1)^(m+1) / ((m+u)^m D)      for u >= 1
 * Inverting takes one m-th root, which GMP rounds down exactly: that gives
 * certain bounds of u from the known bits of V. Used where many values are
 * drawn at once (groups), and as the second implementation that the tests
 * hold against the MPFR one.
 */
#include "noise/sampler.h"

#include "num/secret_scale.h"

struct rational {
    unsigned long m;
    mpz_t a, d;  /* A, D */
    mpz_t tail;  /* (m-1)^(m-1) (m+1)^(m+1) */
    mpz_t split; /* (m-1)^(m-1) (m+1): V D at u = 1 */
};

static void rational_init(struct rational *r, unsigned long m)
{
    mpz_inits(r->a, r->d, r->tail, r->split, NULL);
    r->m = m;
    mpz_ui_pow_ui(r->a, m - 1, m - 1);
    mpz_mul_ui(r->split, r->a, m + 1);
    mpz_ui_pow_ui(r->tail, m + 1, m + 1);
    mpz_mul(r->tail, r->tail, r->a);
    mpz_mul_ui(r->a, r->a, 2);
    mpz_ui_pow_ui(r->d, m, m);
    mpz_add(r->d, r->d, r->a);
}

static void rational_fini(struct rational *r)
{
    mpz_clears(r->a, r->d, r->tail, r->split, NULL);
}

enum laplace_side { DOWN, UP };

/* m-th root of num / 2^b, in units of 2^-k, rounded down or up (up may be one
 * unit more than needed). */
static void root(mpz_t num, mp_bitcnt_t b, const struct rational *r,
                 mp_bitcnt_t k, enum laplace_side side)
{
    mpz_mul_2exp(num, num, k * r->m);
    mpz_fdiv_q_2exp(num, num, b);
    mpz_root(num, num, r->m);
    if (side == UP)
        mpz_add_ui(num, num, 1);
}

/* A bound of u = Q^-1(v / 2^b) in units of 2^-k. u falls in v. */
static void bound_u(const struct rational *r, mpz_srcptr v, mp_bitcnt_t b,
                    mp_bitcnt_t k, enum laplace_side side, mpz_t out)
{
    mpz_t x, m;
    mpz_inits(x, m, NULL);
    mpz_set_ui(m, r->m);
    mpz_mul_2exp(m, m, k);
    mpz_mul(out, v, r->d); /* V D in units of 2^-b */
    mpz_mul_2exp(x, r->split, b);
    if (mpz_cmp(out, x) >= 0) { /* core: m - u = (V D - A)^(1/m) */
        mpz_mul_2exp(x, r->a, b);
        mpz_sub(out, out, x);
        root(out, b, r, k, side == UP ? DOWN : UP);
        mpz_sub(out, m, out);
    } else { /* tail: m + u = (tail / (V D))^(1/m) */
        mpz_mul_2exp(x, r->tail, b + b);
        if (side == UP)
            mpz_cdiv_q(out, x, out);
        else
            mpz_fdiv_q(out, x, out);
        root(out, b, r, k, side);
        mpz_sub(out, out, m);
    }
    mpz_wipe_clear(x);
    mpz_clear(m);
}

/* floor(s u + 1/2) for u in units of 2^-k. */
static void round_u(mpz_t u, mpq_srcptr s, mp_bitcnt_t k)
{
    mpz_t den;
    mpz_init(den);
    mpz_mul_2exp(den, mpq_denref(s), k);
    mpz_mul(u, u, mpq_numref(s));
    mpz_mul_2exp(u, u, 1);
    mpz_add(u, u, den);
    mpz_mul_2exp(den, den, 1);
    mpz_fdiv_q(u, u, den);
    mpz_wipe_clear(den);
}

static bool try_round(const struct rational *r, const struct lazy *v,
                      mpq_srcptr s, mpz_t out)
{
    if (mpz_sgn(v->u) == 0)
        return false; /* u has no upper bound yet */
    mpz_t next, high;
    mpz_inits(next, high, NULL);
    mpz_add_ui(next, v->u, 1);
    bound_u(r, next, v->b, v->b, DOWN, out);
    bound_u(r, v->u, v->b, v->b, UP, high);
    if (mpz_sgn(out) < 0)
        mpz_set_ui(out, 0);
    round_u(out, s, v->b);
    round_u(high, s, v->b);
    bool same = mpz_cmp(out, high) == 0;
    mpz_wipe_clear(next);
    mpz_wipe_clear(high);
    return same;
}

enum status sample_rational_laplace(struct draw *d, unsigned long m,
                                    mpq_srcptr scale, mp_bitcnt_t bits,
                                    mpz_t out)
{
    struct rational r;
    struct lazy v;
    bool minus = false;
    rational_init(&r, m);
    lazy_init(&v);
    enum status st = lazy_start(&v, d, bits ? bits : lazy_first_bits(scale));
    while (st == OK && !try_round(&r, &v, scale, out))
        st = v.b > LAZY_BITS_MAX ? draw_stuck(d) : lazy_refine(&v, d, v.b);
    lazy_fini(&v);
    rational_fini(&r);
    TRY(st);
    TRY(draw_flip(d, &minus));
    if (minus)
        mpz_neg(out, out);
    return OK;
}
