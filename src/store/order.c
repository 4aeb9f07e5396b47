/*
 * Sorting texts bytewise. Texts of one column use few different bytes at each
 * place (ten digits, one "@"), so eight places are counted first and written
 * as one number of 32 bits, each byte by its rank among those that occur:
 * most texts are then told apart by three passes of a radix sort over words
 * of eight bytes, whatever they begin with. Runs that are still equal are
 * sorted by the places behind.
 *
 * Cost: some twenty nanoseconds a text in dictionaries of millions, a third
 * of a radix sort by bytes. The stack stays small, because the largest run is
 * sorted in a loop: the others are at most half, so calls nest log2 n deep.
 */
#include "store/order.h"

#include <string.h>
#include "base/bigend.h"

enum {
    FEW = 4,    /* compared as texts */
    SMALL = 48, /* compared by heads of eight bytes */
    PLACES = 8,
    MOST_BITS = 11 /* of a digit: its counters stay in the nearest cache */
};

/* Bytes depth .. depth + 7, the first one highest, zero beyond the end. */
static inline uint64_t head_at(struct str s, size_t depth)
{
    const unsigned char *u = (const unsigned char *)s.p + depth;
    const char *p = s.p + depth;
    size_t n = s.n > depth ? s.n - depth : 0;
    uint64_t h;
    if (n >= 8)
        return be64_at(p);
    if (!n)
        return 0;
    if (n >= 4) /* two halves that overlap */
        h = (uint64_t)be32_at(p) << (8 * n - 32) | be32_at(p + n - 4);
    else if (n == 3)
        h = (uint64_t)u[0] << 16 | (uint64_t)u[1] << 8 | u[2];
    else
        h = n == 2 ? (uint64_t)u[0] << 8 | u[1] : u[0];
    return h << (64 - 8 * n);
}

static uint32_t id_of(uint64_t key)
{
    return (uint32_t)key;
}

/* --- eight places as one number -------------------------------------------*/

struct places {
    uint32_t part[PLACES][256]; /* what a byte at a place adds */
    unsigned n;                 /* places that are told apart */
    unsigned bits;              /* of the number */
};

static unsigned byte_at(uint64_t head, unsigned place)
{
    return (unsigned)(head >> (56 - 8 * place)) & 255;
}

/* Ranks of the bytes that occur; returns how many there are. */
static uint32_t rank_bytes(const uint8_t seen[static 256],
                           uint32_t rank[static 256])
{
    uint32_t n = 0;
    for (unsigned b = 0; b < 256; b++) {
        rank[b] = n;
        n += seen[b];
    }
    return n;
}

/* As many places as fit into 32 bits; four always do. */
static void read_places(struct places *x, const uint64_t *keys, size_t n,
                        const struct str *texts, size_t depth)
{
    uint8_t seen[PLACES][256] = {{0}};
    uint32_t count[PLACES];
    uint64_t values = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = head_at(texts[id_of(keys[i])], depth);
        for (unsigned k = 0; k < PLACES; k++)
            seen[k][byte_at(h, k)] = 1;
    }
    for (x->n = 0; x->n < PLACES; x->n++) {
        uint32_t m = rank_bytes(seen[x->n], x->part[x->n]);
        if (values * m > (uint64_t)1 << 32)
            break;
        count[x->n] = m;
        values *= m;
    }
    x->bits = values > 1 ? 64 - (unsigned)__builtin_clzll(values - 1) : 0;
    for (unsigned k = 0; k < x->n; k++) {
        values /= count[k];
        for (unsigned b = 0; b < 256; b++)
            x->part[k][b] = (uint32_t)(x->part[k][b] * values);
    }
    for (unsigned k = x->n; k < PLACES; k++)
        memset(x->part[k], 0, sizeof x->part[k]);
}

static void write_numbers(const struct places *x, const uint64_t *from,
                          uint64_t *to, size_t n, const struct str *texts,
                          size_t depth)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t h = head_at(texts[id_of(from[i])], depth);
        uint32_t number = 0;
        for (unsigned k = 0; k < PLACES; k++)
            number += x->part[k][byte_at(h, k)];
        to[i] = (uint64_t)number << 32 | id_of(from[i]);
    }
}

