/*
 * Scratch memory between requests: see join_int.h. Blocks are kept until the
 * engine is closed; a request takes the smallest free one that is not much
 * too large. What they hold is never read before it is written.
 */
#include "join/join_int.h"

enum { TOO_LARGE = 4 };

void *spare_take(struct join *j, size_t n)
{
    struct spare *best = NULL;
    for (size_t i = 0; i < j->spares.n; i++) {
        struct spare *s = &j->spares.p[i];
        if (!s->level && s->n >= n && s->n / TOO_LARGE <= n &&
            (!best || s->n < best->n))
            best = s;
    }
    if (!best) {
        struct spare fresh = {arena_alloc(&j->arena, n), n, 0};
        if (!fresh.p || !VEC_PUSH(&j->arena, &j->spares, fresh))
            return NULL;
        best = &j->spares.p[j->spares.n - 1];
    }
    best->level = j->spare_level;
    return best->p;
}

void spare_open(struct join *j)
{
    j->spare_level++;
}

void spare_close(struct join *j)
{
    for (size_t i = 0; i < j->spares.n; i++)
        if (j->spares.p[i].level == j->spare_level)
            j->spares.p[i].level = 0;
    j->spare_level--;
}
