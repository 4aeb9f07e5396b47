/*
 * Pushdown on chosen queries: the numbers of the embedded engine on every set
 * of atoms, with NULLs, texts, predicates, dates, bags and keys; equal
 * components are asked once; counts beyond 64 bits; refusals; constraints.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include "harness/odd_rows.h"
#include "harness/plain.h"
#include "harness/pg_server.h"
#include "harness/rules.h"
#include "join/join.h"
#include "pushdown/pushdown.h"
#include "sql/sql.h"

static const char tables[] =
    /* neighbours with nothing, one value or much between them, and ends */
    "CREATE TABLE near(k int, i bigint, d date, t timestamptz, m time,"
    " b boolean, n numeric, s text, r float8);"
    "INSERT INTO near VALUES "
    "(1, 1, '2000-01-01', '2001-01-01 00:00+00', '10:00', false, 1, 'a', 1),"
    "(1, 2, '2000-01-02', '2001-01-01 00:00:00.000001+00', '10:00:00.000001',"
    " true, 1.5, 'b', 2), (2, 4, '2000-01-04',"
    " '2001-01-01 00:00:00.000003+00', '10:00:00.000003', true, 2, '', 'NaN'),"
    "(2, 9223372036854775807, 'infinity', 'infinity', '24:00', true, 'NaN',"
    " 'zz', 'Infinity'), (3, -9223372036854775808, '-infinity', '-infinity',"
    " '00:00', false, -3, 'B', '-Infinity'), (3, 3, '0001-01-01',"
    " '1900-01-01 00:00+00', '10:00', NULL, 1, 'a', 0), (3, 8, '2000-01-08',"
    " '1900-01-01 00:00:00.000001+00', '11:00', NULL, 7, 'c', 7), (3, 0,"
    " '2000-01-08', '1900-01-01 00:00:00.000002+00', '11:00', NULL, 7, 'c', 7);"
    "CREATE TABLE cust(c int PRIMARY KEY, n int NOT NULL);"
    "CREATE TABLE ord(o int PRIMARY KEY, c int NOT NULL);"
    "CREATE TABLE line(o int, l int, s int NOT NULL, PRIMARY KEY (o, l));"
    "CREATE TABLE supp(s int PRIMARY KEY, n int NOT NULL);"
    "INSERT INTO cust SELECT i, i % 4 FROM generate_series(1, 30) i;"
    "INSERT INTO ord SELECT i, i * i % 33 FROM generate_series(1, 90) i;"
    "INSERT INTO line SELECT i % 95, i / 95, i * i % 11"
    " FROM generate_series(1, 300) i;"
    "INSERT INTO supp SELECT i, i % 5 FROM generate_series(1, 9) i;"
    "CREATE TABLE far AS SELECT * FROM near WHERE i < 4;"
    "CREATE TABLE pat(id int PRIMARY KEY, name text, born date, h int,"
    " w numeric, code char(4));"
    "CREATE TABLE visit(pat int, doc text, at timestamptz, cost numeric);"
    "CREATE TABLE e(a int, b int); CREATE TABLE f(a int, b int);"
    "CREATE TABLE big AS SELECT i AS a FROM generate_series(1, 3000) i;"
    "INSERT INTO pat SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'n' || i % 5"
    " || CASE WHEN i % 4 = 0 THEN '''\\%' ELSE 'x_' END END,"
    " date '2000-01-01' + i % 9, nullif(i % 6, 0), (i % 8) / 4.0, 'c' || i % 3"
    " FROM generate_series(1, 40) i;"
    "INSERT INTO visit SELECT nullif(i % 45, 3), 'd' || i % 4,"
    " timestamptz '2000-01-01 00:00+00' + i % 12 * interval '12 hours',"
    " i % 5 * 1.50 FROM generate_series(1, 150) i;"
    "INSERT INTO visit SELECT * FROM visit LIMIT 30;"
    "INSERT INTO e SELECT i % 12, i * i % 17 FROM generate_series(1, 60) i;"
    "INSERT INTO f SELECT i % 9, i * i % 13 FROM generate_series(1, 40) i;"
    "INSERT INTO f VALUES (NULL, 1), (1, NULL), (NULL, NULL)";

