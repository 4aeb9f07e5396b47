/*
 * The engine's loops for common shapes (kernels), its twins and its kept
 * scratch against the backtracking join: patterns over two relations, directed
 * and not, with loops, repeats and without rows, for every F and random
 * boundaries and outputs; and the same requests again after numbers left 64
 * bits.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { TABLES = 3, COLS = 3, MOST = 4096 };

struct rows {
    int64_t v[TABLES][COLS][MOST];
    size_t n[TABLES];
};

static void world_open(struct world *w, const char *rule,
                       const struct rows *rows, unsigned threads)
{
    world_read(w, rule);
    for (size_t k = 0; k < w->st->n_tables; k++) {
        const int64_t *cols[COLS];
        for (int i = 0; i < COLS; i++)
            cols[i] = rows->v[k][i];
        world_lend(w, k, rows->n[k], cols, NULL);
    }
    world_join(w, threads, rows->n[0] % 2);
}

/* The third column, where a rule has one, makes weights. */
static void add(struct rows *r, int k, int64_t x, int64_t y)
{
    r->v[k][2][r->n[k]] = (int64_t)(r->n[k] % 3);
    r->v[k][0][r->n[k]] = x;
    r->v[k][1][r->n[k]++] = y;
}

/* Loops and repeats come by chance; one in eight tables is empty. */
static void make_rows(struct rows *r, struct jc_rng *g, uint32_t most)
{
    memset(r->n, 0, sizeof r->n);
    for (int k = 0; k < TABLES; k++) {
        uint32_t n = 1 + jc_below(g, most), loops = jc_below(g, 2);
        uint32_t edges = jc_below(g, 8) ? jc_below(g, 4 * n) : 0;
        bool both = jc_below(g, 2);
        for (uint32_t i = 0; i < edges; i++) {
            uint32_t x = jc_below(g, 1 + jc_below(g, n));
            uint32_t y = jc_below(g, n);
            if (x == y && !loops)
                continue;
            add(r, k, x, y);
            if (both)
                add(r, k, y, x);
        }
    }
}

static const char *const rules[] = {
    /* closing */
    "Q(a,b,c) :- E(a,b), F(b,c), E(a,c).",
    "Q(a,b,c) :- E(a,b), F(b,c), E(c,a), a != b, a != c.",
    "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, a != c, b != c.",
    "Q(a,b,c) :- E(a,b), E(b,c), E(c,a), F(a,b).",
    /* closing, twins */
    "Q(a,b,c,d) :- E(a,b), E(a,c), F(b,c), E(a,d), F(b,d), c != d.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), c != d, a != b, "
    "a != c, a != d, b != c, b != d.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), c != d, a != c.",
    "Q(a,b,c,d,e) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), E(a,e), E(b,e), "
    "c != d, c != e, d != e.",
    "Q(a,b,c,d,e) :- E(a,b), E(a,c), F(b,c), E(a,d), F(b,d), E(a,e), F(b,e), "
    "c != d, d != e.",
    /* pushing, twins or equal branches */
    "Q(a,b,c,d) :- E(a,b), F(c,b), E(a,d), F(c,d), b != d.",
    "Q(a,b,c,d) :- E(a,b), F(c,b), E(a,d), F(c,d).",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != b, a != c, a != d, "
    "b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), b != d, a != b.",
    "Q(a,b,c,d,e) :- E(a,b), F(c,b), E(a,d), F(c,d), E(a,e), F(c,e), "
    "b != d, b != e, d != e, a != c.",
    "Q(a,b,c,d,e) :- E(a,b), F(b,c), E(a,d), F(d,c), E(a,e), F(e,c).",
    /* two pairs of twins that may meet */
    "Q(a,b,c,d,e,f) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), E(a,e), E(b,e), "
    "E(a,f), E(b,f), c != d, e != f.",
    /* weights: the third column is aggregated out */
    "Q(a,b,c,d,x,y) :- E(a,b), F(a,c,x), E(b,c), F(a,d,y), E(b,d), c != d.",
    "Q(a,b,c,d,x,y) :- F(a,b,x), E(c,b), F(a,d,y), E(c,d), b != d.",
    "Q(a,b,c,x,y) :- F(a,b,x), F(a,c,y), b != c.",
    "Q(a,b,c,x,y) :- E(a,b), F(b,c,x), F(a,c,y).",
    /* stars */
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), b != c, b != d, c != d.",
    "Q(a,b,c,d,e) :- E(a,b), E(a,c), E(a,d), E(a,e), b != c, b != d, b != e, "
    "c != d, c != e, d != e.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), b != c, F(d,b), F(d,c).",
    /* longer ones */
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != d, a != c, b != d.",
    "Q(a,b,c,d) :- E(a,b), F(b,c), E(a,d), E(b,d), a != c, c != d.",
    "Q(a,b,c,d,e) :- E(a,b), F(b,c), E(c,d), F(d,e), E(e,a), a != c, b != d.",
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static vset some_of(struct jc_rng *g, vset all)
{
    vset s = 0;
    VSET_EACH (v, all)
        if (jc_below(g, 2))
            s |= vset_one(v);
    return s;
}

