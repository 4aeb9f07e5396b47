/*
 * Counting row by row against the backtracking join: random queries with atoms
 * of up to three variables, all comparisons, repeated rows, NULLs, boundaries
 * and variables that only have to exist; counts of keys; numbers beyond 64
 * bits; every allocation failing; cancelling. What the row engine declines is
 * not compared, so the test also counts what it takes.
 */
#include "harness/load_rows.h"
#include "harness/join_case.h"
#include "harness/plain.h"
#include "harness/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/rows/rows.h"

enum { CASES = 30000, ASKS = 4 };

static struct jc_shape shapes[] = {
    {.atoms = 2, .vars = 6, .rows = 24, .domain = 9, .cmps = 7, .order = true},
    {.atoms = 3, .vars = 8, .rows = 20, .domain = 7, .cmps = 4, .order = true},
    {.atoms = 4, .vars = 9, .rows = 12, .domain = 5, .cmps = 3, .order = true},
    {.atoms = 3,
     .vars = 7,
     .rows = 16,
     .domain = 5,
     .cmps = 4,
     .order = true,
     .nulls = true,
     .bags = true,
     .consts = true,
     .preds = true},
    {.atoms = 3, .vars = 5, .rows = 24, .domain = 4, .cmps = 0, .bags = true},
    {.atoms = 3, .vars = 6, .rows = 24, .domain = 5, .cmps = 4},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

/* How often the row engine answered, by what was asked. */
struct taken {
    long all, ordered, wide, unequal, exists, bounded, apart, outside, keys;
};

static vset random_vars(struct jc_rng *r, uint32_t n_vars, uint32_t of)
{
    vset s = 0;
    for (uint32_t v = 0; v < n_vars; v++)
        if (jc_below(r, of) == 0)
            s |= vset_one(v);
    return s;
}

static void count_taken(const struct join *j, const struct request *r,
                        struct taken *t)
{
    bool ordered = false, unequal = false, wide = false, inside = false;
    for (uint32_t i = 0; i < r->n_cmps; i++) {
        ordered = ordered || r->cmps[i].op != CMP_NE;
        unequal = unequal || r->cmps[i].op == CMP_NE;
    }
    ASET_EACH (i, r->f) {
        wide = wide || vset_count(j->atoms[i].set) > 2;
        inside = inside || vset_sub(r->boundary, j->atoms[i].set);
    }
    t->all++;
    t->ordered += ordered;
    t->unequal += unequal;
    t->wide += wide;
    t->exists += (r->vars & ~r->outs & ~r->boundary) != 0;
    t->bounded += r->boundary != 0;
    t->apart += !inside && !r->outside;
    t->outside += r->outside != 0;
}

static void ask(struct join *j, const struct join_case *c, struct jc_rng *rng,
                struct taken *t)
{
    struct arena a;
    struct err err;
    u128 got = 0, want = 0;
    enum outcome what = PASS;
    aset all = aset_first_n(c->q.n_atoms);
    struct request r = {
        .f = jc_below(rng, 3) ? all : jc_below(rng, (uint32_t)all), .scale = 1};
    if (!r.f)
        return;
    arena_init(&a, c->st.mem);
    assert_int_equal(join_pick(j, &r, &a, &err), OK);
    r.boundary = random_vars(rng, c->q.n_vars, 3 + jc_below(rng, 4)) & r.vars;
    r.outs =
        jc_below(rng, 2) ? r.vars : random_vars(rng, c->q.n_vars, 2) & r.vars;
    if (jc_below(rng, 2)) {
        assert_int_equal(exact_request(j, &r, &a, &err), OK);
        r.n_cmps = 0;
        assert_int_equal(join_pick(j, &r, &a, &err), OK);
    }
    uint32_t words = 1 + jc_below(rng, 4);
    if (vset_count(r.outside) < 3)
        assert_int_equal(rows_solve(j, &r, &a, words, &got, &what, &err), OK);
    if (what == SOLVED) {
        assert_int_equal(walk_run(j, &r, &want, &err), OK);
        count_taken(j, &r, t);
        if (got != want) {
            jc_print(c);
            printf("f=%llx boundary=%llx outs=%llx: %llu, not %llu\n",
                   (unsigned long long)r.f, (unsigned long long)r.boundary,
                   (unsigned long long)r.outs, (unsigned long long)got,
                   (unsigned long long)want);
            fail();
        }
    }
    arena_fini(&a);
}

/* Counts of random keys at once, and each by a walk with it fixed. */
static void ask_keys(struct join *j, const struct join_case *c,
                     struct jc_rng *rng, struct taken *t)
{
    enum { KEYS = 12 };
    struct arena a;
    struct err err;
    uint32_t cols[MAX_VARS][KEYS], fixed[MAX_VARS] = {0}, n = 0;
    const uint32_t *ids[MAX_VARS];
    uint8_t ok[KEYS];
    u128 out[KEYS];
    enum outcome what = PASS;
    struct request r = {.f = aset_first_n(c->q.n_atoms), .scale = 1};
    arena_init(&a, c->st.mem);
    assert_int_equal(join_pick(j, &r, &a, &err), OK);
    r.boundary = random_vars(rng, c->q.n_vars, 3) & r.vars;
    r.outs =
        jc_below(rng, 2) ? r.vars : random_vars(rng, c->q.n_vars, 2) & r.vars;
    bool any = r.boundary != 0;
    VSET_EACH (v, r.boundary) {
        uint32_t size = j->doms[j->dom_of[v]].n;
        any = any && size;
        for (uint32_t i = 0; i < KEYS && size; i++)
            cols[n][i] = jc_below(rng, size);
        ids[n] = cols[n];
        n++;
    }
    for (uint32_t i = 0; i < KEYS; i++)
        ok[i] = jc_below(rng, 8) != 0;
    struct rows_wanted k = {KEYS, ids, ok, out};
    if (any)
        assert_int_equal(
            rows_count_keys(j, &r, &a, 1 + jc_below(rng, 4), &k, &what, &err),
            OK);
    r.fixed = fixed;
    r.fixed_set = r.boundary;
    for (uint32_t i = 0; what == SOLVED && i < KEYS; i++) {
        u128 want = 0;
        uint32_t p = 0;
        VSET_EACH (v, r.boundary)
            fixed[v] = cols[p++][i];
        if (ok[i])
            assert_int_equal(walk_run(j, &r, &want, &err), OK);
        if (out[i] != want) {
            jc_print(c);
            printf("key %u, boundary=%llx: %llu, not %llu\n", i,
                   (unsigned long long)r.boundary, (unsigned long long)out[i],
                   (unsigned long long)want);
            fail();
        }
    }
    t->keys += what == SOLVED;
    arena_fini(&a);
}

static void test_against_walker(void **state)
{
    struct taken t = {0};
    (void)state;
    for (long i = 0; i < CASES; i++) {
        struct jc_rng r = {(uint64_t)i * 104729 + 5};
        struct jc_shape s = shapes[i % N_SHAPES];
        struct join_case c;
        struct join *j = NULL;
        struct err err;
        s.type = T_INT;
        jc_make(&c, &r, &s);
        assert_int_equal(join_open(&c.mem, &c.q, &c.st, NULL, &j, &err), OK);
        assert_int_equal(join_encode(j, &err), OK);
        for (int k = 0; k < ASKS; k++)
            ask(j, &c, &r, &t);
        ask_keys(j, &c, &r, &t);
        join_close(j);
        jc_free(&c);
        assert_int_equal(atomic_load(&c.mem.used), 0);
    }
    printf("row by row: %ld; ordered %ld, unequal %ld, three variables %ld, "
           "exists %ld, boundary %ld, apart %ld, outside %ld, keys %ld\n",
           t.all, t.ordered, t.unequal, t.wide, t.exists, t.bounded, t.apart,
           t.outside, t.keys);
    assert_true(t.all > CASES && t.ordered > 5000 && t.unequal > 5000);
    assert_true(t.wide > 5000 && t.exists > 1000 && t.bounded > 2000);
    assert_true(t.apart > 1000 && t.outside > 1500 && t.keys > 1000);
}

/* --- at the edges ----------------------------------------------------------
 */

struct world {
    struct arena arena;
    struct schema schema;
    struct cq *q;
    struct store *st;
    struct join *j;
};

/* Table R(a,b): 1 and each of 1 .. n. */
static enum status fill(struct world *w, int n, struct err *err)
{
    struct store_loader *l;
    bool wanted[2] = {true, true};
    TRY(store_load_begin(w->st, 0, wanted, &l, err));
    for (int i = 1; i <= n; i++) {
        struct value v[2] = {value_int(1), value_int(i)};
        enum status s = store_load_values(l, v, err);
        if (s != OK) {
            store_load_abort(l);
            return s;
        }
    }
    return store_load_end(l, err);
}

static enum status open_world(struct world *w, struct mem *m, const char *rule,
                              int n, const struct join_options *opt,
                              struct err *err)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena, m);
    schema_init(&w->schema, &w->arena);
    TRY(cq_read(&w->arena, &w->schema, str_of(rule), &w->q, err));
    TRY(store_new(m, &w->schema, &w->st, err));
    TRY(fill(w, n, err));
    for (size_t t = 1; t < w->schema.tables.n; t++) {
        struct store_loader *l;
        bool wanted[1] = {true};
        TRY(store_load_begin(w->st, t, wanted, &l, err));
        TRY(store_load_end(l, err));
    }
    return join_open(m, w->q, w->st, opt, &w->j, err);
}

