/*
 * PostgreSQL: connection, transaction, statements, errors. See pg.h.
 *
 * PRIVACY: passwords. libpq takes them from the password file, the
 * environment or the connection string; none of its messages is shown before
 * the password in use was cut out of it, and a connection string that libpq
 * cannot read is not repeated, because it may hold one anywhere.
 */
#include "source/postgres/pg.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source/postgres/pg_lib.h"
#include "sqlgen/sqlgen.h"

/* Message without line ends, passwords blanked. */
static void clean(const struct pg *pg, const char *text, char *out, size_t cap)
{
    size_t n = 0;
    for (const char *p = text; *p && n + 4 < cap;) {
        if (pg && pg->password.n &&
            strncmp(p, pg->password.p, pg->password.n) == 0) {
            memcpy(out + n, "***", 3);
            n += 3;
            p += pg->password.n;
            continue;
        }
        out[n++] = *p == '\n' ? ' ' : *p;
        p++;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = 0;
}

/* What the database has no way to do: a matter of the statement alone. */
static enum status not_supported(const struct pg *pg, const PGresult *res,
                                 struct err *err)
{
    const char *msg = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
    char text[400];
    clean(pg, msg ? msg : "", text, sizeof text);
    err_set(err, E_UNSUPPORTED, "the database cannot plan this query: %s",
            text);
    clean(pg, detail ? detail : "", text, sizeof text);
    if (*text)
        err_detail(err, "%s", text);
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

enum status pg_failed(struct source *src, const char *what, const PGresult *res,
                      struct err *err)
{
    struct pg *pg = src->pg;
    char text[400];
    const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
    const char *msg =
        res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (state && strcmp(state, "0A000") == 0)
        return not_supported(pg, res, err);
    clean(pg, msg ? msg : PQerrorMessage(pg->conn), text, sizeof text);
    if (state && strcmp(state, "57014") == 0) {
        err_set(err, E_CANCELLED, "stopped: %s", text);
        return E_CANCELLED;
    }
    bool ended =
        state && (!strncmp(state, "57P", 3) || !strncmp(state, "08", 2));
    if ((PQstatus(pg->conn) == CONNECTION_BAD || ended) && src->tables.n)
        err_set(err, E_SOURCE, "lost the connection to PostgreSQL: %s", text);
    else
        err_set(err, E_SOURCE, "could not %s PostgreSQL: %s", what, text);
    if (pg->where.n)
        err_detail(err, "Database %.*s.", PSTR(pg->where));
    return E_SOURCE;
}

void pg_close(struct source *src)
{
    PQfinish(src->pg->conn);
    if (src->pg->password.n)
        mem_wipe((void *)(uintptr_t)src->pg->password.p, src->pg->password.n);
    src->pg = NULL;
}

static void ignore_notice(void *arg, const PGresult *res)
{
    (void)arg;
    (void)res;
}

enum status pg_wait(struct source *src, struct ticker *t, uint64_t done,
                    struct err *err)
{
    struct pollfd fd = {.fd = PQsocket(src->pg->conn), .events = POLLIN};
    if (fd.fd < 0)
        return pg_failed(src, "read from", NULL, err);
    if (poll(&fd, 1, 100) < 0 && errno != EINTR)
        return err_set(err, E_SOURCE, "could not wait for PostgreSQL: %s",
                       strerror(errno));
    enum status s = t ? ticker_tick(t, done, err) : OK;
    if (s != OK) {
        char text[256];
        PGcancel *c = PQgetCancel(src->pg->conn);
        if (c)
            PQcancel(c, text, sizeof text);
        PQfreeCancel(c);
        return s;
    }
    if (!PQconsumeInput(src->pg->conn))
        return pg_failed(src, "read from", NULL, err);
    return OK;
}

/* Other encodings order and measure texts differently. */
static bool pg_is_utf8(const struct source *src)
{
    const char *e = PQparameterStatus(src->pg->conn, "server_encoding");
    return e && strcmp(e, "UTF8") == 0;
}

static bool column_of(const void *ctx, uint32_t table, uint32_t col,
                      struct sqlgen_col *out)
{
    const struct src_column *c = source_find_column(ctx, table, col);
    if (c)
        *out = (struct sqlgen_col){.name = c->name,
                                   .type = c->type,
                                   .has_zone = c->type_oid == OID_TIMESTAMPTZ,
                                   .is_oid = c->type_oid == OID_OID};
    return c;
}

void pg_sqlgen(const struct source *src, const struct cq *q, struct sqlgen *out)
{
    *out = (struct sqlgen){.q = q,
                           .is_utf8 = pg_is_utf8(src),
                           .version = PQserverVersion(src->pg->conn),
                           .column = column_of,
                           .ctx = src};
}

bool pg_is_plain_encoding(const struct source *src)
{
    const char *e = PQparameterStatus(src->pg->conn, "server_encoding");
    return e && (!strcmp(e, "UTF8") || !strcmp(e, "SQL_ASCII") ||
                 !strncmp(e, "LATIN", 5));
}

static bool succeeded(const PGresult *res)
{
    ExecStatusType s = PQresultStatus(res);
    return s == PGRES_TUPLES_OK || s == PGRES_COMMAND_OK || s == PGRES_COPY_OUT;
}

/* The next query can be sent when this one has no results left. */
static void read_out(PGconn *conn)
{
    for (PGresult *rest; (rest = PQgetResult(conn));)
        PQclear(rest);
}

enum status pg_query(struct source *src, const char *sql, struct ticker *t,
                     PGresult **out, struct err *err)
{
    PGconn *conn = src->pg->conn;
    *out = NULL;
    if (!PQsendQuery(conn, sql))
        return pg_failed(src, "query", NULL, err);
    while (PQisBusy(conn))
        TRY(pg_wait(src, t, 0, err));
    PGresult *res = PQgetResult(conn);
    if (!res)
        return pg_failed(src, "query", NULL, err);
    if (!succeeded(res)) {
        enum status s = pg_failed(src, "query", res, err);
        PQclear(res);
        read_out(conn);
        return s;
    }
    if (PQresultStatus(res) != PGRES_COPY_OUT)
        read_out(conn);
    *out = res;
    return OK;
}

static enum status run(struct source *src, const char *sql, struct err *err)
{
    PGresult *res;
    TRY(pg_query(src, sql, NULL, &res, err));
    PQclear(res);
    return OK;
}

static enum status remember(struct source *src, struct err *err)
{
    struct pg *pg = src->pg;
    const char *host = PQhost(pg->conn), *port = PQport(pg->conn);
    const char *db = PQdb(pg->conn), *pass = PQpass(pg->conn);
    char raw[300], where[300];
    pg->password = str_copy(&src->arena, str_of(pass ? pass : ""));
    raw[0] = 0; /* nothing is known if a service is not */
    if (db && *db)
        snprintf(raw, sizeof raw, "\"%s\" on %s port %s", db,
                 host && *host ? host : "the local socket", port ? port : "");
    clean(pg, raw, where, sizeof where);
    pg->where = str_copy(&src->arena, str_of(where));
    return pg->where.p && pg->password.p ? OK : err_nomem(err);
}

/* Reads the string only to find out whether libpq can. */
static enum status check_conninfo(const char *conninfo, struct err *err)
{
    char *why = NULL;
    PQconninfoOption *o = PQconninfoParse(conninfo, &why);
    PQfreemem(why);
    PQconninfoFree(o);
    if (o)
        return OK;
    err_set(err, E_SOURCE, "cannot read the PostgreSQL connection string");
    err_hint(err, "Write postgresql://user@host:port/database, or "
                  "'host=... dbname=...'. Keep passwords in the password "
                  "file.");
    return E_SOURCE;
}

/* All statements of `sql`; they are undone where one fails, and with `keep`
 * false in any case. *ok: none did. */
static enum status attempt(struct source *src, const char *sql, bool keep,
                           bool *ok, struct err *err)
{
    PGconn *conn = src->pg->conn;
    TRY(run(src, "SAVEPOINT dpcount", err));
    if (!PQsendQuery(conn, sql))
        return pg_failed(src, "query", NULL, err);
    while (PQisBusy(conn))
        TRY(pg_wait(src, NULL, 0, err));
    *ok = true;
    for (PGresult *res; (res = PQgetResult(conn));) {
        *ok = *ok && succeeded(res);
        PQclear(res);
    }
    if (!*ok || !keep)
        TRY(run(src, "ROLLBACK TO SAVEPOINT dpcount", err));
    return run(src, "RELEASE SAVEPOINT dpcount", err);
}

/* PRIVACY: what is set inside a savepoint Citus takes back on the other servers
 * when the savepoint ends, and keeps here. So it is tried there, and set
 * outside of it. */
static enum status set_local(struct source *src, const char *sql, bool *ok,
                             struct err *err)
{
    bool reaches = src->pg->is_citus;
    TRY(attempt(src, sql, !reaches, ok, err));
    return reaches && *ok ? run(src, sql, err) : OK;
}

enum status pg_set(struct source *src, const char *name, const char *value,
                   struct err *err)
{
    char sql[160];
    bool ok;
    snprintf(sql, sizeof sql, "SET LOCAL %s = '%s'", name, value);
    return set_local(src, sql, &ok, err);
}

enum status pg_attempt_number(struct source *src, const char *sql, double *out,
                              struct err *err)
{
    PGresult *res;
    TRY(run(src, "SAVEPOINT dpcount", err));
    if (pg_query(src, sql, NULL, &res, err) != OK)
        return run(src, "ROLLBACK TO SAVEPOINT dpcount", err);
    if (PQntuples(res) && !PQgetisnull(res, 0, 0))
        *out = strtod(PQgetvalue(res, 0, 0), NULL);
    PQclear(res);
    return run(src, "RELEASE SAVEPOINT dpcount", err);
}

/* Settings of a session reach the other servers of a Citus cluster only if it
 * is told so first. */
static enum status find_citus(struct source *src, struct err *err)
{
    PGresult *res;
    TRY(pg_query(src,
                 "SELECT 1 FROM pg_catalog.pg_extension "
                 "WHERE extname = 'citus'",
                 NULL, &res, err));
    src->pg->is_citus = PQntuples(res) > 0;
    PQclear(res);
    return src->pg->is_citus
               ? pg_set(src, "citus.propagate_set_commands", "local", err)
               : OK;
}

/* In one statement, or one by one where the server lacks some. */
static const char pinned_at_once[] =
    "SET LOCAL transform_null_equals = 'off'; "
    "SET LOCAL extra_float_digits = '3'; SET LOCAL DateStyle = 'ISO'; "
    "SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; "
    "SET LOCAL bytea_output = 'hex'";
static const struct {
    const char *name, *value;
} pinned[] = {{"transform_null_equals", "off"},
              {"extra_float_digits", "3"},
              {"DateStyle", "ISO"},
              {"IntervalStyle", "postgres"},
              {"TimeZone", "UTC"},
              {"bytea_output", "hex"}};

/*
 * PRIVACY: our SQL must mean what it says whatever the settings of the role and
 * the database are, and whoever may create functions there. Only the system's
 * own functions and operators are found from here on; "= NULL" is unknown;
 * values of types that are read as text have one text, and different ones
 * different texts. All that for this transaction.
 */
static enum status pin_meaning(struct source *src, struct err *err)
{
    PGresult *res;
    TRY(pg_query(src, "SELECT pg_catalog.current_schemas(false)", NULL, &res,
                 err));
    src->pg->path =
        str_copy(&src->arena,
                 str_of(PQntuples(res) == 1 ? PQgetvalue(res, 0, 0) : "{}"));
    PQclear(res);
    if (!src->pg->path.p)
        return err_nomem(err);
    TRY(find_citus(src, err));
    TRY(run(src, "SET LOCAL search_path = pg_catalog, pg_temp", err));
    bool all = false;
    if (!src->pg->is_citus)
        TRY(set_local(src, pinned_at_once, &all, err));
    for (size_t i = 0; !all && i < sizeof pinned / sizeof pinned[0]; i++)
        TRY(pg_set(src, pinned[i].name, pinned[i].value, err));
    return OK;
}

enum status pg_open(struct source *src, const char *conninfo, struct err *err)
{
    const char *keys[] = {"dbname", "fallback_application_name",
                          "client_encoding", NULL};
    const char *values[] = {conninfo, "dpcount", "UTF8", NULL};
    TRY(pg_lib_open(err));
    TRY(check_conninfo(conninfo, err));
    struct pg *pg = NEW(&src->arena, struct pg);
    if (!pg)
        return err_nomem(err);
    pg->conn = PQconnectdbParams(keys, values, 1);
    if (!pg->conn)
        return err_nomem(err);
    src->pg = pg;
    TRY(remember(src, err));
    if (PQstatus(pg->conn) != CONNECTION_OK) {
        enum status s = pg_failed(src, "connect to", NULL, err);
        err_hint(err, "psql takes the same connection string: try it there. A "
                      "password is best kept in a password file.");
        return s;
    }
    PQsetNoticeReceiver(pg->conn, ignore_notice, NULL);
    TRY(run(src, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err));
    if (src->lock.n)
        TRY(run(src, src->lock.p, err));
    TRY(pin_meaning(src, err));
    return pg_catalogue(src, err);
}

struct str pg_where(const struct source *src)
{
    return src->pg->where;
}

/* --- plans and limits -------------------------------------------------------
 */

/* PRIVACY: texts of a planner's refusals are shown for classes of errors that
 * are about the statement; others might quote a value. */
static enum status plan_refused(struct source *src, const PGresult *res,
                                struct err *err)
{
    const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
    if (!state || (strcmp(state, "0A000") != 0 && strncmp(state, "42", 2) != 0))
        return err_set(err, E_SOURCE,
                       "PostgreSQL could not plan a statement of this query");
    return not_supported(src->pg, res, err);
}

static enum status explain(struct source *src, const char *sql, struct err *err)
{
    PGconn *conn = src->pg->conn;
    if (!PQsendQuery(conn, sql))
        return pg_failed(src, "query", NULL, err);
    while (PQisBusy(conn))
        TRY(pg_wait(src, NULL, 0, err));
    PGresult *res = PQgetResult(conn);
    if (!res)
        return pg_failed(src, "query", NULL, err);
    enum status s = succeeded(res) ? OK : plan_refused(src, res, err);
    PQclear(res);
    read_out(conn);
    return s;
}

enum status pg_explain(struct source *src, struct str sql, struct err *err)
{
    struct arena a;
    struct sb b;
    struct err why;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    sb_printf(&b, "EXPLAIN %.*s", PSTR(sql));
    enum status s =
        b.failed ? err_nomem(err) : run(src, "SAVEPOINT dpcount", err);
    if (s == OK && (s = explain(src, b.p, err)) != OK) {
        if (run(src, "ROLLBACK TO SAVEPOINT dpcount", &why) != OK)
            *err = why;
    } else if (s == OK) {
        s = run(src, "RELEASE SAVEPOINT dpcount", err);
    }
    arena_fini(&a);
    return s;
}

enum status source_limit(struct source *src, uint64_t milliseconds,
                         uint64_t bytes, struct err *err)
{
    char text[32];
    if (!src->pg)
        return OK;
    snprintf(text, sizeof text, "%" PRIu64,
             milliseconds < INT32_MAX ? milliseconds : INT32_MAX);
    if (milliseconds) {
        TRY(pg_set(src, "statement_timeout", text, err));
        TRY(pg_set(src, "lock_timeout", text, err));
    }
    snprintf(text, sizeof text, "%" PRIu64,
             bytes / 1024 < INT32_MAX ? bytes / 1024 + 1 : INT32_MAX);
    return bytes ? pg_set(src, "temp_file_limit", text, err) : OK;
}

bool source_is_distributed(const struct source *src)
{
    return src && src->pg && src->pg->is_citus;
}
