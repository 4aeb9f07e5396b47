/* Numbers and texts as bytes: see bytes.h. */
#include "base/bytes.h"

#include <string.h>

void bytes_put_u64(struct sb *b, uint64_t v)
{
    sb_add(b, (const char *)&v, sizeof v);
}

void bytes_put_str(struct sb *b, struct str s)
{
    bytes_put_u64(b, s.p ? s.n : UINT64_MAX);
    if (s.p)
        sb_str(b, s);
}

uint64_t bytes_u64(struct bytes *b)
{
    uint64_t v = 0;
    if (b->failed || b->left.n < sizeof v) {
        b->failed = true;
        return 0;
    }
    memcpy(&v, b->left.p, sizeof v);
    b->left.p += sizeof v;
    b->left.n -= sizeof v;
    return v;
}

size_t bytes_count(struct bytes *b, size_t each)
{
    uint64_t n = bytes_u64(b);
    if (each && n > b->left.n / each)
        b->failed = true;
    return b->failed ? 0 : (size_t)n;
}

struct str bytes_str(struct bytes *b)
{
    uint64_t n = bytes_u64(b);
    if (b->failed || n == UINT64_MAX)
        return (struct str){0};
    if (n > b->left.n) {
        b->failed = true;
        return (struct str){0};
    }
    struct str s = str_copy(b->arena, (struct str){b->left.p, (size_t)n});
    b->failed |= !s.p;
    b->left.p += n;
    b->left.n -= n;
    return s;
}
