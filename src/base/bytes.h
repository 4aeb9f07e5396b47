/*
 * Lists of numbers and texts as bytes, for another process of the same
 * program on the same machine. Reading never goes beyond the end: it says so
 * once, at the end, as the builder of strings does.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/str.h"

void bytes_put_u64(struct sb *b, uint64_t v);
void bytes_put_str(struct sb *b, struct str s); /* p NULL stays so */

struct bytes {
    struct arena *arena; /* what is taken is copied there */
    struct str left;
    bool failed; /* too few, or no memory */
};

uint64_t bytes_u64(struct bytes *b);
/* A number of things of at least `each` bytes that still have to come. */
size_t bytes_count(struct bytes *b, size_t each);
struct str bytes_str(struct bytes *b);

#endif
