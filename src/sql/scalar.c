/*
 * Scalar expressions of the parse tree to struct expr. Whatever can fail on
 * some value is refused (PRIVACY: an error that depends on rows would be an
 * output that nobody paid for); what remains is total by construction.
 */
#include <stdlib.h>
#include <string.h>

#include "sql/sql_int.h"

/* --- constants --- */

static const char *skip_blanks_and_comments(const char *p)
{
    for (;;) {
        if (*p && strchr(" \t\r\n\f\v(", *p)) {
            p++;
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            size_t depth = 0;
            do {
                int open = p[0] == '/' && p[1] == '*';
                int close = p[0] == '*' && p[1] == '/';
                depth += (size_t)open - (size_t)close;
                p += open || close ? 2 : 1;
            } while (depth && *p);
        } else {
            return p;
        }
    }
}

/* The JSON tree leaves out the value of an integer constant that is 0, and
 * this version of libpg_query also of one that is negative: then the text
 * decides. The parser folds signs and brackets into the constant. */
static enum status small_integer(struct lower *l, const json_t *ival,
                                 long position, int64_t *out)
{
    const json_t *v = get(ival, "ival");
    if (v) {
        *out = (int64_t)json_integer_value(v);
        return OK;
    }
    if (position < 0 || (size_t)position >= l->text_n)
        return err_internal(l->err, "integer constant without position");
    const char *p = skip_blanks_and_comments(l->text + position);
    bool neg = false;
    for (; *p == '-'; p = skip_blanks_and_comments(p + 1))
        neg = !neg;
    char *end;
    long n = strtol(p, &end, 10);
    if (end == p || n < 0 || n > INT32_MAX || (!neg && n != 0))
        return err_internal(l->err, "integer constant cannot be read back");
    *out = neg ? -n : n;
    return OK;
}

enum status make_untyped(struct lower *l, struct value v, struct expr **out)
{
    TRY(make_const(l, v, out));
    (*out)->type = T_UNKNOWN;
    return OK;
}

static enum status copy_text(struct lower *l, const char *s, struct value *out)
{
    struct str c = str_copy(l->arena, str_of(s));
    if (!c.p)
        return err_nomem(l->err);
    *out = value_text(c);
    return OK;
}

/* Of 1.50 it is 2; of 1e3, as PostgreSQL has it, none. */
static uint32_t written_places(const char *number)
{
    const char *point = strchr(number, '.');
    return point && !strpbrk(number, "eE") ? (uint32_t)strlen(point + 1) : 0;
}

static enum status lower_const(struct lower *l, const json_t *c,
                               struct expr **out)
{
    struct value v;
    const json_t *f;
    if (get_flag(c, "isnull"))
        return make_untyped(l, value_null(), out);
    if ((f = get(c, "ival"))) {
        int64_t i = 0;
        TRY(small_integer(l, f, get_location(c), &i));
        return make_const(l, value_int(i), out);
    }
    if ((f = get(c, "fval"))) {
        struct value text;
        TRY(copy_text(l, get_text(f, "fval"), &text));
        if (value_parse_number(l->arena, text.s, &v)) {
            TRY(make_const(l, v, out));
            /* 2.0 is the value 2, but x / 2.0 is no division of integers */
            if (strpbrk(get_text(f, "fval"), ".eE"))
                (*out)->type = T_DEC;
            (*out)->places = written_places(get_text(f, "fval"));
            return OK;
        }
        err_set(l->err, E_VALUE, "the number is too large");
        err_at(l->err, get_location(c));
        return E_VALUE;
    }
    if ((f = get(c, "boolval"))) {
        v = (struct value){.type = T_BOOL, .i = get_flag(f, "boolval")};
        return make_const(l, v, out);
    }
    if ((f = get(c, "sval"))) {
        TRY(copy_text(l, get_text(f, "sval"), &v));
        return make_untyped(l, v, out);
    }
    return sql_refuse(l->err, NO_EXPRESSION, get_location(c));
}

