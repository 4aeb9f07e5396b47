/*
 * The rounded mechanisms for smooth sensitivities keep epsilon between
 * extremal neighbours, by exact probabilities; and the audit sees mechanisms
 * whose noise is a little too small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/audit.h"
#include "harness/fit.h"
#include "harness/size.h"

struct audit_case {
    enum noise_kind kind;
    const char *epsilon, *beta;
    double sharp; /* the loss that the worst neighbours reach, of epsilon */
};
static const struct audit_case cases[] = {
    {NOISE_SMOOTH_LAPLACE, "0.1", "0.01", .999},
    {NOISE_SMOOTH_LAPLACE, "1", "1/6", .999},
    {NOISE_SMOOTH_LAPLACE, "1", "0.45", .999},
    {NOISE_SMOOTH_LAPLACE, "8", "2", .999},
    {NOISE_GENERALIZED_CAUCHY, "0.1", "0.01", .999},
    {NOISE_GENERALIZED_CAUCHY, "1", "0.2", .99},
    {NOISE_GENERALIZED_CAUCHY, "5", "0.5", .99},
    {NOISE_STAIRCASE, "4", "0.4", .99},
    {NOISE_STAIRCASE, "10", "2.5", .99},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Under valgrind (DPC_SLOW) one case of each kind, else all. */
static int stride(void)
{
    return test_size(4) == 4 ? 1 : 4;
}

static void run(const struct noise *n, const char *scale, const char *shrink,
                unsigned dense, struct audit *out)
{
    mpq_t s;
    mpq_init(s);
    assert_int_equal(rat_read(str_of(scale), "scale", s, NULL), OK);
    *out = (struct audit){0};
    audit_smooth(n, s, shrink, dense, out);
    mpq_clear(s);
}

static void honest_noise_keeps_epsilon(void **state)
{
    (void)state;
    static const char *const scales[] = {"7/2", "1000003/3"};
    for (int c = 0; c < CASES; c += stride()) {
        struct noise n;
        double worst = 0;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        for (int i = 0; i < 2; i++) {
            struct audit a;
            run(&n, scales[i], "1", i == 1 ? 8 : 1, &a);
            if (a.violated || a.uncertain)
                fail_msg("%s %s %s at %s: %u violations, %u uncertain, %.9f",
                         noise_name(n.kind), cases[c].epsilon, cases[c].beta,
                         scales[i], a.violated, a.uncertain, a.worst);
            worst = a.worst > worst ? a.worst : worst;
        }
        if (worst < cases[c].sharp)
            fail_msg("%s %s %s: the audit only reaches %.6f of epsilon",
                     noise_name(n.kind), cases[c].epsilon, cases[c].beta,
                     worst);
        noise_fini(&n);
    }
}

static void small_noise_is_caught(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c += stride()) {
        struct noise n;
        struct audit a;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        run(&n, "10000", "0.97", 4, &a);
        if (a.violated == 0)
            fail_msg("%s %s %s: noise 3 %% too small went unseen (%.6f)",
                     noise_name(n.kind), cases[c].epsilon, cases[c].beta,
                     a.worst);
        noise_fini(&n);
    }
}

/* A sensitivity less smooth than the noise was told: caught in the tails. */
static void rough_sensitivity_is_caught(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c += 4) { /* one of each kind */
        struct noise n;
        struct audit a;
        mpq_t more;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        mpq_init(more);
        mpq_set_ui(more, 3, 2);
        mpq_mul(n.scale_beta, n.scale_beta, more);
        run(&n, "1000003/3", "1", 1, &a);
        assert_true(a.violated > 0);
        mpq_clear(more);
        noise_fini(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_noise_keeps_epsilon),
        cmocka_unit_test(small_noise_is_caught),
        cmocka_unit_test(rough_sensitivity_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
