/* base: checked arithmetic, arenas, maps, vectors, strings, JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bits.h"
#include "base/checked.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"

static void checked_128(void **state)
{
    (void)state;
    u128 r = 7;
    assert_false(u128_add(U128_MAX, 1, &r));
    assert_int_equal((int)r, 7);
    assert_true(u128_add(U128_MAX - 1, 1, &r));
    assert_true(r == U128_MAX);
    assert_false(u128_mul((u128)1 << 64, (u128)1 << 64, &r));
    assert_true(u128_mul((u128)1 << 64, ((u128)1 << 63), &r));
    assert_true(r == (u128)1 << 127);
    assert_true(u128_mul_inf(0, U128_INF) == 0);
    assert_true(u128_mul_inf(2, U128_INF) == U128_INF);
    char buf[U128_DIGITS];
    assert_string_equal(u128_text(U128_MAX, buf),
                        "340282366920938463463374607431768211455");
    assert_true(u128_read("340282366920938463463374607431768211455", 39, &r));
    assert_false(u128_read("340282366920938463463374607431768211456", 39, &r));
}

static void arena_fails_cleanly(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    mem_init(&m, 0);
    for (long n = 0; n < 4; n++) {
        arena_init(&a, &m);
        atomic_store(&m.fail_after, n);
        struct map map;
        map_init(&map, &a);
        struct str keys[200];
        char text[200][8];
        size_t stored = 0;
        for (int i = 0; i < 200; i++) {
            snprintf(text[i], sizeof text[i], "k%d", i);
            keys[i] = str_of(text[i]);
            if (map_put(&map, keys[i], (uint64_t)i, NULL))
                stored++;
        }
        assert_int_equal(stored, map.n);
        for (size_t i = 0; i < stored; i++)
            assert_int_equal(*map_find(&map, keys[i]), i);
        arena_fini(&a);
        assert_int_equal(atomic_load(&m.used), 0);
    }
}

static void sets(void **state)
{
    (void)state;
    unsigned seen[3], n = 0;
    VSET_EACH (v, vset_one(3) | vset_one(64) | vset_one(127)) {
        seen[n++] = v;
    }
    assert_int_equal(n, 3);
    assert_int_equal(seen[0], 3);
    assert_int_equal(seen[1], 64);
    assert_int_equal(seen[2], 127);
    assert_true(vset_first_n(128) == ~(vset)0);
}

static void json_escapes(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    struct sb b;
    struct json j;
    mem_init(&m, 0);
    arena_init(&a, &m);
    sb_init(&b, &a);
    json_init(&j, &b);
    json_begin(&j, '{');
    json_key(&j, "a\"b");
    json_cstr(&j, "x\n\x01");
    json_key(&j, "n");
    json_begin(&j, '[');
    json_bound(&j, U128_INF);
    json_double(&j, 0.1);
    json_end(&j, ']');
    json_end(&j, '}');
    assert_string_equal(b.p, "{\"a\\\"b\": \"x\\n\\u0001\", "
                             "\"n\": [\"inf\", 0.1]}");
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_128),
        cmocka_unit_test(arena_fails_cleanly),
        cmocka_unit_test(sets),
        cmocka_unit_test(json_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
