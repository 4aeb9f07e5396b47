/*
 * The join engine at its edges: numbers beyond 64 and 128 bits, gaps between
 * whole numbers, computed columns, memory that runs out, cancelling, limits.
 */
#include "harness/load_rows.h"
#include "harness/join_case.h"
#include "harness/plain.h"
#include "harness/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct world {
    struct arena arena;
    struct schema schema;
    struct cq *q;
    struct store *st;
    struct join *j;
};

/* Tables R, S, ... get the rows given for them, as text. */
static enum status load(struct world *w, const char *table,
                        const char *const *rows, size_t n_rows, struct err *err)
{
    long t = schema_find(&w->schema, str_of(table));
    bool wanted[8];
    struct store_loader *l;
    size_t n = w->schema.tables.p[t].n_cols;
    memset(wanted, 1, sizeof wanted);
    TRY(store_load_begin(w->st, (size_t)t, wanted, &l, err));
    for (size_t i = 0; i < n_rows; i++) {
        struct str vals[8];
        for (size_t k = 0; k < n; k++)
            vals[k] = str_of(rows[i * n + k]);
        enum status s = store_load_text(l, vals, err);
        if (s != OK) {
            store_load_abort(l);
            return s;
        }
    }
    return store_load_end(l, err);
}

static enum status open_rule(struct world *w, struct mem *m, const char *rule,
                             struct err *err)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena, m);
    schema_init(&w->schema, &w->arena);
    TRY(cq_read(&w->arena, &w->schema, str_of(rule), &w->q, err));
    return store_new(m, &w->schema, &w->st, err);
}

static void world_close(struct world *w)
{
    join_close(w->j);
    store_free(w->st);
    arena_fini(&w->arena);
}

static void hundred_rows(struct world *w, const char *table, int n)
{
    struct err err;
    char text[200][2][8];
    const char *rows[400];
    for (int i = 0; i < n; i++) {
        snprintf(text[i][0], 8, "1");
        snprintf(text[i][1], 8, "%d", i);
        rows[2 * i] = text[i][0];
        rows[2 * i + 1] = text[i][1];
    }
    assert_int_equal(load(w, table, rows, (size_t)n, &err), OK);
}

/* 200^9 leaves 64 bits; 200^17 leaves 128 and is clamped. */
static void test_large_counts(void **state)
{
    (void)state;
    static const char star9[] =
        "Q(x,a,b,c,d,e,f,g,h,i) :- R(x,a), R(x,b), R(x,c), R(x,d), R(x,e), "
        "R(x,f), R(x,g), R(x,h), R(x,i).";
    static const char star17[] =
        "Q(x,a,b,c,d,e,f,g,h,i,k,l,m,n,o,p,q,r) :- R(x,a), R(x,b), R(x,c), "
        "R(x,d), R(x,e), R(x,f), R(x,g), R(x,h), R(x,i), R(x,k), R(x,l), "
        "R(x,m), R(x,n), R(x,o), R(x,p), R(x,q), R(x,r).";
    struct mem m;
    struct world w;
    struct err err;
    u128 v = 0, want = 1;
    mem_init(&m, 0);
    assert_int_equal(open_rule(&w, &m, star9, &err), OK);
    hundred_rows(&w, "R", 200);
    assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
    assert_int_equal(plain_count(w.j, &v, &err), OK);
    for (int i = 0; i < 9; i++)
        want *= 200;
    assert_true(v == want);
    world_close(&w);
    assert_int_equal(open_rule(&w, &m, star17, &err), OK);
    hundred_rows(&w, "R", 200);
    assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
    assert_int_equal(plain_count(w.j, &v, &err), OK);
    assert_true(v == COUNT_MOST);
    world_close(&w);
    assert_int_equal(atomic_load(&m.used), 0);
}

/* R(1,2) keeps no whole number between its ends, R(1,3) keeps one. */
static void test_gap(void **state)
{
    (void)state;
    static const char *const near[] = {"1", "2"}, *const far[] = {"1", "3"};
    struct err err;
    for (int i = 0; i < 3; i++) {
        struct mem m;
        struct world w;
        u128 v = 7;
        mem_init(&m, 0);
        assert_int_equal(
            open_rule(&w, &m, "Q(x,y,z) :- R(x,y), S(z), x < z, z < y.", &err),
            OK);
        if (i < 2) { /* declared whole numbers; else the order is dense */
            w.q->vars[0].type = T_INT;
            w.q->vars[1].type = T_INT;
            w.q->vars[2].type = T_INT;
            for (size_t t = 0; t < 2; t++)
                for (size_t c = 0; c < w.schema.tables.p[t].n_cols; c++)
                    w.schema.tables.p[t].cols[c].type = T_INT;
        }
        assert_int_equal(load(&w, "R", i == 1 ? far : near, 1, &err), OK);
        assert_int_equal(load(&w, "S", NULL, 0, &err), OK);
        assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
        assert_int_equal(join_max_exact(w.j, 1, 0, 3, &v, &err), OK);
        assert_int_equal((int)v, i == 0 ? 0 : 1);
        world_close(&w);
    }
}

