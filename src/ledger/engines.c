/*
 * Which engine counts the questions on a version of the data, where nobody
 * named one: decided once, for all of them alike.
 *
 * PRIVACY: where the rows of a table are not bounded, how many the catalogue
 * believes in decides. Whoever could see which engine it is, by the time that
 * answers take, would see one bit of each version: it is booked.
 */
#include "ledger/db.h"

/* Made when it is first needed. */
static enum status make_table(struct ledger *l, struct err *err)
{
    return db_exec(l->db,
                   "CREATE TABLE IF NOT EXISTS engine("
                   " dataset TEXT NOT NULL, source TEXT NOT NULL,"
                   " version TEXT NOT NULL, memory TEXT NOT NULL,"
                   " sql INTEGER NOT NULL CHECK(sql IN (0, 1)),"
                   " at TEXT NOT NULL,"
                   " PRIMARY KEY(dataset, source, version, memory))"
                   " WITHOUT ROWID",
                   "could not write the ledger", err);
}

static enum status has_table(struct ledger *l, bool *out, struct err *err)
{
    int64_t n = 0;
    TRY(db_number(l,
                  "SELECT count(*) FROM sqlite_master"
                  " WHERE type = 'table' AND name = 'engine'",
                  0, 0, &n, err));
    *out = n > 0;
    return OK;
}

static void bind(sqlite3_stmt *st, const struct ledger_engine *e)
{
    db_bind(st, 1, e->dataset);
    db_bind(st, 2, e->source);
    db_bind(st, 3, e->version);
    db_bind(st, 4, e->memory);
}

enum status ledger_engine_get(struct ledger *l, const struct ledger_engine *e,
                              bool *found, bool *sql, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool there = false;
    *found = false;
    TRY(has_table(l, &there, err));
    if (!there)
        return OK;
    TRY(db_prepare(l,
                   "SELECT sql FROM engine WHERE dataset = ? AND source = ?"
                   " AND version = ? AND memory = ?",
                   &st, err));
    bind(st, e);
    TRY(db_step(l, st, found, err));
    *sql = *found && sqlite3_column_int(st, 0) != 0;
    db_done(l, st);
    return OK;
}

static enum status insert(struct ledger *l, const struct ledger_engine *e,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO engine(dataset, source, version, memory, sql,"
                   " at) VALUES(?, ?, ?, ?, ?, " NOW ")",
                   &st, err));
    bind(st, e);
    sqlite3_bind_int(st, 5, e->sql);
    return db_run(l, st, "could not write the ledger", err);
}

static enum status put(struct ledger *l, struct arena *a,
                       const struct ledger_engine *e, bool *sql,
                       struct err *err)
{
    bool found = false;
    TRY(make_table(l, err));
    TRY(ledger_engine_get(l, e, &found, sql, err));
    if (found)
        return OK; /* somebody else was first */
    *sql = e->sql;
    TRY(insert(l, e, err));
    return e->believed ? dataset_book_bit(l, a, e->dataset, err) : OK;
}

enum status ledger_engine_put(struct ledger *l, const struct ledger_engine *e,
                              bool *sql, struct err *err)
{
    struct arena a;
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = db_end(l, put(l, &a, e, sql, err), err);
    arena_fini(&a);
    return s;
}
