/*
 * Expressions as trees: names, construction, comparison, copying, printing.
 * One table holds each operation's name and number of arguments, so that the
 * printer, the rule reader and the SQL front end cannot disagree. Trees are
 * small: readers keep EXPR_MAX_DEPTH and EXPR_MAX_NODES, so plain recursion is
 * used, and trees that share parts are copied as if they did not.
 */
#include "cq/expr.h"

#include <string.h>

enum { ANY_ARGS = 255 };

struct op_info {
    const char *name;
    uint8_t min_args, max_args;
};

static const struct op_info ops[X_N_OPS] = {
    [X_CONST] = {"const", 0, 0},
    [X_VAR] = {"var", 0, 0},
    [X_AND] = {"and", 1, ANY_ARGS},
    [X_OR] = {"or", 1, ANY_ARGS},
    [X_NOT] = {"not", 1, 1},
    [X_EQ] = {"eq", 2, 2},
    [X_NE] = {"ne", 2, 2},
    [X_LT] = {"lt", 2, 2},
    [X_LE] = {"le", 2, 2},
    [X_GT] = {"gt", 2, 2},
    [X_GE] = {"ge", 2, 2},
    [X_ISNULL] = {"isnull", 1, 1},
    [X_ISTRUE] = {"istrue", 1, 1},
    [X_ISFALSE] = {"isfalse", 1, 1},
    [X_DISTINCT] = {"distinct", 2, 2},
    [X_IN] = {"in", 2, ANY_ARGS},
    [X_LIKE] = {"like", 2, 3},
    [X_ILIKE] = {"ilike", 2, 3},
    [X_CASE] = {"case", 3, ANY_ARGS},
    [X_COALESCE] = {"coalesce", 1, ANY_ARGS},
    [X_NULLIF] = {"nullif", 2, 2},
    [X_ADD] = {"add", 2, 2},
    [X_SUB] = {"sub", 2, 2},
    [X_MUL] = {"mul", 2, 2},
    [X_NEG] = {"neg", 1, 1},
    [X_ABS] = {"abs", 1, 1},
    [X_DIV] = {"div", 2, 2},
    [X_MOD] = {"mod", 2, 2},
    [X_LOWER] = {"lower", 1, 1},
    [X_UPPER] = {"upper", 1, 1},
    [X_LENGTH] = {"length", 1, 1},
    [X_SUBSTR] = {"substr", 2, 3},
    [X_CONCAT] = {"concat", 2, 2},
    [X_TRIM] = {"trim", 1, 2},
    [X_LTRIM] = {"ltrim", 1, 2},
    [X_RTRIM] = {"rtrim", 1, 2},
    [X_REPLACE] = {"replace", 3, 3},
    [X_EXTRACT] = {"extract", 2, 2},
    [X_DATE_TRUNC] = {"date_trunc", 2, 2},
    [X_TO_DATE] = {"to_date", 1, 1},
    [X_ROUND] = {"round", 1, 2},
    [X_FLOOR] = {"floor", 1, 1},
    [X_CEIL] = {"ceil", 1, 1},
    [X_LEAST] = {"least", 1, ANY_ARGS},
    [X_GREATEST] = {"greatest", 1, ANY_ARGS},
    [X_TO_REAL] = {"to_real", 1, 1},
    [X_TO_TIMESTAMP] = {"to_timestamp", 1, 1},
    [X_TO_TEXT] = {"to_text", 1, 1},
    [X_POSITION] = {"position", 2, 2},
    [X_RATIO] = {"ratio", 2, 2},
    [X_SHIFT] = {"shift", 4, 4},
    [X_YEARS] = {"years", 2, 2},
    [X_TO_CHAR] = {"to_char", 2, 2},
    [X_BIN] = {"bin", 3, 3},
    [X_REGEX] = {"regex", 3, 3},
};

const char *expr_op_name(enum expr_op op)
{
    return (unsigned)op < X_N_OPS ? ops[op].name : "?";
}

bool expr_op_find(struct str name, enum expr_op *out)
{
    for (unsigned i = X_VAR + 1; i < X_N_OPS; i++)
        if (str_is(name, ops[i].name)) {
            *out = (enum expr_op)i;
            return true;
        }
    return false;
}

bool expr_op_takes(enum expr_op op, size_t n_args)
{
    return n_args >= ops[op].min_args &&
           (ops[op].max_args == ANY_ARGS || n_args <= ops[op].max_args);
}

