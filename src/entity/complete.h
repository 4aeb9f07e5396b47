/*
 * Completion of a query: whose results its results are.
 *
 * Every atom of a private table has an owner on each ownership path of the
 * table. Owners that are the same in every result are one owner variable; k is
 * their number. Public: from query and schema alone.
 *
 * PRIVACY: two owners are taken to be the same for two reasons only. (1) Both
 * are owners, on one path, of one row: the atoms agree in a NOT NULL key, by
 * the query's own equalities. (2) Both are found by the same key in the same
 * table, on the same rest of a path: the key's cells are the same variables or
 * constants of the query, and each is demanded not to be NULL by the query's
 * own conditions or declared NOT NULL. Cells that a dependency makes equal
 * merge nothing, since they may be NULL, and NULLs have an owner each. Merging
 * less is always safe: it only raises k.
 */
#ifndef ENTITY_COMPLETE_H
#define ENTITY_COMPLETE_H

#include "cq/cq.h"

enum { MAX_OWNERS = 16 };

struct owner_rep { /* an owner of a row: of this atom, on this path */
    uint32_t atom, path;
};

struct owner_var {
    struct owner_rep *reps; /* all that are the same; the shortest path first */
    size_t n;
    uint32_t entity; /* the table at the end of the path */
};

struct completion {
    struct owner_var vars[MAX_OWNERS];
    unsigned k;
    /* The counted variables determine every owner variable: an answer has one
     * set of owners, whichever rows it comes from. */
    bool determined;
    /* With GROUP BY: the owner variable (k = 1) determines the key. */
    bool key_determined;
    /* Entities within entities were left out of k: one of them has a part of
     * what its owner has. */
    bool nested;
};

/* E_TOO_LARGE beyond MAX_OWNERS, E_POLICY for a table that belongs to nobody.
 * Nested owners (schema.h) are left out. */
enum status complete_query(struct arena *a, const struct cq *q,
                           struct completion *out, struct err *err) WARN_UNUSED;

#endif
