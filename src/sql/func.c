/*
 * Function calls and casts: a table of what is accepted, with the types that
 * the arguments must have. Everything in it is total.
 */
#include <string.h>

#include "sql/sql_int.h"

/* What an argument must be. */
enum arg { A_NONE, A_TEXT, A_INT, A_NUMBER, A_EXACT };

struct function {
    const char *name;
    enum expr_op op;
    uint8_t min_args, max_args;
    enum arg args[3];
};

static const struct function functions[] = {
    {"lower", X_LOWER, 1, 1, {A_TEXT}},
    {"upper", X_UPPER, 1, 1, {A_TEXT}},
    {"length", X_LENGTH, 1, 1, {A_TEXT}},
    {"char_length", X_LENGTH, 1, 1, {A_TEXT}},
    {"character_length", X_LENGTH, 1, 1, {A_TEXT}},
    {"substring", X_SUBSTR, 2, 3, {A_TEXT, A_INT, A_INT}},
    {"substr", X_SUBSTR, 2, 3, {A_TEXT, A_INT, A_INT}},
    {"btrim", X_TRIM, 1, 2, {A_TEXT, A_TEXT}},
    {"ltrim", X_LTRIM, 1, 2, {A_TEXT, A_TEXT}},
    {"rtrim", X_RTRIM, 1, 2, {A_TEXT, A_TEXT}},
    {"replace", X_REPLACE, 3, 3, {A_TEXT, A_TEXT, A_TEXT}},
    {"position", X_POSITION, 2, 2, {A_TEXT, A_TEXT}},
    {"strpos", X_POSITION, 2, 2, {A_TEXT, A_TEXT}},
    {"abs", X_ABS, 1, 1, {A_NUMBER}},
    {"round", X_ROUND, 1, 1, {A_NUMBER}},
    {"round", X_ROUND, 2, 2, {A_EXACT, A_INT}},
    {"floor", X_FLOOR, 1, 1, {A_NUMBER}},
    {"ceil", X_CEIL, 1, 1, {A_NUMBER}},
    {"ceiling", X_CEIL, 1, 1, {A_NUMBER}},
};

static const char *const aggregates[] = {
    "sum",
    "avg",
    "min",
    "max",
    "array_agg",
    "string_agg",
    "json_agg",
    "jsonb_agg",
    "bool_and",
    "bool_or",
    "every",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_count",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "bit_and",
    "bit_or",
    "xmlagg",
    "json_object_agg",
    "group_concat",
    "total",
    "median",
    "approx_count_distinct",
};

static const char *const unstable[] = {
    "random",          "now",          "clock_timestamp",
    "timeofday",       "nextval",      "statement_timestamp",
    "currval",         "lastval",      "transaction_timestamp",
    "gen_random_uuid", "setseed",      "uuid_generate_v4",
    "pg_sleep",        "txid_current", "pg_backend_pid",
    "current_setting", "version",      "uuid_generate_v1",
};

static bool among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

#define AMONG(name, names) among(name, names, sizeof names / sizeof *names)

bool is_aggregate(const char *name)
{
    return strcmp(name, "count") == 0 || AMONG(name, aggregates);
}

static enum status fit_argument(struct lower *l, const char *name,
                                enum arg want, struct expr **e, long position)
{
    enum type t = want == A_TEXT    ? T_TEXT
                  : want == A_INT   ? T_INT
                  : want == A_EXACT ? T_DEC
                                    : T_REAL;
    if (is_untyped(*e))
        TRY(give_type(l, e, t, position));
    if (want == A_TEXT && (*e)->type == T_UNKNOWN)
        TRY(make1(l, X_TO_TEXT, *e, e));
    enum type got = (*e)->type;
    bool number = got == T_INT || got == T_DEC || got == T_REAL;
    bool ok = got == T_UNKNOWN || got == t || (want == A_NUMBER && number) ||
              (want == A_EXACT && got == T_INT);
    return ok ? OK : sql_type_error(l, position, name, *e, NULL);
}

