/*
 * Values: order, equality, hashing. Numbers of different types are compared
 * exactly, by their decimal digits; hashing goes through the nearest double,
 * which is the same for equal numbers.
 */
#include "schema/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value value_null(void)
{
    return (struct value){.is_null = true};
}

struct value value_int(int64_t i)
{
    return (struct value){.type = T_INT, .i = i};
}

struct value value_text(struct str s)
{
    return (struct value){.type = T_TEXT, .s = s};
}

const char *type_name(enum type t)
{
    static const char *const names[] = {
        [T_UNKNOWN] = "unknown", [T_INT] = "integer",
        [T_DEC] = "numeric",     [T_REAL] = "double precision",
        [T_TEXT] = "text",       [T_BOOL] = "boolean",
        [T_DATE] = "date",       [T_TIMESTAMP] = "timestamp",
        [T_TIME] = "time",       [T_UUID] = "uuid",
    };
    return names[t];
}

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

bool type_comparable(enum type a, enum type b)
{
    if (a == T_UNKNOWN || b == T_UNKNOWN || a == b)
        return true;
    if (is_number(a) && is_number(b))
        return true;
    return (a == T_DATE && b == T_TIMESTAMP) ||
           (a == T_TIMESTAMP && b == T_DATE);
}

/* Longest exact decimal of a double: 1 sign, 309 digits, point, 1074. */
enum { REAL_DIGITS = 1400 };

/* The number as canonical decimal text; buf holds REAL_DIGITS bytes. */
static struct str digits_of(const struct value *v, char *buf)
{
    if (v->type == T_DEC)
        return v->s;
    int n = v->type == T_INT
                ? snprintf(buf, REAL_DIGITS, "%lld", (long long)v->i)
                : snprintf(buf, REAL_DIGITS, "%.1080f", v->f);
    if (v->type == T_REAL) {
        while (n > 0 && buf[n - 1] == '0')
            n--;
        if (n > 0 && buf[n - 1] == '.')
            n--;
    }
    return (struct str){buf, (size_t)n};
}

/* -1 for -infinity, 0 for finite, 1 for infinity, 2 for NaN. */
static int number_class(const struct value *v)
{
    if (v->type == T_DEC) {
        if (str_is(v->s, "NaN"))
            return 2;
        if (str_is(v->s, "Infinity"))
            return 1;
        return str_is(v->s, "-Infinity") ? -1 : 0;
    }
    if (v->type != T_REAL)
        return 0;
    if (isnan(v->f))
        return 2;
    return isinf(v->f) ? (v->f > 0 ? 1 : -1) : 0;
}

static bool is_zero_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= '1' && s.p[i] <= '9')
            return false;
    return true;
}

/* Compares two decimals without sign. */
static int cmp_magnitude(struct str a, struct str b)
{
    const char *pa = memchr(a.p, '.', a.n), *pb = memchr(b.p, '.', b.n);
    size_t ia = pa ? (size_t)(pa - a.p) : a.n;
    size_t ib = pb ? (size_t)(pb - b.p) : b.n;
    if (ia != ib)
        return ia < ib ? -1 : 1;
    int c = memcmp(a.p, b.p, ia);
    if (c)
        return c;
    struct str fa = {a.p + ia, a.n - ia}, fb = {b.p + ib, b.n - ib};
    return str_cmp(fa, fb);
}

static int cmp_decimal(struct str a, struct str b)
{
    bool na = a.n && a.p[0] == '-' && !is_zero_text(a);
    bool nb = b.n && b.p[0] == '-' && !is_zero_text(b);
    if (na != nb)
        return na ? -1 : 1;
    if (a.n && a.p[0] == '-')
        a = (struct str){a.p + 1, a.n - 1};
    if (b.n && b.p[0] == '-')
        b = (struct str){b.p + 1, b.n - 1};
    int c = cmp_magnitude(a, b);
    return na ? -c : c;
}

static int cmp_number(const struct value *a, const struct value *b)
{
    if (a->type == T_INT && b->type == T_INT)
        return (a->i > b->i) - (a->i < b->i);
    int ca = number_class(a), cb = number_class(b);
    if (ca || cb)
        return (ca > cb) - (ca < cb);
    if (a->type == T_REAL && b->type == T_REAL)
        return (a->f > b->f) - (a->f < b->f);
    char ba[REAL_DIGITS], bb[REAL_DIGITS];
    return cmp_decimal(digits_of(a, ba), digits_of(b, bb));
}

