/*
 * The parts of sens on their own: the scan over k, the paper's sum for
 * several relations, elastic sensitivity, recognised shapes, triangles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "harness/rules.h"
#include "harness/universe.h"
#include "sens/elastic.h"
#include "sens/paper.h"
#include "sens/smooth.h"

/* --- scan ---------------------------------------------------------------- */

/* 100, then a late hump: a scan that stops at the first fall misses it. */
static void two_humps(void *ctx, uint64_t k, mpz_t out)
{
    (void)ctx;
    mpz_ui_pow_ui(out, k, 6);
    mpz_add_ui(out, out, 1000000);
}

static void late_maximum(void **state)
{
    (void)state;
    struct mem m;
    struct arena a;
    struct err err;
    struct sens_peak peak;
    struct sens_sequence seq = {.value = two_humps, .zero_after = UINT64_MAX};
    mpq_t beta, s;
    mem_init(&m, 0);
    arena_init(&a, &m);
    mpq_inits(beta, s, (mpq_ptr)NULL);
    mpq_set_ui(beta, 1, 10);
    mpz_init_set_si(seq.limit, -1);
    assert_int_equal(sens_falls_from(beta, 6, 1, &seq.from, &err), OK);
    assert_int_equal(seq.from, 61);
    assert_int_equal(sens_scan(&a, beta, &seq, &peak, &err), OK);
    double best = 0;
    uint64_t at = 0;
    for (uint64_t k = 0; k < 500; k++) {
        double v = exp(-0.1 * (double)k) * (pow((double)k, 6) + 1e6);
        if (v > best) {
            best = v;
            at = k;
        }
    }
    assert_true(at > 50);
    assert_int_equal(peak.k, at);
    sens_peak_rational(&peak, s);
    assert_true(fabs(mpq_get_d(s) - best) < 1e-9 * best);
    sens_peak_fini(&peak);
    mpz_clear(seq.limit);
    mpq_clears(beta, s, (mpq_ptr)NULL);
    arena_fini(&a);
}

/* A single value at k = 1: e^-beta times it, never rounded down. */
static void only_at_one(void *ctx, uint64_t k, mpz_t out)
{
    mpz_set_ui(out, k == 1 ? *(const uint64_t *)ctx : 0);
}

static void products_round_up(void **state)
{
    (void)state;
    uint64_t seed = 6;
    mpfr_t want;
    mpq_t beta, s;
    mpfr_init2(want, 2000);
    mpq_inits(beta, s, (mpq_ptr)NULL);
    for (unsigned i = 1; i < 200; i++) {
        struct mem m;
        struct arena a;
        struct err err;
        struct sens_peak peak;
        uint64_t c = 1 + (universe_random(&seed, 1u << 30) << 31) +
                     universe_random(&seed, 1u << 30);
        struct sens_sequence seq = {.ctx = &c,
                                    .value = only_at_one,
                                    .from = 8,
                                    .zero_after = UINT64_MAX};
        mem_init(&m, 0);
        arena_init(&a, &m);
        mpq_set_ui(beta, i, 17);
        mpq_canonicalize(beta);
        mpz_init_set_si(seq.limit, -1);
        assert_int_equal(sens_scan(&a, beta, &seq, &peak, &err), OK);
        assert_int_equal(peak.k, 1);
        sens_peak_rational(&peak, s);
        mpfr_set_q(want, beta, MPFR_RNDD);
        mpfr_neg(want, want, MPFR_RNDN);
        mpfr_exp(want, want, MPFR_RNDU);
        mpfr_mul_ui(want, want, c, MPFR_RNDU);
        assert_true(mpfr_cmp_q(want, s) <= 0);
        sens_peak_fini(&peak);
        mpz_clear(seq.limit);
        arena_fini(&a);
    }
    mpq_clears(beta, s, (mpq_ptr)NULL);
    mpfr_clear(want);
}