/* PRIVACY: a negative length is an error in PostgreSQL. */
static enum status check_substring(struct lower *l, struct expr *const *v,
                                   uint32_t n, long position)
{
    if (n < 3)
        return OK;
    bool ok = v[2]->op == X_CONST && !v[2]->val.is_null &&
              v[2]->val.type == T_INT && v[2]->val.i >= 0;
    return ok ? OK : sql_refuse(l->err, NO_SUBSTRING_LENGTH, position);
}

static enum status check_round(struct lower *l, struct expr *const *v,
                               uint32_t n, long position)
{
    if (n < 2 || (v[1]->op == X_CONST && !v[1]->val.is_null))
        return OK;
    err_set(l->err, E_TYPE, "the number of digits of round must be a constant");
    err_at(l->err, position);
    return E_TYPE;
}

static enum status lower_args(struct lower *l, struct scope *sc,
                              const json_t *call, struct expr ***out,
                              uint32_t *n)
{
    const json_t *args = get(call, "args");
    *n = (uint32_t)json_array_size(args);
    struct expr **v = NEWS(l->arena, struct expr *, *n + 1);
    if (!v)
        return err_nomem(l->err);
    for (uint32_t i = 0; i < *n; i++)
        TRY(lower_scalar(l, sc, json_array_get(args, i), &v[i]));
    *out = v;
    return OK;
}

static enum status apply(struct lower *l, const struct function *f,
                         struct expr **v, uint32_t n, long position,
                         struct expr **out)
{
    for (uint32_t i = 0; i < n; i++)
        TRY(fit_argument(l, f->name, f->args[i], &v[i], position));
    if (f->op == X_SUBSTR)
        TRY(check_substring(l, v, n, position));
    if (f->op == X_ROUND)
        TRY(check_round(l, v, n, position));
    return make(l, f->op, n, v, out);
}

/* --- functions with rules of their own --- */

static bool time_type(const struct expr *e)
{
    return e->type == T_DATE || e->type == T_TIMESTAMP || e->type == T_TIME;
}

static enum status lower_extract(struct lower *l, struct expr **v, uint32_t n,
                                 long position, struct expr **out)
{
    static const char *const fields[] = {
        "year", "month",   "day",  "dow",    "isodow", "doy",  "quarter",
        "week", "isoyear", "hour", "minute", "second", "epoch"};
    if (n != 2 || v[0]->op != X_CONST || v[0]->val.type != T_TEXT ||
        v[0]->val.is_null)
        return sql_refuse(l->err, NO_FUNCTION, position);
    if (is_untyped(v[1]) || !time_type(v[1]))
        return sql_type_error(l, position, "extract", v[1], NULL);
    v[0]->type = T_TEXT;
    bool known = false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        bool clock = i >= 9 && i <= 11;
        if (str_eq_nocase(v[0]->val.s, str_of(fields[i])))
            known = v[1]->type == T_TIMESTAMP || i == 12 ||
                    (v[1]->type == T_DATE ? !clock : clock);
    }
    if (!known) {
        err_set(l->err, E_UNSUPPORTED,
                "extract of \"%.*s\" from %s is not "
                "supported",
                PSTR(v[0]->val.s), type_name(v[1]->type));
        err_at(l->err, position);
        err_hint(l->err, "Fields are year, month, day, dow, isodow, doy, "
                         "quarter, week, isoyear, hour, minute, second, "
                         "epoch.");
        return E_UNSUPPORTED;
    }
    return make(l, X_EXTRACT, 2, v, out);
}

static enum status lower_date_trunc(struct lower *l, struct expr **v,
                                    uint32_t n, long position,
                                    struct expr **out)
{
    static const char *const units[] = {"second", "minute", "hour",    "day",
                                        "week",   "month",  "quarter", "year"};
    bool known = false;
    if (n != 2 || v[0]->op != X_CONST || v[0]->val.type != T_TEXT ||
        v[0]->val.is_null)
        return sql_refuse(l->err, NO_FUNCTION, position);
    if (v[1]->type != T_DATE && v[1]->type != T_TIMESTAMP)
        return sql_type_error(l, position, "date_trunc", v[1], NULL);
    v[0]->type = T_TEXT;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        known |= str_eq_nocase(v[0]->val.s, str_of(units[i]));
    if (!known)
        return sql_refuse(l->err, NO_FUNCTION, position);
    return make(l, X_DATE_TRUNC, 2, v, out);
}

