/* The catalogue: whose statement it is, values and types, refusals, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"

static struct catalogue *open_one(unsigned char **bytes)
{
    static const size_t id[] = {0}, other[] = {1};
    static const struct catalogue_column columns[] = {
        {"id", "integer", -1, true, NULL},
        {"doctor", "integer", -1, false, "it's"},
        {"<img src=x onerror=alert(1)>", "no such type", -1, false, NULL}};
    static const struct catalogue_key key = {NULL, true, id, 1};
    static const struct catalogue_reference self = {NULL, other, id, 1, 0};
    static const struct catalogue_table tables[] = {
        {NULL, "staff", "private: a; DROP TABLE x --", columns, 3, &key, 1,
         &self, 1},
        {"ward\"s", "Ro'om", NULL, columns, 1, NULL, 0, NULL, 0}};
    static const struct catalogue_source source = {"clinic", tables, 2};
    struct catalogue_error err;
    struct catalogue *c;
    size_t n;
    if (!catalogue_build(&source, bytes, &n, &err))
        fail_msg("%s", err.message);
    if (!catalogue_open(*bytes, n, "ann", &c, &err))
        fail_msg("%s", err.message);
    return c;
}

/* Cells of the first row, with | between them; or !SQLSTATE. */
static const char *ask(struct catalogue *c, const char *sql)
{
    static char out[2000];
    struct catalogue_rows r;
    struct catalogue_error err;
    out[0] = 0;
    if (!catalogue_run(c, sql, NULL, 0, &r, &err)) {
        snprintf(out, sizeof out, "!%s", err.sqlstate);
        return out;
    }
    for (size_t i = 0; i < r.n_fields && r.n_rows; i++) {
        size_t n = strlen(out);
        snprintf(out + n, sizeof out - n, "%s%s", i ? "|" : "",
                 r.cells[i] ? r.cells[i] : "~");
    }
    catalogue_rows_free(&r);
    return out;
}

static void check_all(struct catalogue *c, const char *const (*cases)[2])
{
    for (; (*cases)[0]; cases++) {
        const char *got = ask(c, (*cases)[0]);
        if (strcmp(got, (*cases)[1]))
            fail_msg("%s\n  gives %s, not %s", (*cases)[0], got, (*cases)[1]);
    }
}

static void test_values(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT 1, -1, - (- 2), 'a''b', NULL, true", "1|-1|2|a'b|~|t"},
        {"SELECT 'staff'::regclass, 'staff'::regclass::oid::int4 > 0",
         "staff|t"},
        {"SELECT 'pg_class'::regclass::oid, 1259::regclass", "1259|pg_class"},
        {"SELECT conrelid::regclass, conkey, confkey FROM pg_constraint"
         " WHERE contype = 'f'",
         "staff|{2}|{1}"},
        {"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = "
         "'f'",
         "FOREIGN KEY (doctor) REFERENCES staff(id)"},
        {"SELECT array_agg(attname ORDER BY attnum DESC) FROM pg_attribute"
         " WHERE attrelid = 'staff'::regclass AND attnum < 3",
         "{doctor,id}"},
        {"SELECT string_agg(relname, ', ') FROM pg_class WHERE false", "~"},
        {"SELECT ARRAY[1,2] || 3, ARRAY['a b','NULL',NULL], '{}'::int[]",
         "{1,2,3}|{\"a b\",\"NULL\",NULL}|{}"},
        {"SELECT 'x' LIKE 'X', 'x' ILIKE 'X', 'a%b' LIKE 'a\\%b', 'ab' ~ "
         "'^a.$'",
         "f|t|t|t"},
        {"SELECT 3 = ANY ('{1,2}'), NULL = ANY ('{1}'), 1 <> ALL ('{2,3}')",
         "f|~|t"},
        {"SELECT current_user, current_database(), current_schema()",
         "ann|clinic|public"},
        {"SELECT \"Odd\".\"relname\" FROM pg_class AS \"Odd\" WHERE relname ="
         " 'Ro''om'",
         "Ro'om"},
        {"SELECT oid::regclass FROM pg_class WHERE relname = 'Ro''om'",
         "\"ward\"\"s\".\"Ro'om\""},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
         " i < 5) SELECT max(i) FROM n",
         "5"},
        {"SELECT (information_schema._pg_expandarray(conkey)).n FROM"
         " pg_constraint WHERE contype = 'p'",
         "1"},
        {"SELECT unnest(ARRAY[1,2]), unnest(ARRAY['a'])", "1|a"},
        {"SELECT obj_description('staff'::regclass)",
         "private: a; DROP TABLE x --"},
        {"VALUES (1, 'a'), (2, 'b')", "1|a"},
        {NULL, NULL}};
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    (void)state;
    check_all(c, cases);
    catalogue_close(c);
    free(bytes);
}

