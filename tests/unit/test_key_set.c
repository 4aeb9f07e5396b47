/* Keys of the evaluation of trees: whole numbers against a plain list, and
 * memory running out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/oom.h"
#include "release/key_set.h"

enum { KEYS = 500, ROUNDS = 4000 };

/* Few keys far apart and near each other, met often. */
static int64_t some_key(uint64_t i)
{
    static const int64_t far[] = {0, -1, INT64_MAX, INT64_MIN, 1 << 20};
    return i % 7 == 0 ? far[i / 7 % 5]
                      : (int64_t)(i * i % KEYS) << (i % 3 * 20);
}

static enum status fill(struct mem *m, void *with, struct err *err)
{
    struct arena a;
    struct key_set s;
    bool *wrong = with;
    enum status st = OK;
    arena_init(&a, m);
    key_set_init(&s, &a);
    for (uint64_t i = 0; i < ROUNDS && st == OK; i++) {
        bool first, seen = key_set_find(&s, some_key(i)) > 0;
        uint64_t before = key_set_find(&s, some_key(i));
        if (!key_set_add(&s, some_key(i), i % 3 + 1, &first)) {
            st = err_nomem(err);
            break;
        }
        *wrong |= first == seen;
        *wrong |= key_set_find(&s, some_key(i)) != before + i % 3 + 1;
    }
    arena_fini(&a);
    return st;
}

static void test_numbers(void **state)
{
    struct mem m;
    struct arena a;
    struct key_set s;
    bool first;
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    key_set_init(&s, &a);
    assert_int_equal(key_set_find(&s, 3), 0);
    for (uint64_t i = 0; i < ROUNDS; i++)
        assert_true(key_set_add(&s, some_key(i), 1, &first));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t n = 0;
        for (uint64_t j = 0; i % 97 == 0 && j < ROUNDS; j++)
            n += some_key(j) == some_key(i);
        if (n)
            assert_int_equal(key_set_find(&s, some_key(i)), n);
    }
    assert_int_equal(key_set_find(&s, 12345678901), 0);
    arena_fini(&a);
}

static void test_memory(void **state)
{
    bool wrong = false;
    (void)state;
    assert_true(oom_sweep(fill, &wrong) > 1);
    assert_false(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
