/*
 * Values as text: reading as PostgreSQL's input functions do for the forms
 * that data files and queries use, and printing in rule text.
 */
#include "schema/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* --- numbers ---------------------------------------------------------- */

/* [+-]digits within 64 bits. */
static bool parse_int(struct str s, int64_t *out)
{
    bool neg = s.n && s.p[0] == '-';
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    int64_t v = 0;
    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        if (!is_digit(s.p[i]) || __builtin_mul_overflow(v, 10, &v))
            return false;
        int d = s.p[i] - '0';
        if (neg ? __builtin_sub_overflow(v, d, &v)
                : __builtin_add_overflow(v, d, &v))
            return false;
    }
    *out = v;
    return true;
}

enum { MAX_EXPONENT = 2000 };

/* The parts of a decimal: digits with the point removed, and its place. */
struct decimal {
    bool neg;
    char *digits;
    size_t n;
    long point; /* digits before the decimal point */
};

static bool scan_exponent(struct str s, size_t i, long *out)
{
    int64_t e;
    if (!parse_int((struct str){s.p + i, s.n - i}, &e) || e > MAX_EXPONENT ||
        e < -MAX_EXPONENT)
        return false;
    *out = (long)e;
    return true;
}

static bool scan_decimal(struct arena *a, struct str s, struct decimal *d)
{
    size_t i = 0, seen = 0;
    bool point = false;
    long exponent = 0;
    *d = (struct decimal){.digits = arena_alloc(a, s.n + 1)};
    if (!d->digits)
        return false;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        d->neg = s.p[i++] == '-';
    for (; i < s.n && (is_digit(s.p[i]) || (s.p[i] == '.' && !point)); i++) {
        if (s.p[i] == '.') {
            point = true;
            continue;
        }
        d->digits[d->n++] = s.p[i];
        d->point += !point;
        seen++;
    }
    if (!seen)
        return false;
    if (i < s.n) {
        if (s.p[i] != 'e' && s.p[i] != 'E')
            return false;
        if (!scan_exponent(s, i + 1, &exponent))
            return false;
    }
    d->point += exponent;
    return true;
}

/* Canonical: no leading or trailing zeros, no "-0". */
static struct str canonical(struct arena *a, const struct decimal *d)
{
    size_t from = 0, to = d->n;
    long point = d->point;
    while (from < to && d->digits[from] == '0') {
        from++;
        point--;
    }
    while (to > from && d->digits[to - 1] == '0')
        to--;
    if (from == to)
        return STR("0");
    struct sb b;
    sb_init(&b, a);
    if (d->neg)
        sb_char(&b, '-');
    if (point <= 0)
        sb_char(&b, '0');
    for (long i = 0; i < point; i++)
        sb_char(&b, from + (size_t)i < to ? d->digits[from + (size_t)i] : '0');
    if ((long)(to - from) > point) {
        sb_char(&b, '.');
        for (long i = point; i < 0; i++)
            sb_char(&b, '0');
        size_t start = from + (point > 0 ? (size_t)point : 0);
        sb_add(&b, d->digits + start, to - start);
    }
    return b.failed ? (struct str){NULL, 0} : sb_view(&b);
}

static bool parse_decimal(struct arena *a, struct str s, struct str *out)
{
    struct decimal d;
    if (!scan_decimal(a, s, &d))
        return false;
    *out = canonical(a, &d);
    return out->p != NULL;
}

bool value_parse_number(struct arena *a, struct str text, struct value *out)
{
    struct str s = str_trim(text), c;
    int64_t i;
    if (parse_int(s, &i)) {
        *out = value_int(i);
        return true;
    }
    if (!parse_decimal(a, s, &c))
        return false;
    if (parse_int(c, &i))
        *out = value_int(i);
    else
        *out = (struct value){.type = T_DEC, .s = c};
    return true;
}

static bool parse_real(struct str s, double *out)
{
    char buf[512], *end;
    if (s.n == 0 || s.n >= sizeof buf || memchr(s.p, 'x', s.n) ||
        memchr(s.p, 'X', s.n) || memchr(s.p, '(', s.n))
        return false;
    memcpy(buf, s.p, s.n);
    buf[s.n] = 0;
    *out = strtod(buf, &end);
    if (end != buf + s.n)
        return false;
    if (*out == 0)
        *out = 0; /* no negative zero */
    return true;
}

/* --- booleans, dates, times ------------------------------------------- */

