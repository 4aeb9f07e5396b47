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

static void quoted(struct sb *b, struct str s)
{
    sb_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
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
