/*
 * Counts and residual counts of the engine against PostgreSQL, on random
 * queries and tables. Skipped where there is no server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <libpq-fe.h>
#include <stdlib.h>
#include "harness/pg_server.h"
#include "harness/residual_sql.h"
#include "harness/rule_gen.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"

static void run(PGconn *db, const char *sql)
{
    PGresult *res = PQexec(db, sql);
    if (PQresultStatus(res) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    PQclear(res);
}

static void fill(PGconn *db, struct rules *r, const struct tiny *t)
{
    for (size_t i = 0; i < r->schema.tables.n; i++) {
        struct str name = r->schema.tables.p[i].name;
        struct sb sql;
        sb_init(&sql, &r->arena);
        sb_printf(&sql,
                  "DROP TABLE IF EXISTS %.*s; CREATE TEMP TABLE %.*s "
                  "(c0 integer, c1 integer)",
                  PSTR(name), PSTR(name));
        for (size_t k = 0; k < t->tables[i].n_rows; k++)
            sb_printf(&sql, "; INSERT INTO %.*s VALUES (%d, %d)", PSTR(name),
                      t->tables[i].rows[k][0], t->tables[i].rows[k][1]);
        run(db, sql.p);
    }
}

static int64_t ask(PGconn *db, const char *sql)
{
    PGresult *res = PQexec(db, sql);
    if (PQresultStatus(res) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    int64_t n = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
    PQclear(res);
    return n;
}

static unsigned compare(PGconn *db, struct rules *r, struct cq *q,
                        const struct tiny *t)
{
    struct store *st = tiny_store(r, t);
    struct join *j;
    struct sens_plan *p;
    fill(db, r, t);
    assert_int_equal(join_open(&r->mem, q, st, NULL, &j, &r->err), OK);
    assert_int_equal(sens_plan_new(&r->arena, q, false, &p, &r->err), OK);
    for (size_t c = 1; c < p->n_coords; c++) {
        const struct sens_coord *x = &p->coords[c];
        struct sb sql;
        u128 got;
        sb_init(&sql, &r->arena);
        residual_sql(&sql, q, x->atoms, x->boundary, x->outs, "ctid");
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
    residual_sql(&sql, q, p->all, 0, cq_free(q), "ctid");
    assert_int_equal(join_count(j, &count, &r->err), OK);
    assert_int_equal(count, ask(db, sql.p));
    unsigned n = (unsigned)p->n_coords;
    join_close(j);
    store_free(st);
    return n;
}

static void residuals(void **state)
{
    (void)state;
    const char *where = pg_server();
    if (!where)
        skip();
    PGconn *db = PQconnectdb(where);
    if (PQstatus(db) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(db));
    run(db, "SET client_min_messages TO error");
    uint64_t seed = 20;
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
            compared += compare(db, &r, q, &t);
        assert_true(rules_fini(&r));
    }
    PQfinish(db);
    print_message("%u residual counts agree\n", compared);
    assert_true(compared > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(residuals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
