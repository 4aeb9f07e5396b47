/* As test_bound_oracle, with many more queries and databases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/oracle.h"

static void bounds_hold(void **state)
{
    (void)state;
    assert_int_equal(o_run(2, 25000, 80, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
