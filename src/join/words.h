/*
 * Natural numbers of several 64-bit words, lowest first, for counts that no
 * machine word holds. How many words is known beforehand (rows_words, and
 * draw_words in graph.c): no number on the way to a count of atoms exceeds the
 * product of their rows, times what signed terms add. So nothing overflows, and
 * differences may wrap in between: numbers are exact modulo 2^(64 n), and what
 * remains is a count. Two words, the commonest case, are one machine number.
 */
#ifndef JOIN_WORDS_H
#define JOIN_WORDS_H

#include <string.h>

#include "base/checked.h"

/* 64 atoms of at most 2^32 rows, ids of parts, signed terms. */
enum { WORDS_MOST = 36, WORDS_SPARE_BITS = 8 };

static inline u128 words_two(const uint64_t *x)
{
    return (u128)x[1] << 64 | x[0];
}

static inline void words_set_two(uint64_t *z, u128 v)
{
    z[0] = (uint64_t)v;
    z[1] = (uint64_t)(v >> 64);
}

static inline bool words_zero(const uint64_t *x, uint32_t n)
{
    if (n == 2)
        return !(x[0] | x[1]);
    for (uint32_t i = 0; i < n; i++)
        if (x[i])
            return false;
    return true;
}

static inline void words_set(uint64_t *z, uint64_t v, uint32_t n)
{
    z[0] = v;
    for (uint32_t i = 1; i < n; i++)
        z[i] = 0;
}

static inline void words_copy(uint64_t *z, const uint64_t *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        z[i] = x[i];
}

static inline int words_cmp(const uint64_t *x, const uint64_t *y, uint32_t n)
{
    while (n-- > 0)
        if (x[n] != y[n])
            return x[n] < y[n] ? -1 : 1;
    return 0;
}

static inline void words_add(uint64_t *z, const uint64_t *x, uint32_t n)
{
    uint64_t carry = 0;
    if (n == 2) {
        words_set_two(z, words_two(z) + words_two(x));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        u128 s = (u128)z[i] + x[i] + carry;
        z[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
}

static inline void words_sub(uint64_t *z, const uint64_t *x, uint32_t n)
{
    uint64_t borrow = 0;
    if (n == 2) {
        words_set_two(z, words_two(z) - words_two(x));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        u128 d = (u128)z[i] - x[i] - borrow;
        z[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
}

/* z += x * w, from z's word `at` on. */
static inline void words_add_times(uint64_t *z, const uint64_t *x, uint64_t w,
                                   uint32_t at, uint32_t n)
{
    uint64_t carry = 0;
    for (uint32_t i = at; i < n; i++) {
        u128 s = (u128)x[i - at] * w + z[i] + carry;
        z[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
}

/* z := z * y, y of n_y words. */
static inline void words_mul(uint64_t *z, const uint64_t *y, uint32_t n_y,
                             uint32_t n)
{
    uint64_t x[WORDS_MOST];
    if (n == 2) {
        words_set_two(z, words_two(z) * (n_y > 1 ? words_two(y) : y[0]));
        return;
    }
    words_copy(x, z, n);
    memset(z, 0, n * sizeof *z);
    for (uint32_t i = 0; i < n_y && i < n; i++)
        if (y[i])
            words_add_times(z, x, y[i], i, n);
}

/* PRIVACY: the one place where such a number is clamped. */
static inline u128 words_clamped(const uint64_t *x, uint32_t n)
{
    for (uint32_t i = 2; i < n; i++)
        if (x[i])
            return COUNT_MOST;
    return count_clamp(n > 1 ? words_two(x) : x[0]);
}

#endif