struct fix {
    struct rules r;
    struct source *src;
};

static int setup(void **state)
{
    static struct fix f;
    memset(&f, 0, sizeof f);
    rules_init(&f.r);
    *state = &f;
    static bool filled;
    if (!pg_server())
        return 0;
    assert_true(filled || (pg_server_run(tables) && pg_server_run(odd_rows)));
    filled = true;
    struct source_spec spec = {.db = str_of(pg_server())};
    assert_int_equal(
        source_open(&f.r.mem, &spec, &f.r.schema, &f.src, &f.r.err), OK);
    return 0;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    source_close(f->src);
    assert_true(rules_fini(&f->r));
    return 0;
}

static struct cq *read_query(struct fix *f, const char *text)
{
    struct sql_statement s;
    if (strstr(text, ":-"))
        return rules_read(&f->r, text);
    enum status st =
        sql_read(&f->r.arena, &f->r.schema, str_of(text), NULL, &s, &f->r.err);
    if (st != OK)
        fprintf(stderr, "%s: %s\n", text, f->r.err.message);
    assert_int_equal(st, OK);
    return s.counts[0].q;
}

static vset boundary(const struct cq *q, aset f)
{
    return cq_vars_of(q, f) & cq_vars_of(q, aset_first_n(q->n_atoms) & ~f);
}

/* The rows that the server leaves out change no number. */
static void same_filtered(struct fix *f, const char *text, const struct cq *q,
                          struct join *j)
{
    struct store *st;
    struct join *few;
    struct err *err = &f->r.err;
    u128 want = 0, got = 0;
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load_for(f->src, q, &q, 1, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &few, err), OK);
    for (aset s = 1; s < aset_one(q->n_atoms); s++) {
        vset b = boundary(q, s), o = cq_free(q) & cq_vars_of(q, s);
        assert_int_equal(join_max(j, s, b, o, &want, err), OK);
        assert_int_equal(join_max(few, s, b, o, &got, err), OK);
        if (want != got)
            fprintf(stderr, "%s: filtered, atoms %llx: %llu, not %llu\n", text,
                    (unsigned long long)s, (unsigned long long)got,
                    (unsigned long long)want);
        assert_true(want == got);
    }
    join_close(few);
    store_free(st);
}

static void same_numbers(struct fix *f, const char *text, bool exact)
{
    struct cq *q = read_query(f, text);
    struct store *st;
    struct join *j;
    struct pushdown *c;
    struct err *err = &f->r.err;
    u128 want = 0, got = 0;
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
    assert_int_equal(pushdown_open(f->src, q, exact, NULL, &c, err), OK);
    for (aset s = 1; s < aset_one(q->n_atoms); s++) {
        vset b = boundary(q, s), o = cq_free(q) & cq_vars_of(q, s);
        enum status x = join_max(j, s, b, o, &want, err);
        enum status y = pushdown_max(c, s, b, o, &got, err);
        if (x != OK || y != OK || want != got)
            fprintf(stderr, "%s: atoms %llx: %llu, not %llu; %s\n", text,
                    (unsigned long long)s, (unsigned long long)got,
                    (unsigned long long)want, err->message);
        assert_true(x == OK && y == OK && want == got);
        if (!exact)
            continue;
        x = join_max_exact(j, s, b, o, &want, err);
        y = pushdown_max_exact(c, s, b, o, &got, err);
        if (x != OK || y != OK || want != got)
            fprintf(stderr, "%s: exact, atoms %llx: %llu, not %llu; %s\n", text,
                    (unsigned long long)s, (unsigned long long)got,
                    (unsigned long long)want, err->message);
        assert_true(x == OK && y == OK && want == got);
    }
    assert_int_equal(plain_pushdown(c, &got, err), OK);
    assert_int_equal(plain_count(j, &want, err), OK);
    assert_true(want == got);
    same_filtered(f, text, q, j);
    pushdown_close(c);
    join_close(j);
    store_free(st);
}

