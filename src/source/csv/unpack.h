/*
 * The bytes of a delimited file, unpacked where its name ends in .gz or .zst.
 * The name decides, not the content: what a file is must not hang on a row.
 * Several packed streams behind each other are one file, as gzip -c and zstd -c
 * make them; a stream that ends early is malformed.
 */
#ifndef SOURCE_CSV_UNPACK_H
#define SOURCE_CSV_UNPACK_H

#include "base/str.h"

struct sha256;
struct unpack {
    int fd;
    bool kept; /* of the source, which goes on having it */
    struct mem *mem;
    void *state; /* of the library; NULL: the bytes as they are */
    enum { UNPACK_PLAIN, UNPACK_GZIP, UNPACK_ZSTD } kind;
    bool inside; /* a stream has begun and not ended */
    char *in;    /* packed bytes, [at, n) of them not used yet */
    size_t at, n;
    struct sha256 *hash; /* gets the bytes of the file; NULL: none */
    uint64_t bytes_read; /* of the file */
};

/* Length of the name without .gz or .zst. */
size_t unpack_name(struct str name);
/* Takes the descriptor, also when it fails; not one that is kept: of that it
 * reads from the start, wherever others stand in it. */
enum status unpack_open(struct unpack *u, struct mem *m, int fd, bool kept,
                        struct str path, struct sha256 *hash,
                        struct err *err) WARN_UNUSED;
void unpack_close(struct unpack *u);
/* Up to cap bytes; *n is 0 at the end. E_SOURCE (errno), E_DATA. */
enum status unpack_read(struct unpack *u, char *out, size_t cap, size_t *n,
                        struct err *err) WARN_UNUSED;

#endif
