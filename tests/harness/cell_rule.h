/*
 * The cell rule against a list written by hand: what each of some texts means
 * as each type. Random tables of such cells are loaded, as text row by row,
 * from a file and from a SQLite database, and compared with the rows that the
 * list says exist.
 */
#ifndef HARNESS_CELL_RULE_H
#define HARNESS_CELL_RULE_H

#include <stdint.h>

/* What was found wrong in so many random tables. */
struct cell_rule_tally {
    unsigned tables;    /* compared */
    unsigned dropped;   /* rows that do not exist, in all of them */
    unsigned converted; /* cells */
    unsigned wrong;     /* tables that were not as the list says */
    unsigned far;       /* pairs of neighbours that came out further apart */
};

void cell_rule_run(uint64_t seed, unsigned rounds, struct cell_rule_tally *out);

#endif
