/* Reading, and unpacking by zlib and libzstd. See unpack.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "source/csv/unpack.h"

enum { IN_CAP = 1 << 17 };

static bool ends(struct str s, const char *with)
{
    size_t n = strlen(with);
    return s.n > n && !memcmp(s.p + s.n - n, with, n);
}

size_t unpack_name(struct str name)
{
    return ends(name, ".gz")    ? name.n - 3
           : ends(name, ".zst") ? name.n - 4
                                : name.n;
}

/* zlib's requests are counted and may fail like all others. The size stands in
 * front of a block. */
static void *z_alloc(void *mem, unsigned n, unsigned size)
{
    size_t bytes = (size_t)n * size + 16;
    size_t *p = mem_alloc(mem, bytes);
    if (!p)
        return NULL;
    *p = bytes;
    return (char *)p + 16;
}

static void z_free(void *mem, void *p)
{
    size_t *block = (size_t *)(void *)((char *)p - 16);
    mem_free(mem, block, *block);
}

static bool begin(struct unpack *u)
{
    u->in = mem_alloc(u->mem, IN_CAP);
    if (u->kind == UNPACK_ZSTD) {
        u->state = ZSTD_createDStream();
        return u->in && u->state;
    }
    z_stream *z = mem_alloc(u->mem, sizeof *z);
    if (!z)
        return false;
    z->zalloc = z_alloc;
    z->zfree = z_free;
    z->opaque = u->mem;
    u->state = z;
    return u->in && inflateInit2(z, 15 + 16) == Z_OK; /* gzip's header only */
}

enum status unpack_open(struct unpack *u, struct mem *m, int fd, bool kept,
                        struct str path, struct sha256 *hash, struct err *err)
{
    *u = (struct unpack){.fd = fd, .kept = kept, .mem = m, .hash = hash};
    u->kind = ends(path, ".gz")    ? UNPACK_GZIP
              : ends(path, ".zst") ? UNPACK_ZSTD
                                   : UNPACK_PLAIN;
    if (u->kind == UNPACK_PLAIN || begin(u))
        return OK;
    unpack_close(u);
    return atomic_load(&m->over_limit)
               ? err_set(err, E_LIMIT,
                         "unpacking needs more than the memory limit")
               : err_nomem(err);
}

void unpack_close(struct unpack *u)
{
    if (u->fd >= 0 && !u->kept)
        close(u->fd);
    if (u->kind == UNPACK_ZSTD)
        ZSTD_freeDStream(u->state);
    if (u->kind == UNPACK_GZIP && u->state) {
        inflateEnd(u->state);
        mem_free(u->mem, u->state, sizeof(z_stream));
    }
    if (u->in)
        mem_free(u->mem, u->in, IN_CAP);
    *u = (struct unpack){.fd = -1};
}

static enum status read_file(struct unpack *u, char *out, size_t cap, size_t *n,
                             struct err *err)
{
    ssize_t got;
    do
        got = u->kept ? pread(u->fd, out, cap, (off_t)u->bytes_read)
                      : read(u->fd, out, cap);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(err, E_SOURCE, "could not read: %s", strerror(errno));
    if (u->hash)
        sha256_add(u->hash, out, (size_t)got);
    u->bytes_read += (uint64_t)got;
    *n = (size_t)got;
    return OK;
}

static enum status malformed(struct err *err)
{
    return err_set(err, E_DATA, "the packed file is malformed or ends early");
}

/* One call of the library: moves u->at, tells how much came out. */
static bool inflate_some(struct unpack *u, char *out, size_t cap, size_t *n)
{
    z_stream *z = u->state;
    z->next_in = (unsigned char *)u->in + u->at;
    z->avail_in = (unsigned)(u->n - u->at);
    z->next_out = (unsigned char *)out;
    z->avail_out = (unsigned)cap;
    int rc = inflate(z, Z_NO_FLUSH);
    u->at = u->n - z->avail_in;
    *n = cap - z->avail_out;
    u->inside = rc != Z_STREAM_END;
    if (rc == Z_STREAM_END)
        rc = inflateReset(z);
    return rc == Z_OK || rc == Z_BUF_ERROR;
}

static bool zstd_some(struct unpack *u, char *out, size_t cap, size_t *n)
{
    ZSTD_inBuffer in = {u->in, u->n, u->at};
    ZSTD_outBuffer to = {out, cap, 0};
    size_t rc = ZSTD_decompressStream(u->state, &to, &in);
    u->at = in.pos;
    *n = to.pos;
    u->inside = rc != 0;
    return !ZSTD_isError(rc);
}

enum status unpack_read(struct unpack *u, char *out, size_t cap, size_t *n,
                        struct err *err)
{
    enum { MOST = 1 << 30 };
    *n = 0;
    if (u->kind == UNPACK_PLAIN)
        return read_file(u, out, cap, n, err);
    if (cap > MOST)
        cap = MOST;
    while (!*n) {
        if (u->at == u->n) {
            u->at = 0;
            TRY(read_file(u, u->in, IN_CAP, &u->n, err));
            if (!u->n && !u->inside)
                return OK;
        }
        bool ended = u->n == 0;
        bool ok = u->kind == UNPACK_GZIP ? inflate_some(u, out, cap, n)
                                         : zstd_some(u, out, cap, n);
        if (!ok || (ended && !*n))
            return malformed(err);
    }
    return OK;
}
