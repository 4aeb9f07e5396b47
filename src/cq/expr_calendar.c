/*
 * Arithmetic of the calendar, as PostgreSQL does it for types without time
 * zone: intervals, whole years, bins, text of a date. Total: results saturate
 * at the infinite dates, which stay infinite; an argument of another type
 * gives NULL.
 */
#include "cq/expr_int.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/pattern.h"

static const int64_t day_us = 86400LL * 1000000;
static const int64_t far_days = INT64_C(100000000); /* beyond any timestamp */

static bool is_infinite(int64_t i)
{
    return i == INT64_MIN || i == INT64_MAX;
}

static struct value stamp(int64_t us)
{
    struct value v = {.type = T_TIMESTAMP, .i = us};
    return v;
}

/* Days and microseconds of the day; false: neither date nor timestamp. */
static bool split(const struct value *v, int64_t *days, int64_t *us)
{
    *us = 0;
    *days = v->i;
    if (v->type == T_TIMESTAMP) {
        *days = v->i / day_us - (v->i % day_us < 0);
        *us = v->i - *days * day_us;
    }
    return v->type == T_DATE || v->type == T_TIMESTAMP;
}

static int month_days(int64_t year, int month)
{
    int64_t next = month == 12 ? time_civil_days(year + 1, 1, 1)
                               : time_civil_days(year, month + 1, 1);
    return (int)(next - time_civil_days(year, month, 1));
}

/* The same day of another month, or its last. */
static int64_t add_months(int64_t days, int64_t months)
{
    struct civil c = time_civil_of(days);
    int64_t m = c.year * 12 + c.month - 1 + months;
    int64_t year = m / 12 - (m % 12 < 0);
    int month = (int)(m - year * 12) + 1, last = month_days(year, month);
    return time_civil_days(year, month, c.day < last ? c.day : last);
}

static int64_t clamp(int64_t v, int64_t most)
{
    return v > most ? most : v < -most ? -most : v;
}

struct value time_shift(const struct value *v)
{
    int64_t days, us, sum;
    if (!split(&v[0], &days, &us) || v[1].type != T_INT || v[2].type != T_INT ||
        v[3].type != T_INT)
        return value_null();
    if (is_infinite(v[0].i))
        return stamp(v[0].i);
    days = clamp(days, far_days);
    if (v[1].i)
        days = add_months(days, clamp(v[1].i, far_days));
    days = clamp(days + clamp(v[2].i, 16 * far_days), 16 * far_days);
    if (__builtin_mul_overflow(days, day_us, &sum) ||
        __builtin_add_overflow(sum, us, &sum) ||
        __builtin_add_overflow(sum, v[3].i, &sum))
        sum = (days ? days : v[3].i) < 0 ? INT64_MIN : INT64_MAX;
    return stamp(sum);
}

/* Between two of which the first is not earlier. */
static int64_t years_between(int64_t later, int64_t late_us, int64_t earlier,
                             int64_t early_us)
{
    struct civil a = time_civil_of(later), b = time_civil_of(earlier);
    int64_t years = a.year - b.year;
    if (a.month != b.month)
        return years - (a.month < b.month);
    if (a.day != b.day)
        return years - (a.day < b.day);
    return years - (late_us < early_us);
}

struct value time_years(const struct value *later, const struct value *earlier)
{
    int64_t a, b, a_us, b_us;
    if (!split(later, &a, &a_us) || !split(earlier, &b, &b_us) ||
        is_infinite(later->i) || is_infinite(earlier->i))
        return value_null();
    bool back = a < b || (a == b && a_us < b_us);
    return value_int(back ? -years_between(b, b_us, a, a_us)
                          : years_between(a, a_us, b, b_us));
}

struct value time_bin(const struct value *v)
{
    struct value at = time_to_timestamp(&v[0]), from = time_to_timestamp(&v[2]);
    int64_t delta, rest, out;
    if (at.is_null || from.is_null || v[1].type != T_INT || v[1].i <= 0 ||
        is_infinite(from.i))
        return value_null();
    if (is_infinite(at.i))
        return at;
    if (__builtin_sub_overflow(at.i, from.i, &delta))
        return value_null();
    rest = delta % v[1].i;
    rest += rest < 0 ? v[1].i : 0;
    return stamp(__builtin_sub_overflow(at.i, rest, &out) ? INT64_MIN : out);
}

