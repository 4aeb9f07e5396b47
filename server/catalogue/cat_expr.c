/*
 * Expressions: constants, columns, CASE, tests, arrays, parameters. Each gives
 * SQLite's text and PostgreSQL's type. Values in SQLite: booleans are 0 and 1,
 * OIDs and what is made of them integers, arrays and vectors JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

struct cat_expr cat_typed(const char *sql, uint32_t type)
{
    return (struct cat_expr){.sql = sql, .type = type, .typmod = -1};
}

struct cat_expr cat_boolean(const char *sql)
{
    return cat_typed(sql, T_BOOL);
}

static struct cat_expr literal(struct cat_printer *p, const char *text)
{
    struct cat_expr e =
        cat_typed(text ? cat_quote(p, text) : "NULL", T_UNKNOWN);
    e.literal = true;
    e.text = text;
    return e;
}

static struct cat_expr number(struct cat_printer *p, const char *text)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    if (!*end && strlen(text) < 19)
        return cat_typed(cat_format(p, "%lld", v), T_INT8);
    return cat_typed(cat_quote(p, text), T_NUMERIC);
}

static const char *skip_blanks(const char *s)
{
    for (;;) {
        if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r' || *s == '\f' ||
            *s == '(') {
            s++;
        } else if (s[0] == '-' && s[1] == '-') {
            s += strcspn(s, "\n\r");
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end)
                return s;
            s = end + 2;
        } else {
            return s;
        }
    }
}

/* The tree leaves out a 0 and, in this version of libpg_query, a negative
 * number: then the text decides. The parser folds signs and brackets. */
static long long small_integer(struct cat_printer *p, const json_t *c,
                               const json_t *ival)
{
    const json_t *v = cat_get(ival, "ival");
    long at = cat_at(c);
    bool negative = false;
    const char *s;
    char *end;
    long long n;
    if (v)
        return json_integer_value(v);
    if (at < 0 || (size_t)at >= strlen(p->text))
        cat_refuse(p, c, "this constant");
    s = skip_blanks(p->text + at);
    for (; *s == '-'; s = skip_blanks(s + 1))
        negative = !negative;
    n = strtoll(s, &end, 10);
    if (end == s || n < 0 || n > INT32_MAX || (!negative && n != 0))
        cat_refuse(p, c, "this constant");
    return negative ? -n : n;
}

static struct cat_expr constant(struct cat_printer *p, const json_t *c)
{
    const json_t *v;
    if (cat_flag(c, "isnull"))
        return literal(p, NULL);
    if ((v = cat_get(c, "sval")))
        return literal(p, cat_string(v, "sval"));
    if ((v = cat_get(c, "boolval")))
        return cat_boolean(cat_flag(v, "boolval") ? "1" : "0");
    if ((v = cat_get(c, "fval")))
        return number(p, cat_string(v, "fval"));
    if ((v = cat_get(c, "ival")))
        return cat_typed(cat_format(p, "%lld", small_integer(p, c, v)), T_INT4);
    cat_refuse(p, c, "this constant");
}

/* A value that the client sent is a literal of the type that it named. */
static struct cat_expr parameter(struct cat_printer *p, const json_t *f)
{
    json_int_t at = json_integer_value(cat_get(f, "number"));
    struct cat_expr e;
    size_t n;
    if (at < 1 || at > CAT_MOST_PARAMETERS)
        cat_fail(p, "42P02", cat_at(f), "there is no parameter $%lld",
                 (long long)at);
    n = (size_t)at;
    if (n > p->most_parameter)
        p->most_parameter = n;
    if (n > p->n_parameters && p->values_known)
        cat_fail(p, "42P02", cat_at(f), "there is no parameter $%zu", n);
    e = literal(p, n <= p->n_parameters ? p->parameters[n - 1].text : NULL);
    e.parameter = n;
    if (p->parameter_types[n - 1] && p->parameter_types[n - 1] != T_UNKNOWN)
        e = cat_coerce(p, e, p->parameter_types[n - 1], cat_at(f));
    return e;
}

