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
#include "harness/residual_check.h"

static void run(void *db, const char *sql)
{
    PGresult *res = PQexec(db, sql);
    if (PQresultStatus(res) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    PQclear(res);
}

static int64_t ask(void *db, const char *sql)
{
    PGresult *res = PQexec(db, sql);
    if (PQresultStatus(res) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(db));
    int64_t n = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
    PQclear(res);
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
    struct residual_peer peer = {db, "ctid", "CREATE TEMP TABLE", run, ask};
    residual_check(&peer, 20, 250);
    PQfinish(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(residuals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
