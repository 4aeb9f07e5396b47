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
#include "noise/noise.h"

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
    struct secret_rat s;
    double upper = -1;
    start(&f, "1");
    secret_rat_init(&s);
    set(f.q, "5");
    secret_rat_set(&s, f.q);
    set(f.q, "0.1");
    set(f.r, "0.05");
    mpz_set_ui(f.z, 1);
    assert_int_equal(global(&f, NOISE_DISCRETE_LAPLACE, f.z), OK);
    assert_int_equal(
        noise_release_scale(&f.n, &s, f.q, f.r, f.rng, &upper, &f.err),
        E_INTERNAL);
    assert_true(upper == -1);
    assert_int_equal(
        noise_calibrate_smooth(&f.g, NOISE_SMOOTH_LAPLACE, f.q, &f.n, &f.err),
        OK);
    /* more likely to miss than not: no margin, but no negative one */
    set(f.r, "0.9");
    assert_int_equal(
        noise_release_scale(&f.n, &s, f.q, f.r, f.rng, &upper, &f.err), OK);
    assert_true(upper > 0);
    secret_rat_fini(&s);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensitivity_must_be_a_size),
        cmocka_unit_test(groups_must_be_some),
        cmocka_unit_test(unknown_kinds_draw_nothing),
        cmocka_unit_test(scales_are_of_smooth_noise),
        cmocka_unit_test(zcdp_has_its_own_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
