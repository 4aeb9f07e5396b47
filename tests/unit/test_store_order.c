/* Sorting of dictionaries against a plain comparison sort. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "schema/value.h"
#include "store/order.h"

enum { MOST = 4000 };

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

struct texts {
    struct str t[MOST];
    size_t n;
    char bytes[MOST * 420];
    size_t used;
};

static void add(struct texts *x, const char *p, size_t n)
{
    for (size_t i = 0; i < x->n; i++)
        if (str_eq(x->t[i], (struct str){p, n}))
            return;
    memcpy(x->bytes + x->used, p, n);
    x->t[x->n++] = (struct str){x->bytes + x->used, n};
    x->used += n;
}

/* Rising, and every text once; the upper halves of keys may hold anything. */
static void check_texts(struct texts *x)
{
    uint64_t *keys = calloc(2 * x->n + 1, sizeof *keys), *other = keys + x->n;
    bool *seen = calloc(x->n + 1, sizeof *seen);
    for (size_t i = 0; i < x->n; i++)
        keys[i] = i * 0x9e3779b900000000u | i;
    keys[2 * x->n] = 4711;
    order_texts(keys, other, x->n, x->t);
    assert_int_equal(keys[2 * x->n], 4711);
    for (size_t i = 0; i < x->n; i++) {
        uint32_t id = (uint32_t)keys[i];
        assert_true(id < x->n && !seen[id]);
        seen[id] = true;
        if (i)
            assert_true(str_cmp(x->t[(uint32_t)keys[i - 1]], x->t[id]) < 0);
    }
    free(seen);
    free(keys);
}

/* Few letters, zero bytes, long common prefixes, ends inside the window. */
static void texts(void **state)
{
    uint64_t seed = 5;
    struct texts *x = calloc(1, sizeof *x);
    (void)state;
    for (int round = 0; round < 40; round++) {
        x->n = x->used = 0;
        size_t prefix = next(&seed) % 30, want = 1 + next(&seed) % 400;
        for (size_t i = 0; i < want; i++) {
            char p[80];
            size_t n = prefix + next(&seed) % 20;
            for (size_t k = 0; k < n; k++)
                p[k] = k < prefix ? 'p' : "ab\0\xff"[next(&seed) % 4];
            add(x, p, n);
        }
        check_texts(x);
    }
    free(x);
}

/*
 * All shapes of what the passes see: from one byte to all at a place, so that
 * from four to eight places fit into a number, sizes around every limit, and
 * runs that stay equal for many places beside others that do not.
 */
static void shapes(void **state)
{
    static const size_t sizes[] = {2, 4, 5, 47, 48, 49, 64, 300, 1900, MOST};
    uint64_t seed = 11;
    struct texts *x = calloc(1, sizeof *x);
    (void)state;
    for (unsigned round = 0; round < 90; round++) {
        unsigned letters = (unsigned[]){2, 10, 16, 26, 64, 256}[round % 6];
        size_t want = sizes[round % 10], most = 3 + next(&seed) % 24;
        x->n = x->used = 0;
        for (size_t i = 0; i < want; i++) {
            char p[80];
            size_t n = next(&seed) % (most + 1), same = next(&seed) % 4;
            for (size_t k = 0; k < n; k++)
                p[k] = (char)(k / 8 < same
                                  ? 'a' + same
                                  : 256 - letters + next(&seed) % letters);
            add(x, p, n);
        }
        check_texts(x);
    }
    free(x);
}

/* The largest run never the first, calls as deep as they go. */
static void nested(void **state)
{
    struct texts *x = calloc(1, sizeof *x);
    char p[420];
    (void)state;
    memset(p, 'm', sizeof p);
    for (size_t depth = 0; depth < 400; depth++)
        for (char c = 'a'; c < 'a' + 10; c++) {
            p[depth] = c;
            add(x, p, depth + 1 + (size_t)(c % 3));
            p[depth] = 'm';
        }
    check_texts(x);
    free(x);
}

/* Each a prefix of the next. */
static void staircase(void **state)
{
    struct texts *x = calloc(1, sizeof *x);
    char p[80];
    (void)state;
    memset(p, 'a', sizeof p);
    for (size_t n = 80; n-- > 0;)
        add(x, p, n);
    check_texts(x);
    memset(p, 0, sizeof p);
    for (size_t n = 80; n-- > 1;)
        add(x, p, n);
    check_texts(x);
    free(x);
}

static void canonical(struct texts *x, struct arena *a, const char *text)
{
    struct value v;
    assert_true(value_parse(a, str_of(text), T_DEC, &v));
    add(x, v.s.p, v.s.n);
}

static void numbers(void **state)
{
    struct mem m;
    struct arena a;
    uint64_t seed = 9;
    struct texts *x = calloc(1, sizeof *x);
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    for (int i = 0; i < 1500; i++) {
        char text[80];
        /* Numbers that differ far behind what a double holds. */
        snprintf(text, sizeof text, "%s%llu%s%llu", next(&seed) % 2 ? "-" : "",
                 (unsigned long long)(next(&seed) % 3),
                 next(&seed) % 2 ? "0000000000000000000000000000000000"
                                 : ".000000000000000000000000000000000",
                 (unsigned long long)(next(&seed) % 40));
        canonical(x, &a, text);
    }
    for (int i = 0; i < 500; i++) {
        char text[80];
        snprintf(text, sizeof text, "%de%d", (int)(next(&seed) % 2000) - 1000,
                 (int)(next(&seed) % 60) - 30);
        canonical(x, &a, text);
    }
    canonical(x, &a, "1e300");
    canonical(x, &a, "1e-300");
    canonical(x, &a, "-1e300");
    canonical(x, &a, "2e400");
    canonical(x, &a, "3e400");
    add(x, "NaN", 3);
    add(x, "Infinity", 8);
    add(x, "-Infinity", 9);
    struct order_item *items = calloc(x->n, sizeof *items);
    for (size_t i = 0; i < x->n; i++)
        items[i] = (struct order_item){order_number_head(x->t[i]), (uint32_t)i};
    order_numbers(items, x->n, x->t);
    for (size_t i = 1; i < x->n; i++) {
        struct value l = {.type = T_DEC, .s = x->t[items[i - 1].id]};
        struct value r = {.type = T_DEC, .s = x->t[items[i].id]};
        assert_true(value_cmp(&l, &r) < 0);
    }
    free(items);
    arena_fini(&a);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),   cmocka_unit_test(shapes),
        cmocka_unit_test(nested),  cmocka_unit_test(staircase),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
