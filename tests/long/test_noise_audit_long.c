/*
 * The exact audit on the whole grid of (epsilon, beta) that the calibration
 * offers, at many scales; see tests/prop/test_noise_audit.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/audit.h"
#include "harness/fit.h"

static const char *const epsilons[] = {"0.05", "0.1", "0.5", "1",
                                       "2",    "3",   "5",   "10"};
static const char *const ratios[] = {"1/100", "1/20", "1/10", "1/6",
                                     "1/4",   "2/7",  "5/16", "1/3"};
static const char *const scales[] = {"1", "5/2", "97", "123456789/1000"};

static bool calibrate(struct noise *n, enum noise_kind kind, const char *eps,
                      const char *ratio)
{
    struct guarantee g;
    mpq_t beta;
    mpq_init(beta);
    guarantee_init(&g);
    noise_init(n);
    assert_int_equal(rat_read(str_of(eps), "epsilon", g.epsilon, NULL), OK);
    assert_int_equal(rat_read(str_of(ratio), "ratio", beta, NULL), OK);
    mpq_mul(beta, beta, g.epsilon);
    bool ok = noise_calibrate_smooth(&g, kind, beta, n, NULL) == OK;
    guarantee_fini(&g);
    mpq_clear(beta);
    return ok;
}

static void audit_grid(enum noise_kind kind, unsigned wanted)
{
    unsigned calibrated = 0, compared = 0;
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            struct noise n;
            struct audit a = {0};
            if (calibrate(&n, kind, epsilons[e], ratios[r])) {
                mpq_t s;
                mpq_init(s);
                calibrated++;
                assert_int_equal(
                    rat_read(str_of(scales[(e + r) % 4]), "s", s, NULL), OK);
                audit_smooth(&n, s, "1", 6, &a);
                mpq_clear(s);
                compared += a.compared;
                if (a.violated || a.uncertain)
                    fail_msg("%s epsilon %s, beta/epsilon %s: %u, %u, %.9f",
                             noise_name(kind), epsilons[e], ratios[r],
                             a.violated, a.uncertain, a.worst);
            }
            noise_fini(&n);
        }
    }
    print_message("%s: %u parameters, %u comparisons\n", noise_name(kind),
                  calibrated, compared);
    assert_true(calibrated >= wanted);
}

static void smooth_laplace_grid(void **state)
{
    (void)state;
    audit_grid(NOISE_SMOOTH_LAPLACE, 64);
}

static void cauchy_grid(void **state)
{
    (void)state;
    audit_grid(NOISE_GENERALIZED_CAUCHY, 56);
}

static void staircase_grid(void **state)
{
    (void)state;
    audit_grid(NOISE_STAIRCASE, 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_laplace_grid),
        cmocka_unit_test(cauchy_grid),
        cmocka_unit_test(staircase_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
