/* noise: names, calibration, limits, displayed errors, answers, scales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "harness/fit.h"
#include "harness/plain.h"
#include "harness/scripted.h"
#include "noise/inverse.h"
#include "noise/noise.h"

static void set(mpq_t q, const char *text)
{
    assert_int_equal(rat_read(str_of(text), "q", q, NULL), OK);
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int k = 0; k <= NOISE_STAIRCASE; k++) {
        enum noise_kind back;
        assert_true(noise_find(str_of(noise_name((enum noise_kind)k)), &back));
        assert_int_equal(back, k);
    }
    enum noise_kind none;
    assert_false(noise_find(STR("laplace"), &none));
    assert_string_equal(noise_name(NOISE_SMOOTH_LAPLACE), "smooth-laplace");
}

static void global_calibration_is_exact(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n;
    mpz_t l1, l2;
    mpq_t want;
    mpq_init(want);
    mpz_init_set_ui(l1, 3);
    mpz_init_set_ui(l2, 2);
    guarantee_init(&g);
    noise_init(&n);
    set(g.epsilon, "0.1");
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, l1, NULL, &n, NULL),
        OK);
    set(want, "30");
    assert_true(mpq_equal(n.a, want));
    assert_false(n.smooth);
    g.kind = PRIVACY_ZCDP;
    set(g.rho, "0.01");
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_GAUSSIAN, NULL, l2, &n, NULL),
        OK);
    set(want, "100");
    assert_true(mpq_equal(n.a, want));
    /* epsilon = sqrt(2 rho) rounded down: scale at least 3 / sqrt(0.02) */
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, l1, NULL, &n, NULL),
        OK);
    mpq_mul(n.a, n.a, n.a);
    set(want, "450");
    assert_true(mpq_cmp(n.a, want) >= 0);
    set(want, "450.0000000001");
    assert_true(mpq_cmp(n.a, want) < 0);
    guarantee_fini(&g);
    noise_fini(&n);
    mpz_clears(l1, l2, NULL);
    mpq_clear(want);
}

static void refused(enum privacy_kind privacy, const char *epsilon,
                    enum noise_kind kind, const char *beta, enum status want,
                    const char *part)
{
    struct guarantee g;
    struct noise n;
    struct err err;
    mpq_t b;
    mpz_t one;
    mpq_init(b);
    mpz_init_set_ui(one, 1);
    guarantee_init(&g);
    noise_init(&n);
    g.kind = privacy;
    set(privacy == PRIVACY_ZCDP ? g.rho : g.epsilon, epsilon);
    enum status st;
    if (beta) {
        set(b, beta);
        st = noise_calibrate_smooth(&g, kind, b, &n, &err);
    } else {
        st = noise_calibrate_global(&g, kind, one, one, &n, &err);
    }
    assert_int_equal(st, want);
    if (!strstr(err.message, part))
        fail_msg("unexpected message: %s", err.message);
    guarantee_fini(&g);
    noise_fini(&n);
    mpq_clear(b);
    mpz_clear(one);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    refused(PRIVACY_PURE, "0", NOISE_DISCRETE_LAPLACE, NULL, E_VALUE,
            "epsilon must be greater than zero");
    refused(PRIVACY_PURE, "-1", NOISE_DISCRETE_LAPLACE, NULL, E_VALUE,
            "epsilon must be greater than zero");
    refused(PRIVACY_PURE, "1e-300", NOISE_DISCRETE_LAPLACE, NULL, E_VALUE,
            "too precise");
    refused(PRIVACY_PURE, "1001", NOISE_DISCRETE_LAPLACE, NULL, E_VALUE,
            "at most 1000");
    refused(PRIVACY_ZCDP, "0", NOISE_DISCRETE_GAUSSIAN, NULL, E_VALUE,
            "rho must be greater than zero");
    refused(PRIVACY_PURE, "1", NOISE_DISCRETE_GAUSSIAN, NULL, E_UNSUPPORTED,
            "no pure guarantee");
    refused(PRIVACY_APPROX, "1", NOISE_DISCRETE_GAUSSIAN, NULL, E_UNSUPPORTED,
            "no pure guarantee");
    refused(PRIVACY_PURE, "1", NOISE_SMOOTH_LAPLACE, NULL, E_UNSUPPORTED,
            "global");
    refused(PRIVACY_PURE, "1", NOISE_DISCRETE_LAPLACE, "0.1", E_UNSUPPORTED,
            "smooth sensitivity");
    refused(PRIVACY_PURE, "1", NOISE_SMOOTH_LAPLACE, "0", E_VALUE, "beta");
    refused(PRIVACY_PURE, "1", NOISE_SMOOTH_LAPLACE, "0.5", E_VALUE,
            "epsilon / 2");
    refused(PRIVACY_PURE, "1", NOISE_SMOOTH_LAPLACE, "1e-10", E_VALUE,
            "at least 2^-30");
    refused(PRIVACY_PURE, "1", NOISE_GENERALIZED_CAUCHY, "1/3", E_VALUE,
            "epsilon / 3");
    refused(PRIVACY_PURE, "5", NOISE_STAIRCASE, "2", E_VALUE, "epsilon / 3");
    refused(PRIVACY_PURE, "0.5", NOISE_STAIRCASE, "0.05", E_VALUE,
            "at least 1");
    refused(PRIVACY_PURE, "1", NOISE_ARSINH_NORMAL, "0.1", E_UNSUPPORTED,
            "only by rho");
    refused(PRIVACY_ZCDP, "0.5", NOISE_ARSINH_NORMAL, "0.37", E_VALUE, "0.36");
}

