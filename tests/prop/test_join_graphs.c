/*
 * The message engine against the backtracking join, on graphs that the oracle
 * is too slow for: every residual of patterns with and without symmetry,
 * directed and undirected, with one and with several threads. And closed
 * formulas on complete graphs.
 */
#include "harness/join_case.h"
#include "harness/plain.h"
#include "harness/join_world.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct pairs {
    int64_t *src, *dst;
    size_t n;
};

static void world_open(struct world *w, const char *rule, const struct pairs *p,
                       unsigned threads)
{
    const int64_t *cols[2] = {p->src, p->dst};
    world_read(w, rule);
    world_lend(w, 0, p->n, cols, NULL);
    world_join(w, threads, p->n % 2);
}

/* Falling weights, so that degrees differ. */
static struct pairs make_pairs(struct arena *a, struct jc_rng *r, uint32_t n,
                               size_t edges, bool both_ways)
{
    struct pairs p = {NEWS(a, int64_t, edges * 2), NEWS(a, int64_t, edges * 2),
                      0};
    for (size_t i = 0; i < edges; i++) {
        uint32_t x = jc_below(r, 1 + jc_below(r, n));
        uint32_t y = jc_below(r, 1 + jc_below(r, n));
        p.src[p.n] = x;
        p.dst[p.n++] = y;
        if (both_ways) {
            p.src[p.n] = y;
            p.dst[p.n++] = x;
        }
    }
    return p;
}

static const char *const rules[] = {
    "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, a != c, b != c.",
    "Q(a,b,c) :- E(a,b), E(b,c), E(c,a).",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != b, a != c, "
    "a != d, b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != c.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), a != b, "
    "a != c, a != d, b != c, b != d, c != d.",
    "Q(a,d) :- E(a,b), E(b,c), E(c,d), a != c.",
    "Q(a,c) :- E(a,b), E(b,c), E(c,d), E(a,e).",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != d, b != d, a != c.",
    "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(c,d), E(d,e), E(e,a).",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), E(b,c), E(b,d), E(c,d), "
    "a != b, a != c, a != d, b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(c,d), a != c, b != d.",
    "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(c,d), E(d,e), a != b, a != c, "
    "a != d, a != e, b != c, b != d, b != e, c != d, c != e, d != e.",
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static void check_residuals(struct world *w, const char *rule)
{
    aset all = aset_first_n(w->q->n_atoms);
    for (aset f = 1; f <= all; f++) {
        vset vars = cq_vars_of(w->q, f);
        vset bd = f == all ? 0 : vars & cq_vars_of(w->q, all & ~f);
        vset outs = cq_free(w->q) & vars;
        u128 got = 0, want = 0, wide = 0;
        assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
        assert_int_equal(join_max_walked(w->j, f, bd, outs, &want, &w->err),
                         OK);
        assert_int_equal(join_max_wide(w->j, f, bd, outs, &wide, &w->err), OK);
        if (got != want || wide != want)
            fail_msg("%s f=%llx: %llu, walked %llu, with words %llu", rule,
                     (unsigned long long)f, (unsigned long long)got,
                     (unsigned long long)want, (unsigned long long)wide);
    }
}

static void test_engines_agree(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RULES * 6; i++) {
        struct jc_rng r = {i * 31 + 7};
        struct mem mem;
        struct arena a;
        struct world w;
        mem_init(&mem, 0);
        arena_init(&a, &mem);
        uint32_t n = 8 + jc_below(&r, 40);
        struct pairs p = make_pairs(&a, &r, n, 3 * n, i % 2 == 0);
        world_open(&w, rules[i / 6], &p, 1 + i % 3);
        check_residuals(&w, rules[i / 6]);
        world_close(&w);
        arena_fini(&a);
    }
}

/* More ids than one thread's share, so that threads do work. */
static void test_threads_agree(void **state)
{
    (void)state;
    struct mem mem;
    struct arena a;
    struct jc_rng r = {99};
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    struct pairs p = make_pairs(&a, &r, 6000, 30000, true);
    for (unsigned i = 0; i < 6; i++) {
        struct world one, four;
        world_open(&one, rules[i], &p, 1);
        world_open(&four, rules[i], &p, 4);
        aset all = aset_first_n(one.q->n_atoms);
        for (aset f = 1; f <= all; f++) {
            vset vars = cq_vars_of(one.q, f);
            vset bd = vars & cq_vars_of(one.q, all & ~f);
            u128 x = 0, y = 1;
            assert_int_equal(join_max(one.j, f, bd, vars, &x, &one.err), OK);
            assert_int_equal(join_max(four.j, f, bd, vars, &y, &four.err), OK);
            assert_true(x == y);
        }
        world_close(&one);
        world_close(&four);
    }
    arena_fini(&a);
}

static void test_complete_graph(void **state)
{
    (void)state;
    enum { N = 40 };
    int64_t src[N * N], dst[N * N];
    struct pairs p = {src, dst, 0};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            src[p.n] = i * 1000003 - 5;
            dst[p.n++] = k * 1000003 - 5; /* loops too */
        }
    struct world w;
    u128 v = 0;
    world_open(&w, rules[5], &p, 1);
    assert_int_equal(plain_count(w.j, &v, &w.err), OK);
    assert_true(v == (u128)N * (N - 1) * (N - 2) * (N - 3));
    /* without E(a,b): pairs of common neighbours of a and b */
    assert_int_equal(join_max(w.j, 0x1e, 3, cq_free(w.q), &v, &w.err), OK);
    assert_true(v == (u128)(N - 2) * (N - 3));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_complete_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
