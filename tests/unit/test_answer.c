/*
 * Stored answers: what is written is what is read, and nothing else is read
 * (fuzz/fuzz_answer.c has the many inputs); memory may run out anywhere.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness/oom.h"
#include "release/answer.h"

static enum status read_text(struct mem *m, const char *text,
                             struct answer *out, struct err *err)
{
    struct arena a;
    *out = (struct answer){0};
    arena_init(&a, m);
    enum status s = answer_read(&a, str_of(text), out, err);
    arena_fini(&a); /* the numbers are gone, their number stays */
    return s;
}

static void reads_its_own_form(void **state)
{
    (void)state;
    struct mem m;
    struct answer x;
    struct err err;
    mem_init(&m, 0);
    const char *sure = "{\"answers\": [-3, 0, 41], \"error\": [2, 7, false]}";
    assert_int_equal(read_text(&m, sure, &x, &err), OK);
    assert_int_equal(x.numbers.n, 3);
    assert_true(x.has_error && x.p50 == 2 && x.p95 == 7 && !x.released);
    const char *wide = "{\"answers\": [1], \"error\": [1.5, \"inf\", true]}";
    assert_int_equal(read_text(&m, wide, &x, &err), OK);
    assert_true(x.p50 == 1.5 && isinf(x.p95) && x.released);
    assert_int_equal(
        read_text(&m, "{\"answers\": [], \"error\": []}", &x, &err), OK);
    assert_true(!x.numbers.n && !x.has_error);
    const char *keys = "{\"answers\": [1, 2], \"error\": [], \"keys\": "
                       "[[\"a \\\"], [\", null, -7], [\"\\u0007\", 1, 2]]}";
    assert_int_equal(read_text(&m, keys, &x, &err), OK);
    assert_int_equal(x.keys.n, 2);
    const char *elected = "{\"answers\": [5], \"error\": [1, 2, false], "
                          "\"thresholds\": [8], \"lost\": [-3]}";
    assert_int_equal(read_text(&m, elected, &x, &err), OK);
    assert_true(x.thresholds.n == 1 && x.lost.n == 1);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void keys_as_values(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    struct err err;
    const enum type type = T_TEXT;
    const struct {
        const char *key, *text;
    } all[] = {
        {"[\"plain\"]", "plain"},
        {"[\"a\\u0007\\n\\\"b\"]", "a\a\n\"b"},
        {"[\"\\u007f\\u00e4\"]", "\x7f\xc3\xa4"},
        {"[\"a\\ufffdb\"]", "a\xef\xbf\xbd"
                            "b"}, /* a byte that is none */
    };
    mem_init(&m, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct value v;
        arena_init(&a, &m);
        assert_int_equal(
            answer_key_values(&a, str_of(all[i].key), &type, 1, &v, &err), OK);
        assert_true(str_eq(v.s, str_of(all[i].text)));
        arena_fini(&a);
    }
}

static void refuses_other_forms(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"answers\": [1, \"error\": []}",
        "{\"answers\": [1,2], \"error\": []}",
        "{\"answers\": [1.0], \"error\": []}",
        "{\"answers\": [-0], \"error\": []}",
        "{\"answers\": [01], \"error\": []}",
        "{\"answers\": [-], \"error\": []}",
        "{\"answers\": [1]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[1], [2]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": []}",
        "{\"answers\": [1], \"error\": [], \"keys_cut\": true}",
        "{\"answers\": [1], \"error\": [], \"keys_cut\": false, \"keys\": "
        "[[1]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[x]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[\"a]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[\"a\\\"]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[\"\\u00g0\"]]}",
        "{\"answers\": [1], \"error\": [], \"keys\": [[\"\n\"]]}",
        "{\"answers\": [1], \"error\": [1, 2]}",
        "{\"answers\": [1], \"error\": [1, 2, maybe]}",
        "{\"answers\": [1], \"error\": [-1, 2, true]}",
        "{\"answers\": [1], \"error\": [1e999, 2, true]}",
        "{\"answers\": [1], \"error\": [1e, 2, true]}",
        "{\"answers\": [1], \"error\": [\"inf, 2, true]}",
        "{\"answers\": [1], \"error\": [1, 2, true}",
        "{\"answers\": [1], \"error\": []} ",
        "{\"answers\": [1], \"error\": [], \"thresholds\": []}",
        "{\"answers\": [1], \"error\": [], \"thresholds\": [-8]}",
        "{\"answers\": [1], \"error\": [], \"thresholds\": [8, 9]}",
        "{\"answers\": [1], \"error\": [], \"lost\": [3]}",
        "{\"answers\": [1], \"error\": [1.00000000000000000000000000000000"
        "00000000000000000000000000000000000000000000000, 2, true]}",
    };
    struct mem m;
    struct answer x;
    struct err err;
    mem_init(&m, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_text(&m, bad[i], &x, &err) != E_LEDGER)
            fail_msg("taken: %s", bad[i]);
}

static enum status read_many(struct mem *m, void *with, struct err *err)
{
    struct answer x;
    return read_text(m, with, &x, err);
}

/* Hundreds of long numbers: blocks for the copies and for the list. */
static void memory_runs_out(void **state)
{
    (void)state;
    static char text[1 << 17];
    size_t n = (size_t)sprintf(text, "{\"answers\": [");
    for (int i = 0; i < 2000; i++)
        n += (size_t)sprintf(text + n, "%s%040d", i ? ", 7" : "7", i);
    n += (size_t)sprintf(text + n, "], \"error\": []");
    sprintf(text + n, "}");
    assert_true(oom_sweep(read_many, text) > 3);
    n += (size_t)sprintf(text + n, ", \"keys\": [");
    for (int i = 0; i < 2000; i++)
        n += (size_t)sprintf(text + n, "%s[%d]", i ? ", " : "", i);
    sprintf(text + n, "]}");
    assert_true(oom_sweep(read_many, text) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_its_own_form),
        cmocka_unit_test(keys_as_values),
        cmocka_unit_test(refuses_other_forms),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