static void close_world(struct world *w)
{
    join_close(w->j);
    store_free(w->st);
    arena_fini(&w->arena);
}

/* 200^7 * 19900 leaves 64 bits on the way; a hundred thousand squared, halved,
 * would take the backtracking join hours. */
static void test_large(void **state)
{
    struct mem m;
    struct world w;
    struct err err;
    u128 got = 0, want = 19900;
    (void)state;
    mem_init(&m, 0);
    assert_int_equal(
        open_world(&w, &m,
                   "Q(x,a,b,c,d,e,f,g,h,i) :- R(x,a), R(x,b), R(x,c), R(x,d), "
                   "R(x,e), R(x,f), R(x,g), R(x,h), R(x,i), a < b.",
                   200, NULL, &err),
        OK);
    assert_int_equal(plain_count(w.j, &got, &err), OK);
    for (int i = 0; i < 7; i++)
        want *= 200;
    assert_true(got == want);
    close_world(&w);
    assert_int_equal(open_world(&w, &m,
                                "Q(x,a,b,c) :- R(x,a), R(x,b), R(x,c), a < b, "
                                "b <= c.",
                                3000, NULL, &err),
                     OK);
    assert_int_equal(plain_count(w.j, &got, &err), OK);
    /* a < b <= c: all three differ, or b = c */
    assert_true(got == (u128)3000 * 2999 * 2998 / 6 + 3000 * 2999 / 2);
    close_world(&w);
    assert_int_equal(atomic_load(&m.used), 0);
}

