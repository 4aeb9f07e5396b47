/*
 * Packed delimited files from anywhere (.gz, .zst): unpacking never crashes or
 * leaks, stays within the memory it may have, and gives the same bytes however
 * small the pieces are that are asked for. The first byte chooses the form.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "source/csv/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4 << 20 };

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

/* All bytes (the first MOST of them), and how it ended. */
static enum status unpack_all(struct mem *m, const uint8_t *data, size_t size,
                              const char *name, size_t piece, struct sha256 *h)
{
    struct unpack u;
    struct err err = {0};
    char buf[4096];
    size_t n = 1;
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, 0))
        exit(1);
    enum status s = unpack_open(&u, m, fd, false, str_of(name), NULL, &err);
    for (size_t all = 0; s == OK && n && all < MOST; all += n) {
        size_t left = MOST - all;
        s = unpack_read(&u, buf, piece < left ? piece : left, &n, &err);
        if (s == OK)
            sha256_add(h, buf, n);
    }
    if (s != OK && !err.message[0])
        defect("an error without message");
    unpack_close(&u);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"t.csv.gz", "t.csv.zst", "t.csv"};
    struct mem m;
    struct sha256 large, small;
    unsigned char a[32], b[32];
    if (!size)
        return 0;
    mem_init(&m, 64 << 20);
    sha256_init(&large);
    sha256_init(&small);
    const char *name = names[data[0] % 3];
    enum status s = unpack_all(&m, data + 1, size - 1, name, 4096, &large);
    enum status t = unpack_all(&m, data + 1, size - 1, name, 7, &small);
    sha256_end(&large, a);
    sha256_end(&small, b);
    if (s != t || (s == OK && memcmp(a, b, sizeof a) != 0))
        defect("other bytes in other pieces");
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