static enum status lower_param(struct lower *l, const json_t *p,
                               struct expr **out)
{
    json_int_t n = json_integer_value(get(p, "number"));
    if (!l->opt || n < 1 || (size_t)n > l->opt->n_params) {
        err_set(l->err, E_NAME, "there is no parameter $%lld", (long long)n);
        err_at(l->err, get_location(p));
        err_hint(l->err, "Give its value with --param, once for each "
                         "parameter, in order.");
        return E_NAME;
    }
    struct str s = l->opt->params[n - 1];
    struct value v = s.p ? value_text(s) : value_null();
    v.i = n; /* for give_type; no value of these types has it */
    if (l->opt->types)
        l->opt->types[n - 1] = T_UNKNOWN;
    return make_untyped(l, v, out);
}

/* --- operators --- */

enum expr_op comparison_op(const char *name)
{
    static const struct {
        const char *name;
        enum expr_op op;
    } ops[] = {{"=", X_EQ},  {"<>", X_NE}, {"!=", X_NE}, {"<", X_LT},
               {"<=", X_LE}, {">", X_GT},  {">=", X_GE}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(name, ops[i].name) == 0)
            return ops[i].op;
    return X_N_OPS;
}

enum expr_op negated_op(enum expr_op op)
{
    switch (op) {
    case X_EQ:
        return X_NE;
    case X_NE:
        return X_EQ;
    case X_LT:
        return X_GE;
    case X_LE:
        return X_GT;
    case X_GT:
        return X_LE;
    default:
        return X_LT;
    }
}

static bool is_number(const struct expr *e)
{
    return e->type == T_INT || e->type == T_DEC || e->type == T_REAL ||
           e->type == T_UNKNOWN;
}

/* date + days, days + date, date - days, date - date */
static bool is_date_sum(enum expr_op op, const struct expr *x,
                        const struct expr *y)
{
    if (x->type == T_DATE && y->type == T_INT)
        return op == X_ADD || op == X_SUB;
    if (x->type == T_INT && y->type == T_DATE)
        return op == X_ADD;
    return x->type == T_DATE && y->type == T_DATE && op == X_SUB;
}

/* PRIVACY: a divisor that can be 0 could end the query with an error. */
static bool safe_divisor(const struct expr *e)
{
    struct value zero = value_int(0);
    if (e->op == X_CONST)
        return !e->val.is_null && e->val.type != T_DEC &&
               value_cmp(&e->val, &zero) != 0;
    return e->op == X_NULLIF && e->args[0]->op == X_VAR &&
           (e->type == T_INT || e->type == T_REAL) &&
           e->args[1]->op == X_CONST && !e->args[1]->val.is_null &&
           value_cmp(&e->args[1]->val, &zero) == 0;
}

static enum status check_division(struct lower *l, enum expr_op op,
                                  const struct expr *x, const struct expr *y,
                                  long position)
{
    if (x->type == T_DEC || y->type == T_DEC || x->type == T_UNKNOWN ||
        y->type == T_UNKNOWN)
        return sql_refuse(l->err, NO_DECIMAL_DIVISION, position);
    if (op == X_MOD && (x->type == T_REAL || y->type == T_REAL))
        return sql_type_error(l, position, "%", x, y);
    if (!safe_divisor(y))
        return sql_refuse(l->err, NO_DIVISION, position);
    return OK;
}

static enum status arithmetic(struct lower *l, enum expr_op op,
                              const char *name, struct expr *x, struct expr *y,
                              long position, struct expr **out)
{
    if (is_untyped(x) && y->type == T_DATE)
        TRY(give_type(l, &x, op == X_SUB ? T_DATE : T_INT, position));
    if (is_untyped(y) && x->type == T_DATE)
        TRY(give_type(l, &y, T_INT, position));
    if (is_date_sum(op, x, y))
        return make2(l, op, x, y, out);
    if (!is_number(x) || !is_number(y))
        return sql_type_error(l, position, name, x, y);
    TRY(unify2(l, &x, &y, position));
    if (!is_number(x) || !is_number(y))
        return sql_type_error(l, position, name, x, y);
    bool real = x->type == T_REAL || y->type == T_REAL;
    bool whole = x->type == T_INT && y->type == T_INT;
    if (l->after && op == X_DIV && !real && !whole) /* NULL by 0 */
        return make2(l, X_RATIO, x, y, out);
    if ((op == X_DIV || op == X_MOD) && !(l->after && (whole || real)))
        TRY(check_division(l, op, x, y, position));
    return make2(l, op, x, y, out);
}

