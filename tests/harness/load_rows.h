/* Rows of a test as rows of a store: see store.h and builder.h. */
#ifndef HARNESS_LOAD_ROWS_H
#define HARNESS_LOAD_ROWS_H

#include "store/store.h"

/* vals: one per wanted column, in column order, as text; p NULL is NULL. */
enum status store_load_text(struct store_loader *l, const struct str *vals,
                            struct err *err) WARN_UNUSED;
/* The same with typed values. */
enum status store_load_values(struct store_loader *l, const struct value *vals,
                              struct err *err) WARN_UNUSED;

#endif
