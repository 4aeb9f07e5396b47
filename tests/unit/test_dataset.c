/*
 * Data sets and questions: two sides with options of their own, a data set
 * that does not change, results as cells, and what is public as bytes for a
 * process without rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dpcount.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void set(dpc_dataset *d, const char *name, const char *fmt, ...)
{
    char value[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    dpc_error *e = NULL;
    if (dpc_dataset_set(d, name, value, &e))
        fail_msg("%s: %s", name, dpc_error_message(e));
}

static dpc_dataset *new_dataset(void)
{
    dpc_dataset *d;
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    set(d, "schema", "%s/schema.sql", dir);
    set(d, "db", "%s/data", dir);
    set(d, "policy", "%s/policy.yaml", dir);
    set(d, "ledger", "%s/ledger", dir);
    return d;
}

static dpc_dataset *open_dataset(void)
{
    dpc_dataset *d = new_dataset();
    dpc_error *e = NULL;
    if (dpc_dataset_open(d, 0, &e))
        fail_msg("%s %s", dpc_error_message(e), dpc_error_detail(e));
    return d;
}

static dpc_question *question(const char *sql)
{
    dpc_question *q;
    assert_int_equal(dpc_question_new(sql, &q), DPC_OK);
    assert_int_equal(dpc_question_set(q, "epsilon", "1", NULL), DPC_OK);
    return q;
}

static int make_files(void **state)
{
    char path[128];
    dpc_result *r;
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "mkdir %s/data", dir);
    if (system(path))
        return -1;
    write_file("data/pat.csv", "id,ward,sex\n1,a,F\n2,a,M\n3,b,F\n4,c,F\n");
    write_file("data/ward.csv", "name,floor\na,1\nb,1\nc,2\n");
    write_file("schema.sql", "CREATE TABLE ward(name text PRIMARY KEY, floor "
                             "int NOT NULL);\n"
                             "CREATE TABLE pat(id int PRIMARY KEY, ward text "
                             "REFERENCES ward, sex text);\n");
    write_file("policy.yaml", "tables:\n  ward: {privacy: public}\n"
                              "  pat: {privacy: private}\n");
    dpc_dataset *d = new_dataset();
    int bad = dpc_budget_init(d, "100", NULL, &r, NULL) != DPC_OK;
    dpc_result_free(r);
    dpc_dataset_free(d);
    return bad;
}

static int drop_files(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

/* Every option is taken by exactly one of the two. */
static void test_two_sides(void **state)
{
    (void)state;
    dpc_option o;
    size_t n = 0;
    for (size_t i = 0; dpc_option_at(i, &o); i++) {
        dpc_dataset *d;
        dpc_question *q = question("");
        dpc_error *e = NULL, *f = NULL;
        assert_int_equal(dpc_dataset_new(&d), DPC_OK);
        dpc_status x = dpc_dataset_set(d, o.name, "yes", &e);
        dpc_status y = dpc_question_set(q, o.name, "yes", &f);
        int owner = !o.program && o.side == DPC_SIDE_OWNER;
        int analyst = !o.program && o.side == DPC_SIDE_ANALYST;
        assert_int_equal(x, owner ? DPC_OK : DPC_USAGE);
        assert_int_equal(y, analyst ? DPC_OK : DPC_USAGE);
        assert_true(owner || strstr(dpc_error_message(e), o.name));
        assert_true(analyst || strstr(dpc_error_message(f), o.name));
        dpc_error_free(e);
        dpc_error_free(f);
        dpc_question_free(q);
        dpc_dataset_free(d);
        n++;
    }
    assert_true(n > 30);
}

static void test_open_does_not_change(void **state)
{
    (void)state;
    dpc_dataset *d = new_dataset();
    dpc_question *q = question("SELECT COUNT(*) FROM pat");
    dpc_result *r;
    dpc_error *e = NULL;
    assert_int_equal(dpc_quote(d, q, &r, &e), DPC_USAGE); /* not open */
    assert_null(r);
    dpc_error_free(e);
    assert_int_equal(dpc_dataset_tables(d), 0);
    assert_int_equal(dpc_dataset_open(d, 0, NULL), DPC_OK);
    assert_int_equal(dpc_dataset_open(d, 0, NULL), DPC_USAGE);
    assert_int_equal(dpc_dataset_set(d, "order", "2", NULL), DPC_USAGE);
    /* what is written to the policy now is not seen */
    write_file("policy.yaml", "tables:\n  nonsense: {privacy: public}\n");
    assert_int_equal(dpc_quote(d, q, &r, &e), DPC_OK);
    dpc_result_free(r);
    assert_int_equal(dpc_release(d, q, NULL, &r, &e), DPC_OK);
    dpc_result_free(r);
    write_file("policy.yaml", "tables:\n  ward: {privacy: public}\n"
                              "  pat: {privacy: private}\n");
    dpc_question_free(q);
    dpc_dataset_free(d);
}

