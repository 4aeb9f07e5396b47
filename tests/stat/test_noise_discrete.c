/*
 * Discrete Laplace and Gaussian, and the trials they are made of: goodness of
 * fit on fixed seeds, with broken variants that the same tests must reject.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/scripted.h"
#include "harness/stat.h"
#include "noise/sampler.h"

enum { DRAWS = 100000, BINS = 201, HALF = BINS / 2 };

static double laplace_mass(long x, double scale)
{
    double q = exp(-1 / scale);
    return (1 - q) / (1 + q) * pow(q, (double)labs(x));
}

/* Bins of `width` integers around 0; the ends take the tails. */
struct histogram {
    double count[BINS];
    long width;
};

static void put(struct histogram *h, mpz_srcptr v)
{
    long x = mpz_get_si(v);
    long b = x >= 0 ? (x + h->width / 2) / h->width
                    : -((-x + h->width / 2) / h->width);
    b = b > HALF ? HALF : b < -HALF ? -HALF : b;
    h->count[b + HALF]++;
}

static void laplace_bins(double scale, long width, double prob[BINS])
{
    double sum = 0;
    for (int i = 1; i < BINS - 1; i++) {
        prob[i] = 0;
        long mid = (i - HALF) * width;
        for (long x = mid - (width - 1) / 2; x <= mid + (width - 1) / 2; x++)
            prob[i] += laplace_mass(x, scale);
        sum += prob[i];
    }
    prob[0] = prob[BINS - 1] = (1 - sum) / 2;
}

enum defect { NONE, SCALE_5_PERCENT, NO_ZERO_REJECTION };

static double laplace_fit(unsigned long t, unsigned long s, long width,
                          enum defect defect, uint64_t seed)
{
    struct scripted script;
    struct entropy *rng = scripted_seed(&script, seed);
    struct histogram h = {.width = width};
    double prob[BINS];
    mpz_t zt, zs, x;
    mpz_init_set_ui(zt, defect == SCALE_5_PERCENT ? t * 21 : t);
    mpz_init_set_ui(zs, defect == SCALE_5_PERCENT ? s * 20 : s);
    mpz_init(x);
    for (int i = 0; i < DRAWS; i++) {
        struct draw d;
        draw_begin(&d, rng, NULL);
        assert_int_equal(sample_discrete_laplace(&d, zt, zs, x), OK);
        bool extra = false;
        if (defect == NO_ZERO_REJECTION && mpz_sgn(x) == 0)
            extra = true;
        put(&h, x);
        if (extra)
            put(&h, x);
    }
    mpz_clears(zt, zs, x, NULL);
    laplace_bins((double)t / (double)s, width, prob);
    double total = 0;
    for (int i = 0; i < BINS; i++)
        total += h.count[i];
    return stat_chi2(h.count, prob, BINS, total);
}

static void laplace_has_its_law(void **state)
{
    (void)state;
    assert_true(laplace_fit(1, 2, 1, NONE, 1) > 1e-6);
    assert_true(laplace_fit(1, 1, 1, NONE, 2) > 1e-6);
    assert_true(laplace_fit(10, 1, 1, NONE, 3) > 1e-6);
    assert_true(laplace_fit(22, 7, 1, NONE, 4) > 1e-6);
    assert_true(laplace_fit(1000, 1, 101, NONE, 5) > 1e-6);
}

static void broken_laplace_is_noticed(void **state)
{
    (void)state;
    assert_true(laplace_fit(10, 1, 1, SCALE_5_PERCENT, 3) < 1e-6);
    assert_true(laplace_fit(10, 1, 1, NO_ZERO_REJECTION, 3) < 1e-6);
    assert_true(laplace_fit(1, 1, 1, NO_ZERO_REJECTION, 2) < 1e-6);
}