static void delta_is_checked(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n;
    mpz_t one;
    mpz_init_set_ui(one, 1);
    guarantee_init(&g);
    noise_init(&n);
    g.kind = PRIVACY_APPROX;
    set(g.epsilon, "1");
    static const char *const bad[] = {"-0.1", "1", "2"};
    for (int i = 0; i < 3; i++) {
        set(g.delta, bad[i]);
        assert_int_equal(noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, one,
                                                one, &n, NULL),
                         E_VALUE);
    }
    set(g.delta, "1e-6");
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_GAUSSIAN, one, one, &n, NULL),
        OK);
    /* sigma of the analytic calibration is 4.22; ours may be a little more */
    assert_true(sqrt(mpq_get_d(n.a)) > 4.22);
    assert_true(sqrt(mpq_get_d(n.a)) < 5.0);
    guarantee_fini(&g);
    noise_fini(&n);
    mpz_clear(one);
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    struct noise n;
    struct scripted script;
    struct entropy *rng = scripted_seed(&script, 5);
    mpq_t s;
    mpz_t x;
    mpq_init(s);
    mpz_init(x);
    fit_noise(&n, NOISE_SMOOTH_LAPLACE, "1", "0.1");
    mpz_setbit(mpq_numref(s), 4 * NOISE_SCALE_BITS); /* as if 2^127 - 1 */
    assert_int_equal(noise_draw(&n, s, rng, x, NULL), OK);
    assert_in_range(mpz_sizeinbase(x, 2), 80, 200);
    mpq_inv(s, s); /* as if 2^-64 */
    assert_int_equal(noise_draw(&n, s, rng, x, NULL), OK);
    assert_true(mpz_sgn(x) == 0);
    mpq_set_ui(s, 3, 1); /* in range, with more digits than are needed */
    mpz_set_ui(mpq_denref(s), 1);
    mpz_mul_2exp(mpq_denref(s), mpq_denref(s), 2 * NOISE_SCALE_BITS);
    mpz_mul_2exp(mpq_numref(s), mpq_numref(s), 2 * NOISE_SCALE_BITS);
    mpz_add_ui(mpq_numref(s), mpq_numref(s), 1);
    assert_int_equal(noise_draw(&n, s, rng, x, NULL), OK);
    assert_in_range(mpz_sizeinbase(x, 2), 0, 40);
    mpq_set_ui(s, 0, 1);
    assert_int_equal(noise_draw(&n, s, rng, x, NULL), E_INTERNAL);
    assert_int_equal(noise_draw(&n, NULL, rng, x, NULL), E_INTERNAL);
    noise_fini(&n);
    mpq_clear(s);
    mpz_clear(x);
}

/* min(max(s, 2^-64), COUNT_MOST), and nothing else. */
static void scales_are_clamped(void **state)
{
    (void)state;
    mpq_t s, want;
    mpz_t most;
    mpq_inits(s, want, NULL);
    mpz_init(most);
    mpz_set_u128(most, COUNT_MOST);
    for (int bits = -70; bits <= 140; bits++)
        for (int delta = -1; delta <= 1; delta++) {
            mpq_set_ui(s, 1, 1);
            if (bits < 0)
                mpq_div_2exp(s, s, (mp_bitcnt_t)-bits);
            else
                mpq_mul_2exp(s, s, (mp_bitcnt_t)bits);
            mpq_set_si(want, delta, 8);
            mpq_canonicalize(want);
            mpq_mul(want, want, s);
            mpq_add(s, s, want);
            mpq_set(want, s);
            noise_clamp_scale(s);
            if (bits < -64 || (bits == -64 && delta < 0)) {
                mpq_set_ui(want, 1, 1);
                mpq_div_2exp(want, want, 64);
            } else if (bits > 127 || (bits == 127 && delta >= 0)) {
                mpq_set_z(want, most);
            }
            assert_true(mpq_equal(s, want));
        }
    mpq_clears(s, want, NULL);
    mpz_clear(most);
}

