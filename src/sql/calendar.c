/*
 * Dates of a query: intervals as constants, age, date_bin, to_char,
 * width_bucket, CURRENT_DATE. Intervals exist only next to a date: adding
 * one is an operation with three constants (months, days, microseconds).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sql/sql_int.h"

struct interval {
    int64_t months, days, us;
};

/* --- constants -------------------------------------------------------------
 */

static const struct unit {
    const char *name; /* or a beginning of it */
    size_t least;     /* letters that are needed */
    int64_t months, days, us;
} units[] = {
    {"years", 1, 12, 0, 0},         {"months", 3, 1, 0, 0},
    {"weeks", 1, 0, 7, 0},          {"days", 1, 0, 1, 0},
    {"hours", 1, 0, 0, 3600000000}, {"minutes", 1, 0, 0, 60000000},
    {"seconds", 1, 0, 0, 1000000},  {"quarters", 7, 3, 0, 0},
    {"decades", 6, 120, 0, 0},      {"centuries", 7, 1200, 0, 0},
    {"century", 7, 1200, 0, 0},     {"mons", 3, 1, 0, 0},
    {"mins", 3, 0, 0, 60000000},    {"secs", 3, 0, 0, 1000000},
};

static const struct unit *find_unit(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (n >= units[i].least && n <= strlen(units[i].name) &&
            strncasecmp(s, units[i].name, n) == 0)
            return &units[i];
    return NULL;
}

