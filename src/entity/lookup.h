/*
 * From key cells to rows: an index of a table's rows by the columns of a key,
 * and ids for keys that no row has. Keys are equal as in a join.
 */
#ifndef ENTITY_LOOKUP_H
#define ENTITY_LOOKUP_H

#include "base/map.h"
#include "store/store.h"

/* A row that no key leads to; a cell of the key is NULL. */
#define LOOKUP_MISSING UINT32_MAX
#define LOOKUP_NULL (UINT32_MAX - 1)

struct lookup;

/* Index of all rows of `t`, those that do not exist for counting too (they
 * follow the others). The first of equal keys is found. */
enum status lookup_new(struct mem *m, const struct store_table *t,
                       const uint32_t *key, size_t n, struct lookup **out,
                       struct err *err) WARN_UNUSED;
void lookup_free(struct lookup *l); /* NULL allowed */

/* For every row of `from` (and then those that do not exist): the row that its
 * cells `via` lead to, or LOOKUP_NULL, or LOOKUP_MISSING + an id. rows[i] is
 * set for found ones and LOOKUP_NULL; else it is LOOKUP_MISSING and ids[i] is
 * the number of the missing key, from 0, the same for equal keys in every
 * call. */
enum status lookup_rows(struct lookup *l, const struct store_table *from,
                        const uint32_t *via, uint32_t *rows, uint32_t *ids,
                        struct err *err) WARN_UNUSED;
uint32_t lookup_missing(const struct lookup *l); /* keys without a row so far */

/* The source's cell: of a row that exists, or of one that does not. */
struct value lookup_cell(const struct store_table *t, uint32_t col, size_t row);
/* Appends the one form that all equal values have: a letter for the kind, the
 * length, the bytes. False: out of memory. */
bool lookup_put_value(struct sb *b, struct arena *a, const struct value *v);

/* Rows of a table, those that do not exist for counting included. */
size_t lookup_n_rows(const struct store_table *t);

#endif