static bool parse_bool(struct str s, int64_t *out)
{
    static const char *const yes[] = {"t", "true", "yes", "on", "1", "y"};
    static const char *const no[] = {"f", "false", "no", "off", "0", "n"};
    for (size_t i = 0; i < 6; i++) {
        if (str_eq_nocase(s, str_of(yes[i]))) {
            *out = 1;
            return true;
        }
        if (str_eq_nocase(s, str_of(no[i]))) {
            *out = 0;
            return true;
        }
    }
    return false;
}

/* Reads `n` digits at *i. */
static bool take_digits(struct str s, size_t *i, size_t n, int64_t *out)
{
    int64_t v = 0;
    if (s.n - *i < n)
        return false;
    for (size_t j = 0; j < n; j++) {
        if (!is_digit(s.p[*i + j]))
            return false;
        v = v * 10 + (s.p[*i + j] - '0');
    }
    *i += n;
    *out = v;
    return true;
}

static bool take_char(struct str s, size_t *i, char c)
{
    if (*i < s.n && s.p[*i] == c) {
        ++*i;
        return true;
    }
    return false;
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar. */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static bool is_leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static bool take_date(struct str s, size_t *i, int64_t *out)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30,
                                     31, 31, 30, 31, 30, 31};
    int64_t y, m, d;
    if (!take_digits(s, i, 4, &y) || !take_char(s, i, '-') ||
        !take_digits(s, i, 2, &m) || !take_char(s, i, '-') ||
        !take_digits(s, i, 2, &d) || m < 1 || m > 12 || d < 1)
        return false;
    if (d > month_days[m - 1] + (m == 2 && is_leap(y)))
        return false;
    *out = days_from_civil(y, m, d);
    return true;
}

static bool take_time(struct str s, size_t *i, int64_t *out)
{
    int64_t h, m, sec = 0, micros = 0;
    if (!take_digits(s, i, 2, &h) || !take_char(s, i, ':') ||
        !take_digits(s, i, 2, &m) || h > 24 || m > 59)
        return false;
    if (take_char(s, i, ':') && (!take_digits(s, i, 2, &sec) || sec > 59))
        return false;
    if (take_char(s, i, '.')) {
        int64_t scale = 100000;
        if (*i >= s.n || !is_digit(s.p[*i]))
            return false;
        while (*i < s.n && is_digit(s.p[*i])) {
            micros += (s.p[*i] - '0') * scale;
            scale /= 10; /* digits beyond microseconds are dropped */
            ++*i;
        }
    }
    *out = ((h * 60 + m) * 60 + sec) * 1000000 + micros;
    return *out <= INT64_C(86400000000);
}

/* Z, +hh, +hhmm, +hh:mm; the offset in microseconds. */
static bool take_zone(struct str s, size_t *i, int64_t *out)
{
    int64_t h, m = 0;
    *out = 0;
    if (*i == s.n || take_char(s, i, 'Z') || take_char(s, i, 'z'))
        return true;
    bool neg = s.p[*i] == '-';
    if (!take_char(s, i, '+') && !take_char(s, i, '-'))
        return false;
    if (!take_digits(s, i, 2, &h))
        return false;
    take_char(s, i, ':');
    if (*i < s.n && !take_digits(s, i, 2, &m))
        return false;
    *out = (neg ? -1 : 1) * (h * 60 + m) * INT64_C(60000000);
    return true;
}

static bool parse_timestamp(struct str s, int64_t *out)
{
    size_t i = 0;
    int64_t days, micros = 0, zone = 0;
    if (!take_date(s, &i, &days))
        return false;
    if (i < s.n) {
        if (!take_char(s, &i, 'T') && !take_char(s, &i, ' '))
            return false;
        if (!take_time(s, &i, &micros) || !take_zone(s, &i, &zone))
            return false;
    }
    *out = days * INT64_C(86400000000) + micros - zone;
    return i == s.n;
}

static bool parse_uuid(struct arena *a, struct str s, struct str *out)
{
    char *p = arena_alloc(a, 37);
    size_t n = 0, hex = 0;
    if (!p || s.n < 32 || s.n > 38)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '-' || c == '{' || c == '}')
            continue;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
            return false;
        if (hex == 32)
            return false;
        if (hex == 8 || hex == 12 || hex == 16 || hex == 20)
            p[n++] = '-';
        p[n++] = c;
        hex++;
    }
    *out = (struct str){p, n};
    return hex == 32;
}