static bool add_part(struct interval *to, const struct unit *u, int64_t whole,
                     double fraction)
{
    const int64_t most = INT64_C(1) << 40;
    if (whole > most || whole < -most || (fraction != 0 && u->months))
        return false;
    to->months += u->months * whole;
    to->days += u->days * whole;
    int64_t unit_us = u->us + u->days * INT64_C(86400000000);
    if (u->us && whole > INT64_MAX / 4 / u->us)
        return false;
    to->us += u->us * whole + (int64_t)(fraction * (double)unit_us);
    return true;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* 12:30, 12:30:15 behind the number of hours */
static bool read_clock(const char **p, int64_t hours, bool neg,
                       struct interval *out)
{
    char *end;
    int64_t minutes = strtoll(*p + 1, &end, 10), us = 0;
    if (end == *p + 1 || minutes > 59 || minutes < 0)
        return false;
    if (*end == ':') {
        const char *s = end + 1;
        double seconds = strtod(s, &end);
        if (end == s || seconds < 0 || seconds >= 60)
            return false;
        us = (int64_t)(seconds * 1e6 + 0.5);
    }
    *p = end;
    if (hours > INT64_C(1) << 30)
        return false;
    us += hours * 3600000000 + minutes * 60000000;
    out->us += neg ? -us : us;
    return true;
}

/* "1 year 2 months", "3 days 04:05", "-90 minutes", "2 weeks ago"; `unit`:
 * of a number without one. */
static bool read_interval(const char *p, const struct unit *unit,
                          struct interval *out)
{
    bool any = false;
    unsigned seen = 0; /* each unit once, as in PostgreSQL */
    *out = (struct interval){0};
    for (p = skip_blanks(p); *p; p = skip_blanks(p)) {
        bool neg = *p == '-';
        char *end;
        if (strncasecmp(p, "ago", 3) == 0 && any && !*skip_blanks(p + 3)) {
            *out = (struct interval){-out->months, -out->days, -out->us};
            return true;
        }
        p += *p == '-' || *p == '+';
        if (!(*p >= '0' && *p <= '9'))
            return false;
        int64_t whole = strtoll(p, &end, 10);
        double fraction = *end == '.' ? strtod(end, &end) : 0;
        p = end;
        any = true;
        if (*p == ':') {
            if (!read_clock(&p, whole, neg, out))
                return false;
            continue;
        }
        p = skip_blanks(p);
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const struct unit *u = n ? find_unit(p, n) : unit;
        unsigned bit = u ? 1u << (unsigned)(u - units) : 0;
        bool again = (seen & bit) != 0;
        seen |= bit;
        if (!u || again ||
            !add_part(out, u, neg ? -whole : whole, neg ? -fraction : fraction))
            return false;
        p += n;
    }
    return any;
}

/* The unit of INTERVAL '5' DAY; NULL: none, or a range of units. */
static const struct unit *unit_of_type(const json_t *type)
{
    static const struct {
        json_int_t mask;
        size_t unit;
    } masks[] = {{4, 0}, {2, 1}, {8, 3}, {1024, 4}, {2048, 5}, {4096, 6}};
    const json_t *c =
        node_as(json_array_get(get(type, "typmods"), 0), "A_Const");
    json_int_t mask = json_integer_value(get(get(c, "ival"), "ival"));
    for (size_t i = 0; c && i < sizeof masks / sizeof *masks; i++)
        if (masks[i].mask == mask)
            return &units[masks[i].unit];
    return NULL;
}

static enum status bad_interval(struct lower *l, long at)
{
    err_set(l->err, E_VALUE, "the interval is not understood");
    err_at(l->err, at);
    err_hint(l->err, "Write INTERVAL '1 year 2 months', '3 days', '90 minutes' "
                     "or '1 day 02:30'.");
    return E_VALUE;
}

static enum status times(struct lower *l, struct scope *sc, const json_t *node,
                         struct interval *out, long at)
{
    struct expr *e;
    TRY(lower_scalar(l, sc, node, &e));
    int64_t n = e->val.i, most = INT64_C(1) << 30;
    if (e->op != X_CONST || e->val.is_null || e->val.type != T_INT ||
        n > most || n < -most || out->us > most * 4096 ||
        out->us < -most * 4096)
        return bad_interval(l, at);
    if (__builtin_mul_overflow(out->us, n, &out->us) ||
        __builtin_mul_overflow(out->days, n, &out->days) ||
        __builtin_mul_overflow(out->months, n, &out->months))
        return bad_interval(l, at);
    return OK;
}

bool sql_is_interval(const json_t *node)
{
    const json_t *cast = node_as(node, "TypeCast"),
                 *x = node_as(node, "A_Expr");
    if (cast)
        return strcmp(last_name(get(get(cast, "typeName"), "names")),
                      "interval") == 0;
    const char *op = x ? string_of(json_array_get(get(x, "name"), 0)) : "";
    return strcmp(op, "*") == 0 && (sql_is_interval(get(x, "lexpr")) ||
                                    sql_is_interval(get(x, "rexpr")));
}

static enum status interval_value(struct lower *l, struct scope *sc,
                                  const json_t *node, struct interval *out)
{
    const json_t *cast = node_as(node, "TypeCast"),
                 *x = node_as(node, "A_Expr");
    long at = node_location(node);
    if (x) {
        bool left = sql_is_interval(get(x, "lexpr"));
        TRY(lower_enter(l, at));
        enum status st =
            interval_value(l, sc, get(x, left ? "lexpr" : "rexpr"), out);
        lower_leave(l);
        TRY(st);
        return times(l, sc, get(x, left ? "rexpr" : "lexpr"), out, at);
    }
    const json_t *type = get(cast, "typeName");
    const json_t *c = node_as(get(cast, "arg"), "A_Const");
    const json_t *text = get(c, "sval");
    const struct unit *unit = unit_of_type(type);
    if (!text || (get(type, "typmods") && !unit))
        return sql_refuse(l->err, NO_INTERVAL, at);
    return read_interval(get_text(text, "sval"), unit, out)
               ? OK
               : bad_interval(l, at);
}

static enum status shift(struct lower *l, struct expr *e,
                         const struct interval *by, long at, struct expr **out)
{
    struct expr *v[4] = {e};
    if (is_untyped(e) || (e->type != T_DATE && e->type != T_TIMESTAMP))
        return sql_refuse(l->err, NO_INTERVAL, at);
    TRY(make_const(l, value_int(by->months), &v[1]));
    TRY(make_const(l, value_int(by->days), &v[2]));
    TRY(make_const(l, value_int(by->us), &v[3]));
    return make(l, X_SHIFT, 4, v, out);
}

/* date + interval, interval + date, date - interval */
enum status lower_interval_sum(struct lower *l, struct scope *sc,
                               const json_t *left, const json_t *right,
                               bool minus, long at, struct expr **out)
{
    struct interval by;
    struct expr *e;
    bool first = sql_is_interval(left);
    if (first && (minus || sql_is_interval(right)))
        return sql_refuse(l->err, NO_INTERVAL, at);
    TRY(interval_value(l, sc, first ? left : right, &by));
    if (minus)
        by = (struct interval){-by.months, -by.days, -by.us};
    TRY(lower_scalar(l, sc, first ? right : left, &e));
    return shift(l, e, &by, at, out);
}

/* --- functions --------------------------------------------------------------
 */

enum status lower_today(struct lower *l, const json_t *f, struct expr **out)
{
    struct value v = {.type = T_DATE, .i = l->opt ? l->opt->today : 0};
    if (strcmp(get_text(f, "op"), "SVFOP_CURRENT_DATE") != 0 || !v.i)
        return sql_refuse(l->err, NO_VOLATILE, get_location(f));
    return make_const(l, v, out);
}

static enum status need_time(struct lower *l, struct expr *e, const char *name,
                             long at)
{
    if (!is_untyped(e) && (e->type == T_DATE || e->type == T_TIMESTAMP))
        return OK;
    return sql_type_error(l, at, name, e, NULL);
}

/* extract(year FROM age(later, earlier)); earlier today: age(x). */
static enum status lower_age(struct lower *l, struct scope *sc,
                             const json_t *call, const json_t *age, long at,
                             struct expr **out)
{
    struct expr *field, *v[2];
    const json_t *args = get(age, "args");
    size_t n = json_array_size(args);
    TRY(lower_scalar(l, sc, json_array_get(get(call, "args"), 0), &field));
    if (field->op != X_CONST || field->val.is_null || n < 1 || n > 2 ||
        !str_eq_nocase(field->val.s, STR("year")))
        return sql_refuse(l->err, NO_AGE, at);
    if (n == 1) {
        struct value today = {.type = T_DATE, .i = l->opt ? l->opt->today : 0};
        if (!today.i)
            return sql_refuse(l->err, NO_VOLATILE, at);
        TRY(make_const(l, today, &v[0]));
    } else {
        TRY(lower_scalar(l, sc, json_array_get(args, 0), &v[0]));
    }
    TRY(lower_scalar(l, sc, json_array_get(args, n - 1), &v[1]));
    TRY(need_time(l, v[0], "age", at));
    TRY(need_time(l, v[1], "age", at));
    return make(l, X_YEARS, 2, v, out);
}

/* date_bin('15 minutes', t, TIMESTAMP '2000-01-01') */
static enum status lower_bin(struct lower *l, struct scope *sc,
                             const json_t *call, long at, struct expr **out)
{
    const json_t *args = get(call, "args");
    const json_t *first = json_array_get(args, 0);
    const json_t *text = get(node_as(first, "A_Const"), "sval");
    struct interval by;
    struct expr *v[3];
    if (json_array_size(args) != 3)
        return sql_refuse(l->err, NO_FUNCTION, at);
    if (text ? !read_interval(get_text(text, "sval"), NULL, &by)
             : !sql_is_interval(first))
        return bad_interval(l, at);
    if (!text)
        TRY(interval_value(l, sc, first, &by));
    TRY(lower_scalar(l, sc, json_array_get(args, 1), &v[0]));
    TRY(lower_scalar(l, sc, json_array_get(args, 2), &v[2]));
    if (is_untyped(v[2]))
        TRY(give_type(l, &v[2], T_TIMESTAMP, at));
    TRY(need_time(l, v[0], "date_bin", at));
    TRY(need_time(l, v[2], "date_bin", at));
    int64_t us = by.us + by.days * INT64_C(86400000000);
    if (by.months || us <= 0 || by.days > 100000 || v[2]->op != X_CONST)
        return bad_interval(l, at);
    TRY(make_const(l, value_int(us), &v[1]));
    return make(l, X_BIN, 3, v, out);
}

/* Functions one of whose arguments is an interval. */
enum status lower_calendar(struct lower *l, struct scope *sc, const char *name,
                           const json_t *call, struct expr **out, bool *done)
{
    long at = get_location(call);
    const json_t *second =
        node_as(json_array_get(get(call, "args"), 1), "FuncCall");
    *done = true;
    if (strcmp(name, "date_bin") == 0)
        return lower_bin(l, sc, call, at, out);
    bool field = strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0;
    if (field && second &&
        strcmp(last_name(get(second, "funcname")), "age") == 0)
        return lower_age(l, sc, call, second, at, out);
    if (strcmp(name, "age") == 0)
        return sql_refuse(l->err, NO_AGE, at);
    *done = false;
    return OK;
}

enum status lower_to_char(struct lower *l, struct expr **v, uint32_t n, long at,
                          struct expr **out)
{
    if (n != 2 || v[1]->op != X_CONST || v[1]->val.is_null ||
        v[1]->val.type != T_TEXT || v[1]->val.s.n > 200 ||
        !time_format_known(v[1]->val.s))
        return sql_refuse(l->err, NO_TO_CHAR, at);
    TRY(need_time(l, v[0], "to_char", at));
    v[1]->type = T_TEXT;
    return make(l, X_TO_CHAR, 2, v, out);
}

enum { MOST_BUCKETS = 1000 };

/* (x - lo) * n < i * (hi - lo) */
static enum status below(struct lower *l, struct expr *scaled,
                         struct expr *width, int64_t i, struct expr **out)
{
    struct expr *k, *limit;
    TRY(make_const(l, value_int(i), &k));
    TRY(make2(l, X_MUL, k, width, &limit));
    return make2(l, X_LT, scaled, limit, out);
}

/* width_bucket(x, lo, hi, n) with constants, lo < hi: 0 below, n + 1 from hi
 * on. A choice among comparisons, which are exact. */
enum status lower_bucket(struct lower *l, struct expr **v, uint32_t n, long at,
                         struct expr **out)
{
    struct expr *width, *from, *scaled;
    for (uint32_t i = 1; n == 4 && i < 4; i++)
        if (v[i]->op != X_CONST || v[i]->val.is_null ||
            (v[i]->val.type != T_INT && v[i]->val.type != T_DEC))
            n = 0;
    if (n != 4 || (v[0]->type != T_INT && v[0]->type != T_DEC) ||
        v[3]->val.type != T_INT || v[3]->val.i < 1 ||
        v[3]->val.i > MOST_BUCKETS || value_cmp(&v[1]->val, &v[2]->val) >= 0)
        return sql_refuse(l->err, NO_BUCKET, at);
    int64_t buckets = v[3]->val.i;
    uint32_t size = (uint32_t)(2 * (buckets + 1) + 1);
    struct expr **c = NEWS(l->arena, struct expr *, size);
    if (!c)
        return err_nomem(l->err);
    TRY(make2(l, X_SUB, v[2], v[1], &width));
    TRY(make2(l, X_SUB, v[0], v[1], &from));
    TRY(make2(l, X_MUL, from, v[3], &scaled));
    for (int64_t i = 0; i <= buckets; i++) {
        TRY(below(l, scaled, width, i, &c[2 * i]));
        TRY(make_const(l, value_int(i), &c[2 * i + 1]));
    }
    struct expr *known;
    TRY(make1(l, X_ISNULL, v[0], &known));
    TRY(make_const(l, value_int(buckets + 1), &c[size - 1]));
    TRY(make(l, X_CASE, size, c, out));
    struct expr *choice[3] = {known, NULL, *out};
    TRY(make_const(l, value_null(), &choice[1]));
    choice[1]->type = T_INT;
    return make(l, X_CASE, 3, choice, out);
}