static void engines_agree(void **state)
{
    static const char *const queries[] = {
        "SELECT COUNT(*) FROM pat",
        "SELECT COUNT(name) FROM pat",
        "SELECT COUNT(DISTINCT name) FROM pat",
        "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id",
        "SELECT COUNT(DISTINCT p.name) FROM pat p JOIN visit v ON v.pat = p.id",
        "SELECT COUNT(DISTINCT v.doc) FROM pat p, visit v WHERE v.pat = p.id "
        "AND p.name LIKE 'n1%' AND v.cost >= 3",
        "SELECT COUNT(*) FROM pat p, visit v WHERE v.pat = p.id AND p.born < "
        "date '2000-01-05' AND p.h IS NOT NULL",
        "SELECT COUNT(*) FROM pat p WHERE p.name = 'n4''\\%'",
        "SELECT COUNT(*) FROM pat p WHERE p.code = 'c1'",
        "SELECT COUNT(*) FROM visit v WHERE v.at < timestamp '2000-01-03 "
        "12:00:00'",
        "SELECT COUNT(*) FROM pat p, pat q WHERE p.h = q.h AND p.id < q.id",
        "SELECT COUNT(*) FROM pat p, pat q WHERE p.h = q.h AND p.w <> q.w",
        "SELECT COUNT(*) FROM e x, e y, e z WHERE x.b = y.a AND y.b = z.a AND "
        "z.b = x.a",
        "SELECT COUNT(*) FROM e x, f y WHERE x.b <> y.a",
        "SELECT COUNT(*) FROM e x, f y WHERE x.a = y.a AND x.b <= y.b",
        "SELECT COUNT(*) FROM pat p, pat q WHERE p.h = 1 AND q.h = 2 AND p.w "
        "= q.w",
        "SELECT COUNT(*) FROM near WHERE n = 1.5 OR r > 1.5 OR s < 'a'",
        "SELECT COUNT(*) FROM near x, near y WHERE x.s >= 'B' AND y.n <= 1 AND "
        "x.k = y.k AND NOT y.b",
        "SELECT COUNT(*) FROM near WHERE i + i > 5 AND (t IS NULL OR d < date "
        "'2000-01-03')",
        "SELECT COUNT(*) FROM pat p WHERE p.h IN (1, 2, NULL) OR NOT (p.w < 1)",
        "Q(x, y, z) :- e(x, y), e(y, z), x != z.",
        "Q(x, z) :- e(x, y), f(y, z).",
        "Q() :- e(x, y), f(y, x).",
        "Q(x, y, z, w) :- e(x, y), f(z, w), y != z.",
        "Q(x, w) :- e(x, y), f(z, w), y < z.",
        "Q(x) :- e(x, _), f(_, x), x != 3.",
        "Q(x, y) :- f(x, y).",
        "Q(x) :- e(x, 4), f(x, x).",
    };
    struct fix *f = *state;
    if (!pg_server())
        skip();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        same_numbers(f, queries[i], true);
}

/* Comparisons that reach outside a residual: every type, with neighbours that
 * leave room between them and such that do not, and the ends of types. */