static enum status make_int(struct lower *l, int64_t i, struct expr **out)
{
    return make_const(l, value_int(i), out);
}

/* left(s, n) with a constant n >= 0 */
static enum status lower_left(struct lower *l, struct expr **v, uint32_t n,
                              long position, struct expr **out)
{
    if (n != 2 || v[1]->op != X_CONST || v[1]->val.is_null ||
        v[1]->val.type != T_INT || v[1]->val.i < 0)
        return sql_refuse(l->err, NO_SUBSTRING_LENGTH, position);
    struct expr *args[3] = {v[0], NULL, v[1]};
    TRY(fit_argument(l, "left", A_TEXT, &args[0], position));
    TRY(make_int(l, 1, &args[1]));
    return make(l, X_SUBSTR, 3, args, out);
}

/* right(s, n) with a constant n >= 0: from length - n + 1, but not before 1 */
static enum status lower_right(struct lower *l, struct expr **v, uint32_t n,
                               long position, struct expr **out)
{
    struct expr *len, *from, *one;
    if (n != 2 || v[1]->op != X_CONST || v[1]->val.is_null ||
        v[1]->val.type != T_INT || v[1]->val.i < 0)
        return sql_refuse(l->err, NO_SUBSTRING_LENGTH, position);
    TRY(fit_argument(l, "right", A_TEXT, &v[0], position));
    TRY(make_int(l, 1, &one));
    TRY(make1(l, X_LENGTH, v[0], &len));
    TRY(make2(l, X_SUB, len, v[1], &from));
    TRY(make2(l, X_ADD, from, one, &from));
    return make2(l, X_SUBSTR, v[0], from, out);
}

/* The same value under another type, which decides how it is divided. */
static enum status retype(struct lower *l, const struct expr *e, enum type t,
                          struct expr **out)
{
    if (e->type == t)
        return OK;
    struct expr *c = NEW(l->arena, struct expr);
    if (!c)
        return err_nomem(l->err);
    *c = *e;
    c->type = t;
    *out = c;
    return OK;
}

static enum status cast_to(struct lower *l, struct expr *e, enum type t,
                           long position, struct expr **out);

static enum status refuse_name(struct lower *l, const json_t *call,
                               const char *name)
{
    long at = get_location(call);
    if (strcmp(name, "count") == 0)
        return sql_refuse(l->err, NO_INNER_AGGREGATE, at);
    if (AMONG(name, aggregates))
        return sql_refuse(l->err, NO_AGGREGATE, at);
    if (AMONG(name, unstable))
        return sql_refuse(l->err, NO_VOLATILE, at);
    sql_refuse(l->err, NO_FUNCTION, at);
    err_set(l->err, E_UNSUPPORTED, "function %s is not supported", name);
    err_at(l->err, at);
    err_detail(l->err, "Only functions that cannot fail on any value are "
                       "accepted.");
    err_hint(l->err, "See docs/sql.md for the functions that are.");
    return E_UNSUPPORTED;
}

static enum status lower_special(struct lower *l, const char *name,
                                 struct expr **v, uint32_t n, long at,
                                 struct expr **out, bool *done)
{
    *done = true;
    if (strcmp(name, "extract") == 0)
        return lower_extract(l, v, n, at, out);
    if (strcmp(name, "date_part") == 0) {
        TRY(lower_extract(l, v, n, at, out));
        return make1(l, X_TO_REAL, *out, out);
    }
    if (strcmp(name, "date_trunc") == 0)
        return lower_date_trunc(l, v, n, at, out);
    if (strcmp(name, "to_char") == 0)
        return lower_to_char(l, v, n, at, out);
    if (strcmp(name, "width_bucket") == 0)
        return lower_bucket(l, v, n, at, out);
    if (strcmp(name, "left") == 0)
        return lower_left(l, v, n, at, out);
    if (strcmp(name, "right") == 0)
        return lower_right(l, v, n, at, out);
    if (strcmp(name, "date") == 0 && n == 1)
        return cast_to(l, v[0], T_DATE, at, out);
    *done = false;
    return OK;
}