/* The common type of two branches: exact numbers widen, others must agree. */
static enum type join_types(enum type a, enum type b)
{
    if (a == b)
        return a;
    if ((a == T_INT && b == T_DEC) || (a == T_DEC && b == T_INT))
        return T_DEC;
    if ((a == T_REAL && (b == T_INT || b == T_DEC)) ||
        (b == T_REAL && (a == T_INT || a == T_DEC)))
        return T_REAL;
    if ((a == T_DATE && b == T_TIMESTAMP) || (a == T_TIMESTAMP && b == T_DATE))
        return T_TIMESTAMP;
    return T_UNKNOWN;
}

static bool is_null_const(const struct expr *e)
{
    return e->op == X_CONST && e->val.is_null;
}

/* Over the arguments from, from + step, ...; NULL constants have no say. */
static enum type join_args(struct expr *const *args, uint32_t n, uint32_t from,
                           uint32_t step)
{
    enum type t = T_UNKNOWN;
    bool any = false;
    for (uint32_t i = from; i < n; i += step) {
        if (is_null_const(args[i]))
            continue;
        t = any ? join_types(t, args[i]->type) : args[i]->type;
        any = true;
    }
    return t;
}

static enum type case_type(struct expr *const *args, uint32_t n)
{
    enum type t = join_args(args, n - 1, 1, 2);
    if (n % 2 == 0 || is_null_const(args[n - 1]))
        return t;
    return t == T_UNKNOWN ? args[n - 1]->type
                          : join_types(t, args[n - 1]->type);
}

/* Numbers of a type that only the data know are treated as decimals. */
static enum type number_type(enum type a, enum type b)
{
    a = a == T_UNKNOWN ? T_DEC : a;
    b = b == T_UNKNOWN ? T_DEC : b;
    return join_types(a, b);
}

static enum type sum_type(enum expr_op op, enum type a, enum type b)
{
    if (a == T_DATE && b == T_DATE)
        return op == X_SUB ? T_INT : T_UNKNOWN;
    if (a == T_DATE && b == T_INT)
        return T_DATE;
    if (b == T_DATE && a == T_INT && op == X_ADD)
        return T_DATE;
    return number_type(a, b);
}

enum type expr_op_type(enum expr_op op, struct expr *const *args, uint32_t n)
{
    switch (op) {
    case X_LOWER:
    case X_UPPER:
    case X_SUBSTR:
    case X_CONCAT:
    case X_TRIM:
    case X_LTRIM:
    case X_RTRIM:
    case X_REPLACE:
    case X_TO_TEXT:
    case X_TO_CHAR:
        return T_TEXT;
    case X_LENGTH:
    case X_POSITION:
    case X_YEARS:
        return T_INT;
    case X_EXTRACT:
        return T_DEC;
    case X_DATE_TRUNC:
    case X_TO_TIMESTAMP:
    case X_SHIFT:
    case X_BIN:
        return T_TIMESTAMP;
    case X_TO_DATE:
        return T_DATE;
    case X_TO_REAL:
        return T_REAL;
    case X_CASE:
        return case_type(args, n);
    case X_COALESCE:
    case X_LEAST:
    case X_GREATEST:
        return join_args(args, n, 0, 1);
    case X_ADD:
    case X_SUB:
        return sum_type(op, args[0]->type, args[1]->type);
    case X_RATIO:
        return T_DEC;
    case X_MUL:
    case X_DIV:
    case X_MOD:
        return number_type(args[0]->type, args[1]->type);
    case X_NULLIF:
        return args[0]->type;
    case X_ROUND: /* to so many digits: a decimal, of an integer too */
        if (n > 1 && args[0]->type == T_INT)
            return T_DEC;
        return number_type(args[0]->type, args[0]->type);
    case X_NEG:
    case X_ABS:
    case X_FLOOR:
    case X_CEIL:
        return number_type(args[0]->type, args[0]->type);
    default:
        return T_BOOL;
    }
}

/* Does the integer expression stay within 64 bits on every row? */
static bool fits_i64(const struct expr *e)
{
    uint32_t from = 0, step = 1;
    switch (e->op) {
    case X_CONST:
        return e->val.is_null || e->val.type == T_INT;
    case X_VAR:
    case X_LENGTH:
    case X_POSITION:
    case X_MOD:
    case X_YEARS:
        return true;
    case X_NULLIF:
        return fits_i64(e->args[0]);
    case X_CASE:
        from = 1;
        step = 2;
        if (e->n_args % 2 && !fits_i64(e->args[e->n_args - 1]))
            return false;
        break;
    case X_COALESCE:
    case X_LEAST:
    case X_GREATEST:
        break;
    default:
        return false;
    }
    for (uint32_t i = from; i < e->n_args; i += step)
        if (!fits_i64(e->args[i]))
            return false;
    return true;
}

