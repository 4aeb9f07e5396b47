/* num: reading and printing rationals, 128-bit conversion, secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "num/rat.h"
#include "num/secret_scale.h"
#include "harness/plain.h"

static void reads(const char *text, const char *fraction)
{
    struct err err;
    mpq_t v, want;
    mpq_inits(v, want, NULL);
    assert_int_equal(rat_read(str_of(text), "epsilon", v, &err), OK);
    assert_int_equal(mpq_set_str(want, fraction, 10), 0);
    mpq_canonicalize(want);
    assert_true(mpq_equal(v, want));
    mpq_clears(v, want, NULL);
}

static void reads_numbers(void **state)
{
    (void)state;
    reads("0.1", "1/10");
    reads("1e-6", "1/1000000");
    reads("12", "12");
    reads("1/3", "1/3");
    reads("2/6", "1/3");
    reads(".5", "1/2");
    reads("5.", "5");
    reads("+2.50E+2", "250");
    reads("-0.25", "-1/4");
    reads("0", "0");
    reads("0.000", "0");
    reads("-3/9", "-1/3");
    reads("000012.500", "25/2");
}

static void refuses(const char *text, const char *reason)
{
    struct err err;
    mpq_t v;
    mpq_init(v);
    assert_int_equal(rat_read(str_of(text), "epsilon", v, &err), E_VALUE);
    assert_non_null(strstr(err.message, "epsilon"));
    if (!strstr(err.message, reason))
        fail_msg("\"%s\" gave: %s", text, err.message);
    mpq_clear(v);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    refuses("", "empty");
    static const char *const not_numbers[] = {
        "nan", "inf", "-",    ".",   "1.2.3", "0x10", "1 ",    " 1",  "--1",
        "1,5", "e5",  "1/2x", "one", "1e5 ",  "1e2.", "1e2e3", "1/-2"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
        refuses(not_numbers[i], "is not a");
    refuses("1e", "exponent");
    refuses("1e+", "exponent");
    refuses("1e1001", "exponent");
    refuses("1e-99999999999999999999", "exponent");
    refuses("1/0", "divides by zero");
    refuses("1.5/2", "fraction");
    refuses("1/", "fraction");
    char longer[102];
    memset(longer, '1', 101);
    longer[101] = 0;
    refuses(longer, "100 characters");
    longer[100] = 0;
    mpq_t v;
    mpq_init(v);
    assert_int_equal(rat_read(str_of(longer), "x", v, NULL), OK);
    mpq_clear(v);
}

static void prints(const char *fraction, const char *want, int digits, bool up)
{
    struct mem m;
    struct arena a;
    struct sb b;
    mem_init(&m, 0);
    arena_init(&a, &m);
    sb_init(&b, &a);
    mpq_t v;
    mpq_init(v);
    assert_int_equal(mpq_set_str(v, fraction, 10), 0);
    mpq_canonicalize(v);
    if (digits < 0)
        rat_print(&b, v);
    else
        rat_print_decimal(&b, v, (unsigned)digits, up);
    assert_false(b.failed);
    assert_string_equal(b.p, want);
    mpq_clear(v);
    arena_fini(&a);
}

static void prints_numbers(void **state)
{
    (void)state;
    prints("1/10", "0.1", -1, false);
    prints("-5/4", "-1.25", -1, false);
    prints("1/3", "1/3", -1, false);
    prints("0", "0", -1, false);
    prints("12", "12", -1, false);
    prints("1/1000000", "0.000001", -1, false);
    prints("3/200", "0.015", -1, false);
    prints("1/3", "0.34", 2, true);
    prints("1/3", "0.33", 2, false);
    prints("1/4", "0.25", 2, true);
    prints("999/1000", "1.00", 2, true);
    prints("1/1000", "0.01", 2, true);
    prints("1/1000", "0.00", 2, false);
    prints("7/2", "4", 0, true);
}

static void converts_u128(void **state)
{
    (void)state;
    u128 values[] = {0, 1, UINT64_MAX, (u128)1 << 64, U128_MAX};
    mpz_t z;
    mpz_init(z);
    for (size_t i = 0; i < 5; i++) {
        u128 back = 5;
        mpz_set_u128(z, values[i]);
        assert_true(mpz_get_u128(z, &back));
        assert_true(back == values[i]);
    }
    u128 back;
    mpz_add_ui(z, z, 1);
    assert_false(mpz_get_u128(z, &back));
    mpz_set_si(z, -1);
    assert_false(mpz_get_u128(z, &back));
    mpz_clear(z);
}

static void wipes_secrets(void **state)
{
    (void)state;
    struct secret_scale r;
    secret_scale_init(&r);
    struct secret_count n = secret_count_of(COUNT_MOST), below;
    u128 back;
    mpz_t z;
    mpz_init(z);
    secret_scale_of_count(&n, z);
    assert_true(mpz_get_u128(z, &back) && back == COUNT_MOST);
    below = secret_count_of(-(u128)5);
    secret_scale_of_count(&below, z);
    assert_int_equal(mpz_cmp_si(z, -5), 0);
    secret_count_clamp(&below, 3, true);
    secret_scale_of_count(&below, z);
    assert_int_equal(mpz_cmp_si(z, -3), 0);
    mpz_clear(z);
    mpq_t v;
    mpq_init(v);
    mpq_set_ui(v, 7, 3);
    secret_scale_set(&r, v);
    assert_true(mpq_equal(secret_scale_open(&r), v));
    mpq_clear(v);
    secret_scale_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers),  cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(prints_numbers), cmocka_unit_test(converts_u128),
        cmocka_unit_test(wipes_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
