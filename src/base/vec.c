/* Vectors: see vec.h. */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool vec_grow(struct arena *a, void **p, size_t n, size_t *cap, size_t s)
{
    if (n < *cap)
        return true;
    size_t want = *cap ? *cap : 8;
    if (*cap) {
        if (*cap > SIZE_MAX / 2)
            return false;
        want = *cap * 2;
    }
    void *q = arena_array(a, want, s);
    if (!q)
        return false;
    if (n)
        memcpy(q, *p, n * s);
    *p = q;
    *cap = want;
    return true;
}
