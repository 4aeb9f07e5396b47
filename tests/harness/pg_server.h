/*
 * A PostgreSQL server for one test program: started by pg.sh, stopped at
 * exit. Where there is none, pg_server gives NULL after a message, and the
 * test skips itself; when CI is set the program fails instead.
 */
#ifndef HARNESS_PG_SERVER_H
#define HARNESS_PG_SERVER_H

/* "host=FOLDER user=postgres dbname=postgres", or NULL. */
const char *pg_server(void);
/* Runs SQL in the server; false after a message when it fails. */
_Bool pg_server_run(const char *sql);

#endif
