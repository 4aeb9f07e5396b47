/*
 * Checked arithmetic: true when the result fits, false (and the output left
 * alone) when it does not. Counts of join results exceed 64 bits, and some
 * exceed any word: they are clamped at COUNT_MOST.
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

/*
 * PRIVACY: no count, no T_F and no S is larger: what exceeds it is given as
 * it, so that no size of a number makes a release fail (sens/PROOF.md, 2a).
 * Public. Two of them still fit a word. x -> min(x, COUNT_MOST) keeps +, *,
 * max and exists, not minus: only final numbers and sums of products are
 * clamped. The tests of the argument are built with a tiny one.
 */
#ifdef DPC_TINY
#define COUNT_MOST ((u128)3)
#else
#define COUNT_MOST (((u128)1 << 127) - 1)
#endif

static inline u128 count_clamp(u128 v)
{
    return v < COUNT_MOST ? v : COUNT_MOST;
}

/* Of numbers that are clamped. */
static inline u128 count_add(u128 a, u128 b)
{
    return count_clamp(a + b);
}

static inline u128 count_mul(u128 a, u128 b)
{
    if (!((a | b) >> 63)) /* no division */
        return count_clamp(a * b);
    return a && b > COUNT_MOST / a ? COUNT_MOST : count_clamp(a * b);
}

/* C: what one of `groups` answers is clamped at, so that all of them together
 * stay within COUNT_MOST; from -C to C where totals may be negative. */
u128 count_limit(uint64_t groups, bool is_signed);

/* Saturating to U128_INF; infinity absorbs, 0 * infinity = 0. */
u128 u128_add_inf(u128 a, u128 b);
u128 u128_mul_inf(u128 a, u128 b);

/* Decimal text; buf holds U128_DIGITS bytes. Returns its start in buf. */
const char *u128_text(u128 v, char *buf);
/* Reads digits only; false on anything else or overflow. */
bool u128_read(const char *p, uint64_t n, u128 *out);
/* The same, clamped at COUNT_MOST however many digits there are. */
bool count_read(const char *p, uint64_t n, u128 *out);

#endif
