/*
 * Sorting numbers, in place: radix sort on the nearest double, which never
 * goes down where the number goes up; ties by the exact value.
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

struct bucket {
    size_t at, end; /* unplaced items of the bucket: [at, end) */
};

static unsigned byte_of(const struct order_item *x, unsigned shift)
{
    return (unsigned)(x->head >> shift) & 255;
}

/* Buckets by one byte; false if all items have the same byte there. */
static bool count_bytes(const struct order_item *p, size_t n, unsigned shift,
                        struct bucket b[static 256])
{
    size_t count[256] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        count[byte_of(&p[i], shift)]++;
    if (count[byte_of(&p[0], shift)] == n)
        return false;
    for (size_t i = 0; i < 256; i++) {
        b[i].at = sum;
        sum += count[i];
        b[i].end = sum;
    }
    return true;
}

/* Every item into its bucket, in place: the one in hand goes where it
 * belongs, and what lay there is taken into the hand. */
static void place_items(struct order_item *p, unsigned shift,
                        struct bucket b[static 256])
{
    for (unsigned i = 0; i < 256; i++)
        while (b[i].at < b[i].end) {
            struct order_item x = p[b[i].at];
            unsigned k;
            while ((k = byte_of(&x, shift)) != i) {
                struct order_item y = p[b[k].at];
                p[b[k].at++] = x;
                x = y;
            }
            p[b[i].at++] = x;
        }
}

static void sort_heads(struct order_item *p, size_t n, unsigned bytes)
{
    struct bucket b[256];
    while (n > SMALL && bytes && !count_bytes(p, n, bytes * 8 - 8, b))
        bytes--;
    if (n <= SMALL) {
        insertion_sort(p, n);
        return;
    }
    if (!bytes)
        return;
    place_items(p, bytes * 8 - 8, b);
    for (size_t i = 0, from = 0; i < 256; from = b[i++].end)
        if (b[i].end - from > 1)
            sort_heads(p + from, b[i].end - from, bytes - 1);
}

uint64_t order_double_head(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/*
 * A double near the number, as a word that rises with it; NaN is the largest.
 * Texts are cut after CUT characters, all at the same place, so a larger
 * number never gets a smaller head.
 */
uint64_t order_number_head(struct str s)
{
    enum { CUT = 56, MAX_DROPPED = 99999 };
    char buf[CUT + 16];
    const char *point = memchr(s.p, '.', s.n);
    size_t whole = point ? (size_t)(point - s.p) : s.n;
    size_t n = s.n < CUT ? s.n : CUT;
    size_t dropped = whole > n ? whole - n : 0;
    memcpy(buf, s.p, n);
    buf[n] = 0;
    if (dropped)
        snprintf(buf + n, sizeof buf - n, "e%zu",
                 dropped < MAX_DROPPED ? dropped : MAX_DROPPED);
    return order_double_head(strtod(buf, NULL));
}

static int by_number(const void *pa, const void *pb, void *texts)
{
    const struct order_item *a = pa, *b = pb;
    const struct str *t = texts;
    struct value x = {.type = T_DEC, .s = t[a->id]};
    struct value y = {.type = T_DEC, .s = t[b->id]};
    return value_cmp(&x, &y);
}

void order_numbers(struct order_item *items, size_t n, const struct str *texts)
{
    if (n < 2)
        return;
    sort_heads(items, n, 8);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && items[j].head == items[i].head; j++)
            ;
        if (j - i > 1)
            qsort_r(items + i, j - i, sizeof *items, by_number,
                    (void *)(uintptr_t)texts);
    }
}
