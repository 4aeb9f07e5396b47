/*
 * Dictionaries under construction against a plain list: which keys are the
 * same, which text each has, at every size around which something grows, with
 * hashes that collide, and with every allocation failing once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/lanes.h"
#include "harness/oom.h"
#include "store/dict.h"
#include "store/packed.h"

enum { LONGEST = 40000 };

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* Key number k: all lengths from 0 on, some far longer, and numbers. */
static struct str key_of(size_t k, char *buf)
{
    size_t digits = (size_t)sprintf(buf, "%zu", k), n = k % 70;
    if (k % 5 == 3)
        return dict_number(packed_of((int64_t)k, 0));
    if (k == 0)
        return (struct str){buf, 0};
    if (k % 211 == 7)
        n = 1000 + k % 50; /* around the longest that waits */
    if (k % 1999 == 16)
        n = 15000 + k % 25000; /* around a block of its own */
    n = n > digits ? n : digits;
    memset(buf + digits, 'x', n - digits);
    return (struct str){buf, n};
}

struct run {
    struct mem *mem;
    uint32_t mask;  /* of tags */
    size_t n, keys; /* rows, and how many different keys are drawn */
    bool batches;
    uint64_t seed;
};

/* Codes for rows of random keys; false: no memory. */
static bool fill(struct dict *d, const struct run *r, size_t *drawn,
                 uint32_t *codes, char *buf)
{
    uint64_t seed = r->seed;
    for (size_t i = 0; i < r->n; i++) {
        drawn[i] = next(&seed) % 3 ? i % r->keys : next(&seed) % r->keys;
        struct str key = key_of(drawn[i], buf);
        bool ok = r->batches ? dict_later(d, key, codes, i)
                             : dict_put(d, key, &codes[i]);
        if (!ok)
            return false;
        memset(buf, '?', key.p ? key.n : 0); /* nobody may look again */
    }
    return dict_flush(d, codes);
}

static void check(const struct dict *d, const struct run *r,
                  const size_t *drawn, const uint32_t *codes, char *buf)
{
    uint32_t *code_of = malloc(r->keys * sizeof *code_of);
    size_t different = 0;
    memset(code_of, 0xff, r->keys * sizeof *code_of);
    for (size_t i = 0; i < r->n; i++) {
        struct str want = key_of(drawn[i], buf);
        if (code_of[drawn[i]] == UINT32_MAX) {
            different++;
            code_of[drawn[i]] = codes[i];
        }
        assert_int_equal(codes[i], code_of[drawn[i]]);
        assert_true(codes[i] < d->n);
        struct str got = d->entries[codes[i]];
        assert_true(got.n == want.n && !got.p == !want.p);
        assert_true(!got.p || memcmp(got.p, want.p, got.n) == 0);
    }
    /* as many entries as keys, so no two keys share one */
    assert_int_equal(d->n, different);
    free(code_of);
}

static bool one_run(const struct run *r)
{
    struct arena a;
    struct dict d;
    size_t *drawn = calloc(r->n, sizeof *drawn);
    uint32_t *codes = calloc(r->n, sizeof *codes);
    char *buf = malloc(LONGEST + 32);
    arena_init(&a, r->mem);
    dict_init(&d, r->mem, &a);
    d.tag_mask = r->mask;
    bool ok = fill(&d, r, drawn, codes, buf);
    if (ok)
        check(&d, r, drawn, codes, buf);
    dict_fini(&d);
    arena_fini(&a);
    free(buf);
    free(codes);
    free(drawn);
    assert_int_equal(atomic_load(&r->mem->used), 0);
    return ok;
}

static void sizes(void **state)
{
    static const size_t keys[] = {1,   2,   63,  64,   65,   127,  128,  129,
                                  191, 192, 193, 1535, 1536, 1537, 4096, 4097};
    struct mem m;
    (void)state;
    mem_init(&m, 0);
    for (size_t i = 0; i < 2 * (sizeof keys / sizeof *keys); i++) {
        size_t k = keys[i / 2];
        struct run r = {&m, UINT32_MAX, 3 * k + i, k, i % 2, 77 + i};
        assert_true(one_run(&r));
    }
    /* beyond where entries grow by less and texts get large blocks */
    struct run large = {&m, UINT32_MAX, 420000, 400000, true, 5};
    assert_true(one_run(&large));
}

/* From sixteen tags, far apart or neighbours, to a single one. */
static void collisions(void **state)
{
    static const uint32_t masks[] = {0xf0000000u, 0x0000000fu, 0x80000001u, 0};
    struct mem m;
    (void)state;
    mem_init(&m, 0);
    for (size_t i = 0; i < 2 * (sizeof masks / sizeof *masks); i++) {
        struct run r = {&m, masks[i / 2], 4000, 1200, i % 2, 3 + i};
        assert_true(one_run(&r));
    }
}

static enum status failing(struct mem *m, void *with, struct err *err)
{
    struct run r = *(const struct run *)with;
    r.mem = m;
    return one_run(&r) ? OK : err_nomem(err);
}

static void no_memory(void **state)
{
    struct run r = {NULL, UINT32_MAX, 2000, 900, true, 9};
    (void)state;
    assert_true(oom_sweep(failing, &r) > 10);
    r.batches = false;
    assert_true(oom_sweep(failing, &r) > 10);
}

/* The instruction and the loop give the same answer. */
static void lanes(void **state)
{
    uint64_t seed = 21;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint32_t words[8];
        char bytes[LANES_BYTES];
        for (int k = 0; k < 8; k++)
            words[k] = next(&seed) % 3 ? (uint32_t)next(&seed)
                                       : (uint32_t)(next(&seed) % 2) << 31;
        for (int k = 0; k < LANES_BYTES; k++)
            bytes[k] = (char)("ab,\n\r\t \xff"[next(&seed) % 8]);
        uint32_t x = words[next(&seed) % 8];
        assert_int_equal(lanes_words(words, x), lanes_words_plain(words, x));
        assert_int_equal(lanes_words(words, 0), lanes_words_plain(words, 0));
        assert_true(lanes_words(words, x) != 0);
        assert_int_equal(lanes_bytes(bytes, ',', ' ', '\n', '\xff'),
                         lanes_bytes_plain(bytes, ',', ' ', '\n', '\xff'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(collisions),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
