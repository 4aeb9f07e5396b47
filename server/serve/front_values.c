/*
 * Values in PostgreSQL's binary form: parameters to texts, cells to bytes.
 * Dates count from 2000-01-01; numerics are digits to the base of 10,000.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/front_int.h"

enum {
    EPOCH_DAY = 2451545 /* Julian day of 2000-01-01 */,
    NUMERIC_MOST = 1000
};
static const int64_t day_us = INT64_C(86400000000);

/* --- calendar
 * ---------------------------------------------------------------------
 */

static void from_julian(long jd, int *y, int *m, int *d)
{
    long a = jd + 32044, b = (4 * a + 3) / 146097, c = a - 146097 * b / 4;
    long e = (4 * c + 3) / 1461, g = c - 1461 * e / 4, h = (5 * g + 2) / 153;
    *d = (int)(g - (153 * h + 2) / 5 + 1);
    *m = (int)(h + 3 - 12 * (h / 10));
    *y = (int)(100 * b + e - 4800 + h / 10);
}

static long to_julian(int y, int m, int d)
{
    long a = (14 - m) / 12, yy = y + 4800 - a, mm = m + 12 * a - 3;
    return d + (153 * mm + 2) / 5 + 365 * yy + yy / 4 - yy / 100 + yy / 400 -
           32045;
}

static const char *date_text(struct front_pool *pool, int64_t days)
{
    char text[32];
    int y, m, d;
    if (days < -700000 || days > 2900000)
        return NULL;
    from_julian((long)days + EPOCH_DAY, &y, &m, &d);
    snprintf(text, sizeof text, "%04d-%02d-%02d", y, m, d);
    return front_copy(pool, text, strlen(text));
}