static void large_scales_draw(void **state)
{
    (void)state;
    static const enum noise_kind kinds[] = {
        NOISE_SMOOTH_LAPLACE, NOISE_GENERALIZED_CAUCHY, NOISE_ARSINH_NORMAL,
        NOISE_STAIRCASE};
    struct scripted script;
    struct entropy *rng = scripted_seed(&script, 6);
    mpq_t s;
    mpz_t x;
    mpq_init(s);
    mpz_init(x);
    mpz_setbit(mpq_numref(s), 126);
    for (int i = 0; i < 4; i++) {
        struct noise n;
        fit_noise(&n, kinds[i], "5", "0.5");
        for (int k = 0; k < 20; k++) {
            assert_int_equal(noise_draw(&n, s, rng, x, NULL), OK);
            assert_true(mpz_sizeinbase(x, 2) > 90);
            /* random to the last digit */
            assert_false(mpz_divisible_2exp_p(x, 64));
        }
        noise_fini(&n);
    }
    mpq_clear(s);
    mpz_clear(x);
}

static void beta_follows_the_degree(void **state)
{
    (void)state;
    static const char *const want[] = {"0",   "1/3", "1/2", "4/7",
                                       "5/8", "2/3", "2/3"};
    struct guarantee g;
    mpq_t b, w;
    mpq_inits(b, w, NULL);
    guarantee_init(&g);
    set(g.epsilon, "2");
    for (unsigned d = 0; d < 7; d++) {
        noise_choose_beta(&g, d, b);
        set(w, want[d]);
        assert_true(mpq_equal(b, w));
        noise_choose_beta_groups(&g, d, 3, b);
        mpq_set_ui(b, mpz_get_ui(mpq_numref(b)) * 5, mpz_get_ui(mpq_denref(b)));
        mpq_canonicalize(b);
        assert_true(mpq_equal(b, w));
    }
    /* under zCDP every chosen beta has a row in the table */
    g.kind = PRIVACY_ZCDP;
    set(g.rho, "0.01234");
    for (unsigned d = 1; d < 7; d++) {
        struct noise n;
        noise_init(&n);
        noise_choose_beta(&g, d, b);
        assert_int_equal(
            noise_calibrate_smooth(&g, NOISE_ARSINH_NORMAL, b, &n, NULL), OK);
        noise_fini(&n);
    }
    guarantee_fini(&g);
    mpq_clears(b, w, NULL);
}

/* The rule picks the kind whose standard deviation is the smaller one. */
static void best_kind_is_best(void **state)
{
    (void)state;
    static const char *const eps[] = {"0.1", "1", "3.9", "4", "5",
                                      "6",   "8", "10",  "16"};
    static const char *const ratios[] = {"1/20", "1/10", "1/6",
                                         "1/5",  "1/4",  "0.3"};
    struct guarantee g;
    mpq_t b;
    mpq_init(b);
    guarantee_init(&g);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 6; j++) {
            struct noise n[2];
            struct noise_error e[2];
            set(g.epsilon, eps[i]);
            set(b, ratios[j]);
            mpq_mul(b, b, g.epsilon);
            enum noise_kind best = noise_best_smooth(&g, b);
            if (i < 3) {
                assert_int_equal(best, NOISE_SMOOTH_LAPLACE);
                continue;
            }
            for (int k = 0; k < 2; k++) {
                noise_init(&n[k]);
                assert_int_equal(noise_calibrate_smooth(
                                     &g,
                                     k ? NOISE_STAIRCASE : NOISE_SMOOTH_LAPLACE,
                                     b, &n[k], NULL),
                                 OK);
                assert_int_equal(noise_error(&n[k], &e[k], NULL), OK);
                noise_fini(&n[k]);
            }
            double chosen = e[best == NOISE_STAIRCASE].std;
            double other = e[best != NOISE_STAIRCASE].std;
            if (chosen > other * 1.05)
                fail_msg("epsilon %s, ratio %s: %s is %.3f, not %.3f", eps[i],
                         ratios[j], noise_name(best), chosen, other);
        }
    }
    guarantee_fini(&g);
    mpq_clear(b);
}

