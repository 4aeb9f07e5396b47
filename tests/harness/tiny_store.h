/* Random tiny instances (tiny.h), and the same in a store for the engine. */
#ifndef HARNESS_TINY_STORE_H
#define HARNESS_TINY_STORE_H

#include "harness/rules.h"
#include "harness/tiny.h"

/* Rows of two columns by chance; each row up to `copies` times. */
void tiny_random(struct tiny *t, const struct cq *q, int domain, int copies,
                 uint64_t *seed);
/* n_rows rows of two or more columns, `stride` numbers apart. */
void store_rows(struct rules *r, struct store *st, size_t table,
                const int *rows, size_t n_rows, size_t stride);
struct store *store_empty(struct rules *r);
struct store *tiny_store(struct rules *r, const struct tiny *t);

#endif
