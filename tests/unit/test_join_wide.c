/*
 * Numbers beyond 64 bits (join/message/wide.h): closed formulas over complete
 * graphs, stars and hubs in integers of any size. The value is clamped at
 * COUNT_MOST and no earlier, and no size of a number leads to the backtracking
 * join.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <gmp.h>

#include "cq/cq.h"
#include "join/join_int.h"
#include "join/words.h"
#include "num/rat.h"
#include "store/store.h"
#include "harness/load_rows.h"
#include "harness/plain.h"

struct world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct cq *q;
    struct store *st;
    struct join *j;
    struct err err;
};

static void world_open(struct world *w, const char *rule)
{
    memset(w, 0, sizeof *w);
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
    assert_int_equal(
        cq_read(&w->arena, &w->schema, str_of(rule), &w->q, &w->err), OK);
    assert_int_equal(store_new(&w->mem, &w->schema, &w->st, &w->err), OK);
}

/* Table `name`: all rows (f(i), g(i)), i < n. */
static void fill(struct world *w, const char *name, int n,
                 void (*row)(int i, int n, int64_t out[3]))
{
    struct store_loader *l;
    size_t t = 0;
    while (!str_is(w->schema.tables.p[t].name, name))
        t++;
    assert_int_equal(store_load_begin(w->st, t, NULL, &l, &w->err), OK);
    for (int i = 0; i < n; i++) {
        int64_t v[3];
        struct value vals[3];
        row(i, n, v);
        for (int c = 0; c < 3; c++)
            vals[c] = (struct value){.type = T_INT, .i = v[c]};
        assert_int_equal(store_load_values(l, vals, &w->err), OK);
    }
    assert_int_equal(store_load_end(l, &w->err), OK);
}

static void start(struct world *w)
{
    assert_int_equal(join_open(&w->mem, w->q, w->st, NULL, &w->j, &w->err), OK);
}

static void world_close(struct world *w)
{
    join_close(w->j);
    store_free(w->st);
    arena_fini(&w->arena);
    assert_int_equal(atomic_load(&w->mem.used), 0);
}

/* min(z, COUNT_MOST) */
static u128 clamped(mpz_srcptr z)
{
    u128 v;
    return mpz_get_u128(z, &v) ? count_clamp(v) : COUNT_MOST;
}

static void expect(struct world *w, aset f, vset bd, vset outs, mpz_srcptr want,
                   const char *what)
{
    u128 got = 0;
    char a[U128_DIGITS], b[U128_DIGITS];
    uint64_t walked = w->j->n_walked;
    assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
    if (got != clamped(want))
        fail_msg("%s: %s, not %s", what, u128_text(got, a),
                 u128_text(clamped(want), b));
    if (w->j->n_walked != walked)
        fail_msg("%s: walked", what);
}

/* --- complete graphs --------------------------------------------------------
 */

enum { NODES = 24 };

static void complete(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = i / NODES;
    out[1] = i % NODES;
}

/* Every value of a chain of `atoms` over all pairs, for any boundary of ends.
 */
static void check_chain(int atoms)
{
    struct world w;
    char rule[1024], *p = rule;
    mpz_t want;
    p += sprintf(p, "Q(v0");
    for (int i = 1; i <= atoms; i++)
        p += sprintf(p, ",v%d", i);
    p += sprintf(p, ") :- E(v0,v1)");
    for (int i = 1; i < atoms; i++)
        p += sprintf(p, ", E(v%d,v%d)", i, i + 1);
    sprintf(p, ".");
    world_open(&w, rule);
    fill(&w, "E", NODES * NODES, complete);
    start(&w);
    mpz_init(want);
    vset all = cq_vars_of(w.q, aset_first_n(w.q->n_atoms));
    for (int ends = 0; ends < 4; ends++) {
        vset bd = (ends & 1 ? vset_one(0) : 0) |
                  (ends & 2 ? vset_one((uint32_t)atoms) : 0);
        mpz_ui_pow_ui(want, NODES,
                      (unsigned)(atoms + 1 - (ends & 1) - (ends >> 1)));
        expect(&w, aset_first_n(w.q->n_atoms), bd, all, want, rule);
    }
    mpz_clear(want);
    world_close(&w);
}

static void test_chains(void **state)
{
    (void)state;
    for (int atoms = 10; atoms <= 30; atoms += atoms < 20 ? 3 : 5)
        check_chain(atoms);
}

/* A cycle of n over all pairs, its first and third variable different: one
 * has to be fixed, and a term to be subtracted. */