enum type expr_storage_type(const struct expr *e)
{
    return e->type == T_INT && !fits_i64(e) ? T_DEC : e->type;
}

bool expr_is_computed(const struct expr *e)
{
    switch (e->op) {
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_NEG:
    case X_ABS:
    case X_ROUND:
    case X_FLOOR:
    case X_CEIL:
        return true;
    default:
        return false;
    }
}

struct expr *expr_const(struct arena *a, struct value v)
{
    struct expr *e = NEW(a, struct expr);
    if (!e)
        return NULL;
    e->op = X_CONST;
    e->n_nodes = 1;
    e->type = v.is_null ? T_UNKNOWN : v.type;
    e->val = v;
    return e;
}

struct expr *expr_var(struct arena *a, uint32_t var, enum type t)
{
    struct expr *e = NEW(a, struct expr);
    if (!e)
        return NULL;
    e->op = X_VAR;
    e->n_nodes = 1;
    e->type = t;
    e->var = var;
    return e;
}

uint32_t expr_count_nodes(uint32_t n_args, struct expr *const *args)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < n_args; i++)
        if (__builtin_add_overflow(n, args[i]->n_nodes, &n))
            return UINT32_MAX;
    return n;
}

enum status expr_refuse_size(struct err *err, long position)
{
    err_set(err, E_TOO_LARGE,
            "the expressions of the query have more than %d parts",
            EXPR_MAX_NODES);
    err_at(err, position);
    err_detail(err, "Each use of a computed column of a subquery or WITH "
                    "query is a copy of what computes it.");
    err_hint(err, "Split the query, use a computed column less often, or "
                  "move long lists into a public table.");
    return E_TOO_LARGE;
}

struct expr *expr_new(struct arena *a, enum expr_op op, uint32_t n_args,
                      struct expr *const *args)
{
    struct expr *e = NEW(a, struct expr);
    if (!e || !(e->args = NEWS(a, struct expr *, n_args)))
        return NULL;
    e->op = op;
    e->n_args = n_args;
    e->n_nodes = expr_count_nodes(n_args, args);
    memcpy(e->args, args, n_args * sizeof *args);
    e->type = expr_op_type(op, args, n_args);
    return e;
}

vset expr_vars(const struct expr *e)
{
    if (e->op == X_VAR)
        return vset_one(e->var);
    vset s = 0;
    for (uint32_t i = 0; i < e->n_args; i++)
        s |= expr_vars(e->args[i]);
    return s;
}

static bool same_value(const struct value *a, const struct value *b)
{
    if (a->is_null || b->is_null)
        return a->is_null && b->is_null;
    return a->type == b->type && value_eq(a, b);
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (a->op != b->op || a->n_args != b->n_args)
        return false;
    if (a->op == X_CONST)
        return same_value(&a->val, &b->val);
    if (a->op == X_VAR)
        return a->var == b->var;
    for (uint32_t i = 0; i < a->n_args; i++)
        if (!expr_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

struct expr *expr_map(struct arena *a, const struct expr *e, const uint32_t *to,
                      const struct value *const *consts)
{
    if (e->op == X_VAR && consts && consts[e->var])
        return expr_const(a, *consts[e->var]);
    struct expr *c = NEW(a, struct expr);
    if (!c)
        return NULL;
    *c = *e;
    if (e->op == X_VAR && to)
        c->var = to[e->var];
    if (e->n_args == 0)
        return c;
    if (!(c->args = NEWS(a, struct expr *, e->n_args)))
        return NULL;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (!(c->args[i] = expr_map(a, e->args[i], to, consts)))
            return NULL;
    return c;
}

void expr_print(struct sb *b, const struct expr *e,
                struct str (*var_name)(const void *ctx, uint32_t var),
                const void *ctx)
{
    if (e->op == X_VAR) {
        sb_str(b, var_name(ctx, e->var));
        return;
    }
    if (e->op == X_CONST) {
        value_print(b, &e->val);
        return;
    }
    sb_cstr(b, expr_op_name(e->op));
    sb_char(b, '(');
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (i)
            sb_cstr(b, ", ");
        expr_print(b, e->args[i], var_name, ctx);
    }
    sb_char(b, ')');
}
