/*
 * Contributions: the results of a query by their owners, as the packing
 * problem (pack.h) takes them.
 *
 * With one owner a tuple is an entity and what it has. With several, owners
 * that have little are not told apart while the join runs: first what each
 * owner has at most (one grouped count for each owner variable; a result is
 * counted once for each of its owner variables that is the entity, which is
 * harmless, PROOF.md claim 2), then one grouped count in which owners with at
 * most `floor` are one. So the number of tuples depends on the heavy owners,
 * not on the results.
 *
 * OWNER: everything here is secret.
 */
#ifndef ENTITY_CONTRIB_H
#define ENTITY_CONTRIB_H

#include "entity/pack.h"
#include "entity/view.h"
#include "join/join.h"

struct contrib;

struct contrib_options {
    struct join_options join;
    /* Entities to be told apart, about; 0: fewer, the more owners a result
     * has, since tuples are of all of them. */
    uint32_t heavy;
};

/* Opens the rows of a query. `c` is its completion; all stay the caller's. */
enum status contrib_open(struct mem *m, const struct cq *q,
                         const struct completion *c, const struct store *st,
                         const struct contrib_options *opt,
                         struct contrib **out, struct err *err) WARN_UNUSED;
void contrib_close(struct contrib *x); /* NULL allowed */

/* What there is to pack, for thresholds from `floor` on, which the first call
 * chooses. It lives until the next call of contrib_lower or the close. */
const struct pack_input *contrib_input(const struct contrib *x);
/* Halves the floor at least once; false in *done: it is 0 already. */
enum status contrib_lower(struct contrib *x, bool *done,
                          struct err *err) WARN_UNUSED;
/* Entities with a result; known with several owners only. */
uint64_t contrib_entities(const struct contrib *x);

#endif
