/*
 * Counts of one table by a scan (join/encode/rel_scan.c) against a plain loop:
 * tables of several blocks, NULLs, columns of 32 and 64 bits, predicates over
 * few and over many numbers, and a value that comes twice wherever a block or
 * a run ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join_int.h"
#include "harness/join_world.h"
#include "harness/plain.h"

enum { ROWS = 40000 };

/* id, a (small numbers), b (wide apart); a is NULL where the bit is set. */
struct cells {
    int32_t id[ROWS], a[ROWS], b[ROWS];
    int64_t id64[ROWS], a64[ROWS], b64[ROWS];
    uint64_t nulls[ROWS / 64 + 1];
};

static struct cells *make(unsigned seed, int numbers)
{
    struct cells *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int i = 0; i < ROWS; i++) {
        seed = seed * 1664525 + 1013904223;
        t->id64[i] = t->id[i] = 2 * i - ROWS;
        t->a64[i] = t->a[i] = (int32_t)(seed >> 8) % numbers;
        t->b64[i] = t->b[i] = (int32_t)(seed >> 9) % 1000000;
        if (seed >> 27 == 5) {
            t->nulls[i / 64] |= (uint64_t)1 << (i % 64);
            t->a64[i] = t->a[i] = 0;
        }
    }
    return t;
}

static bool is_null(const struct cells *t, int i)
{
    return t->nulls[i / 64] >> (i % 64) & 1;
}

static void twice(struct cells *t, int i)
{
    t->id64[i] = t->id[i] = t->id[i - 1];
}

/* The count of a rule; *scans: whether no row was encoded for it. */
static u128 counted(const struct cells *t, const char *rule, bool wide,
                    uint64_t *scans)
{
    struct world w;
    u128 n = 0;
    const char *name;
    const int64_t *const w64[] = {t->id64, t->a64, t->b64};
    const int32_t *const w32[] = {t->id, t->a, t->b};
    world_read(&w, rule);
    world_lend(&w, 0, ROWS, w64, wide ? NULL : w32);
    ((struct store_column *)w.st->tables[0].cols)[1].nulls = t->nulls;
    world_join(&w, 1, false);
    assert_int_equal(plain_count(w.j, &n, &w.err), OK);
    assert_true(join_engine_parts(w.j, 0, &name, scans));
    world_close(&w);
    return n;
}

typedef bool (*test_fn)(const struct cells *t, int i);

static bool both(const struct cells *t, int i)
{
    return !is_null(t, i) && t->a[i] < 500 && t->b[i] != 17;
}

static bool listed(const struct cells *t, int i)
{
    return !is_null(t, i) && (t->a[i] == 3 || t->a[i] == 8 || t->a[i] == 499);
}

static bool or_missing(const struct cells *t, int i)
{
    return is_null(t, i) || t->a[i] == 3;
}

static const struct {
    const char *rule;
    test_fn keeps;
} cases[] = {
    {"Q(i,a,b) :- T(i,a,b), a < 500, b != 17.", both},
    {"Q(i,a,b) :- T(i,a,b), {in(a, 3, 8, 499)}.", listed},
    {"Q(i,b) :- T(i,a,b), {istrue(or(isnull(a), eq(a, 3)))}.", or_missing},
};

static void check(const struct cells *t, size_t k, bool wide)
{
    uint64_t scans = 0, want = 0;
    for (int i = 0; i < ROWS; i++)
        want += cases[k].keeps(t, i);
    assert_true(counted(t, cases[k].rule, wide, &scans) == want);
    assert_int_equal(scans, 1);
}

/* 1000 numbers are asked each, 30,000 where they occur. */
static void test_blocks(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct cells *t = make(seed, seed % 2 ? 1000 : 30000);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            check(t, k, false);
            check(t, k, true);
        }
        free(t);
    }
}

/* An id that comes twice makes two equal results one, in whichever row. */
static void test_twice(void **state)
{
    (void)state;
    static const int at[] = {1, 4095, 4096, 4097, 16384, 16385, 39999};
    for (size_t k = 0; k < 2 * (sizeof at / sizeof *at); k++) {
        struct cells *t = make(9, 1000);
        uint64_t scans = 1;
        twice(t, at[k / 2]);
        assert_true(counted(t, "Q(i) :- T(i,a,b).", k % 2, &scans) == ROWS - 1);
        assert_int_equal(scans, 0);
        free(t);
    }
}

/* One that does not pass does not count. */
static void test_twice_dropped(void **state)
{
    (void)state;
    struct cells *t = make(9, 1000);
    uint64_t scans = 0;
    twice(t, 4096);
    t->b[4096] = 17;
    for (int i = 0; i < ROWS; i++)
        t->b[i] += i != 4096 && t->b[i] == 17;
    assert_true(counted(t, "Q(i) :- T(i,a,b), b != 17.", false, &scans) ==
                ROWS - 1);
    assert_int_equal(scans, 1);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_twice_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