static void test_catalogue(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset();
    dpc_table t;
    dpc_column c;
    dpc_link l;
    size_t pat = 0;
    assert_int_equal(dpc_dataset_tables(d), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(dpc_table_at(d, i, &t));
        if (!strcmp(t.name, "pat"))
            pat = i;
        assert_int_equal(t.is_private, !strcmp(t.name, "pat"));
        assert_true(t.is_queried);
        assert_int_equal(t.n_keys, 1);
    }
    assert_false(dpc_table_at(d, 2, &t));
    assert_true(dpc_table_at(d, pat, &t));
    assert_int_equal(t.n_columns, 3);
    assert_int_equal(t.n_references, 1);
    assert_true(dpc_column_at(d, pat, 0, &c));
    assert_string_equal(c.name, "id");
    assert_int_equal(c.type, DPC_TYPE_BIGINT);
    assert_true(dpc_key_at(d, pat, 0, &l));
    assert_int_equal(l.n, 1);
    assert_int_equal(l.columns[0], 0);
    assert_true(dpc_reference_at(d, pat, 0, &l));
    assert_string_equal(l.table, "ward");
    assert_int_equal(l.columns[0], 1);
    assert_false(dpc_column_at(d, pat, 3, &c));
    dpc_dataset_free(d);
}

#define GROUPED                                                                \
    "SELECT w.name AS ward, COUNT(*) AS n, COUNT(*) * 2.5 AS x FROM pat p "    \
    "JOIN ward w ON w.name = p.ward WHERE p.sex = 'F' GROUP BY w.name "        \
    "ORDER BY 1"

static void check_column(const dpc_result *r, size_t i, const char *name,
                         dpc_type type, dpc_role role)
{
    dpc_type t;
    dpc_role p;
    assert_string_equal(dpc_result_column(r, i, &t, &p), name);
    assert_int_equal(t, type);
    assert_int_equal(p, role);
}

static void check_columns(const dpc_result *r)
{
    assert_int_equal(dpc_result_columns(r), 5);
    check_column(r, 0, "ward", DPC_TYPE_TEXT, DPC_ROLE_KEY);
    check_column(r, 1, "n", DPC_TYPE_BIGINT, DPC_ROLE_COUNT);
    check_column(r, 2, "n_error95", DPC_TYPE_BIGINT, DPC_ROLE_ERROR);
    check_column(r, 3, "x", DPC_TYPE_NUMERIC, DPC_ROLE_COUNT);
    check_column(r, 4, "x_error95", DPC_TYPE_NUMERIC, DPC_ROLE_ERROR);
    assert_null(dpc_result_column(r, 5, NULL, NULL));
}

static void test_cells(void **state)
{
    (void)state;
    static const char *const wards[] = {"a", "b", "c"};
    dpc_dataset *d = open_dataset();
    dpc_question *q = question(GROUPED);
    dpc_result *r;
    dpc_error *e = NULL;
    dpc_question_error_columns(q, 1);
    assert_int_equal(dpc_describe(d, q, &r, &e), DPC_OK);
    check_columns(r);
    assert_int_equal(dpc_result_rows(r), 0);
    dpc_result_free(r);
    if (dpc_release(d, q, NULL, &r, &e))
        fail_msg("%s", dpc_error_message(e));
    check_columns(r);
    assert_int_equal(dpc_result_rows(r), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(dpc_result_cell(r, i, 0), wards[i]);
        assert_true(abs(atoi(dpc_result_cell(r, i, 1))) < 1000);
        assert_true(atoi(dpc_result_cell(r, i, 2)) > 0);
        assert_true(strtod(dpc_result_cell(r, i, 4), NULL) > 0);
    }
    assert_null(dpc_result_cell(r, 3, 0));
    assert_null(dpc_result_cell(r, 0, 5));
    assert_string_equal(dpc_result_price(r, "epsilon"), "1");
    assert_null(dpc_result_price(r, "rho"));
    assert_true(strlen(dpc_result_receipt(r, 0)) > 0);
    assert_non_null(strstr(dpc_result_guarantee(r, 0), "pat"));
    assert_false(dpc_result_repeated(r));
    dpc_result_free(r);
    assert_int_equal(dpc_release(d, q, NULL, &r, NULL), DPC_OK);
    assert_true(dpc_result_repeated(r));
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
}

