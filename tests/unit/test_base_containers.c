/* base/vec, base/map, base/bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/bits.h"
#include "base/map.h"
#include "base/vec.h"
#include "harness/oom.h"

static void vector_keeps_what_was_pushed(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    VEC(uint64_t) v = {0};
    mem_init(&m, 0);
    arena_init(&a, &m);
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(VEC_PUSH(&a, &v, i * i));
    assert_int_equal(v.n, 10000);
    assert_true(v.cap >= v.n);
    for (uint64_t i = 0; i < v.n; i++)
        assert_int_equal(v.p[i], i * i);
    arena_fini(&a);
}

static void vector_refuses_absurd_sizes(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    mem_init(&m, 0);
    arena_init(&a, &m);
    void *p = NULL;
    size_t cap = SIZE_MAX / 2 + 1;
    assert_false(vec_grow(&a, &p, cap, &cap, 1));
    assert_int_equal(cap, SIZE_MAX / 2 + 1);
    cap = 0;
    assert_false(vec_grow(&a, &p, 0, &cap, SIZE_MAX / 2));
    assert_int_equal(cap, 0);
    arena_fini(&a);
}

static enum status push_many(struct mem *m, void *with, struct err *err)
{
    (void)with;
    struct arena a;
    typedef char block[100];
    VEC(block) v = {0};
    arena_init(&a, m);
    enum status s = OK;
    for (size_t i = 0; i < 300 && s == OK; i++) {
        if (vec_grow(&a, (void **)&v.p, v.n, &v.cap, sizeof *v.p))
            memset(v.p[v.n++], (int)i, 100);
        else
            s = err_nomem(err);
    }
    /* A failed push leaves the vector as it was. */
    for (size_t i = 0; i < v.n; i++)
        assert_int_equal((unsigned char)v.p[i][99], i % 256);
    arena_fini(&a);
    return s;
}

static void vector_survives_failure(void **state)
{
    (void)state;
    assert_true(oom_sweep(push_many, NULL) > 2);
}

enum { N_KEYS = 3000 };
static char texts[N_KEYS][8];

static struct str key(size_t i)
{
    return str_of(texts[i]);
}

static void map_finds_what_was_put(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    struct map map;
    bool is_new;
    mem_init(&m, 0);
    arena_init(&a, &m);
    map_init(&map, &a);
    assert_null(map_find(&map, STR("k")));
    for (size_t i = 0; i < N_KEYS; i++) {
        assert_null(map_find(&map, key(i)));
        assert_int_equal(*map_put(&map, key(i), i, &is_new), i);
        assert_true(is_new);
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        uint64_t *v = map_put(&map, key(i), 5, &is_new);
        assert_false(is_new);
        assert_int_equal(*v, i);
        *v += 1;
        assert_int_equal(*map_find(&map, key(i)), i + 1);
    }
    assert_int_equal(map.n, N_KEYS);
    arena_fini(&a);
}

static void map_takes_any_bytes(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    struct map map;
    mem_init(&m, 0);
    arena_init(&a, &m);
    map_init(&map, &a);
    struct str none = {NULL, 0}, with_nul = {"a\0b", 3}, other = {"a\0c", 3};
    assert_non_null(map_put(&map, none, 1, NULL));
    assert_int_equal(*map_find(&map, STR("")), 1);
    assert_non_null(map_put(&map, with_nul, 2, NULL));
    assert_null(map_find(&map, other));
    assert_null(map_find(&map, STR("a")));
    assert_int_equal(*map_find(&map, with_nul), 2);
    arena_fini(&a);
}

static enum status put_many(struct mem *m, void *with, struct err *err)
{
    (void)with;
    struct arena a;
    struct map map;
    arena_init(&a, m);
    map_init(&map, &a);
    enum status s = OK;
    for (size_t i = 0; i < N_KEYS; i++)
        if (!map_put(&map, key(i), i, NULL)) {
            s = err_nomem(err);
            break;
        }
    for (size_t i = 0; i < map.n; i++)
        assert_int_equal(*map_find(&map, key(i)), i);
    arena_fini(&a);
    return s;
}

static void map_survives_failure(void **state)
{
    (void)state;
    assert_true(oom_sweep(put_many, NULL) > 2);
}

static void variable_sets(void **state)
{
    (void)state;
    vset s = 0;
    for (unsigned v = 0; v < MAX_VARS; v += 3)
        s |= vset_one(v);
    unsigned n = 0;
    VSET_EACH (v, s) {
        assert_int_equal(v, 3 * n);
        n++;
    }
    assert_int_equal(n, vset_count(s));
    assert_int_equal(n, 43);
    assert_int_equal(vset_min(s & ~vset_first_n(100)), 102);
    assert_true(vset_has(s, 126));
    assert_false(vset_has(s, 127));
    assert_true(vset_sub(vset_one(66), s));
    assert_false(vset_sub(s, vset_one(66)));
    assert_true(vset_sub(0, 0));
    assert_int_equal(vset_count(vset_first_n(0)), 0);
    assert_int_equal(vset_count(vset_first_n(64)), 64);
    assert_int_equal(vset_count(vset_first_n(127)), 127);
    assert_int_equal(vset_count(vset_first_n(128)), 128);
    VSET_EACH (v, (vset)0) {
        fail_msg("%u is no member of the empty set", v);
    }
}

static void atom_sets(void **state)
{
    (void)state;
    unsigned n = 0;
    ASET_EACH (a, aset_one(0) | aset_one(63) | aset_one(31)) {
        assert_int_equal(a, ((unsigned[]){0, 31, 63})[n]);
        n++;
    }
    assert_int_equal(n, 3);
    assert_int_equal(aset_count(aset_first_n(64)), 64);
    assert_int_equal(aset_count(aset_first_n(0)), 0);
    assert_true(aset_has(aset_one(63), 63));
    assert_false(aset_has(aset_one(63), 62));
    /* break leaves both loops of the macro */
    n = 0;
    ASET_EACH (a, aset_first_n(10)) {
        if (a == 4)
            break;
        n++;
    }
    assert_int_equal(n, 4);
}

int main(void)
{
    for (size_t i = 0; i < N_KEYS; i++)
        snprintf(texts[i], sizeof texts[i], "k%zu", i);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_keeps_what_was_pushed),
        cmocka_unit_test(vector_refuses_absurd_sizes),
        cmocka_unit_test(vector_survives_failure),
        cmocka_unit_test(map_finds_what_was_put),
        cmocka_unit_test(map_takes_any_bytes),
        cmocka_unit_test(map_survives_failure),
        cmocka_unit_test(variable_sets),
        cmocka_unit_test(atom_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
