/*
 * Residual sensitivity through its interface, on instances small enough to
 * count by hand: values, refusals, degree, floor, orders, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>
#include "harness/oom.h"
#include "harness/plain.h"
#include "harness/rules.h"
#include "harness/tiny.h"
#include "num/rat.h"
#include "sens/plan.h"
#include "sens/sens.h"

#define DIFFER3 "a != b, a != c, b != c"
#define TRIANGLE "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), " DIFFER3 "."

struct bench {
    struct rules r;
    struct tiny t;
    struct cq *q;
    struct sens_options opt;
    struct sens s;
    mpq_t beta;
};

static void open_bench(struct bench *b, const char *rule)
{
    memset(b, 0, sizeof *b);
    rules_init(&b->r);
    b->q = rules_read(&b->r, rule);
    b->t.q = b->q;
    b->t.domain = 5;
    mpq_init(b->beta);
    mpq_set_ui(b->beta, 1, 10);
    b->opt = (struct sens_options){
        .beta = b->beta, .global_upper = U128_INF, .want_baselines = true};
}

static void add_row(struct bench *b, unsigned table, int x, int y)
{
    struct tiny_table *t = &b->t.tables[table];
    t->rows[t->n_rows][0] = x * TINY_GAP;
    t->rows[t->n_rows++][1] = y * TINY_GAP;
}

static enum status compute(struct bench *b)
{
    struct sens_counter c = {.ctx = &b->t,
                             .max = tiny_max,
                             .max_exact = tiny_max_exact,
                             .count = tiny_sealed};
    return sens_compute(&b->r.arena, b->q, &c, &b->opt, &b->s, &b->r.err);
}

static void must_compute(struct bench *b)
{
    if (compute(b) != OK)
        fail_msg("%s", b->r.err.message);
}

static void close_bench(struct bench *b)
{
    sens_fini(&b->s);
    sens_fini(&b->s); /* a second time does no harm */
    mpq_clear(b->beta);
    assert_true(rules_fini(&b->r));
}

static void one_table(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y) :- R(x,y).");
    add_row(&b, 0, 0, 1);
    add_row(&b, 0, 2, 1);
    must_compute(&b);
    assert_int_equal(secret_count_open(&b.s.count), 2);
    assert_int_equal(mpq_cmp_ui(secret_scale_open(&b.s.s), 1, 1), 0);
    assert_int_equal(b.s.k, 0);
    assert_int_equal(b.s.n_residuals, 1);
    assert_int_equal(b.s.residuals[0].removed, 1);
    assert_int_equal(b.s.residuals[0].t, 1);
    assert_int_equal(b.s.local_upper, 1);
    assert_true(b.s.has_paper && b.s.paper == 1);
    assert_true(b.s.has_elastic && b.s.elastic == 1);
    close_bench(&b);
}

/* A 4-cycle with one chord, both directions: two triangles share it. */
static void triangle(void **state)
{
    (void)state;
    struct bench b;
    static const int edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}};
    open_bench(&b, TRIANGLE);
    for (size_t i = 0; i < 5; i++) {
        add_row(&b, 0, edges[i][0], edges[i][1]);
        add_row(&b, 0, edges[i][1], edges[i][0]);
    }
    must_compute(&b);
    assert_int_equal(secret_count_open(&b.s.count), 12);
    assert_int_equal(b.s.n_residuals, 7);
    /* Two common neighbours at most: 3 * 2, then + 2 for each pair of atoms. */
    for (unsigned k = 0; k < 5; k++)
        assert_int_equal(mpz_get_ui(b.s.ls_hat[k]), 6 + 6 * k);
    assert_int_equal(b.s.neighbourhood_lower, 2);
    assert_true(b.s.has_lower && b.s.optimality >= 3);
    double best = 0;
    for (int k = 0; k < 200; k++)
        best = fmax(best, exp(-0.1 * k) * (6 + 6 * k));
    assert_true(fabs(b.s.value - best) < 1e-9 * best);
    close_bench(&b);
}

