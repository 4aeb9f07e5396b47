/* num: enclosures contain the value and are tight; certain comparisons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/iv_more.h"
#include "num/iv.h"

enum { PREC = 64, FINE = 400 };

static uint64_t rng = 123456789;

static long number(long below)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (long)((rng >> 33) % (uint64_t)below);
}

static void random_q(mpq_t q, bool positive)
{
    mpq_set_si(q, number(2000) - (positive ? 0 : 1000) + positive,
               1 + (unsigned long)number(300));
    mpq_canonicalize(q);
}

/* The finer enclosure must lie inside the coarse one, which must be narrow:
 * 2^-50 relative to the larger end. */
static void inside(const struct iv *coarse, const struct iv *fine)
{
    assert_true(mpfr_lessequal_p(coarse->lo, fine->lo));
    assert_true(mpfr_lessequal_p(fine->hi, coarse->hi));
    mpfr_t width, size;
    mpfr_init2(width, PREC);
    mpfr_init2(size, PREC);
    mpfr_sub(width, coarse->hi, coarse->lo, MPFR_RNDU);
    mpfr_max(size, coarse->hi, coarse->lo, MPFR_RNDU);
    mpfr_abs(size, size, MPFR_RNDU);
    mpfr_add_ui(size, size, 1, MPFR_RNDU);
    mpfr_mul_2si(size, size, -45, MPFR_RNDU);
    assert_true(mpfr_lessequal_p(width, size));
    mpfr_clear(width);
    mpfr_clear(size);
}

typedef void (*unary)(struct iv *, const struct iv *);
typedef void (*binary)(struct iv *, const struct iv *, const struct iv *);

static void check_unary(unary f, bool positive, unsigned long divide)
{
    struct iv a, b;
    mpq_t q, d;
    mpq_inits(q, d, NULL);
    iv_init(&a, PREC);
    iv_init(&b, FINE);
    mpq_set_ui(d, 1, divide);
    for (int i = 0; i < 300; i++) {
        random_q(q, positive);
        mpq_mul(q, q, d);
        iv_set_q(&a, q);
        iv_set_q(&b, q);
        f(&a, &a); /* in place */
        f(&b, &b);
        inside(&a, &b);
    }
    iv_fini(&a);
    iv_fini(&b);
    mpq_clears(q, d, NULL);
}

static void check_binary(binary f, bool second_positive)
{
    struct iv a, b, x, y;
    mpq_t q, r;
    mpq_inits(q, r, NULL);
    iv_init(&a, PREC);
    iv_init(&b, PREC);
    iv_init(&x, FINE);
    iv_init(&y, FINE);
    for (int i = 0; i < 500; i++) {
        random_q(q, false);
        random_q(r, second_positive);
        iv_set_q(&a, q);
        iv_set_q(&b, r);
        iv_set_q(&x, q);
        iv_set_q(&y, r);
        f(&b, &a, &b);
        f(&x, &x, &y);
        inside(&b, &x);
    }
    iv_fini(&a);
    iv_fini(&b);
    iv_fini(&x);
    iv_fini(&y);
    mpq_clears(q, r, NULL);
}

static void functions_enclose(void **state)
{
    (void)state;
    check_unary(iv_exp, false, 100);
    check_unary(iv_expm1, false, 100);
    check_unary(iv_log, true, 1);
    check_unary(iv_log1p, true, 100);
    check_unary(iv_sinh, false, 100);
    check_unary(iv_tanh, false, 100);
    check_unary(iv_sqrt, true, 1);
    check_unary(iv_atan, false, 10);
    check_unary(iv_erfc, false, 500);
    check_unary(iv_sech, true, 100);
    check_unary(iv_neg, false, 1);
    check_unary(iv_abs, false, 1);
    check_unary(iv_sqr, false, 30);
}

static void arithmetic_encloses(void **state)
{
    (void)state;
    check_binary(iv_add, false);
    check_binary(iv_sub, false);
    check_binary(iv_mul, false);
    check_binary(iv_div, true);
}

/* Wide operands: every pair of points inside gives a result inside. */
static void wide_intervals_enclose(void **state)
{
    (void)state;
    static const long ends[] = {-3, -1, 0, 2, 5};
    struct iv a, b, out;
    iv_init(&a, PREC);
    iv_init(&b, PREC);
    iv_init(&out, PREC);
    for (int i = 0; i < 5; i++)
        for (int j = i; j < 5; j++)
            for (int k = 0; k < 5; k++)
                for (int l = k; l < 5; l++) {
                    mpfr_set_si(a.lo, ends[i], MPFR_RNDD);
                    mpfr_set_si(a.hi, ends[j], MPFR_RNDU);
                    mpfr_set_si(b.lo, ends[k], MPFR_RNDD);
                    mpfr_set_si(b.hi, ends[l], MPFR_RNDU);
                    for (long x = ends[i]; x <= ends[j]; x++)
                        for (long y = ends[k]; y <= ends[l]; y++) {
                            iv_mul(&out, &a, &b);
                            assert_true(mpfr_cmp_si(out.lo, x * y) <= 0 &&
                                        mpfr_cmp_si(out.hi, x * y) >= 0);
                            iv_sub(&out, &a, &b);
                            assert_true(mpfr_cmp_si(out.lo, x - y) <= 0 &&
                                        mpfr_cmp_si(out.hi, x - y) >= 0);
                            iv_sqr(&out, &a);
                            assert_true(mpfr_cmp_si(out.lo, x * x) <= 0 &&
                                        mpfr_cmp_si(out.hi, x * x) >= 0);
                        }
                    assert_true(!iv_less(&a, &b) || ends[j] < ends[k]);
                    assert_true(!iv_at_most(&a, &b) || ends[j] <= ends[k]);
                }
    iv_fini(&a);
    iv_fini(&b);
    iv_fini(&out);
}

static void rounding_is_certain(void **state)
{
    (void)state;
    struct iv x;
    mpq_t q, s;
    mpz_t out;
    mpq_inits(q, s, NULL);
    mpz_init(out);
    iv_init(&x, PREC);
    mpq_set_ui(s, 10, 1);
    mpq_set_ui(q, 1, 3);
    iv_set_q(&x, q);
    assert_true(iv_round_scaled(out, &x, s)); /* 3.33 */
    assert_int_equal(mpz_get_si(out), 3);
    mpq_set_ui(q, 7, 20);
    iv_set_q(&x, q); /* 3.5 is not a dyadic times 10: the ends differ */
    assert_false(iv_round_scaled(out, &x, s));
    mpfr_set_inf(x.hi, 1);
    assert_false(iv_round_scaled(out, &x, s));
    mpz_t from, to;
    mpz_init_set_ui(from, 5);
    mpz_init_set_ui(to, 6);
    iv_set_z_2exp(&x, from, to, 3);
    assert_true(mpfr_cmp_ui_2exp(x.lo, 5, -3) == 0);
    assert_true(mpfr_cmp_ui_2exp(x.hi, 6, -3) == 0);
    iv_fini(&x);
    mpq_clears(q, s, NULL);
    mpz_clears(out, from, to, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_enclose),
        cmocka_unit_test(arithmetic_encloses),
        cmocka_unit_test(wide_intervals_enclose),
        cmocka_unit_test(rounding_is_certain),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpfr_free_cache();
    return failed;
}
