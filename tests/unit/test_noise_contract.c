/*
 * noise: the ends of its contract. A caller that breaks it gets an error and
 * never a draw; the extremes of what is allowed work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scripted.h"
#include "harness/plain.h"
#include "noise/calibrate.h"
#include "noise/noise.h"
#include "noise/sampler.h"

struct fixture {
    struct guarantee g;
    struct noise n;
    mpq_t q, r;
    mpz_t z, x;
    struct scripted script;
    struct entropy *rng;
    struct err err;
};

static void set(mpq_t q, const char *text)
{
    assert_int_equal(rat_read(str_of(text), "q", q, NULL), OK);
}

static void start(struct fixture *f, const char *epsilon)
{
    guarantee_init(&f->g);
    noise_init(&f->n);
    mpq_inits(f->q, f->r, NULL);
    mpz_inits(f->z, f->x, NULL);
    set(f->g.epsilon, epsilon);
    f->rng = scripted_seed(&f->script, 7);
}

static void stop(struct fixture *f)
{
    guarantee_fini(&f->g);
    noise_fini(&f->n);
    mpq_clears(f->q, f->r, NULL);
    mpz_clears(f->z, f->x, NULL);
}

static enum status global(struct fixture *f, enum noise_kind kind,
                          mpz_srcptr sensitivity)
{
    return noise_calibrate_global(&f->g, kind, sensitivity, sensitivity, &f->n,
                                  &f->err);
}

static void sensitivity_must_be_a_size(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "1");
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, NULL), E_INTERNAL);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), E_INTERNAL);
    mpz_set_si(f.z, -1);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), E_INTERNAL);
    mpz_set_ui(f.z, 1);
    mpz_mul_2exp(f.z, f.z, 100000);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), E_TOO_LARGE);
    stop(&f);
}

static void groups_must_be_some(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "1");
    set(f.q, "0.01");
    assert_int_equal(noise_calibrate_smooth_groups(&f.g, 0, f.q, &f.n, &f.err),
                     E_INTERNAL);
    stop(&f);
}

/* PRIVACY: an unknown kind must not fall through to some draw. */
static void unknown_kinds_draw_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct noise_error e;
    start(&f, "1");
    mpz_set_ui(f.z, 1);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), OK);
    mpz_set_si(f.x, 12345);
    f.n.kind = (enum noise_kind)99;
    assert_int_equal(noise_draw(&f.n, NULL, f.rng, f.x, &f.err), E_INTERNAL);
    assert_int_equal(mpz_cmp_si(f.x, 12345), 0);
    assert_int_equal(noise_error(&f.n, &e, &f.err), E_INTERNAL);
    stop(&f);
}

static void scales_are_of_smooth_noise(void **state)
{
    (void)state;
    struct fixture f;
    struct secret_scale s;
    struct scale_estimate e = {-1, -1};
    start(&f, "1");
    secret_scale_init(&s);
    set(f.q, "5");
    secret_scale_set(&s, f.q);
    set(f.q, "0.1");
    set(f.r, "0.05");
    mpz_set_ui(f.z, 1);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), OK);
    assert_int_equal(
        noise_release_scale(a_hold(), &f.n, &s, f.q, f.r, f.rng, &e, &f.err),
        E_INTERNAL);
    assert_true(e.upper == -1);
    assert_int_equal(
        noise_calibrate_smooth(&f.g, NOISE_SMOOTH_LAPLACE, f.q, &f.n, &f.err),
        OK);
    /* more likely to miss than not: no margin, but no negative one */
    set(f.r, "0.9");
    assert_int_equal(
        noise_release_scale(a_hold(), &f.n, &s, f.q, f.r, f.rng, &e, &f.err),
        OK);
    assert_true(e.upper > 0);
    secret_scale_fini(&s);
    stop(&f);
}

static void zcdp_has_its_own_kind(void **state)
{
    (void)state;
    struct fixture f;
    struct noise_error e;
    start(&f, "0");
    f.g.kind = PRIVACY_ZCDP;
    set(f.g.rho, "0.000001");
    set(f.q, "0.0001");
    assert_int_equal(noise_best_smooth(&f.g, f.q), NOISE_ARSINH_NORMAL);
    mpz_set_ui(f.z, 1);
    assert_int_equal(global(&f, NOISE_DISCRETE_GAUSSIAN, f.z), OK);
    assert_int_equal(noise_error(&f.n, &e, &f.err), OK);
    /* sigma = 1 / sqrt(2 rho) */
    assert_true(e.std > 707 && e.std < 708);
    assert_true(e.p95 > 1385 && e.p95 < 1388);
    stop(&f);
}

/* No order of Renyi's divergence that is tried gives a positive rho. */
static void gaussian_needs_a_possible_pair(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, "0.000000001");
    f.g.kind = PRIVACY_APPROX;
    set(f.g.delta, "0.000000001");
    mpz_set_ui(f.z, 1);
    assert_int_equal(global(&f, NOISE_DISCRETE_GAUSSIAN, f.z), E_VALUE);
    set(f.g.epsilon, "0.001");
    assert_int_equal(global(&f, NOISE_DISCRETE_GAUSSIAN, f.z), OK);
    stop(&f);
}

