/*
 * Goodness of fit with many draws from fresh bytes of the kernel. Chance of a
 * false alarm: 1e-9 per fit, 50 fits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/fit_suite.h"

static const struct suite cfg = {.draws = 12000, .alpha = 1e-9, .fresh = true};

/* defects need fewer draws to be seen */
static const struct suite defects = {
    .draws = 4000, .alpha = 1e-9, .fresh = true};

static void draws_have_the_law(void **state)
{
    (void)state;
    suite_law(&cfg);
}

static void distances_are_small(void **state)
{
    (void)state;
    suite_ks(&cfg, "1", false);
    suite_ks(&cfg, "1.2", true);
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

static void defects_are_noticed(void **state)
{
    (void)state;
    suite_scale_defect(&defects, 0, 7);
    suite_shape_defects(&defects);
    suite_alpha_defect(&defects);
    suite_tail_defect(&defects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_law),
        cmocka_unit_test(distances_are_small),
        cmocka_unit_test(groups_have_the_law),
        cmocka_unit_test(refined_draws_have_the_law),
        cmocka_unit_test(defects_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
