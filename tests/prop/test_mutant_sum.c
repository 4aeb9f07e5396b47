/*
 * A mutant must die: if the parts that one row can play in a self-join are
 * not added up but only the largest counts, the oracle finds a database that
 * breaks the bound. The mutated functions are compiled into this program and
 * take the place of the library's.
 */
#include "base/checked.h"

static u128 larger(u128 a, u128 b)
{
    return a > b ? a : b;
}

#define u128_add_inf larger
#include "bound/selfjoin_tighten.c"
#include "bound/upper.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/oracle.h"

static void dies(void **state)
{
    (void)state;
    assert_true(o_run(1, 150, 50, false) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
