/*
 * Sensitivities over the join engine: every T_F against nested loops on
 * random queries and instances, the trap of disjoint paths, a triangle's
 * smooth sensitivity from the stored table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "harness/rule_gen.h"
#include "harness/plain.h"
#include "harness/size.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"
#include "sens/sens.h"
#include "sens/smooth.h"

/* The engine's numbers for one query and instance; then the loops'. */
static void compare(const struct gen *g, struct rules *r, struct cq *q,
                    struct tiny *t, bool exact)
{
    struct store *st = tiny_store(r, t);
    struct join *j;
    struct sens_plan *p;
    if (join_open(&r->mem, q, st, NULL, &j, &r->err) != OK)
        fail_msg("%s: %s", g->rule, r->err.message);
    assert_int_equal(sens_plan_new(&r->arena, q, exact, &p, &r->err), OK);
    for (size_t c = 1; c < p->n_coords; c++) {
        const struct sens_coord *x = &p->coords[c];
        u128 got, want;
        enum status s = (exact ? join_max_exact : join_max)(
            j, x->atoms, x->boundary, x->outs, &got, &r->err);
        if (s != OK)
            fail_msg("%s: %s", g->rule, r->err.message);
        s = (exact ? tiny_max_exact : tiny_max)(t, x->atoms, x->boundary,
                                                x->outs, &want, &r->err);
        assert_int_equal(s, OK);
        if (got != want)
            fail_msg("%s%s: T of atoms %llu is %llu, not %llu", g->rule,
                     exact ? " (exact)" : "", (unsigned long long)x->atoms,
                     (unsigned long long)got, (unsigned long long)want);
    }
    join_close(j);
    store_free(st);
}

static void against_loops(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int round = 0; round < (int)test_size(700); round++) {
        struct gen g;
        struct rules r;
        struct tiny t;
        enum gen_class c = (enum gen_class)(round % GEN_CLASSES);
        gen_rule(c, &seed, &g);
        rules_init(&r);
        g.n_constraints = 0; /* random tables need not satisfy them */
        struct cq *q = gen_read(&r, &g);
        tiny_random(&t, q, 2 + (int)universe_random(&seed, 3),
                    c == GEN_BAGS ? 2 : 1, &seed);
        if (!q->unsat) {
            compare(&g, &r, q, &t, false);
            compare(&g, &r, q, &t, true);
        }
        assert_true(rules_fini(&r));
    }
}

#define ABCD "a != b, a != c, a != d, b != c, b != d, c != d."

struct answer {
    struct rules r;
    struct store *st;
    struct join *j;
    struct sens s;
};

static void answer(struct answer *x, const char *rule, const int *rows,
                   size_t n_rows)
{
    struct sens_options opt = {.global_upper = U128_INF,
                               .want_baselines = true};
    mpq_t beta;
    rules_init(&x->r);
    struct cq *q = rules_read(&x->r, rule);
    x->st = store_empty(&x->r);
    store_rows(&x->r, x->st, 0, rows, n_rows, 2);
    mpq_init(beta);
    mpq_set_ui(beta, 1, 10);
    opt.beta = beta;
    opt.store = x->st;
    if (join_open(&x->r.mem, q, x->st, NULL, &x->j, &x->r.err) != OK)
        fail_msg("%s", x->r.err.message);
    struct sens_counter by = sens_engine(x->j);
    if (sens_compute(&x->r.arena, q, &by, &opt, &x->s, &x->r.err) != OK)
        fail_msg("%s", x->r.err.message);
    mpq_clear(beta);
}

static void done(struct answer *x)
{
    sens_fini(&x->s);
    join_close(x->j);
    store_free(x->st);
    assert_true(rules_fini(&x->r));
}

/* Disjoint paths of three edges between two nodes that are not adjacent: one
 * row between them closes a rectangle with each path, in four ways. Counting
 * paths only between adjacent ends would miss them all. */
static void disjoint_paths(void **state)
{
    (void)state;
    enum { PATHS = 2000 };
    static int rows[PATHS * 6][2];
    size_t n = 0;
    for (int i = 0; i < PATHS; i++) {
        int a = 2 + 2 * i, b = a + 1;
        int edges[3][2] = {{0, a}, {a, b}, {b, 1}};
        for (int e = 0; e < 3; e++)
            for (int d = 0; d < 2; d++) {
                rows[n][0] = edges[e][d];
                rows[n++][1] = edges[e][1 - d];
            }
    }
    struct answer x;
    answer(&x, "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), " ABCD, rows[0],
           n);
    assert_int_equal(secret_count_open(&x.s.count), 0);
    assert_true(x.s.local_upper >= 4 * PATHS);
    u128 most = 0;
    for (size_t i = 0; i < x.s.n_residuals; i++)
        if (aset_count(x.s.residuals[i].removed) == 1 &&
            x.s.residuals[i].t > most)
            most = x.s.residuals[i].t;
    assert_int_equal(most, PATHS);
    done(&x);
}

/* On random graphs: smooth <= capped <= paper, smooth from the table equals
 * the search over pairs, and the count is the loops'. */
static void triangles(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int round = 0; round < 20; round++) {
        static int rows[400][2];
        uint32_t from[400], to[400];
        size_t n = 0;
        for (int u = 0; u < 15; u++)
            for (int v = 0; v < 15; v++)
                if (universe_random(&seed, 25) < (uint64_t)round) {
                    rows[n][0] = 100 * u;
                    rows[n][1] = 100 * v;
                    from[n] = (uint32_t)u;
                    to[n++] = (uint32_t)v;
                }
        struct answer x;
        answer(&x,
               "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, a != c, b != c.",
               rows[0], n);
        struct sens_graph g;
        double best = 0;
        assert_int_equal(
            sens_graph_new(&x.r.mem, from, to, n, 15, &g, &x.r.err), OK);
        for (size_t u = 0; u < 17; u++)
            for (size_t v = 0; v < 17; v++)
                for (uint64_t k = 0; u != v && k < 100; k++)
                    best = fmax(best, exp(-0.1 * (double)k) *
                                          (double)sens_triangle_pair(&g, false,
                                                                     u, v, k));
        sens_graph_free(&g);
        assert_true(x.s.has_smooth && fabs(x.s.smooth - best) < 1e-9 * best);
        assert_true(x.s.smooth <= x.s.value * (1 + 1e-9));
        assert_true(x.s.value <= x.s.paper * (1 + 1e-9));
        assert_true(x.s.paper <= x.s.elastic * (1 + 1e-9));
        done(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_loops),
        cmocka_unit_test(disjoint_paths),
        cmocka_unit_test(triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