/* PRIVACY: nothing about rows or sizes, whoever asks how. */
static void test_nothing_of_rows(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT reltuples, relpages, relallvisible FROM pg_class WHERE "
         "relname ="
         " 'staff'",
         "-1|0|0"},
        {"SELECT pg_relation_size('staff'), pg_table_size('staff'),"
         " pg_total_relation_size('staff'), pg_indexes_size('staff')",
         "~|~|~|~"},
        {"SELECT pg_size_pretty(pg_database_size('clinic'))", "~"},
        {"SELECT count(*) FROM pg_stats", "0"},
        {"SELECT count(*) FROM pg_statistic", "0"},
        {"SELECT count(*) FROM pg_stat_user_tables", "0"},
        {"SELECT count(*) FROM pg_statio_user_tables", "0"},
        {"SELECT count(*) FROM pg_sequences", "0"},
        {"SELECT count(*) FROM pg_authid", "0"},
        {"SELECT count(*) FROM pg_stat_activity", "0"},
        {NULL, NULL}};
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    (void)state;
    check_all(c, cases);
    catalogue_close(c);
    free(bytes);
}

static void test_refusals(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT * FROM sqlite_master", "!0A000"},
        {"SELECT * FROM pg_catalog.sqlite_master", "!42P01"},
        {"SELECT * FROM \"x.condef\"", "!0A000"},
        {"SELECT * FROM pg_catalog.\"pg_class\"\"; DROP\"", "!42P01"},
        {"SELECT load_extension('x')", "!0A000"},
        {"SELECT f_regex('a', 'b', 0)", "!0A000"},
        {"SELECT sqlite_version()", "!0A000"},
        {"SELECT json_group_array(relname) FROM pg_class", "!0A000"},
        {"SELECT nothing FROM pg_class", "!42703"},
        {"SELECT oid FROM pg_class, pg_type", "!42702"},
        {"SELECT x.oid FROM pg_class", "!42P01"},
        {"SELECT relname = 1 FROM pg_class", "!42883"},
        {"SELECT 'no'::regclass", "!42P01"},
        {"SELECT 'x'::int", "!22P02"},
        {"SELECT 1 / 0", "!22012"},
        {"SELECT 2147483647 + 1", "!22003"},
        {"SELECT relname ~ '(a' FROM pg_class", "!0A000"},
        {"SELECT DISTINCT ON (oid) oid FROM pg_class", "!0A000"},
        {"SELECT c FROM pg_class c", "!0A000"},
        {"SELECT * FROM staff", "!0A000"},
        {"SELECT relname FROM pg_class FOR UPDATE", "!0A000"},
        {"SELECT 1 INTO x", "!0A000"},
        {"SELECT 1; SELECT 2", "!0A000"},
        {"SELEC 1", "!42601"},
        {"DELETE FROM pg_class", "!0A000"},
        {"SELECT current_setting('no.such')", "!42704"},
        {NULL, NULL}};
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    (void)state;
    check_all(c, cases);
    catalogue_close(c);
    free(bytes);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *sql;
        enum catalogue_kind kind;
    } cases[] = {
        {"SELECT 1", CATALOGUE_SYSTEM},
        {"SELECT * FROM pg_class", CATALOGUE_SYSTEM},
        {"SELECT * FROM information_schema.tables", CATALOGUE_SYSTEM},
        {"SELECT * FROM tables", CATALOGUE_OWNER},
        {"SELECT count(*) FROM staff", CATALOGUE_OWNER},
        {"SELECT count(*) FROM public.pg_class", CATALOGUE_OWNER},
        {"SELECT * FROM pg_class, staff", CATALOGUE_MIXED},
        {"SELECT (SELECT count(*) FROM staff) FROM pg_class", CATALOGUE_MIXED},
        {"SELECT 1 WHERE EXISTS (SELECT FROM staff)", CATALOGUE_OWNER},
        {"WITH staff AS (SELECT 1) SELECT * FROM staff", CATALOGUE_SYSTEM},
        {"WITH a AS (SELECT 1 FROM staff) SELECT * FROM a", CATALOGUE_OWNER},
        {"WITH staff AS (SELECT * FROM staff) SELECT * FROM staff",
         CATALOGUE_OWNER},
        {"SELECT * FROM (WITH staff AS (SELECT 1) SELECT * FROM staff) x, "
         "staff",
         CATALOGUE_OWNER},
        {"WITH pg_class AS (SELECT 1 FROM staff) SELECT * FROM pg_class",
         CATALOGUE_OWNER},
        {"SELECT 1 UNION SELECT count(*) FROM staff", CATALOGUE_OWNER},
        {"INSERT INTO staff VALUES (1)", CATALOGUE_OTHER},
        {"SELECT 1; SELECT 2", CATALOGUE_OTHER},
        {"", CATALOGUE_OTHER},
        {"SELECT '", CATALOGUE_SYNTAX}};
    struct catalogue_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (catalogue_classify(cases[i].sql, &err) != cases[i].kind)
            fail_msg("%s", cases[i].sql);
}