/* Date against timestamp: midnight of the day; 128 bits hold it. */
static __int128 micros_of(const struct value *v)
{
    return v->type == T_DATE ? (__int128)v->i * 86400000000 : v->i;
}

int value_cmp(const struct value *a, const struct value *b)
{
    if (a->is_null || b->is_null)
        return (int)b->is_null - (int)a->is_null;
    if (is_number(a->type) && is_number(b->type))
        return cmp_number(a, b);
    if (a->type != b->type) {
        if (type_comparable(a->type, b->type)) {
            __int128 x = micros_of(a), y = micros_of(b);
            return (x > y) - (x < y);
        }
        return a->type < b->type ? -1 : 1;
    }
    if (a->type == T_TEXT || a->type == T_UUID)
        return str_cmp(a->s, b->s);
    return (a->i > b->i) - (a->i < b->i);
}

bool value_eq(const struct value *a, const struct value *b)
{
    return value_cmp(a, b) == 0;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* Equal numbers have the same nearest double. */
static uint64_t hash_number(const struct value *v)
{
    double d = v->f;
    if (v->type == T_INT)
        d = (double)v->i;
    if (v->type == T_DEC) {
        /* canonical text is NUL-terminated nowhere: copy, cutting a very
         * long fraction is not allowed, so long texts hash by a constant */
        char buf[REAL_DIGITS];
        if (v->s.n >= sizeof buf)
            return 0x64656369;
        memcpy(buf, v->s.p, v->s.n);
        buf[v->s.n] = 0;
        d = strtod(buf, NULL);
    }
    if (isnan(d))
        return 0x7ff8;
    if (d == 0)
        d = 0; /* -0 */
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return mix(bits + 1);
}

uint64_t value_hash(const struct value *v)
{
    if (v->is_null)
        return 0x6e756c6c;
    if (is_number(v->type))
        return hash_number(v);
    if (v->type == T_TEXT || v->type == T_UUID)
        return str_hash(v->s);
    if (v->type == T_DATE || v->type == T_TIMESTAMP)
        return mix((uint64_t)micros_of(v) + 2);
    return mix((uint64_t)v->i + 3);
}

/* --- one form for equal values -------------------------------------------- */

static bool to_decimal(struct arena *a, struct value *v)
{
    char buf[REAL_DIGITS];
    struct str text = digits_of(v, buf);
    struct value out = {.type = T_DEC, .s = str_copy(a, text)};
    if (!out.s.p)
        return false;
    *v = out;
    return true;
}

static bool to_real(const struct value *v, struct value *out)
{
    char buf[REAL_DIGITS];
    *out = (struct value){.type = T_REAL, .f = v->f};
    if (v->type == T_INT)
        out->f = (double)v->i;
    if (v->type == T_DEC) {
        if (v->s.n >= sizeof buf)
            return false;
        memcpy(buf, v->s.p, v->s.n);
        buf[v->s.n] = 0;
        out->f = strtod(buf, NULL);
    }
    out->f = out->f == 0 ? 0 : out->f; /* -0 */
    return cmp_number(out, v) == 0;
}

/* Equal numbers leave here equal in type and text. */
static bool canonical_number(struct arena *a, struct value *v, enum type t)
{
    static const char *const odd[] = {"-Infinity", "", "Infinity", "NaN"};
    struct value other;
    if (t == T_REAL && to_real(v, &other)) {
        *v = other;
        return true;
    }
    if (number_class(v)) {
        *v = (struct value){.type = T_DEC,
                            .s = str_of(odd[number_class(v) + 1])};
        return true;
    }
    if (v->type != T_INT && !to_decimal(a, v))
        return false;
    if (v->type == T_DEC && value_parse(a, v->s, T_INT, &other))
        *v = other;
    return true;
}

bool value_canonical(struct arena *a, struct value *v, enum type t)
{
    if (v->is_null) {
        *v = value_null();
        return true;
    }
    if (is_number(v->type))
        return canonical_number(a, v, t);
    if (v->type == T_DATE && t == T_TIMESTAMP) {
        __int128 us = micros_of(v);
        if (us == (int64_t)us)
            *v = (struct value){.type = T_TIMESTAMP, .i = (int64_t)us};
    } else if (v->type == T_TIMESTAMP && t != T_TIMESTAMP &&
               v->i % 86400000000 == 0) {
        *v = (struct value){.type = T_DATE, .i = v->i / 86400000000};
    }
    return true;
}