static void test_cycle(void **state)
{
    (void)state;
    struct world w;
    mpz_t want;
    world_open(&w, "Q(a,b,c,d,e,f,g,h,i,k,l,m,n,o,p,q,r,s) :- E(a,b), E(b,c), "
                   "E(c,d), E(d,e), E(e,f), E(f,g), E(g,h), E(h,i), E(i,k), "
                   "E(k,l), E(l,m), E(m,n), E(n,o), E(o,p), E(p,q), E(q,r), "
                   "E(r,s), E(s,a), a != c, e != g.");
    fill(&w, "E", NODES * NODES, complete);
    start(&w);
    mpz_init(want);
    mpz_ui_pow_ui(want, NODES, 16);
    mpz_mul_ui(want, want, (NODES - 1) * (NODES - 1));
    expect(&w, aset_first_n(w.q->n_atoms), 0, cq_free(w.q), want, "cycle");
    assert_true(w.j->n_wide > 0);
    mpz_clear(want);
    world_close(&w);
}

enum { MANY = 64 };

static void many(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = i / MANY;
    out[1] = i % MANY;
}

/* A chain of 22 whose third and fifth variable differ: 64^23 less 64^22, both
 * beyond COUNT_MOST. Clamped one by one nothing would be left. */
static void test_signed_terms(void **state)
{
    (void)state;
    struct world w;
    char rule[1024], *p = rule;
    mpz_t want;
    enum { ATOMS = 22 };
    p += sprintf(p, "Q(v0");
    for (int i = 1; i <= ATOMS; i++)
        p += sprintf(p, ",v%d", i);
    p += sprintf(p, ") :- E(v0,v1)");
    for (int i = 1; i < ATOMS; i++)
        p += sprintf(p, ", E(v%d,v%d)", i, i + 1);
    sprintf(p, ", v2 != v4.");
    world_open(&w, rule);
    fill(&w, "E", MANY * MANY, many);
    start(&w);
    mpz_init(want);
    mpz_ui_pow_ui(want, MANY, ATOMS);
    mpz_mul_ui(want, want, MANY - 1);
    vset all = cq_vars_of(w.q, aset_first_n(ATOMS));
    expect(&w, aset_first_n(ATOMS), 0, all, want, "all");
    mpz_divexact_ui(want, want, MANY);
    expect(&w, aset_first_n(ATOMS), vset_one(0), all, want, "from one end");
    mpz_clear(want);
    world_close(&w);
}

/* --- stars: leaves that all differ ------------------------------------------
 */

static void star(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = 1;
    out[1] = i;
}

/* d (d-1) ... for `leaves` different ones: one falling power. With the first
 * two allowed to be equal there are signed terms besides. */
static void check_star(unsigned d, unsigned leaves, bool all)
{
    struct world w;
    char rule[4096], *p = rule;
    mpz_t want;
    p += sprintf(p, "Q(x");
    for (unsigned i = 0; i < leaves; i++)
        p += sprintf(p, ",v%u", i);
    p += sprintf(p, ") :- ");
    for (unsigned i = 0; i < leaves; i++)
        p += sprintf(p, "%sR(x,v%u)", i ? ", " : "", i);
    for (unsigned i = 0; i < leaves; i++)
        for (unsigned k = i + 1; k < leaves; k++)
            if (all || (i / 2 == k / 2))
                p += sprintf(p, ", v%u != v%u", i, k);
    sprintf(p, ".");
    world_open(&w, rule);
    fill(&w, "R", (int)d, star);
    start(&w);
    mpz_init_set_ui(want, 1);
    for (unsigned i = 0; i < leaves; i++)
        mpz_mul_ui(want, want, all ? d - i : d - i % 2);
    vset vars = cq_vars_of(w.q, aset_first_n(w.q->n_atoms));
    expect(&w, aset_first_n(w.q->n_atoms), 0, vars, want, "star");
    expect(&w, aset_first_n(w.q->n_atoms), vset_one(0), vars, want, "star");
    mpz_clear(want);
    world_close(&w);
}

static void test_stars(void **state)
{
    (void)state;
    check_star(10, 3, true); /* 720 */
    check_star(3, 5, true);  /* 0: every term is positive, their sum is not */
    check_star(900, 8, true);
    check_star(20000, 10, true);
    check_star(900, 12, false);
    check_star(60000, 9, false);
}

static void three_stars(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = i % 3;
    out[1] = i / 3;
}

/* Three centres with 200^17 results each, walked: three saturated numbers that
 * would wrap around to less than COUNT_MOST. */
static void test_walker_saturates(void **state)
{
    (void)state;
    struct world w;
    u128 got = 0;
    world_open(&w, "Q(x,a,b,c,d,e,f,g,h,i,k,l,m,n,o,p,q,r) :- R(x,a), R(x,b), "
                   "R(x,c), R(x,d), R(x,e), R(x,f), R(x,g), R(x,h), R(x,i), "
                   "R(x,k), R(x,l), R(x,m), R(x,n), R(x,o), R(x,p), R(x,q), "
                   "R(x,r).");
    fill(&w, "R", 600, three_stars);
    start(&w);
    aset all = aset_first_n(w.q->n_atoms);
    assert_int_equal(
        join_max_walked(w.j, all, 0, cq_vars_of(w.q, all), &got, &w.err), OK);
    assert_true(got == COUNT_MOST);
    world_close(&w);
}

