/*
 * The join engine against the oracle: every entry point, on random queries
 * and data of many shapes, for random F, boundary and outputs.
 */
#include "harness/join_case.h"
#include "harness/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct jc_shape shapes[] = {
    {.atoms = 3, .vars = 4, .rows = 8, .domain = 3, .cmps = 0},
    {.atoms = 3, .vars = 4, .rows = 8, .domain = 3, .cmps = 3, .order = true},
    {.atoms = 4,
     .vars = 5,
     .rows = 6,
     .domain = 3,
     .cmps = 3,
     .nulls = true,
     .bags = true,
     .order = true,
     .consts = true,
     .preds = true},
    {.atoms = 3,
     .vars = 4,
     .rows = 8,
     .domain = 4,
     .cmps = 2,
     .nulls = true,
     .bags = true,
     .consts = true,
     .type = T_TEXT,
     .order = true},
    {.atoms = 3,
     .vars = 4,
     .rows = 8,
     .domain = 4,
     .cmps = 2,
     .nulls = true,
     .consts = true,
     .type = T_REAL,
     .order = true,
     .preds = true},
    {.atoms = 3,
     .vars = 4,
     .rows = 8,
     .domain = 4,
     .cmps = 2,
     .nulls = true,
     .consts = true,
     .step = 1000000000000,
     .order = true},
    {.atoms = 5, .vars = 4, .rows = 12, .domain = 4, .cmps = 6, .graph = true},
    {.atoms = 5, .vars = 5, .rows = 10, .domain = 5, .cmps = 10, .graph = true},
    {.atoms = 4,
     .vars = 6,
     .rows = 8,
     .domain = 4,
     .cmps = 8,
     .graph = true,
     .bags = true},
    {.atoms = 4,
     .vars = 6,
     .rows = 5,
     .domain = 4,
     .cmps = 4,
     .order = true,
     .bags = true},
    {.atoms = 6,
     .vars = 4,
     .rows = 24,
     .domain = 5,
     .graph = true,
     .symmetric = true,
     .all_differ = true},
    {.atoms = 6,
     .vars = 5,
     .rows = 16,
     .domain = 6,
     .graph = true,
     .symmetric = true,
     .all_differ = true},
    {.atoms = 4,
     .vars = 5,
     .rows = 20,
     .domain = 6,
     .graph = true,
     .symmetric = true,
     .cmps = 5},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static vset random_vars(struct jc_rng *r, uint32_t n_vars, uint32_t of)
{
    vset s = 0;
    for (uint32_t v = 0; v < n_vars; v++)
        if (jc_below(r, of) == 0)
            s |= vset_one(v);
    return s;
}

static vset vars_of(const struct cq *q, aset f)
{
    vset s = 0;
    ASET_EACH (i, f) {
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
            if (q->atoms[i].args[k].kind == TERM_VAR)
                s |= vset_one(q->atoms[i].args[k].id);
        if (q->atoms[i].rowid >= 0)
            s |= vset_one((unsigned)q->atoms[i].rowid);
    }
    return s;
}

static void fail_case(const struct join_case *c, const char *what, aset f,
                      vset boundary, vset outs, u128 got, u128 want)
{
    char a[U128_DIGITS], b[U128_DIGITS];
    jc_print(c);
    printf("%s f=%llx boundary=%llx outs=%llx: got %s, want %s\n", what,
           (unsigned long long)f, (unsigned long long)boundary,
           (unsigned long long)outs, u128_text(got, a), u128_text(want, b));
    fail();
}

static void check_max(struct join *j, const struct join_case *c,
                      struct jc_rng *r)
{
    const struct cq *q = &c->q;
    struct err err;
    aset f = jc_below(r, 3) ? jc_below(r, 1u << q->n_atoms)
                            : aset_first_n(q->n_atoms);
    vset vars = vars_of(q, f);
    vset boundary = random_vars(r, q->n_vars, 2 + jc_below(r, 3)) & vars;
    vset outs = jc_below(r, 2) ? vars : random_vars(r, q->n_vars, 2) & vars;
    u128 got = 0, want = jc_oracle(c, f, boundary, outs, false);
    assert_int_equal(join_max(j, f, boundary, outs, &got, &err), OK);
    if (got != want)
        fail_case(c, "join_max", f, boundary, outs, got, want);
}

static void check_count(struct join *j, const struct join_case *c)
{
    struct err err;
    vset outs = 0;
    for (uint32_t i = 0; i < c->q.n_outs; i++)
        outs |= vset_one(c->q.outs[i].id);
    aset all = aset_first_n(c->q.n_atoms);
    u128 got = 0, want = jc_oracle(c, all, 0, outs, false);
    assert_int_equal(plain_count(j, &got, &err), OK);
    if (got != want)
        fail_case(c, "join_count", all, 0, outs, got, want);
}

struct listed {
    struct join *j;
    struct join_case *c;
    u128 sum;
};

/* A key that the engine found: its count by the other way. */
static enum status check_listed(void *ctx, const struct value *key, u128 count,
                                struct err *err)
{
    struct listed *l = ctx;
    u128 want = 0;
    assert_int_equal(plain_groups(l->j, key, 1, &want, err), OK);
    if (!count || count != want)
        fail_case(l->c, "join_list_groups", 0, 0, 0, count, want);
    l->sum += count;
    return OK;
}

