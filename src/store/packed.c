/* Short decimals as one word: see packed.h. */
#include "store/packed.h"

#include <string.h>

bool packed_read(struct str s, uint64_t *out)
{
    const char *p = s.p, *end = s.p + s.n;
    return packed_scan(&p, end, out) && p == end;
}

size_t packed_print(uint64_t w, char out[static PACKED_TEXT])
{
    int64_t m = packed_mantissa(w);
    unsigned scale = packed_scale(w), done = 0;
    uint64_t v = m < 0 ? (uint64_t)-m : (uint64_t)m;
    char back[PACKED_TEXT];
    size_t n = 0;
    /* From the last digit; the one before the point is always there. */
    do {
        if (scale && done == scale)
            back[n++] = '.';
        back[n++] = (char)('0' + v % 10);
        v /= 10;
        done++;
    } while (v || done <= scale);
    if (m < 0)
        back[n++] = '-';
    for (size_t i = 0; i < n; i++)
        out[i] = back[n - 1 - i];
    return n;
}

double packed_double(uint64_t w)
{
    static const double ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    return (double)packed_mantissa(w) / ten[packed_scale(w)];
}
