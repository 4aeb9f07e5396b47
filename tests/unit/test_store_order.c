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

static struct order_item *sorted(struct texts *x, bool numbers)
{
    struct order_item *items = calloc(x->n + 1, sizeof *items);
    for (size_t i = 0; i < x->n; i++) {
        items[i].id = (uint32_t)i;
        if (numbers)
            items[i].head = order_number_head(x->t[i]);
    }
    (numbers ? order_numbers : order_texts)(items, x->n, x->t);
    return items;
}

/* Rising, and every text once. */
static void check_texts(struct texts *x)
{
    struct order_item *items = sorted(x, false);
    bool *seen = calloc(x->n + 1, sizeof *seen);
    for (size_t i = 0; i < x->n; i++) {
        assert_false(seen[items[i].id]);
        seen[items[i].id] = true;
        if (i)
            assert_true(str_cmp(x->t[items[i - 1].id], x->t[items[i].id]) < 0);
    }
    free(seen);
    free(items);
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
    struct order_item *items = sorted(x, true);
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
        cmocka_unit_test(texts),
        cmocka_unit_test(staircase),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
