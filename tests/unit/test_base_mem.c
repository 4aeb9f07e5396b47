/* base/mem: the budget, plain blocks, arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "harness/oom.h"

static bool all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void blocks_are_counted(void **state)
{
    (void)state;
    struct mem m;
    mem_init(&m, 0);
    char *p = mem_alloc(&m, 100);
    assert_non_null(p);
    assert_true(all_zero(p, 100));
    assert_int_equal(atomic_load(&m.used), 100);
    memset(p, 7, 100);
    p = mem_resize(&m, p, 100, 300);
    assert_non_null(p);
    assert_int_equal(p[99], 7);
    assert_int_equal(atomic_load(&m.used), 300);
    p = mem_resize(&m, p, 300, 10);
    assert_int_equal(atomic_load(&m.used), 10);
    assert_int_equal(atomic_load(&m.peak), 300);
    mem_free(&m, p, 10);
    mem_free(&m, NULL, 10);
    assert_int_equal(atomic_load(&m.used), 0);
}

/* Blocks straight from the system, and the ways in and out of them. */
static void large_blocks(void **state)
{
    static const size_t sizes[] = {
        100,      9000000,  2093056,  2093055, 2093056, 4200001, 16777216,
        50000000, 12000000, 12000001, 5000,    0,       8388608, 10};
    struct mem m;
    size_t n = 6000000;
    (void)state;
    mem_init(&m, 0);
    unsigned char *p = mem_alloc(&m, n);
    assert_true(p && all_zero((char *)p, n));
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 7 >> 3);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t kept = n < sizes[k] ? n : sizes[k];
        p = mem_resize(&m, p, n, sizes[k]);
        n = sizes[k];
        assert_non_null(p);
        assert_int_equal(atomic_load(&m.used), n);
        for (size_t i = 0; i < kept; i += 61)
            assert_int_equal(p[i], (unsigned char)(i * 7 >> 3));
        if (kept)
            assert_int_equal(p[kept - 1], (unsigned char)((kept - 1) * 7 >> 3));
        for (size_t i = 0; i < n; i++)
            p[i] = (unsigned char)(i * 7 >> 3);
    }
    mem_free(&m, p, n);
    assert_int_equal(atomic_load(&m.used), 0);
    assert_null(mem_alloc(&m, (size_t)1 << 62)); /* the system says no */
    assert_int_equal(atomic_load(&m.used), 0);
    assert_false(atomic_load(&m.over_limit));
}

/* More than there is: the old block stays. */
static void large_block_that_cannot_grow(void **state)
{
    struct mem m;
    size_t n = 5000000;
    (void)state;
    mem_init(&m, 0);
    char *p = mem_alloc(&m, n);
    assert_non_null(p);
    p[n - 1] = 3;
    assert_null(mem_resize(&m, p, n, (size_t)1 << 62));
    assert_int_equal(p[n - 1], 3);
    assert_int_equal(atomic_load(&m.used), n);
    mem_free(&m, p, n);
}

static void empty_block_is_a_block(void **state)
{
    (void)state;
    struct mem m;
    mem_init(&m, 0);
    void *p = mem_alloc(&m, 0);
    assert_non_null(p);
    p = mem_resize(&m, p, 0, 0);
    assert_non_null(p);
    mem_free(&m, p, 0);
}

