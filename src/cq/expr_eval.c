/*
 * Evaluation of expressions on one row: SQL's three-valued logic, with NULL
 * as "unknown". Every operation is total (PRIVACY: an error on some row would
 * be an output that nobody paid for). Fixed-arity operations evaluate their
 * arguments on the stack; only texts and wide decimals use the arena.
 *
 * Results are limited where they are made (expr_num.c, expr_text.c), so no
 * node's value is larger than 64 KB unless it stands in a column or the query.
 * Scratch is given back as soon as it holds more than that and is not needed:
 * what one row can take does not grow with the size of the tree, but with its
 * depth alone.
 *
 * Cost: linear in the size of the tree, times the length of the texts.
 */
#include "cq/expr_int.h"

#include <string.h>

enum { MAX_FIXED = 4, MAX_SCRATCH = 65536 };

struct ctx {
    struct arena *arena;
    const struct value *vals;
};

static bool eval(const struct ctx *c, const struct expr *e, struct value *out);

static struct value make_bool(bool b)
{
    struct value v = {.type = T_BOOL, .i = b};
    return v;
}

enum truth { NO, YES, UNKNOWN };

static enum truth truth_of(const struct value *v)
{
    if (v->is_null || v->type != T_BOOL)
        return UNKNOWN;
    return v->i ? YES : NO;
}

static struct value of_truth(enum truth t)
{
    return t == UNKNOWN ? value_null() : make_bool(t == YES);
}

/* Gives back what was needed since the mark, but not the text of *v. A text
 * longer than a computed one may be is a column's or the query's own. */
static bool tidy(struct arena *a, struct arena_mark mark, struct value *v)
{
    if (arena_since(a, mark) <= MAX_SCRATCH)
        return true;
    bool has_text = !v->is_null && v->s.p && v->s.n <= EXPR_MAX_TEXT;
    if (!has_text) {
        arena_release(a, mark);
        return true;
    }
    char *keep = mem_alloc(a->mem, v->s.n);
    if (!keep)
        return false;
    memcpy(keep, v->s.p, v->s.n);
    arena_release(a, mark);
    v->s.p = arena_strdup(a, keep, v->s.n);
    mem_free(a->mem, keep, v->s.n);
    return v->s.p != NULL;
}

/* AND stops at the first NO, OR at the first YES. */
static bool eval_junction(const struct ctx *c, const struct expr *e,
                          struct value *out)
{
    enum truth stop = e->op == X_AND ? NO : YES;
    enum truth all = e->op == X_AND ? YES : NO;
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct arena_mark mark = arena_mark(c->arena);
        struct value v, none = value_null();
        if (!eval(c, e->args[i], &v) || !tidy(c->arena, mark, &none))
            return false;
        enum truth t = truth_of(&v);
        if (t == stop) {
            *out = of_truth(stop);
            return true;
        }
        if (t == UNKNOWN)
            all = UNKNOWN;
    }
    *out = of_truth(all);
    return true;
}

static enum truth compare(enum expr_op op, const struct value *l,
                          const struct value *r)
{
    if (l->is_null || r->is_null)
        return UNKNOWN;
    /* different kinds, possible where the data decide: never equal, numbers
     * come before texts, as in the join engine */
    int c = value_cmp(l, r);
    switch (op) {
    case X_EQ:
        return c == 0 ? YES : NO;
    case X_NE:
        return c != 0 ? YES : NO;
    case X_LT:
        return c < 0 ? YES : NO;
    case X_LE:
        return c <= 0 ? YES : NO;
    case X_GT:
        return c > 0 ? YES : NO;
    default:
        return c >= 0 ? YES : NO;
    }
}

static bool eval_in(const struct ctx *c, const struct expr *e,
                    struct value *out)
{
    struct value x, v;
    if (!eval(c, e->args[0], &x))
        return false;
    enum truth result = NO;
    for (uint32_t i = 1; i < e->n_args && result != YES; i++) {
        struct arena_mark mark = arena_mark(c->arena);
        struct value none = value_null();
        if (!eval(c, e->args[i], &v))
            return false;
        enum truth t = compare(X_EQ, &x, &v);
        if (!tidy(c->arena, mark, &none))
            return false;
        if (t != NO)
            result = t;
    }
    *out = of_truth(result);
    return true;
}

