/*
 * A source of bytes for tests in place of the kernel: a fixed pattern or a
 * seeded generator. It lives here and not in the library, so the shipped
 * program has no seed.
 */
#ifndef HARNESS_SCRIPTED_H
#define HARNESS_SCRIPTED_H

#include "noise/entropy.h"

struct scripted {
    struct entropy base; /* first: a struct entropy * is a struct scripted * */
    uint64_t state[4];
    uint64_t word; /* not yet used bytes of the generator */
    unsigned word_left;
    const unsigned char *script; /* NULL: the generator */
    size_t script_n, script_at;
    bool repeat; /* start over at the end of the script, else E_ENTROPY */
    uint64_t taken;
};

struct entropy *scripted_seed(struct scripted *s, uint64_t seed);
struct entropy *scripted_bytes(struct scripted *s, const unsigned char *p,
                               size_t n, bool repeat);

#endif
