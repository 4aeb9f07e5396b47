/*
 * A mutant must die: if the database clamps numbers before it subtracts them,
 * and not what is left in the end, the comparison with nested loops finds it
 * (of 5 pairs less 4 equal ones 1 is left; 3 less 3 is 0). The mutated steps
 * are compiled into this program and take the place of the library's.
 */
#include <string.h>

#include "base/str.h"

static struct str mutated(const char *text)
{
    return str_of(strcmp(text, "(a1.w - COALESCE(m.w, 0))")
                      ? text
                      : "(LEAST(a1.w, 3) - COALESCE(LEAST(m.w, 3), 0))");
}
#undef STR
#define STR(text) mutated(text)
#include "pushdown/pushdown_step.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/pushdown_check.h"

static void least_inside_subtract(void **state)
{
    (void)state;
    pushdown_check_most = (uint64_t)COUNT_MOST;
    pushdown_check_mutant = true;
    pushdown_check_differences(7, 4);
    print_message("%u wrong\n", pushdown_check_wrong);
    assert_true(pushdown_check_wrong > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_inside_subtract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
