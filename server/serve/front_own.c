/*
 * dpcount.budget, dpcount.history and dpcount.tables: what belongs to the
 * analyst, as relations. A statement over them is run by SQLite in memory,
 * where there is nothing else, reading only.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/front_int.h"

enum { STEPS = 20 * 1000 * 1000, STEP = 10000, ROWS_MOST = 100000 };

static const char schema[] =
    "ATTACH ':memory:' AS dpcount;"
    "CREATE TABLE dpcount.budget(dataset TEXT, analyst TEXT, epsilon NUMERIC,"
    " spent NUMERIC, remaining NUMERIC, delta NUMERIC, delta_spent NUMERIC,"
    " delta_remaining NUMERIC, locked BOOLEAN, least_price NUMERIC,"
    " version TEXT);"
    "CREATE TABLE dpcount.history(receipt TEXT, asked_at TIMESTAMP, sql TEXT,"
    " mechanism TEXT, epsilon NUMERIC, delta NUMERIC, version TEXT,"
    " state TEXT, answer TEXT);"
    "CREATE TABLE dpcount.tables(name TEXT, privacy TEXT, columns BIGINT,"
    " comment TEXT);";

/* --- filling
 * ----------------------------------------------------------------------
 */

static void bind(sqlite3_stmt *st, int i, json_t *v)
{
    char *text;
    if (json_is_string(v)) {
        sqlite3_bind_text(st, i, json_string_value(v), -1, SQLITE_TRANSIENT);
    } else if (json_is_integer(v)) {
        sqlite3_bind_int64(st, i, json_integer_value(v));
    } else if (json_is_real(v)) {
        sqlite3_bind_double(st, i, json_real_value(v));
    } else if (json_is_boolean(v)) {
        sqlite3_bind_text(st, i, json_is_true(v) ? "t" : "f", 1, NULL);
    } else if (json_is_object(v) || json_is_array(v)) {
        text = json_dumps(v, JSON_COMPACT);
        sqlite3_bind_text(st, i, text, -1, SQLITE_TRANSIENT);
        free(text);
    }
}

static void insert(sqlite3 *db, const char *sql, json_t *o,
                   const char *const *keys, int n)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
        return;
    for (int i = 0; i < n; i++)
        bind(st, i + 1, json_object_get(o, keys[i]));
    sqlite3_step(st);
    sqlite3_finalize(st);
}

static bool fill_budget(struct front *f, sqlite3 *db, struct problem *bad)
{
    static const char *const keys[] = {
        "dataset",   "analyst",     "epsilon",     "spent",
        "remaining", "delta",       "delta_spent", "delta_remaining",
        "locked",    "least_price", "version"};
    json_t *o = talk_ledger(f, IPC_BUDGET, bad);
    if (!o)
        return false;
    json_object_set_new(o, "dataset", json_string(f->database));
    insert(db, "INSERT INTO dpcount.budget VALUES(?,?,?,?,?,?,?,?,?,?,?)", o,
           keys, 11);
    json_decref(o);
    return true;
}

static bool fill_history(struct front *f, sqlite3 *db, struct problem *bad)
{
    static const char *const keys[] = {"receipt",   "held_at", "sql",
                                       "mechanism", "epsilon", "delta",
                                       "version",   "state",   "answered"};
    size_t i;
    json_t *e, *o = talk_ledger(f, IPC_HISTORY, bad);
    if (!o)
        return false;
    json_array_foreach(json_object_get(o, "history"), i, e)
        insert(db, "INSERT INTO dpcount.history VALUES(?,?,?,?,?,?,?,?,?)", e,
               keys, 9);
    json_decref(o);
    return true;
}

static void fill_tables(struct front *f, sqlite3 *db)
{
    static const char *const keys[] = {"name", "privacy", "columns", "comment"};
    dpc_table t;
    for (size_t i = 0; f->snapshot && dpc_table_at(f->snapshot, i, &t); i++) {
        json_t *o = json_pack("{s:s, s:s, s:I, s:s}", "name", t.name, "privacy",
                              t.is_private ? "private" : "public", "columns",
                              (json_int_t)t.n_columns, "comment",
                              t.comment ? t.comment : "");
        insert(db, "INSERT INTO dpcount.tables VALUES(?,?,?,?)", o, keys, 4);
        json_decref(o);
    }
}

