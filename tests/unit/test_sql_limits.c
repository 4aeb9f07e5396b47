/*
 * Texts that are too large, too deep or too wide: a clear error at once, no
 * full stack, no long wait. And every allocation of the reader failing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sql/sql.h"

struct fixture {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct err err;
};

static void begin(struct fixture *f)
{
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    schema_init(&f->schema, &f->arena);
    assert_int_equal(sql_read_ddl(&f->schema,
                                  STR("CREATE TABLE t (a int, b text)"), "t",
                                  &f->err),
                     OK);
}

/* start, part n times, end; read with the time it took. */
static enum status read_long(struct fixture *f, const char *start,
                             const char *part, size_t n, const char *end)
{
    struct sb b;
    struct sql_statement s;
    sb_init(&b, &f->arena);
    sb_cstr(&b, start);
    for (size_t i = 0; i < n; i++)
        sb_cstr(&b, part);
    sb_cstr(&b, end);
    assert_false(b.failed);
    clock_t from = clock();
    enum status st =
        sql_read(&f->arena, &f->schema, sb_view(&b), NULL, &s, &f->err);
    double took = (double)(clock() - from) / CLOCKS_PER_SEC;
    if (took > 2 && !getenv("DPC_SLOW")) /* valgrind */
        fail_msg("%s%s...: %.1f s", start, part, took);
    return st;
}