static enum status concat(struct lower *l, struct expr *x, struct expr *y,
                          long position, struct expr **out)
{
    struct expr *side[] = {x, y};
    for (int i = 0; i < 2; i++) {
        if (is_untyped(side[i]))
            TRY(give_type(l, &side[i], T_TEXT, position));
        if (side[i]->type == T_UNKNOWN)
            TRY(make1(l, X_TO_TEXT, side[i], &side[i]));
        if (side[i]->type != T_TEXT)
            return sql_type_error(l, position, "||", x, y);
    }
    return make(l, X_CONCAT, 2, side, out);
}

static enum status negate(struct lower *l, struct expr *x, long position,
                          struct expr **out)
{
    if (is_untyped(x) || !is_number(x))
        return sql_type_error(l, position, "unary minus", x, NULL);
    return make1(l, X_NEG, x, out);
}

static enum expr_op arithmetic_op(const char *name)
{
    static const enum expr_op ops[] = {X_ADD, X_SUB, X_MUL, X_DIV, X_MOD};
    const char *signs = "+-*/%", *at = strchr(signs, name[0]);
    return name[0] && !name[1] && at ? ops[at - signs] : X_N_OPS;
}

static enum status lower_operator(struct lower *l, struct scope *sc,
                                  const json_t *e, struct expr **out);

/* (a, b) = (c, d): equal in every column. <>: different in some. */
enum status lower_rows(struct lower *l, struct scope *sc, const json_t *x,
                       const json_t *y, enum expr_op op, long position,
                       struct expr **out)
{
    const json_t *xs = get(x, "args"), *ys = get(y, "args");
    size_t n = json_array_size(xs);
    struct expr **parts = NEWS(l->arena, struct expr *, n + 1);
    if ((op != X_EQ && op != X_NE) || n == 0 || n != json_array_size(ys))
        return sql_refuse(l->err, NO_EXPRESSION, position);
    if (!parts)
        return err_nomem(l->err);
    for (size_t i = 0; i < n; i++) {
        struct expr *a, *b;
        TRY(lower_scalar(l, sc, json_array_get(xs, i), &a));
        TRY(lower_scalar(l, sc, json_array_get(ys, i), &b));
        TRY(unify2(l, &a, &b, position));
        TRY(make2(l, op, a, b, &parts[i]));
    }
    return make(l, op == X_EQ ? X_AND : X_OR, (uint32_t)n, parts, out);
}

static enum status lower_operator(struct lower *l, struct scope *sc,
                                  const json_t *e, struct expr **out)
{
    const char *name = last_name(get(e, "name"));
    const json_t *left = get(e, "lexpr"), *right = get(e, "rexpr");
    long at = get_location(e);
    enum expr_op op = comparison_op(name);
    struct expr *x, *y;
    if (op != X_N_OPS && node_as(left, "RowExpr") && node_as(right, "RowExpr"))
        return lower_rows(l, sc, node_as(left, "RowExpr"),
                          node_as(right, "RowExpr"), op, at, out);
    if (!left) {
        TRY(lower_scalar(l, sc, right, &x));
        if (strcmp(name, "-") == 0)
            return negate(l, x, at, out);
        if (strcmp(name, "+") != 0)
            return sql_refuse(l->err, NO_OPERATOR, at);
        *out = x;
        return is_number(x) ? OK : sql_type_error(l, at, "unary plus", x, NULL);
    }
    bool sum = strcmp(name, "+") == 0 || strcmp(name, "-") == 0;
    if (sum && (sql_is_interval(left) || sql_is_interval(right)))
        return lower_interval_sum(l, sc, left, right, name[0] == '-', at, out);
    if (strcmp(name, "~") == 0 || strcmp(name, "~*") == 0)
        return lower_regex(l, sc, left, right, name, at, out);
    if (strcmp(name, "!~") == 0 || strcmp(name, "!~*") == 0) {
        TRY(lower_regex(l, sc, left, right, name + 1, at, out));
        return make1(l, X_NOT, *out, out);
    }
    TRY(lower_scalar(l, sc, left, &x));
    TRY(lower_scalar(l, sc, right, &y));
    if (op != X_N_OPS) {
        TRY(unify2(l, &x, &y, at));
        return make2(l, op, x, y, out);
    }
    if ((op = arithmetic_op(name)) != X_N_OPS)
        return arithmetic(l, op, name, x, y, at, out);
    if (strcmp(name, "||") == 0)
        return concat(l, x, y, at, out);
    return sql_refuse(l->err, NO_OPERATOR, at);
}

