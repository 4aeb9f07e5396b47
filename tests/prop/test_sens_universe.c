/*
 * The claims of PROOF.md by brute force: on every instance of small universes
 * the capped sequence, the paper's and the elastic one are at least the local
 * sensitivity at distance 0, 1, 2 (by definition) and never above the next
 * value of a neighbour. Random queries of every class; the long suite runs
 * many more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/universe_check.h"

static void run_class(enum gen_class c, unsigned rounds)
{
    uint64_t seed = 77 + (uint64_t)c, pairs = 0;
    for (unsigned i = 0; i < rounds; i++)
        pairs += check_random_query(c, &seed);
    print_message("class %d: %llu (query, instance) pairs\n", (int)c,
                  (unsigned long long)pairs);
    assert_true(pairs > 200);
}

static void full_queries(void **state)
{
    (void)state;
    run_class(GEN_FULL, 12);
}

static void projections(void **state)
{
    (void)state;
    run_class(GEN_PROJECTION, 12);
}

static void filters(void **state)
{
    (void)state;
    run_class(GEN_FILTERS, 12);
}

static void several_relations(void **state)
{
    (void)state;
    run_class(GEN_SEVERAL, 12);
}

static void constraints(void **state)
{
    (void)state;
    run_class(GEN_CONSTRAINTS, 20);
}

static void bags(void **state)
{
    (void)state;
    run_class(GEN_BAGS, 10);
}

static void exact_filters(void **state)
{
    (void)state;
    run_class(GEN_EXACT, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_queries),  cmocka_unit_test(projections),
        cmocka_unit_test(filters),       cmocka_unit_test(several_relations),
        cmocka_unit_test(constraints),   cmocka_unit_test(bags),
        cmocka_unit_test(exact_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
