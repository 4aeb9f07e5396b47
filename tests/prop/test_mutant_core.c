/*
 * A mutant must die: if the core may move the variables of a filter, the
 * oracle finds a database that breaks the bound. hom.c is compiled into this
 * program without its care for filter variables and takes the place of the
 * library's.
 */
#include "logic/tableau.h"

#define EL_FIXED 0
#include "logic/hom.c"
#undef EL_FIXED

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/oracle.h"

static void dies(void **state)
{
    (void)state;
    /* the smallest case, then random ones */
    struct o_random r = {7};
    struct o_query q = {.arity = {1, 1}, .n_atoms = 2, .n_free = 1};
    struct o_result res;
    q.atom[1].term[0] = 1;
    q.n_cmps = 1;
    q.cmp[0].r = 1;
    o_analyse(&q, false, &res);
    assert_true((u128)o_search(&r, &q, 50, NULL) > res.upper);
    assert_true(o_run(1, 600, 50, false) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
