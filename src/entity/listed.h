/*
 * Contributions that a database lists, grouped by owners (pushdown_owned.h), in
 * place of the rows: a struct contrib_lister for contrib.h. Owners get numbers
 * as their names come.
 *
 * OWNER: everything here is secret, but for what listed_plan says.
 */
#ifndef ENTITY_LISTED_H
#define ENTITY_LISTED_H

#include "entity/contrib.h"
#include "source/source.h"

struct listed;
/* E_UNSUPPORTED where the database cannot; public. All stay the caller's. */
enum status listed_open(struct mem *m, struct source *src, const struct cq *q,
                        const struct completion *c, const struct progress *p,
                        struct listed **out, struct err *err) WARN_UNUSED;
void listed_close(struct listed *x); /* NULL allowed */
struct contrib_lister listed_lister(struct listed *x);
/* Has the database plan whatever may be asked of it: E_UNSUPPORTED where its
 * planner refuses. `keys`: of GROUP BY, too. Reads no row. */
enum status listed_plan(struct listed *x, bool keys,
                        struct err *err) WARN_UNUSED;

#endif
