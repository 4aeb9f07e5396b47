/*
 * Limits of values in the server and here: at, just under and just over each
 * of them, at the root and inside an expression, row by row; rows that the
 * server filters for a load are the same; what is written stays short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include "harness/pg_server.h"
#include "harness/plain.h"
#include "harness/rules.h"
#include "join/join.h"
#include "pushdown/pushdown.h"
#include "sql/sql.h"

enum { ROWS = 14 };

/* Texts of 65,535 to 65,537 bytes, of one and of two bytes a character; half
 * of that; numbers of 1,000 and 1,001 digits on either side of the point. */
static const char tables[] =
    "CREATE TABLE longest(id int PRIMARY KEY, t text, d numeric, i bigint, x "
    "date);"
    "INSERT INTO longest VALUES "
    "(1, repeat('R', 65535), repeat('9', 1000)::numeric, 9, '2020-01-01'),"
    "(2, repeat('R', 65536), repeat('9', 999)::numeric, 99, NULL),"
    "(3, repeat('R', 65537), 10::numeric ^ 1000, 1, 'infinity'),"
    "(4, repeat('R', 32768), 10::numeric ^ 999, 0, '-infinity'),"
    "(5, repeat('R', 32769), ('0.' || repeat('0', 999) || '1')::numeric, -1,"
    " NULL),"
    "(6, repeat('\u00e9', 32768), ('0.' || repeat('0', 1000) || '1')::numeric,"
    " 9223372036854775807, NULL),"
    "(7, repeat('\u00e9', 32769), ('0.' || repeat('0', 998) || '5')::numeric,"
    " -9223372036854775808, NULL),"
    "(8, repeat('\u00e9', 16384), -(10::numeric ^ 999), 10, NULL),"
    "(9, repeat(' ', 40000) || 'R' || repeat(' ', 40000),"
    " ('-0.' || repeat('9', 1000))::numeric, 2, NULL),"
    "(10, 'RARE', 1.50, 3, NULL), (11, '', 'NaN', 4, NULL),"
    "(12, NULL, NULL, NULL, NULL), (13, repeat('aR', 30000), 0, 5, NULL),"
    "(14, repeat('R', 4096), 99999999, 99999999, NULL);"
    "CREATE TABLE odd_name(id int PRIMARY KEY, \"dpc:0\" text);";

