/*
 * The brute-force checks of test_sens_universe on many more random queries:
 * far beyond 2,000 (query, instance) pairs of every class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/universe_check.h"

enum { ROUNDS = 200 };

static void all_classes(void **state)
{
    (void)state;
    uint64_t seed = 20240601, total = 0;
    for (int c = 0; c < GEN_CLASSES; c++) {
        uint64_t pairs = 0;
        for (int i = 0; i < ROUNDS; i++)
            pairs += check_random_query((enum gen_class)c, &seed);
        print_message("class %d: %llu (query, instance) pairs\n", c,
                      (unsigned long long)pairs);
        assert_true(pairs > 2000);
        total += pairs;
    }
    print_message("%llu pairs\n", (unsigned long long)total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
