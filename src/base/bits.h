/*
 * Small sets: of variables (128 at most) and of atoms (64 at most) of one
 * query, as machine words. The readers of queries refuse what is larger.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_VARS = 128, MAX_ATOMS = 64 };

typedef unsigned __int128 vset;
typedef uint64_t aset;

static inline vset vset_one(unsigned v)
{
    return (vset)1 << v;
}
static inline bool vset_has(vset s, unsigned v)
{
    return (s >> v) & 1;
}
static inline bool vset_sub(vset a, vset b) /* a inside b */
{
    return (a & ~b) == 0;
}
static inline vset vset_first_n(unsigned n)
{
    return n >= 128 ? ~(vset)0 : ((vset)1 << n) - 1;
}
static inline unsigned vset_count(vset s)
{
    return (unsigned)(__builtin_popcountll((uint64_t)s) +
                      __builtin_popcountll((uint64_t)(s >> 64)));
}
/* The smallest member; s is not empty. */
static inline unsigned vset_min(vset s)
{
    uint64_t low = (uint64_t)s;
    return low ? (unsigned)__builtin_ctzll(low)
               : 64 + (unsigned)__builtin_ctzll((uint64_t)(s >> 64));
}
static inline aset aset_one(unsigned a)
{
    /* Atoms are numbered below 64; witness/checker.c always finds one. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    return (aset)1 << a;
}
static inline bool aset_has(aset s, unsigned a)
{
    return (s >> a) & 1;
}
static inline aset aset_first_n(unsigned n)
{
    return n >= 64 ? ~(aset)0 : ((aset)1 << n) - 1;
}
static inline unsigned aset_count(aset s)
{
    return (unsigned)__builtin_popcountll(s);
}

/* for each member v (an unsigned) of s, rising */
#define VSET_EACH(v, s)                                                        \
    for (vset v##_left_ = (s), v##_once_ = 1; v##_once_; v##_once_ = 0)        \
        for (unsigned v; v##_left_ && (v = vset_min(v##_left_), 1);            \
             v##_left_ &= v##_left_ - 1)
#define ASET_EACH(a, s)                                                        \
    for (aset a##_left_ = (s), a##_once_ = 1; a##_once_; a##_once_ = 0)        \
        for (unsigned a;                                                       \
             a##_left_ && (a = (unsigned)__builtin_ctzll(a##_left_), 1);       \
             a##_left_ &= a##_left_ - 1)

#endif
