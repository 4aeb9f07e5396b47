/*
 * SQL text to the number it counts, by the front end and nested loops, and by
 * the join engine, which must agree: here some answers checked by hand.
 *
 *     test_sql_count SCHEMA.sql DATA.json QUERIES.json
 *
 * prints one JSON line for each query; the random comparison with SQLite and
 * PostgreSQL (tests/e2e/test_sql_diff.py) drives it that way.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/load_rows.h"
#include "harness/naive.h"
#include "harness/plain.h"
#include "join/join.h"
#include "sql/sql.h"

struct world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct naive_table *tables;
    struct store *store;
    struct err err;
};

static enum status begin(struct world *w, struct str ddl)
{
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
    TRY(sql_read_ddl(&w->schema, ddl, "schema", &w->err));
    w->tables = NEWS(&w->arena, struct naive_table, w->schema.tables.n + 1);
    return w->tables ? OK : err_nomem(&w->err);
}

/* {"t": [["1", null], ...], ...}: every value as text. */
static bool load(struct world *w, json_t *data)
{
    for (size_t t = 0; t < w->schema.tables.n; t++) {
        const struct table *table = &w->schema.tables.p[t];
        json_t *rows = json_object_get(data, table->name.p);
        struct naive_table *out = &w->tables[t];
        out->n_rows = json_array_size(rows);
        out->rows = NEWS(&w->arena, struct value *, out->n_rows + 1);
        for (size_t i = 0; i < out->n_rows; i++) {
            json_t *row = json_array_get(rows, i);
            struct value *v = NEWS(&w->arena, struct value, table->n_cols + 1);
            for (size_t c = 0; c < table->n_cols; c++) {
                const char *s = json_string_value(json_array_get(row, c));
                v[c] = value_null();
                if (s && !value_parse(&w->arena, str_of(s), table->cols[c].type,
                                      &v[c]))
                    return false;
            }
            out->rows[i] = v;
        }
    }
    return true;
}

/* The same rows into the store of the join engine. */
static enum status fill_store(struct world *w)
{
    TRY(store_new(&w->mem, &w->schema, &w->store, &w->err));
    for (size_t t = 0; t < w->schema.tables.n; t++) {
        size_t n = w->schema.tables.p[t].n_cols;
        bool *wanted = NEWS(&w->arena, bool, n + 1);
        struct store_loader *l;
        if (!wanted)
            return err_nomem(&w->err);
        memset(wanted, true, n);
        TRY(store_load_begin(w->store, t, wanted, &l, &w->err));
        for (size_t i = 0; i < w->tables[t].n_rows; i++)
            TRY(store_load_values(l, w->tables[t].rows[i], &w->err));
        TRY(store_load_end(l, &w->err));
    }
    return OK;
}

/* Does the join engine count as many? */
static bool engine_agrees(struct world *w, const struct cq *q,
                          const struct naive_groups *g)
{
    struct join *j;
    u128 n = 0, want = 0;
    if (join_open(&w->mem, q, w->store, NULL, &j, &w->err) != OK)
        return false;
    enum status st = plain_count(j, &n, &w->err);
    join_close(j);
    for (size_t i = 0; i < g->n; i++)
        want += g->p[i].count;
    if (st == OK && n != want)
        err_set(&w->err, E_INTERNAL, "the engine counts %llu, not %llu",
                (unsigned long long)n, (unsigned long long)want);
    return st == OK && n == want;
}

/* One object: {"counts": [{"": 3}, ...]} or {"error": code, "message": ...} */
static json_t *answer(struct world *w, const char *query)
{
    struct sql_statement s;
    json_t *counts;
    if (sql_read(&w->arena, &w->schema, str_of(query), NULL, &s, &w->err) != OK)
        return json_pack("{s:s,s:s}", "error", status_code(w->err.status),
                         "message", w->err.message);
    counts = json_array();
    for (size_t i = 0; i < s.n_counts; i++) {
        struct naive_groups g;
        json_t *groups = json_object();
        if (naive_count(&w->arena, s.counts[i].q, w->tables, &g, &w->err) != OK)
            return json_pack("{s:s}", "error", "naive");
        if (!engine_agrees(w, s.counts[i].q, &g))
            return json_pack("{s:s,s:s,s:s}", "error", "join engine", "query",
                             cq_text(&w->arena, s.counts[i].q).p, "message",
                             w->err.message);
        for (size_t k = 0; k < g.n; k++) {
            struct str key = str_copy(&w->arena, g.p[k].key);
            json_object_set_new(groups, key.p,
                                json_integer((json_int_t)g.p[k].count));
        }
        json_array_append_new(counts, groups);
    }
    return json_pack("{s:o}", "counts", counts);
}

