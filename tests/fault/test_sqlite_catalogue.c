/*
 * The catalogue of a SQLite database when one request for memory fails, or
 * SQLite stops after a step of its machine, for every request and step: it is
 * read as it is, or not at all. Half of a key, taken for the whole, would be
 * a key that the rows do not keep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sqlite3.h>
#include <cmocka.h>

#include "harness/scratch.h"
#include "harness/sqlite_memory.h"
#include "source/source_int.h"

static const char tables[] =
    "CREATE TABLE a(x integer NOT NULL, y text NOT NULL, z date,"
    " PRIMARY KEY(x, y));"
    "CREATE TABLE b(u integer NOT NULL, v text NOT NULL, w integer NOT NULL,"
    " UNIQUE(u, v, w), FOREIGN KEY(u, v) REFERENCES a(x, y));"
    "CREATE VIEW c AS SELECT x FROM a;"
    "CREATE VIRTUAL TABLE d USING fts5(text);";

static char dir[SCRATCH_PATH], path[80];
static long steps = -1; /* until SQLite stops; below zero: it does not */

static int stop_once(void *ctx)
{
    (void)ctx;
    return steps >= 0 && !steps--;
}

static int opened(sqlite3 *db, const char **message, const void *api)
{
    (void)message;
    (void)api;
    sqlite3_progress_handler(db, 1, stop_once, NULL);
    return SQLITE_OK;
}

static void stop_after(long n)
{
    steps = n;
}

static bool stopped(void)
{
    bool was = steps < 0;
    steps = -1;
    return was;
}

/* All that is believed of the database. */
static void describe(const struct source *src, struct sb *b)
{
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        sb_printf(b, "%.*s %s:", PSTR(t->name), t->refused ? t->refused : "");
        for (uint32_t c = 0; c < t->n_cols; c++)
            sb_printf(b, " %.*s %d%s", PSTR(t->cols[c].name), t->cols[c].type,
                      t->cols[c].not_null ? "!" : "");
        for (size_t k = 0; k < t->keys.n; k++) {
            sb_cstr(b, "; key");
            for (uint32_t c = 0; c < t->keys.p[k].n_cols; c++)
                sb_printf(b, " %u", t->keys.p[k].cols[c]);
        }
        for (size_t k = 0; k < t->fks.n; k++) {
            const struct src_fk *f = &t->fks.p[k];
            sb_printf(b, "; to %.*s", PSTR(f->ref_table));
            for (uint32_t c = 0; c < f->n_cols; c++)
                sb_printf(b, " %u %.*s", f->cols[c], PSTR(f->ref_cols[c]));
        }
        sb_char(b, '\n');
    }
}

static enum status open_source(struct sb *out, struct err *err)
{
    struct mem m;
    struct arena a;
    struct schema schema;
    struct source *src = NULL;
    struct source_spec spec = {.db = str_of(path)};
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&schema, &a);
    enum status s = source_open(&m, &spec, &schema, &src, err);
    if (s == OK)
        describe(src, out);
    source_close(src);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
    return s;
}

static void sweep(void (*fail_at)(long n), bool (*failed)(void))
{
    struct mem m;
    struct arena a;
    struct sb want;
    struct err err;
    long n = 0;
    bool more = true;
    mem_init(&m, 0);
    arena_init(&a, &m);
    sb_init(&want, &a);
    assert_int_equal(open_source(&want, &err), OK);
    for (; more; n++) {
        struct sb got;
        sb_init(&got, &a);
        fail_at(n);
        enum status s = open_source(&got, &err);
        more = failed();
        if (s == OK && !str_eq(sb_view(&got), sb_view(&want)))
            fail_msg("at %ld:\n%.*s\nnot\n%.*s", n, PSTR(sb_view(&got)),
                     PSTR(sb_view(&want)));
    }
    print_message("%ld failures\n", n - 1);
    assert_true(n > 100);
    arena_fini(&a);
}

static void without_memory(void **state)
{
    (void)state;
    sweep(sqlite_memory_fail, sqlite_memory_failed);
}

static void stopped_at_a_step(void **state)
{
    (void)state;
    sweep(stop_after, stopped);
}

static int setup(void **state)
{
    sqlite3 *db;
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/d", dir);
    int rc = sqlite3_open(path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, tables, NULL, NULL, NULL);
    sqlite3_close(db);
    sqlite3_auto_extension((void (*)(void))opened);
    return rc == SQLITE_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    sqlite_memory_watch();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory),
        cmocka_unit_test(stopped_at_a_step),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
