/*
 * Functions as SQL. Each must give on every row just what expr_eval gives, and
 * must fail on none: an error of the database that depends on a row would tell
 * of it (PRIVACY). So integers become numeric, where nothing overflows, case
 * is changed letter by letter (ASCII only, whatever the locale), and what can
 * leave the range of a type is cut off before. A text of more than
 * EXPR_MAX_TEXT bytes is NULL at every node, and where the length is known
 * before it is made, it is not made; so no tower of texts costs much, and none
 * is longer than the server's texts may be. A replacement by a longer text,
 * whose length is not known before, is refused, and so is arithmetic of
 * floating-point numbers, which overflows with an error.
 */
#include <string.h>

#include "sqlgen/sqlgen.h"

enum {
    VERSION_14 = 140000,
    MAX_WILD = 100,     /* LIKE goes one call deeper for each % */
    MAX_SQL = 1 << 22,  /* bytes of one expression */
    MAX_CHAR_BYTES = 4, /* of one character in UTF-8 */
};

static const char upper_case[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char lower_case[] = "abcdefghijklmnopqrstuvwxyz";

static enum status refuse(const struct sqlgen_out *o, const char *what)
{
    return sqlgen_refuse_expr(o->err, what);
}

static enum status arg(const struct sqlgen_out *o, const struct expr *e)
{
    struct str part;
    TRY(sqlgen_part(o, e, &part));
    sb_str(o->b, part);
    return OK;
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
static enum status call(const struct sqlgen_out *o, const char *f,
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

static int server_version(const struct sqlgen_out *o)
{
    return o->c->version;
}

/* --- texts
 * ---------------------------------------------------------------------*/

/* The length of a text in UTF-8. */
static void put_bytes(const struct sqlgen_out *o, struct str text)
{
    if (o->c->duckdb)
        sb_printf(o->b, "strlen(%.*s)", PSTR(text));
    else if (o->c->is_utf8)
        sb_printf(o->b, "octet_length(%.*s)", PSTR(text));
    else
        sb_printf(o->b, "octet_length(convert_to(%.*s, 'UTF8'))", PSTR(text));
}

/* `made`, or NULL where `test` has more bytes than a text may have. */
static void put_if_short(const struct sqlgen_out *o, struct str test,
                         struct str made)
{
    sb_cstr(o->b, "(CASE WHEN ");
    put_bytes(o, test);
    sb_printf(o->b, " <= %d THEN %.*s END)", EXPR_MAX_TEXT, PSTR(made));
}

static enum status view(const struct sqlgen_out *o, const struct sb *b,
                        struct str *out)
{
    *out = sb_view(b);
    return b->failed ? err_nomem(o->err) : OK;
}

/* A function of the arguments that makes no text longer: tested when made. */
static enum status shortened(const struct sqlgen_out *o, const char *f,
                             const struct expr *e)
{
    struct sb b;
    struct sqlgen_out inner = *o;
    struct str made;
    sb_init(&b, o->b->arena);
    inner.b = &b;
    TRY(call(&inner, f, e));
    TRY(view(o, &b, &made));
    put_if_short(o, made, made);
    return OK;
}

static void put_recased(struct sb *b, struct str text, const char *from,
                        const char *to)
{
    sb_printf(b, "(translate(%.*s, '%s', '%s') COLLATE \"C\")", PSTR(text),
              from, to);
}

/* As long as its argument. */
static enum status change_case(const struct sqlgen_out *o, const struct expr *e,
                               const char *from, const char *to)
{
    struct sb b;
    struct str part, made;
    if (e->args[0]->type != T_TEXT)
        return refuse(o, "the case of this type");
    TRY(sqlgen_part(o, e->args[0], &part));
    sb_init(&b, o->b->arena);
    put_recased(&b, part, from, to);
    TRY(view(o, &b, &made));
    put_if_short(o, part, made);
    return OK;
}

static enum status to_text(const struct sqlgen_out *o, const struct expr *e)
{
    enum type t = e->args[0]->type;
    struct str part, made;
    if (t != T_INT && t != T_BOOL && t != T_UUID && t != T_TEXT)
        return refuse(o, "the text of this type");
    TRY(sqlgen_part(o, e->args[0], &part));
    made = str_printf(o->b->arena, "((%.*s)::text COLLATE \"C\")", PSTR(part));
    if (!made.p)
        return err_nomem(o->err);
    if (t == T_TEXT)
        put_if_short(o, part, made);
    else
        sb_str(o->b, made);
    return OK;
}

/* The first position may be anywhere: cut to what the database's function
 * takes, far beyond the longest text. The length is a constant. */
static enum status substring(const struct sqlgen_out *o, const struct expr *e)
{
    bool bounded = e->n_args > 2;
    struct str text, from, made;
    struct sb b;
    if (e->args[0]->type != T_TEXT || e->args[1]->type != T_INT ||
        (bounded && (!is_int_const(e->args[2]) || e->args[2]->val.i < 0 ||
                     e->args[2]->val.i > INT32_MAX)))
        return refuse(o, "this substring");
    TRY(sqlgen_part(o, e->args[0], &text));
    TRY(sqlgen_numeric(o, e->args[1], &from));
    sb_init(&b, o->b->arena);
    sb_printf(&b,
              "(substr(%.*s, (CASE WHEN %.*s < -%d THEN -%d WHEN %.*s > %d "
              "THEN %d ELSE %.*s END)::int",
              PSTR(text), PSTR(from), INT32_MAX, INT32_MAX, PSTR(from),
              INT32_MAX, INT32_MAX, PSTR(from));
    if (bounded)
        sb_printf(&b, ", %d", (int)e->args[2]->val.i);
    sb_cstr(&b, ") COLLATE \"C\")");
    TRY(view(o, &b, &made));
    if (bounded && e->args[2]->val.i <= EXPR_MAX_TEXT / MAX_CHAR_BYTES)
        sb_str(o->b, made);
    else
        put_if_short(o, made, made);
    return OK;
}

static enum status concatenated(const struct sqlgen_out *o,
                                const struct expr *e)
{
    struct str l, r;
    if (e->args[0]->type != T_TEXT || e->args[1]->type != T_TEXT)
        return refuse(o, "a text joined from others");
    TRY(sqlgen_part(o, e->args[0], &l));
    TRY(sqlgen_part(o, e->args[1], &r));
    sb_cstr(o->b, "(CASE WHEN ");
    put_bytes(o, l);
    sb_cstr(o->b, "::bigint + ");
    put_bytes(o, r);
    sb_printf(o->b, " <= %d THEN %.*s || %.*s END)", EXPR_MAX_TEXT, PSTR(l),
              PSTR(r));
    return OK;
}

static enum status replaced(const struct sqlgen_out *o, const struct expr *e)
{
    if (e->args[0]->type != T_TEXT || !is_text_const(e->args[1]) ||
        !is_text_const(e->args[2]) ||
        (e->args[1]->val.s.n && e->args[2]->val.s.n > e->args[1]->val.s.n))
        return refuse(o, "replace with a longer text");
    return shortened(o, "replace", e);
}

/* All arguments are texts. */
static enum status of_texts(const struct sqlgen_out *o, const char *f,
                            const struct expr *e)
{
    for (uint32_t i = 0; i < e->n_args; i++)
        if (e->args[i]->type != T_TEXT)
            return refuse(o, expr_op_name(e->op));
    return e->type == T_TEXT ? shortened(o, f, e) : call(o, f, e);
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

static enum status like(const struct sqlgen_out *o, const struct expr *e)
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
    struct str text, like;
    TRY(sqlgen_part(o, e->args[0], &text));
    TRY(sqlgen_part(o, e->args[1], &like));
    sb_char(o->b, '(');
    if (fold) {
        put_recased(o->b, text, upper_case, lower_case);
        sb_cstr(o->b, " LIKE ");
        put_recased(o->b, like, upper_case, lower_case);
    } else {
        sb_printf(o->b, "%.*s LIKE %.*s", PSTR(text), PSTR(like));
    }
    mark = value_text(escape);
    if (e->n_args > 2 || o->c->duckdb) { /* there none is the default */
        sb_cstr(o->b, " ESCAPE ");
        TRY(sqlgen_const(o->c, &mark, o->b, o->err));
    }
    sb_char(o->b, ')');
    return OK;
}

/* --- dates
 * ---------------------------------------------------------------------*/

/* Dates beyond the last timestamp are taken for infinite, as ours are. */
static enum status timestamp_of(const struct sqlgen_out *o,
                                const struct expr *e, struct str *out)
{
    struct str part;
    if (e->type == T_TIMESTAMP)
        return sqlgen_part(o, e, out);
    if (e->type != T_DATE)
        return refuse(o, "a timestamp of this type");
    TRY(sqlgen_part(o, e, &part));
    *out = str_printf(o->b->arena,
                      "(CASE WHEN %.*s > date '294247-01-10' THEN timestamp "
                      "'infinity' ELSE %.*s::timestamp END)",
                      PSTR(part), PSTR(part));
    return out->p ? OK : err_nomem(o->err);
}

static enum status to_timestamp(const struct sqlgen_out *o,
                                const struct expr *e)
{
    struct str at;
    TRY(timestamp_of(o, e, &at));
    sb_str(o->b, at);
    return OK;
}

static enum status to_date(const struct sqlgen_out *o, const struct expr *e)
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

static enum status date_trunc(const struct sqlgen_out *o, const struct expr *e)
{
    struct str at, unit;
    if (!is_text_const(e->args[0]))
        return refuse(o, "date_trunc with this unit");
    const char *first = first_whole(e->args[0]->val.s);
    TRY(sqlgen_part(o, e->args[0], &unit));
    TRY(timestamp_of(o, e->args[1], &at));
    if (!first) {
        sb_printf(o->b, "(date_trunc(%.*s, %.*s))", PSTR(unit), PSTR(at));
        return OK;
    }
    sb_printf(o->b,
              "(CASE WHEN %.*s < timestamp '%s' THEN timestamp '-infinity' "
              "ELSE date_trunc(%.*s, %.*s) END)",
              PSTR(at), first, PSTR(unit), PSTR(at));
    return OK;
}

/* Before version 14 the fields were doubles. */
static enum status extract(const struct sqlgen_out *o, const struct expr *e)
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

bool sqlgen_is_date_sum(const struct expr *e)
{
    return (e->op == X_ADD || e->op == X_SUB) && e->type == T_DATE;
}

static void put_days(struct sb *b, struct str date)
{
    sb_printf(b,
              "(CASE WHEN %.*s = date 'infinity' THEN 9223372036854775807 WHEN "
              "%.*s = date '-infinity' THEN -9223372036854775808 ELSE (%.*s - "
              "date '1970-01-01')::numeric END)",
              PSTR(date), PSTR(date), PSTR(date));
}

/* A date that is none of these sums. */
static enum status date_part(const struct sqlgen_out *o, const struct expr *e,
                             struct str *out)
{
    if (e->type != T_DATE || sqlgen_is_date_sum(e))
        return refuse(o, "this sum of dates");
    return sqlgen_part(o, e, out);
}

static enum status plain_days(const struct sqlgen_out *o, const struct expr *e)
{
    struct str date;
    TRY(date_part(o, e, &date));
    put_days(o->b, date);
    return OK;
}

/* Infinite dates stay so; others end there. */
enum status sqlgen_days(const struct sqlgen_out *o, const struct expr *e)
{
    struct str days, at;
    if (o->c->duckdb)
        return refuse(o, "this sum of dates");
    if (e->op == X_CONST && e->val.is_null) {
        sb_cstr(o->b, "NULL::numeric");
        return OK;
    }
    if (!sqlgen_is_date_sum(e))
        return plain_days(o, e);
    const struct expr *date =
        e->args[0]->type == T_DATE ? e->args[0] : e->args[1];
    const struct expr *n = date == e->args[0] ? e->args[1] : e->args[0];
    if (n->type != T_INT || (n->op != X_VAR && n->op != X_CONST))
        return refuse(o, "this sum of dates");
    TRY(sqlgen_numeric(o, n, &days));
    TRY(date_part(o, date, &at));
    /* LEAST and GREATEST would pass over a NULL */
    sb_printf(o->b,
              "(CASE WHEN %.*s IS NULL OR %.*s IS NULL THEN NULL WHEN %.*s IN "
              "(date 'infinity', date '-infinity') THEN ",
              PSTR(days), PSTR(at), PSTR(at));
    put_days(o->b, at);
    sb_cstr(o->b, " ELSE LEAST(GREATEST(");
    put_days(o->b, at);
    sb_printf(o->b,
              " %c GREATEST(%.*s, -9223372036854775807), "
              "-9223372036854775808), 9223372036854775807) END)",
              e->op == X_ADD ? '+' : '-', PSTR(days));
    return OK;
}

static enum status days_between(const struct sqlgen_out *o,
                                const struct expr *e)
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
static bool one_family(const struct expr *e, uint32_t from, uint32_t step,
                       bool duckdb)
{
    const struct expr *first = NULL;
    bool same = e->type != T_UNKNOWN;
    for (uint32_t i = from; i < e->n_args; i += step) {
        const struct expr *x = e->args[i];
        if (x->op == X_CONST && x->val.is_null)
            continue;
        first = first ? first : x;
        same &= sqlgen_same_order(first->type, x->type) &&
                (first->type == x->type ||
                 (!duckdb && is_exact(first) && is_exact(x))) &&
                !sqlgen_is_date_sum(x);
    }
    return same && first;
}

static enum status choice(const struct sqlgen_out *o, const struct expr *e)
{
    uint32_t pairs = e->n_args / 2;
    bool last = e->n_args % 2;
    const struct expr *rest = last ? e->args[e->n_args - 1] : NULL;
    if (!one_family(e, 1, 2, o->c->duckdb) ||
        (rest && !(rest->op == X_CONST && rest->val.is_null) &&
         !(sqlgen_same_order(rest->type, e->type) &&
           !sqlgen_is_date_sum(rest) &&
           (rest->type == e->type || (!o->c->duckdb && is_exact(rest))))))
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

static enum status picked(const struct sqlgen_out *o, const char *f,
                          const struct expr *e)
{
    if (!one_family(e, 0, 1, o->c->duckdb))
        return refuse(o, expr_op_name(e->op));
    return call(o, f, e);
}

/* What DuckDB is asked to compute: functions that mean the same there and fail
 * on no row. The embedded engine has the others. */
static bool duckdb_has(enum expr_op op)
{
    return op == X_CASE || op == X_COALESCE || op == X_NULLIF ||
           op == X_LEAST || op == X_GREATEST || op == X_LIKE || op == X_ILIKE ||
           op == X_LOWER || op == X_UPPER || op == X_ADD || op == X_SUB ||
           op == X_MUL || op == X_ABS;
}

enum status sqlgen_function(const struct sqlgen_out *o, const struct expr *e)
{
    if (o->b->n > MAX_SQL)
        return refuse(o, "an expression of this size");
    if (o->c->duckdb && !duckdb_has(e->op))
        return refuse(o, expr_op_name(e->op));
    switch (e->op) {
    case X_CASE:
        return choice(o, e);
    case X_COALESCE:
        return picked(o, "COALESCE", e);
    case X_LEAST:
        return picked(o, "LEAST", e);
    case X_GREATEST:
        return picked(o, "GREATEST", e);
    case X_NULLIF:
        return picked(o, "NULLIF", e);
    case X_LIKE:
    case X_ILIKE:
        return like(o, e);
    case X_SUB:
        if (e->args[0]->type == T_DATE && e->args[1]->type == T_DATE)
            return o->c->duckdb ? refuse(o, "days between dates")
                                : days_between(o, e);
        return sqlgen_arithmetic(o, e);
    case X_ADD:
    case X_MUL:
    case X_ABS:
    case X_FLOOR:
    case X_CEIL:
    case X_ROUND:
    case X_DIV:
    case X_MOD:
        return sqlgen_arithmetic(o, e);
    case X_TO_REAL:
        return sqlgen_to_real(o, e);
    case X_LOWER:
        return change_case(o, e, upper_case, lower_case);
    case X_UPPER:
        return change_case(o, e, lower_case, upper_case);
    case X_LENGTH:
        return of_texts(o, "length", e);
    case X_SUBSTR:
        return substring(o, e);
    case X_CONCAT:
        return concatenated(o, e);
    case X_TRIM:
        return of_texts(o, "btrim", e);
    case X_LTRIM:
        return of_texts(o, "ltrim", e);
    case X_RTRIM:
        return of_texts(o, "rtrim", e);
    case X_REPLACE:
        return replaced(o, e);
    case X_POSITION:
        return of_texts(o, "strpos", e);
    case X_TO_TEXT:
        return to_text(o, e);
    case X_EXTRACT:
        return extract(o, e);
    case X_DATE_TRUNC:
        return date_trunc(o, e);
    case X_TO_DATE:
        return to_date(o, e->args[0]);
    case X_TO_TIMESTAMP:
        return to_timestamp(o, e->args[0]);
    default:
        return refuse(o, expr_op_name(e->op));
    }
}