static void order_two(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, TRIANGLE);
    b.opt.order = 2;
    must_compute(&b);
    /* Empty table: g(step^j) is 3 * (2j + 0) capped products: 0, 6, 12... */
    struct bench one;
    open_bench(&one, TRIANGLE);
    must_compute(&one);
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(mpz_get_ui(b.s.ls_hat[k]),
                         mpz_get_ui(one.s.ls_hat[2 * k]) +
                             mpz_get_ui(one.s.ls_hat[2 * k + 1]));
    assert_true(b.s.value > one.s.value);
    close_bench(&one);
    close_bench(&b);
}

static void global_bound_lowers(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,z) :- R(x,y), S(y,z).");
    for (int i = 0; i < 4; i++) {
        add_row(&b, 0, i, 0);
        add_row(&b, 1, 0, i);
    }
    must_compute(&b);
    assert_int_equal(b.s.local_upper, 4);
    sens_fini(&b.s);
    b.opt.global_upper = 3;
    must_compute(&b);
    assert_int_equal(b.s.local_upper, 3);
    assert_int_equal(mpq_cmp_ui(secret_scale_open(&b.s.s), 3, 1), 0);
    assert_true(b.s.k_scanned < 20);
    close_bench(&b);
}

static void public_only(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y) :- R(x,y).");
    rules_public(&b.r, "R");
    add_row(&b, 0, 0, 1);
    must_compute(&b);
    assert_int_equal(secret_count_open(&b.s.count), 1);
    assert_int_equal(mpq_sgn(secret_scale_open(&b.s.s)), 0);
    assert_int_equal(b.s.n_residuals, 0);
    close_bench(&b);
}

/* An empty public table: nothing private can ever make a result. */
static void empty_public_table(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,z) :- R(x,y), P(y,z).");
    rules_public(&b.r, "P");
    add_row(&b, 0, 0, 1);
    must_compute(&b);
    assert_int_equal(mpq_sgn(secret_scale_open(&b.s.s)), 0);
    close_bench(&b);
}

/* Empty private tables still have a sensitivity: T of the empty set is 1. */
static void empty_tables(void **state)
{
    (void)state;
    struct bench b;
    mpq_t floor;
    open_bench(&b, "Q(x,y,z) :- R(x,y), R(y,z), S(z,x).");
    must_compute(&b);
    assert_int_equal(secret_count_open(&b.s.count), 0);
    assert_true(mpq_sgn(secret_scale_open(&b.s.s)) > 0);
    mpq_init(floor);
    assert_int_equal(
        sens_floor(&b.r.arena, b.q, b.beta, 1, U128_INF, floor, &b.r.err), OK);
    assert_true(mpq_equal(floor, secret_scale_open(&b.s.s)));
    add_row(&b, 0, 0, 0);
    add_row(&b, 1, 0, 0);
    sens_fini(&b.s);
    must_compute(&b);
    assert_true(mpq_cmp(floor, secret_scale_open(&b.s.s)) <= 0);
    mpq_clear(floor);
    close_bench(&b);
}

static void unsatisfiable(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x) :- R(x,y), 1 = 2.");
    assert_true(b.q->unsat);
    must_compute(&b);
    assert_int_equal(mpq_sgn(secret_scale_open(&b.s.s)), 0);
    unsigned d = 9;
    assert_int_equal(sens_degree(&b.r.arena, b.q, U128_INF, &d, &b.r.err), OK);
    assert_int_equal(d, 0);
    close_bench(&b);
}

static void broken_constraint(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,z) :- R(x,y), S(y,z).");
    rules_constraint(&b.r, "S: 1 -> 2 <= 2");
    for (int i = 0; i < 2; i++)
        add_row(&b, 1, 0, i);
    must_compute(&b);
    assert_int_equal(b.s.local_upper, 2);
    assert_false(b.s.has_lower);
    sens_fini(&b.s);
    add_row(&b, 1, 0, 2);
    assert_int_equal(compute(&b), E_CONSTRAINT);
    assert_non_null(strstr(b.r.err.detail, "join of S"));
    close_bench(&b);
}

