/*
 * A rule with its tables and an open join engine: what tests of the engine
 * start from. Columns can be lent, so that large tables are made once.
 */
#ifndef HARNESS_JOIN_WORLD_H
#define HARNESS_JOIN_WORLD_H

#include <stdatomic.h>

#include "join/join.h"

struct world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct cq *q;
    struct store *st;
    struct join *j;
    struct err err;
    atomic_long polls; /* until a request is cancelled; below zero: never */
    uint64_t lent;     /* tables whose columns are the test's */
};

/* The rule is read and the tables are there, empty; nothing is open. */
void world_read(struct world *w, const char *rule);
/* Whole numbers of 64 bits, or of 32 where `narrow` is given. */
void world_lend(struct world *w, size_t table, size_t n_rows,
                const int64_t *const *wide, const int32_t *const *narrow);
/* large: loops for large tables are taken whatever the size. */
void world_join(struct world *w, unsigned threads, bool large);
/* Everything is given back, or the test fails. */
void world_close(struct world *w);

#endif
