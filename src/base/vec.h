/*
 * Vectors: a pointer, a length and a capacity, grown in an arena.
 *
 *     struct { int *p; size_t n, cap; } v = {0};
 *     if (!VEC_PUSH(arena, &v, 42)) return err_nomem(err);
 *
 * Growing copies and leaves the old block to the arena (at most as much again
 * is wasted). A failed push leaves the vector as it was.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/mem.h"

/* Makes room for one more element of size s; used by VEC_PUSH. */
bool vec_grow(struct arena *a, void **p, size_t n, size_t *cap, size_t s);

#define VEC(T)                                                                 \
    struct {                                                                   \
        T *p;                                                                  \
        size_t n, cap;                                                         \
    }
#define VEC_PUSH(arena, v, x)                                                  \
    (vec_grow((arena), (void **)&(v)->p, (v)->n, &(v)->cap, sizeof *(v)->p)    \
         ? ((v)->p[(v)->n++] = (x), true)                                      \
         : false)

#endif