static void shows(enum noise_kind kind, const char *eps, const char *beta,
                  double unit, double std, double p95, double p99)
{
    struct noise n;
    struct noise_error e;
    fit_noise(&n, kind, eps, beta);
    assert_int_equal(noise_error(&n, &e, NULL), OK);
    if (fabs(e.std * unit - std) > .0051 * std ||
        fabs(e.p95 * unit - p95) > .0051 * p95 ||
        fabs(e.p99 * unit - p99) > .0051 * p99)
        fail_msg("%s %s: %.4f %.4f %.4f", noise_name(kind), eps, e.std * unit,
                 e.p95 * unit, e.p99 * unit);
    assert_true(e.p50 > 0 && e.p50 < e.p90 && e.p90 < e.p95 && e.p95 < e.p99);
    noise_fini(&n);
}

/* Against values computed apart (mpmath quadrature), in units of S/epsilon. */
static void displayed_errors_are_right(void **state)
{
    (void)state;
    shows(NOISE_SMOOTH_LAPLACE, "0.1", "0.01", .1, 1.679, 3.51, 5.86);
    shows(NOISE_SMOOTH_LAPLACE, "1", "0.1", 1, 1.615, 3.37, 5.62);
    shows(NOISE_SMOOTH_LAPLACE, "1", "0.25", 1, 2.131, 4.11, 7.89);
    shows(NOISE_SMOOTH_LAPLACE, "10", "1", 10, 1.430, 3.01, 4.66);
    shows(NOISE_GENERALIZED_CAUCHY, "0.1", "0.01", .1, 2.894, 5.19, 8.98);
    shows(NOISE_GENERALIZED_CAUCHY, "1", "0.1", 1, 2.728, 4.89, 8.46);
}

static void answers_add_noise(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n;
    struct secret_count count = secret_count_of((u128)1 << 100);
    struct scripted a, b;
    mpz_t one, x, y;
    mpz_inits(x, y, NULL);
    mpz_init_set_ui(one, 1);
    guarantee_init(&g);
    noise_init(&n);
    set(g.epsilon, "1/50");
    assert_int_equal(
        noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, one, NULL, &n, NULL),
        OK);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(noise_answer(a_hold(), &n, &count, NULL,
                                      scripted_seed(&a, 9 + (unsigned)i), x,
                                      NULL),
                         OK);
        assert_int_equal(
            noise_draw(&n, NULL, scripted_seed(&b, 9 + (unsigned)i), y, NULL),
            OK);
        mpz_sub(x, x, y);
        secret_scale_of_count(&count, y);
        assert_true(mpz_cmp(x, y) == 0);
    }
    guarantee_fini(&g);
    noise_fini(&n);
    mpz_clears(one, x, y, NULL);
}

/* Between neighbours the released scale moves by at most beta on the
 * logarithm, for the same random bytes: the claim the privacy rests on. */
static void released_scale_is_smooth(void **state)
{
    (void)state;
    struct noise n;
    struct secret_scale s;
    struct scripted script;
    mpq_t eps, miss, q, grow;
    mpq_inits(eps, miss, q, grow, NULL);
    secret_scale_init(&s);
    fit_noise(&n, NOISE_SMOOTH_LAPLACE, "1", "1/6");
    set(eps, "0.1");
    set(miss, "0.05");
    set(grow, "1.18136041286564"); /* e^(1/6), rounded down */
    unsigned below = 0, under = 0;
    for (unsigned k = 0; k < 400; k++) {
        struct scale_estimate first, second;
        mpq_set_ui(q, 1 + k * k * 17, 1 + k % 13);
        mpq_canonicalize(q);
        secret_scale_set(&s, q);
        assert_int_equal(noise_release_scale(a_hold(), &n, &s, eps, miss,
                                             scripted_seed(&script, k), &first,
                                             NULL),
                         OK);
        below += first.upper < mpq_get_d(q);
        under += first.middle < mpq_get_d(q);
        mpq_mul(q, q, grow);
        secret_scale_set(&s, q);
        assert_int_equal(noise_release_scale(a_hold(), &n, &s, eps, miss,
                                             scripted_seed(&script, k), &second,
                                             NULL),
                         OK);
        double steps = log(second.upper / first.upper) * 6 * 16;
        assert_true(steps > -1e-6 && steps < 16 + 1e-6);
    }
    assert_true(below <= 40); /* 20 expected */
    assert_true(below >= 5);
    assert_true(under >= 150 && under <= 250); /* in the middle */
    mpq_clears(eps, miss, q, grow, NULL);
    secret_scale_fini(&s);
    noise_fini(&n);
}

