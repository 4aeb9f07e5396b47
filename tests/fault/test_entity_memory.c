/*
 * Every allocation of `sensitivity` with entities fails in turn: an error of
 * memory each time, nothing left behind, no crash. The files have NULL,
 * missing, ill-typed keys and a row that exists for owners only; the queries
 * have one owner, several, and witnesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/session_set.h"
#include "harness/scratch.h"
#include "report/report.h"

static char dir[SCRATCH_PATH];

static void put(const char *name, const char *text)
{
    char path[SCRATCH_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void set(struct session *s, const char *name, const char *value)
{
    char text[SCRATCH_PATH + 64];
    snprintf(text, sizeof text, value, dir);
    assert_int_equal(session_set(s, str_of(name), str_of(text)), OK);
}

static int write_files(void **state)
{
    (void)state;
    assert_int_equal(scratch_make(dir), 0);
    put("customer.csv", "c,nat\n1,1\n2,2\nx,3\n");
    put("orders.csv", "o,c,clerk\n1,1,7\n2,,7\ny,2,7\n4,9,8\n");
    put("lineitem.csv", "l,o,qty\n1,1,1\n2,2,1\n3,y,1\n4,77,1\n5,,2\nz,1,1\n");
    put("s.sql", "CREATE TABLE lineitem (l INTEGER PRIMARY KEY, o INTEGER, qty "
                 "INTEGER);\n"
                 "CREATE TABLE customer (c INTEGER PRIMARY KEY, nat INTEGER);\n"
                 "CREATE TABLE orders (o INTEGER PRIMARY KEY, c INTEGER, "
                 "clerk INTEGER);\n");
    put("p.yaml", "entities: [customer]\ntables:\n"
                  "  orders: {owned_by: [{via: [c], table: customer}]}\n"
                  "  lineitem: {owned_by: [{via: [o], table: orders}]}\n");
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

static enum status ask(const char *query, long fail_after, bool each)
{
    struct session *s;
    struct err err;
    struct result *r = result_new();
    assert_int_equal(session_new(&s, &err), OK);
    assert_non_null(r);
    set(s, "db", "%s");
    set(s, "schema", "%s/s.sql");
    set(s, "policy", "%s/p.yaml");
    s->mem.no_sharing = each;
    size_t base = atomic_load(&s->mem.used);
    atomic_store(&s->mem.fail_after, fail_after);
    enum status st = ask_sensitivity(s, str_of(query), r, &err);
    assert_int_equal(atomic_load(&s->mem.used), base);
    if (st != OK && st != E_NOMEM && st != E_LIMIT)
        fail_msg("request %ld: %s: %s", fail_after, status_code(st),
                 err.message);
    result_free(r);
    session_free(s);
    return st;
}

static void sweep(void **state)
{
    static const char *const queries[] = {
        "SELECT COUNT(*) FROM lineitem",
        "SELECT COUNT(*) FROM lineitem a, lineitem b WHERE a.qty = b.qty AND "
        "a.l <> b.l",
        "SELECT COUNT(DISTINCT qty) FROM lineitem",
    };
    long step = getenv("DPC_SLOW") ? 11 : 1;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int each = 0; each < 2; each++) {
            long n = 0;
            while (n < 100000 && ask(queries[i], n, each) != OK)
                n += each ? step : 1;
            assert_true(n > 10 && n < 100000);
            print_message("%s: %ld\n", queries[i], n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweep)};
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