/* --- the other forms of A_Expr --- */

static enum status lower_two(struct lower *l, struct scope *sc, const json_t *e,
                             enum expr_op op, struct expr **out)
{
    struct expr *x, *y;
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
    TRY(lower_scalar(l, sc, get(e, "rexpr"), &y));
    TRY(unify2(l, &x, &y, get_location(e)));
    return make2(l, op, x, y, out);
}

/* x SIMILAR TO p: the parser writes p as similar_to_escape(p). */
static enum status lower_similar(struct lower *l, struct scope *sc,
                                 const json_t *e, struct expr **out)
{
    const json_t *call = node_as(get(e, "rexpr"), "FuncCall");
    const json_t *args = get(call, "args");
    const char *op = string_of(json_array_get(get(e, "name"), 0));
    if (json_array_size(args) != 1)
        return sql_refuse(l->err, NO_REGEX, get_location(e));
    TRY(lower_regex(l, sc, get(e, "lexpr"), json_array_get(args, 0), "similar",
                    get_location(e), out));
    return op[0] == '!' ? make1(l, X_NOT, *out, out) : OK;
}

/* LIKE as PostgreSQL writes it in a catalogue: ~~, !~~, ~~*, !~~*. */
static bool is_like(const char *name)
{
    name += *name == '!';
    return strcmp(name, "~~") == 0 || strcmp(name, "~~*") == 0;
}

static enum status lower_a_expr(struct lower *l, struct scope *sc,
                                const json_t *e, struct expr **out)
{
    const char *kind = get_text(e, "kind");
    const char *name = string_of(json_array_get(get(e, "name"), 0));
    if (strcmp(kind, "AEXPR_OP") == 0 && is_like(name))
        return lower_like(l, sc, e, strchr(name, '*') != NULL, out);
    if (strcmp(kind, "AEXPR_OP") == 0)
        return lower_operator(l, sc, e, out);
    if (strcmp(kind, "AEXPR_IN") == 0)
        return lower_in(l, sc, e, out);
    if (strcmp(kind, "AEXPR_OP_ANY") == 0)
        return lower_any(l, sc, e, out);
    if (strcmp(kind, "AEXPR_LIKE") == 0)
        return lower_like(l, sc, e, false, out);
    if (strcmp(kind, "AEXPR_ILIKE") == 0)
        return lower_like(l, sc, e, true, out);
    if (strcmp(kind, "AEXPR_SIMILAR") == 0)
        return lower_similar(l, sc, e, out);
    if (strcmp(kind, "AEXPR_NULLIF") == 0)
        return lower_two(l, sc, e, X_NULLIF, out);
    if (strcmp(kind, "AEXPR_DISTINCT") == 0)
        return lower_two(l, sc, e, X_DISTINCT, out);
    if (strcmp(kind, "AEXPR_NOT_DISTINCT") == 0) {
        TRY(lower_two(l, sc, e, X_DISTINCT, out));
        return make1(l, X_NOT, *out, out);
    }
    if (strncmp(kind, "AEXPR_BETWEEN", 13) == 0 ||
        strncmp(kind, "AEXPR_NOT_BETWEEN", 17) == 0)
        return lower_between(l, sc, e, strstr(kind, "_SYM") != NULL,
                             strstr(kind, "_NOT_") != NULL, out);
    return sql_refuse(l->err, NO_EXPRESSION, get_location(e));
}

