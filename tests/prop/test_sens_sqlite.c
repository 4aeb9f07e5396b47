/*
 * Counts and residual counts of the engine against SQLite, on random queries
 * and tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include "harness/residual_sql.h"
#include "harness/rule_gen.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3 *fill(struct rules *r, const struct tiny *t)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < r->schema.tables.n; i++) {
        struct str name = r->schema.tables.p[i].name, sql;
        sql = str_printf(&r->arena,
                         "CREATE TABLE %.*s (c0 INTEGER, "
                         "c1 INTEGER)",
                         PSTR(name));
        run(db, sql.p);
        for (size_t k = 0; k < t->tables[i].n_rows; k++) {
            sql = str_printf(&r->arena, "INSERT INTO %.*s VALUES (%d, %d)",
                             PSTR(name), t->tables[i].rows[k][0],
                             t->tables[i].rows[k][1]);
            run(db, sql.p);
        }
    }
    return db;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

static unsigned compare(struct rules *r, struct cq *q, const struct tiny *t)
{
    struct store *st = tiny_store(r, t);
    struct join *j;
    struct sens_plan *p;
    sqlite3 *db = fill(r, t);
    assert_int_equal(join_open(&r->mem, q, st, NULL, &j, &r->err), OK);
    assert_int_equal(sens_plan_new(&r->arena, q, false, &p, &r->err), OK);
    for (size_t c = 1; c < p->n_coords; c++) {
        const struct sens_coord *x = &p->coords[c];
        struct sb sql;
        u128 got;
        sb_init(&sql, &r->arena);
        residual_sql(&sql, q, x->atoms, x->boundary, x->outs, "rowid");
        if (join_max(j, x->atoms, x->boundary, x->outs, &got, &r->err) != OK)
            fail_msg("%s", r->err.message);
        int64_t want = ask(db, sql.p);
        if (got != (u128)want)
            fail_msg("%s\n%s: %llu, not %lld", cq_text(&r->arena, q).p, sql.p,
                     (unsigned long long)got, (long long)want);
    }
    struct sb sql;
    u128 count;
    sb_init(&sql, &r->arena);
    residual_sql(&sql, q, p->all, 0, cq_free(q), "rowid");
    assert_int_equal(join_count(j, &count, &r->err), OK);
    assert_int_equal(count, ask(db, sql.p));
    unsigned n = (unsigned)p->n_coords;
    sqlite3_close(db);
    join_close(j);
    store_free(st);
    return n;
}

static void residuals(void **state)
{
    (void)state;
    uint64_t seed = 2;
    unsigned compared = 0;
    for (int round = 0; round < 250; round++) {
        struct gen g;
        struct rules r;
        struct tiny t;
        enum gen_class c = (enum gen_class)(round % GEN_CLASSES);
        gen_rule(c, &seed, &g);
        g.n_constraints = 0;
        rules_init(&r);
        struct cq *q = gen_read(&r, &g);
        tiny_random(&t, q, 2 + (int)universe_random(&seed, 3),
                    c == GEN_BAGS ? 2 : 1, &seed);
        if (!q->unsat)
            compared += compare(&r, q, &t);
        assert_true(rules_fini(&r));
    }
    print_message("%u residual counts agree\n", compared);
    assert_true(compared > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(residuals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
