/*
 * noise_threshold: against every way in which keys can share the mass, tried
 * one by one; limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "noise/noise.h"

static void make(struct noise *n, const char *epsilon, unsigned long l1)
{
    struct guarantee g;
    mpz_t l;
    guarantee_init(&g);
    mpz_init_set_ui(l, l1);
    assert_int_equal(rat_read(str_of(epsilon), "e", g.epsilon, NULL), OK);
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, l, NULL, n, NULL),
        OK);
    mpz_clear(l);
    guarantee_fini(&g);
}

static enum status ask(const struct noise *n, const char *mass,
                       const char *keys, const char *delta, mpz_t out)
{
    struct err err;
    mpz_t m, k;
    mpq_t d;
    mpz_init_set_str(m, mass, 10);
    mpz_init_set_str(k, keys, 10);
    mpq_init(d);
    assert_int_equal(rat_read(str_of(delta), "d", d, NULL), OK);
    enum status s = noise_threshold(n, m, k, d, out, &err);
    mpz_clears(m, k, NULL);
    mpq_clear(d);
    return s;
}

/* P(c + Z >= tau), c < tau */
static long double shown(long double q, int c, int tau)
{
    return powl(q, tau - c) / (1 + q);
}

/* ln P(none is shown), the least over all ways to share `mass` among at most
 * `keys` keys with counts of at most `most`. */
static long double least(long double q, int tau, int mass, int keys, int most)
{
    long double best = 0;
    for (int c = 1; keys && c <= most && c <= mass; c++) {
        long double x =
            log1pl(-shown(q, c, tau)) + least(q, tau, mass - c, keys - 1, c);
        best = x < best ? x : best;
    }
    return best;
}

static void is_the_smallest(void **state)
{
    (void)state;
    static const char *const epsilons[] = {"0.1", "0.5", "1", "2", "5"};
    static const char *const deltas[] = {"0.5", "0.3", "0.01", "1e-6"};
    struct noise n;
    mpz_t out;
    unsigned cases = 0;
    noise_init(&n);
    mpz_init(out);
    for (int mass = 1; mass <= 7; mass++)
        for (int keys = 1; keys <= mass; keys++)
            for (int e = 0; e < 5; e++)
                for (int d = 0; d < 4; d++) {
                    char m[8], k[8];
                    make(&n, epsilons[e], (unsigned long)mass);
                    snprintf(m, sizeof m, "%d", mass);
                    snprintf(k, sizeof k, "%d", keys);
                    assert_int_equal(ask(&n, m, k, deltas[d], out), OK);
                    int tau = (int)mpz_get_si(out);
                    long double q = expl(-1 / (long double)mpq_get_d(n.a));
                    long double limit = log1pl(-strtold(deltas[d], NULL));
                    assert_true(tau > mass);
                    assert_true(least(q, tau, mass, keys, mass) >= limit);
                    if (tau - 1 > mass)
                        assert_true(least(q, tau - 1, mass, keys, mass) <
                                    limit);
                    cases++;
                }
    print_message("%u cases\n", cases);
    mpz_clear(out);
    noise_fini(&n);
}

static void extremes(void **state)
{
    (void)state;
    struct noise n;
    mpz_t out;
    noise_init(&n);
    mpz_init(out);
    make(&n, "1", 1);
    assert_int_equal(ask(&n, "1", "1", "1e-6", out), OK);
    assert_int_equal(mpz_get_si(out), 15); /* 1 + 14: e^-14/(1+1/e) < 1e-6 */
    make(&n, "1000", 1);
    assert_int_equal(ask(&n, "1", "1", "0.5", out), OK);
    assert_int_equal(mpz_get_si(out), 2);
    make(&n, "0.000001", 1ul << 62);
    assert_int_equal(
        ask(&n, "4611686018427387904", "4611686018427387904", "1e-60", out),
        OK);
    /* 1 + b ln(D / (2 delta)), b = 2^62 * 10^6 */
    double want = 0x1p62 * 1e6 * (log(0x1p61) + 60 * log(10));
    assert_true(fabs(mpz_get_d(out) / want - 1) < 1e-9);
    mpz_clear(out);
    noise_fini(&n);
}

static void refusals(void **state)
{
    (void)state;
    struct noise n;
    mpz_t out;
    noise_init(&n);
    mpz_init(out);
    make(&n, "1", 1);
    assert_int_equal(ask(&n, "1", "1", "0.51", out), E_VALUE);
    assert_int_equal(ask(&n, "1", "1", "0", out), E_VALUE);
    assert_int_equal(ask(&n, "1", "2", "0.1", out), E_INTERNAL);
    assert_int_equal(ask(&n, "1", "0", "0.1", out), E_INTERNAL);
    n.kind = NOISE_DISCRETE_GAUSSIAN;
    assert_int_equal(ask(&n, "1", "1", "0.1", out), E_INTERNAL);
    mpz_clear(out);
    noise_fini(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_smallest),
        cmocka_unit_test(extremes),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
