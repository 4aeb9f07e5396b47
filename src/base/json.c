/* JSON writer: see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_init(struct json *j, struct sb *out)
{
    j->out = out;
    j->need_comma = false;
}

static void value_starts(struct json *j)
{
    if (j->need_comma)
        sb_cstr(j->out, ", ");
    j->need_comma = true;
}

void json_begin(struct json *j, char bracket)
{
    value_starts(j);
    sb_char(j->out, bracket);
    j->need_comma = false;
}

void json_end(struct json *j, char bracket)
{
    sb_char(j->out, bracket);
    j->need_comma = true;
}

/*
 * The length of the well-formed UTF-8 character at p (n >= 1 bytes are left),
 * or 0: stray and missing continuation bytes, overlong forms, surrogates and
 * what lies beyond U+10FFFF (Unicode 15, table 3-7).
 */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t need;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (n < need || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return need;
}

static void escaped(struct sb *b, unsigned char c)
{
    if (c == '"' || c == '\\') {
        sb_char(b, '\\');
        sb_char(b, (char)c);
    } else if (c == '\n') {
        sb_cstr(b, "\\n");
    } else if (c == '\t') {
        sb_cstr(b, "\\t");
    } else if (c < 0x20 || c == 0x7f) {
        sb_printf(b, "\\u%04x", c);
    } else {
        sb_char(b, (char)c);
    }
}

/* Data and file names may hold any bytes, JSON may not: each byte that is
 * not part of a character becomes U+FFFD. */
static void quoted(struct sb *b, struct str s)
{
    sb_char(b, '"');
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        size_t n = utf8_length(p, s.n - i);
        if (n == 0)
            sb_cstr(b, "\\ufffd");
        else if (n == 1)
            escaped(b, *p);
        else
            sb_add(b, s.p + i, n);
        i += n ? n : 1;
    }
    sb_char(b, '"');
}

void json_key_str(struct json *j, struct str key)
{
    value_starts(j);
    quoted(j->out, key);
    sb_cstr(j->out, ": ");
    j->need_comma = false;
}

void json_key(struct json *j, const char *key)
{
    json_key_str(j, str_of(key));
}

void json_str(struct json *j, struct str s)
{
    value_starts(j);
    quoted(j->out, s);
}

void json_cstr(struct json *j, const char *s)
{
    json_str(j, str_of(s));
}

void json_u128(struct json *j, u128 v)
{
    value_starts(j);
    sb_u128(j->out, v);
}

void json_i64(struct json *j, int64_t v)
{
    value_starts(j);
    sb_printf(j->out, "%" PRId64, v);
}

void json_bound(struct json *j, u128 v)
{
    if (v == U128_INF)
        json_cstr(j, "inf");
    else
        json_u128(j, v);
}

void json_double(struct json *j, double v)
{
    char buf[64];
    if (isnan(v)) {
        json_null(j);
        return;
    }
    if (isinf(v)) {
        json_cstr(j, v > 0 ? "inf" : "-inf");
        return;
    }
    /* Whole numbers in full: 289560 reads better than 2.8956e+05. */
    if (v == trunc(v) && fabs(v) < 1e15)
        snprintf(buf, sizeof buf, "%.0f", v);
    else
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(buf, sizeof buf, "%.*g", digits, v);
            if (strtod(buf, NULL) == v)
                break;
        }
    value_starts(j);
    sb_cstr(j->out, buf);
}

void json_bool(struct json *j, bool v)
{
    value_starts(j);
    sb_cstr(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
    value_starts(j);
    sb_cstr(j->out, "null");
}

void json_raw(struct json *j, struct str s)
{
    value_starts(j);
    sb_str(j->out, s);
}
