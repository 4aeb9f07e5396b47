/*
 * Owners of rows: for each table and each of its ownership paths a hidden
 * column that says, for every row, which entity it belongs to.
 *
 * An entity is the row of an entity's table that a path reaches; where a key
 * cell on the way is NULL, the row that holds the NULL; where the row that is
 * referred to is missing, that missing row (its table and key, which is one
 * entity for all who refer to it). So every row has an owner on every path, no
 * referential integrity is assumed, and no error depends on rows. Ids are given
 * out once for the whole database: one customer is one id in all columns.
 *
 * PRIVACY: owners are those of the source's rows. The store must hold the
 * tables on all paths whole, without filter; rows and cells that the cell rule
 * (store/builder.h) changed still lead to owners, by what the source has.
 * Keys are equal as in a join (7 = 7.0); ill-typed cells as bytes.
 *
 * Cost: a hash lookup for each row and edge.
 */
#ifndef ENTITY_OWN_H
#define ENTITY_OWN_H

#include "cq/cq.h"
#include "store/store.h"

struct owners;

/* Owners of the rows of all tables that have paths and are loaded, and of what
 * they lead to. Needs the columns that `leads` (schema.h). */
enum status owners_find(struct mem *m, const struct store *st,
                        struct owners **out, struct err *err) WARN_UNUSED;
void owners_free(struct owners *o); /* NULL allowed */
/* Ids are below this. */
uint32_t owners_count(const struct owners *o);
/* One id for each row of the loaded table. */
const uint32_t *owners_column(const struct owners *o, uint32_t table,
                              uint32_t path);

/* The largest number of values of Y for one X of a declared constraint, rows
 * that do not exist for counting included; U128_INF where that cannot be told.
 * 0 where no such row matters: the table has none, or no owner is found by
 * way of it. */
enum status owners_degree(struct mem *m, const struct store *st, uint32_t table,
                          const struct degree *d, u128 *most,
                          struct err *err) WARN_UNUSED;

/* Adds what owners_find needs for the tables of q's atoms to `load`, a query
 * that says which columns to load (one atom a table): `at(ctx, table)` gives
 * the atom of a table, made on demand; NULL when memory is out. */
enum status owners_want(const struct schema *s, const struct cq *q,
                        struct atom *(*at)(void *ctx, uint32_t table),
                        void *ctx, struct arena *a,
                        struct err *err) WARN_UNUSED;

#endif
