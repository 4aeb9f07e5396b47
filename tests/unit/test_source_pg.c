/*
 * PostgreSQL as a source: every native type, the catalogue, one snapshot,
 * refusals, errors. Needs a server; see harness/pg.sh.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include "harness/pg_server.h"
#include "source/postgres/pg.h"
#include "source/source.h"

struct fix {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct source *src;
    struct store *st;
    struct err err;
};

static int setup(void **state)
{
    struct fix *f = calloc(1, sizeof *f);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    schema_init(&f->schema, &f->arena);
    *state = f;
    if (pg_server())
        assert_true(pg_server_run("DROP SCHEMA public CASCADE;"
                                  "CREATE SCHEMA public"));
    return 0;
}

static void shut(struct fix *f)
{
    store_free(f->st);
    source_close(f->src);
    f->st = NULL;
    f->src = NULL;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    shut(f);
    arena_fini(&f->arena);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    free(f);
    return 0;
}

static enum status open_at(struct fix *f, const char *conninfo)
{
    struct source_spec s = {.db = str_of(conninfo)};
    TRY(source_open(&f->mem, &s, &f->schema, &f->src, &f->err));
    return store_new(&f->mem, &f->schema, &f->st, &f->err);
}

static enum status open_and_load(struct fix *f)
{
    TRY(open_at(f, pg_server()));
    return source_load(f->src, NULL, f->st, NULL, &f->err);
}

static const char *dump(struct fix *f, const char *name)
{
    struct sb b;
    sb_init(&b, &f->arena);
    long i = schema_find(&f->schema, str_of(name));
    assert_true(i >= 0);
    const struct store_table *t = &f->st->tables[i];
    assert_true(t->loaded);
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t c = 0; c < t->n_cols; c++) {
            sb_cstr(&b, c ? "|" : r ? ";" : "");
            struct value v = column_value(&t->cols[c], r);
            if (v.is_null)
                sb_char(&b, '-');
            else
                value_print(&b, &v);
        }
    return b.n ? b.p : "";
}

#define NEED_SERVER                                                            \
    do {                                                                       \
        if (!pg_server())                                                      \
            skip();                                                            \
    } while (0)

static void types(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok');"
        "CREATE DOMAIN age AS int CHECK (VALUE >= 0);"
        "CREATE DOMAIN adult AS age NOT NULL;"
        "CREATE TABLE t(i2 int2, i4 int, i8 bigint, r4 real, r8 float8, b bool,"
        "d date, ts timestamp, tz timestamptz, tm time, u uuid, v varchar(9),"
        "c char(5), x text, m mood, a age, w adult, j jsonb);"
        "SET timezone = 'Asia/Tokyo';"
        "INSERT INTO t VALUES (-1, 2, 9223372036854775807, 0.5, -0.0, true,"
        "'2020-02-29', '1969-12-31 23:59:59.5', '1970-01-01 09:00:01+09',"
        "'12:34:56', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'v''', 'ab',"
        "'\303\251', 'ok', 7, 18, '{\"a\": 1}'),"
        "(NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"
        "NULL,NULL,NULL,19,NULL)"));
    assert_int_equal(open_and_load(f), OK);
    assert_string_equal(
        dump(f, "t"),
        "-1|2|9223372036854775807|real '0.5'|real '0'|true|date '2020-02-29'|"
        "timestamp '1969-12-31 23:59:59.500000'|timestamp '1970-01-01 "
        "00:00:01'|time '12:34:56'|uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"
        "|'v'''|'ab'|'\303\251'|'ok'|7|18|'{\"a\": 1}';"
        "-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|19|-");
    const struct table *t = &f->schema.tables.p[0];
    assert_int_equal(t->cols[15].type, T_INT);
    /* a domain that is NOT NULL can be NULL in a table all the same: the value
     * of a subquery without rows */
    assert_int_equal(t->cols[16].type, T_INT);
    assert_false(t->cols[16].not_null);
    assert_false(t->cols[15].not_null);
}