static void check(struct world *w, const char *rule, aset f, vset bd, vset outs)
{
    u128 got = 0, want = 0, wide = 0;
    assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
    assert_int_equal(join_max_wide(w->j, f, bd, outs, &wide, &w->err), OK);
    assert_int_equal(join_max_walked(w->j, f, bd, outs, &want, &w->err), OK);
    if (wide != want)
        fail_msg("%s f=%llx: with words another value", rule,
                 (unsigned long long)f);
    if (got != want)
        fail_msg("%s f=%llx boundary=%llx outs=%llx: %llu, walked %llu", rule,
                 (unsigned long long)f, (unsigned long long)bd,
                 (unsigned long long)outs, (unsigned long long)got,
                 (unsigned long long)want);
}

static void check_rule(struct jc_rng *g, const char *rule, struct rows *rows,
                       bool large)
{
    struct world w;
    world_open(&w, rule, rows, large ? 2 : 1);
    aset all = aset_first_n(w.q->n_atoms);
    for (aset f = 1; f <= all; f++) {
        vset vars = cq_vars_of(w.q, f);
        if (w.q->n_atoms > 6 && (large || (f != all && jc_below(g, 64))))
            continue; /* too slow to walk all of them */
        check(&w, rule, f, vars & cq_vars_of(w.q, all & ~f), vars);
        check(&w, rule, f, some_of(g, vars), vars);
        check(&w, rule, f, some_of(g, vars), some_of(g, vars));
    }
    world_close(&w);
}

static void test_small(void **state)
{
    static struct rows rows;
    (void)state;
    for (unsigned i = 0; i < N_RULES * 20; i++) {
        struct jc_rng g = {i * 77 + 5};
        make_rows(&rows, &g, 9);
        check_rule(&g, rules[i % N_RULES], &rows, false);
    }
}

/* Enough ids for many candidates and for pruning by degrees. */
static void test_larger(void **state)
{
    static struct rows rows;
    (void)state;
    for (unsigned i = 0; i < N_RULES; i++) {
        struct jc_rng g = {i * 13 + 1};
        make_rows(&rows, &g, 60);
        check_rule(&g, rules[i], &rows, true);
    }
}

/* Paths between two boundary variables, where degrees and the order of ids
 * leave out most pairs. */
static const char *const ends[] = {
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != c, b != d, a != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d).",
    "Q(a,b,c,d) :- E(a,b), F(b,c), E(d,c), a != d.",
    "Q(a,b,c,d) :- E(a,b), F(b,c), F(c,d).",
    "Q(a,b,c,d,x) :- E(a,b), E(b,c), F(c,d,x), a != c.",
    "Q(a,b,c,d,x) :- F(a,b,x), E(b,c), E(c,d), b != d.",
    "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(c,d), F(d,e).",
    "Q(a,b,c,d,e,f) :- E(a,b), E(b,c), E(c,d), E(a,e), E(e,f), E(f,a).",
    "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(a,e), E(b,e), E(c,d), a != d.",
    "Q(a,b,c,d,e,f) :- E(a,b), E(b,c), E(c,d), F(a,e), F(e,f), F(f,d).",
    "Q(a,b,c,d,e,f) :- E(a,b), E(b,c), E(c,d), E(a,e), E(e,f), E(f,d).",
    /* three that can be turned, but not two that can be exchanged */
    "Q(a,b,c,d,e,f) :- E(a,d), F(d,b), E(b,e), F(e,c), E(c,f), F(f,a).",
    /* three that can be exchanged; one that stands by */
    "Q(a,b,c,d) :- E(d,a), E(d,b), E(d,c), a != b, a != c, b != c.",
    "Q(a,b,c,d) :- E(d,a), E(d,b), E(d,c).",
    "Q(a,b,c,d) :- E(a,d), E(b,d), F(a,c), a != b, d != c.",
    "Q(a,b,c,d,x) :- E(a,d), E(b,d), F(a,c,x), a != b.",
};
enum { N_ENDS = sizeof ends / sizeof ends[0] };