static enum status lower_bool_expr(struct lower *l, struct scope *sc,
                                   const json_t *e, struct expr **out)
{
    const json_t *args = get(e, "args");
    size_t n = json_array_size(args);
    const char *op = get_text(e, "boolop");
    struct expr **parts = NEWS(l->arena, struct expr *, n + 1);
    if (!parts)
        return err_nomem(l->err);
    for (size_t i = 0; i < n; i++)
        TRY(lower_boolean(l, sc, json_array_get(args, i), &parts[i]));
    if (strcmp(op, "NOT_EXPR") == 0)
        return make1(l, X_NOT, parts[0], out);
    return make(l, strcmp(op, "OR_EXPR") == 0 ? X_OR : X_AND, (uint32_t)n,
                parts, out);
}

enum status lower_cell(struct lower *l, struct scope *sc, const json_t *node,
                       struct expr **out)
{
    bool was = l->only_null;
    l->only_null = node_as(node, "ColumnRef") != NULL;
    enum status s = lower_scalar(l, sc, node, out);
    l->only_null = was;
    return s;
}

static enum status lower_null_test(struct lower *l, struct scope *sc,
                                   const json_t *e, struct expr **out)
{
    if (node_as(get(e, "arg"), "RowExpr"))
        return sql_refuse(l->err, NO_EXPRESSION, get_location(e));
    TRY(lower_cell(l, sc, get(e, "arg"), out));
    TRY(make1(l, X_ISNULL, *out, out));
    if (strcmp(get_text(e, "nulltesttype"), "IS_NOT_NULL") == 0)
        return make1(l, X_NOT, *out, out);
    return OK;
}

static enum status lower_truth_test(struct lower *l, struct scope *sc,
                                    const json_t *e, struct expr **out)
{
    const char *test = get_text(e, "booltesttype");
    enum expr_op op = strstr(test, "TRUE")    ? X_ISTRUE
                      : strstr(test, "FALSE") ? X_ISFALSE
                                              : X_ISNULL;
    TRY(lower_boolean(l, sc, get(e, "arg"), out));
    TRY(make1(l, op, *out, out));
    return strstr(test, "_NOT_") ? make1(l, X_NOT, *out, out) : OK;
}

/* --- CASE, COALESCE, GREATEST --- */

static enum status lower_case(struct lower *l, struct scope *sc,
                              const json_t *e, struct expr **out)
{
    const json_t *whens = get(e, "args"), *arg = get(e, "arg");
    size_t n = json_array_size(whens);
    long at = get_location(e);
    struct expr **v = NEWS(l->arena, struct expr *, 2 * n + 1);
    if (!v)
        return err_nomem(l->err);
    for (size_t i = 0; i < n; i++) {
        const json_t *w = node_as(json_array_get(whens, i), "CaseWhen");
        if (arg) {
            struct expr *x, *y;
            TRY(lower_scalar(l, sc, arg, &x));
            TRY(lower_scalar(l, sc, get(w, "expr"), &y));
            TRY(unify2(l, &x, &y, at));
            TRY(make2(l, X_EQ, x, y, &v[2 * i]));
        } else {
            TRY(lower_boolean(l, sc, get(w, "expr"), &v[2 * i]));
        }
        TRY(lower_scalar(l, sc, get(w, "result"), &v[2 * i + 1]));
    }
    TRY(make_untyped(l, value_null(), &v[2 * n]));
    if (get(e, "defresult"))
        TRY(lower_scalar(l, sc, get(e, "defresult"), &v[2 * n]));
    /* the results: every second one, and the last */
    struct expr **results = NEWS(l->arena, struct expr *, n + 1);
    if (!results)
        return err_nomem(l->err);
    for (size_t i = 0; i <= n; i++)
        results[i] = v[i < n ? 2 * i + 1 : 2 * n];
    TRY(unify(l, results, n + 1, 1, at));
    for (size_t i = 0; i <= n; i++)
        v[i < n ? 2 * i + 1 : 2 * n] = results[i];
    return make(l, X_CASE, (uint32_t)(2 * n + 1), v, out);
}