/* when, then, when, then, ..., else (the last one may be missing) */
static bool eval_case(const struct ctx *c, const struct expr *e,
                      struct value *out)
{
    uint32_t i = 0;
    for (; i + 1 < e->n_args; i += 2) {
        struct arena_mark mark = arena_mark(c->arena);
        struct value v, none = value_null();
        if (!eval(c, e->args[i], &v) || !tidy(c->arena, mark, &none))
            return false;
        if (truth_of(&v) == YES)
            return eval(c, e->args[i + 1], out);
    }
    if (i < e->n_args)
        return eval(c, e->args[i], out);
    *out = value_null();
    return true;
}

/* COALESCE, LEAST and GREATEST skip NULLs. */
static bool eval_pick(const struct ctx *c, const struct expr *e,
                      struct value *out)
{
    struct arena_mark mark = arena_mark(c->arena);
    *out = value_null();
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct value v;
        if (!tidy(c->arena, mark, out) || !eval(c, e->args[i], &v))
            return false;
        if (v.is_null)
            continue;
        if (e->op == X_COALESCE) {
            *out = v;
            return true;
        }
        enum expr_op op = e->op == X_LEAST ? X_LT : X_GT;
        if (out->is_null || compare(op, &v, out) == YES)
            *out = v;
    }
    return true;
}

static enum truth distinct(const struct value *l, const struct value *r)
{
    if (l->is_null || r->is_null)
        return l->is_null == r->is_null ? NO : YES;
    return compare(X_NE, l, r);
}

static bool eval_arith(struct arena *a, const struct expr *e,
                       const struct value *v, struct value *out)
{
    *out = value_null();
    if (expr_num_is(&v[0]) && expr_num_is(&v[1]))
        return expr_num_binary(a, e->op, &v[0], &v[1], out);
    if (e->op == X_SUB && v[0].type == T_DATE && v[1].type == T_DATE) {
        struct value l = value_int(v[0].i), r = value_int(v[1].i);
        return expr_num_binary(a, X_SUB, &l, &r, out);
    }
    bool add = e->op == X_ADD;
    if ((add || e->op == X_SUB) && v[0].type == T_DATE && v[1].type == T_INT) {
        int64_t days = v[1].i;
        if (!add)
            days = days == INT64_MIN ? INT64_MAX : -days;
        *out = time_add_days(&v[0], days);
    } else if (add && v[0].type == T_INT && v[1].type == T_DATE) {
        *out = time_add_days(&v[1], v[0].i);
    }
    return true;
}

static bool eval_like(const struct expr *e, const struct value *v,
                      struct value *out)
{
    struct str escape = e->n_args > 2 ? v[2].s : STR("\\");
    *out = value_null();
    if (v[0].type == T_TEXT && v[1].type == T_TEXT)
        *out =
            make_bool(expr_text_like(v[0].s, v[1].s, escape, e->op == X_ILIKE));
    return true;
}

static bool eval_round(struct arena *a, const struct expr *e,
                       const struct value *v, struct value *out)
{
    *out = value_null();
    if (e->n_args == 1)
        return expr_num_unary(a, X_ROUND, &v[0], out);
    if (v[1].type == T_INT && expr_num_is(&v[0]) && v[0].type != T_REAL)
        return expr_num_round(a, &v[0], v[1].i, out);
    return true;
}

/* Operations that are NULL if any argument is; none of v is NULL here. */
static bool eval_strict(struct arena *a, const struct expr *e,
                        const struct value *v, struct value *out)
{
    switch (e->op) {
    case X_EQ:
    case X_NE:
    case X_LT:
    case X_LE:
    case X_GT:
    case X_GE:
        *out = of_truth(compare(e->op, &v[0], &v[1]));
        return true;
    case X_LIKE:
    case X_ILIKE:
        return eval_like(e, v, out);
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_DIV:
    case X_MOD:
        return eval_arith(a, e, v, out);
    case X_RATIO:
        return expr_num_ratio(a, &v[0], &v[1], out);
    case X_NEG:
    case X_ABS:
    case X_FLOOR:
    case X_CEIL:
        return expr_num_unary(a, e->op, &v[0], out);
    case X_ROUND:
        return eval_round(a, e, v, out);
    case X_LOWER:
    case X_UPPER:
    case X_LENGTH:
        return expr_text_unary(a, e->op, &v[0], out);
    case X_EXTRACT:
        return time_extract(a, v[0].s, &v[1], out);
    case X_DATE_TRUNC:
        *out = time_trunc(v[0].s, &v[1]);
        return true;
    case X_TO_DATE:
        *out = time_to_date(&v[0]);
        return true;
    case X_TO_TIMESTAMP:
        *out = time_to_timestamp(&v[0]);
        return true;
    case X_SHIFT:
        *out = time_shift(v);
        return true;
    case X_YEARS:
        *out = time_years(&v[0], &v[1]);
        return true;
    case X_BIN:
        *out = time_bin(v);
        return true;
    case X_TO_CHAR:
        return time_to_char(a, &v[0], v[1].s, out);
    case X_REGEX:
        *out = expr_text_regex(v);
        return true;
    case X_TO_REAL:
        *out = expr_num_to_real(&v[0]);
        return true;
    case X_TO_TEXT:
        return expr_text_of(a, &v[0], out);
    default:
        return expr_text_op(a, e->op, v, e->n_args, out);
    }
}

