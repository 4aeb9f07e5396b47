/* base/checked: arithmetic against GMP, at the edges and on random words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <gmp.h>

#include "base/checked.h"

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* A word of random length, often next to a power of two. */
static u128 word(uint64_t *s)
{
    u128 v = ((u128)next(s) << 64) | next(s);
    v >>= next(s) % 128;
    switch (next(s) % 4) {
    case 0:
        return (u128)1 << (next(s) % 128);
    case 1:
        return ((u128)1 << (next(s) % 128)) - 1;
    default:
        return v;
    }
}

static void to_mpz(mpz_t z, u128 v)
{
    uint64_t part[2] = {(uint64_t)v, (uint64_t)(v >> 64)};
    mpz_import(z, 2, -1, sizeof part[0], 0, 0, part);
}

static void agrees(bool fits, u128 got, const mpz_t want)
{
    mpz_t z;
    bool in_range = mpz_sgn(want) >= 0 && mpz_sizeinbase(want, 2) <= 128;
    assert_int_equal(fits, in_range);
    if (!fits) {
        assert_true(got == 77); /* left alone */
        return;
    }
    mpz_init(z);
    to_mpz(z, got);
    assert_int_equal(mpz_cmp(z, want), 0);
    mpz_clear(z);
}

static void matches_gmp_128(void **state)
{
    (void)state;
    uint64_t s = 0x1234567890abcdefu;
    mpz_t x, y, z;
    mpz_inits(x, y, z, NULL);
    for (int i = 0; i < 20000; i++) {
        u128 a = word(&s), b = word(&s), r;
        to_mpz(x, a);
        to_mpz(y, b);
        mpz_add(z, x, y);
        r = 77;
        bool fits = u128_add(a, b, &r);
        agrees(fits, r, z);
        assert_true(u128_add_inf(a, b) == (fits ? r : U128_INF));
        mpz_mul(z, x, y);
        r = 77;
        fits = u128_mul(a, b, &r);
        agrees(fits, r, z);
        assert_true(u128_mul_inf(a, b) ==
                    (fits && a != U128_INF && b != U128_INF ? r
                     : a && b                               ? U128_INF
                                                            : 0));
        mpz_sub(z, x, y);
        r = 77;
        fits = u128_sub(a, b, &r);
        agrees(fits, r, z);
    }
    mpz_clears(x, y, z, NULL);
}

static void matches_wide_64(void **state)
{
    (void)state;
    uint64_t s = 42;
    for (int i = 0; i < 20000; i++) {
        uint64_t a = (uint64_t)word(&s), b = (uint64_t)word(&s), r = 77;
        u128 sum = (u128)a + b, product = (u128)a * b;
        assert_int_equal(u64_add(a, b, &r), sum <= UINT64_MAX);
        assert_true(r == (sum <= UINT64_MAX ? (uint64_t)sum : 77));
        r = 77;
        assert_int_equal(u64_mul(a, b, &r), product <= UINT64_MAX);
        assert_true(r == (product <= UINT64_MAX ? (uint64_t)product : 77));
    }
}

static void infinity_absorbs(void **state)
{
    (void)state;
    assert_true(u128_add_inf(U128_INF, 0) == U128_INF);
    assert_true(u128_add_inf(U128_INF, U128_INF) == U128_INF);
    assert_true(u128_add_inf(U128_MAX - 1, 5) == U128_INF);
    assert_true(u128_mul_inf(U128_INF, 0) == 0);
    assert_true(u128_mul_inf(1, U128_INF) == U128_INF);
    assert_true(u128_mul_inf((u128)1 << 100, (u128)1 << 100) == U128_INF);
}

static void text_and_back(void **state)
{
    (void)state;
    uint64_t s = 7;
    char buf[U128_DIGITS];
    mpz_t z;
    mpz_init(z);
    for (int i = 0; i < 5000; i++) {
        u128 v = word(&s), back = 0;
        const char *text = u128_text(v, buf);
        mpz_set_str(z, text, 10);
        agrees(true, v, z);
        assert_true(u128_read(text, strlen(text), &back));
        assert_true(back == v);
    }
    mpz_clear(z);
    assert_string_equal(u128_text(0, buf), "0");
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.0",
        "0x1",
        "1e3",
        "one",
        /* 2^128 and ten times 2^128 - 1 */
        "340282366920938463463374607431768211456",
        "3402823669209384634633746074317682114550",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        u128 v = 77;
        assert_false(u128_read(bad[i], strlen(bad[i]), &v));
        assert_true(v == 77);
    }
    u128 v;
    assert_true(
        u128_read("0000000000000000000000000000000000000000000012", 46, &v));
    assert_true(v == 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_gmp_128),
        cmocka_unit_test(matches_wide_64),
        cmocka_unit_test(infinity_absorbs),
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
