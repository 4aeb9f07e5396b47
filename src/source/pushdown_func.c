/*
 * Functions as SQL. Each must give on every row just what expr_eval gives, and
 * must fail on none: an error of the database that depends on a row would tell
 * of it (PRIVACY). So integers become numeric, where nothing overflows, case
 * is changed letter by letter (ASCII only, whatever the locale), and what can
 * leave the range of a type is cut off before. Arithmetic of floating-point
 * numbers, which overflows with an error, is refused.
 */
#include <string.h>

#include <libpq-fe.h>
#include "source/pg.h"
#include "source/pushdown_gen.h"

enum {
    VERSION_14 = 140000,
    MAX_PLACES = 1000,
    MAX_JOINED = 4,
    MAX_WILD = 100,    /* LIKE goes one call deeper for each % */
    MAX_TEXT = 1 << 22 /* some write an argument several times */
};

static const char upper_case[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char lower_case[] = "abcdefghijklmnopqrstuvwxyz";

struct out {
    struct source_counter *c;
    uint32_t atom;
    struct sb *b;
    struct err *err;
};

static enum status refuse(const struct out *o, const char *what)
{
    return sql_refuse_expr(o->err, what);
}

static enum status arg(const struct out *o, const struct expr *e)
{
    return sql_expr(o->c, o->atom, e, o->b, o->err);
}

static bool is_exact(const struct expr *e)
{
    return e->type == T_INT || e->type == T_DEC;
}

static bool is_int_const(const struct expr *e)
{
    return e->op == X_CONST && !e->val.is_null && e->val.type == T_INT;
}

static bool is_text_const(const struct expr *e)
{
    return e->op == X_CONST && !e->val.is_null && e->val.type == T_TEXT;
}

/* f(arguments), texts bytewise. */
static enum status call(const struct out *o, const char *f,
                        const struct expr *e)
{
    sb_printf(o->b, "(%s(", f);
    for (uint32_t i = 0; i < e->n_args; i++) {
        sb_cstr(o->b, i ? ", " : "");
        TRY(arg(o, e->args[i]));
    }
    sb_cstr(o->b, e->type == T_TEXT ? ") COLLATE \"C\")" : "))");
    return OK;
}

/* --- numbers
 * -------------------------------------------------------------------*/

static int server_version(const struct out *o)
{
    return PQserverVersion(o->c->src->pg->conn);
}

static enum status numeric(const struct out *o, const struct expr *e)
{
    return sql_numeric(o->c, o->atom, e, o->b, o->err);
}

/* abs, floor, ceil, round; of doubles too: none of them can leave the type */
static enum status unary(const struct out *o, const char *f,
                         const struct expr *e)
{
    sb_printf(o->b, "%s(", f);
    if (e->args[0]->type == T_REAL)
        TRY(arg(o, e->args[0]));
    else
        TRY(numeric(o, e->args[0]));
    sb_cstr(o->b, ")");
    return OK;
}

static enum status rounded(const struct out *o, const struct expr *e)
{
    if (e->n_args == 1)
        return unary(o, "round", e);
    if (!is_int_const(e->args[1]) || e->args[1]->val.i > MAX_PLACES ||
        e->args[1]->val.i < -MAX_PLACES)
        return refuse(o, "round with so many places");
    sb_cstr(o->b, "round(");
    TRY(numeric(o, e->args[0]));
    sb_printf(o->b, ", %d)", (int)e->args[1]->val.i);
    return OK;
}

/* Towards zero; the remainder has the sign of the dividend. The divisor is a
 * column or a constant, so 64 bits hold it. */
static enum status divided(const struct out *o, const char *f,
                           const struct expr *e)
{
    const struct expr *by = e->args[1];
    if (by->op == X_NULLIF)
        by = by->args[0];
    if (e->args[0]->type != T_INT || by->type != T_INT ||
        (by->op != X_VAR && by->op != X_CONST))
        return refuse(o, "this division");
    sb_printf(o->b, "%s(", f);
    TRY(numeric(o, e->args[0]));
    sb_cstr(o->b, ", NULLIF(");
    TRY(numeric(o, e->args[1]));
    sb_cstr(o->b, ", 0))");
    return OK;
}

/* 2^1024 - 2^970: from here on the nearest double is infinite. */
static void put_bound(struct sb *b)
{
    enum { DIGITS = 310 };
    unsigned char d[DIGITS] = {1}; /* lowest first */
    for (unsigned n = 0; n < 1024; n++) {
        /* 2^54 - 1, and then 970 times as much */
        unsigned carry = 0;
        for (unsigned i = 0; i < DIGITS; i++) {
            unsigned x = 2U * d[i] + carry;
            d[i] = (unsigned char)(x % 10);
            carry = x / 10;
        }
        for (unsigned i = 0; n == 53; i++) {
            bool borrow = !d[i];
            d[i] = borrow ? 9 : (unsigned char)(d[i] - 1);
            if (!borrow)
                break;
        }
    }
    unsigned top = DIGITS;
    while (top > 1 && !d[top - 1])
        top--;
    while (top)
        sb_char(b, (char)('0' + d[--top]));
}

/* 2^-1075, 5^1075 behind the point: up to here the nearest double is 0. */
static void put_small(struct sb *b)
{
    enum { POWER = 1075 };
    unsigned char d[POWER] = {1};
    for (unsigned n = 0; n < POWER; n++) {
        unsigned carry = 0;
        for (unsigned i = 0; i < POWER; i++) {
            unsigned x = 5U * d[i] + carry;
            d[i] = (unsigned char)(x % 10);
            carry = x / 10;
        }
    }
    sb_cstr(b, "0.");
    for (unsigned i = POWER; i;)
        sb_char(b, (char)('0' + d[--i]));
}

static enum status widened(const struct out *o, const struct expr *e)
{
    sb_char(o->b, '(');
    TRY(arg(o, e));
    sb_cstr(o->b, ")::numeric");
    return OK;
}

/* A wide numeric would be an error; the nearest double is infinite, or 0. */
static enum status to_real(const struct out *o, const struct expr *e)
{
    const struct expr *x = e->args[0];
    if (x->type == T_REAL)
        return arg(o, x);
    if (!is_exact(x))
        return refuse(o, "a conversion of this to floating point");
    if (x->type == T_INT && (x->op == X_VAR || x->op == X_CONST)) {
        sb_char(o->b, '(');
        TRY(arg(o, x));
        sb_cstr(o->b, ")::float8");
        return OK;
    }
    sb_cstr(o->b, "(CASE WHEN ");
    TRY(widened(o, x));
    sb_cstr(o->b, " = 'NaN' THEN 'NaN'::float8 WHEN ");
    TRY(widened(o, x));
    sb_cstr(o->b, " >= ");
    put_bound(o->b);
    sb_cstr(o->b, " THEN 'Infinity'::float8 WHEN ");
    TRY(widened(o, x));
    sb_cstr(o->b, " <= -");
    put_bound(o->b);
    sb_cstr(o->b, " THEN '-Infinity'::float8 WHEN abs(");
    TRY(widened(o, x));
    sb_cstr(o->b, ") <= ");
    put_small(o->b);
    sb_cstr(o->b, " THEN 0::float8 ELSE ");
    TRY(widened(o, x));
    sb_cstr(o->b, "::float8 END)");
    return OK;
}

/* --- texts
 * ---------------------------------------------------------------------*/

static enum status recased(const struct out *o, const struct expr *e,
                           const char *from, const char *to)
{
    if (e->type != T_TEXT)
        return refuse(o, "the case of this type");
    sb_cstr(o->b, "(translate(");
    TRY(arg(o, e));
    sb_printf(o->b, ", '%s', '%s') COLLATE \"C\")", from, to);
    return OK;
}

static enum status to_text(const struct out *o, const struct expr *e)
{
    enum type t = e->args[0]->type;
    if (t != T_INT && t != T_BOOL && t != T_UUID && t != T_TEXT)
        return refuse(o, "the text of this type");
    sb_cstr(o->b, "((");
    TRY(arg(o, e->args[0]));
    sb_cstr(o->b, ")::text COLLATE \"C\")");
    return OK;
}

/* The first position may be anywhere: cut to what the database's function
 * takes, far beyond the longest text. The length is a constant. */
static enum status substring(const struct out *o, const struct expr *e)
{
    bool bounded = e->n_args > 2;
    if (e->args[0]->type != T_TEXT || e->args[1]->type != T_INT ||
        (bounded && (!is_int_const(e->args[2]) || e->args[2]->val.i < 0 ||
                     e->args[2]->val.i > INT32_MAX)))
        return refuse(o, "this substring");
    sb_cstr(o->b, "(substr(");
    TRY(arg(o, e->args[0]));
    sb_cstr(o->b, ", (CASE WHEN ");
    TRY(numeric(o, e->args[1]));
    sb_printf(o->b, " < -%d THEN -%d WHEN ", INT32_MAX, INT32_MAX);
    TRY(numeric(o, e->args[1]));
    sb_printf(o->b, " > %d THEN %d ELSE ", INT32_MAX, INT32_MAX);
    TRY(numeric(o, e->args[1]));
    sb_cstr(o->b, " END)::int");
    if (bounded)
        sb_printf(o->b, ", %d", (int)e->args[2]->val.i);
    sb_cstr(o->b, ") COLLATE \"C\")");
    return OK;
}

static unsigned variables(const struct expr *e)
{
    unsigned n = e->op == X_VAR;
    for (uint32_t i = 0; i < e->n_args; i++)
        n += variables(e->args[i]);
    return n;
}

/* Texts have a longest length: what is joined must not multiply. */
static enum status concatenated(const struct out *o, const struct expr *e)
{
    if (e->args[0]->type != T_TEXT || e->args[1]->type != T_TEXT ||
        variables(e) > MAX_JOINED)
        return refuse(o, "a text joined from so many");
    sb_char(o->b, '(');
    TRY(arg(o, e->args[0]));
    sb_cstr(o->b, " || ");
    TRY(arg(o, e->args[1]));
    sb_char(o->b, ')');
    return OK;
}

static enum status replaced(const struct out *o, const struct expr *e)
{
    if (e->args[0]->type != T_TEXT || !is_text_const(e->args[1]) ||
        !is_text_const(e->args[2]) ||
        (e->args[1]->val.s.n && e->args[2]->val.s.n > e->args[1]->val.s.n))
        return refuse(o, "replace with a longer text");
    return call(o, "replace", e);
}

/* All arguments are texts. */
static enum status of_texts(const struct out *o, const char *f,
                            const struct expr *e)
{
    for (uint32_t i = 0; i < e->n_args; i++)
        if (e->args[i]->type != T_TEXT)
            return refuse(o, expr_op_name(e->op));
    return call(o, f, e);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One ASCII character that stands for itself, or none. */
static bool good_escape(struct str s)
{
    return !s.n || (s.n == 1 && (unsigned char)s.p[0] < 128 && s.p[0] != '%' &&
                    s.p[0] != '_' && !is_letter(s.p[0]));
}

/* A pattern that ends in its escape character is an error in PostgreSQL. So is
 * one with many %, on long texts: PRIVACY, the stack of the server ends. */
static bool good_pattern(struct str s, struct str escape)
{
    size_t n = 0, wild = 0;
    for (size_t i = 0; i < s.n; i++)
        wild += s.p[i] == '%';
    if (wild > MAX_WILD)
        return false;
    while (escape.n && n < s.n && s.p[s.n - 1 - n] == escape.p[0])
        n++;
    return n % 2 == 0;
}

static enum status like(const struct out *o, const struct expr *e)
{
    bool fold = e->op == X_ILIKE;
    struct str escape = STR("\\");
    struct value pattern = e->args[1]->val, mark;
    if (e->n_args > 2 && is_text_const(e->args[2]))
        escape = e->args[2]->val.s;
    if (e->args[0]->type != T_TEXT || !is_text_const(e->args[1]) ||
        (e->n_args > 2 && !is_text_const(e->args[2])) || !good_escape(escape) ||
        !good_pattern(pattern.s, escape))
        return refuse(o, "a LIKE with this pattern");
    sb_char(o->b, '(');
    TRY(fold ? recased(o, e->args[0], upper_case, lower_case)
             : arg(o, e->args[0]));
    sb_cstr(o->b, " LIKE ");
    TRY(fold ? recased(o, e->args[1], upper_case, lower_case)
             : arg(o, e->args[1]));
    mark = value_text(escape);
    if (e->n_args > 2) {
        sb_cstr(o->b, " ESCAPE ");
        TRY(sql_const(&mark, o->b, o->err));
    }
    sb_char(o->b, ')');
    return OK;
}

/* --- dates
 * ---------------------------------------------------------------------*/

/* Dates beyond the last timestamp are taken for infinite, as ours are. */
static enum status to_timestamp(const struct out *o, const struct expr *e)
{
    if (e->type == T_TIMESTAMP)
        return arg(o, e);
    if (e->type != T_DATE)
        return refuse(o, "a timestamp of this type");
    sb_cstr(o->b, "(CASE WHEN ");
    TRY(arg(o, e));
    sb_cstr(o->b, " > date '294247-01-10' THEN timestamp 'infinity' ELSE ");
    TRY(arg(o, e));
    sb_cstr(o->b, "::timestamp END)");
    return OK;
}

static enum status to_date(const struct out *o, const struct expr *e)
{
    if (e->type == T_DATE)
        return arg(o, e);
    if (e->type != T_TIMESTAMP)
        return refuse(o, "a date of this type");
    sb_char(o->b, '(');
    TRY(arg(o, e));
    sb_cstr(o->b, "::date)");
    return OK;
}

/* The calendar of the database begins in the middle of a month, on the first
 * day of a week. Before these days a month, or a quarter or year, begins before
 * everything: only an infinite date can say so there. NULL: none. */
static const char *first_whole(struct str unit)
{
    if (str_eq_nocase(unit, STR("month")))
        return "4713-12-01 BC";
    if (str_eq_nocase(unit, STR("quarter")) || str_eq_nocase(unit, STR("year")))
        return "4712-01-01 BC";
    return NULL;
}

static enum status date_trunc(const struct out *o, const struct expr *e)
{
    if (!is_text_const(e->args[0]))
        return refuse(o, "date_trunc with this unit");
    const char *first = first_whole(e->args[0]->val.s);
    sb_cstr(o->b, first ? "(CASE WHEN " : "(");
    if (first) {
        TRY(to_timestamp(o, e->args[1]));
        sb_printf(o->b, " < timestamp '%s' THEN timestamp '-infinity' ELSE ",
                  first);
    }
    sb_cstr(o->b, "date_trunc(");
    TRY(arg(o, e->args[0]));
    sb_cstr(o->b, ", ");
    TRY(to_timestamp(o, e->args[1]));
    sb_cstr(o->b, first ? ") END)" : "))");
    return OK;
}

/* Before version 14 the fields were doubles. */
static enum status extract(const struct out *o, const struct expr *e)
{
    enum type t = e->args[1]->type;
    if (!is_text_const(e->args[0]) ||
        (t != T_DATE && t != T_TIMESTAMP && t != T_TIME) ||
        server_version(o) < VERSION_14)
        return refuse(o, "extract");
    for (size_t i = 0; i < e->args[0]->val.s.n; i++)
        if (!is_letter(e->args[0]->val.s.p[i]))
            return refuse(o, "extract");
    sb_printf(o->b, "(extract(%.*s FROM ", PSTR(e->args[0]->val.s));
    TRY(arg(o, e->args[1]));
    sb_cstr(o->b, ")::numeric)");
    return OK;
}

bool sql_is_date_sum(const struct expr *e)
{
    return (e->op == X_ADD || e->op == X_SUB) && e->type == T_DATE;
}

static enum status plain_days(const struct out *o, const struct expr *e)
{
    if (e->type != T_DATE || sql_is_date_sum(e))
        return refuse(o, "this sum of dates");
    sb_cstr(o->b, "(CASE WHEN ");
    TRY(arg(o, e));
    sb_cstr(o->b, " = date 'infinity' THEN 9223372036854775807 WHEN ");
    TRY(arg(o, e));
    sb_cstr(o->b, " = date '-infinity' THEN -9223372036854775808 ELSE (");
    TRY(arg(o, e));
    sb_cstr(o->b, " - date '1970-01-01')::numeric END)");
    return OK;
}

/* Infinite dates stay so; others end there. */
enum status sql_days(struct source_counter *c, uint32_t atom,
                     const struct expr *e, struct sb *b, struct err *err)
{
    struct out o = {c, atom, b, err};
    if (e->op == X_CONST && e->val.is_null) {
        sb_cstr(b, "NULL::numeric");
        return OK;
    }
    if (!sql_is_date_sum(e))
        return plain_days(&o, e);
    const struct expr *date =
        e->args[0]->type == T_DATE ? e->args[0] : e->args[1];
    const struct expr *n = date == e->args[0] ? e->args[1] : e->args[0];
    if (n->type != T_INT || (n->op != X_VAR && n->op != X_CONST))
        return refuse(&o, "this sum of dates");
    sb_cstr(b, "(CASE WHEN ");
    TRY(numeric(&o, n));
    sb_cstr(b, " IS NULL OR ");
    TRY(arg(&o, date)); /* LEAST and GREATEST would pass over it */
    sb_cstr(b, " IS NULL THEN NULL WHEN ");
    TRY(arg(&o, date));
    sb_cstr(b, " IN (date 'infinity', date '-infinity') THEN ");
    TRY(plain_days(&o, date));
    sb_cstr(b, " ELSE LEAST(GREATEST(");
    TRY(plain_days(&o, date));
    sb_cstr(b, e->op == X_ADD ? " + GREATEST(" : " - GREATEST(");
    TRY(numeric(&o, n));
    sb_cstr(b, ", -9223372036854775807), -9223372036854775808), "
               "9223372036854775807) END)");
    return OK;
}

static enum status days_between(const struct out *o, const struct expr *e)
{
    sb_char(o->b, '(');
    TRY(plain_days(o, e->args[0]));
    sb_cstr(o->b, " - ");
    TRY(plain_days(o, e->args[1]));
    sb_char(o->b, ')');
    return OK;
}

/* --- choices
 * -------------------------------------------------------------------*/

/* All of these have one type as the database sees it. */
static bool one_family(const struct expr *e, uint32_t from, uint32_t step)
{
    const struct expr *first = NULL;
    bool same = e->type != T_UNKNOWN;
    for (uint32_t i = from; i < e->n_args; i += step) {
        const struct expr *x = e->args[i];
        if (x->op == X_CONST && x->val.is_null)
            continue;
        first = first ? first : x;
        same &= sql_same_order(first->type, x->type) &&
                (first->type == x->type || (is_exact(first) && is_exact(x))) &&
                !sql_is_date_sum(x);
    }
    return same && first;
}

static enum status choice(const struct out *o, const struct expr *e)
{
    uint32_t pairs = e->n_args / 2;
    bool last = e->n_args % 2;
    const struct expr *rest = last ? e->args[e->n_args - 1] : NULL;
    if (!one_family(e, 1, 2) ||
        (rest && !(rest->op == X_CONST && rest->val.is_null) &&
         !(sql_same_order(rest->type, e->type) && !sql_is_date_sum(rest) &&
           (rest->type == e->type || is_exact(rest)))))
        return refuse(o, "this CASE");
    sb_cstr(o->b, "(CASE");
    for (uint32_t i = 0; i < pairs; i++) {
        sb_cstr(o->b, " WHEN ");
        TRY(arg(o, e->args[2 * i]));
        sb_cstr(o->b, " THEN ");
        TRY(arg(o, e->args[2 * i + 1]));
    }
    if (last) {
        sb_cstr(o->b, " ELSE ");
        TRY(arg(o, rest));
    }
    sb_cstr(o->b, " END)");
    return OK;
}

static enum status picked(const struct out *o, const char *f,
                          const struct expr *e)
{
    if (!one_family(e, 0, 1))
        return refuse(o, expr_op_name(e->op));
    return call(o, f, e);
}

enum status sql_function(struct source_counter *c, uint32_t atom,
                         const struct expr *e, struct sb *b, struct err *err)
{
    struct out o = {c, atom, b, err};
    if (b->n > MAX_TEXT)
        return refuse(&o, "an expression of this size");
    switch (e->op) {
    case X_CASE:
        return choice(&o, e);
    case X_COALESCE:
        return picked(&o, "COALESCE", e);
    case X_LEAST:
        return picked(&o, "LEAST", e);
    case X_GREATEST:
        return picked(&o, "GREATEST", e);
    case X_NULLIF:
        return picked(&o, "NULLIF", e);
    case X_LIKE:
    case X_ILIKE:
        return like(&o, e);
    case X_SUB:
        return days_between(&o, e);
    case X_ABS:
        return unary(&o, "abs", e);
    case X_FLOOR:
        return unary(&o, "floor", e);
    case X_CEIL:
        return unary(&o, "ceil", e);
    case X_ROUND:
        return rounded(&o, e);
    case X_DIV:
        return divided(&o, "div", e);
    case X_MOD:
        return divided(&o, "mod", e);
    case X_TO_REAL:
        return to_real(&o, e);
    case X_LOWER:
        return recased(&o, e->args[0], upper_case, lower_case);
    case X_UPPER:
        return recased(&o, e->args[0], lower_case, upper_case);
    case X_LENGTH:
        return of_texts(&o, "length", e);
    case X_SUBSTR:
        return substring(&o, e);
    case X_CONCAT:
        return concatenated(&o, e);
    case X_TRIM:
        return of_texts(&o, "btrim", e);
    case X_LTRIM:
        return of_texts(&o, "ltrim", e);
    case X_RTRIM:
        return of_texts(&o, "rtrim", e);
    case X_REPLACE:
        return replaced(&o, e);
    case X_POSITION:
        return of_texts(&o, "strpos", e);
    case X_TO_TEXT:
        return to_text(&o, e);
    case X_EXTRACT:
        return extract(&o, e);
    case X_DATE_TRUNC:
        return date_trunc(&o, e);
    case X_TO_DATE:
        return to_date(&o, e->args[0]);
    case X_TO_TIMESTAMP:
        return to_timestamp(&o, e->args[0]);
    default:
        return refuse(&o, expr_op_name(e->op));
    }
}