/* A few hubs, fewer the higher they are, in one direction or both. */
static void make_hubs(struct rows *r, struct jc_rng *g, uint32_t n)
{
    memset(r->n, 0, sizeof r->n);
    for (int k = 0; k < TABLES; k++) {
        bool both = jc_below(g, 3) > 0;
        uint32_t edges = n + jc_below(g, 2 * n);
        for (uint32_t i = 0; i < edges; i++) {
            uint32_t x = jc_below(g, 1 + jc_below(g, 1 + jc_below(g, n)));
            uint32_t y = jc_below(g, 1 + jc_below(g, n));
            if (x == y)
                continue;
            add(r, k, x, y);
            if (both)
                add(r, k, y, x);
        }
    }
}

static void test_ends(void **state)
{
    static struct rows rows;
    (void)state;
    for (unsigned i = 0; i < N_ENDS * 60; i++) {
        struct jc_rng g = {i * 131 + 9};
        const char *rule = ends[i % N_ENDS];
        struct world w;
        make_hubs(&rows, &g, i % N_ENDS < 6 ? 10 + jc_below(&g, 60) : 24);
        world_open(&w, rule, &rows, 1 + i % 3);
        aset all = aset_first_n(w.q->n_atoms);
        vset vars = cq_vars_of(w.q, all);
        check(&w, rule, all, 1 | 8, vars);
        check(&w, rule, all, 1 | 8, some_of(&g, vars));
        check(&w, rule, all, 1 | 4 | 8, vars);
        check(&w, rule, all, 1 | 2 | 4, vars);
        check(&w, rule, all, some_of(&g, vars), vars);
        world_close(&w);
    }
}

static void add_both(struct rows *r, int64_t x, int64_t y)
{
    add(r, 0, x, y);
    add(r, 0, y, x);
}

/* The heaviest id is not the one with most triangles: degrees bound what one
 * pair has in common, not what one id has over all pairs. */
static void test_heavy_but_not_best(void **state)
{
    enum { CLIQUE = 12, FANS = 10, LEAVES = 400 };
    static struct rows rows;
    struct world w;
    u128 v = 0;
    (void)state;
    memset(rows.n, 0, sizeof rows.n);
    for (int i = 0; i < CLIQUE; i++)
        for (int k = 0; k < i; k++)
            add_both(&rows, 1000 + i, 1000 + k);
    for (int i = 0; i < LEAVES; i++)
        add_both(&rows, 0, 1 + i);
    for (int i = 0; i < FANS; i++)
        add_both(&rows, 1 + 2 * i, 2 + 2 * i);
    world_open(&w, rules[2], &rows, 1);
    check(&w, rules[2], 7, 1, 7);
    assert_int_equal(join_max(w.j, 7, 1, 7, &v, &w.err), OK);
    assert_true(v == (CLIQUE - 1) * (CLIQUE - 2));
    world_close(&w);
}

/* Numbers beyond 64 bits end in the backtracking join; what was begun with
 * messages must not show in the answers that come after. Sixteen common
 * neighbours of a and b among 20: 20^16 at one pair. */
static void test_after_overflow(void **state)
{
    enum { N = 20, TIMES = 16 };
    static struct rows rows;
    struct world w;
    char rule[1024];
    int n = snprintf(rule, sizeof rule,
                     "Q() :- E(a,b), E(a,p), E(p,q), E(q,b), p != b, a != q");
    (void)state;
    for (int i = 0; i < TIMES; i++)
        n += snprintf(rule + n, sizeof rule - (size_t)n, ", E(a,c%d), E(b,c%d)",
                      i, i);
    snprintf(rule + n, sizeof rule - (size_t)n, ".");
    memset(rows.n, 0, sizeof rows.n);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            add(&rows, 0, i, k);
    world_open(&w, rule, &rows, 1);
    aset all = aset_first_n(w.q->n_atoms);
    vset vars = cq_vars_of(w.q, all & ~(aset)0xe);
    u128 v = 0, want = 1;
    for (int i = 0; i < TIMES + 2; i++)
        want *= N;
    for (aset f = 1; f < 16; f++) {
        assert_int_equal(join_max(w.j, all & ~(aset)0xe, 0, vars, &v, &w.err),
                         OK);
        assert_true(v == want);
        vset few = cq_vars_of(w.q, f);
        check(&w, rule, f, 0, few);
        check(&w, rule, f, 1, few);
        join_forget(w.j);
    }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_larger),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_heavy_but_not_best),
        cmocka_unit_test(test_after_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