static void add_path(char *rule, int n)
{
    strcat(rule, " :- R(x0,x1)");
    for (int i = 1; i < n; i++) {
        char atom[24];
        snprintf(atom, sizeof atom, ", R(x%d,x%d)", i, i + 1);
        strcat(rule, atom);
    }
}

/* A path of n rows, through which there is one walk of n edges: adding a row
 * that closes it is one more, and the sums over 2^20 sets are made of few. */
static void many_atoms(void **state)
{
    (void)state;
    for (int n = 13; n <= SENS_MAX_PRIVATE; n += 7) {
        struct bench b;
        char rule[900] = "Q(x0";
        for (int i = 1; i <= n; i++)
            sprintf(rule + strlen(rule), ",x%d", i);
        strcat(rule, ")");
        add_path(rule, n);
        open_bench(&b, rule);
        b.opt.want_baselines = false;
        b.t.domain = 3;
        add_row(&b, 0, 1, 2);
        assert_int_equal(compute(&b), OK);
        /* one loop at 1: all 2^n - 1 sets of atoms may be the new row, and only
         * that of all of them has its rest: T of no atoms. With the row (1,2):
         * T of one edge is 1, of two or more 0. */
        u128 want = 0;
        for (unsigned e = 1; e < 1u << n; e++) {
            unsigned kept = ~e & ((1u << n) - 1);
            want += !(kept & kept << 1);
        }
        assert_true(b.s.local_upper == want);
        close_bench(&b);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct bench b;
    char rule[600] = "Q(x0)";
    add_path(rule, SENS_MAX_PRIVATE + 1);
    open_bench(&b, rule);
    assert_int_equal(compute(&b), E_TOO_LARGE);
    sens_fini(&b.s);
    rules_public(&b.r, "R"); /* public atoms do not count */
    b.opt.want_baselines = false;
    assert_int_equal(compute(&b), OK);
    close_bench(&b);

    open_bench(&b, TRIANGLE);
    mpq_set_si(b.beta, -1, 10);
    assert_int_equal(compute(&b), E_VALUE);
    mpq_set_ui(b.beta, 1, 2000000000);
    assert_int_equal(compute(&b), E_TOO_LARGE);
    close_bench(&b);
}

static void no_exact_counter(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,z) :- R(x,y), S(y,z), x < z.");
    b.opt.filters_exact = true;
    struct sens_counter c = {.ctx = &b.t, .max = tiny_max};
    assert_int_equal(sens_compute(&b.r.arena, b.q, &c, &b.opt, &b.s, &b.r.err),
                     E_UNSUPPORTED);
    sens_fini(&b.s);
    must_compute(&b);
    close_bench(&b);
}

static unsigned degree_of(const char *rule, const char *constraint)
{
    struct rules r;
    unsigned d = 99;
    rules_init(&r);
    struct cq *q = rules_read(&r, rule);
    if (constraint)
        rules_constraint(&r, constraint);
    assert_int_equal(sens_degree(&r.arena, q, U128_INF, &d, &r.err), OK);
    assert_true(rules_fini(&r));
    return d;
}

static void degrees(void **state)
{
    (void)state;
    assert_int_equal(degree_of("Q(x,y) :- R(x,y).", NULL), 0);
    assert_int_equal(degree_of(TRIANGLE, NULL), 1);
    assert_int_equal(degree_of("Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), a != d, "
                               "a != b, a != c, b != c, b != d, c != d.",
                               NULL),
                     2);
    assert_int_equal(
        degree_of("Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != b, "
                  "a != c, a != d, b != c, b != d, c != d.",
                  NULL),
        2);
    assert_int_equal(degree_of("Q(x,y,z) :- R(x,y), S(y,z).", NULL), 1);
    assert_int_equal(degree_of("Q(x,y,z) :- R(x,y), S(y,z).", "S: 1 -> 2 <= 7"),
                     1);
    assert_int_equal(degree_of("Q(x) :- R(x,y), S(y,z).", NULL), 1);
    assert_int_equal(degree_of("Q() :- R(x,y), S(y,z).", NULL), 0);
    assert_int_equal(degree_of("Q(x,z) :- R(x), S(y), T(z).", NULL), 2);
    struct rules r;
    unsigned d = 99;
    rules_init(&r);
    struct cq *q = rules_read(&r, TRIANGLE);
    assert_int_equal(sens_degree(&r.arena, q, 5, &d, &r.err), OK);
    assert_int_equal(d, 0);
    assert_true(rules_fini(&r));
}

