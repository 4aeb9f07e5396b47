/* base/str and base/json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "harness/oom.h"

static struct mem mem;
static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    mem_init(&mem, 0);
    arena_init(&arena, &mem);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_fini(&arena);
    return atomic_load(&mem.used) != 0;
}

static void slices_compare(void **state)
{
    (void)state;
    struct str none = {NULL, 0};
    assert_true(str_eq(none, STR("")));
    assert_true(str_eq(str_of(NULL), none));
    assert_false(str_eq(STR("a"), STR("ab")));
    assert_true(str_is(STR("ab"), "ab"));
    assert_true(str_eq_nocase(STR("PatDoc"), STR("pAtdOC")));
    assert_false(str_eq_nocase(STR("a["), STR("A{"))); /* not letters */
    assert_false(str_eq_nocase(STR("ab"), STR("abc")));
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("a"), STR("")) > 0);
    assert_true(str_cmp(STR("ab"), STR("abc")) < 0);
    assert_int_equal(str_cmp(none, STR("")), 0);
    assert_true(str_cmp(STR("z"), STR("\xc3\xa4")) < 0); /* bytes, unsigned */
}

static void slices_trim_and_copy(void **state)
{
    (void)state;
    assert_true(str_is(str_trim(STR(" \t a b\r\n")), "a b"));
    assert_int_equal(str_trim(STR(" \n ")).n, 0);
    struct str s = str_copy(&arena, (struct str){"hospital", 3});
    assert_int_equal(s.p[3], 0);
    assert_true(str_is(s, "hos"));
    assert_true(str_is(str_copy(&arena, STR("")), ""));
    s = str_printf(&arena, "%d-%s", 5, "x");
    assert_true(str_is(s, "5-x"));
    assert_int_not_equal(str_hash(STR("ab")), str_hash(STR("ba")));
}

static void builder_grows(void **state)
{
    (void)state;
    struct sb b;
    sb_init(&b, &arena);
    assert_int_equal(sb_view(&b).n, 0);
    for (int i = 0; i < 1000; i++) {
        sb_printf(&b, "%04d", i);
        sb_char(&b, ',');
    }
    assert_int_equal(b.n, 5000);
    assert_int_equal(strlen(b.p), 5000);
    assert_memory_equal(b.p + 4995, "0999,", 5);
    sb_add(&b, NULL, 0);
    sb_u128(&b, U128_MAX);
    assert_string_equal(b.p + 5000, "340282366920938463463374607431768211455");
    assert_false(b.failed);
}

static void builder_fails_for_good(void **state)
{
    (void)state;
    struct sb b;
    sb_init(&b, &arena);
    sb_cstr(&b, "kept");
    sb_add(&b, "x", SIZE_MAX - 10);
    assert_true(b.failed);
    sb_cstr(&b, "lost");
    sb_printf(&b, "%d", 1);
    assert_string_equal(b.p, "kept");
}

static const char *written(struct str s)
{
    struct sb b;
    struct json j;
    sb_init(&b, &arena);
    json_init(&j, &b);
    json_str(&j, s);
    return b.p;
}

static void json_nests(void **state)
{
    (void)state;
    struct sb b;
    struct json j;
    sb_init(&b, &arena);
    json_init(&j, &b);
    json_begin(&j, '{');
    json_key(&j, "a");
    json_begin(&j, '[');
    json_end(&j, ']');
    json_key_str(&j, STR("b"));
    json_begin(&j, '[');
    json_begin(&j, '[');
    json_u128(&j, U128_MAX - 1);
    json_i64(&j, INT64_MIN);
    json_end(&j, ']');
    json_begin(&j, '{');
    json_end(&j, '}');
    json_bool(&j, true);
    json_bool(&j, false);
    json_null(&j);
    json_bound(&j, 3);
    json_bound(&j, U128_INF);
    json_raw(&j, STR("1e-6"));
    json_end(&j, ']');
    json_end(&j, '}');
    assert_string_equal(
        b.p, "{\"a\": [], \"b\": [[340282366920938463463374607431768211454, "
             "-9223372036854775808], {}, true, false, null, 3, \"inf\", "
             "1e-6]}");
}