static void exact_filters(void **state)
{
    static const char *const columns[] = {"i", "d", "t", "m",
                                          "b", "n", "s", "r"};
    static const char *const shapes[] = {
        "x.%s < y.%s AND x.k = y.k",
        "x.%s <= y.%s",
        "x.%s < y.%s AND y.%s < z.%s",
        "x.%s < y.%s AND y.%s < z.%s AND x.k = z.k",
        "x.%s <> y.%s AND y.%s <= z.%s",
        "x.%s < z.%s AND y.%s < z.%s AND x.%s <> y.%s",
    };
    struct fix *f = *state;
    if (!pg_server())
        skip();
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            char where[200], text[400];
            const char *c = columns[i];
            snprintf(where, sizeof where, shapes[k], c, c, c, c, c, c);
            snprintf(text, sizeof text,
                     "SELECT COUNT(*) FROM near x, far y%s WHERE %s",
                     strchr(where, 'z') ? ", near z" : "", where);
            same_numbers(f, text, true);
        }
    same_numbers(f,
                 "SELECT COUNT(*) FROM near x, far y, near z WHERE x.i < y.i "
                 "AND y.i < z.i AND y.i > 2 AND 4 >= z.i",
                 true);
    same_numbers(f,
                 "Q(x, y, z) :- near(x, y, _, _, _, _, _, _, _), "
                 "far(x, z, _, _, _, _, _, _, _), y < z, z != 3.",
                 true);
}

/* The counts of given keys, NULL and impossible ones among them. */
static void same_groups(struct fix *f, const char *text,
                        const struct value *keys, size_t n)
{
    struct cq *q = read_query(f, text);
    struct store *st;
    struct join *j;
    struct pushdown *c;
    struct err *err = &f->r.err;
    u128 want[8], got[8], sum = 0;
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
    assert_int_equal(pushdown_open(f->src, q, false, NULL, &c, err), OK);
    assert_int_equal(plain_groups(j, keys, n, want, err), OK);
    enum status s = plain_pushdown_groups(c, keys, n, got, err);
    for (size_t i = 0; i < n; i++) {
        if (s != OK || want[i] != got[i])
            fprintf(stderr, "%s: key %zu: %llu, not %llu; %s\n", text, i,
                    (unsigned long long)got[i], (unsigned long long)want[i],
                    err->message);
        assert_true(s == OK && want[i] == got[i]);
        sum += want[i];
    }
    assert_true(sum > 0); /* or it would prove little */
    pushdown_close(c);
    join_close(j);
    store_free(st);
}

static void groups(void **state)
{
    struct fix *f = *state;
    struct value one[] = {value_int(1), value_int(2), value_null(),
                          value_int(99), value_int(5)};
    struct value text[] = {value_text(STR("n1x_")), value_text(STR("n4'\\%")),
                           value_null(), value_text(STR("N1x_"))};
    struct value two[] = {
        value_int(1), value_int(2), value_int(2), value_int(1), value_null(),
        value_int(3), value_int(4), value_null(), value_int(3), value_int(3)};
    if (!pg_server())
        skip();
    same_groups(f, "SELECT h, COUNT(*) FROM pat GROUP BY h", one, 5);
    same_groups(f, "SELECT h, COUNT(DISTINCT born) FROM pat GROUP BY h", one,
                5);
    same_groups(f, "SELECT name, COUNT(*) FROM pat GROUP BY name", text, 4);
    same_groups(f,
                "SELECT p.h, COUNT(*) FROM pat p, visit v WHERE v.pat = p.id "
                "GROUP BY p.h",
                one, 5);
    same_groups(f,
                "SELECT x.a, COUNT(*) FROM e x, f y WHERE x.b <> y.a GROUP BY "
                "x.a",
                one, 5);
    same_groups(f,
                "SELECT x.a, y.a, COUNT(*) FROM e x, f y WHERE x.a <= y.a "
                "GROUP BY x.a, y.a",
                two, 5);
    same_groups(f, "SELECT x.a, y.b, COUNT(*) FROM e x, f y GROUP BY x.a, y.b",
                two, 5);
    same_groups(f,
                "SELECT x.a, x.b, COUNT(*) FROM e x, e y WHERE x.b = y.a "
                "GROUP BY x.a, x.b",
                two, 5);
    same_groups(f, "SELECT a, b, COUNT(*) FROM f GROUP BY a, b", two, 5);
    same_groups(f,
                "SELECT p.id, COUNT(*) FROM pat p, pat q, visit v WHERE v.pat "
                "= p.id AND p.h = q.h AND p.w <= q.w GROUP BY p.id",
                one, 5);
}