static const char *const conditions[] = {
    "t || 'x' <> ''",
    "t || '' <> ''",
    "t || t IS NULL",
    "length(t || t) = 65536",
    "length(t || t || '') > 0",
    "length(t || 'xy') = 65537 OR length(t || 'x') = 65536",
    "(t || t) || substring(t, 1, 1) IS NULL",
    "lower(t) IS NULL",
    "upper(t) LIKE 'R%'",
    "t ILIKE '%r'",
    "lower(t) ILIKE '%r'",
    "substring(t, 1) IS NULL",
    "substring(t, 2) IS NULL",
    "length(substring(t, 1, 65536)) = 65536",
    "substring(t, 1, 65537) IS NULL",
    "substring(t, 1, 16384) IS NULL",
    "substring(t || 'x', 1, 3) = 'RRR'",
    "btrim(t) = 'R'",
    "ltrim(t) IS NULL",
    "rtrim(t) IS NULL",
    "btrim(t, 'R') IS NULL OR btrim(t, 'R') = ''",
    "length(replace(t, 'R', '')) = 0",
    "replace(t, 'a', 'b') IS NULL",
    "replace(t || 'x', 'R', '') IS NULL",
    "t::text IS NULL",
    "position('x' IN t || 'x') > 0",
    "length(t) > 65536",
    "coalesce(t, 'x') = t",
    "length(coalesce(t || t, t)) > 60000",
    "CASE WHEN length(t || t) > 9 THEN t ELSE 'x' END = 'x'",
    "nullif(t, 'x') IS NULL",
    "greatest(t, 'A') = t",
    "t || t IN ('RARERARE', 'x')",
    "'x' NOT IN (t || t, 'y')",
    "NOT (t || t = 'x')",
    "t || t IS DISTINCT FROM 'x'",
    "d + d IS NULL",
    "d + 1 IS NULL",
    "d - 1 < 0",
    "d - d = 0",
    "d * 10 IS NULL",
    "d * 9 IS NULL",
    "d * 0.1 IS NULL",
    "d * 0.5 IS NULL",
    "d * d IS NULL",
    "d * d * 0 = 0",
    "(d * d) - (d * d) = 0",
    "-d IS NULL",
    "abs(d) IS NULL",
    "-(d * 10) IS NULL",
    "round(d) IS NULL",
    "round(d, 999) IS NULL",
    "round(d, 1000) = d",
    "round(d, -999) IS NULL",
    "round(d * 9.5, -999) IS NULL",
    "floor(d) IS NULL",
    "ceil(d) IS NULL",
    "ceil(d + 0.5) IS NULL",
    "d IS NULL",
    "coalesce(d, 0) > 0",
    "greatest(d, d * 10) = d",
    "d > 1",
    "(d * 10) > 1",
    "i * i * i * i > 0",
    "(i * i * i * i * i * i * i * i * i * i * i * i * i * i * i * i) * (i * i "
    "* "
    "i * i * i * i * i * i * i * i * i * i * i * i * i * i) > 1",
    "(i * i) / 3 > 1 OR (i * i) % 7 = 2",
    "substring(t, i * i * i) <> ''",
    "(i * i)::text || t = '9RARE'",
    "extract(year FROM x) * 2 IS NULL",
    "extract(epoch FROM x) + 0 > 0",
    "(d + d)::double precision > 1e308",
    "coalesce(lower(upper(lower(t || 'A'))), 'none') = 'none'",
    "length(lower(upper(lower(upper(lower(upper(lower(upper(t))))))))) > 9",
};

struct fix {
    struct rules r;
    struct source *src;
};

