/*
 * Counts and residual counts of the engine against a database that runs the
 * same tables with SQL of its own, on random queries and tables.
 */
#ifndef HARNESS_RESIDUAL_CHECK_H
#define HARNESS_RESIDUAL_CHECK_H

#include <stdint.h>

/* A database that checks: both calls fail the test on an error. */
struct residual_peer {
    void *db;
    const char *rowid;  /* its name for the identity of a row */
    const char *create; /* "CREATE TABLE", or for this connection only */
    void (*run)(void *db, const char *sql);
    int64_t (*ask)(void *db, const char *sql);
};

/* Random queries until `rounds`; fails the test at the first difference. */
void residual_check(const struct residual_peer *peer, uint64_t seed,
                    int rounds);

#endif
