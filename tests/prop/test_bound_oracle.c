/* No neighbouring pair found by brute force exceeds the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/oracle.h"
#include "harness/size.h"

static void bounds_hold(void **state)
{
    (void)state;
    assert_int_equal(o_run(1, (int)test_size(700), 50, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