enum status lower_function(struct lower *l, struct scope *sc,
                           const json_t *call, struct expr **out)
{
    const json_t *names = get(call, "funcname");
    const char *name = last_name(names);
    long at = get_location(call);
    struct expr **v = NULL;
    uint32_t n = 0;
    bool done = false;
    if (get(call, "over"))
        return sql_refuse(l->err, NO_WINDOW, at);
    if (json_array_size(names) > 2 ||
        (json_array_size(names) == 2 &&
         strcmp(string_of(json_array_get(names, 0)), "pg_catalog") != 0))
        return refuse_name(l, call, name);
    if (get_flag(call, "agg_star") || get(call, "agg_filter") ||
        get_flag(call, "agg_distinct") || get(call, "agg_order") ||
        get_flag(call, "func_variadic") || strcmp(name, "count") == 0 ||
        AMONG(name, aggregates) || AMONG(name, unstable))
        return refuse_name(l, call, name);
    if (strcmp(name, "mod") == 0 && get_size(call, "args") == 2) {
        json_t *op = json_pack(
            "{s:{s:s,s:[{s:{s:s}}],s:O,s:O,s:i}}", "A_Expr", "kind", "AEXPR_OP",
            "name", "String", "sval", "%", "lexpr",
            json_array_get(get(call, "args"), 0), "rexpr",
            json_array_get(get(call, "args"), 1), "location", (int)at);
        if (!op)
            return err_nomem(l->err);
        enum status st = lower_scalar(l, sc, op, out);
        json_decref(op);
        return st;
    }
    TRY(lower_calendar(l, sc, name, call, out, &done));
    if (done)
        return OK;
    TRY(lower_args(l, sc, call, &v, &n));
    TRY(lower_special(l, name, v, n, at, out, &done));
    if (done)
        return OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *f = &functions[i];
        if (strcmp(name, f->name) == 0 && n >= f->min_args && n <= f->max_args)
            return apply(l, f, v, n, at, out);
    }
    return refuse_name(l, call, name);
}

/* --- casts --- */

/* --- varchar(n), char(n) --- */

/* The n of a type's name, -1: none that is a constant. */
static long length_of(const json_t *type)
{
    const json_t *mods = get(type, "typmods");
    const json_t *c = node_as(json_array_get(mods, 0), "A_Const");
    const json_t *n = get(get(c, "ival"), "ival");
    return json_array_size(mods) == 1 && json_integer_value(n) > 0
               ? (long)json_integer_value(n)
               : -1;
}

/* The first n characters, and for char(n) without the blanks at the end. */
static struct str cut(struct str s, long n, bool padded)
{
    size_t end = 0;
    for (; end < s.n && n > 0; n--)
        do
            end++;
        while (end < s.n && ((unsigned char)s.p[end] & 0xc0) == 0x80);
    while (padded && end > 0 && s.p[end - 1] == ' ')
        end--;
    return (struct str){s.p, end};
}

/* An explicit cast cuts what is longer, without an error. */
static enum status cast_length(struct lower *l, struct expr *e, long n,
                               bool padded, long position, struct expr **out)
{
    struct expr *v[2];
    TRY(cast_to(l, e, T_TEXT, position, &v[0]));
    if (v[0]->op == X_CONST) {
        struct value text = v[0]->val;
        text.s = text.is_null ? text.s : cut(text.s, n, padded);
        TRY(make_const(l, text, out));
        (*out)->type = T_TEXT;
        return OK;
    }
    if (padded)
        return sql_refuse(l->err, NO_CAST, position);
    TRY(make_int(l, n, &v[1]));
    return lower_left(l, v, 2, position, out);
}

/* A constant: the cast is done here and may fail, which depends on the query
 * alone. */
static enum status cast_const(struct lower *l, struct expr *e, enum type t,
                              long position, struct expr **out)
{
    *out = e;
    if (e->val.type == T_TEXT && t != T_TEXT)
        return give_type(l, out, t, position);
    if (e->val.is_null || e->val.type == T_TEXT) {
        TRY(make_const(l, e->val, out));
        (*out)->type = t;
        return OK;
    }
    return sql_refuse(l->err, NO_CAST, position);
}

static bool is_identity(enum type from, enum type to)
{
    return from == to || (from == T_INT && to == T_DEC);
}