/* Whether gaps are closed must not depend on a row of a column without
 * declared type: it would change every other count at once. */
static void test_gap_undeclared(void **state)
{
    static const char *const rows[] = {"5", "6", "a", "b"};
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct mem m;
        struct world w;
        struct err err;
        u128 v = 7;
        mem_init(&m, 0);
        assert_int_equal(
            open_rule(&w, &m, "Q(x,z,w) :- R(x), S(z,w), z < x, x < w.", &err),
            OK);
        w.q->vars[0].type = T_INT;
        w.schema.tables.p[0].cols[0].type = T_INT;
        assert_int_equal(load(&w, "R", rows, 1, &err), OK);
        assert_int_equal(load(&w, "S", rows, n, &err), OK);
        assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
        assert_int_equal(join_max_exact(w.j, 2, 0, 6, &v, &err), OK);
        assert_int_equal((int)v, 1);
        world_close(&w);
    }
}

/* A date is the midnight it begins with, wherever the two meet. */
static void test_date_and_timestamp(void **state)
{
    static const char *const days[] = {"2020-01-01", "2020-01-02"};
    static const char *const times[] = {
        "2020-01-01 00:00:00", "2020-01-02 05:00:00", "2020-01-02 00:00:00"};
    static const char *const rules[] = {
        "Q(x) :- R(x), S(x).",
        "Q(x,y) :- R(x), S(y), x < y.",
        "Q(x,y) :- R(x), S(y), x <= y.",
        "Q(x,y) :- R(x), S(y), x != y.",
    };
    static const uint64_t want[] = {2, 3, 5, 4};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct mem m;
        struct world w;
        struct err err;
        u128 v = 0;
        mem_init(&m, 0);
        assert_int_equal(open_rule(&w, &m, rules[i], &err), OK);
        w.schema.tables.p[0].cols[0].type = T_DATE;
        w.schema.tables.p[1].cols[0].type = T_TIMESTAMP;
        assert_int_equal(load(&w, "R", days, 2, &err), OK);
        assert_int_equal(load(&w, "S", times, 3, &err), OK);
        assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
        assert_int_equal(plain_count(w.j, &v, &err), OK);
        assert_int_equal(v, want[i]);
        world_close(&w);
    }
}

/* A computed column joins like a stored one, whatever type it has. */
static void test_calc(void **state)
{
    (void)state;
    static const char *const r[] = {"1", "5", "9223372036854775807"};
    static const char *const s[] = {"3", "7", "9223372036854775809", "3"};
    struct mem m;
    struct world w;
    struct err err;
    u128 v = 0;
    mem_init(&m, 0);
    assert_int_equal(
        open_rule(&w, &m, "Q(x,y) :- R(x), S(y), y := {add(x, 2)}.", &err), OK);
    assert_int_equal(load(&w, "R", r, 3, &err), OK);
    assert_int_equal(load(&w, "S", s, 4, &err), OK);
    assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
    assert_int_equal(plain_count(w.j, &v, &err), OK);
    assert_int_equal((int)v, 3);
    world_close(&w);
}

/* The same computed column of two atoms, joined with columns that hold
 * different values: the ids of one say nothing about the other's. */
static void test_equal_calcs(void **state)
{
    (void)state;
    static const char *const r[] = {"1", "5", "9"}, *const s[] = {"3", "7"};
    static const char *const t[] = {"1", "2", "11"};
    struct mem m;
    struct world w;
    struct err err;
    u128 v = 0;
    mem_init(&m, 0);
    assert_int_equal(open_rule(&w, &m,
                               "Q(x,y,u,z) :- R(x), S(y), R(u), T(z), "
                               "y := {add(x, 2)}, z := {add(u, 2)}.",
                               &err),
                     OK);
    assert_int_equal(load(&w, "R", r, 3, &err), OK);
    assert_int_equal(load(&w, "S", s, 2, &err), OK);
    assert_int_equal(load(&w, "T", t, 3, &err), OK);
    assert_int_equal(join_open(&m, w.q, w.st, NULL, &w.j, &err), OK);
    assert_int_equal(plain_count(w.j, &v, &err), OK);
    assert_int_equal((int)v, 2); /* x = 1 or 5, u = 9 */
    world_close(&w);
}