/* More keys than one statement takes. */
static void many_groups(void **state)
{
    enum { KEYS = 40001 };
    struct fix *f = *state;
    struct pushdown *c;
    struct err *err = &f->r.err;
    if (!pg_server())
        skip();
    struct cq *q = read_query(f, "SELECT a, COUNT(*) FROM big GROUP BY a");
    struct value *keys = NEWS(&f->r.arena, struct value, KEYS);
    u128 *got = NEWS(&f->r.arena, u128, KEYS);
    for (int i = 0; i < KEYS; i++)
        keys[i] = value_int(i);
    assert_int_equal(pushdown_open(f->src, q, false, NULL, &c, err), OK);
    assert_int_equal(plain_pushdown_groups(c, keys, KEYS, got, err), OK);
    for (int i = 0; i < KEYS; i++)
        assert_true(got[i] == (i >= 1 && i <= 3000));
    assert_int_equal(pushdown_statements(c), 3);
    pushdown_close(c);
}

/* Row by row: the key of a group is that of the table. */
static void functions(void **state)
{
    enum { ROWS = 17 };
    struct fix *f = *state;
    struct err *err = &f->r.err;
    char text[400];
    u128 got[ROWS], want[ROWS];
    struct value keys[ROWS];
    if (!pg_server())
        skip();
    for (int i = 0; i < ROWS; i++)
        keys[i] = value_int(i + 1);
    for (size_t n = 0; n < sizeof conditions / sizeof *conditions; n++) {
        struct store *st;
        struct join *j;
        struct pushdown *c = NULL;
        unsigned some = 0;
        snprintf(text, sizeof text,
                 "SELECT id, COUNT(*) FROM odd WHERE %s GROUP BY id",
                 conditions[n]);
        struct cq *q = read_query(f, text);
        assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
        assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
        assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
        assert_int_equal(plain_groups(j, keys, ROWS, want, err), OK);
        enum status s = pushdown_open(f->src, q, false, NULL, &c, err);
        if (s == OK)
            s = plain_pushdown_groups(c, keys, ROWS, got, err);
        for (int i = 0; i < ROWS; i++) {
            if (s != OK || got[i] != want[i])
                fprintf(stderr, "%s: row %d: %d, not %d; %s\n", conditions[n],
                        i + 1, (int)got[i], (int)want[i], err->message);
            assert_true(s == OK && got[i] == want[i]);
            some += want[i] > 0;
        }
        if (!some)
            fprintf(stderr, "%s: true nowhere\n", conditions[n]);
        assert_true(some); /* or it would prove little */
        pushdown_close(c);
        join_close(j);
        store_free(st);
    }
}

/* All residuals and the count together: the count rests on a residual, and
 * nothing is left to be sent afterwards. */
static void prepared_together(void **state)
{
    struct fix *f = *state;
    struct err *err = &f->r.err;
    struct store *st;
    struct join *j;
    struct pushdown *c;
    struct pushdown_ask asks[15];
    u128 got = 0, want = 0;
    if (!pg_server())
        skip();
    struct cq *q = read_query(f, "Q(c, n, o, l, s) :- cust(c, n), ord(o, c), "
                                 "line(o, l, s), supp(s, n).");
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
    assert_int_equal(pushdown_open(f->src, q, false, NULL, &c, err), OK);
    for (aset s = 1; s < 16; s++)
        asks[s - 1] = (struct pushdown_ask){
            s, boundary(q, s), cq_free(q) & cq_vars_of(q, s), false};
    assert_int_equal(pushdown_prepare(c, asks, 15, err), OK);
    uint64_t sent = pushdown_statements(c);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(pushdown_max(c, asks[i].f, asks[i].boundary,
                                      asks[i].outs, &got, err),
                         OK);
        assert_int_equal(
            join_max(j, asks[i].f, asks[i].boundary, asks[i].outs, &want, err),
            OK);
        assert_true(got == want && want > 0);
    }
    assert_true(want > 20); /* the count */
    assert_int_equal(pushdown_statements(c), sent);
    pushdown_close(c);
    join_close(j);
    store_free(st);
}