/* Each of these would run for ages or eat all memory. */
static void test_limits(void **state)
{
    static const char *const cases[] = {
        "SELECT count(*) FROM pg_proc a, pg_proc b, pg_proc c, pg_proc d,"
        " pg_proc e, pg_proc f, pg_proc g, pg_proc h",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
        " SELECT count(*) FROM n",
        "SELECT a.proname, b.proname, c.proname FROM pg_proc a, pg_proc b,"
        " pg_proc c",
        "SELECT string_agg(a.prosrc || b.prosrc || c.prosrc, ', ') FROM "
        "pg_proc a,"
        " pg_proc b, pg_proc c",
        "SELECT count(*) FROM pg_proc a, pg_proc b, pg_proc c WHERE"
        " (a.proname || b.proname || c.proname) ~ '(a*)*(b*)*(c*)*(d|e)*$'",
        "SELECT count(*) FROM generate_series(1, 100000) a,"
        " generate_series(1, 100000) b",
        "SELECT generate_series(1, 2000000000)"};
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clock_t before = clock();
        const char *got = ask(c, cases[i]);
        if (strcmp(got, "!54000") && strcmp(got, "!53200"))
            fail_msg("%s\n  gives %s", cases[i], got);
        if (clock() - before > 60 * CLOCKS_PER_SEC)
            fail_msg("%s takes too long", cases[i]);
    }
    assert_string_equal(ask(c, "SELECT 1"), "1");
    catalogue_close(c);
    free(bytes);
}

static void test_nesting(void **state)
{
    enum { DEEP = 3000 };
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    char *sql = malloc(20 * DEEP), *to = sql + sprintf(sql, "SELECT ");
    (void)state;
    assert_non_null(sql);
    for (int i = 0; i < DEEP; i++)
        to += sprintf(to, "NOT (");
    to += sprintf(to, "true");
    for (int i = 0; i < DEEP; i++)
        *to++ = ')';
    *to = 0;
    assert_int_equal(ask(c, sql)[0], '!');
    free(sql);
    catalogue_close(c);
    free(bytes);
}

static void test_parameters(void **state)
{
    static const struct catalogue_parameter given[] = {{0, "staff"}, {0, "1"}};
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    struct catalogue_rows r;
    struct catalogue_error err;
    (void)state;
    assert_true(catalogue_describe(c,
                                   "SELECT relname, relkind FROM pg_class"
                                   " WHERE relname = $1 AND relnatts > $2",
                                   NULL, 0, &r, &err));
    assert_int_equal(r.n_parameters, 2);
    assert_int_equal(r.parameters[0], 19);
    assert_int_equal(r.parameters[1], 21);
    assert_int_equal(r.fields[0].type, 19);
    assert_int_equal(r.fields[0].len, 64);
    assert_int_equal(r.fields[1].type, 18);
    catalogue_rows_free(&r);
    assert_true(catalogue_run(c,
                              "SELECT relname FROM pg_class WHERE relname = $1"
                              " AND relnatts > $2",
                              given, 2, &r, &err));
    assert_int_equal(r.n_rows, 1);
    assert_string_equal(r.cells[0], "staff");
    catalogue_rows_free(&r);
    assert_false(catalogue_run(c, "SELECT $3", given, 2, &r, &err));
    assert_string_equal(err.sqlstate, "42P02");
    catalogue_close(c);
    free(bytes);
}

static void test_settings(void **state)
{
    unsigned char *bytes;
    struct catalogue *c = open_one(&bytes);
    char out[100];
    (void)state;
    assert_true(
        catalogue_setting(c, "application_name", "it's", out, sizeof out));
    assert_string_equal(out, "it's");
    assert_string_equal(ask(c, "SELECT setting FROM pg_settings WHERE name ="
                               " 'application_name'"),
                        "it's");
    assert_false(catalogue_setting(c, "no_such", NULL, out, sizeof out));
    catalogue_close(c);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_nothing_of_rows),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_kinds),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_nesting),
                                       cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
