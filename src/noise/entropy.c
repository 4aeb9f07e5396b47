/*
 * Random bytes of the kernel: the one gate.
 *
 * Every byte comes from getrandom(2); there is no generator in user space. A
 * pool saves system calls. PRIVACY: a byte is wiped as it is handed out, the
 * pool's pages are wiped in a forked child (MADV_WIPEONFORK) and kept out of
 * swap and core dumps where the system allows. Where the kernel cannot wipe
 * on fork there is no pool at all. A failure is an error that stops the
 * release, never a fallback to something weaker.
 */
#include "noise/entropy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static enum status fill_from_kernel(struct entropy *e, unsigned char *out,
                                    size_t n, struct err *err)
{
    (void)e;
    while (n > 0) {
        ssize_t got = getrandom(out, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            int why = errno;
            return err_set(err, E_ENTROPY, "could not get random bytes: %s",
                           got < 0 ? strerror(why) : "none came");
        }
        out += got;
        n -= (size_t)got;
    }
    return OK;
}

enum status entropy_open(struct entropy **out, struct err *err)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t unit = page >= ENTROPY_POOL * 2 ? (size_t)page : ENTROPY_POOL * 2;
    /* first unit: the object, which must survive a fork; second: the pool */
    void *map = mmap(NULL, 2 * unit, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return err_nomem(err);
    struct entropy *e = map;
    void *second = (char *)map + unit;
    e->fill = fill_from_kernel;
    e->map = map;
    e->map_size = 2 * unit;
    if (madvise(second, unit, MADV_WIPEONFORK) == 0)
        e->pool = second;
    /* best effort: limits may forbid locking, and the wiping stands anyway */
    (void)mlock(second, unit);
    (void)madvise(second, unit, MADV_DONTDUMP);
    *out = e;
    return OK;
}

void entropy_close(struct entropy *e)
{
    if (!e)
        return;
    if (e->pool)
        mem_wipe(e->pool, sizeof *e->pool);
    if (e->map)
        munmap(e->map, e->map_size);
}

enum status entropy_bytes(struct entropy *e, void *out, size_t n,
                          struct err *err)
{
    unsigned char *to = out;
    struct entropy_pool *pool = e->pool;
    if (!pool || n > ENTROPY_POOL)
        return e->fill(e, to, n, err);
    if (pool->left < n) {
        TRY(e->fill(e, pool->bytes, sizeof pool->bytes, err));
        pool->left = sizeof pool->bytes;
    }
    unsigned char *from = pool->bytes + pool->left - n;
    memcpy(to, from, n);
    mem_wipe(from, n);
    pool->left -= n;
    return OK;
}