static const struct {
    const char *start, *part, *end;
    size_t n;
    enum status want;
} texts[] = {
    /* 10 MB */
    {"SELECT COUNT(*) FROM t WHERE b = '", "0123456789", "'", 1000000,
     E_TOO_LARGE},
    /* 5,000 joins */
    {"SELECT COUNT(*) FROM t", " JOIN t ON true", "", 5000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t", ", t", "", 5000, E_NAME},
    {"SELECT COUNT(*) FROM t", " NATURAL JOIN t", "", 100, E_NAME},
    /* 100,000 conditions */
    {"SELECT COUNT(*) FROM t WHERE a = 1", " AND a = 1", "", 100000,
     E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a = 1", " AND a = 1", "", 10000, OK},
    {"SELECT COUNT(*) FROM t WHERE a = 1", " OR a = 1", "", 3000, OK},
    {"SELECT COUNT(*) FROM t WHERE a = 1", " OR a = 1", "", 10000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a IN (1", ", 2", ")", 9000, OK},
    {"SELECT COUNT(*) FROM t WHERE a IN (1", ", 2", ")", 20000, E_TOO_LARGE},
    /* many conditions that are small one by one */
    {"SELECT COUNT(*) FROM t WHERE a + a > 1", " AND a + a > 1", "", 1900, OK},
    {"SELECT COUNT(*) FROM (SELECT a * a * a * a * a * a AS n FROM t) s "
     "WHERE n > 1",
     " AND n > 1", "", 1900, E_TOO_LARGE},
    /* depth, each way to get it */
    {"SELECT COUNT(*) FROM t WHERE a = 1", " + 1", "", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a = a", " + a", "", 1900, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a = a", " + a", "", 100, OK},
    {"SELECT COUNT(*) FROM t WHERE ", "NOT ", "a = 1", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE ", "NOT ", "a = 1", 1000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE ", "(", "a = 1", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a = ", "- ", "1", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM ", "(SELECT * FROM ", "t", 1000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a", "::int", " = 1", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE b", " COLLATE x", " = 1", 100000,
     E_TOO_LARGE},
    {"SELECT 1", " UNION SELECT 1", "", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE ", "CASE WHEN true THEN ", "a", 100000,
     E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a", " IS NULL", "", 100000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a", " AT TIME ZONE 'x'", " = 1", 100000,
     E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a", " AT TIME ZONE 'x'", " = 1", 5000,
     E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a", " << a", " = 1", 10000, E_TOO_LARGE},
    {"SELECT COUNT(*) FROM t WHERE a<=1", " AND a<=1", "", 5000, OK},
    {"SELECT COUNT(*) FROM t WHERE a = ", "/* ", "1", 100000, E_SYNTAX},
    {"SELECT COUNT(*) FROM t; ", "SELECT 1; ", "", 10000, E_UNSUPPORTED},
    {"SELECT COUNT(*)", ", COUNT(a)", " FROM t", 300, OK},
    {"SELECT COUNT(*)", ", COUNT(a)", " FROM t", 3000, OK}, /* two counts */
    /* a long text, once for each count */
    {"SELECT COUNT(*), COUNT(a), COUNT(b), COUNT(1), COUNT(2), COUNT(3), "
     "COUNT(4), COUNT(5), COUNT(6) FROM t WHERE a IN (",
     "11111111111111111111111111111111111111111111111111111111111, ", "1)",
     9000, E_TOO_LARGE},
};

static void large_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        begin(&f);
        enum status st = read_long(&f, texts[i].start, texts[i].part,
                                   texts[i].n, texts[i].end);
        if (st != texts[i].want)
            fail_msg("%s%s... x %zu: status %d, not %d: %s", texts[i].start,
                     texts[i].part, texts[i].n, st, texts[i].want,
                     f.err.message);
        arena_fini(&f.arena);
    }
}

/* Each CTE doubles the one before: 2^40 uses of t. */
static void explosion(void **state)
{
    (void)state;
    struct fixture f;
    struct sb b;
    struct sql_statement s;
    begin(&f);
    for (int one_row = 0; one_row < 2; one_row++) {
        sb_init(&b, &f.arena);
        sb_printf(&b, "WITH c0 AS (%s)",
                  one_row ? "SELECT 1" : "SELECT * FROM t");
        for (int i = 1; i <= 40; i++)
            sb_printf(&b, ", c%d AS (SELECT 1 FROM c%d x, c%d y)", i, i - 1,
                      i - 1);
        sb_cstr(&b, " SELECT COUNT(*) FROM c40");
        assert_int_equal(
            sql_read(&f.arena, &f.schema, sb_view(&b), NULL, &s, &f.err),
            E_TOO_LARGE);
    }
    arena_fini(&f.arena);
}

/* n levels of a subquery around another, `inner` at the bottom. */
static enum status read_levels(struct fixture *f, const char *start,
                               const char *select, int n, const char *inner)
{
    struct sb b;
    struct sql_statement s;
    struct timespec t;
    sb_init(&b, &f->arena);
    sb_cstr(&b, start);
    for (int i = 0; i < n; i++)
        sb_printf(&b, "(%s FROM ", select);
    sb_cstr(&b, inner);
    for (int i = 0; i < n; i++)
        sb_printf(&b, ") s%d", i);
    size_t before = f->mem.used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    double begun = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    enum status st =
        sql_read(&f->arena, &f->schema, sb_view(&b), NULL, &s, &f->err);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    assert_true((double)t.tv_sec + (double)t.tv_nsec / 1e9 - begun < 1);
    assert_in_range(f->mem.peak - before, 0, 20 << 20);
    return st;
}

/* Subqueries whose columns double at each level: their length, their number
 * and the size of what computes them. */
static void unfolding(void **state)
{
    (void)state;
    static const struct {
        const char *start, *select, *inner;
    } cases[] = {
        {"SELECT COUNT(DISTINCT b) FROM ", "SELECT b || b AS b", "t"},
        {"SELECT COUNT(DISTINCT a) FROM ", "SELECT a * a AS a", "t"},
        {"SELECT COUNT(DISTINCT a) FROM ", "SELECT coalesce(a, a) AS a", "t"},
        {"SELECT COUNT(*) FROM ", "SELECT *, *", "t"},
        {"SELECT COUNT(*) FROM ", "SELECT a + a AS a, *", "t"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 4; n <= 64; n *= 2) {
            struct fixture f;
            begin(&f);
            enum status st = read_levels(&f, cases[i].start, cases[i].select, n,
                                         cases[i].inner);
            if (i < 4 && n > 16)
                assert_int_equal(st, E_TOO_LARGE);
            else if (n == 4 && i < 4)
                assert_int_equal(st, OK);
            arena_fini(&f.arena);
        }
}

static void not_text(void **state)
{
    (void)state;
    struct fixture f;
    struct sql_statement s;
    begin(&f);
    const struct str bad[] = {STR("SELECT \0 1"), STR("SELECT '\xff'"),
                              STR("SELECT '\xc3"), STR("")};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            sql_read(&f.arena, &f.schema, bad[i], NULL, &s, &f.err), E_SYNTAX);
    arena_fini(&f.arena);
}

static const char busy[] =
    "WITH c AS (SELECT DISTINCT b, a + 1 AS n FROM t WHERE b LIKE 'a%') "
    "SELECT x.b, COUNT(*), COUNT(DISTINCT x.a * 2) FROM t x JOIN c USING (b) "
    "WHERE EXISTS (SELECT 1 FROM t y WHERE y.a < x.a) AND "
    "CASE WHEN x.a IN (1, 2) THEN lower(x.b) ELSE 'z' END = 'z' GROUP BY x.b";

/* The n-th allocation fails, for every n: an error, nothing lost. */
static void out_of_memory(void **state)
{
    (void)state;
    enum status st = E_NOMEM;
    for (long n = 0; st != OK && n < 100000; n++) {
        struct fixture f;
        struct sql_statement s;
        begin(&f);
        atomic_store(&f.mem.fail_after, n);
        st = sql_read(&f.arena, &f.schema, str_of(busy), NULL, &s, &f.err);
        if (st != OK)
            assert_int_equal(st, E_NOMEM);
        arena_fini(&f.arena);
        assert_int_equal(atomic_load(&f.mem.used), 0);
    }
    assert_int_equal(st, OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_texts),   cmocka_unit_test(explosion),
        cmocka_unit_test(unfolding),     cmocka_unit_test(not_text),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