/* Every key once: the counts sum to the count of all. */
static void check_listing(struct join *j, struct join_case *c)
{
    struct listed l = {j, c, 0};
    struct err err;
    u128 all = 0;
    assert_int_equal(join_list_groups(j, check_listed, &l, &err), OK);
    assert_int_equal(plain_count(j, &all, &err), OK);
    if (l.sum != all)
        fail_case(c, "join_list_groups, sum", 0, 0, 0, l.sum, all);
}

static void check_groups(struct join *j, struct join_case *c, struct jc_rng *r)
{
    struct err err;
    c->q.n_group = c->q.n_outs ? 1 + jc_below(r, c->q.n_outs) : 0;
    for (uint32_t g = 0; g < c->q.n_group; g++)
        if (c->q.vars[c->q.outs[g].id].is_rowid)
            c->q.n_group = 0;
    int32_t key[MAX_VARS];
    struct value vals[MAX_VARS];
    for (uint32_t g = 0; g < c->q.n_group; g++) {
        key[g] = jc_below(r, 6) ? (int32_t)jc_below(r, 4) : JC_NULL;
        vals[g] = jc_value(c, key[g]);
    }
    u128 got = 0, want = jc_oracle_group(c, key);
    assert_int_equal(plain_groups(j, vals, 1, &got, &err), OK);
    if (got != want)
        fail_case(c, "join_count_groups", 0, 0, 0, got, want);
    if (c->q.n_group)
        check_listing(j, c);
    c->q.n_group = 0;
}

static void check_frequency(struct join *j, const struct join_case *c,
                            struct jc_rng *r)
{
    struct err err;
    uint32_t atom = jc_below(r, c->q.n_atoms);
    vset vars = vars_of(&c->q, aset_one(atom));
    vset by = random_vars(r, c->q.n_vars, 2) & vars;
    u128 got = 0, want = jc_oracle(c, aset_one(atom), by, vars, false);
    assert_int_equal(join_max_frequency(j, atom, by, &got, &err), OK);
    if (got != want)
        fail_case(c, "join_max_frequency", aset_one(atom), by, vars, got, want);
}

static long cases_wanted(long n)
{
    const char *s = getenv("DPC_CASES_N");
    return s ? atol(s) : n;
}

/* Counts that were found without encoding. */
static uint64_t scanned(const struct join *j)
{
    const char *name;
    uint64_t n = 0;
    assert_true(join_engine_parts(j, 0, &name, &n));
    assert_string_equal(name, "scan");
    return n;
}

static void test_against_oracle(void **state)
{
    (void)state;
    uint64_t scans = 0;
    long n = cases_wanted(4000);
    for (long i = 0; i < n; i++) {
        struct jc_rng r = {(uint64_t)i * 7919 + 17};
        struct jc_shape s = shapes[i % N_SHAPES];
        struct join_case c;
        struct join *j = NULL;
        struct err err;
        struct join_options opt = {.threads = 1 + (unsigned)i % 2};
        if (s.type == T_UNKNOWN)
            s.type = T_INT;
        jc_make(&c, &r, &s);
        assert_int_equal(join_open(&c.mem, &c.q, &c.st, &opt, &j, &err), OK);
        check_count(j, &c);
        scans += scanned(j);
        for (int k = 0; k < 5; k++)
            check_max(j, &c, &r);
        check_groups(j, &c, &r);
        check_frequency(j, &c, &r);
        join_close(j);
        jc_free(&c);
        assert_int_equal(atomic_load(&c.mem.used), 0);
    }
    assert_true(scans >= (uint64_t)n / 80);
}

static void test_exact(void **state)
{
    (void)state;
    long n = cases_wanted(1500);
    for (long i = 0; i < n; i++) {
        struct jc_rng r = {(uint64_t)i * 104729 + 5};
        struct jc_shape s = {.atoms = 4,
                             .vars = 5,
                             .rows = 5,
                             .domain = 3,
                             .cmps = 4,
                             .order = true,
                             .consts = true,
                             .type = T_INT,
                             .step = 1 + i % 3};
        struct join_case c;
        struct join *j = NULL;
        struct err err;
        jc_make(&c, &r, &s);
        assert_int_equal(join_open(&c.mem, &c.q, &c.st, NULL, &j, &err), OK);
        for (int k = 0; k < 3; k++) {
            aset f = jc_below(&r, 1u << c.q.n_atoms);
            vset vars = vars_of(&c.q, f);
            vset boundary = random_vars(&r, c.q.n_vars, 3) & vars;
            vset outs =
                jc_below(&r, 2) ? vars : random_vars(&r, c.q.n_vars, 2) & vars;
            u128 got = 0, want = jc_oracle(&c, f, boundary, outs, true);
            assert_int_equal(join_max_exact(j, f, boundary, outs, &got, &err),
                             OK);
            if (got != want)
                fail_case(&c, "join_max_exact", f, boundary, outs, got, want);
        }
        join_close(j);
        jc_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_oracle),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
