/*
 * Large blocks, straight from the system, at addresses that large pages want.
 *
 * Tables of millions of rows are read in random order, and a missing
 * translation then costs more than the missing data; so does each first touch
 * of a small page while a table is filled. Large pages answer both, but only
 * where a block begins at a multiple of their size: there, too, a block that
 * grows takes its pages along, entry by entry of two megabytes, where an
 * allocator's realloc breaks them into small ones.
 *
 * Large pages are advice. Without them everything works as well.
 */
#include "base/large.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096, HUGE = 1 << 21, LARGE = HUGE - PAGE };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CHECKED = 1 };
#else
enum { CHECKED = 0 };
#endif

bool large_is(size_t n)
{
    return !CHECKED && n >= LARGE;
}

static size_t whole_pages(size_t n)
{
    return (n + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Cuts what lies before the first multiple of HUGE, and what is behind. */
static void *map_aligned(size_t size)
{
    char *p = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)p & (HUGE - 1));
    if (before)
        munmap(p, before);
    p += before;
    munmap(p + size, HUGE - before);
    (void)madvise(p, size, MADV_HUGEPAGE);
    return p;
}

void *large_alloc(size_t n)
{
    return map_aligned(whole_pages(n));
}

static void *grow(char *p, size_t old_size, size_t size)
{
    void *q = mremap(p, old_size, size, 0);
    if (q != MAP_FAILED)
        return q;
    char *to = map_aligned(size);
    if (!to)
        return NULL;
    q = mremap(p, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (q != MAP_FAILED)
        return q;
    munmap(to, size);
    return NULL;
}

void *large_resize(void *p, size_t old_n, size_t new_n)
{
    size_t old_size = whole_pages(old_n), size = whole_pages(new_n);
    if (size > old_size)
        return grow(p, old_size, size);
    if (size < old_size)
        munmap((char *)p + size, old_size - size);
    return p;
}

void large_free(void *p, size_t n)
{
    munmap(p, whole_pages(n));
}
