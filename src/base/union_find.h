/*
 * Union-find over the numbers 0 .. n-1: which of them were joined, directly or
 * through others. up[x]: a number of the same class, nearer to its root.
 */
#ifndef BASE_UNION_FIND_H
#define BASE_UNION_FIND_H

#include <stdint.h>

static inline void union_find_init(uint32_t *up, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        up[i] = i;
}

/* The root of x's class. */
static inline uint32_t union_find_root(uint32_t *up, uint32_t x)
{
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

/* The same where nothing may be changed. */
static inline uint32_t union_find_at(const uint32_t *up, uint32_t x)
{
    while (up[x] != x)
        x = up[x];
    return x;
}

/* The root of b's class is that of both from now on. */
static inline void union_find_join(uint32_t *up, uint32_t a, uint32_t b)
{
    up[union_find_root(up, a)] = union_find_root(up, b);
}

#endif
