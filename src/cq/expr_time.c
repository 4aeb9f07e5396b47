/*
 * Dates and timestamps: fields, truncation, conversion. Days count from
 * 1970-01-01, microseconds from its midnight, proleptic Gregorian calendar
 * without time zones (all times are UTC), as PostgreSQL does for its types
 * without zone. Results saturate instead of failing. The ends of the 64-bit
 * range are PostgreSQL's infinite dates, and stay infinite as there.
 *
 * The calendar: civil_from_days in the form with eras of 400 years that
 * begin on 1 March, so that the leap day comes last.
 */
#include "cq/expr_int.h"

#include <inttypes.h>
#include <string.h>

static const int64_t day_us = 86400LL * 1000000;

static bool is_infinite(const struct value *v)
{
    return v->i == INT64_MIN || v->i == INT64_MAX;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Beyond any calendar; keeps sums of days inside 64 bits. */
static int64_t within_reach(int64_t days)
{
    const int64_t far = INT64_C(1) << 60;
    return days > far ? far : days < -far ? -far : days;
}

struct civil time_civil_of(int64_t days)
{
    days = within_reach(days);
    int64_t z = days + 719468, era = floor_div(z, 146097);
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    struct civil c;
    c.day = (int)(doy - (153 * mp + 2) / 5 + 1);
    c.month = (int)(mp < 10 ? mp + 3 : mp - 9);
    c.year = yoe + era * 400 + (c.month <= 2);
    return c;
}

int64_t time_civil_days(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2), era = floor_div(y, 400);
    int64_t yoe = y - era * 400;
    int64_t mp = (month + 9) % 12;
    int64_t doy = (153 * mp + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

int time_civil_weekday(int64_t days)
{
    int64_t w = (days % 7 + 10) % 7;
    return (int)w;
}

/* The ISO week belongs to the year of its Thursday. */
void time_civil_week(int64_t days, int64_t *year, int64_t *week)
{
    int64_t thursday = days - time_civil_weekday(days) + 3;
    *year = time_civil_of(thursday).year;
    *week = (thursday - time_civil_days(*year, 1, 1)) / 7 + 1;
}

enum field {
    F_YEAR,
    F_MONTH,
    F_DAY,
    F_DOW,
    F_ISODOW,
    F_DOY,
    F_QUARTER,
    F_WEEK,
    F_ISOYEAR,
    F_EPOCH,
    F_HOUR,
    F_MINUTE,
    F_SECOND,
    F_NONE
};

static const char *const field_names[F_NONE] = {
    "year", "month",   "day",   "dow",  "isodow", "doy",    "quarter",
    "week", "isoyear", "epoch", "hour", "minute", "second",
};

static enum field field_of(struct str name)
{
    for (unsigned i = 0; i < F_NONE; i++)
        if (str_eq_nocase(name, str_of(field_names[i])))
            return (enum field)i;
    return F_NONE;
}

static bool time_field_known(struct str field, enum type t)
{
    enum field f = field_of(field);
    if (t == T_TIME)
        return f >= F_EPOCH && f < F_NONE;
    return f < (t == T_DATE ? F_HOUR : F_NONE);
}

static int64_t date_field(enum field f, int64_t days)
{
    days = within_reach(days);
    struct civil c = time_civil_of(days);
    int64_t year, week;
    time_civil_week(days, &year, &week);
    switch (f) {
    case F_YEAR: /* there is no year 0: 1 BC is -1 */
        return c.year > 0 ? c.year : c.year - 1;
    case F_MONTH:
        return c.month;
    case F_DAY:
        return c.day;
    case F_DOW:
        return (time_civil_weekday(days) + 1) % 7;
    case F_ISODOW:
        return time_civil_weekday(days) + 1;
    case F_DOY:
        return days - time_civil_days(c.year, 1, 1) + 1;
    case F_QUARTER:
        return (c.month - 1) / 3 + 1;
    case F_WEEK:
        return week;
    default:
        return year > 0 ? year : year - 1;
    }
}

/* us microseconds as seconds: an exact decimal */
static bool seconds(struct arena *a, int64_t us, struct value *out)
{
    uint64_t abs = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    struct str s = str_printf(a, "%s%" PRIu64 ".%06" PRIu64, us < 0 ? "-" : "",
                              abs / 1000000, abs % 1000000);
    return s.p && value_parse_number(a, s, out);
}

/* Years and seconds of an infinite date are infinite, its other fields are
 * not known. */
static struct value infinite_field(enum field f, bool neg)
{
    struct value v = {.type = T_DEC};
    v.s = neg ? STR("-Infinity") : STR("Infinity");
    return f == F_YEAR || f == F_ISOYEAR || f == F_EPOCH ? v : value_null();
}

bool time_extract(struct arena *a, struct str name, const struct value *v,
                  struct value *out)
{
    enum field f = field_of(name);
    *out = value_null();
    if (!time_field_known(name, v->type) ||
        (v->type != T_DATE && v->type != T_TIMESTAMP && v->type != T_TIME))
        return true;
    if (is_infinite(v)) {
        *out = infinite_field(f, v->i < 0);
        return true;
    }
    /* 24:00 is a time of day too */
    int64_t days = v->type == T_DATE   ? v->i
                   : v->type == T_TIME ? 0
                                       : floor_div(v->i, day_us);
    if (f == F_EPOCH && v->type != T_DATE)
        return seconds(a, v->i, out);
    if (f == F_EPOCH) {
        struct value d = value_int(v->i), s = value_int(86400);
        return expr_num_binary(a, X_MUL, &d, &s, out);
    }
    if (f < F_EPOCH) {
        *out = value_int(date_field(f, days));
        return true;
    }
    int64_t us = v->i - days * day_us;
    if (f == F_SECOND)
        return seconds(a, us % 60000000, out);
    *out = value_int(f == F_HOUR ? us / 3600000000 : us / 60000000 % 60);
    return true;
}

static struct value make_time(enum type t, int64_t i)
{
    struct value v = {.type = t, .i = i};
    return v;
}

struct value time_to_timestamp(const struct value *v)
{
    int64_t us;
    if (v->type == T_TIMESTAMP)
        return *v;
    if (v->type != T_DATE)
        return value_null();
    if (__builtin_mul_overflow(v->i, day_us, &us))
        us = v->i < 0 ? INT64_MIN : INT64_MAX;
    return make_time(T_TIMESTAMP, us);
}

struct value time_to_date(const struct value *v)
{
    if (v->type == T_DATE)
        return *v;
    if (v->type != T_TIMESTAMP)
        return value_null();
    return make_time(T_DATE, is_infinite(v) ? v->i : floor_div(v->i, day_us));
}

struct value time_add_days(const struct value *date, int64_t days)
{
    int64_t sum;
    if (is_infinite(date))
        return *date;
    if (__builtin_add_overflow(date->i, days, &sum))
        sum = days < 0 ? INT64_MIN : INT64_MAX;
    return make_time(T_DATE, sum);
}

/* Units of a fixed length in microseconds; 0: another or none. */
static int64_t unit_us(struct str unit)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"second", 1000000},
                 {"minute", 60000000},
                 {"hour", 3600000000},
                 {"day", 86400000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_eq_nocase(unit, str_of(units[i].name)))
            return units[i].us;
    return 0;
}