bool value_parse(struct arena *a, struct str text, enum type t,
                 struct value *out)
{
    struct value v = {.type = t};
    struct str s = t == T_TEXT || t == T_UNKNOWN ? text : str_trim(text);
    size_t i = 0;
    bool ok = false;
    switch (t) {
    case T_UNKNOWN:
        v.type = T_TEXT;
        v.s = s;
        ok = true;
        break;
    case T_TEXT:
        v.s = s;
        ok = true;
        break;
    case T_INT:
        ok = parse_int(s, &v.i);
        break;
    case T_DEC:
        ok = parse_decimal(a, s, &v.s);
        break;
    case T_REAL:
        ok = parse_real(s, &v.f);
        break;
    case T_BOOL:
        ok = parse_bool(s, &v.i);
        break;
    case T_DATE:
        ok = take_date(s, &i, &v.i) && i == s.n;
        break;
    case T_TIMESTAMP:
        ok = parse_timestamp(s, &v.i);
        break;
    case T_TIME:
        ok = take_time(s, &i, &v.i) && i == s.n;
        break;
    case T_UUID:
        ok = parse_uuid(a, s, &v.s);
        break;
    }
    if (ok)
        *out = v;
    return ok;
}

/* --- printing ------------------------------------------------------------ */

static void print_quoted(struct sb *b, struct str s)
{
    sb_char(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            sb_char(b, '\'');
        sb_char(b, s.p[i]);
    }
    sb_char(b, '\'');
}

/* The ends of the range stand for PostgreSQL's infinite dates; the calendar
 * below would overflow on them. */
static bool print_infinite(struct sb *b, int64_t v)
{
    if (v != INT64_MIN && v != INT64_MAX)
        return false;
    sb_cstr(b, v < 0 ? "-infinity" : "infinity");
    return true;
}

static void print_date(struct sb *b, int64_t days)
{
    if (print_infinite(b, days))
        return;
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    int64_t d = doy - (153 * mp + 2) / 5 + 1;
    int64_t m = mp < 10 ? mp + 3 : mp - 9;
    sb_printf(b, "%04" PRId64 "-%02" PRId64 "-%02" PRId64,
              yoe + era * 400 + (m <= 2), m, d);
}

static void print_time(struct sb *b, int64_t micros)
{
    int64_t sec = micros / 1000000;
    sb_printf(b, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, sec / 3600,
              sec / 60 % 60, sec % 60);
    if (micros % 1000000)
        sb_printf(b, ".%06" PRId64, micros % 1000000);
}

static void print_timestamp(struct sb *b, int64_t v)
{
    if (print_infinite(b, v))
        return;
    int64_t day = INT64_C(86400000000);
    int64_t days = v / day - (v % day < 0);
    print_date(b, days);
    sb_char(b, ' ');
    print_time(b, v - days * day);
}

static void print_real(struct sb *b, double v)
{
    char buf[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (strtod(buf, NULL) == v || isnan(v))
            break;
    }
    sb_cstr(b, buf);
}

void value_print(struct sb *b, const struct value *v)
{
    if (v->is_null) {
        sb_cstr(b, "null");
        return;
    }
    switch (v->type) {
    case T_INT:
        sb_printf(b, "%" PRId64, v->i);
        return;
    case T_DEC:
        if (v->s.n && (is_digit(v->s.p[0]) || v->s.p[0] == '-') &&
            !str_is(v->s, "-Infinity")) {
            sb_str(b, v->s);
            return;
        }
        sb_cstr(b, "numeric ");
        print_quoted(b, v->s);
        return;
    case T_REAL:
        sb_cstr(b, "real '");
        print_real(b, v->f);
        break;
    case T_BOOL:
        sb_cstr(b, v->i ? "true" : "false");
        return;
    case T_DATE:
        sb_cstr(b, "date '");
        print_date(b, v->i);
        break;
    case T_TIMESTAMP:
        sb_cstr(b, "timestamp '");
        print_timestamp(b, v->i);
        break;
    case T_TIME:
        sb_cstr(b, "time '");
        print_time(b, v->i);
        break;
    case T_UUID:
        sb_cstr(b, "uuid '");
        sb_str(b, v->s);
        break;
    case T_TEXT:
    case T_UNKNOWN:
        print_quoted(b, v->s);
        return;
    }
    sb_char(b, '\'');
}

void value_plain(struct sb *b, const struct value *v)
{
    if (v->is_null)
        return;
    switch (v->type) {
    case T_REAL:
        print_real(b, v->f);
        return;
    case T_DATE:
        print_date(b, v->i);
        return;
    case T_TIMESTAMP:
        print_timestamp(b, v->i);
        return;
    case T_TIME:
        print_time(b, v->i);
        return;
    case T_TEXT:
    case T_UUID:
    case T_DEC:
    case T_UNKNOWN:
        sb_str(b, v->s);
        return;
    case T_INT:
    case T_BOOL:
        value_print(b, v);
    }
}