static enum status whole(struct mem *m, void *with, struct err *err)
{
    struct world w;
    u128 v;
    (void)with;
    enum status s =
        open_world(&w, m,
                   "Q(x,y,a,b,c,p,q) :- R(x,a), R(y,b), R(x,c), R(p,q), "
                   "a < b, x != y, c <= a, p <= a, a <= q.",
                   1500, NULL, err);
    if (s == OK)
        s = plain_count(w.j, &v, err);
    if (s == OK)
        s = join_max(w.j, 3, vset_one(0), 15, &v, err);
    close_world(&w);
    return s;
}

static void test_memory(void **state)
{
    (void)state;
    long n = oom_sweep(whole, NULL);
    assert_in_range(n, 40, 1000);
}

/* R(1,1), R(1,2), ...; positions at which a bound is not at its best. */
static void test_outside(void **state)
{
    static const struct {
        const char *rule;
        int want;
    } cases[] = {
        /* the least z is the value 1, which x refuses; a gap it does not */
        {"Q(x,y,z) :- R(x,y), S(z), z <= y, z != x, 1 <= z.", 8},
        /* the least z is above every u */
        {"Q(x,y,z,u) :- R(x,y), S(z), T(u), z < y, z < u, 5 <= z, u <= 4.", 0},
        /* z is above some u, which is 2 at least */
        {"Q(x,y,z,u) :- R(x,y), S(z), T(u), z < y, u < z, 2 <= u.", 7},
        /* the same from above */
        {"Q(x,y,z,u) :- R(x,y), S(z), T(u), y < z, z < u, u <= 4.", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mem m;
        struct world w;
        struct err err;
        u128 v = 0;
        mem_init(&m, 0);
        if (open_world(&w, &m, cases[i].rule, 9, NULL, &err) != OK)
            fail_msg("%s", err.message);
        assert_int_equal(join_max_exact(w.j, 1, 0, 3, &v, &err), OK);
        assert_int_equal((int)v, cases[i].want);
        close_world(&w);
    }
}

/* The limit, not the machine, says no: while opening and while counting. */
static void test_limit(void **state)
{
    struct mem m;
    struct world w;
    struct err err;
    u128 v;
    (void)state;
    mem_init(&m, 0);
    assert_int_equal(open_world(&w, &m, "Q(x,a,y,b) :- R(x,a), R(y,b), a < b.",
                                5000, NULL, &err),
                     OK);
    m.limit = atomic_load(&m.used) + 5000;
    assert_int_equal(plain_count(w.j, &v, &err), E_LIMIT);
    join_close(w.j);
    w.j = NULL;
    m.limit = atomic_load(&m.used) + 5000;
    assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), E_LIMIT);
    w.j = NULL;
    close_world(&w);
    assert_int_equal(atomic_load(&m.used), 0);
}

static bool say(void *ctx)
{
    return *(bool *)ctx;
}

static void test_cancel(void **state)
{
    struct mem m;
    struct world w;
    struct err err;
    bool now = false;
    struct join_options opt = {.threads = 1, .cancelled = say, .ctx = &now};
    u128 v;
    (void)state;
    mem_init(&m, 0);
    assert_int_equal(
        open_world(&w, &m, "Q(a,b) :- R(x,a), R(y,b), a < b.", 9, &opt, &err),
        OK);
    now = true;
    assert_int_equal(plain_count(w.j, &v, &err), E_CANCELLED);
    now = false;
    assert_int_equal(plain_count(w.j, &v, &err), OK);
    assert_true(v == 36);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_walker), cmocka_unit_test(test_large),
        cmocka_unit_test(test_outside),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_limit),          cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