static int64_t trunc_days(struct str unit, int64_t days)
{
    struct civil c = time_civil_of(days);
    if (str_eq_nocase(unit, STR("week")))
        return days - time_civil_weekday(days);
    if (str_eq_nocase(unit, STR("month")))
        return time_civil_days(c.year, c.month, 1);
    if (str_eq_nocase(unit, STR("quarter")))
        return time_civil_days(c.year, (c.month - 1) / 3 * 3 + 1, 1);
    return time_civil_days(c.year, 1, 1);
}

/* Is the field (of extract) or unit (of date_trunc) one that we know? */
static bool time_unit_known(struct str unit)
{
    static const char *const names[] = {"week", "month", "quarter", "year"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq_nocase(unit, str_of(names[i])))
            return true;
    return unit_us(unit) != 0;
}

struct value time_trunc(struct str unit, const struct value *v)
{
    struct value t = time_to_timestamp(v);
    if (t.is_null || !time_unit_known(unit))
        return value_null();
    if (is_infinite(&t))
        return t;
    int64_t us = unit_us(unit), out;
    if (us) {
        /* the part below the unit, taken off the end of the range too */
        int64_t rest = t.i % us;
        rest += rest < 0 ? us : 0;
        if (__builtin_sub_overflow(t.i, rest, &out))
            out = INT64_MIN;
        return make_time(T_TIMESTAMP, out);
    }
    int64_t days = trunc_days(unit, floor_div(t.i, day_us));
    struct value d = make_time(T_DATE, days);
    return time_to_timestamp(&d);
}