/* Binary numerics against the text that the server prints. */
static void numerics(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run(
        "CREATE TABLE n AS SELECT v::numeric AS a, trim_scale(v::numeric)::text"
        " AS b FROM unnest(ARRAY['0', '0.00', '1', '-1.50', '10000', '100000',"
        "'12345678901234567890.0987654321', '0.0001', '0.00001', '0.000012340',"
        "'-0.1', '99999999', '1e30', '1e-30', '100.0100', '20000.5', '0.1234',"
        "'0.00000000012']) v"
        " UNION ALL SELECT (random() * 10 ^ (i % 40 - 20))::numeric, NULL"
        " FROM generate_series(1, 500) i"));
    assert_true(
        pg_server_run("UPDATE n SET b = trim_scale(a)::text WHERE b IS NULL"));
    assert_int_equal(open_and_load(f), OK);
    long i = schema_find(&f->schema, STR("n"));
    const struct store_table *t = &f->st->tables[i];
    assert_int_equal(t->n_rows, 518);
    assert_int_equal(t->cols[0].type, T_DEC);
    for (size_t r = 0; r < t->n_rows; r++) {
        struct value a = column_value(&t->cols[0], r);
        struct value b = column_value(&t->cols[1], r);
        assert_int_equal(str_cmp(a.s, b.s), 0);
    }
}

static void special_numbers(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run(
        "CREATE TABLE n(a numeric, b float8, d date);"
        "INSERT INTO n VALUES ('NaN', 'NaN', 'infinity'), ('Infinity', "
        "'Infinity', '2020-01-01'), (5, 5, '-infinity'), ('-Infinity', "
        "'-Infinity', NULL)"));
    assert_int_equal(open_and_load(f), OK);
    const struct store_column *c = f->st->tables[0].cols;
    assert_int_equal(c[0].n_dict, 4);
    const char *rising[] = {"-Infinity", "5", "Infinity", "NaN"};
    for (size_t i = 0; i < 4; i++)
        assert_true(str_is(c[0].dict[i], rising[i]));
    assert_true(column_int(&c[2], 0) > column_int(&c[2], 1) &&
                column_int(&c[2], 1) > column_int(&c[2], 2));
}

static const char *keys(struct fix *f, const char *name)
{
    struct sb b;
    sb_init(&b, &f->arena);
    const struct table *t =
        &f->schema.tables.p[schema_find(&f->schema, str_of(name))];
    for (size_t i = 0; i < t->degrees.n; i++) {
        sb_cstr(&b, i ? "; " : "");
        degree_print(&b, t, &t->degrees.p[i]);
    }
    return b.n ? b.p : "";
}

static void catalogue(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run(
        "CREATE TABLE hos(gone int, id int PRIMARY KEY, name text NOT NULL,"
        "nick text UNIQUE, UNIQUE (name) INCLUDE (nick));"
        "ALTER TABLE hos DROP COLUMN gone;"
        "CREATE TABLE part(y int NOT NULL, k int NOT NULL, PRIMARY KEY (y, k),"
        "FOREIGN KEY (k) REFERENCES hos(id)) PARTITION BY RANGE (y);"
        "CREATE TABLE p1 PARTITION OF part FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE p2 PARTITION OF part FOR VALUES FROM (10) TO (20);"
        "CREATE UNIQUE INDEX ON hos(id) WHERE id > 3;"
        "CREATE UNIQUE INDEX ON hos((id + 1));"
        "INSERT INTO hos VALUES (1, 'a', NULL), (2, 'b', NULL);"
        "INSERT INTO part VALUES (1, 1), (11, 2);"
        "CREATE VIEW seen AS SELECT * FROM hos;"
        "CREATE TABLE mother(a int); CREATE TABLE child() INHERITS (mother)"));
    assert_int_equal(open_and_load(f), OK);
    assert_string_equal(keys(f, "hos"),
                        "hos: id -> *; hos: nick -> *; hos: name -> *");
    assert_string_equal(keys(f, "part"), "part: (y, k) -> *");
    assert_int_equal(schema_find(&f->schema, STR("p1")), -1);
    assert_string_equal(dump(f, "part"), "1|1;11|2");
    assert_string_equal(dump(f, "hos"), "1|'a'|-;2|'b'|-");
    const struct table *t =
        &f->schema.tables.p[schema_find(&f->schema, STR("part"))];
    assert_int_equal(t->fks.n, 1);
    assert_true(str_is(t->fks.p[0].ref_table, "hos"));
    assert_true(table_is_private(t));
}