static void clock_text(int64_t us, char *out, size_t size)
{
    long s = (long)(us / 1000000), rest = (long)(us % 1000000);
    int n =
        snprintf(out, size, "%02ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    if (rest)
        snprintf(out + n, size - (size_t)n, ".%06ld", rest);
}

static const char *timestamp_text(struct front_pool *pool, int64_t us)
{
    char text[64], clock[32];
    int64_t rest = us % day_us, before = rest < 0;
    const char *date = date_text(pool, us / day_us - before);
    if (!date)
        return NULL;
    clock_text(before ? rest + day_us : rest, clock, sizeof clock);
    snprintf(text, sizeof text, "%s %s", date, clock);
    return front_copy(pool, text, strlen(text));
}

/* --- numbers
 * ----------------------------------------------------------------------
 */

static int64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = *p & 0x80 ? ~UINT64_C(0) : 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

static const char *print(struct front_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *print(struct front_pool *pool, const char *format, ...)
{
    char text[128];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return front_copy(pool, text, (size_t)n);
}

static const char *numeric_text(struct front_pool *pool, const unsigned char *p,
                                size_t n)
{
    struct wire_in in = wire_in_of(p, n);
    int groups = (int16_t)wire_get16(&in), weight = (int16_t)wire_get16(&in);
    int sign = wire_get16(&in), scale = (int16_t)wire_get16(&in);
    if (in.bad || groups < 0 || scale < 0 || scale > NUMERIC_MOST ||
        groups > NUMERIC_MOST || weight > NUMERIC_MOST ||
        weight < -NUMERIC_MOST || (sign && sign != 0x4000) ||
        n != 8 + 2 * (size_t)groups)
        return NULL;
    int first = weight > 0 ? weight : 0, last = -(scale + 3) / 4;
    char *out = front_alloc(pool, 4 * (size_t)(first - last + 2) + 8),
         *at = out;
    at += sprintf(at, "%s", sign ? "-" : "");
    char *whole = at;
    for (int w = first; w >= last; w--) {
        int i = weight - w;
        const unsigned char *g = p + 8 + 2 * i;
        unsigned digit = i >= 0 && i < groups ? (unsigned)g[0] << 8 | g[1] : 0;
        at += sprintf(at, w == -1 ? ".%04u" : "%04u", digit % 10000);
    }
    char *point = strchr(whole, '.');
    if (point)
        point[scale ? scale + 1 : 0] = 0;
    while (whole[0] == '0' && isdigit((unsigned char)whole[1]))
        memmove(whole, whole + 1, strlen(whole));
    return out;
}

static const char *uuid_text(struct front_pool *pool, const unsigned char *p)
{
    char text[40], *at = text;
    for (int i = 0; i < 16; i++)
        at += sprintf(
            at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", p[i]);
    return front_copy(pool, text, strlen(text));
}

static double read_double(const unsigned char *p, size_t n)
{
    union {
        uint64_t u;
        double d;
    } eight = {(uint64_t)big_endian(p, n)};
    union {
        uint32_t u;
        float f;
    } four = {(uint32_t)eight.u};
    return n == 4 ? (double)four.f : eight.d;
}

/* --- parameters
 * -------------------------------------------------------------------
 */

static bool is_text(uint32_t type)
{
    return !type || type == OID_TEXT || type == OID_VARCHAR ||
           type == OID_BPCHAR || type == OID_NAME || type == OID_UNKNOWN;
}

static const char *fixed_text(struct front_pool *pool, uint32_t type,
                              const unsigned char *p)
{
    char clock[32];
    int64_t v;
    switch (type) {
    case OID_BOOL:
        return *p ? "t" : "f";
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
        return print(pool, "%lld",
                     (long long)big_endian(p, (size_t)oid_len(type)));
    case OID_OID:
        return print(pool, "%u", (unsigned)big_endian(p, 4));
    case OID_FLOAT4:
        return print(pool, "%.9g", read_double(p, 4));
    case OID_FLOAT8:
        return print(pool, "%.17g", read_double(p, 8));
    case OID_DATE:
        return date_text(pool, big_endian(p, 4));
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return timestamp_text(pool, big_endian(p, 8));
    case OID_TIME:
        v = big_endian(p, 8);
        clock_text(v < 0 || v > day_us ? 0 : v, clock, sizeof clock);
        return front_copy(pool, clock, strlen(clock));
    case OID_UUID:
        return uuid_text(pool, p);
    default:
        return NULL;
    }
}

const char *param_text(struct front_pool *pool, uint32_t type,
                       const unsigned char *p, size_t n, struct problem *bad)
{
    const char *out = NULL;
    if (is_text(type))
        out = memchr(p, 0, n) ? NULL : front_copy(pool, (const char *)p, n);
    else if (type == OID_NUMERIC)
        out = numeric_text(pool, p, n);
    else if (oid_len(type) > 0 && n == (size_t)oid_len(type))
        out = fixed_text(pool, type, p);
    if (!out)
        problem_set(bad, "22P03",
                    "incorrect binary data format of a parameter of type %u",
                    type);
    return out;
}

/* --- cells
 * ------------------------------------------------------------------------
 */

static void put64(struct wire_out *out, int64_t v)
{
    wire_put32(out, (uint32_t)((uint64_t)v >> 32));
    wire_put32(out, (uint32_t)v);
}

static void put_sized(struct wire_out *out, int64_t v, size_t n)
{
    wire_put32(out, (uint32_t)n);
    if (n == 8)
        put64(out, v);
    else if (n == 4)
        wire_put32(out, (uint32_t)v);
    else if (n == 2)
        wire_put16(out, (uint16_t)v);
    else
        wire_put8(out, (uint8_t)v);
}

/* PostgreSQL's own ranges: beyond them its binary forms have no room. */
enum { FIRST_YEAR = -4713, LAST_DATE = 5874897, LAST_TIMESTAMP = 294276 };

static bool is_time(int h, int mi, double sec)
{
    return h >= 0 && h <= 24 && mi >= 0 && mi < 60 && sec >= 0 && sec < 61;
}

static bool put_date(struct wire_out *out, const char *s)
{
    int y, m, d, n = 0;
    if (sscanf(s, "%d-%2d-%2d%n", &y, &m, &d, &n) != 3 || s[n] ||
        y < FIRST_YEAR || y > LAST_DATE)
        return false;
    put_sized(out, to_julian(y, m, d) - EPOCH_DAY, 4);
    return true;
}

static bool put_timestamp(struct wire_out *out, const char *s)
{
    int y, mo, d, h, mi, n = 0;
    double sec;
    if (sscanf(s, "%d-%2d-%2d %2d:%2d:%lf%n", &y, &mo, &d, &h, &mi, &sec, &n) !=
            6 ||
        s[n] || y < FIRST_YEAR || y > LAST_TIMESTAMP || !is_time(h, mi, sec))
        return false;
    int64_t us = (int64_t)(to_julian(y, mo, d) - EPOCH_DAY) * day_us;
    us += ((int64_t)h * 3600 + mi * 60) * 1000000 + llround(sec * 1e6);
    put_sized(out, us, 8);
    return true;
}

static bool put_time(struct wire_out *out, const char *s)
{
    int h, mi, n = 0;
    double sec;
    if (sscanf(s, "%2d:%2d:%lf%n", &h, &mi, &sec, &n) != 3 || s[n] ||
        !is_time(h, mi, sec))
        return false;
    put_sized(out, ((int64_t)h * 3600 + mi * 60) * 1000000 + llround(sec * 1e6),
              8);
    return true;
}

static bool put_uuid(struct wire_out *out, const char *s)
{
    unsigned char b[16];
    size_t n = 0;
    for (; *s && n < 16; s++)
        if (*s != '-') {
            char two[3] = {s[0], s[1], 0};
            if (!isxdigit((unsigned char)s[0]) ||
                !isxdigit((unsigned char)s[1]))
                return false;
            b[n++] = (unsigned char)strtoul(two, NULL, 16);
            s++;
        }
    if (n != 16 || *s)
        return false;
    wire_put32(out, 16);
    wire_put_bytes(out, b, 16);
    return true;
}

static bool put_numeric(struct wire_out *out, const char *s)
{
    unsigned groups[2 * NUMERIC_MOST], n = 0;
    bool minus = *s == '-';
    s += minus;
    size_t whole = strspn(s, "0123456789");
    const char *point = s[whole] == '.' ? s + whole + 1 : s + whole;
    size_t scale = strspn(point, "0123456789");
    if (point[scale] || !whole || whole > NUMERIC_MOST || scale > NUMERIC_MOST)
        return false;
    size_t lead = (4 - whole % 4) % 4, digits = 0, total = lead + whole;
    unsigned group = 0;
    for (size_t i = 0; i < lead + whole + (scale + 3) / 4 * 4; i++) {
        char c = i < lead            ? '0'
                 : i < total         ? s[i - lead]
                 : i - total < scale ? point[i - total]
                                     : '0';
        group = group * 10 + (unsigned)(c - '0');
        if (++digits % 4 == 0) {
            groups[n++] = group;
            group = 0;
        }
    }
    unsigned from = 0;
    int weight = (int)(total / 4) - 1;
    while (from < n && !groups[from])
        from++, weight--;
    while (n > from && !groups[n - 1])
        n--;
    wire_put32(out, 8 + 2 * (n - from));
    wire_put16(out, (uint16_t)(n - from));
    wire_put16(out, (uint16_t)(n > from ? weight : 0));
    wire_put16(out, minus && n > from ? 0x4000 : 0);
    wire_put16(out, (uint16_t)scale);
    for (unsigned i = from; i < n; i++)
        wire_put16(out, (uint16_t)groups[i]);
    return true;
}

static bool put_float(struct wire_out *out, const char *s, size_t n)
{
    char *end;
    union {
        double d;
        uint64_t u;
    } eight = {strtod(s, &end)};
    union {
        float f;
        uint32_t u;
    } four = {(float)eight.d};
    if (*end)
        return false;
    put_sized(out, n == 4 ? (int64_t)four.u : (int64_t)eight.u, n);
    return true;
}

static bool put_integer(struct wire_out *out, const char *s, size_t n)
{
    char *end;
    long long v = strtoll(s, &end, 10);
    if (*end)
        return false;
    put_sized(out, v, n);
    return true;
}

bool cell_binary(struct wire_out *out, uint32_t type, const char *text)
{
    switch (type) {
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_OID:
        return put_integer(out, text, (size_t)oid_len(type));
    case OID_FLOAT4:
    case OID_FLOAT8:
        return put_float(out, text, (size_t)oid_len(type));
    case OID_BOOL:
        put_sized(out, *text == 't', 1);
        return true;
    case OID_DATE:
        return put_date(out, text);
    case OID_TIMESTAMP:
        return put_timestamp(out, text);
    case OID_TIME:
        return put_time(out, text);
    case OID_UUID:
        return put_uuid(out, text);
    case OID_NUMERIC:
        return put_numeric(out, text);
    default:
        if (!is_text(type) && type != 18)
            return false;
        wire_put32(out, (uint32_t)strlen(text));
        wire_put_bytes(out, text, strlen(text));
        return true;
    }
}