static void thresholds(void **state)
{
    (void)state;
    struct err err;
    mpq_t beta;
    uint64_t from = 9;
    mpq_init(beta);
    mpq_set_ui(beta, 1, 10);
    assert_int_equal(sens_falls_from(beta, 0, 1, &from, &err), OK);
    assert_int_equal(from, 0);
    assert_int_equal(sens_falls_from(beta, 3, 2, &from, &err), OK);
    assert_int_equal(from, (uint64_t)ceil(2 / (1 - exp(-0.1 / 3))));
    mpq_set_ui(beta, 1000, 1);
    assert_int_equal(sens_falls_from(beta, 1, 1, &from, &err), OK);
    assert_int_equal(from, 2); /* a little more than 1, rounded up */
    mpq_set_ui(beta, 1, 1000000000);
    assert_int_equal(sens_falls_from(beta, 1, 1, &from, &err), E_TOO_LARGE);
    mpq_clear(beta);
}

/* --- the paper's sum ------------------------------------------------------ */

/* The definition, word for word: s over all compositions, i over the private
 * relations, E inside D_i, E' inside the rest. */
static uint64_t by_definition(const struct sens_state *st, uint64_t k)
{
    const struct sens_plan *p = st->p;
    uint64_t best = 0;
    aset d[2] = {cq_atoms_of_table(p->q, p->tables[0]),
                 cq_atoms_of_table(p->q, p->tables[1])};
    for (uint64_t s0 = 0; s0 <= k; s0++)
        for (int i = 0; i < 2; i++) {
            uint64_t sum = 0;
            for (aset e = d[i]; e; e = (e - 1) & d[i])
                for (aset rest = p->priv & ~e, x = rest;; x = (x - 1) & rest) {
                    long c = sens_plan_find(p, p->all & ~e & ~x);
                    uint64_t t = mpz_get_ui(st->t[c]);
                    ASET_EACH (j, x)
                        t *= aset_has(d[0], j) ? s0 : k - s0;
                    sum += t;
                    if (!x)
                        break;
                }
            best = sum > best ? sum : best;
        }
    return best;
}

/* Numbers beyond the machine's words: everything scales with T. */
static void check_wide(struct rules *r, struct sens_state *s,
                       struct sens_paper *narrow)
{
    struct sens_paper wide;
    mpz_t x, y;
    for (size_t c = 0; c < s->p->n_coords; c++)
        mpz_mul_2exp(s->t[c], s->t[c], 120);
    assert_int_equal(sens_paper_new(&r->arena, s, 30, &wide, &r->err), OK);
    mpz_inits(x, y, (mpz_ptr)NULL);
    for (uint64_t k = 0; k < 30; k++) {
        assert_true(sens_paper_at(&wide, k, x));
        assert_true(sens_paper_at(narrow, k, y));
        mpz_mul_2exp(y, y, 120);
        assert_int_equal(mpz_cmp(x, y), 0);
    }
    mpz_clears(x, y, (mpz_ptr)NULL);
    sens_paper_fini(&wide);
}

static void several_relations(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "Q(x,y,z) :- R(x,y), S(y,z).",
        "Q(x,y,z,w) :- R(x,y), R(y,z), S(z,w).",
        "Q(x,y,z,w) :- R(x,y), R(y,z), S(z,w), S(w,x), P(x,w).",
    };
    uint64_t seed = 3;
    for (size_t i = 0; i < 3; i++) {
        struct rules r;
        struct sens_plan *p;
        struct sens_state s;
        struct sens_paper paper;
        mpz_t v;
        rules_init(&r);
        struct cq *q = rules_read(&r, rules[i]);
        if (i == 2)
            rules_public(&r, "P");
        assert_int_equal(sens_plan_new(&r.arena, q, false, &p, &r.err), OK);
        assert_int_equal(sens_state_new(&r.arena, p, &s, &r.err), OK);
        for (size_t c = 1; c < p->n_coords; c++)
            mpz_set_ui(s.t[c], universe_random(&seed, 50));
        assert_int_equal(sens_paper_new(&r.arena, &s, 30, &paper, &r.err), OK);
        assert_int_equal(paper.n_table, 30);
        mpz_init(v);
        for (uint64_t k = 0; k < 30; k++) {
            assert_true(sens_paper_at(&paper, k, v));
            assert_int_equal(mpz_get_ui(v), by_definition(&s, k));
            sens_paper_bound(&paper, k, v);
            assert_true(mpz_cmp_ui(v, by_definition(&s, k)) >= 0);
        }
        assert_false(sens_paper_at(&paper, 30, v));
        check_wide(&r, &s, &paper);
        mpz_clear(v);
        sens_paper_fini(&paper);
        sens_state_fini(&s);
        assert_true(rules_fini(&r));
    }
}

