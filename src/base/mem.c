/* Memory: see mem.h. */
#include "base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/large.h"

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size; /* of the whole block */
    size_t used; /* header included */
    size_t pad;
};

void mem_init(struct mem *m, size_t limit)
{
    atomic_init(&m->used, 0);
    atomic_init(&m->peak, 0);
    m->limit = limit;
    atomic_init(&m->over_limit, false);
    atomic_init(&m->fail_after, -1);
    m->no_sharing = false;
}

/* Reserves n bytes of the budget; false when they are not to be had. */
static bool reserve(struct mem *m, size_t n)
{
    long left = atomic_load(&m->fail_after);
    if (left >= 0 && atomic_fetch_sub(&m->fail_after, 1) <= 0) {
        atomic_store(&m->fail_after, 0);
        return false;
    }
    if (n > PTRDIFF_MAX) /* no object can be that large */
        return false;
    size_t now = atomic_fetch_add(&m->used, n) + n;
    if (now < n || (m->limit && now > m->limit)) {
        atomic_fetch_sub(&m->used, n);
        atomic_store(&m->over_limit, true);
        return false;
    }
    size_t peak = atomic_load(&m->peak);
    while (now > peak && !atomic_compare_exchange_weak(&m->peak, &peak, now))
        ;
    return true;
}

void *mem_alloc(struct mem *m, size_t n)
{
    if (!reserve(m, n))
        return NULL;
    void *p = large_is(n) ? large_alloc(n) : calloc(1, n ? n : 1);
    if (!p)
        atomic_fetch_sub(&m->used, n);
    return p;
}

/* The size decides how a block is given back, so it must be the one that was
 * asked for: a build with AddressSanitizer, which knows it, stops if not. */
static void check_size(void *p, size_t n)
{
#ifdef __SANITIZE_ADDRESS__
    if (malloc_usable_size(p) != (n ? n : 1))
        __builtin_trap();
#else
    (void)p;
    (void)n;
#endif
}

static void release(void *p, size_t n)
{
    check_size(p, n);
    if (large_is(n))
        large_free(p, n);
    else
        free(p);
}

/* From one kind of block to the other. */
static void *move(void *p, size_t old_n, size_t new_n)
{
    void *q = large_is(new_n) ? large_alloc(new_n) : malloc(new_n);
    if (!q)
        return NULL;
    if (p)
        memcpy(q, p, old_n < new_n ? old_n : new_n);
    if (p)
        release(p, old_n);
    return q;
}

static void *resize(void *p, size_t old_n, size_t new_n)
{
    if (p)
        check_size(p, old_n);
    if (large_is(old_n) != large_is(new_n))
        return move(p, old_n, new_n);
    if (large_is(new_n))
        return large_resize(p, old_n, new_n);
    return realloc(p, new_n ? new_n : 1);
}

void *mem_resize(struct mem *m, void *p, size_t old_n, size_t new_n)
{
    if (new_n > old_n) {
        if (!reserve(m, new_n - old_n))
            return NULL;
    }
    void *q = resize(p, old_n, new_n);
    if (!q) {
        if (new_n > old_n)
            atomic_fetch_sub(&m->used, new_n - old_n);
        return NULL;
    }
    if (new_n < old_n)
        atomic_fetch_sub(&m->used, old_n - new_n);
    return q;
}

void mem_free(struct mem *m, void *p, size_t n)
{
    if (!p)
        return;
    atomic_fetch_sub(&m->used, n);
    release(p, n);
}

void mem_wipe(void *p, size_t n)
{
    if (p && n)
        explicit_bzero(p, n);
}

void arena_init(struct arena *a, struct mem *m)
{
    a->mem = m;
    a->head = NULL;
    a->wipe = false;
}

void arena_fini(struct arena *a)
{
    struct arena_block *b = a->head;
    while (b) {
        struct arena_block *next = b->next;
        size_t size = b->size;
        if (a->wipe)
            mem_wipe(b, size);
        mem_free(a->mem, b, size);
        b = next;
    }
    a->head = NULL;
}

/* Blocks double up to BLOCK_MAX; a large request gets a block of its own. */
static struct arena_block *add_block(struct arena *a, size_t n)
{
    size_t size = a->head ? a->head->size * 2 : BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (n > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    if (a->mem->no_sharing || size < n + sizeof(struct arena_block))
        size = n + sizeof(struct arena_block);
    struct arena_block *b = mem_alloc(a->mem, size);
    if (!b)
        return NULL;
    b->size = size;
    b->used = sizeof *b;
    b->next = a->head;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->head;
    if (n > SIZE_MAX - ALIGN)
        return NULL;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!b || b->size - b->used < n || a->mem->no_sharing) {
        b = add_block(a, n);
        if (!b)
            return NULL;
    }
    void *p = (char *)b + b->used;
    b->used += n;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t s)
{
    if (s && n > SIZE_MAX / s)
        return NULL;
    return arena_alloc(a, n * s);
}

char *arena_strdup(struct arena *a, const char *p, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *q = arena_alloc(a, n + 1);
    if (q && n)
        memcpy(q, p, n);
    return q;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->head, a->head ? a->head->used : 0};
}

size_t arena_since(const struct arena *a, struct arena_mark mark)
{
    size_t n = 0;
    for (const struct arena_block *b = a->head; b != mark.head; b = b->next)
        n += b->size;
    return n + (mark.head ? mark.head->used - mark.used : 0);
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    struct arena_block *b = a->head;
    while (b != mark.head) {
        struct arena_block *next = b->next;
        size_t size = b->size; /* wiping takes it away */
        if (a->wipe)
            mem_wipe(b, size);
        mem_free(a->mem, b, size);
        b = next;
    }
    a->head = b;
    if (!b)
        return;
    /* what is allocated next is zero again */
    memset((char *)b + mark.used, 0, b->used - mark.used);
    b->used = mark.used;
}