/* M = 100, three leaves that differ, d = 10: d^3 - 3 d^2 + 2 d. Terms that are
 * clamped before they are added, and differences at 0, give 20 for 100. */
static void test_clamped_terms_would_lie(void **state)
{
    (void)state;
    const int d = 10, m = 100, d2 = d * d, d3 = d * d * d;
    int sum = (d3 < m ? d3 : m) - 3 * (d2 < m ? d2 : m);
    sum = (sum > 0 ? sum : 0) + 2 * d;
    assert_int_equal(sum, 20);
    sum = d3 - 3 * d2 + 2 * d;
    assert_int_equal(sum < m ? sum : m, 100);
}

/* --- pairs with weights beyond 32 bits --------------------------------------
 */

static void hub(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = i % 2;
    out[1] = i / 2 % 2;
    out[2] = i / 4;
}

/* Four copies of W over each pair of a path: 1000^4 a step. */
static void test_wide_pairs(void **state)
{
    (void)state;
    struct world w;
    mpz_t want;
    world_open(&w, "Q(a,b,c,d,e,f,g,h,i,k,l) :- W(a,b,d), W(a,b,e), W(a,b,f), "
                   "W(a,b,g), W(b,c,h), W(b,c,i), W(b,c,k), W(b,c,l).");
    fill(&w, "W", 4000, hub);
    start(&w);
    mpz_init(want);
    mpz_ui_pow_ui(want, 1000, 8);
    vset vars = cq_vars_of(w.q, 255);
    uint32_t a = 0, b = 1, c = 2;
    expect(&w, 255, vset_one(a) | vset_one(b) | vset_one(c), vars, want, "abc");
    mpz_mul_ui(want, want, 2);
    expect(&w, 255, vset_one(a) | vset_one(b), vars, want, "ab");
    expect(&w, 255, vset_one(a) | vset_one(c), vars, want, "ac");
    mpz_mul_ui(want, want, 4);
    expect(&w, 255, 0, vars, want, "all");
    assert_true(w.j->n_wide > 0);
    mpz_clear(want);
    world_close(&w);
}

/* --- row by row
 * ---------------------------------------------------------------
 */

static void line(int i, int n, int64_t out[3])
{
    (void)n;
    out[0] = 0;
    out[1] = i;
    out[2] = i;
}

/* Rising chains of k of n: a difference of sums at every step, and a result
 * that leaves 64 bits. 16 atoms of 200 rows: binom(200, 16). */
static void test_rising(void **state)
{
    (void)state;
    struct world w;
    char rule[2048], *p = rule;
    mpz_t want;
    enum { ATOMS = 26, N = 200 };
    p += sprintf(p, "Q(x");
    for (int i = 0; i < ATOMS; i++)
        p += sprintf(p, ",v%d", i);
    p += sprintf(p, ") :- ");
    for (int i = 0; i < ATOMS; i++)
        p += sprintf(p, "%sL(x,v%d)", i ? ", " : "", i);
    for (int i = 0; i + 1 < ATOMS; i++)
        p += sprintf(p, ", v%d < v%d", i, i + 1);
    sprintf(p, ".");
    world_open(&w, rule);
    fill(&w, "L", N, line);
    start(&w);
    mpz_init(want);
    mpz_bin_uiui(want, N, ATOMS);
    assert_true(mpz_sizeinbase(want, 2) > 64);
    vset vars = cq_vars_of(w.q, aset_first_n(ATOMS));
    expect(&w, aset_first_n(ATOMS), 0, vars, want, "rising");
    expect(&w, aset_first_n(ATOMS), vset_one(0), vars, want, "rising");
    mpz_clear(want);
    world_close(&w);
}

/* --- groups
 * -------------------------------------------------------------------
 */

/* A chain with its ends as keys, and one with its first variable alone. */
static void check_keys(const char *rule, unsigned n_group, unsigned power)
{
    struct world w;
    struct value keys[2 * NODES + 4];
    u128 got[NODES + 2];
    mpz_t want;
    world_open(&w, rule);
    fill(&w, "E", NODES * NODES, complete);
    w.q->n_group = n_group;
    start(&w);
    for (unsigned i = 0; i < (NODES + 2) * n_group; i++)
        keys[i] = (struct value){.type = T_INT, .i = i / n_group};
    assert_int_equal(plain_groups(w.j, keys, NODES + 2, got, &w.err), OK);
    mpz_init(want);
    mpz_ui_pow_ui(want, NODES, power);
    for (unsigned i = 0; i < NODES + 2; i++)
        assert_true(got[i] == (i < NODES ? clamped(want) : 0));
    assert_int_equal(w.j->n_walked, 0);
    mpz_clear(want);
    world_close(&w);
}

