/*
 * Short decimals as one word: mantissa / 10^scale with up to 15 digits, the
 * way most numbers in files look. Equal numbers have equal words (a scale
 * above 0 means that the mantissa does not end in 0), so that a dictionary
 * can tell them apart without writing a canonical text for each row, and
 * 15 digits and powers of ten up to 15 are exact doubles, so that one
 * division gives the nearest double. What is longer or written in another way
 * goes through value_parse.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "base/str.h"

enum { PACKED_DIGITS = 15, PACKED_TEXT = 24 };

/* The word of m / 10^scale; |m| < 10^15, scale <= 15. */
static inline uint64_t packed_of(int64_t m, unsigned scale)
{
    while (scale && m % 10 == 0) {
        m /= 10;
        scale--;
    }
    return (uint64_t)m << 8 | scale;
}

static inline int64_t packed_mantissa(uint64_t w)
{
    return (int64_t)w >> 8;
}

static inline unsigned packed_scale(uint64_t w)
{
    return (unsigned)(w & 255);
}

/*
 * Reads -digits.digits (sign, point and either side may be missing) as far as
 * it goes, but not beyond `end`, and moves *p there. False, with *p as it
 * was: no digit, or more than 15.
 */
static inline bool packed_scan(const char **p, const char *end, uint64_t *out)
{
    const char *q = *p;
    bool neg = q < end && *q == '-', point = false;
    int64_t m = 0;
    unsigned digits = 0, scale = 0;
    for (q += neg; q < end; q++) {
        unsigned d = (unsigned)(unsigned char)*q - '0';
        if (d <= 9) {
            if (++digits > PACKED_DIGITS)
                return false;
            m = m * 10 + (int64_t)d;
            scale += point;
        } else if (*q == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (!digits)
        return false;
    *p = q;
    *out = packed_of(neg ? -m : m, scale);
    return true;
}

/* What such a number begins with: most other texts are told by one byte. */
static inline bool packed_may_begin(char c)
{
    return (unsigned char)(c - '-') <= '9' - '-';
}

/* The whole text is such a number. */
bool packed_read(struct str s, uint64_t *out);
/* The canonical text; returns its length. */
size_t packed_print(uint64_t w, char out[static PACKED_TEXT]);
/* The nearest double. */
double packed_double(uint64_t w);

#endif
