/*
 * The work bound against the steps that the steady engine counts: on random
 * queries and data, for random sets of atoms, boundaries and outputs, and on
 * instances made to be bad. The answers are the oracle's.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bound/work.h"
#include "harness/size.h"
#include "join/join_int.h"

static const struct jc_shape shapes[] = {
    {.atoms = 3, .vars = 4, .rows = 20, .domain = 4, .cmps = 0},
    {.atoms = 4, .vars = 5, .rows = 20, .domain = 5, .cmps = 0, .bags = true},
    {.atoms = 5, .vars = 5, .rows = 20, .domain = 5, .cmps = 0, .graph = true},
    {.atoms = 5, .vars = 6, .rows = 22, .domain = 9, .cmps = 0, .graph = true},
    {.atoms = 4, .vars = 4, .rows = 22, .domain = 5, .cmps = 2, .order = true},
    {.atoms = 4,
     .vars = 5,
     .rows = 12,
     .domain = 3,
     .cmps = 3,
     .nulls = true,
     .bags = true,
     .order = true,
     .consts = true,
     .preds = true},
    {.atoms = 5,
     .vars = 5,
     .rows = 24,
     .domain = 5,
     .cmps = 4,
     .graph = true,
     .symmetric = true},
};

struct tally {
    uint64_t asked, linear, walked, tight;
};

static vset some(struct jc_rng *r, vset of)
{
    vset out = 0;
    VSET_EACH (v, of) {
        if (jc_below(r, 2))
            out |= vset_one(v);
    }
    return out;
}

struct steady_ctx {
    struct arena *a;
    const struct cq *q;
    const struct bound_sizes *sizes;
};

static enum status steady(void *ctx, aset f, vset boundary, vset outs,
                          bool keys, uint32_t *rank, struct err *err)
{
    struct steady_ctx *x = ctx;
    struct bound_ask ask = {f, boundary, outs, keys};
    u128 most;
    return bound_work(x->a, x->q, x->sizes, &ask, rank, &most, NULL, err);
}

static void try_ask(struct join_case *c, struct jc_rng *r,
                    const struct bound_sizes *sizes, struct tally *t)
{
    struct steady_ctx ctx = {&c->arena, &c->q, sizes};
    struct join_options opt = {.steady = steady, .steady_ctx = &ctx};
    struct join *j = NULL;
    struct err err;
    u128 got = 0, most = 0;
    bool linear = false;
    aset f = 0;
    while (!f)
        f = jc_below(r, 2) ? aset_first_n(c->q.n_atoms)
                           : jc_below(r, 1u << c->q.n_atoms);
    vset vars = cq_vars_of(&c->q, f), boundary = some(r, vars);
    struct bound_ask ask = {f, boundary, vars, 0};
    if (jc_below(r, 2))
        ask.outs = some(r, vars) | boundary;
    assert_int_equal(join_open(&c->mem, &c->q, &c->st, &opt, &j, &err), OK);
    assert_int_equal(join_max(j, f, boundary, ask.outs, &got, &err), OK);
    assert_int_equal(
        bound_work(&c->arena, &c->q, sizes, &ask, NULL, &most, &linear, &err),
        OK);
    assert_true(got == jc_oracle(c, f, boundary, ask.outs, false));
    if (join_steps(j) > most || (linear && j->n_walked)) {
        jc_print(c);
        fail_msg("%llu steps, bound %llu, linear %d, walked %llu",
                 (unsigned long long)join_steps(j), (unsigned long long)most,
                 linear, (unsigned long long)j->n_walked);
    }
    t->asked++;
    t->linear += linear;
    t->walked += j->n_walked > 0;
    t->tight += join_steps(j) * 8 > most;
    join_close(j);
}

/* The tables with, now and then, what is true of their first columns. */
static void declare(struct join_case *c, struct jc_rng *r)
{
    struct err err;
    schema_init(&c->schema, &c->arena);
    for (uint32_t k = 0; k < JC_TABLES; k++) {
        const struct jc_table *t = &c->t[k];
        size_t made = 0;
        char name[2] = {(char)('A' + k), 0}, text[64];
        uint32_t most = 1;
        for (uint32_t i = 0; i < t->n_rows; i++) {
            uint32_t n = 0;
            for (uint32_t m = 0; m < t->n_rows; m++)
                n += t->v[m][0] == t->v[i][0] && t->v[i][0] != JC_NULL;
            most = n > most ? n : most;
        }
        assert_int_equal(schema_add_table(&c->schema,
                                          str_copy(&c->arena, str_of(name)),
                                          t->n_cols, &made, &err),
                         OK);
        snprintf(text, sizeof text, "%s: 1 -> * <= %u", name, most);
        if (jc_below(r, 2))
            assert_int_equal(
                schema_read_constraint(&c->schema,
                                       str_copy(&c->arena, str_of(text)), &err),
                OK);
    }
}

static void random_queries(void **state)
{
    struct jc_rng r = {.s = 20260115};
    struct tally t = {0};
    (void)state;
    for (size_t i = 0; i < test_size(400); i++) {
        struct join_case c;
        u128 rows[JC_TABLES];
        struct bound_sizes sizes = {rows};
        jc_make(&c, &r, &shapes[i % (sizeof shapes / sizeof *shapes)]);
        declare(&c, &r);
        for (size_t k = 0; k < JC_TABLES; k++)
            rows[k] = c.t[k].n_rows;
        for (int k = 0; !c.q.unsat && k < 6; k++)
            try_ask(&c, &r, &sizes, &t);
        jc_free(&c);
    }
    print_message("%llu asked, %llu linear, %llu walked, %llu within 8\n",
                  (unsigned long long)t.asked, (unsigned long long)t.linear,
                  (unsigned long long)t.walked, (unsigned long long)t.tight);
    assert_true(t.linear > t.asked / 10 && t.walked > t.asked / 20);
}

