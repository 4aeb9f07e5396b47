/* Inside domains: see domain.c. */
#ifndef JOIN_DOMAIN_H
#define JOIN_DOMAIN_H

#include "join/join_int.h"

enum { DOM_BLOCK = 1024 };

/* --- domain_values.c
 * ------------------------------------------------------------ */
/* Fills in the values, rising. Tables that only encoding needs are in
 * j->coding. */
enum status dom_number(struct join *j, struct dom *d,
                       struct err *err) WARN_UNUSED;

/* --- domain_encode.c
 * ------------------------------------------------------------ */
/* Values of types that do not compare are different: by kind first. */
int dom_cmp_values(const struct value *a, const struct value *b);
/* The value at a place of the sources; at a place in rising order. */
struct value dom_ref_value(const struct dom *d, struct dom_ref r);

/* Reads a column as ids. NULL is null_id. */
struct coder {
    struct mem *mem;
    const struct dom *d;
    const struct store_column *col;
    uint32_t null_id;
    uint32_t *ids; /* by code of the column */
};
/* nonnull: NULL is NO_ID. */
enum status coder_open(struct coder *k, struct mem *m, const struct dom *d,
                       const struct store_column *c, bool nonnull,
                       struct err *err) WARN_UNUSED;
void coder_read(const struct coder *k, size_t from, size_t n, uint32_t *out);
void coder_close(struct coder *k);

#endif
