/* Large blocks, straight from the system: see large.c. */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a block of n bytes is one; the size alone decides, so that nobody
 * has to remember. Never where a checker of memory wants to see malloc. */
bool large_is(size_t n);
/* Zeroed, or NULL. */
void *large_alloc(size_t n);
/* Between two large sizes; on failure NULL, and the block stays. */
void *large_resize(void *p, size_t old_n, size_t new_n);
void large_free(void *p, size_t n);

#endif
