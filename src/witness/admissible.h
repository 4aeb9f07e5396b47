/*
 * What a schema asks of a database besides its dependencies: CHECKs, prepared
 * by whoever reads SQL. Foreign keys, lists and lengths stand in the schema.
 * No upper bound rests on any of them; a witness must none the less be a
 * database that the schema admits, or it would show what cannot be.
 */
#ifndef WITNESS_ADMISSIBLE_H
#define WITNESS_ADMISSIBLE_H

#include "cq/cq.h"
#include "tree/tree.h"

/* A row of the table breaks the CHECK if it is an answer. */
struct row_check {
    uint32_t table;
    const struct cq *breaks;
    const struct ctree *tree; /* NULL: the former is the query */
};

struct admissible {
    const struct row_check *checks;
    size_t n_checks;
    /* by table: has a CHECK that could not be read, so that no row of it is
     * known to be admitted */
    const bool *is_unread;
};

#endif