/* --- to_char ---------------------------------------------------------------
 */

static const char *const months[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
static const char *const weekdays[] = {"Monday",   "Tuesday", "Wednesday",
                                       "Thursday", "Friday",  "Saturday",
                                       "Sunday"};

/* The first three letters in the case of the pattern: MON, Mon, mon. */
static void print_short(struct sb *b, const char *name, const char *like)
{
    for (int i = 0; i < 3; i++) {
        char c = name[i];
        bool upper = like[i] >= 'A' && like[i] <= 'Z';
        if (upper && c >= 'a')
            c = (char)(c - 32);
        if (!upper && c < 'a')
            c = (char)(c + 32);
        sb_char(b, c);
    }
}

struct moment {
    int64_t days, us;
    struct civil c;
};

/* Patterns, longer ones before those they begin with. */
static const char *const patterns[] = {
    "FMMONTH", "FMMonth", "FMmonth", "FMDAY", "FMDay", "FMday", "MONTH",
    "Month",   "month",   "DAY",     "Day",   "day",   "YYYY",  "IYYY",
    "YY",      "MM",      "DDD",     "DD",    "HH24",  "HH12",  "HH",
    "MI",      "SS",      "MON",     "Mon",   "mon",   "DY",    "Dy",
    "dy",      "WW",      "IW",      "ID",    "D",     "Q",     NULL};

/* The pattern at the start of s, or NULL. */
static const char *pattern_at(struct str s)
{
    for (size_t i = 0; patterns[i]; i++)
        if (s.n >= strlen(patterns[i]) &&
            memcmp(s.p, patterns[i], strlen(patterns[i])) == 0)
            return patterns[i];
    return NULL;
}

static bool is(const char *p, const char *name)
{
    return strcmp(p, name) == 0;
}

static void print_clock(struct sb *b, const char *p, int64_t us)
{
    int64_t hour = us / 3600000000;
    if (is(p, "HH24"))
        sb_printf(b, "%02" PRId64, hour);
    else if (is(p, "MI"))
        sb_printf(b, "%02" PRId64, us / 60000000 % 60);
    else if (is(p, "SS"))
        sb_printf(b, "%02" PRId64, us / 1000000 % 60);
    else
        sb_printf(b, "%02" PRId64, hour % 12 ? hour % 12 : 12);
}

static void print_week(struct sb *b, const char *p, const struct moment *m)
{
    int64_t year, week;
    int64_t doy = m->days - time_civil_days(m->c.year, 1, 1) + 1;
    time_civil_week(m->days, &year, &week);
    if (is(p, "IYYY"))
        sb_printf(b, "%04" PRId64, year);
    else if (is(p, "IW"))
        sb_printf(b, "%02" PRId64, week);
    else if (is(p, "WW"))
        sb_printf(b, "%02" PRId64, (doy - 1) / 7 + 1);
    else if (is(p, "ID"))
        sb_printf(b, "%d", time_civil_weekday(m->days) + 1);
    else
        sb_printf(b, "%d", (time_civil_weekday(m->days) + 1) % 7 + 1);
}

/* MONTH, Day, and the like: nine letters wide unless FM stands before it. */
static bool is_long(const char *p)
{
    return strcasecmp(p, "month") == 0 || strcasecmp(p, "day") == 0;
}

static void print_long(struct sb *b, const char *p, const struct moment *m)
{
    bool pad = strncmp(p, "FM", 2) != 0;
    const char *like = pad ? p : p + 2;
    const char *name = strcasecmp(like, "month") == 0
                           ? months[m->c.month - 1]
                           : weekdays[time_civil_weekday(m->days)];
    for (size_t i = 0; name[i]; i++) {
        bool upper = like[i > 0] >= 'A' && like[i > 0] <= 'Z';
        char c = name[i];
        sb_char(b, upper && c >= 'a'   ? (char)(c - 32)
                   : !upper && c < 'a' ? (char)(c + 32)
                                       : c);
    }
    if (pad)
        sb_printf(b, "%*s", (int)(9 - strlen(name)), "");
}

static void print_pattern(struct sb *b, const char *p, const struct moment *m)
{
    if (is_long(p) || p[0] == 'F')
        print_long(b, p, m);
    else if (p[0] == 'H' || is(p, "MI") || is(p, "SS"))
        print_clock(b, p, m->us);
    else if (p[0] == 'I')
        print_week(b, p, m);
    else if (is(p, "YYYY"))
        sb_printf(b, "%04" PRId64, m->c.year);
    else if (is(p, "YY"))
        sb_printf(b, "%02" PRId64, m->c.year % 100);
    else if (is(p, "MM"))
        sb_printf(b, "%02d", m->c.month);
    else if (is(p, "DD"))
        sb_printf(b, "%02d", m->c.day);
    else if (is(p, "DDD"))
        sb_printf(b, "%03" PRId64,
                  m->days - time_civil_days(m->c.year, 1, 1) + 1);
    else if (is(p, "Q"))
        sb_printf(b, "%d", (m->c.month - 1) / 3 + 1);
    else if (p[1] == 'O' || p[1] == 'o')
        print_short(b, months[m->c.month - 1], p);
    else if (p[1] == 'Y' || p[1] == 'y')
        print_short(b, weekdays[time_civil_weekday(m->days)],
                    p[0] == 'd'   ? "ddd"
                    : p[1] == 'Y' ? "DDD"
                                  : "Ddd");
    else
        print_week(b, p, m);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How long the text in quotes at the start of s is; 0: none, or without an end
 * or with a backslash in it. */
static size_t quoted(struct str s)
{
    if (!s.n || s.p[0] != '"')
        return 0;
    for (size_t i = 1; i < s.n && s.p[i] != '\\'; i++)
        if (s.p[i] == '"')
            return i + 1;
    return 0;
}

bool time_format_known(struct str f)
{
    for (size_t i = 0; i < f.n;) {
        size_t text = quoted((struct str){f.p + i, f.n - i});
        if (text) {
            i += text;
            continue;
        }
        const char *p = pattern_at((struct str){f.p + i, f.n - i});
        if (!p && (is_letter(f.p[i]) || f.p[i] == '"' || f.p[i] == '\\'))
            return false;
        i += p ? strlen(p) : 1;
    }
    return f.n > 0;
}

bool time_to_char(struct arena *a, const struct value *v, struct str f,
                  struct value *out)
{
    struct moment m;
    struct sb b;
    *out = value_null();
    if (!split(v, &m.days, &m.us) || is_infinite(v->i) ||
        f.n > EXPR_MAX_TEXT / 8)
        return true;
    m.c = time_civil_of(m.days);
    if (m.c.year < 1) /* PostgreSQL counts those backwards */
        return true;
    sb_init(&b, a);
    for (size_t i = 0; i < f.n;) {
        size_t text = quoted((struct str){f.p + i, f.n - i});
        if (text) {
            sb_add(&b, f.p + i + 1, text - 2);
            i += text;
            continue;
        }
        const char *p = pattern_at((struct str){f.p + i, f.n - i});
        if (p)
            print_pattern(&b, p, &m);
        else
            sb_char(&b, f.p[i]);
        i += p ? strlen(p) : 1;
    }
    if (!b.failed)
        *out = value_text(sb_view(&b));
    return !b.failed;
}

/* --- patterns --------------------------------------------------------------
 */

struct value expr_text_regex(const struct value *v)
{
    struct pattern p;
    bool similar = str_is(v[2].s, "similar");
    if (v[0].type != T_TEXT || v[1].type != T_TEXT ||
        pattern_compile(&p, v[1].s.p, v[1].s.n,
                        similar ? PATTERN_SIMILAR : PATTERN_POSIX,
                        str_is(v[2].s, "~*")))
        return value_null();
    struct value out = {.type = T_BOOL};
    out.i = pattern_matches(&p, v[0].s.p, v[0].s.n);
    return out;
}