static void limit_holds(void **state)
{
    (void)state;
    struct mem m;
    mem_init(&m, 1000);
    void *p = mem_alloc(&m, 1000);
    assert_non_null(p);
    assert_false(atomic_load(&m.over_limit));
    assert_null(mem_alloc(&m, 1));
    assert_true(atomic_load(&m.over_limit));
    assert_null(mem_resize(&m, p, 1000, 1001));
    assert_int_equal(atomic_load(&m.used), 1000);
    mem_free(&m, p, 1000);
    p = mem_alloc(&m, 999);
    assert_non_null(p);
    mem_free(&m, p, 999);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    mem_init(&m, 0);
    arena_init(&a, &m);
    assert_null(mem_alloc(&m, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 20));
    assert_null(arena_alloc(&a, SIZE_MAX / 2));
    assert_null(arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(arena_array(&a, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(arena_strdup(&a, "x", SIZE_MAX));
    assert_int_equal(atomic_load(&m.used), 0);
    arena_fini(&a);
}

static void arena_gives_aligned_zeroed_disjoint_memory(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    mem_init(&m, 0);
    arena_init(&a, &m);
    char *last = NULL;
    size_t last_n = 0;
    for (size_t n = 0; n < 3000; n += 7) {
        char *p = arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_true(all_zero(p, n));
        memset(p, 0xff, n);
        if (last_n)
            assert_int_equal((unsigned char)last[last_n - 1], 0xff);
        last = p;
        last_n = n;
    }
    char *big = arena_alloc(&a, 5 << 20);
    assert_true(all_zero(big, 5 << 20));
    assert_string_equal(arena_strdup(&a, "hospital", 3), "hos");
    assert_string_equal(arena_strdup(&a, NULL, 0), "");
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
    arena_fini(&a); /* twice does no harm */
}

static void wiping_arena_frees_too(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    mem_init(&m, 0);
    arena_init(&a, &m);
    a.wipe = true;
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(&a, 1000), 1, 1000);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

/* Blocks of every size are given back to where they came from. */
static void wiping_arena_releases(void **state)
{
    struct mem m;
    struct arena a;
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    a.wipe = true;
    assert_non_null(arena_alloc(&a, 10));
    size_t before = atomic_load(&m.used);
    struct arena_mark mark = arena_mark(&a);
    assert_non_null(arena_alloc(&a, 100000));
    assert_non_null(arena_alloc(&a, 6000000));
    arena_release(&a, mark);
    assert_int_equal(atomic_load(&m.used), before);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void wipe_clears(void **state)
{
    (void)state;
    char secret[] = "12345";
    mem_wipe(secret, sizeof secret);
    assert_true(all_zero(secret, sizeof secret));
    mem_wipe(NULL, 4);
    mem_wipe(secret, 0);
}

static enum status blocks_and_arenas(struct mem *m, void *with, struct err *err)
{
    (void)with;
    struct arena a;
    arena_init(&a, m);
    enum status s = OK;
    char *p = mem_alloc(m, 10);
    size_t n = 10;
    for (size_t i = 0; p && i < 5; i++) {
        char *q = mem_resize(m, p, n, n * 2);
        if (!q || !arena_alloc(&a, 3000))
            s = err_nomem(err);
        if (q) {
            p = q;
            n *= 2;
        }
    }
    if (!p)
        s = err_nomem(err);
    mem_free(m, p, n);
    arena_fini(&a);
    return s;
}

static void failure_leaks_nothing(void **state)
{
    (void)state;
    assert_true(oom_sweep(blocks_and_arenas, NULL) > 6);
}

/* The sweep itself must notice work that leaks or swallows. */
static enum status leaks(struct mem *m, void *with, struct err *err)
{
    void **kept = with;
    *kept = mem_alloc(m, 8);
    if (!*kept)
        return err_nomem(err);
    void *p = mem_alloc(m, 8);
    if (!p)
        return err_nomem(err);
    mem_free(m, p, 8);
    mem_free(m, *kept, 8);
    *kept = NULL;
    return OK;
}

static enum status swallows(struct mem *m, void *with, struct err *err)
{
    (void)with;
    (void)err;
    void *p = mem_alloc(m, 8);
    mem_free(m, p, 8);
    return OK;
}

static void sweep_bites(void **state)
{
    (void)state;
    void *kept = NULL;
    struct mem m;
    mem_init(&m, 0);
    assert_int_equal(oom_sweep(leaks, &kept), -1);
    mem_free(&m, kept, 8);
    assert_int_equal(oom_sweep(swallows, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(large_block_that_cannot_grow),
        cmocka_unit_test(empty_block_is_a_block),
        cmocka_unit_test(limit_holds),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(arena_gives_aligned_zeroed_disjoint_memory),
        cmocka_unit_test(wiping_arena_frees_too),
        cmocka_unit_test(wiping_arena_releases),
        cmocka_unit_test(wipe_clears),
        cmocka_unit_test(failure_leaks_nothing),
        cmocka_unit_test(sweep_bites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
