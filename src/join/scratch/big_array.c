/*
 * Large arrays that stay as long as the engine does, each a block of its own,
 * so that one can be cut to what it holds, or given back, before the rest.
 */
#include "join/join_int.h"

static void *block_take(struct join *j, size_t n)
{
    struct block fresh = {NULL, n};
    if (!VEC_PUSH(&j->arena, &j->blocks, fresh))
        return NULL;
    struct block *b = &j->blocks.p[j->blocks.n - 1];
    b->p = mem_alloc(j->mem, n);
    if (!b->p)
        j->blocks.n--;
    return b->p;
}

void *block_array(struct join *j, size_t n, size_t size)
{
    return n > SIZE_MAX / size ? NULL : block_take(j, n * size);
}

static size_t find(const struct join *j, const void *p)
{
    size_t i = j->blocks.n;
    while (i && j->blocks.p[i - 1].p != p)
        i--;
    return i; /* one more than its place */
}

void *block_cut(struct join *j, void *p, size_t n)
{
    size_t at = find(j, p);
    struct block *b = at ? &j->blocks.p[at - 1] : NULL;
    if (!b || n >= b->n)
        return p;
    void *q = mem_resize(j->mem, p, b->n, n);
    if (!q)
        return p; /* as long as before will do */
    *b = (struct block){q, n};
    return q;
}

void block_drop(struct join *j, const void *p)
{
    size_t at = find(j, p);
    if (!p || !at)
        return;
    mem_free(j->mem, j->blocks.p[at - 1].p, j->blocks.p[at - 1].n);
    j->blocks.p[at - 1] = j->blocks.p[--j->blocks.n];
}

void blocks_free(struct join *j)
{
    for (size_t i = 0; i < j->blocks.n; i++) {
        mem_wipe(j->blocks.p[i].p, j->blocks.p[i].n);
        mem_free(j->mem, j->blocks.p[i].p, j->blocks.p[i].n);
    }
    j->blocks.n = 0;
}