/* --- bad instances -------------------------------------------------------- */

struct bad {
    const char *rule;
    aset f;
    vset boundary; /* by number; outputs are all variables */
    bool linear;
};

/* The complete graph on n vertices. */
static size_t complete(int64_t n, int64_t **cols)
{
    size_t rows = 0;
    cols[0] = malloc(sizeof(int64_t) * (size_t)(n * n));
    cols[1] = malloc(sizeof(int64_t) * (size_t)(n * n));
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            cols[0][rows] = a;
            cols[1][rows++] = b;
        }
    return rows;
}

/* A hub and its leaves, both ways. */
static size_t star(int64_t n, int64_t **cols)
{
    size_t rows = 0;
    cols[0] = malloc(sizeof(int64_t) * (size_t)(2 * n));
    cols[1] = malloc(sizeof(int64_t) * (size_t)(2 * n));
    for (int64_t a = 1; a <= n; a++) {
        cols[0][rows] = 0;
        cols[1][rows++] = a;
        cols[0][rows] = a;
        cols[1][rows++] = 0;
    }
    return rows;
}

static uint64_t one_bad(const struct bad *b, size_t rows, int64_t *const *cols)
{
    struct world w;
    u128 most, got, sizes_of[4] = {rows, rows, rows, rows};
    struct bound_sizes sizes = {sizes_of};
    bool linear;
    const int64_t *lent[3] = {cols[0], cols[1], cols[0]};
    world_read(&w, b->rule);
    for (size_t t = 0; t < w.schema.tables.n; t++)
        world_lend(&w, t, rows, lent, NULL);
    struct bound_ask ask = {b->f, b->boundary, cq_vars_of(w.q, b->f), 0};
    struct steady_ctx ctx = {&w.arena, w.q, &sizes};
    struct join_options opt = {.steady = steady, .steady_ctx = &ctx};
    assert_int_equal(join_open(&w.mem, w.q, w.st, &opt, &w.j, &w.err), OK);
    assert_int_equal(join_max(w.j, ask.f, ask.boundary, ask.outs, &got, &w.err),
                     OK);
    assert_int_equal(
        bound_work(&w.arena, w.q, &sizes, &ask, NULL, &most, &linear, &w.err),
        OK);
    uint64_t steps = join_steps(w.j);
    print_message("%s: %llu steps, bound %llu\n", b->rule,
                  (unsigned long long)steps, (unsigned long long)most);
    assert_int_equal(linear, b->linear);
    assert_true(steps <= most);
    world_close(&w);
    return steps;
}

/* Of an acyclic query the set without U is a triangle: whether the whole is
 * acyclic says nothing of its parts. */
static void bad_instances(void **state)
{
    static const struct bad all[] = {
        {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c).", 7, 0, false},
        {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c), U(a,b,c).", 7, 0, false},
        {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c), U(a,b,c).", 15, 0, true},
        {"Q(a,b,c) :- E(a,b), E(b,c).", 3, 0, true},
        /* the largest co-degree: acyclic, but not with its boundary */
        {"Q(a,b,c) :- E(a,b), E(b,c).", 3, 5, false},
        {"Q(a,b,c) :- E(a,b), E(b,c).", 3, 2, true},
        {"Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a).", 15, 0, false},
    };
    (void)state;
    int64_t *k[2], *s[2];
    size_t n_k = complete(40, k), n_s = star(300, s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t steps = one_bad(&all[i], n_k, k);
        one_bad(&all[i], n_s, s);
        /* what a bound by rows alone would have said */
        if (i == 1)
            assert_true(steps > 10 * n_k);
    }
    for (int c = 0; c < 2; c++) {
        free(k[c]);
        free(s[c]);
    }
}

/* Constraints count: with few rows for each value the bound falls. */
static void constraints(void **state)
{
    struct world w;
    struct bound_ask ask = {15, 0, 15, 0};
    u128 free_, bound, rows[1] = {1000000};
    struct bound_sizes sizes = {rows};
    (void)state;
    world_read(&w, "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a).");
    assert_int_equal(
        bound_work(&w.arena, w.q, &sizes, &ask, NULL, &free_, NULL, &w.err),
        OK);
    struct table *t = &w.schema.tables.p[0];
    assert_int_equal(
        schema_read_constraint(&w.schema, STR("E: 1 -> 2 <= 100"), &w.err), OK);
    assert_int_equal(
        bound_work(&w.arena, w.q, &sizes, &ask, NULL, &bound, NULL, &w.err),
        OK);
    print_message("rectangle: %.3g, with degrees %.3g\n", (double)free_,
                  (double)bound);
    assert_true(t->degrees.n == 1);
    assert_true(free_ >= (u128)1000000000000);
    assert_true(bound < (u128)11000000000);
    world_close(&w);
}

/* Nothing is known: there is no bound. */
static void unknown(void **state)
{
    struct world w;
    struct bound_ask ask = {3, 0, 7, 0};
    u128 most;
    (void)state;
    world_read(&w, "Q(a,b,c) :- E(a,b), E(b,c).");
    assert_int_equal(
        bound_work(&w.arena, w.q, NULL, &ask, NULL, &most, NULL, &w.err), OK);
    assert_true(most == U128_INF);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_queries), cmocka_unit_test(bad_instances),
        cmocka_unit_test(constraints), cmocka_unit_test(unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
