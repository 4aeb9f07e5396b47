/*
 * Random sums over every instance of a small universe: joins, negation, outer
 * joins, unions, DISTINCT; values that may be NULL, clipped to ranges of one
 * sign or of both. The sums are SQLite's, the sensitivities by definition;
 * residuals come from nested loops: nothing is shared with the engine.
 */
#ifndef HARNESS_SUM_WORLD_H
#define HARNESS_SUM_WORLD_H

#include "bound/bound.h"
#include "sens/sens.h"
#include "sql/sql.h"

enum { SUM_TABLES = 3, SUM_SLOTS = 8, SUM_ROWS = 4, SUM_LEVELS = 3 };
enum { SUM_NULL = -1 };

struct sum_world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct str sql;
    struct str oracle; /* the same for SQLite, with values clipped there */
    int lo, hi;        /* the clip of all columns */
    struct sql_statement st;
    struct bound bound;
    int rows[SUM_TABLES][SUM_ROWS][2]; /* that a table may have */
    unsigned n_rows[SUM_TABLES];
    unsigned n_slots; /* rows of the private tables 0 and 1 */
    bool valid[1 << SUM_SLOTS];
    int64_t count[1 << SUM_SLOTS];
    uint64_t plus[1 << SUM_SLOTS], minus[1 << SUM_SLOTS]; /* its two sides */
    uint64_t most; /* what S is clamped at; 0: nothing is */
    uint64_t seq[2][SUM_LEVELS + 1][1 << SUM_SLOTS]; /* max, sum */
};

/* What a test breaks on purpose. */
enum sum_mutation {
    SUM_SOUND,
    SUM_NO_LOSS,
    SUM_FIRST_BRANCH_ONLY,
    SUM_EXCHANGE_AS_MAX,
    SUM_WITHOUT_UNIT, /* as if nothing weighed more than 1 */
    SUM_NO_NEGATIVE,
    SUM_AS_COUNT, /* T_F as a number of answers */
    N_SUM_MUTATIONS
};

/* False: the query was refused, or is too large. */
bool sum_world_make(struct sum_world *w, uint64_t seed);
/* A row that adds 4, and one that takes 4 away. */
bool sum_world_opposite(struct sum_world *w);
void sum_world_free(struct sum_world *w);
/* From here on both sides, the total and S are clamped as a release does it;
 * `halved`: with room for both signs, as it must be. */
void sum_world_clamp(struct sum_world *w, uint64_t most, bool halved);
/* Breaches of U, S and of the static bound, for both kinds of neighbours. */
unsigned sum_world_breaches(struct sum_world *w, enum sum_mutation m);

#endif
