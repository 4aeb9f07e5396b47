/*
 * Queries over tables with owners (schema/owners.h): the schema of q has,
 * behind the columns of each table, a text for each of its ownership paths,
 * T_TEXT and NOT NULL, that names the entity which the row belongs to. The
 * database finds it: nothing of the tables on the way is loaded.
 *
 * The names are those of entity/own.h: equal for rows that a path leads to one
 * row, or to one missing row; of its own for the holder of a NULL.
 */
#ifndef PUSHDOWN_PUSHDOWN_OWNED_H
#define PUSHDOWN_PUSHDOWN_OWNED_H

#include "pushdown/pushdown.h"

/* Owners that are told apart; the names of all others are empty. */
struct pushdown_apart {
    const struct str *names;
    size_t n;
};

/* As pushdown_open; `apart` NULL: all are told apart. Both schemas have the
 * same tables: that of the source and that of q. E_UNSUPPORTED where the
 * database's rows do not tell owners as those of the source do. */
enum status pushdown_open_owned(struct source *src, const struct cq *q,
                                const struct pushdown_apart *apart,
                                const struct progress *p, struct pushdown **out,
                                struct err *err) WARN_UNUSED;

/* All groups of q, each once: one text for each of q's first n_group outputs
 * (p NULL: it is NULL, or a constant) and the count. */
typedef enum status (*pushdown_group_fn)(void *ctx, const struct str *key,
                                         u128 count, struct err *err);
enum status pushdown_list(struct pushdown *c, pushdown_group_fn fn, void *ctx,
                          struct err *err) WARN_UNUSED;

#endif