static void exhausted_memory_is_reported(void **state)
{
    (void)state;
    for (long k = 0; k < 2; k++) {
        struct guarantee g;
        struct noise n;
        mpq_t b;
        mpq_init(b);
        guarantee_init(&g);
        noise_init(&n);
        set(g.epsilon, "1");
        set(b, "0.1");
        atomic_store(&n.mem.fail_after, k);
        assert_int_equal(
            noise_calibrate_smooth(&g, NOISE_SMOOTH_LAPLACE, b, &n, NULL),
            E_NOMEM);
        guarantee_fini(&g);
        noise_fini(&n);
        mpq_clear(b);
    }
}

static void calibrating_again_replaces(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n;
    struct scripted script;
    mpq_t b, s;
    mpz_t x;
    mpz_init(x);
    mpq_inits(b, s, NULL);
    guarantee_init(&g);
    noise_init(&n);
    set(g.epsilon, "5");
    set(b, "0.5");
    set(s, "100");
    assert_int_equal(noise_calibrate_smooth(&g, NOISE_STAIRCASE, b, &n, NULL),
                     OK);
    assert_int_equal(
        noise_calibrate_smooth(&g, NOISE_SMOOTH_LAPLACE, b, &n, NULL), OK);
    assert_int_equal(noise_draw(&n, s, scripted_seed(&script, 1), x, NULL), OK);
    guarantee_fini(&g);
    noise_fini(&n);
    mpq_clears(b, s, NULL);
    mpz_clear(x);
}

/* The slack that covers the rounding of S is there, in every kind. */
static void beta_has_slack(void **state)
{
    (void)state;
    static const enum noise_kind kinds[] = {
        NOISE_SMOOTH_LAPLACE, NOISE_GENERALIZED_CAUCHY, NOISE_STAIRCASE,
        NOISE_ARSINH_NORMAL};
    mpq_t want, least;
    mpq_inits(want, least, NULL);
    set(least, "1/5");
    mpq_set_ui(want, 1, 1);
    mpq_div_2exp(want, want, 60);
    mpq_mul(want, want, least);
    mpq_add(want, want, least);
    for (int i = 0; i < 4; i++) {
        struct noise n;
        fit_noise(&n, kinds[i], "2", "1/5");
        assert_true(mpq_equal(n.scale_beta, want));
        assert_true(mpq_equal(n.beta, want));
        noise_fini(&n);
    }
    struct guarantee g;
    struct noise n;
    guarantee_init(&g);
    noise_init(&n);
    set(g.epsilon, "2");
    assert_int_equal(noise_calibrate_smooth_groups(&g, 2, least, &n, NULL), OK);
    assert_true(mpq_equal(n.scale_beta, want));
    assert_true(mpq_cmp(n.beta, want) >= 0);
    guarantee_fini(&g);
    noise_fini(&n);
    mpq_clears(want, least, NULL);
}

static void groups_beyond_reach_are_refused(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n;
    struct err err;
    mpq_t b;
    mpq_init(b);
    guarantee_init(&g);
    noise_init(&n);
    set(g.epsilon, "1");
    set(b, "0.1");
    assert_int_equal(noise_calibrate_smooth_groups(&g, 10, b, &n, &err),
                     E_VALUE);
    assert_non_null(strstr(err.message, "10 groups"));
    set(b, "0.0125");
    assert_int_equal(noise_calibrate_smooth_groups(&g, 10, b, &n, &err), OK);
    assert_true(mpq_cmp(n.epsilon, g.epsilon) < 0);
    /* the slack of a tiny beta would not cover the rounding of S */
    set(b, "1/2000000000");
    assert_int_equal(noise_calibrate_smooth_groups(&g, 10, b, &n, &err),
                     E_VALUE);
    guarantee_fini(&g);
    noise_fini(&n);
    mpq_clear(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(global_calibration_is_exact),
        cmocka_unit_test(bad_parameters_are_refused),
        cmocka_unit_test(delta_is_checked),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(large_scales_draw),
        cmocka_unit_test(scales_are_clamped),
        cmocka_unit_test(beta_follows_the_degree),
        cmocka_unit_test(best_kind_is_best),
        cmocka_unit_test(displayed_errors_are_right),
        cmocka_unit_test(answers_add_noise),
        cmocka_unit_test(released_scale_is_smooth),
        cmocka_unit_test(exhausted_memory_is_reported),
        cmocka_unit_test(calibrating_again_replaces),
        cmocka_unit_test(beta_has_slack),
        cmocka_unit_test(groups_beyond_reach_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
