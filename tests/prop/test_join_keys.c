/*
 * Joins along keys with a boundary in several atoms, against the backtracking
 * join: which of it other boundary determines, and what an atom finds by a key.
 * The backtracking join, which tries all combinations of boundary values, is
 * not to take them.
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

enum { ROWS = 40, WORLDS = 12, ASKS = 60 };

/* A refers to B, and B to C; ids are keys but where `broken`. */
static const char *const rules[] = {
    "Q(i,a,x,c,y,e,z) :- A(i,a,x), B(a,c,y), C(c,e,z).",
    "Q(i,a,x,c,y,e,z,k) :- A(i,a,x), B(a,c,y), C(c,e,z), A(k,a,w), w != z.",
    "Q(i,a,x,c,y,e,z,k) :- A(i,a,x), B(a,c,y), C(c,e,z), A(k,a,w), x < w.",
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

struct data {
    int64_t v[3][3][ROWS];
};

static void make_data(struct data *d, struct jc_rng *r, bool broken)
{
    for (int t = 0; t < 3; t++)
        for (uint32_t i = 0; i < ROWS; i++) {
            d->v[t][0][i] = broken && jc_below(r, 6) == 0 ? 0 : (int64_t)i;
            d->v[t][1][i] = jc_below(r, 1 + jc_below(r, ROWS + 8));
            d->v[t][2][i] = jc_below(r, 5);
        }
}

static void ask(struct world *w, struct jc_rng *r, const char *rule)
{
    aset f = 1 + jc_below(r, (uint32_t)aset_first_n(w->q->n_atoms));
    vset vars = cq_vars_of(w->q, f);
    vset bd = jc_below(r, 1024) & vars;
    vset outs = jc_below(r, 2) ? vars : jc_below(r, 1024) & vars;
    u128 got = 0, want = 0;
    assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
    assert_int_equal(join_max_walked(w->j, f, bd, outs, &want, &w->err), OK);
    if (got != want)
        fail_msg("%s f=%llx boundary=%llx outputs=%llx: %llu, walked %llu",
                 rule, (unsigned long long)f, (unsigned long long)bd,
                 (unsigned long long)outs, (unsigned long long)got,
                 (unsigned long long)want);
}

static void world_open(struct world *w, const char *rule, const struct data *d)
{
    world_read(w, rule);
    for (size_t t = 0; t < 3; t++) {
        const int64_t *cols[3] = {d->v[t][0], d->v[t][1], d->v[t][2]};
        world_lend(w, t, ROWS, cols, NULL);
    }
    world_join(w, 1, false);
}

static void test_keys(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_RULES * WORLDS; i++) {
        struct jc_rng r = {i * 41 + 3};
        struct data d;
        struct world w;
        make_data(&d, &r, i % 2);
        world_open(&w, rules[i / WORLDS], &d);
        for (int k = 0; k < ASKS; k++)
            ask(&w, &r, rules[i / WORLDS]);
        world_close(&w);
    }
}

/* The whole of a chain with a variable of each atom in the boundary. */
static void test_engine(void **state)
{
    (void)state;
    struct jc_rng r = {8};
    struct data d;
    struct world w;
    u128 got = 0;
    make_data(&d, &r, false);
    world_open(&w, rules[0], &d);
    vset x = w.j->atoms[0].vars[2], y = w.j->atoms[1].vars[2];
    vset z = w.j->atoms[2].vars[2];
    vset bd =
        vset_one((uint32_t)x) | vset_one((uint32_t)y) | vset_one((uint32_t)z);
    assert_int_equal(join_max(w.j, 7, bd, cq_free(w.q), &got, &w.err), OK);
    assert_true(got > 1);
    assert_int_equal(w.j->n_walked, 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
