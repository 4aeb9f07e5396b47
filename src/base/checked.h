/*
 * Checked arithmetic: true when the result fits, false (and the output left
 * alone) when it does not. Counts of join results exceed 64 bits; 128 bits
 * are enough for anything a machine can hold, and beyond is an error.
 */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;
#define U128_MAX (~(u128)0)
/* Bounds use the largest value for "no bound". */
#define U128_INF U128_MAX
enum { U128_DIGITS = 40 };

/* Here and not in a file of their own: they stand in the innermost loops. */
static inline bool u64_add(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool u64_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool u128_add(u128 a, u128 b, u128 *out)
{
    u128 r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

/* Not __builtin_mul_overflow: clang calls compiler-rt's __muloti4 for it,
 * which libgcc lacks. Two numbers of 64 bits need no division. */
static inline bool u128_mul(u128 a, u128 b, u128 *out)
{
    if ((a | b) >> 64 && a && b > U128_MAX / a)
        return false;
    *out = a * b;
    return true;
}

static inline bool u128_sub(u128 a, u128 b, u128 *out)
{
    if (a < b)
        return false;
    *out = a - b;
    return true;
}

/* Saturating to U128_INF; infinity absorbs, 0 * infinity = 0. */
u128 u128_add_inf(u128 a, u128 b);
u128 u128_mul_inf(u128 a, u128 b);

/* Decimal text; buf holds U128_DIGITS bytes. Returns its start in buf. */
const char *u128_text(u128 v, char *buf);
/* Reads digits only; false on anything else or overflow. */
bool u128_read(const char *p, uint64_t n, u128 *out);

#endif