static void test_parameters(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset();
    dpc_question *q = question("SELECT COUNT(*) FROM pat p JOIN ward w ON "
                               "p.ward = w.name WHERE p.id < $2 AND p.sex = $1 "
                               "AND w.floor + 1 = $3");
    dpc_result *r;
    dpc_error *e = NULL;
    if (dpc_describe(d, q, &r, &e))
        fail_msg("%s", dpc_error_message(e));
    assert_int_equal(dpc_result_parameters(r), 3);
    assert_int_equal(dpc_result_parameter(r, 0), DPC_TYPE_TEXT);
    assert_int_equal(dpc_result_parameter(r, 1), DPC_TYPE_BIGINT);
    assert_int_equal(dpc_result_parameter(r, 2), DPC_TYPE_BIGINT);
    dpc_result_free(r);
    assert_int_equal(dpc_quote(d, q, &r, NULL), DPC_USAGE); /* no values */
    assert_int_equal(dpc_question_param(q, 2, "3", NULL), DPC_OK);
    assert_int_equal(dpc_question_param(q, 1, "F", NULL), DPC_OK);
    assert_int_equal(dpc_question_param(q, 3, "2", NULL), DPC_OK);
    assert_int_equal(dpc_question_param(q, 0, "2", NULL), DPC_USAGE);
    assert_int_equal(dpc_quote(d, q, &r, NULL), DPC_OK);
    dpc_result_free(r);
    assert_int_equal(dpc_count(d, q, &r, NULL), DPC_OK);
    assert_non_null(strstr(dpc_result_json(r), "\"count\": 1"));
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
}

/* What a process has that never saw the data set says the same. */
static void test_export(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset(), *copy;
    dpc_question *q = question(GROUPED);
    dpc_result *r, *s;
    dpc_error *e = NULL;
    void *bytes;
    size_t n;
    if (dpc_dataset_export(d, &bytes, &n, &e))
        fail_msg("%s", dpc_error_message(e));
    assert_null(memmem(bytes, n, dir, strlen(dir))); /* not where it is */
    if (dpc_dataset_import(bytes, n, &copy, &e))
        fail_msg("%s", dpc_error_message(e));
    assert_int_equal(dpc_dataset_tables(copy), 2);
    assert_int_equal(dpc_quote(d, q, &r, NULL), DPC_OK);
    if (dpc_quote(copy, q, &s, &e))
        fail_msg("%s", dpc_error_message(e));
    assert_string_equal(dpc_result_json(r), dpc_result_json(s));
    dpc_result_free(r);
    dpc_result_free(s);
    assert_int_equal(dpc_release(copy, q, NULL, &r, &e), DPC_USAGE);
    dpc_error_free(e);
    assert_int_equal(dpc_count(copy, q, &r, &e), DPC_USAGE);
    dpc_error_free(e);
    dpc_dataset_free(copy);
    for (size_t cut = 0; cut < n; cut += cut < 64 ? 1 : 37) {
        assert_int_equal(dpc_dataset_import(bytes, cut, &copy, NULL),
                         DPC_USAGE);
        assert_null(copy);
    }
    dpc_bytes_free(bytes);
    dpc_question_free(q);
    dpc_dataset_free(d);
}

/* A flag that is set before the call ends it, and is then used up. */
static void test_cancel_early(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset();
    dpc_question *q = question("SELECT COUNT(*) FROM pat");
    dpc_result *r;
    dpc_error *e = NULL;
    dpc_question_cancel(q);
    assert_int_equal(dpc_count(d, q, &r, &e), DPC_LIMIT);
    assert_string_equal(dpc_error_code(e), "cancelled");
    dpc_error_free(e);
    assert_int_equal(dpc_count(d, q, &r, &e), DPC_OK);
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
}

static void test_analysts(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset();
    dpc_question *q = question("SELECT COUNT(*) FROM pat WHERE sex = 'M'");
    dpc_result *r;
    dpc_error *e = NULL;
    assert_int_equal(dpc_budget_grant(d, "ann", "5", NULL, &r, &e), DPC_OK);
    dpc_result_free(r);
    assert_int_equal(dpc_release(d, q, "bob", &r, &e), DPC_BUDGET);
    assert_string_equal(dpc_error_code(e), "unknown-analyst");
    dpc_error_free(e);
    assert_int_equal(dpc_release(d, q, "ann", &r, &e), DPC_OK);
    dpc_result_free(r);
    assert_int_equal(dpc_budget_show(d, "ann", &r, &e), DPC_OK);
    assert_non_null(strstr(dpc_result_json(r), "\"ann\""));
    dpc_result_free(r);
    assert_int_equal(dpc_budget_history(d, "ann", &r, &e), DPC_OK);
    assert_non_null(strstr(dpc_result_text(r), "ann"));
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sides),
        cmocka_unit_test(test_open_does_not_change),
        cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_cancel_early),
        cmocka_unit_test(test_analysts),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