const char *cat_condition(struct cat_printer *p, struct cat_scope *s,
                          const json_t *node)
{
    const json_t *f;
    struct cat_expr e = cat_expression(p, s, node);
    cat_kind(node, &f);
    e = cat_coerce(p, e, T_BOOL, cat_at(f));
    if (e.type != T_BOOL)
        cat_fail(p, "42804", cat_at(f), "argument must be type boolean");
    return e.sql;
}

static struct cat_expr bool_expr(struct cat_printer *p, struct cat_scope *s,
                                 const json_t *f)
{
    const json_t *args = cat_get(f, "args");
    const char *op = cat_string(f, "boolop");
    struct cat_buffer b = {0};
    if (!strcmp(op, "NOT_EXPR"))
        return cat_boolean(cat_format(
            p, "(NOT %s)", cat_condition(p, s, json_array_get(args, 0))));
    for (size_t i = 0; i < json_array_size(args); i++) {
        cat_add(p, &b, !i ? "(" : !strcmp(op, "OR_EXPR") ? " OR " : " AND ");
        cat_add(p, &b, cat_condition(p, s, json_array_get(args, i)));
    }
    cat_add(p, &b, ")");
    return cat_boolean(b.s);
}

/* The types of a CASE, COALESCE or ARRAY agree: the first that is known. */
static uint32_t common_type(struct cat_expr *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].type != T_UNKNOWN)
            return e[i].type;
    return T_TEXT;
}

/* Which of two types of one category holds both: the first, unless only the
 * second takes the other without loss. */
static uint32_t wider(uint32_t a, uint32_t b)
{
    static const uint32_t ranks[] = {T_INT2, T_INT4, T_INT8, T_OID};
    size_t i = 0, k = 0;
    while (i < 4 && ranks[i] != a)
        i++;
    while (k < 4 && ranks[k] != b)
        k++;
    if (i < 4 && k < 4)
        return i < k ? b : a;
    return a == T_CHAR ? b : a;
}

static void unify(struct cat_printer *p, struct cat_expr *e, size_t n, long at)
{
    uint32_t type = common_type(e, n);
    for (size_t i = 0; i < n; i++)
        if (!e[i].literal && cat_category(e[i].type) != cat_category(type))
            cat_fail(p, "42804", at, "types %s and %s cannot be matched",
                     cat_type_of(type) ? cat_type_of(type)->sql : "record",
                     cat_type_of(e[i].type) ? cat_type_of(e[i].type)->sql
                                            : "record");
        else if (!e[i].literal)
            type = wider(type, e[i].type);
    for (size_t i = 0; i < n; i++) {
        e[i] = cat_coerce(p, e[i], type, at);
        e[i].type = type;
    }
}

static struct cat_expr case_expr(struct cat_printer *p, struct cat_scope *s,
                                 const json_t *f)
{
    const json_t *whens = cat_get(f, "args"), *arg = cat_get(f, "arg");
    size_t n = json_array_size(whens);
    struct cat_expr *results = cat_take(p, (n + 1) * sizeof *results);
    const char **conditions = cat_take(p, (n + 1) * sizeof *conditions);
    struct cat_buffer b = {0};
    for (size_t i = 0; i < n; i++) {
        const json_t *w = cat_as(json_array_get(whens, i), "CaseWhen");
        if (arg) {
            struct cat_expr l = cat_expression(p, s, arg),
                            r = cat_expression(p, s, cat_get(w, "expr"));
            cat_agree(p, &l, &r, "=", cat_at(w));
            conditions[i] = cat_format(p, "(%s = %s)", l.sql, r.sql);
        } else {
            conditions[i] = cat_condition(p, s, cat_get(w, "expr"));
        }
        results[i + 1] = cat_expression(p, s, cat_get(w, "result"));
    }
    results[0] = cat_get(f, "defresult")
                     ? cat_expression(p, s, cat_get(f, "defresult"))
                     : literal(p, NULL);
    /* PostgreSQL looks at ELSE first */
    unify(p, results, n + 1, cat_at(f));
    cat_add(p, &b, "CASE");
    for (size_t i = 0; i < n; i++)
        cat_add(p, &b,
                cat_format(p, " WHEN %s THEN %s", conditions[i],
                           results[i + 1].sql));
    cat_add(p, &b, cat_format(p, " ELSE %s END", results[0].sql));
    return cat_typed(b.s, results[0].type);
}