static void test_groups(void **state)
{
    (void)state;
    static const char one[] =
        "Q(a,b,c,d,e,f,g,h,i,k,l,m,n,o,p,q,r,s) :- E(a,b), E(b,c), E(c,d), "
        "E(d,e), E(e,f), E(f,g), E(g,h), E(h,i), E(i,k), E(k,l), E(l,m), "
        "E(m,n), E(n,o), E(o,p), E(p,q), E(q,r), E(r,s).";
    static const char two[] =
        "Q(a,s,b,c,d,e,f,g,h,i,k,l,m,n,o,p,q,r) :- E(a,b), E(b,c), E(c,d), "
        "E(d,e), E(e,f), E(f,g), E(g,h), E(h,i), E(i,k), E(k,l), E(l,m), "
        "E(m,n), E(n,o), E(o,p), E(p,q), E(q,r), E(r,s).";
    check_keys(one, 1, 17);
    check_keys(two, 2, 16);
    /* keys inside, with what hangs on them */
    check_keys("Q(d,f,a,b,c,e,g,h,i,k,l,m,n,o,p,q) :- E(a,b), E(b,c), E(c,d), "
               "E(d,e), E(e,f), E(f,g), E(g,h), E(h,i), E(i,k), E(k,l), "
               "E(l,m), E(m,n), E(n,o), E(o,p), E(p,q).",
               2, 14);
}

/* --- words
 * --------------------------------------------------------------------
 */

static void test_words(void **state)
{
    (void)state;
    uint64_t x[4] = {UINT64_MAX, UINT64_MAX, 0, 0}, y[4] = {0}, one[4] = {1};
    assert_true(words_clamped(x, 4) == COUNT_MOST);
    words_add(x, one, 4); /* 2^128 */
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 1 && x[3] == 0);
    assert_true(words_clamped(x, 4) == COUNT_MOST);
    words_sub(y, one, 4);
    assert_true(y[3] == UINT64_MAX && y[0] == UINT64_MAX);
    words_add(y, one, 4);
    assert_true(words_zero(y, 4));
    uint64_t a[4] = {UINT64_MAX, 1}, b[4] = {UINT64_MAX, 3};
    mpz_t u, v;
    mpz_inits(u, v, NULL);
    mpz_import(u, 4, -1, 8, 0, 0, a);
    mpz_import(v, 4, -1, 8, 0, 0, b);
    mpz_mul(u, u, v);
    words_mul(a, b, 4, 4);
    mpz_import(v, 4, -1, 8, 0, 0, a);
    assert_int_equal(mpz_cmp(u, v), 0);
    mpz_clears(u, v, NULL);
}

/* Two saturated numbers add up to one, not to 0. */
static void test_saturated(void **state)
{
    (void)state;
    assert_true(count_add(COUNT_MOST, COUNT_MOST) == COUNT_MOST);
    assert_true((u128)(2 * ((u128)1 << 127)) == 0); /* what 2^127 would give */
    assert_true(count_mul(COUNT_MOST, 1) == COUNT_MOST);
    assert_true(count_mul(COUNT_MOST, COUNT_MOST) == COUNT_MOST);
    assert_true(count_mul(COUNT_MOST, 0) == 0);
    assert_true(count_mul((u128)1 << 64, (u128)1 << 62) == (u128)1 << 126);
    assert_true(count_mul((u128)1 << 64, (u128)1 << 63) == COUNT_MOST);
    assert_true(count_limit(1, false) == COUNT_MOST);
    assert_true(count_limit(3, false) == COUNT_MOST / 3);
    assert_true(count_limit(3, true) == COUNT_MOST / 6);
    u128 v = 0;
    static const char most[] = "170141183460469231731687303715884105727";
    static const char more[] = "170141183460469231731687303715884105728";
    static const char less[] = "170141183460469231731687303715884105726";
    static const char huge[] = "1000000000000000000000000000000000000000000000";
    assert_true(count_read(most, strlen(most), &v) && v == COUNT_MOST);
    assert_true(count_read(more, strlen(more), &v) && v == COUNT_MOST);
    assert_true(count_read(huge, strlen(huge), &v) && v == COUNT_MOST);
    assert_true(count_read(less, strlen(less), &v) && v == COUNT_MOST - 1);
    assert_false(count_read("12x", 3, &v) || count_read("", 0, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_saturated),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_signed_terms),
        cmocka_unit_test(test_stars),
        cmocka_unit_test(test_walker_saturates),
        cmocka_unit_test(test_clamped_terms_would_lie),
        cmocka_unit_test(test_wide_pairs),
        cmocka_unit_test(test_rising),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