static int serve(char **argv)
{
    static char buf[1 << 20];
    struct world w;
    json_t *data = json_load_file(argv[2], 0, NULL);
    json_t *queries = json_load_file(argv[3], 0, NULL);
    FILE *f = fopen(argv[1], "rb");
    size_t n = f ? fread(buf, 1, sizeof buf, f) : 0;
    if (begin(&w, (struct str){buf, n}) != OK || !load(&w, data) ||
        fill_store(&w) != OK) {
        fprintf(stderr, "%s\n", w.err.message);
        return 1;
    }
    for (size_t i = 0; i < json_array_size(queries); i++) {
        json_t *a = answer(&w, json_string_value(json_array_get(queries, i)));
        char *text = json_dumps(a, JSON_COMPACT);
        puts(text);
        free(text);
        json_decref(a);
    }
    json_decref(data);
    json_decref(queries);
    store_free(w.store);
    arena_fini(&w.arena);
    return f ? fclose(f) : 1;
}

static const char ddl[] =
    "CREATE TABLE p (id int PRIMARY KEY, sex text, w int);"
    "CREATE TABLE v (p int, cost numeric);";
static const char rows[] =
    "{\"p\": [[\"1\",\"F\",\"50\"], [\"2\",\"M\",\"60\"], "
    "[\"3\",null,\"60\"], [\"4\",\"F\",null]],"
    "\"v\": [[\"1\",\"10\"], [\"1\",\"10\"], [\"2\",\"0.5\"], "
    "[null,\"7\"], [\"9\",\"1\"]]}";

static const struct {
    const char *query, *want;
} cases[] = {
    {"SELECT COUNT(*) FROM p", "[{\"\":4}]"},
    {"SELECT COUNT(*) FROM v", "[{\"\":5}]"},
    {"SELECT COUNT(sex), COUNT(DISTINCT sex) FROM p", "[{\"\":3},{\"\":2}]"},
    {"SELECT COUNT(DISTINCT (sex, w)) FROM p", "[{\"\":4}]"},
    {"SELECT COUNT(*) FROM (SELECT DISTINCT sex FROM p) d", "[{\"\":3}]"},
    {"SELECT COUNT(*) FROM (SELECT DISTINCT p, cost FROM v) d", "[{\"\":4}]"},
    {"SELECT COUNT(*) FROM p, v WHERE p.id = v.p", "[{\"\":3}]"},
    {"SELECT COUNT(*) FROM p WHERE id IN (SELECT p FROM v)", "[{\"\":2}]"},
    {"SELECT COUNT(*) FROM p WHERE NOT (w > 50)", "[{\"\":1}]"},
    {"SELECT COUNT(*) FROM p WHERE sex <> 'F' OR sex IS NULL", "[{\"\":2}]"},
    {"SELECT COUNT(*) FROM v WHERE cost = 0.5 OR cost = -1", "[{\"\":1}]"},
    {"SELECT COUNT(*) FROM p a, p b WHERE a.w = b.w", "[{\"\":5}]"},
    {"SELECT sex, COUNT(*) FROM p GROUP BY sex",
     "[{\"F\\t\":2,\"M\\t\":1,\"\\\\N\\t\":1}]"},
    {"SELECT COUNT(*) FROM p WHERE id = 7", "[{}]"},
};

static void by_hand(void **state)
{
    (void)state;
    struct world w;
    assert_int_equal(begin(&w, str_of(ddl)), OK);
    json_t *data = json_loads(rows, 0, NULL);
    assert_true(load(&w, data));
    assert_int_equal(fill_store(&w), OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *a = answer(&w, cases[i].query);
        json_t *want = json_loads(cases[i].want, 0, NULL);
        if (!json_equal(json_object_get(a, "counts"), want))
            fail_msg("%s: %s", cases[i].query, json_dumps(a, 0));
        json_decref(a);
        json_decref(want);
    }
    json_decref(data);
    store_free(w.store);
    arena_fini(&w.arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand)};
    if (argc == 4)
        return serve(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