static int setup(void **state)
{
    static struct fix f;
    static bool filled;
    memset(&f, 0, sizeof f);
    rules_init(&f.r);
    *state = &f;
    if (!pg_server())
        return 0;
    assert_true(filled || pg_server_run(tables));
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

static struct cq *read_sql(struct fix *f, const char *text)
{
    struct sql_statement s;
    if (strstr(text, ":-"))
        return rules_read(&f->r, text);
    if (sql_read(&f->r.arena, &f->r.schema, str_of(text), NULL, &s,
                 &f->r.err) != OK)
        fail_msg("%s: %s", text, f->r.err.message);
    return s.counts[0].q;
}

/* The counts of the rows' keys, from a store. */
static void embedded(struct fix *f, struct cq *q, bool filtered,
                     const struct value *keys, u128 *out)
{
    struct store *st;
    struct join *j;
    struct err *err = &f->r.err;
    const struct cq *const qs[] = {q};
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    if (filtered)
        assert_int_equal(source_load_for(f->src, q, qs, 1, st, NULL, err), OK);
    else
        assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
    assert_int_equal(plain_groups(j, keys, ROWS, out, err), OK);
    join_close(j);
    store_free(st);
}

static void same_rows(struct fix *f, const char *text)
{
    u128 here[ROWS], few[ROWS], there[ROWS];
    struct value keys[ROWS];
    struct pushdown *c;
    struct err *err = &f->r.err;
    struct cq *q = read_sql(f, text);
    for (int i = 0; i < ROWS; i++)
        keys[i] = value_int(i + 1);
    embedded(f, q, false, keys, here);
    embedded(f, q, true, keys, few);
    if (pushdown_open(f->src, q, false, NULL, &c, err) != OK ||
        plain_pushdown_groups(c, keys, ROWS, there, err) != OK)
        fail_msg("%s: %s %s", text, err->message, err->detail);
    pushdown_close(c);
    for (int i = 0; i < ROWS; i++)
        if (here[i] != there[i] || here[i] != few[i])
            fail_msg("%s, row %d: %d here, %d filtered, %d there", text, i + 1,
                     (int)here[i], (int)few[i], (int)there[i]);
}

static void same_count(struct fix *f, const char *text)
{
    u128 here = 0, there = 0;
    struct pushdown *c;
    struct store *st;
    struct join *j;
    struct err *err = &f->r.err;
    struct cq *q = read_sql(f, text);
    assert_int_equal(store_new(&f->r.mem, &f->r.schema, &st, err), OK);
    assert_int_equal(source_load(f->src, q, st, NULL, err), OK);
    assert_int_equal(join_open(&f->r.mem, q, st, NULL, &j, err), OK);
    assert_int_equal(plain_count(j, &here, err), OK);
    if (pushdown_open(f->src, q, false, NULL, &c, err) != OK ||
        plain_pushdown(c, &there, err) != OK)
        fail_msg("%s: %s %s", text, err->message, err->detail);
    assert_true(here == there);
    pushdown_close(c);
    join_close(j);
    store_free(st);
}

static void engines_agree(void **state)
{
    struct fix *f = *state;
    char text[600];
    if (!pg_server())
        skip();
    for (size_t n = 0; n < sizeof conditions / sizeof *conditions; n++) {
        snprintf(text, sizeof text,
                 "SELECT id, COUNT(*) FROM longest WHERE %s GROUP BY id",
                 conditions[n]);
        same_rows(f, text);
    }
}

/* x op x of the one before, as subqueries and as computed variables that use
 * each other: short SQL, equal rows. */
static void towers(void **state)
{
    struct fix *f = *state;
    struct sb b;
    if (!pg_server())
        skip();
    for (int levels = 1; levels <= 12; levels++) {
        sb_init(&b, &f->r.arena);
        sb_cstr(&b, "SELECT id, COUNT(*) FROM ");
        for (int i = 0; i < levels; i++)
            sb_cstr(&b, "(SELECT id, t || t AS t, i * i AS i FROM ");
        sb_cstr(&b, "longest");
        for (int i = 0; i < levels; i++)
            sb_printf(&b, ") s%d", i);
        sb_cstr(&b, " WHERE ");
        size_t n = b.n;
        sb_cstr(&b, "(t <> 'x') IS NULL GROUP BY id");
        same_rows(f, str_copy(&f->r.arena, sb_view(&b)).p);
        b.n = n;
        sb_cstr(&b, "i >= 0 GROUP BY id");
        same_rows(f, str_copy(&f->r.arena, sb_view(&b)).p);
    }
}

/* Computed variables that use each other twice: each is written once. */
static void chains(void **state)
{
    static const char *const steps[] = {
        ", v%d := {case(isnull(v%d), 'a', isnull(v%d), 'b', concat(v0, 'c'))}",
        ", v%d := {or(isnull(v%d), and(isnull(v%d), isnull(v0)))}",
    };
    struct fix *f = *state;
    struct sb b;
    if (!pg_server())
        skip();
    for (size_t k = 0; k < 2; k++) {
        sb_init(&b, &f->r.arena);
        sb_cstr(&b, "Q(id) :- longest(id, v0, _, _, _)");
        for (int i = 0; i < 30; i++)
            sb_printf(&b, steps[k], i + 1, i, i);
        sb_cstr(&b, ", {isnull(v30)}.");
        same_count(f, str_copy(&f->r.arena, sb_view(&b)).p);
        b.n -= sizeof "isnull(v30)}." - 1;
        sb_cstr(&b, "not(isnull(v30))}.");
        same_count(f, str_copy(&f->r.arena, sb_view(&b)).p);
    }
}

/* Public refusals: a column with the name of a part, a longer replacement. */
static void refusals(void **state)
{
    struct fix *f = *state;
    struct pushdown *c;
    if (!pg_server())
        skip();
    static const char *const texts[] = {
        "SELECT COUNT(*) FROM odd_name WHERE \"dpc:0\" || 'a' = 'a'",
        "SELECT COUNT(*) FROM longest WHERE replace(t, 'R', 'RR') = 'a'",
    };
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pushdown_open(f->src, read_sql(f, texts[i]), false,
                                       NULL, &c, &f->r.err),
                         E_UNSUPPORTED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {T(engines_agree), T(towers), T(chains),
                                       T(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