/* The sequence grows in fact as the degree says, on an empty instance. */
static void degree_is_growth(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        unsigned degree;
    } cases[] = {{TRIANGLE, 1},
                 {"Q(x,y,z) :- R(x,y), R(y,z).", 1},
                 {"Q(x,y,z) :- R(x,x), R(y,y), R(z,z).", 2}};
    for (size_t i = 0; i < 3; i++) {
        struct bench b;
        open_bench(&b, cases[i].rule);
        assert_int_equal(degree_of(cases[i].rule, NULL), cases[i].degree);
        mpq_set_ui(b.beta, 1, 50);
        must_compute(&b);
        assert_true(b.s.n_ls_hat > 24);
        double x = mpz_get_d(b.s.ls_hat[12]), y = mpz_get_d(b.s.ls_hat[24]);
        assert_true(fabs(log2(y / x) - cases[i].degree) < 0.35);
        close_bench(&b);
    }
}

static void disconnected_residual(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,z,w) :- R(x,y), S(y,z), T(z,w).");
    for (int i = 0; i < 3; i++) {
        add_row(&b, 0, i, 0);
        add_row(&b, 2, 0, i);
        add_row(&b, 2, 1, i);
    }
    add_row(&b, 0, 4, 1);
    must_compute(&b);
    /* Without S: R and T fall apart; 3 rows at y = 0, 3 at each z. */
    assert_int_equal(b.s.local_upper, 9);
    assert_int_equal(b.s.neighbourhood_lower, 9);
    close_bench(&b);
}

static void bag_multiplicity(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(x,y,i,j) :- R@i(x,y), S@j(x,y).");
    for (int i = 0; i < 4; i++)
        add_row(&b, 0, 1, 1);
    add_row(&b, 1, 1, 1);
    must_compute(&b);
    assert_int_equal(secret_count_open(&b.s.count), 4);
    assert_int_equal(b.s.local_upper, 4);
    close_bench(&b);
}

/* S is a dyadic rational, at least the true maximum and hardly more. Many
 * betas, so that one rounding in the wrong direction shows. */
static void rounded_up(void **state)
{
    (void)state;
    unsigned late = 0;
    for (unsigned i = 3; i < 90; i++) {
        struct bench b;
        mpfr_t lo, s;
        open_bench(&b, i % 2 ? TRIANGLE : "Q(x,y,z) :- R(x,y), R(y,z).");
        b.opt.want_baselines = false;
        mpq_set_ui(b.beta, 10, 5 + i);
        mpq_canonicalize(b.beta);
        must_compute(&b);
        assert_true(b.s.k < b.s.n_ls_hat);
        late += b.s.k > 0;
        assert_int_equal(mpz_popcount(mpq_denref(secret_scale_open(&b.s.s))),
                         1);
        mpfr_inits2(2000, lo, s, (mpfr_ptr)NULL);
        mpfr_set_q(lo, b.beta, MPFR_RNDD);
        mpfr_mul_ui(lo, lo, b.s.k, MPFR_RNDD);
        mpfr_neg(lo, lo, MPFR_RNDN);
        mpfr_exp(lo, lo, MPFR_RNDU);
        mpfr_mul_z(lo, lo, b.s.ls_hat[b.s.k], MPFR_RNDU);
        mpfr_set_q(s, secret_scale_open(&b.s.s), MPFR_RNDN);
        assert_true(mpfr_cmp(s, lo) >= 0 || b.s.k == 0);
        mpfr_sub(s, s, lo, MPFR_RNDU);
        mpfr_div(s, s, lo, MPFR_RNDU);
        assert_true(mpfr_cmp_d(s, ldexp(1, -200)) < 0);
        mpfr_clears(lo, s, (mpfr_ptr)NULL);
        close_bench(&b);
    }
    assert_true(late > 40);
}

