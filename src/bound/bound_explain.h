/* Explanation: a bound in words. */
#ifndef BOUND_BOUND_EXPLAIN_H
#define BOUND_BOUND_EXPLAIN_H

#include "bound/bound.h"
#include "bound/upper.h"

/* Fills out->explanation. */
enum status bound_explain(struct arena *a, const struct upper *up,
                          struct bound *out, struct err *err) WARN_UNUSED;

/* Name of a column, or its position from 1 when it has none. */
void bound_print_column(struct sb *b, const struct table *t, uint32_t col);

#endif
