/*
 * Random queries with negation, OR and set operations over every instance of a
 * small universe. The answers are SQLite's, the sensitivities by definition;
 * residual counts come from nested loops: nothing is shared with the engine.
 */
#ifndef HARNESS_TREE_WORLD_H
#define HARNESS_TREE_WORLD_H

#include "bound/bound.h"
#include "sens/sens.h"
#include "sql/sql.h"

enum { WORLD_TABLES = 3, WORLD_SLOTS = 8, WORLD_ROWS = 4, WORLD_LEVELS = 3 };
enum { WORLD_NULL = -1 };

struct world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct str sql;
    struct sql_statement st;
    struct bound bound;
    int rows[WORLD_TABLES][WORLD_ROWS][2]; /* that a table may have */
    unsigned n_rows[WORLD_TABLES];
    unsigned n_slots; /* rows of the private tables 0 and 1 */
    bool valid[1 << WORLD_SLOTS];
    int64_t count[1 << WORLD_SLOTS];
    uint64_t seq[2][WORLD_LEVELS + 1][1 << WORLD_SLOTS]; /* max, sum */
};

/* What a test breaks on purpose. */
enum world_mutation {
    WORLD_SOUND,
    WORLD_NO_LOSS,
    WORLD_NO_POSITIVE_CHILDREN,
    WORLD_NO_GRANDCHILDREN,
    WORLD_FIRST_BRANCH_ONLY,
    WORLD_CHILDREN_WITHOUT_OWN,
    WORLD_EXCHANGE_AS_MAX,
    WORLD_RANGES_ONLY_GAIN,
    WORLD_SIGNS_FLIPPED,
    WORLD_OWN_ATOM_DROPPED,
    WORLD_NO_ANCESTORS,
    WORLD_NO_ROOT_PART,
    WORLD_LARGEST_BRANCH,
    WORLD_LARGEST_PART,
    WORLD_PAIRS_DROPPED,
    WORLD_FRAGILE_TOO_EARLY,
    N_WORLD_MUTATIONS
};

/* False: the query was refused, or is too large. */
const char *world_mutation_name(enum world_mutation m);
bool world_make(struct world *w, uint64_t seed);
void world_free(struct world *w);
/* Does the mutation change anything of this query? */
bool world_is_broken_by(struct world *w, enum world_mutation m);
/* Is some part of the query fragile? Over the tables r, s, p without keys. */
bool world_has_fragile(const char *sql);
/* Breaches of U, S and of the static bound, for both kinds of neighbours. */
unsigned world_breaches(struct world *w, enum world_mutation m);

#endif