static enum status load_rule(struct fix *f, const char *rule,
                             const struct progress *p)
{
    struct cq *q;
    TRY(cq_read(&f->arena, &f->schema, str_of(rule), &q, &f->err));
    store_free(f->st);
    f->st = NULL;
    TRY(store_new(&f->mem, &f->schema, &f->st, &f->err));
    return source_load(f->src, q, f->st, p, &f->err);
}

static void refused(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run(
        "CREATE TABLE mother(a int); CREATE TABLE child() INHERITS (mother);"
        "CREATE VIEW v AS SELECT 1 AS a; CREATE MATERIALIZED VIEW m AS "
        "SELECT 1 AS a"));
    assert_int_equal(open_and_load(f), OK);
    const char *rules[] = {"Q(x) :- mother(x).", "Q(x) :- child(x).",
                           "Q(x) :- v(x).", "Q(x) :- m(x)."};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(load_rule(f, rules[i], NULL), E_UNSUPPORTED);
}

static void snapshot(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT 1 AS a"));
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_true(pg_server_run("INSERT INTO t VALUES (2)"));
    assert_int_equal(source_load(f->src, NULL, f->st, NULL, &f->err), OK);
    assert_string_equal(dump(f, "t"), "1");
}

static void odd_names(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE \"a \"\"b'\"(\"x\"\"; y\" int, "
                              "\"Z\" text);"
                              "INSERT INTO \"a \"\"b'\" VALUES (1, 'q')"));
    assert_int_equal(open_and_load(f), OK);
    assert_string_equal(dump(f, "a \"b'"), "1|'q'");
}

/* Only the wanted columns, and rows are counted without any. */
static void wanted(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT i AS a, i * 2 AS b "
                              "FROM generate_series(1, 10) i"));
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_int_equal(load_rule(f, "Q(x) :- t(_, x).", NULL), OK);
    assert_false(f->st->tables[0].cols[0].present);
    assert_int_equal(column_int(&f->st->tables[0].cols[1], 9), 20);
    assert_int_equal(load_rule(f, "Q() :- t(_, _).", NULL), OK);
    assert_int_equal(f->st->tables[0].n_rows, 10);
}

/* A declared type is the server's or refused, before a row is read. */
static void declared(void **state)
{
    static const enum type tried[] = {T_INT, T_DEC, T_REAL, T_DATE, T_TEXT};
    struct fix *f = *state;
    size_t i;
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT '7'::text AS d, "
                              "date '2020-01-02' AS e, 5 AS n"));
    assert_int_equal(schema_add_table(&f->schema, STR("t"), 3, &i, &f->err),
                     OK);
    struct table *t = &f->schema.tables.p[i];
    t->declared = t->arity_known = true;
    t->cols[0] = (struct column){.name = STR("e"), .type = T_DATE};
    t->cols[1] = (struct column){.name = STR("d"), .type = T_UNKNOWN};
    t->cols[2] = (struct column){.name = STR("n"), .type = T_INT};
    assert_int_equal(open_and_load(f), OK);
    assert_string_equal(dump(f, "t"), "date '2020-01-02'|'7'|5");
    for (size_t k = 0; k < 3 * 5; k++) {
        static const enum type server[] = {T_DATE, T_TEXT, T_INT};
        enum type try = tried[k % 5];
        shut(f);
        f->schema.tables.p[i].cols[k / 5].type = try;
        assert_int_equal(open_at(f, pg_server()),
                         try == server[k / 5] ? OK : E_TYPE);
        f->schema.tables.p[i].cols[k / 5].type = server[k / 5];
    }
}

