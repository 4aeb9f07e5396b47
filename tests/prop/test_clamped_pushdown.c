/*
 * Clamping where the database counts (sens/PROOF.md, 2a), in a build where
 * counts end at COUNT_MOST = 3: T of random queries on random small tables is
 * that of nested loops, clamped, also where the statement subtracts; so are the
 * counts of groups. prop/test_clamped_universe.c shows that S made of such T is
 * sound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/open_count.h"
#include "harness/pg_server.h"
#include "harness/pushdown_check.h"
#include "harness/rules.h"
#include "pushdown/pushdown.h"

#ifndef DPC_TINY
#error "this test needs the tiny constants"
#endif

static void residuals(void **state)
{
    (void)state;
    pushdown_check_most = (uint64_t)COUNT_MOST;
    pushdown_check_clamped = 0;
    pushdown_check(false, 5, 1);
    pushdown_check(true, 6, 1);
    pushdown_check_differences(7, 4);
    print_message("%u clamped\n", pushdown_check_clamped);
    assert_true(pushdown_check_clamped > 50);
}

/* Key i has i * i pairs of rows. */
static void groups(void **state)
{
    enum { KEYS = 4 };
    (void)state;
    struct rules r;
    struct source *src;
    struct pushdown *c;
    struct value keys[KEYS];
    struct secret_count got[KEYS];
    if (!pg_server())
        skip();
    assert_true(pg_server_run(
        "DROP TABLE IF EXISTS p, r, s; CREATE TABLE r(a int, b int);"
        "CREATE TABLE s(a int, b int);"
        "INSERT INTO r SELECT i, k FROM generate_series(0, 3) i,"
        " generate_series(1, 3) k WHERE k <= i;"
        "INSERT INTO s SELECT * FROM r"));
    rules_init(&r);
    struct source_spec spec = {.db = str_of(pg_server())};
    assert_int_equal(source_open(&r.mem, &spec, &r.schema, &src, &r.err), OK);
    struct cq *q = rules_read(&r, "Q(x,y,z) :- r(x,y), s(x,z).");
    q->n_group = 1;
    for (int i = 0; i < KEYS; i++)
        keys[i] = value_int(i);
    assert_int_equal(pushdown_open(src, q, false, NULL, &c, &r.err), OK);
    assert_int_equal(pushdown_groups(c, keys, KEYS, got, &r.err), OK);
    for (u128 i = 0; i < KEYS; i++)
        assert_true(secret_count_open(&got[i]) == count_clamp(i * i));
    pushdown_close(c);
    source_close(src);
    assert_true(rules_fini(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
