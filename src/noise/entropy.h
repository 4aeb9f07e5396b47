/*
 * The inside of struct entropy, for entropy.c and for the scripted source of
 * the tests. The shipped library constructs it in entropy_open only, with the
 * kernel as source: it has no seed and no second source.
 */
#ifndef NOISE_ENTROPY_H
#define NOISE_ENTROPY_H

#include "noise/noise.h"

enum { ENTROPY_POOL = 2048 };

/* Lives on pages that the kernel clears in a forked child, so a child finds
 * `left` zero and reads bytes of its own. */
struct entropy_pool {
    size_t left;
    unsigned char bytes[ENTROPY_POOL];
};

struct entropy {
    enum status (*fill)(struct entropy *e, unsigned char *out, size_t n,
                        struct err *err);
    struct entropy_pool *pool; /* NULL: each request goes to `fill` */
    void *map;
    size_t map_size;
};

#endif