static enum status lower_list(struct lower *l, struct scope *sc,
                              const json_t *e, enum expr_op op,
                              struct expr **out)
{
    const json_t *args = get(e, "args");
    size_t n = json_array_size(args);
    struct expr **v = NEWS(l->arena, struct expr *, n + 1);
    if (!v)
        return err_nomem(l->err);
    for (size_t i = 0; i < n; i++)
        TRY(lower_scalar(l, sc, json_array_get(args, i), &v[i]));
    TRY(unify(l, v, n, 1, get_location(e)));
    return make(l, op, (uint32_t)n, v, out);
}

/* --- all of them --- */

static enum status refuse_sublink(struct lower *l, const json_t *e)
{
    const char *type = get_text(e, "subLinkType");
    enum construct c = strcmp(type, "ALL_SUBLINK") == 0 ? NO_SUBQUERY_HERE
                       : strcmp(type, "EXISTS_SUBLINK") == 0 ||
                               strcmp(type, "ANY_SUBLINK") == 0
                           ? NO_SUBQUERY_HERE
                           : NO_SCALAR_SUBQUERY;
    return sql_refuse(l->err, c, get_location(e));
}

static enum status lower_kind(struct lower *l, struct scope *sc,
                              const char *kind, const json_t *f,
                              struct expr **out)
{
    if (strcmp(kind, "ColumnRef") == 0)
        return resolve_column(l, sc, f, out);
    if (strcmp(kind, "A_Const") == 0)
        return lower_const(l, f, out);
    if (strcmp(kind, "ParamRef") == 0)
        return lower_param(l, f, out);
    if (strcmp(kind, "A_Expr") == 0)
        return lower_a_expr(l, sc, f, out);
    if (strcmp(kind, "BoolExpr") == 0)
        return lower_bool_expr(l, sc, f, out);
    if (strcmp(kind, "NullTest") == 0)
        return lower_null_test(l, sc, f, out);
    if (strcmp(kind, "BooleanTest") == 0)
        return lower_truth_test(l, sc, f, out);
    if (strcmp(kind, "CaseExpr") == 0)
        return lower_case(l, sc, f, out);
    if (strcmp(kind, "CoalesceExpr") == 0)
        return lower_list(l, sc, f, X_COALESCE, out);
    if (strcmp(kind, "MinMaxExpr") == 0)
        return lower_list(
            l, sc, f,
            strcmp(get_text(f, "op"), "IS_LEAST") == 0 ? X_LEAST : X_GREATEST,
            out);
    if (strcmp(kind, "FuncCall") == 0)
        return lower_function(l, sc, f, out);
    if (strcmp(kind, "TypeCast") == 0)
        return lower_cast(l, sc, f, out);
    if (strcmp(kind, "SubLink") == 0)
        return refuse_sublink(l, f);
    if (strcmp(kind, "SQLValueFunction") == 0)
        return lower_today(l, f, out);
    if (strcmp(kind, "CollateClause") == 0)
        return sql_refuse(l->err, NO_COLLATE, get_location(f));
    return sql_refuse(l->err, NO_EXPRESSION, get_location(f));
}

enum status lower_scalar(struct lower *l, struct scope *sc, const json_t *node,
                         struct expr **out)
{
    const json_t *fields;
    const char *kind = node_kind(node, &fields);
    long outer = l->position, at = get_location(fields);
    TRY(lower_enter(l, at));
    TRY(lower_work(l, WORK_SCALAR, at));
    l->position = at >= 0 ? at : outer;
    enum status st = lower_kind(l, sc, kind, fields, out);
    l->position = outer;
    lower_leave(l);
    return st;
}

enum status lower_boolean(struct lower *l, struct scope *sc, const json_t *node,
                          struct expr **out)
{
    TRY(lower_scalar(l, sc, node, out));
    if (is_untyped(*out))
        return give_type(l, out, T_BOOL, node_location(node));
    if ((*out)->type != T_BOOL) {
        err_set(l->err, E_TYPE, "a condition must be boolean, this is %s",
                type_name((*out)->type));
        err_at(l->err, node_location(node));
        return E_TYPE;
    }
    return OK;
}
