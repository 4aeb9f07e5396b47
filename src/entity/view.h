/*
 * A view of a store with owners: every table that has ownership paths has a
 * column more for each, of owners' ids, and the query reads those that it
 * needs. Rows and columns stay the store's.
 */
#ifndef ENTITY_VIEW_H
#define ENTITY_VIEW_H

#include "entity/complete.h"
#include "entity/own.h"

struct owner_view {
    struct schema schema; /* with the columns, NOT NULL integers */
    struct store store;
};

enum status view_make(struct arena *a, const struct store *st,
                      const struct owners *o, struct owner_view *out,
                      struct err *err) WARN_UNUSED;
/* The schema alone: owners' columns have that type. */
enum status view_schema(struct arena *a, const struct schema *s, enum type type,
                        struct schema *out, struct err *err) WARN_UNUSED;
/* Replaces the ids of the column that owner variable v reads. */
void view_set_ids(struct owner_view *w, const struct cq *q,
                  const struct owner_var *v, const uint32_t *ids);
/* The ids it reads now. */
const uint32_t *view_ids(const struct owner_view *w, const struct cq *q,
                         const struct owner_var *v, size_t *n);

/*
 * The query with owner variables `vars` (a set of indexes into c->vars) as keys
 * of GROUP BY, in rising order, before what it counts, of which the first
 * `more` are keys too: 0, q->n_group, or q->n_outs for witnesses. E_TOO_LARGE
 * if there are too many variables.
 */
enum status view_query(struct arena *a, const struct cq *q,
                       const struct completion *c, const struct owner_view *w,
                       uint32_t vars, uint32_t more, struct cq **out,
                       struct err *err) WARN_UNUSED;
/* Would view_query fail? Public. */
enum status view_fits(const struct cq *q, const struct completion *c,
                      struct err *err) WARN_UNUSED;

#endif