static size_t rows_once(struct fix *f, const char *text, const char *table,
                        size_t limit)
{
    const struct cq *q = read_query(f, text);
    struct store *st;
    struct err *err = &f->r.err;
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load_once(f->src, q, limit, st, err), OK);
    size_t n = st->tables[schema_find(&f->r.schema, str_of(table))].n_rows;
    store_free(st);
    return n;
}

/* Public keys: each once, and no more than are of use. */
static void values_once(void **state)
{
    struct fix *f = *state;
    if (!pg_server())
        skip();
    assert_int_equal(rows_once(f, "Q(x) :- big(x).", "big", 101), 101);
    assert_int_equal(rows_once(f, "Q(x) :- f(x, _).", "f", 101), 9);
    assert_int_equal(
        rows_once(f, "SELECT COUNT(DISTINCT name) FROM pat", "pat", 99), 10);
    assert_int_equal(
        rows_once(f, "SELECT COUNT(DISTINCT code) FROM pat", "pat", 99), 3);
}

static size_t rows_sent(struct fix *f, const char *text, const char *table)
{
    const struct cq *q = read_query(f, text);
    struct store *st;
    struct err *err = &f->r.err;
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load_for(f->src, q, &q, 1, st, NULL, err), OK);
    size_t n = st->tables[schema_find(&f->r.schema, str_of(table))].n_rows;
    store_free(st);
    return n;
}

/* Which rows come: those that some atom may keep, and all where a constraint
 * must be checked that nobody else enforces. */
static void server_filters(void **state)
{
    struct fix *f = *state;
    if (!pg_server())
        skip();
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM big WHERE a <= 10", "big"), 10);
    assert_int_equal(rows_sent(f,
                               "SELECT COUNT(*) FROM big x, big y WHERE x.a < "
                               "10 AND y.a > 2990 AND x.a <> y.a",
                               "big"),
                     19);
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM big x, big y WHERE x.a < 10", "big"),
        3000);
    assert_int_equal(rows_sent(f, "Q(x) :- e(x, 4).", "e"), 7);
    assert_int_equal(rows_sent(f, "Q(x) :- f(x, x).", "f"), 40);
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM pat WHERE lower(name) = 'n1x_'",
                  "pat"),
        5);
    /* evaluated here: the server's sums of doubles may overflow */
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM odd WHERE f + f > 1", "odd"), 17);
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM odd WHERE f + f > 1 AND i = -7",
                  "odd"),
        2);
    /* pat's key is the database's own; this one nobody else knows */
    rules_constraint(&f->r, "pat: (h) -> name <= 40");
    assert_int_equal(
        rows_sent(f, "SELECT COUNT(*) FROM pat WHERE h = 1", "pat"), 40);
}

static uint64_t statements(struct fix *f, const char *text, u128 *count)
{
    struct cq *q = read_query(f, text);
    struct pushdown *c;
    u128 n;
    struct err *err = &f->r.err;
    assert_int_equal(pushdown_open(f->src, q, true, NULL, &c, err), OK);
    for (aset s = 1; s < aset_one(q->n_atoms); s++)
        assert_int_equal(pushdown_max(c, s, boundary(q, s),
                                      cq_free(q) & cq_vars_of(q, s), &n, err),
                         OK);
    assert_int_equal(plain_pushdown(c, count, err), OK);
    uint64_t sent = pushdown_statements(c);
    pushdown_close(c);
    return sent;
}

