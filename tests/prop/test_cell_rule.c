/*
 * The cell rule: what is not of its declared type is NULL, a row with a NULL
 * in a NOT NULL column does not exist and leaves no trace, whichever columns
 * are asked for, and neighbouring sources become neighbouring or equal tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include "harness/cell_rule.h"

static void rule(void **state)
{
    struct cell_rule_tally n;
    (void)state;
    cell_rule_run(20011, 1500, &n);
    printf("%u tables, %u rows left out, %u cells made NULL\n", n.tables,
           n.dropped, n.converted);
    assert_int_equal(n.wrong, 0);
    assert_int_equal(n.far, 0);
    assert_true(n.dropped > 2000 && n.converted > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
