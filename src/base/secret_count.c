/* Secret counts: see secret_count.h for what they are for. */
#include "base/open_count.h"

#include <string.h>

struct secret_count secret_count_of(u128 v)
{
    struct secret_count s;
    memcpy(s.sealed_, &v, sizeof v);
    return s;
}

void secret_count_clamp(struct secret_count *s, u128 most, bool is_signed)
{
    u128 v = secret_count_open(s);
    bool below = is_signed && v >> 127;
    u128 size = below ? -v : v;
    size = size < most ? size : most;
    *s = secret_count_of(below ? -size : size);
}

u128 secret_count_open(const struct secret_count *s)
{
    u128 v;
    memcpy(&v, s->sealed_, sizeof v);
    return v;
}