static double gauss_fit(unsigned long a, unsigned long b, double claimed_sigma2,
                        uint64_t seed)
{
    struct scripted script;
    struct entropy *rng = scripted_seed(&script, seed);
    struct histogram h = {.width = 1};
    double prob[BINS], norm = 0;
    mpq_t sigma2;
    mpz_t x;
    mpq_init(sigma2);
    mpq_set_ui(sigma2, a, b);
    mpz_init(x);
    for (int i = 0; i < DRAWS; i++) {
        struct draw d;
        draw_begin(&d, rng, NULL);
        assert_int_equal(sample_discrete_gaussian(&d, sigma2, x), OK);
        put(&h, x);
    }
    for (int i = 0; i < BINS; i++)
        norm += prob[i] = exp(-(i - HALF) * (i - HALF) / (2 * claimed_sigma2));
    for (int i = 0; i < BINS; i++)
        prob[i] /= norm;
    mpz_clear(x);
    mpq_clear(sigma2);
    return stat_chi2(h.count, prob, BINS, DRAWS);
}

static void gauss_has_its_law(void **state)
{
    (void)state;
    assert_true(gauss_fit(1, 4, .25, 11) > 1e-6);
    assert_true(gauss_fit(2, 1, 2, 12) > 1e-6);
    assert_true(gauss_fit(700, 3, 700. / 3, 13) > 1e-6);
    assert_true(gauss_fit(100, 1, 100 * 1.1025, 14) < 1e-6); /* sigma 5 % off */
}

/* Trials with probability exp(-num/den), by the fast and by the slow way on
 * one byte stream; and within 5 standard deviations of the truth. */
static void exponential_trials(void **state)
{
    (void)state;
    static const unsigned long xs[][2] = {
        {0, 1}, {1, 1000}, {1, 2},    {1, 1},  {3, 2},
        {5, 1}, {7, 3},    {99, 100}, {40, 1}, {1, 4294967291}};
    enum { TRIALS = 40000 };
    mpz_t num, den;
    mpz_inits(num, den, NULL);
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
        struct scripted a, b;
        struct entropy *ra = scripted_seed(&a, 21 + i);
        struct entropy *rb = scripted_seed(&b, 21 + i);
        mpz_set_ui(num, xs[i][0]);
        mpz_set_ui(den, xs[i][1]);
        double hits = 0, p = exp(-(double)xs[i][0] / (double)xs[i][1]);
        for (int k = 0; k < TRIALS; k++) {
            struct draw da, db;
            bool fast, slow;
            draw_begin(&da, ra, NULL);
            draw_begin(&db, rb, NULL);
            assert_int_equal(draw_exp(&da, num, den, &fast), OK);
            assert_int_equal(draw_exp_slow(&db, num, den, &slow), OK);
            assert_int_equal(fast, slow);
            hits += fast;
        }
        assert_true(fabs(hits - TRIALS * p) <=
                    5 * sqrt(TRIALS * p * (1 - p)) + 1e-9);
    }
    mpz_clears(num, den, NULL);
}

static void uniform_below(void **state)
{
    (void)state;
    static const uint64_t ns[] = {1, 2, 3, 7, 255, 256, 257};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        struct scripted a, b;
        struct entropy *ra = scripted_seed(&a, 31 + i);
        struct entropy *rb = scripted_seed(&b, 31 + i);
        double count[257] = {0}, prob[257];
        mpz_t n, x;
        mpz_init_set_ui(n, ns[i]);
        mpz_init(x);
        for (int k = 0; k < 100000; k++) {
            struct draw da, db;
            uint64_t u;
            draw_begin(&da, ra, NULL);
            draw_begin(&db, rb, NULL);
            assert_int_equal(draw_below_u64(&da, ns[i], &u), OK);
            assert_int_equal(draw_below(&db, n, x), OK);
            assert_true(mpz_cmp_ui(x, u) == 0);
            count[u]++;
        }
        for (size_t k = 0; k < ns[i]; k++)
            prob[k] = 1 / (double)ns[i];
        assert_true(stat_chi2(count, prob, ns[i], 100000) > 1e-6);
        mpz_clears(n, x, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_has_its_law),
        cmocka_unit_test(broken_laplace_is_noticed),
        cmocka_unit_test(gauss_has_its_law),
        cmocka_unit_test(exponential_trials),
        cmocka_unit_test(uniform_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