static void json_doubles_read_back(void **state)
{
    (void)state;
    struct sb b;
    struct json j;
    sb_init(&b, &arena);
    json_init(&j, &b);
    json_begin(&j, '[');
    json_double(&j, 0.1);
    json_double(&j, 1.0 / 3);
    json_double(&j, 1e300);
    json_double(&j, -0.5);
    json_double(&j, 289560);
    json_double(&j, NAN);
    json_double(&j, INFINITY);
    json_double(&j, -INFINITY);
    json_end(&j, ']');
    assert_string_equal(b.p, "[0.1, 0.3333333333333333, 1e+300, -0.5, "
                             "289560, null, \"inf\", \"-inf\"]");
}

static void json_keeps_characters(void **state)
{
    (void)state;
    static const char *const good[] = {
        "caf\xc3\xa9",      "\xe2\x82\xac",     "\xf0\x9f\x8f\xa5",
        "\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xc2\x80",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_string_equal(written(str_of(good[i])),
                            str_printf(&arena, "\"%s\"", good[i]).p);
    assert_string_equal(written(STR("\"\\\n\t\r\x7f")),
                        "\"\\\"\\\\\\n\\t\\u000d\\u007f\"");
    assert_string_equal(written((struct str){"a\0b", 3}), "\"a\\u0000b\"");
}

static void json_replaces_what_is_no_character(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *want;
    } bad[] = {
        {"\x80", "\\ufffd"},
        {"a\xff"
         "b",
         "a\\ufffdb"},
        {"\xc3", "\\ufffd"},                                  /* cut off */
        {"\xc3(", "\\ufffd("},                                /* no tail */
        {"\xc0\xaf", "\\ufffd\\ufffd"},                       /* overlong */
        {"\xc1\xbf", "\\ufffd\\ufffd"},                       /* overlong */
        {"\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd"},            /* overlong */
        {"\xf0\x8f\xbf\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* overlong */
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},            /* surrogate */
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* too far */
        {"\xf5\x80\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* too far */
        {"\xe2\x82", "\\ufffd\\ufffd"},                       /* cut off */
        {"\xf0\x9f\x8f", "\\ufffd\\ufffd\\ufffd"},            /* cut off */
        {"\xe2\x82\xc3\xa9", "\\ufffd\\ufffd\xc3\xa9"},       /* resumes */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(written(str_of(bad[i].bytes)),
                            str_printf(&arena, "\"%s\"", bad[i].want).p);
}

static enum status write_much(struct mem *m, void *with, struct err *err)
{
    (void)with;
    struct arena a;
    struct sb b;
    struct json j;
    arena_init(&a, m);
    sb_init(&b, &a);
    json_init(&j, &b);
    json_begin(&j, '[');
    for (int i = 0; i < 2000; i++)
        json_cstr(&j, "oncology");
    json_end(&j, ']');
    struct str copy = str_copy(&a, STR("x"));
    struct str text = str_printf(&a, "%8000d", 1);
    bool ok = !b.failed && copy.p && text.p;
    if (!b.failed)
        assert_int_equal(b.p[b.n - 1], ']');
    arena_fini(&a);
    return ok ? OK : err_nomem(err);
}

static void writers_survive_failure(void **state)
{
    (void)state;
    assert_true(oom_sweep(write_much, NULL) > 3);
}

#define IN_ARENA(f) cmocka_unit_test_setup_teardown(f, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_compare),
        IN_ARENA(slices_trim_and_copy),
        IN_ARENA(builder_grows),
        IN_ARENA(builder_fails_for_good),
        IN_ARENA(json_nests),
        IN_ARENA(json_doubles_read_back),
        IN_ARENA(json_keeps_characters),
        IN_ARENA(json_replaces_what_is_no_character),
        cmocka_unit_test(writers_survive_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
