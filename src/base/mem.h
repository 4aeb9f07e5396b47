/*
 * Memory: one budget, arenas on top of it, and plain blocks for large data.
 *
 * This is the only module that calls malloc. A struct mem counts what is in
 * use, refuses what exceeds the limit (--memory), and lets tests make the
 * n-th allocation fail. Arenas free all at once: session > request > scratch.
 * Running out is an ordinary NULL, never an abort. struct mem may be shared
 * by threads; an arena belongs to one thread.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mem {
    atomic_size_t used;
    atomic_size_t peak;
    size_t limit;           /* 0: none */
    atomic_bool over_limit; /* the limit, not the machine, said no */
    atomic_long fail_after; /* tests: allocations until failure; -1: never */
    bool no_sharing; /* tests: each request to an arena is an allocation */
};

void mem_init(struct mem *m, size_t limit);
/* Zeroed block of n bytes, or NULL. Free it with the same n. */
void *mem_alloc(struct mem *m, size_t n);
/* Like realloc with a known old size; new bytes are not cleared. On failure
 * NULL is returned and the old block stays. */
void *mem_resize(struct mem *m, void *p, size_t old_n, size_t new_n);
void mem_free(struct mem *m, void *p, size_t n);
/* memset to zero that the compiler keeps; for counts, scales, random bits. */
void mem_wipe(void *p, size_t n);

struct arena_block;
struct arena {
    struct mem *mem;
    struct arena_block *head;
    bool wipe; /* clear blocks before they are freed */
};

void arena_init(struct arena *a, struct mem *m);
void arena_fini(struct arena *a);
/* Zeroed, aligned to 16; NULL when memory is out. n = 0 gives a pointer. */
void *arena_alloc(struct arena *a, size_t n);
/* n elements of size s, overflow-checked. */
void *arena_array(struct arena *a, size_t n, size_t s);
char *arena_strdup(struct arena *a, const char *p, size_t n);

/* A point in an arena's life: what was allocated after it can be given back.
 * Marks are released in the reverse order of their making. */
struct arena_mark {
    struct arena_block *head;
    size_t used;
};

struct arena_mark arena_mark(const struct arena *a);
/* Bytes that were taken from the memory since then. */
size_t arena_since(const struct arena *a, struct arena_mark mark);
void arena_release(struct arena *a, struct arena_mark mark);

#define NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define NEWS(arena, T, n) ((T *)arena_array((arena), (n), sizeof(T)))

#endif