/* NOT, IS NULL, IS TRUE, IS FALSE, IS DISTINCT FROM, NULLIF: defined on
 * NULLs; true when the operation was one of them. */
static bool eval_lenient(const struct expr *e, const struct value *v,
                         struct value *out)
{
    enum truth t = e->n_args ? truth_of(&v[0]) : UNKNOWN;
    switch (e->op) {
    case X_NOT:
        *out = of_truth(t == UNKNOWN ? t : t == YES ? NO : YES);
        return true;
    case X_ISNULL:
        *out = make_bool(v[0].is_null);
        return true;
    case X_ISTRUE:
        *out = make_bool(t == YES);
        return true;
    case X_ISFALSE:
        *out = make_bool(t == NO);
        return true;
    case X_DISTINCT:
        *out = of_truth(distinct(&v[0], &v[1]));
        return true;
    case X_NULLIF:
        *out = compare(X_EQ, &v[0], &v[1]) == YES ? value_null() : v[0];
        return true;
    default:
        return false;
    }
}

/* Arithmetic on a decimal of a column that is too long for it. */
static bool too_long(const struct expr *e, const struct value *v)
{
    if (!expr_is_computed(e) && e->op != X_DIV && e->op != X_MOD)
        return false;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (expr_num_is_long(&v[i]))
            return true;
    return false;
}

static bool eval_fixed(const struct ctx *c, const struct expr *e,
                       struct value *out)
{
    struct value v[MAX_FIXED] = {0};
    bool any_null = false;
    *out = value_null();
    if (e->n_args > MAX_FIXED)
        return true;
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (!eval(c, e->args[i], &v[i]))
            return false;
        any_null |= v[i].is_null;
    }
    if (eval_lenient(e, v, out) || any_null || too_long(e, v))
        return true;
    return eval_strict(c->arena, e, v, out);
}

static bool eval_node(const struct ctx *c, const struct expr *e,
                      struct value *out)
{
    switch (e->op) {
    case X_AND:
    case X_OR:
        return eval_junction(c, e, out);
    case X_IN:
        return eval_in(c, e, out);
    case X_CASE:
        return eval_case(c, e, out);
    case X_COALESCE:
    case X_LEAST:
    case X_GREATEST:
        return eval_pick(c, e, out);
    default:
        return eval_fixed(c, e, out);
    }
}

static bool eval(const struct ctx *c, const struct expr *e, struct value *out)
{
    if (e->op == X_CONST) {
        *out = e->val;
        return true;
    }
    if (e->op == X_VAR) {
        *out = c->vals[e->var];
        return true;
    }
    struct arena_mark mark = arena_mark(c->arena);
    return eval_node(c, e, out) && tidy(c->arena, mark, out);
}

/* Types that a cell without declared type can have: these mix. */
static bool mixes(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL || t == T_TEXT;
}

/* Gives the result its expression's type, for those who store it. PRIVACY:
 * what does not fit is NULL, decided row by row. */
static bool settle(struct arena *a, enum type want, struct value *v)
{
    struct value in = *v;
    if (v->is_null || v->type == want)
        return true;
    if (want == T_UNKNOWN) {
        *v = mixes(v->type) ? *v : value_null();
        return true;
    }
    if (want == T_DEC && expr_num_is(v))
        return expr_num_to_decimal(a, &in, v);
    if (want == T_REAL)
        *v = expr_num_to_real(&in);
    else if (want == T_TIMESTAMP)
        *v = time_to_timestamp(&in);
    else if (want != T_INT || v->type != T_DEC)
        *v = value_null();
    else if (!memchr(in.s.p, '.', in.s.n))
        return value_parse_number(a, in.s, v);
    return true;
}

enum status expr_eval(struct arena *a, const struct expr *e,
                      const struct value *vals, struct value *out,
                      struct err *err)
{
    struct ctx c = {a, vals};
    if (!eval(&c, e, out) || !settle(a, e->type, out))
        return err_nomem(err);
    return OK;
}