/* --- running
 * ----------------------------------------------------------------------
 */

static int only_reads(void *ctx, int what, const char *a, const char *b,
                      const char *c, const char *d)
{
    (void)ctx;
    (void)b;
    (void)c;
    (void)d;
    if (what == SQLITE_READ && a && !strncmp(a, "sqlite_", 7))
        return SQLITE_DENY;
    if (what == SQLITE_SELECT || what == SQLITE_READ ||
        what == SQLITE_FUNCTION || what == SQLITE_RECURSIVE)
        return SQLITE_OK;
    return SQLITE_DENY;
}

static int too_long(void *ctx)
{
    return ++*(int *)ctx > STEPS / STEP;
}

static uint32_t oid_of(const char *type)
{
    if (!type)
        return OID_TEXT;
    return !strcmp(type, "NUMERIC")     ? OID_NUMERIC
           : !strcmp(type, "BIGINT")    ? OID_INT8
           : !strcmp(type, "BOOLEAN")   ? OID_BOOL
           : !strcmp(type, "TIMESTAMP") ? OID_TIMESTAMP
                                        : OID_TEXT;
}

static void take_fields(sqlite3_stmt *st, struct front_pool *pool,
                        struct front_rows *out)
{
    out->select = true;
    snprintf(out->tag, sizeof out->tag, "SELECT");
    out->n_fields = (size_t)sqlite3_column_count(st);
    out->fields = front_alloc(pool, (out->n_fields + 1) * sizeof *out->fields);
    for (size_t i = 0; i < out->n_fields; i++) {
        const char *name = sqlite3_column_name(st, (int)i);
        uint32_t oid = oid_of(sqlite3_column_decltype(st, (int)i));
        out->fields[i] = (struct front_field){
            front_copy(pool, name, strlen(name)), oid, oid_len(oid), -1};
    }
}

static bool take_cells(sqlite3_stmt *st, struct front_pool *pool,
                       struct front_rows *out, struct problem *bad)
{
    size_t cap = 0;
    int got;
    while ((got = sqlite3_step(st)) == SQLITE_ROW) {
        if (out->n_rows == ROWS_MOST)
            return problem_set(bad, "54000", "too many rows");
        if (out->n_rows == cap) {
            const char **more = front_alloc(
                pool, (2 * cap + 16) * (out->n_fields + 1) * sizeof *more);
            if (cap)
                memcpy(more, out->cells,
                       out->n_rows * out->n_fields * sizeof *more);
            out->cells = more;
            cap = 2 * cap + 16;
        }
        for (size_t i = 0; i < out->n_fields; i++) {
            const char *s = (const char *)sqlite3_column_text(st, (int)i);
            out->cells[out->n_rows * out->n_fields + i] =
                s ? front_copy(pool, s, strlen(s)) : NULL;
        }
        out->n_rows++;
    }
    return got == SQLITE_DONE ||
           problem_set(bad, "57014", "the statement took too long");
}

static bool run(sqlite3 *db, const char *sql, bool describe,
                struct front_pool *pool, struct front_rows *out,
                struct problem *bad)
{
    sqlite3_stmt *st = NULL;
    int steps = 0;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);
    sqlite3_set_authorizer(db, only_reads, NULL);
    sqlite3_progress_handler(db, STEP, too_long, &steps);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) || !st)
        return problem_set(bad, "0A000", "not understood here: %.200s",
                           sqlite3_errmsg(db));
    if (sqlite3_bind_parameter_count(st)) {
        sqlite3_finalize(st);
        return problem_set(bad, "0A000", "these relations take no parameters");
    }
    take_fields(st, pool, out);
    bool ok = describe || take_cells(st, pool, out, bad);
    sqlite3_finalize(st);
    return ok;
}

bool own_run(struct front *f, const char *sql, bool describe,
             struct front_pool *pool, struct front_rows *out,
             struct problem *bad)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open(":memory:", &db) == SQLITE_OK &&
              sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        problem_set(bad, "53200", "out of memory");
    if (ok && !describe && strstr(sql, "budget"))
        ok = fill_budget(f, db, bad);
    if (ok && !describe && strstr(sql, "history"))
        ok = fill_history(f, db, bad);
    if (ok && !describe)
        fill_tables(f, db);
    ok = ok && run(db, sql, describe, pool, out, bad);
    sqlite3_close(db);
    return ok;
}