/* One pass: stable, by `bits` bits from `shift` on. */
static void pass(const uint64_t *from, uint64_t *to, size_t n, unsigned shift,
                 unsigned bits)
{
    uint32_t at[1 << MOST_BITS], sum = 0;
    size_t mask = ((size_t)1 << bits) - 1;
    memset(at, 0, (mask + 1) * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[(from[i] >> shift) & mask]++;
    for (size_t b = 0; b <= mask; b++) {
        uint32_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[(from[i] >> shift) & mask]++] = from[i];
}

/* Narrow digits for few keys, which would pay for counters. */
static unsigned digit_bits(size_t n)
{
    unsigned bits = 63 - (unsigned)__builtin_clzll(n);
    return bits < MOST_BITS ? bits : MOST_BITS;
}

/* Sorts by the next places and returns how many; equal ones have equal upper
 * halves. `other` has room for n keys. */
static size_t by_places(uint64_t *keys, uint64_t *other, size_t n,
                        const struct str *texts, size_t depth)
{
    struct places x;
    read_places(&x, keys, n, texts, depth);
    unsigned most = digit_bits(n), passes = (x.bits + most - 1) / most;
    unsigned bits = passes ? (x.bits + passes - 1) / passes : 0;
    uint64_t *from = passes % 2 ? other : keys;
    write_numbers(&x, keys, from, n, texts, depth);
    for (unsigned i = 0; i < passes; i++) {
        uint64_t *to = from == keys ? other : keys;
        pass(from, to, n, 32 + i * bits, bits);
        from = to;
    }
    return x.n;
}

/* --- few texts ------------------------------------------------------------*/

/* The same for up to SMALL keys, by the next eight bytes. */
static size_t by_heads(uint64_t *keys, size_t n, const struct str *texts,
                       size_t depth)
{
    uint64_t head[SMALL], run = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t h = head_at(texts[id_of(keys[i])], depth), key = keys[i];
        size_t j = i;
        for (; j > 0 && head[j - 1] > h; j--) {
            head[j] = head[j - 1];
            keys[j] = keys[j - 1];
        }
        head[j] = h;
        keys[j] = key;
    }
    for (size_t i = 0; i < n; i++) {
        run += i && head[i] != head[i - 1];
        keys[i] = run << 32 | id_of(keys[i]);
    }
    return 8;
}

static void by_texts(uint64_t *keys, size_t n, const struct str *texts)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t x = keys[i];
        size_t j = i;
        for (; j > 0 && str_cmp(texts[id_of(keys[j - 1])], texts[id_of(x)]) > 0;
             j--)
            keys[j] = keys[j - 1];
        keys[j] = x;
    }
}

/* --- all of them ----------------------------------------------------------*/

struct span {
    size_t at, n;
};

/*
 * Keys with equal bytes up to `depth`: those that end before it (they differ
 * in zero bytes at their ends only) go first, by length. Gives the rest, which
 * has bytes to compare; of distinct texts at most eight ended.
 */
static struct span behind(uint64_t *keys, struct span s,
                          const struct str *texts, size_t depth)
{
    uint64_t *p = keys + s.at;
    size_t m = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (texts[id_of(p[i])].n > depth)
            continue;
        uint64_t x = p[i];
        p[i] = p[m];
        size_t j = m++;
        for (; j > 0 && texts[id_of(p[j - 1])].n > texts[id_of(x)].n; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
    return (struct span){s.at + m, s.n - m};
}

static size_t run_length(const uint64_t *keys, size_t n)
{
    size_t i = 1;
    while (i < n && keys[i] >> 32 == keys[0] >> 32)
        i++;
    return i;
}

static void sort_span(uint64_t *keys, uint64_t *other, struct span s,
                      const struct str *texts, size_t depth)
{
    while (s.n > FEW) {
        uint64_t *p = keys + s.at;
        struct span largest = {s.at, 1};
        depth += s.n <= SMALL ? by_heads(p, s.n, texts, depth)
                              : by_places(p, other + s.at, s.n, texts, depth);
        for (size_t i = 0, n; i < s.n; i += n) {
            n = run_length(p + i, s.n - i);
            struct span run = {s.at + i, n};
            if (n > largest.n) {
                struct span swap = largest;
                largest = run;
                run = swap;
            }
            if (run.n > 1)
                sort_span(keys, other, behind(keys, run, texts, depth), texts,
                          depth);
        }
        s = behind(keys, largest, texts, depth);
    }
    by_texts(keys + s.at, s.n, texts);
}

static size_t common_bytes(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n, i = 0;
    while (i < n && a.p[i] == b.p[i])
        i++;
    return i;
}

/* Bytes that all texts begin with: "user-", a date's century. */
static size_t common_prefix(const uint64_t *keys, size_t n,
                            const struct str *texts)
{
    struct str first = texts[id_of(keys[0])];
    uint64_t head = head_at(first, 0);
    for (size_t i = 1; i < n && first.n; i++) {
        struct str s = texts[id_of(keys[i])];
        bool as_before = first.n <= 8 && s.n >= 8 &&
                         !((be64_at(s.p) ^ head) >> (64 - 8 * first.n));
        if (!as_before)
            first.n = common_bytes(first, s);
    }
    return first.n;
}

void order_texts(uint64_t *keys, uint64_t *other, size_t n,
                 const struct str *texts)
{
    if (n > 1)
        sort_span(keys, other, (struct span){0, n}, texts,
                  common_prefix(keys, n, texts));
}