static struct cat_expr choice(struct cat_printer *p, struct cat_scope *s,
                              const json_t *f, const char *function)
{
    const json_t *args = cat_get(f, "args");
    size_t n = json_array_size(args);
    struct cat_expr *e = cat_take(p, (n + 1) * sizeof *e);
    struct cat_buffer b = {0};
    for (size_t i = 0; i < n; i++)
        e[i] = cat_expression(p, s, json_array_get(args, i));
    unify(p, e, n, cat_at(f));
    if (n == 1)
        return e[0];
    cat_add(p, &b, function);
    for (size_t i = 0; i < n; i++) {
        cat_add(p, &b, i ? "," : "(");
        cat_add(p, &b, e[i].sql);
    }
    cat_add(p, &b, ")");
    return cat_typed(b.s, e[0].type);
}

static struct cat_expr null_test(struct cat_printer *p, struct cat_scope *s,
                                 const json_t *f)
{
    struct cat_expr e = cat_expression(p, s, cat_get(f, "arg"));
    bool is = !strcmp(cat_string(f, "nulltesttype"), "IS_NULL");
    return cat_boolean(
        cat_format(p, "(%s IS %sNULL)", e.sql, is ? "" : "NOT "));
}

static struct cat_expr boolean_test(struct cat_printer *p, struct cat_scope *s,
                                    const json_t *f)
{
    static const char *const words[][2] = {
        {"IS_TRUE", "IS 1"},       {"IS_NOT_TRUE", "IS NOT 1"},
        {"IS_FALSE", "IS 0"},      {"IS_NOT_FALSE", "IS NOT 0"},
        {"IS_UNKNOWN", "IS NULL"}, {"IS_NOT_UNKNOWN", "IS NOT NULL"}};
    const char *e = cat_condition(p, s, cat_get(f, "arg"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], cat_string(f, "booltesttype")))
            return cat_boolean(cat_format(p, "(%s %s)", e, words[i][1]));
    cat_refuse(p, f, "this test");
}

static struct cat_expr array_expr(struct cat_printer *p, struct cat_scope *s,
                                  const json_t *f)
{
    const json_t *elements = cat_get(f, "elements");
    size_t n = json_array_size(elements);
    struct cat_expr *e = cat_take(p, (n + 1) * sizeof *e);
    struct cat_buffer b = {0};
    const struct cat_type *t;
    for (size_t i = 0; i < n; i++)
        e[i] = cat_expression(p, s, json_array_get(elements, i));
    unify(p, e, n, cat_at(f));
    cat_add(p, &b, "json_array(");
    for (size_t i = 0; i < n; i++) {
        cat_add(p, &b, i ? "," : "");
        cat_add(p, &b, e[i].sql);
    }
    cat_add(p, &b, ")");
    t = cat_type_of(common_type(e, n));
    if (!t || !t->array)
        cat_refuse(p, f, "an array of arrays");
    return cat_typed(b.s, t->array);
}

static struct cat_expr field_of(struct cat_printer *p, struct cat_expr e,
                                const char *name, const json_t *f)
{
    if (e.type == T_EXPANDED && !strcmp(name, "x"))
        return cat_typed(cat_format(p, "json_extract(%s,'$[0]')", e.sql),
                         T_INT2);
    if (e.type == T_EXPANDED && !strcmp(name, "n"))
        return cat_typed(cat_format(p, "json_extract(%s,'$[1]')", e.sql),
                         T_INT4);
    cat_refuse(p, f, "a field of a row");
}

