/*
 * Sorting dictionary entries. Texts: radix sort on eight bytes at a time,
 * then within runs of equal bytes on the next eight. Numbers: radix sort on
 * the nearest double, which never goes down where the number goes up; ties by
 * the exact value. Dictionaries of millions of entries are sorted at some
 * tens of nanoseconds an entry instead of a microsecond for qsort with a
 * comparison.
 */
#include "store/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "schema/value.h"

enum { SMALL = 32 };

static void insertion_sort(struct order_item *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct order_item x = p[i];
        size_t j = i;
        for (; j > 0 && p[j - 1].head > x.head; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
}

/* One stable pass by byte `b`; false if all items have the same byte there
 * (then nothing was moved). */
static bool radix_pass(const struct order_item *from, struct order_item *to,
                       size_t n, unsigned b)
{
    size_t start[256] = {0}, sum = 0;
    unsigned shift = b * 8;
    for (size_t i = 0; i < n; i++)
        start[(from[i].head >> shift) & 255]++;
    if (start[(from[0].head >> shift) & 255] == n)
        return false;
    for (size_t i = 0; i < 256; i++) {
        size_t count = start[i];
        start[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[(from[i].head >> shift) & 255]++] = from[i];
    return true;
}

static void sort_heads(struct order_item *p, struct order_item *spare, size_t n)
{
    if (n <= SMALL) {
        insertion_sort(p, n);
        return;
    }
    struct order_item *from = p, *to = spare;
    for (unsigned b = 0; b < 8; b++)
        if (radix_pass(from, to, n, b)) {
            struct order_item *t = from;
            from = to;
            to = t;
        }
    if (from != p)
        memcpy(p, from, n * sizeof *p);
}

/* Bytes depth .. depth + 7, zero beyond the end. */
static uint64_t head_at(struct str s, size_t depth)
{
    uint64_t h = 0;
    size_t n = s.n > depth ? s.n - depth : 0;
    if (n >= 8) {
        memcpy(&h, s.p + depth, 8);
        return __builtin_bswap64(h);
    }
    for (size_t i = 0; i < 8; i++)
        h = h << 8 | (i < n ? (unsigned char)s.p[depth + i] : 0);
    return h;
}

/*
 * Items with equal bytes up to `depth`: those that end before it (they differ
 * in zero bytes at their ends only) go first, by length. Returns their
 * number; at most eight, the texts being distinct.
 */
static size_t ended_first(struct order_item *p, size_t n,
                          const struct str *texts, size_t depth)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (texts[p[i].id].n > depth)
            continue;
        struct order_item x = p[i];
        p[i] = p[m];
        size_t j = m++;
        for (; j > 0 && texts[p[j - 1].id].n > texts[x.id].n; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
    return m;
}

static void sort_few(struct order_item *p, size_t n, const struct str *texts)
{
    for (size_t i = 1; i < n; i++) {
        struct order_item x = p[i];
        size_t j = i;
        for (; j > 0 && str_cmp(texts[p[j - 1].id], texts[x.id]) > 0; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
}

static void sort_span(struct order_item *p, struct order_item *spare, size_t n,
                      const struct str *texts, size_t depth)
{
    while (n > 1) {
        if (n <= 4) {
            sort_few(p, n, texts);
            return;
        }
        for (size_t i = 0; i < n; i++)
            p[i].head = head_at(texts[p[i].id], depth);
        sort_heads(p, spare, n);
        depth += 8;
        if (p[0].head != p[n - 1].head)
            break;
        /* One run: go on in place, so that a long common prefix does not
         * cost stack. */
        size_t ended = ended_first(p, n, texts, depth);
        p += ended;
        n -= ended;
    }
    for (size_t i = 0, j; n > 1 && i < n; i = j) {
        for (j = i + 1; j < n && p[j].head == p[i].head; j++)
            ;
        if (j - i < 2)
            continue;
        size_t ended = ended_first(p + i, j - i, texts, depth);
        sort_span(p + i + ended, spare, j - i - ended, texts, depth);
    }
}

void order_texts(struct order_item *items, struct order_item *spare, size_t n,
                 const struct str *texts)
{
    sort_span(items, spare, n, texts, 0);
}

/*
 * A double near the number, as a word that rises with it; NaN is the largest.
 * Texts are cut after CUT characters, all at the same place, so a larger
 * number never gets a smaller head.
 */
static uint64_t number_head(struct str s)
{
    enum { CUT = 56, MAX_DROPPED = 99999 };
    char buf[CUT + 16];
    const char *point = memchr(s.p, '.', s.n);
    size_t whole = point ? (size_t)(point - s.p) : s.n;
    size_t n = s.n < CUT ? s.n : CUT;
    size_t dropped = whole > n ? whole - n : 0;
    uint64_t bits;
    memcpy(buf, s.p, n);
    buf[n] = 0;
    if (dropped)
        snprintf(buf + n, sizeof buf - n, "e%zu",
                 dropped < MAX_DROPPED ? dropped : MAX_DROPPED);
    double d = strtod(buf, NULL);
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static int by_number(const void *pa, const void *pb, void *texts)
{
    const struct order_item *a = pa, *b = pb;
    const struct str *t = texts;
    struct value x = {.type = T_DEC, .s = t[a->id]};
    struct value y = {.type = T_DEC, .s = t[b->id]};
    return value_cmp(&x, &y);
}

void order_numbers(struct order_item *items, struct order_item *spare, size_t n,
                   const struct str *texts)
{
    for (size_t i = 0; i < n; i++)
        items[i].head = number_head(texts[items[i].id]);
    sort_heads(items, spare, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && items[j].head == items[i].head; j++)
            ;
        if (j - i > 1)
            qsort_r(items + i, j - i, sizeof *items, by_number,
                    (void *)(uintptr_t)texts);
    }
}
