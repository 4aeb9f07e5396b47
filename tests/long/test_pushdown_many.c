/* Many random queries pushed down, against nested loops. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "harness/pushdown_check.h"

static void random_queries(void **state)
{
    (void)state;
    pushdown_check(false, 1007, 25);
}

static void random_queries_with_key(void **state)
{
    (void)state;
    pushdown_check(true, 1008, 25);
}

static void patterns(void **state)
{
    (void)state;
    pushdown_check_patterns(1009, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_queries),
        cmocka_unit_test(random_queries_with_key),
        cmocka_unit_test(patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