/* 1, 0 or NULL */
static enum status bool_to_int(struct lower *l, struct expr *e,
                               struct expr **out)
{
    struct expr *v[5];
    v[0] = e;
    TRY(make_int(l, 1, &v[1]));
    TRY(make1(l, X_NOT, e, &v[2]));
    TRY(make_int(l, 0, &v[3]));
    TRY(make_const(l, value_null(), &v[4]));
    v[4]->type = T_INT;
    return make(l, X_CASE, 5, v, out);
}

static enum status cast_to(struct lower *l, struct expr *e, enum type t,
                           long position, struct expr **out)
{
    enum type from = e->type;
    *out = e;
    /* no longer char(n), and no longer of a type with an equality of its own */
    if (t == T_TEXT && (is_padded(l, e) || is_text_only(l, e)))
        return make1(l, X_TO_TEXT, e, out);
    if (is_identity(from, t) && !(e->op == X_CONST && e->type == T_UNKNOWN))
        return retype(l, e, t, out);
    if (from == T_DEC && t == T_INT) {
        TRY(make1(l, X_ROUND, e, out));
        (*out)->type = T_INT;
        return OK;
    }
    if (from == T_BOOL && t == T_INT)
        return bool_to_int(l, e, out);
    if (t == T_REAL && (from == T_INT || from == T_DEC))
        return make1(l, X_TO_REAL, e, out);
    if (t == T_TIMESTAMP && from == T_DATE)
        return make1(l, X_TO_TIMESTAMP, e, out);
    if (t == T_DATE && from == T_TIMESTAMP)
        return make1(l, X_TO_DATE, e, out);
    if (t == T_TEXT && (from == T_INT || from == T_BOOL || from == T_UUID))
        return make1(l, X_TO_TEXT, e, out);
    if (e->op == X_CONST)
        return cast_const(l, e, t, position, out);
    return sql_refuse(l->err, NO_CAST, position);
}

/* A constant whole number of a type's brackets; -1: none. */
static long typmod(const json_t *type, size_t i)
{
    const json_t *c =
        node_as(json_array_get(get(type, "typmods"), i), "A_Const");
    const json_t *v = get(c, "ival");
    return v ? (long)json_integer_value(get(v, "ival")) : -1;
}

/* numeric(p, s): rounded to s digits. What PostgreSQL reports as an overflow of
 * p digits is the exact number. */
static enum status cast_digits(struct lower *l, struct expr *e,
                               const json_t *type, long at, struct expr **out)
{
    struct expr *v[2];
    bool has_scale = get_size(type, "typmods") > 1;
    long p = typmod(type, 0), s = has_scale ? typmod(type, 1) : 0;
    if (p < 1 || p > 1000 || s < 0 || s > p || get_size(type, "typmods") > 2)
        return sql_refuse(l->err, NO_CAST, at);
    TRY(cast_to(l, e, T_DEC, at, &v[0]));
    TRY(make_int(l, s, &v[1]));
    return make(l, X_ROUND, 2, v, out);
}

enum status lower_cast(struct lower *l, struct scope *sc, const json_t *cast,
                       struct expr **out)
{
    const json_t *type = get(cast, "typeName");
    const char *name = last_name(get(type, "names"));
    long at = get_location(cast) >= 0 ? get_location(cast) : get_location(type);
    struct expr *e;
    enum type t;
    if (strcmp(name, "interval") == 0)
        return sql_refuse(l->err, NO_INTERVAL, at);
    bool padded = strcmp(name, "bpchar") == 0;
    bool texts = padded || strcmp(name, "varchar") == 0;
    long length = texts ? length_of(type) : -1;
    bool digits = strcmp(name, "numeric") == 0 && get(type, "typmods");
    if (get(type, "arrayBounds") ||
        (get(type, "typmods") && length < 0 && !digits) ||
        (padded && length < 0) || strcmp(name, "char") == 0 ||
        strcmp(name, "float4") == 0 || !sql_type_of_name(name, &t))
        return sql_refuse(l->err, NO_CAST, at);
    TRY(lower_scalar(l, sc, get(cast, "arg"), &e));
    if (digits)
        return cast_digits(l, e, type, at, out);
    return length > 0 ? cast_length(l, e, length, padded, at, out)
                      : cast_to(l, e, t, at, out);
}
