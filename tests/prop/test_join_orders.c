/*
 * Order comparisons over graphs and their key tables against the backtracking
 * join: patterns with and without cycles, every set of atoms kept, the boundary
 * that belongs to it and random ones, random outputs. Key tables hold all
 * vertices, or miss some, so that they are and are not implied by the edges.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"
#include "harness/plain.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *const rules[] = {
    "Q(a,b,c) :- E(a,b), E(b,c), N(a), N(b), N(c), a < c.",
    "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), N(a), N(b), N(c), a < b, b < c.",
    "Q(a,b,c) :- E(a,b), E(b,c), E(c,a), N(a), N(c), a < c, b != c.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), N(a), N(b), N(c), N(d), "
    "a < c.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), N(a), N(c), a < c, b < d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), N(a), N(b), a <= c, b != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), N(a), N(d), a < c, b < d, a != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), N(a), N(b), N(d), a < d.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), c < d, N(c).",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), N(b), N(c), b < c, c < d.",
    "Q(a,c) :- E(a,b), E(b,c), E(c,a), N(b), a < b.",
    "Q(a,b,c,d) :- E(a,b), E(c,d), N(a), N(c), a < c, d < b.",
};
enum { N_RULES = sizeof rules / sizeof rules[0], WORLDS = 8, VERTICES = 60 };

struct data {
    int64_t src[6 * VERTICES], dst[6 * VERTICES], id[VERTICES];
    size_t edges, nodes;
};

static void make_data(struct data *d, struct jc_rng *r, bool both, bool all)
{
    uint32_t n = 8 + jc_below(r, VERTICES - 8);
    d->edges = d->nodes = 0;
    for (size_t i = 0; i < 3 * n; i++) {
        uint32_t x = jc_below(r, 1 + jc_below(r, n));
        uint32_t y = jc_below(r, 1 + jc_below(r, n));
        d->src[d->edges] = x;
        d->dst[d->edges++] = y;
        if (both) {
            d->src[d->edges] = y;
            d->dst[d->edges++] = x;
        }
    }
    for (uint32_t x = 0; x < n; x++)
        if (all || jc_below(r, 8))
            d->id[d->nodes++] = x;
}

static void world_open(struct world *w, const char *rule, const struct data *d,
                       unsigned threads)
{
    const int64_t *edges[2] = {d->src, d->dst}, *nodes[1] = {d->id};
    world_read(w, rule);
    world_lend(w, 0, d->edges, edges, NULL);
    world_lend(w, 1, d->nodes, nodes, NULL);
    world_join(w, threads, d->edges % 2);
}

static void compare(struct world *w, const char *rule, aset f, vset bd,
                    vset outs)
{
    u128 got = 0, want = 0;
    assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
    assert_int_equal(join_max_walked(w->j, f, bd, outs, &want, &w->err), OK);
    if (got != want)
        fail_msg("%s f=%llx boundary=%llx outputs=%llx: %llu, walked %llu",
                 rule, (unsigned long long)f, (unsigned long long)bd,
                 (unsigned long long)outs, (unsigned long long)got,
                 (unsigned long long)want);
}

static void check_all(struct world *w, const char *rule, struct jc_rng *r)
{
    aset all = aset_first_n(w->q->n_atoms);
    for (aset f = 1; f <= all; f++) {
        vset vars = cq_vars_of(w->q, f);
        vset bd = f == all ? 0 : vars & cq_vars_of(w->q, all & ~f);
        compare(w, rule, f, bd, cq_free(w->q) & vars);
        compare(w, rule, f, jc_below(r, 256) & vars, vars);
        compare(w, rule, f, jc_below(r, 256) & vars, jc_below(r, 256) & vars);
    }
}

static void test_orders(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RULES * WORLDS; i++) {
        const char *rule = rules[i / WORLDS];
        struct jc_rng r = {i * 37 + 5};
        struct data d;
        struct world w;
        make_data(&d, &r, i % 2, i % 3);
        world_open(&w, rule, &d, 1 + i % 3);
        check_all(&w, rule, &r);
        world_close(&w);
    }
}

/* The backtracking join, whose work can be that of all pairs, only looks
 * whether there is any cycle; a key table that holds all vertices makes no new
 * request. */
static void test_engine(void **state)
{
    (void)state;
    struct jc_rng r = {11};
    struct data d;
    struct world w;
    make_data(&d, &r, true, true);
    world_open(&w, rules[3], &d, 1);
    aset all = aset_first_n(w.q->n_atoms);
    for (aset f = 1; f <= all; f++) {
        vset vars = cq_vars_of(w.q, f);
        vset bd = f == all ? 0 : vars & cq_vars_of(w.q, all & ~f);
        u128 got = 0;
        assert_int_equal(join_max(w.j, f, bd, vars, &got, &w.err), OK);
    }
    assert_true(w.j->n_walked <= 1);
    assert_true(w.j->solved[0] + w.j->solved[2] < 100);
    world_close(&w);
}

/* One triangle, of the ids that come first, before paths without any: a look
 * that begins with the last ids does not find it, and says so. */
static void test_late(void **state)
{
    (void)state;
    enum { HALF = 2000, EDGES = 3 * HALF };
    static int64_t src[EDGES + 3], dst[EDGES + 3];
    for (int i = 0; i < EDGES; i++) {
        src[i] = i % HALF;
        dst[i] = HALF + (i * 7 + i / HALF) % HALF;
    }
    for (int i = 0; i < 3; i++) {
        src[EDGES + i] = i - 3;
        dst[EDGES + i] = (i + 1) % 3 - 3;
    }
    for (size_t n = EDGES; n <= EDGES + 3; n += 3) {
        const int64_t *edges[2] = {src, dst};
        struct world w;
        u128 got = 7;
        world_read(&w, "Q(a,b,c) :- E(a,b), E(b,c), E(c,a), a < b.");
        world_lend(&w, 0, n, edges, NULL);
        world_join(&w, 1, false);
        assert_int_equal(join_max(w.j, 7, 7, 7, &got, &w.err), OK);
        assert_true(got == (n > EDGES));
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_engine),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
