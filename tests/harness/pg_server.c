/* A PostgreSQL server for one test program: see pg_server.h. */
#include "harness/pg_server.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char folder[200];
static char conninfo[300];
static bool tried;

static const char *source_folder(void)
{
    const char *source = getenv("DPC_SOURCE");
    return source ? source : ".";
}

static void stop(void)
{
    char cmd[512];
    snprintf(cmd, sizeof cmd, "bash '%s/tests/harness/pg.sh' stop '%s'",
             source_folder(), folder);
    if (system(cmd) != 0)
        fprintf(stderr, "could not stop the server in %s\n", folder);
}

const char *pg_server(void)
{
    char cmd[512];
    if (tried)
        return *conninfo ? conninfo : NULL;
    tried = true;
    snprintf(cmd, sizeof cmd, "bash '%s/tests/harness/pg.sh' start",
             source_folder());
    FILE *p = popen(cmd, "r");
    bool read = p && fgets(folder, sizeof folder, p);
    int rc = p ? pclose(p) : -1;
    if (!read || rc != 0) {
        if (getenv("CI") && *getenv("CI"))
            exit(1);
        return NULL;
    }
    folder[strcspn(folder, "\n")] = 0;
    atexit(stop);
    snprintf(conninfo, sizeof conninfo,
             "host=%s user=postgres dbname=postgres "
             "options='-c client_min_messages=warning -c lock_timeout=5s'",
             folder);
    return conninfo;
}

_Bool pg_server_run(const char *sql)
{
    PGconn *c = PQconnectdb(pg_server());
    PGresult *r = PQexec(c, sql);
    ExecStatusType s = PQresultStatus(r);
    bool ok = s == PGRES_COMMAND_OK || s == PGRES_TUPLES_OK;
    if (!ok)
        fprintf(stderr, "%s\n", PQerrorMessage(c));
    PQclear(r);
    PQfinish(c);
    return ok;
}
