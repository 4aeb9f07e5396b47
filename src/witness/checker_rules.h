/* What both checkers know: constraints, and comparisons of two values. */
#ifndef WITNESS_CHECKER_RULES_H
#define WITNESS_CHECKER_RULES_H

#include "witness/checker.h"

struct checker_data {
    const struct schema *schema;
    const struct checker_row *rows;
    size_t n_rows, without; /* row that is not there; n_rows: none */
    const bool *is_bag;     /* by table: rows may be equal */
};

bool checker_constraints_hold(struct arena *a, const struct checker_data *d,
                              bool *nomem);
/* checker_admits.c: what the declared schema asks besides. */
bool checker_references_hold(struct arena *a, const struct checker_data *d,
                             bool *nomem);
enum status checker_rows_fit(struct arena *a, const struct admissible *adm,
                             const struct checker_data *d, bool *fit,
                             struct err *err) WARN_UNUSED;
/* As SQL has them: never with a NULL. */
bool checker_equal(const struct value *a, const struct value *b);
bool checker_compare(enum cmp_op op, const struct value *a,
                     const struct value *b);

#endif