/* --- elastic -------------------------------------------------------------- */

struct columns {
    u128 mf, rows;
};

static enum status same_everywhere(void *ctx, aset f, vset boundary, vset outs,
                                   u128 *out, struct err *err)
{
    struct columns *c = ctx;
    (void)f;
    (void)outs;
    (void)err;
    *out = boundary ? c->mf : c->rows;
    return OK;
}

static void elastic_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        unsigned n;
    } cases[] = {
        {"Q(a,b) :- E(a,b).", 1},
        {"Q(a,b,c) :- E(a,b), E(b,c).", 2},
        {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c).", 3},
        {"Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a).", 4},
        {"Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d).", 5},
        {"Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), E(c,d).", 6},
        {"Q(a,b,c,d,e,f,g,h) :- E(a,b), E(b,c), E(c,d), E(d,e), E(e,f), "
         "E(f,g), E(g,h).",
         7},
    };
    mpz_t got, want, x;
    mpz_inits(got, want, x, (mpz_ptr)NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules r;
        struct sens_elastic *e;
        struct columns c = {17, 100000};
        struct sens_counter counter = {.ctx = &c, .max = same_everywhere};
        rules_init(&r);
        struct cq *q = rules_read(&r, cases[i].rule);
        assert_int_equal(sens_elastic_new(&r.arena, q, &counter, &e, &r.err),
                         OK);
        for (unsigned k = 0; k < 50; k += 7) {
            sens_elastic_at(e, k, got);
            mpz_ui_pow_ui(want, 17 + k + 1, cases[i].n);
            mpz_ui_pow_ui(x, 17 + k, cases[i].n);
            mpz_sub(want, want, x);
            assert_int_equal(mpz_cmp(got, want), 0);
        }
        sens_elastic_fini(e);
        assert_true(rules_fini(&r));
    }
    mpz_clears(got, want, x, (mpz_ptr)NULL);
}

/* Different tables: the larger product; public tables do not change; more
 * atoms than the dynamic program takes. */
static void elastic_other(void **state)
{
    (void)state;
    struct rules r;
    struct sens_elastic *e;
    struct columns c = {5, 100};
    struct sens_counter counter = {.ctx = &c, .max = same_everywhere};
    char rule[400] = "Q(x0) :- P(x0,x1)";
    mpz_t v;
    mpz_init(v);
    rules_init(&r);
    struct cq *q = rules_read(&r, "Q(x,y,z) :- R(x,y), S(y,z).");
    assert_int_equal(sens_elastic_new(&r.arena, q, &counter, &e, &r.err), OK);
    sens_elastic_at(e, 2, v);
    assert_int_equal(mpz_get_ui(v), 7);
    sens_elastic_fini(e);
    rules_public(&r, "S");
    assert_int_equal(sens_elastic_new(&r.arena, q, &counter, &e, &r.err), OK);
    sens_elastic_at(e, 2, v);
    assert_int_equal(mpz_get_ui(v), 5);
    sens_elastic_fini(e);
    for (int i = 1; i < 14; i++) {
        char atom[24];
        snprintf(atom, sizeof atom, ", P(x%d,x%d)", i, i + 1);
        strcat(rule, atom);
    }
    strcat(rule, ", R(x14,x15)");
    q = rules_read(&r, rule);
    rules_public(&r, "P");
    assert_int_equal(sens_elastic_new(&r.arena, q, &counter, &e, &r.err), OK);
    sens_elastic_at(e, 9, v);
    mpz_t want;
    mpz_init(want);
    mpz_ui_pow_ui(want, 5, 14); /* every public atom multiplies by mf */
    assert_int_equal(mpz_cmp(v, want), 0);
    mpz_clears(v, want, (mpz_ptr)NULL);
    sens_elastic_fini(e);
    assert_true(rules_fini(&r));
}

