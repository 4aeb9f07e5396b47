/*
 * Expressions as trees: variables, equality, substitution, text. Evaluation
 * is in expr_eval.c. Recursion is bounded by EXPR_MAX_DEPTH, which the
 * readers of expressions keep.
 */
#include "cq/expr.h"

static const char *const names[X_N_OPS] = {
    [X_CONST] = "const",
    [X_VAR] = "var",
    [X_AND] = "and",
    [X_OR] = "or",
    [X_NOT] = "not",
    [X_EQ] = "eq",
    [X_NE] = "ne",
    [X_LT] = "lt",
    [X_LE] = "le",
    [X_GT] = "gt",
    [X_GE] = "ge",
    [X_ISNULL] = "isnull",
    [X_ISTRUE] = "istrue",
    [X_ISFALSE] = "isfalse",
    [X_DISTINCT] = "distinct",
    [X_IN] = "in",
    [X_LIKE] = "like",
    [X_ILIKE] = "ilike",
    [X_CASE] = "case",
    [X_COALESCE] = "coalesce",
    [X_NULLIF] = "nullif",
    [X_ADD] = "add",
    [X_SUB] = "sub",
    [X_MUL] = "mul",
    [X_NEG] = "neg",
    [X_ABS] = "abs",
    [X_DIV] = "div",
    [X_MOD] = "mod",
    [X_LOWER] = "lower",
    [X_UPPER] = "upper",
    [X_LENGTH] = "length",
    [X_SUBSTR] = "substr",
    [X_CONCAT] = "concat",
    [X_TRIM] = "trim",
    [X_LTRIM] = "ltrim",
    [X_RTRIM] = "rtrim",
    [X_REPLACE] = "replace",
    [X_EXTRACT] = "extract",
    [X_DATE_TRUNC] = "date_trunc",
    [X_TO_DATE] = "to_date",
    [X_ROUND] = "round",
    [X_FLOOR] = "floor",
    [X_CEIL] = "ceil",
    [X_LEAST] = "least",
    [X_GREATEST] = "greatest",
};

const char *expr_op_name(enum expr_op op)
{
    return names[op];
}

bool expr_op_find(struct str name, enum expr_op *out)
{
    for (int i = X_AND; i < X_N_OPS; i++)
        if (str_is(name, names[i])) {
            *out = (enum expr_op)i;
            return true;
        }
    return false;
}

vset expr_vars(const struct expr *e)
{
    vset s = e->op == X_VAR ? vset_one(e->var) : 0;
    for (uint32_t i = 0; i < e->n_args; i++)
        s |= expr_vars(e->args[i]);
    return s;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (a->op != b->op || a->n_args != b->n_args)
        return false;
    if (a->op == X_VAR)
        return a->var == b->var;
    if (a->op == X_CONST)
        return a->val.type == b->val.type && value_eq(&a->val, &b->val);
    for (uint32_t i = 0; i < a->n_args; i++)
        if (!expr_equal(a->args[i], b->args[i]))
            return false;
    return true;
}

struct expr *expr_map(struct arena *a, const struct expr *e, const uint32_t *to,
                      const struct value *const *consts)
{
    struct expr *r = NEW(a, struct expr);
    if (!r)
        return NULL;
    *r = *e;
    if (e->op == X_VAR && consts && consts[e->var]) {
        r->op = X_CONST;
        r->val = *consts[e->var];
        return r;
    }
    if (e->op == X_VAR)
        r->var = to[e->var];
    r->args = NEWS(a, struct expr *, e->n_args + 1);
    if (!r->args)
        return NULL;
    for (uint32_t i = 0; i < e->n_args; i++) {
        r->args[i] = expr_map(a, e->args[i], to, consts);
        if (!r->args[i])
            return NULL;
    }
    return r;
}

void expr_print(struct sb *b, const struct expr *e,
                struct str (*var_name)(const void *ctx, uint32_t var),
                const void *ctx)
{
    if (e->op == X_CONST) {
        value_print(b, &e->val);
        return;
    }
    if (e->op == X_VAR) {
        sb_str(b, var_name(ctx, e->var));
        return;
    }
    sb_cstr(b, names[e->op]);
    sb_char(b, '(');
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (i)
            sb_cstr(b, ", ");
        expr_print(b, e->args[i], var_name, ctx);
    }
    sb_char(b, ')');
}