/* Seven residuals of the triangle, three shapes; two tables are not one. */
static void equal_parts_once(void **state)
{
    u128 n;
    if (!pg_server())
        skip();
    assert_int_equal(
        statements(*state, "Q(x, y, z) :- e(x, y), e(y, z), e(z, x).", &n), 3);
    assert_int_equal(
        statements(*state, "Q(x, y, z, w) :- e(x, y), e(z, w).", &n), 1);
    assert_int_equal(
        statements(*state, "Q(x, y, z, w) :- e(x, y), f(z, w).", &n), 2);
}

static void wide_counts(void **state)
{
    struct fix *f = *state;
    u128 n = 0, want = 1;
    if (!pg_server())
        skip();
    statements(f,
               "Q(x,y,z,u,v,w) :- big(x), big(y), big(z), big(u), big(v), "
               "big(w).",
               &n);
    for (int i = 0; i < 6; i++)
        want *= 3000;
    assert_true(n == want);
    struct cq *q = read_query(
        f, "Q(a,b,c,d,e,f,g,h,i,j,k,l) :- big(a), big(b), big(c), big(d), "
           "big(e), big(f), big(g), big(h), big(i), big(j), big(k), big(l).");
    struct pushdown *c;
    assert_int_equal(pushdown_open(f->src, q, true, NULL, &c, &f->r.err), OK);
    assert_int_equal(plain_pushdown(c, &n, &f->r.err), OK);
    assert_true(n == COUNT_MOST);
    pushdown_close(c);
}

/* Is the constraint still there once what nobody enforces is left out? */
static bool kept(const char *constraint)
{
    struct rules r;
    struct source *src;
    struct sb left_out;
    struct source_spec spec = {.db = str_of(pg_server())};
    rules_init(&r);
    assert_int_equal(source_open(&r.mem, &spec, &r.schema, &src, &r.err), OK);
    sb_init(&left_out, &r.arena);
    source_keep_enforced(src, &left_out);
    assert_int_equal(left_out.n, 0); /* the catalogue's own are enforced */
    rules_constraint(&r, constraint);
    source_keep_enforced(src, &left_out);
    bool yes = left_out.n == 0;
    source_close(src);
    assert_true(rules_fini(&r));
    return yes;
}

/* True or false, what the server does not enforce is not used. */
static void constraints(void **state)
{
    (void)state;
    if (!pg_server())
        skip();
    assert_false(kept("|e| <= 60"));
    assert_false(kept("e: () -> a <= 12"));
    assert_false(kept("e: a -> b <= 9"));
    assert_false(kept("e: (a) -> *"));
    assert_true(kept("pat: id -> name"));
    assert_true(kept("pat: (id, h) -> name <= 3"));
    assert_false(kept("pat: (h) -> *"));
    assert_false(kept("|pat| <= 1000000"));
}

/* What the database might do differently is refused, not guessed. */
static void refusals(void **state)
{
    struct fix *f = *state;
    struct pushdown *c;
    if (!pg_server())
        skip();
    static const char *const where[] = {"f + f > 1",
                                        "f * 2 > 1",
                                        "f / 2 > 1",
                                        "(f - 1) = 2",

                                        "t LIKE 'a%b' ESCAPE '%'",
                                        "t ILIKE 'a' ESCAPE 'x'",
                                        "replace(t, 'a', 'aaaa') = 'b'",
                                        "round(d, 1001) = 1",
                                        "(x + 1) + 1 = x"};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char text[200];
        snprintf(text, sizeof text, "SELECT COUNT(*) FROM odd WHERE %s",
                 where[i]);
        struct cq *q = read_query(f, text);
        enum status s = pushdown_open(f->src, q, true, NULL, &c, &f->r.err);
        if (s != E_UNSUPPORTED)
            fprintf(stderr, "%s is not refused\n", where[i]);
        assert_int_equal(s, E_UNSUPPORTED);
        assert_null(c);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(engines_agree), T(exact_filters),  T(groups),
        T(many_groups),   T(server_filters), T(equal_parts_once),
        T(wide_counts),   T(constraints),    T(refusals),
        T(functions),     T(values_once),    T(prepared_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