/* --- shapes --------------------------------------------------------------- */

static enum sens_shape shape(const char *rule, const char *public,
                             const char *constraint)
{
    struct rules r;
    uint32_t centre;
    rules_init(&r);
    struct cq *q = rules_read(&r, rule);
    if (public)
        rules_public(&r, public);
    if (constraint)
        rules_constraint(&r, constraint);
    enum sens_shape s = sens_shape_of(q, &centre);
    assert_true(rules_fini(&r));
    return s;
}

static void shapes(void **state)
{
    (void)state;
#define ABC "a != b, c != a, b != c."
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,c), " ABC, NULL, NULL),
        SHAPE_TRANSITIVE);
    assert_int_equal(
        shape("Q(a,b,c) :- E(c,a), E(b,a), E(c,b), " ABC, NULL, NULL),
        SHAPE_TRANSITIVE);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,c), E(c,a), " ABC, NULL, NULL),
        SHAPE_CYCLE);
    assert_int_equal(shape("Q(a,b,c) :- E(a,b), E(a,c), " ABC, NULL, NULL),
                     SHAPE_STAR);
    assert_int_equal(shape("Q(a,b,c) :- E(b,a), E(c,a), " ABC, NULL, NULL),
                     SHAPE_STAR);
    /* A path, no filters, one filter short, a projection, public, declared. */
    assert_int_equal(shape("Q(a,b,c) :- E(a,b), E(b,c), " ABC, NULL, NULL),
                     SHAPE_OTHER);
    assert_int_equal(shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,c).", NULL, NULL),
                     SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, b != c.", NULL,
              NULL),
        SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b) :- E(a,b), E(b,c), E(a,c), " ABC, NULL, NULL),
        SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,a), E(a,c), " ABC, NULL, NULL),
        SHAPE_OTHER);
    /* loops for edges: the pairs differ, but it is no triangle */
    assert_int_equal(
        shape("Q(a,b,c) :- E(c,a), E(b,b), E(c,c), " ABC, NULL, NULL),
        SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,a), " ABC, NULL, NULL),
        SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,c), " ABC, "E", NULL),
        SHAPE_OTHER);
    assert_int_equal(shape("Q(a,b,c) :- E(a,b), E(b,c), E(a,c), " ABC, NULL,
                           "E: 1 -> 2 <= 5"),
                     SHAPE_OTHER);
    assert_int_equal(
        shape("Q(a,b,c) :- E(a,b), F(b,c), E(a,c), " ABC, NULL, NULL),
        SHAPE_OTHER);
}

static void stars(void **state)
{
    (void)state;
    mpz_t v;
    mpz_init(v);
    sens_star_at(3, 81, 0, v);
    assert_int_equal(mpz_get_ui(v), 19440);
    sens_star_at(3, 81, 1, v);
    assert_int_equal(mpz_get_ui(v), 3 * 82 * 81);
    sens_star_at(1, 5, 3, v);
    assert_int_equal(mpz_get_ui(v), 1);
    sens_star_at(4, 1, 1, v); /* 4 * 2 * 1 * 0 */
    assert_int_equal(mpz_get_ui(v), 0);
    sens_star_at(4, 1, 2, v);
    assert_int_equal(mpz_get_ui(v), 24);
    mpz_clear(v);
}

/* --- triangles ------------------------------------------------------------ */

enum { NODES = 6 };

struct small_graph {
    bool edge[NODES][NODES];
};

/* Results of the query that use the row (u, v). */
static unsigned results_of(const struct small_graph *g, bool cycle, int u,
                           int v)
{
    unsigned n = 0;
    for (int w = 0; w < NODES; w++) {
        if (w == u || w == v)
            continue;
        bool a = g->edge[u][w], b = g->edge[v][w], c = g->edge[w][u],
             d = g->edge[w][v];
        n += cycle
                 ? 3u * (unsigned)(b && c)
                 : (unsigned)(a && b) + (unsigned)(c && d) + (unsigned)(a && d);
    }
    return n;
}