/* beta / (e^beta - 1) is below 1; its enclosure is not when beta is finer
 * than the working precision. The result is a bound and never above 1. */
static void kappa_stays_below_one(void **state)
{
    (void)state;
    mpq_t beta, kappa;
    mpq_inits(beta, kappa, NULL);
    mpq_set_ui(beta, 1, 3); /* no binary fraction: rounded both ways */
    for (int bits = 0; bits < 400; bits++) {
        kappa_above(beta, kappa);
        assert_true(mpq_sgn(kappa) > 0 && mpq_cmp_ui(kappa, 1, 1) <= 0);
        mpq_div_2exp(beta, beta, 1);
    }
    assert_int_equal(mpq_cmp_ui(kappa, 1, 1), 0);
    mpq_clears(beta, kappa, NULL);
}

/* --- comparisons that the first bits leave open --------------------------- */

enum { FIRST = 64, SCRIPT = 4096 };

struct bytes {
    unsigned char p[SCRIPT];
    size_t n;
};

static void add(struct bytes *b, int value, size_t n)
{
    assert_true(b->n + n <= SCRIPT);
    memset(b->p + b->n, value, n);
    b->n += n;
}

/* x = 0.000..., w = 0.111...: the product that is compared with 1 stays on
 * both sides of it however many bits are drawn. */
static void add_open_comparison(struct bytes *b, int rounds)
{
    size_t n = FIRST / 8;
    for (int i = 0; i < rounds; i++) {
        add(b, 0, n);
        add(b, 0xff, n);
        n = i ? 2 * n : n;
    }
}

static enum status cauchy_from(const struct bytes *b, mp_bitcnt_t first,
                               mpz_t out)
{
    struct scripted s;
    struct draw d;
    struct err err;
    mpq_t scale;
    mpq_init(scale);
    mpq_set_ui(scale, 1, 1);
    draw_begin(&d, scripted_bytes(&s, b->p, b->n, false), &err);
    enum status st = sample_cauchy(&d, scale, first, out);
    if (st == OK)
        assert_int_equal(s.script_at, b->n);
    else
        assert_string_equal(err.message,
                            "could not draw: the random bytes do not vary");
    mpq_clear(scale);
    return st;
}

static void cauchy_asks_for_more_bits(void **state)
{
    (void)state;
    struct bytes b = {.n = 0}, whole = {.n = 0};
    mpz_t x, y;
    mpz_init_set_si(x, 77);
    mpz_init_set_si(y, 78);
    add(&b, 0, 1); /* the body, not the tail */
    add_open_comparison(&b, 1);
    add(&b, 0, FIRST / 8); /* x goes on with 0 ... */
    add(&b, 0, FIRST / 8); /* and w with 0: below 1 */
    add(&b, 1, 1);         /* minus */
    assert_int_equal(cauchy_from(&b, FIRST, x), OK);
    /* the same number when all bits are there from the start */
    add(&whole, 0, 1 + FIRST / 4);
    add(&whole, 0xff, FIRST / 8);
    add(&whole, 0, FIRST / 8);
    add(&whole, 1, 1);
    assert_int_equal(cauchy_from(&whole, 2 * FIRST, y), OK);
    assert_int_equal(mpz_cmp(x, y), 0);
    assert_int_equal(mpz_sgn(x), 0);
    mpz_clears(x, y, NULL);
}

static void endless_comparisons_are_given_up(void **state)
{
    (void)state;
    struct bytes b = {.n = 0};
    struct scripted s;
    struct draw d;
    struct err err;
    mpq_t one;
    mpz_t x;
    mpz_init_set_si(x, 77);
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    add(&b, 0, 1);
    add_open_comparison(&b, 7);
    assert_int_equal(cauchy_from(&b, FIRST, x), E_ENTROPY);
    /* Arsinh: exp(-1/2) fails at its second trial, so k = 0, which is kept */
    b.n = 0;
    add(&b, 0, 1);
    add(&b, 1, 1);
    add_open_comparison(&b, 7);
    draw_begin(&d, scripted_bytes(&s, b.p, b.n, false), &err);
    assert_int_equal(sample_arsinh(&d, one, one, FIRST, x), E_ENTROPY);
    assert_string_equal(err.message,
                        "could not draw: the random bytes do not vary");
    assert_int_equal(mpz_cmp_si(x, 77), 0);
    mpz_clear(x);
    mpq_clear(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_needs_a_possible_pair),
        cmocka_unit_test(kappa_stays_below_one),
        cmocka_unit_test(cauchy_asks_for_more_bits),
        cmocka_unit_test(endless_comparisons_are_given_up),
        cmocka_unit_test(sensitivity_must_be_a_size),
        cmocka_unit_test(groups_must_be_some),
        cmocka_unit_test(unknown_kinds_draw_nothing),
        cmocka_unit_test(scales_are_of_smooth_noise),
        cmocka_unit_test(zcdp_has_its_own_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