static bool stop(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)total;
    *(uint64_t *)ctx = done;
    return false;
}

static void cancelled(void **state)
{
    struct fix *f = *state;
    uint64_t done = 0;
    struct progress p = {stop, &done};
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT i AS a "
                              "FROM generate_series(1, 100000) i"));
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_int_equal(source_load(f->src, NULL, f->st, &p, &f->err),
                     E_CANCELLED);
    assert_true(done < 100000);
}

static void lost_connection(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT 1 AS a"));
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_true(pg_server_run("SELECT pg_terminate_backend(pid) FROM "
                              "pg_stat_activity WHERE application_name = "
                              "'dpcount'"));
    assert_int_equal(source_load(f->src, NULL, f->st, NULL, &f->err), E_LOST);
    assert_non_null(strstr(f->err.message, "lost the connection"));
}

/* Ends the server's process while rows come: at the first word, when most of
 * them can be nowhere but there, for no socket holds them. */
static bool kill_server(void *ctx, const char *what, uint64_t done,
                        uint64_t total)
{
    bool *killed = ctx;
    (void)what;
    (void)done;
    (void)total;
    if (!*killed)
        *killed = pg_server_run("SELECT pg_terminate_backend(pid) FROM "
                                "pg_stat_activity WHERE application_name = "
                                "'dpcount'");
    return true;
}

static void lost_in_the_middle(void **state)
{
    struct fix *f = *state;
    bool killed = false;
    struct progress p = {kill_server, &killed};
    NEED_SERVER;
    assert_true(pg_server_run("CREATE TABLE t AS SELECT i AS a, 'text ' || i "
                              "AS b FROM generate_series(1, 1000000) i"));
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_int_equal(source_load(f->src, NULL, f->st, &p, &f->err), E_LOST);
    assert_true(killed);
    assert_non_null(strstr(f->err.message, "lost the connection"));
}

/* No password in any message, whatever is wrong with the string. */
static void no_passwords(void **state)
{
    struct fix *f = *state;
    const char *wrong[] = {
        "postgresql://me:s3cret@localhost:1/x",
        "postgresql://me:s3cret@[/x",
        "postgresql://me:s3cret@localhost:1/x?nonsense=s3cret",
        "host=localhost port=1 password=s3cret user='s3cret",
        "host=localhost port=1 password=s3cret dbname=s3cret user=s3cret",
        "host=localhost port=1 password=s3cret s3cret=1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(open_at(f, wrong[i]), E_SOURCE);
        assert_null(strstr(f->err.message, "s3cret"));
        assert_null(strstr(f->err.detail, "s3cret"));
        assert_null(strstr(f->err.hint, "s3cret"));
    }
}

static enum status query(struct fix *f, const char *sql)
{
    PGresult *res = NULL;
    enum status s = pg_query(f->src, sql, NULL, &res, &f->err);
    PQclear(res);
    return s;
}

/* What the server does not have is asked for in a savepoint, and the
 * transaction goes on. */
static void after_a_failure(void **state)
{
    struct fix *f = *state;
    NEED_SERVER;
    assert_int_equal(open_at(f, pg_server()), OK);
    assert_int_equal(query(f, "SAVEPOINT here"), OK);
    assert_int_not_equal(query(f, "SELECT no_such_function()"), OK);
    assert_int_equal(query(f, "ROLLBACK TO SAVEPOINT here"), OK);
    assert_int_equal(query(f, "SELECT 1"), OK);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(types),
        T(numerics),
        T(special_numbers),
        T(catalogue),
        T(refused),
        T(snapshot),
        T(after_a_failure),
        T(odd_names),
        T(wanted),
        T(declared),
        T(cancelled),
        T(lost_connection),
        T(lost_in_the_middle),
        T(no_passwords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