struct best_pairs {
    unsigned at[NODES][NODES];
};

/* The most results of each pair when up to k more rows are tried in every
 * way, from place `from` on. */
static void try_rows(struct small_graph *g, bool cycle, unsigned k, int from,
                     struct best_pairs *best)
{
    for (int u = 0; u < NODES; u++)
        for (int v = 0; v < NODES; v++) {
            unsigned n = u == v ? 0 : results_of(g, cycle, u, v);
            if (n > best->at[u][v])
                best->at[u][v] = n;
        }
    for (int p = from; k > 0 && p < NODES * NODES; p++) {
        int u = p / NODES, v = p % NODES;
        if (u == v || g->edge[u][v])
            continue;
        g->edge[u][v] = true;
        try_rows(g, cycle, k - 1, p + 1, best);
        g->edge[u][v] = false;
    }
}

static void check_pairs(const struct sens_graph *graph, struct small_graph *g,
                        bool cycle, unsigned k)
{
    struct best_pairs best = {0};
    try_rows(g, cycle, k, 0, &best);
    for (size_t u = 0; u < 4; u++)
        for (size_t v = 0; v < 4; v++)
            if (u != v)
                assert_int_equal(sens_triangle_pair(graph, cycle,
                                                    graph->rank[u],
                                                    graph->rank[v], k),
                                 best.at[u][v]);
}

static void triangles(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 30; round++) {
        struct small_graph g = {0};
        uint32_t from[30], to[30];
        size_t n = 0;
        struct mem m;
        struct err err;
        struct sens_graph graph;
        /* Edges among four nodes; the others stay fresh. */
        for (int u = 0; u < 4; u++)
            for (int v = 0; v < 4; v++)
                if (universe_random(&seed, 100) < 20 + (unsigned)round * 2) {
                    g.edge[u][v] = u != v;
                    from[n] = (uint32_t)u; /* loops and doubles fall away */
                    to[n++] = (uint32_t)v;
                }
        if (n > 0) {
            from[n] = from[0];
            to[n] = to[0];
            n++;
        }
        mem_init(&m, 0);
        assert_int_equal(sens_graph_new(&m, from, to, n, 4, &graph, &err), OK);
        for (unsigned k = 0; k < 4; k++)
            check_pairs(&graph, &g, round & 1, k);
        sens_graph_free(&graph);
        assert_int_equal(atomic_load(&m.used), 0);
    }
}

/* The peak over pairs is the maximum over all pairs and k. */
static void triangle_peak(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 30; round++) {
        uint32_t from[400], to[400];
        size_t n = 0;
        struct mem m;
        struct err err;
        struct sens_graph g;
        for (uint32_t u = 0; u < 18; u++)
            for (uint32_t v = 0; v < 18; v++)
                if (universe_random(&seed, 30) < (uint64_t)round) {
                    from[n] = u;
                    to[n++] = v;
                }
        mem_init(&m, 0);
        assert_int_equal(sens_graph_new(&m, from, to, n, 18, &g, &err), OK);
        for (int cycle = 0; cycle < 2; cycle++) {
            double beta = round % 3 ? 0.07 : 0.5, best = 0, value;
            for (size_t u = 0; u < 20; u++)
                for (size_t v = 0; v < 20; v++)
                    for (uint64_t k = 0; u != v && k < 150; k++)
                        best = fmax(best, exp(-beta * (double)k) *
                                              (double)sens_triangle_pair(
                                                  &g, cycle, u, v, k));
            bool done;
            uint64_t k;
            assert_int_equal(
                sens_triangle_peak(&g, cycle, beta, &done, &value, &k, &err),
                OK);
            assert_true(done && fabs(value - best) < 1e-9 * best);
        }
        sens_graph_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_round_up),
        cmocka_unit_test(late_maximum),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(several_relations),
        cmocka_unit_test(elastic_patterns),
        cmocka_unit_test(elastic_other),
        cmocka_unit_test(shapes),
        cmocka_unit_test(stars),
        cmocka_unit_test(triangles),
        cmocka_unit_test(triangle_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
