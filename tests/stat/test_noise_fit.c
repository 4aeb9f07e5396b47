/*
 * Goodness of fit of the samplers for smooth sensitivities on fixed seeds,
 * short (tests/long has many draws); broken variants must be rejected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/fit_suite.h"

static const struct suite cfg = {.draws = 600, .alpha = 1e-6};
/* defects need more draws to be seen */
static const struct suite defects = {.draws = 900, .alpha = 1e-6};

static void draws_have_the_law(void **state)
{
    (void)state;
    suite_law(&cfg);
}

static void distances_are_small(void **state)
{
    (void)state;
    suite_ks(&cfg, "1", false);
    suite_ks(&cfg, "1.5", true);
}

static void groups_have_the_law(void **state)
{
    (void)state;
    suite_groups(&cfg);
}

static void refined_draws_have_the_law(void **state)
{
    (void)state;
    suite_refined(&cfg);
}

static void scale_defect_is_noticed(void **state)
{
    (void)state;
    suite_scale_defect(&defects, 0, 1);
}

static void staircase_defect_is_noticed(void **state)
{
    (void)state;
    suite_scale_defect(&defects, 5, 6);
}

static void shape_defects_are_noticed(void **state)
{
    (void)state;
    suite_shape_defects(&defects);
}

static void alpha_defect_is_noticed(void **state)
{
    (void)state;
    suite_alpha_defect(&defects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_law),
        cmocka_unit_test(distances_are_small),
        cmocka_unit_test(groups_have_the_law),
        cmocka_unit_test(refined_draws_have_the_law),
        cmocka_unit_test(scale_defect_is_noticed),
        cmocka_unit_test(staircase_defect_is_noticed),
        cmocka_unit_test(shape_defects_are_noticed),
        cmocka_unit_test(alpha_defect_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
