/*
 * CREATE TABLE: what becomes a column, a key, a dependency. A wrong key would
 * lower a bound, so what is not a key is tested as well.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sql/sql.h"

struct fixture {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct err err;
};

static enum status begin(struct fixture *f, const char *text)
{
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    schema_init(&f->schema, &f->arena);
    return sql_read_ddl(&f->schema, str_of(text), "file.sql", &f->err);
}

static void columns(void **state)
{
    (void)state;
    static const enum type want[] = {
        T_INT,  T_INT,  T_INT,       T_DEC,  T_REAL, T_REAL,    T_TEXT,
        T_TEXT, T_BOOL, T_TIMESTAMP, T_TIME, T_UUID, T_UNKNOWN, T_UNKNOWN};
    struct fixture f;
    assert_int_equal(
        begin(&f, "CREATE TABLE s.t (a int, b bigserial, c smallint,"
                  " d numeric(5,2), e real, f double precision, g text,"
                  " h varchar(9), i boolean, j timestamptz, k time, l uuid,"
                  " m int[], n jsonb)"),
        OK);
    const struct table *t = &f.schema.tables.p[0];
    assert_int_equal(t->n_cols, 14);
    assert_true(str_is(t->namespace_, "s"));
    for (size_t i = 0; i < 14; i++)
        assert_int_equal(t->cols[i].type, want[i]);
    assert_false(t->cols[0].not_null);
    assert_true(t->cols[1].not_null);
    assert_int_equal(t->privacy, PRIVACY_UNDECLARED);
    assert_false(table_has_key(t));
    arena_fini(&f.arena);
}

static const struct {
    const char *text;
    bool has_key;
    size_t n_degrees;
} keys[] = {
    {"CREATE TABLE t (a int PRIMARY KEY, b int)", true, 1},
    {"CREATE TABLE t (a int, b int, PRIMARY KEY (b, a))", true, 1},
    {"CREATE TABLE t (a int, b int);"
     "ALTER TABLE ONLY t ADD CONSTRAINT k PRIMARY KEY (a)",
     true, 1},
    {"CREATE TABLE t (a int UNIQUE NOT NULL, b int)", true, 1},
    {"CREATE TABLE t (a int NOT NULL, b int, UNIQUE (a))", true, 1},
    {"CREATE TABLE t (a int NOT NULL, b int); CREATE UNIQUE INDEX i ON t (a)",
     true, 1},
    {"CREATE TABLE t (UNIQUE (a), a int NOT NULL)", true, 1},
    /* no identity */
    {"CREATE TABLE t (a int UNIQUE, b int)", false, 1},
    {"CREATE TABLE t (a int, b int NOT NULL, UNIQUE (a, b))", false, 1},
    {"CREATE TABLE t (a int, b int)", false, 0},
    {"CREATE TABLE t (a int, b int, CHECK (a > b))", false, 0},
    {"CREATE TABLE t (a int NOT NULL); CREATE INDEX ON t (a)", false, 0},
    {"CREATE TABLE t (a int NOT NULL);"
     "CREATE UNIQUE INDEX ON t (a) WHERE a > 5",
     false, 0},
    {"CREATE TABLE t (a int NOT NULL); CREATE UNIQUE INDEX ON t ((a + 1))",
     false, 0},
    {"CREATE TABLE t (a int REFERENCES u (x)); CREATE TABLE u (x int)", false,
     0},
};

static void what_is_a_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct fixture f;
        if (begin(&f, keys[i].text) != OK)
            fail_msg("%s: %s", keys[i].text, f.err.message);
        const struct table *t = &f.schema.tables.p[0];
        if (table_has_key(t) != keys[i].has_key ||
            t->degrees.n != keys[i].n_degrees)
            fail_msg("%s", keys[i].text);
        arena_fini(&f.arena);
    }
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status want;
        long line, column;
    } bad[] = {
        {"CREATE TABLE t (a int,\n a text)", E_POLICY, 2, 2},
        {"CREATE TABLE t (a int);\nCREATE TABLE t (b int)", E_POLICY, 2, 14},
        {"CREATE TABLE t (a int,\n  PRIMARY KEY (b))", E_POLICY, 2, 3},
        {"CREATE TABLE t (a int\nCREATE", E_SYNTAX, 2, 1},
        {"ALTER TABLE t ADD PRIMARY KEY (a)", E_POLICY, 1, 13},
        {"CREATE TABLE p (a int);\nCREATE TABLE t (LIKE p)", E_POLICY, 2, 14},
        {"CREATE TYPE c AS (a int);\nCREATE TABLE t OF c", E_POLICY, 2, 14},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture f;
        enum status st = begin(&f, bad[i].text);
        if (st != bad[i].want || f.err.line != bad[i].line ||
            f.err.column != bad[i].column)
            fail_msg("%s: %d at %ld:%ld: %s", bad[i].text, st, f.err.line,
                     f.err.column, f.err.message);
        arena_fini(&f.arena);
    }
}

/* Rows of a child are rows of its parent: both are known and cannot be asked,
 * and what is said of columns that were inherited is no mistake. */
static void inheritance(void **state)
{
    (void)state;
    struct fixture f;
    enum status st = begin(&f, "CREATE TABLE p (a int); CREATE TABLE o (a int);"
                               "CREATE TABLE t (b int) INHERITS (p);"
                               "ALTER TABLE t ADD PRIMARY KEY (a);"
                               "CREATE UNIQUE INDEX i ON t (a);");
    assert_int_equal(st, OK);
    assert_true(f.schema.tables.p[schema_find(&f.schema, STR("p"))].is_refused);
    assert_true(f.schema.tables.p[schema_find(&f.schema, STR("t"))].is_refused);
    assert_false(
        f.schema.tables.p[schema_find(&f.schema, STR("o"))].is_refused);
    arena_fini(&f.arena);
}

/* Options may name a table before the file declares it. */
static void earlier_names_stay(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(begin(&f, "SELECT 1"), OK);
    assert_int_equal(
        schema_set_privacy(&f.schema, STR("t"), PRIVACY_PUBLIC, &f.err), OK);
    assert_int_equal(sql_read_ddl(&f.schema,
                                  STR("CREATE TABLE t (a int, b int)"),
                                  "file.sql", &f.err),
                     OK);
    assert_int_equal(f.schema.tables.n, 1);
    assert_int_equal(f.schema.tables.p[0].n_cols, 2);
    assert_int_equal(f.schema.tables.p[0].privacy, PRIVACY_PUBLIC);
    assert_false(f.schema.tables.p[0].cols[0].not_null);
    arena_fini(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),
        cmocka_unit_test(what_is_a_key),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(inheritance),
        cmocka_unit_test(earlier_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