static struct cat_expr indirection(struct cat_printer *p, struct cat_scope *s,
                                   const json_t *f)
{
    const json_t *steps = cat_get(f, "indirection");
    struct cat_expr e = cat_expression(p, s, cat_get(f, "arg"));
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const json_t *index = cat_as(step, "A_Indices");
        uint32_t element = cat_element(e.type);
        bool vector = e.type == T_INT2VECTOR || e.type == T_OIDVECTOR;
        if (cat_as(step, "String")) {
            e = field_of(p, e, cat_name_of(step), f);
            continue;
        }
        if (!index || cat_flag(index, "is_slice") || !element)
            cat_refuse(p, f, "this subscript");
        e = cat_typed(
            cat_format(p, "f_subscript(%s,%s,%d)", e.sql,
                       cat_coerce(p,
                                  cat_expression(p, s, cat_get(index, "uidx")),
                                  T_INT4, -1)
                           .sql,
                       vector ? 0 : 1),
            element);
    }
    return e;
}

static struct cat_expr row_expr(struct cat_printer *p, struct cat_scope *s,
                                const json_t *f)
{
    const json_t *args = cat_get(f, "args");
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(args); i++) {
        cat_add(p, &b, i ? "," : "(");
        cat_add(
            p, &b,
            cat_known(p, cat_expression(p, s, json_array_get(args, i))).sql);
    }
    cat_add(p, &b, ")");
    return cat_typed(b.s, T_RECORD);
}

static struct cat_expr type_cast(struct cat_printer *p, struct cat_scope *s,
                                 const json_t *f)
{
    uint32_t type = cat_type_name(p, cat_get(f, "typeName"));
    const json_t *array = cat_as(cat_get(f, "arg"), "A_ArrayExpr");
    if (array && !json_array_size(cat_get(array, "elements")))
        return cat_typed("'[]'", type);
    return cat_cast(p, cat_expression(p, s, cat_get(f, "arg")), type,
                    cat_at(f));
}

static struct cat_expr dispatch(struct cat_printer *p, struct cat_scope *s,
                                const char *kind, const json_t *f)
{
    if (!strcmp(kind, "A_Const"))
        return constant(p, f);
    if (!strcmp(kind, "ColumnRef"))
        return cat_resolve(p, s, f);
    if (!strcmp(kind, "ParamRef"))
        return parameter(p, f);
    if (!strcmp(kind, "A_Expr"))
        return cat_operator(p, s, f);
    if (!strcmp(kind, "BoolExpr"))
        return bool_expr(p, s, f);
    if (!strcmp(kind, "FuncCall"))
        return cat_call(p, s, f);
    if (!strcmp(kind, "TypeCast"))
        return type_cast(p, s, f);
    if (!strcmp(kind, "SubLink"))
        return cat_sublink(p, s, f);
    if (!strcmp(kind, "CaseExpr"))
        return case_expr(p, s, f);
    if (!strcmp(kind, "CoalesceExpr"))
        return choice(p, s, f, "coalesce");
    if (!strcmp(kind, "MinMaxExpr"))
        return choice(p, s, f,
                      strcmp(cat_string(f, "op"), "IS_LEAST") ? "f_greatest"
                                                              : "f_least");
    if (!strcmp(kind, "NullTest"))
        return null_test(p, s, f);
    if (!strcmp(kind, "BooleanTest"))
        return boolean_test(p, s, f);
    if (!strcmp(kind, "A_ArrayExpr"))
        return array_expr(p, s, f);
    if (!strcmp(kind, "A_Indirection"))
        return indirection(p, s, f);
    if (!strcmp(kind, "RowExpr"))
        return row_expr(p, s, f);
    if (!strcmp(kind, "CollateClause"))
        return cat_expression(p, s, cat_get(f, "arg"));
    if (!strcmp(kind, "SQLValueFunction"))
        return cat_value_function(p, f);
    cat_refuse(p, f, "this expression");
}

struct cat_expr cat_expression(struct cat_printer *p, struct cat_scope *s,
                               const json_t *node)
{
    const json_t *f;
    const char *kind = cat_kind(node, &f);
    struct cat_expr e;
    cat_enter(p);
    e = dispatch(p, s, kind, f);
    p->depth--;
    return e;
}
