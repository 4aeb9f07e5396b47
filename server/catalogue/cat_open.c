/*
 * Opening a catalogue for one connection. Four walls stand around SQLite: the
 * printer writes every statement; an authorizer lets it read tables of ours
 * and call functions of a list; SQLite's limits; and a handler that stops a
 * query after CATALOGUE_STEPS. The bytes are read-only; what is the session's
 * own (its role, its settings) stands in temporary tables before them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

static bool is_ours(const char *function)
{
    static const char *const names[] = {"lower",
                                        "upper",
                                        "length",
                                        "replace",
                                        "trim",
                                        "ltrim",
                                        "rtrim",
                                        "instr",
                                        "abs",
                                        "nullif",
                                        "coalesce",
                                        "quote",
                                        "count",
                                        "min",
                                        "max",
                                        "sum",
                                        "row_number",
                                        "rank",
                                        "dense_rank",
                                        "substr",
                                        "json_array",
                                        "json_extract",
                                        "json_group_array",
                                        "json_array_length",
                                        "json_object"};
    if (!strncmp(function, "f_", 2))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], function))
            return true;
    return false;
}

static bool is_table(const char *name)
{
    return name &&
           (!strncmp(name, "pg_catalog.", 11) || !strncmp(name, "x.", 2) ||
            !strncmp(name, "information_schema.", 19) ||
            !strncmp(name, "dpcount.", 8) || !strcmp(name, "json_each"));
}

/* SQLite names a subquery's columns, too, with names of the printer. */
static bool is_made(const char *name)
{
    return name && (*name == 0 || ((*name == 't' || *name == 'w') &&
                                   name[1] >= '0' && name[1] <= '9'));
}

static int authorize(void *data, int what, const char *a, const char *b,
                     const char *db, const char *trigger)
{
    const struct catalogue *c = data;
    (void)db, (void)trigger;
    if (c->building)
        return SQLITE_OK;
    switch (what) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return is_table(a) || is_made(a) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return b && is_ours(b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int progress(void *data)
{
    return !cat_spend(data, 1000);
}

static void set_limits(struct catalogue *c)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, 4 << 20},
                                    {SQLITE_LIMIT_SQL_LENGTH, 16 << 20},
                                    {SQLITE_LIMIT_COLUMN, 2000},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 1000},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 500},
                                    {SQLITE_LIMIT_VDBE_OP, 1000000},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(c->db, limits[i][0], limits[i][1]);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_hard_heap_limit64(256 << 20);
}

/* What is the session's own: temporary tables hide those of the bytes. */
static bool add_session(struct catalogue *c)
{
    static const char roles[] =
        "SELECT 1 FROM json_each('[]');" /* known before the authorizer is */
        "CREATE TEMP TABLE \"pg_catalog.pg_roles\" AS SELECT * FROM"
        " main.\"pg_catalog.pg_roles\";"
        "CREATE TEMP TABLE \"pg_catalog.pg_settings\" AS SELECT * FROM"
        " main.\"pg_catalog.pg_settings\";"
        "CREATE TEMP TABLE \"pg_catalog.pg_user\" AS SELECT * FROM"
        " main.\"pg_catalog.pg_user\";";
    char *sql = sqlite3_mprintf(
        "INSERT INTO \"pg_catalog.pg_roles\"(rolname,rolsuper,rolinherit,"
        "rolcreaterole,rolcreatedb,rolcanlogin,rolreplication,rolconnlimit,"
        "rolbypassrls,oid,rolpassword) VALUES('dpcount',1,1,0,0,0,0,-1,0,10,"
        "'********'),(%Q,0,1,0,0,1,0,-1,0,16383,'********');"
        "INSERT INTO \"pg_catalog.pg_user\"(usename,usesysid,usecreatedb,"
        "usesuper,userepl,usebypassrls,passwd) VALUES(%Q,16383,0,0,0,0,"
        "'********');"
        "UPDATE \"pg_catalog.pg_settings\" SET setting=%Q WHERE"
        " name='session_authorization'",
        c->user, c->user, c->user);
    bool done = sql && !sqlite3_exec(c->db, roles, NULL, NULL, NULL) &&
                !sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return done;
}

bool catalogue_open(const void *bytes, size_t n, const char *user,
                    struct catalogue **out, struct catalogue_error *err)
{
    struct catalogue *c = calloc(1, sizeof *c);
    bool done = false;
    *out = NULL;
    if (c) {
        c->building = true;
        snprintf(c->user, sizeof c->user, "%s", user);
        done = sqlite3_open(":memory:", &c->db) == SQLITE_OK &&
               sqlite3_exec(c->db, "PRAGMA temp_store=2", NULL, NULL, NULL) ==
                   SQLITE_OK &&
               sqlite3_deserialize(c->db, "main",
                                   (unsigned char *)(uintptr_t)bytes,
                                   (sqlite3_int64)n, (sqlite3_int64)n,
                                   SQLITE_DESERIALIZE_READONLY) == SQLITE_OK &&
               cat_functions_add(c) && add_session(c);
    }
    if (done) {
        set_limits(c);
        sqlite3_set_authorizer(c->db, authorize, c);
        sqlite3_progress_handler(c->db, 1000, progress, c);
        c->building = false;
        *out = c;
        return true;
    }
    cat_error(err, "XX000", -1, "could not open the catalogue");
    catalogue_close(c);
    return false;
}

void catalogue_close(struct catalogue *c)
{
    if (c)
        sqlite3_close(c->db);
    free(c);
}

bool catalogue_setting(struct catalogue *c, const char *name, const char *value,
                       char *out, size_t n)
{
    sqlite3_stmt *q = NULL;
    bool found = false, was = c->building;
    c->building = true;
    if (value) {
        char *sql = sqlite3_mprintf(
            "UPDATE \"pg_catalog.pg_settings\" SET setting=%Q WHERE"
            " lower(name)=lower(%Q)",
            value, name);
        if (sql)
            sqlite3_exec(c->db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    if (sqlite3_prepare_v2(c->db,
                           "SELECT setting FROM"
                           " \"pg_catalog.pg_settings\" WHERE"
                           " lower(name)=lower(?1)",
                           -1, &q, NULL) == SQLITE_OK &&
        sqlite3_bind_text(q, 1, name, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW) {
        const char *s = (const char *)sqlite3_column_text(q, 0);
        if (out && n)
            snprintf(out, n, "%s", s ? s : "");
        found = true;
    }
    sqlite3_finalize(q);
    c->building = was;
    return found;
}