static enum status no_rows(void *ctx, aset f, vset boundary, vset outs,
                           u128 *out, struct err *err)
{
    (void)ctx;
    (void)boundary;
    (void)outs;
    (void)err;
    *out = f ? 0 : 1;
    return OK;
}

/* Ten empty tables in a chain: nine rows are needed before a tenth matters,
 * so the sequence begins with nine zeros. */
static void late_start(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(a,b,c,d,e,f,g,h,i,j,k) :- A(a,b), B(b,c), C(c,d), "
                   "D(d,e), E(e,f), F(f,g), G(g,h), H(h,i), I(i,j), J(j,k).");
    struct sens_counter c = {.ctx = NULL, .max = no_rows};
    b.opt.want_baselines = false;
    if (sens_compute(&b.r.arena, b.q, &c, &b.opt, &b.s, &b.r.err) != OK)
        fail_msg("%s", b.r.err.message);
    for (unsigned k = 0; k < 9; k++)
        assert_int_equal(mpz_sgn(b.s.ls_hat[k]), 0);
    assert_true(mpz_sgn(b.s.ls_hat[9]) > 0);
    assert_true(mpq_sgn(secret_scale_open(&b.s.s)) > 0);
    close_bench(&b);
}

/* Comparisons with a variable outside do not tie two pieces together, also
 * when they are exact; a comparison between them does. */
static void parts_and_filters(void **state)
{
    (void)state;
    struct bench b;
    struct sens_plan *p;
    open_bench(&b, "Q(x,y,z) :- A(x), B(y), P(z), x < z, z < y.");
    assert_int_equal(sens_plan_new(&b.r.arena, b.q, true, &p, &b.r.err), OK);
    assert_int_equal(p->coords[sens_plan_find(p, 3)].n_splits, 1);
    close_bench(&b);
    open_bench(&b, "Q(x,y,z) :- A(x), B(y), P(z), x < z, x < y.");
    assert_int_equal(sens_plan_new(&b.r.arena, b.q, true, &p, &b.r.err), OK);
    assert_int_equal(p->coords[sens_plan_find(p, 3)].n_splits, 0);
    assert_int_equal(sens_plan_new(&b.r.arena, b.q, false, &p, &b.r.err), OK);
    assert_int_equal(p->coords[sens_plan_find(p, 3)].n_splits, 1);
    close_bench(&b);
}

static enum status whole(struct mem *m, void *with, struct err *err)
{
    struct bench *b = with;
    struct arena a;
    struct sens s;
    struct sens_counter c = {.ctx = &b->t,
                             .max = tiny_max,
                             .max_exact = tiny_max_exact,
                             .count = tiny_sealed};
    arena_init(&a, m);
    enum status st = sens_compute(&a, b->q, &c, &b->opt, &s, err);
    sens_fini(&s);
    arena_fini(&a);
    return st;
}

static void out_of_memory(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, "Q(a,b,c,d,e,f,g) :- R(a,b), S(b,c), R(c,d), S(d,e), "
                   "R(e,f), S(f,g).");
    add_row(&b, 0, 0, 0);
    assert_true(oom_sweep(whole, &b) > 3);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_table),
        cmocka_unit_test(triangle),
        cmocka_unit_test(order_two),
        cmocka_unit_test(global_bound_lowers),
        cmocka_unit_test(public_only),
        cmocka_unit_test(empty_public_table),
        cmocka_unit_test(empty_tables),
        cmocka_unit_test(unsatisfiable),
        cmocka_unit_test(broken_constraint),
        cmocka_unit_test(refusals),
        cmocka_unit_test(many_atoms),
        cmocka_unit_test(no_exact_counter),
        cmocka_unit_test(degrees),
        cmocka_unit_test(degree_is_growth),
        cmocka_unit_test(disconnected_residual),
        cmocka_unit_test(bag_multiplicity),
        cmocka_unit_test(rounded_up),
        cmocka_unit_test(late_start),
        cmocka_unit_test(parts_and_filters),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