static const char *const edges[] = {"1", "2", "2", "3", "3", "1", "2", "1",
                                    "3", "2", "1", "3", "3", "4", "4", "3"};

static enum status whole(struct mem *m, void *with, struct err *err)
{
    struct world w;
    u128 v;
    (void)with;
    enum status s = open_rule(
        &w, m, "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != c, b != d, a != d.",
        err);
    if (s == OK)
        s = load(&w, "E", edges, 8, err);
    if (s == OK)
        s = join_open(m, w.q, w.st, NULL, &w.j, err);
    if (s == OK)
        s = plain_count(w.j, &v, err);
    if (s == OK)
        s = join_max(w.j, 7, (vset)9, ~(vset)0, &v, err);
    if (s == OK)
        s = join_max(w.j, 7, 0, (vset)9, &v, err);
    world_close(&w);
    return s;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    assert_true(oom_sweep(whole, NULL) > 20);
}

static bool say(void *ctx)
{
    return *(bool *)ctx;
}

static void test_cancel(void **state)
{
    (void)state;
    struct mem m;
    struct world w;
    struct err err;
    bool now = false;
    struct join_options opt = {.threads = 1, .cancelled = say, .ctx = &now};
    u128 v;
    mem_init(&m, 0);
    assert_int_equal(open_rule(&w, &m,
                               "Q(a,b,c,d) :- R(a,x), R(b,y), R(c,z), R(d,u), "
                               "a <= b, x < y, y < z, b <= c, z < u.",
                               &err),
                     OK);
    hundred_rows(&w, "R", 200);
    assert_int_equal(join_open(&m, w.q, w.st, &opt, &w.j, &err), OK);
    now = true;
    assert_int_equal(join_max(w.j, 15, 0, ~(vset)0, &v, &err), E_CANCELLED);
    now = false;
    assert_int_equal(join_max(w.j, 15, 0, ~(vset)0, &v, &err), OK);
    assert_int_equal((int)v, 64684950); /* 200 over 4 */
    world_close(&w);
    assert_int_equal(atomic_load(&m.used), 0);
}

enum { WHEEL = 600 };

/* R(0, i), E(i, i + 1) and E(i, i + 2): one triangle for each i. */
static void load_wheel(struct world *w, struct err *err)
{
    static char text[WHEEL][8];
    static const char *r[WHEEL * 2], *e[WHEEL * 4];
    for (int i = 0; i < WHEEL; i++) {
        snprintf(text[i], sizeof text[i], "%d", i);
        r[2 * i] = text[0];
        r[2 * i + 1] = text[i];
        for (int k = 0; k < 2; k++) {
            e[4 * i + 2 * k] = text[i];
            e[4 * i + 2 * k + 1] = text[(i + k + 1) % WHEEL];
        }
    }
    assert_int_equal(load(w, "R", r, WHEEL, err), OK);
    assert_int_equal(load(w, "E", e, (size_t)WHEEL * 2, err), OK);
}

/* PRIVACY: a maximum with one candidate only, cancelled in the midst of it,
 * is no maximum. */
static void test_cancel_maximum(void **state)
{
    (void)state;
    struct mem m;
    struct world w;
    struct err err;
    bool now = false;
    struct join_options opt = {.threads = 1, .cancelled = say, .ctx = &now};
    u128 v;
    mem_init(&m, 0);
    assert_int_equal(open_rule(&w, &m,
                               "Q(a,b,c,d) :- R(a,b), R(a,c), R(a,d), E(b,c), "
                               "E(c,d), E(b,d).",
                               &err),
                     OK);
    load_wheel(&w, &err);
    assert_int_equal(join_open(&m, w.q, w.st, &opt, &w.j, &err), OK);
    now = true;
    assert_int_equal(join_max(w.j, 63, 1, ~(vset)0, &v, &err), E_CANCELLED);
    now = false;
    assert_int_equal(join_max(w.j, 63, 1, ~(vset)0, &v, &err), OK);
    assert_int_equal((int)v, WHEEL);
    world_close(&w);
    assert_int_equal(atomic_load(&m.used), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_gap_undeclared),
        cmocka_unit_test(test_date_and_timestamp),
        cmocka_unit_test(test_calc),
        cmocka_unit_test(test_equal_calcs),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
