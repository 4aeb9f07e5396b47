/*
 * Trees with few boundary variables against the backtracking join: random
 * tables, keyed or not, with equal rows, NULLs, empty ones and keys without a
 * match, in sizes that make one or the other way of counting pairs the cheaper
 * one; and numbers beyond 32, 62 and 64 bits.
 */
#include "harness/load_rows.h"
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

struct style {
    uint32_t rows, domain, nulls; /* one in so many cells is NULL; 0: none */
    bool keyed;                   /* the first column is a key */
    bool depends;                 /* the second is a function of the first */
};

static const char *const rules[] = {
    "Q(n,r,c,o,l,s,t) :- N(n,r), C(c,n), O(o,c), L(o,l,s), S(s,t).",
    "Q(n,c,o,l,s) :- C(c,n), O(o,c), L(o,l,s).",
    "Q(c,n,o,l,s) :- C(c,n), O(o,c), L(o,l,s), S(s,n).",
    "Q(a,b,c) :- A(a,b), B(b,c), C(c).",
    "Q(x,a,b,c) :- A(x,a), B(x,b), C(x,c).",
    "Q(a,c) :- A(a,b), B(b,c), C(c,d).",
    "Q(a,b,l) :- A(a,b,l), B(b,l), C(a).",
    "Q(a,b,k) :- A(a,b,k), B(b), C(a).",
    "Q(a,b,m,l) :- F(m,a,l), G(m,b), H(a,h), I(b).",
    "Q(a,b,c,d,e,l) :- A(a,b), B(c,b), C(c,d,l), D(e,d), E(e).",
    "Q(a,y,b,z,k) :- A(y,a,k), B(y,b,z), H(y), G(b).",
    "Q(a,b,x) :- A(a,b), B(b), D(x,y).",
    "Q(a,b,c,d) :- A(b,a), B(c,b), C(c,d), D(d), A(e,a).",
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static struct value cell(const struct style *s, struct jc_rng *r, uint32_t row,
                         uint32_t col, const struct value *first)
{
    struct value v = {.type = T_INT};
    if (col == 1 && s->depends && !first->is_null) {
        v.i = first->i * 7 % s->domain;
        return v;
    }
    if (s->nulls && jc_below(r, s->nulls) == 0)
        return value_null();
    v.i = col == 0 && s->keyed ? row
          : col == 0 || jc_below(r, 2)
              ? jc_below(r, s->domain)
              : jc_below(r, 1 + jc_below(r, s->domain));
    return v;
}

static void fill(struct world *w, size_t table, const struct style *s,
                 struct jc_rng *r)
{
    struct store_loader *l;
    struct value vals[8];
    uint32_t n_cols = (uint32_t)w->schema.tables.p[table].n_cols;
    assert_int_equal(store_load_begin(w->st, table, NULL, &l, &w->err), OK);
    for (uint32_t i = 0; i < s->rows; i++) {
        for (uint32_t c = 0; c < n_cols; c++)
            vals[c] = cell(s, r, i, c, vals);
        assert_int_equal(store_load_values(l, vals, &w->err), OK);
    }
    assert_int_equal(store_load_end(l, &w->err), OK);
}

/* Read twice: the second time every column may be NULL. */
static void world_open(struct world *w, const char *rule)
{
    world_read(w, rule);
    for (size_t t = 0; t < w->schema.tables.n; t++)
        for (size_t c = 0; c < w->schema.tables.p[t].n_cols; c++)
            w->schema.tables.p[t].cols[c].not_null = false;
    assert_int_equal(
        cq_read(&w->arena, &w->schema, str_of(rule), &w->q, &w->err), OK);
}

static void check(struct world *w, const char *rule, unsigned number, aset f,
                  vset bd, vset outs)
{
    u128 got = 0, want = 1, wide = 2;
    char a[U128_DIGITS], b[U128_DIGITS];
    assert_int_equal(join_max(w->j, f, bd, outs, &got, &w->err), OK);
    assert_int_equal(join_max_walked(w->j, f, bd, outs, &want, &w->err), OK);
    assert_int_equal(join_max_wide(w->j, f, bd, outs, &wide, &w->err), OK);
    if (wide != want)
        fail_msg("case %u, %s f=%llx: with words %s, walked %s", number, rule,
                 (unsigned long long)f, u128_text(wide, a), u128_text(want, b));
    if (got != want)
        fail_msg("case %u, %s f=%llx boundary=%llx outs=%llx: %s, walked %s",
                 number, rule, (unsigned long long)f, (unsigned long long)bd,
                 (unsigned long long)outs, u128_text(got, a),
                 u128_text(want, b));
}

static void check_all(struct world *w, const char *rule, unsigned number,
                      struct jc_rng *r)
{
    aset all = aset_first_n(w->q->n_atoms);
    for (aset f = 1; f <= all; f++) {
        vset vars = cq_vars_of(w->q, f), some = 0;
        vset bd = f == all ? 0 : vars & cq_vars_of(w->q, all & ~f);
        check(w, rule, number, f, bd, cq_free(w->q) & vars);
        VSET_EACH (v, vars)
            if (jc_below(r, 3) == 0)
                some |= vset_one(v);
        check(w, rule, number, f, some, cq_free(w->q) & vars);
        check(w, rule, number, f, some, some & cq_free(w->q));
    }
}

static struct style random_style(struct jc_rng *r, uint32_t domain)
{
    struct style s = {.rows = jc_below(r, 2 * domain) + jc_below(r, 20),
                      .domain = domain,
                      .nulls = jc_below(r, 3) ? 0 : 5,
                      .keyed = jc_below(r, 2),
                      .depends = jc_below(r, 3) == 0};
    if (s.rows > 700)
        s.rows = 700;
    if (jc_below(r, 12) == 0)
        s.rows = 0;
    return s;
}

static void test_trees(void **state)
{
    (void)state;
    static const uint32_t domains[] = {2, 4, 12, 12, 70};
    for (unsigned i = 0; i < N_RULES * 200; i++) {
        struct jc_rng r = {i * 77 + 3};
        struct world w;
        uint32_t domain = domains[jc_below(&r, 5)];
        world_open(&w, rules[i % N_RULES]);
        for (size_t t = 0; t < w.schema.tables.n; t++) {
            struct style s = random_style(&r, domain);
            fill(&w, t, &s, &r);
        }
        world_join(&w, 1, false);
        check_all(&w, rules[i % N_RULES], i, &r);
        world_close(&w);
    }
}

/* The count of one key by the backtracking join; ids of values -1 .. domain. */
static u128 walked_key(struct world *w, const struct value *key)
{
    struct request r = {.f = aset_first_n(w->q->n_atoms), .scale = 1};
    uint32_t fixed[MAX_VARS] = {0};
    u128 v = 0;
    struct arena a;
    arena_init(&a, &w->mem);
    assert_int_equal(join_pick(w->j, &r, &a, &w->err), OK);
    r.outs = cq_free(w->q);
    r.fixed = fixed;
    for (uint32_t i = 0; i < w->q->n_group; i++) {
        uint32_t x = w->q->outs[i].id;
        fixed[x] = dom_find(&w->j->doms[w->j->dom_of[x]], &key[i]);
        r.fixed_set |= vset_one(x);
        if (fixed[x] == NO_ID) {
            arena_fini(&a);
            return 0;
        }
    }
    r.boundary = r.fixed_set;
    assert_int_equal(walk_run(w->j, &r, &v, &w->err), OK);
    arena_fini(&a);
    return v;
}

enum { MOST_KEYS = 300 };

/* Counts of many keys, some twice, some without a match, some NULL. */
static void check_groups(struct world *w, const char *rule, unsigned number,
                         uint32_t domain, struct jc_rng *r)
{
    static struct value keys[MOST_KEYS * 3];
    static u128 got[MOST_KEYS];
    uint32_t n_outs = w->q->n_outs, n_group = 1 + jc_below(r, 3);
    struct term saved[MAX_VARS];
    memcpy(saved, w->q->outs, n_outs * sizeof *saved);
    w->q->n_group = n_group < n_outs ? n_group : n_outs;
    for (uint32_t i = 0; i < w->q->n_group; i++) { /* any of the outputs */
        uint32_t k = i + jc_below(r, n_outs - i);
        struct term t = w->q->outs[i];
        w->q->outs[i] = w->q->outs[k];
        w->q->outs[k] = t;
    }
    for (uint32_t i = 0; i < MOST_KEYS * w->q->n_group; i++) {
        struct value v = {.type = T_INT, .i = jc_below(r, domain + 1)};
        keys[i] = jc_below(r, 9) ? v : value_null();
    }
    size_t n_keys = jc_below(r, MOST_KEYS);
    w->j->only_wide = jc_below(r, 2);
    assert_int_equal(plain_groups(w->j, keys, n_keys, got, &w->err), OK);
    w->j->only_wide = false;
    for (size_t i = 0; i < n_keys; i++) {
        u128 want = walked_key(w, keys + i * w->q->n_group);
        if (got[i] != want)
            fail_msg("case %u, %s, key %zu of %u: %llu, walked %llu", number,
                     rule, i, w->q->n_group, (unsigned long long)got[i],
                     (unsigned long long)want);
    }
    memcpy(w->q->outs, saved, n_outs * sizeof *saved);
    w->q->n_group = 0;
}

static void test_groups(void **state)
{
    (void)state;
    static const uint32_t domains[] = {2, 4, 12, 70};
    for (unsigned i = 0; i < N_RULES * 30; i++) {
        struct jc_rng r = {i * 91 + 5};
        struct world w;
        uint32_t domain = domains[jc_below(&r, 4)];
        world_open(&w, rules[i % N_RULES]);
        for (size_t t = 0; t < w.schema.tables.n; t++) {
            struct style s = random_style(&r, domain);
            fill(&w, t, &s, &r);
        }
        world_join(&w, 1, false);
        check_groups(&w, rules[i % N_RULES], i, domain, &r);
        check_groups(&w, rules[i % N_RULES], i, domain, &r);
        world_close(&w);
    }
}

/* Counts of a path whose variables carry the weights of hanging tables: rows
 * / ids for each of the first ids. */
static void check_heavy(const char *rule, uint32_t rows, uint32_t ids,
                        uint32_t domain)
{
    struct world w;
    struct jc_rng r = {rows};
    world_open(&w, rule);
    for (size_t t = 0; t < w.schema.tables.n; t++) {
        bool heavy = w.schema.tables.p[t].name.p[0] == 'H';
        struct style s = {
            .rows = heavy ? rows : 400, .domain = domain, .keyed = true};
        struct store_loader *l;
        if (!heavy) {
            fill(&w, t, &s, &r);
            continue;
        }
        assert_int_equal(store_load_begin(w.st, t, NULL, &l, &w.err), OK);
        for (uint32_t i = 0; i < rows; i++) {
            struct value vals[2] = {{.type = T_INT, .i = i % ids},
                                    {.type = T_INT, .i = i}};
            assert_int_equal(store_load_values(l, vals, &w.err), OK);
        }
        assert_int_equal(store_load_end(l, &w.err), OK);
    }
    world_join(&w, 1, false);
    for (vset bd = 0; bd < 8; bd++) /* of a, m and b */
        if (bd != 7)
            check(&w, rule, rows, aset_first_n(w.q->n_atoms), bd, cq_free(w.q));
    for (int i = 0; ids == 3 && i < 20; i++)
        check_groups(&w, rule, rows, domain, &r);
    world_close(&w);
}

static void test_large_numbers(void **state)
{
    (void)state;
    check_heavy("Q(a,m,b,x,y,z) :- A(m,a), B(m,b), H(m,x), H(m,y), H(m,z).",
                6000, 3, 3); /* about 2^33 */
    check_heavy("Q(a,m,b,x,y,z,u,v) :- A(m,a), B(m,b), H(m,x), H(b,y), "
                "H(a,z), H(b,u), H(m,v).",
                6000, 3, 3); /* about 2^55 */
    check_heavy("Q(a,m,b,x,y,z,u,v,w) :- A(m,a), B(m,b), H(m,x), H(b,y), "
                "H(a,z), H(b,u), H(m,v), H(a,w).",
                9000, 3, 3); /* about 2^69 */
    check_heavy("Q(a,m,b,x,y,z,u,v) :- A(m,a), B(m,b), H(m,x), H(m,y), "
                "H(m,z), H(m,u), H(m,v).",
                40000, 8, 1); /* 2^61 at each m, eight of them at a */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
