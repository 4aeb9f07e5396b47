/*
 * Conditions joined with AND, and what becomes of them:
 *
 *   column = column or constant    an equality: one variable, or a constant
 *   column op column or constant   a comparison
 *   expressions of one table each  the same over computed variables
 *   anything over one table        a predicate of its atom
 *   EXISTS, IN (SELECT ...)        atoms that are not counted
 *
 * NOT is pushed inwards as far as a conjunction remains (De Morgan holds in
 * three-valued logic); the rest must lie in one table.
 */
#include <string.h>

#include "sql/sql_int.h"

enum status lower_enter(struct lower *l, long position)
{
    if (l->depth >= MAX_DEPTH) {
        err_set(l->err, E_TOO_LARGE, "the query is nested too deeply");
        err_at(l->err, position);
        err_hint(l->err, "Split long chains of operators or subqueries.");
        return E_TOO_LARGE;
    }
    l->depth++;
    return OK;
}

enum status lower_work(struct lower *l, size_t n, long position)
{
    *l->work += n;
    if (*l->work <= MAX_WORK)
        return OK;
    err_set(l->err, E_TOO_LARGE, "the query unfolds too far");
    err_at(l->err, position);
    err_detail(l->err, "Each use of a WITH query is a copy of it, and each "
                       "count reads the whole query.");
    err_hint(l->err, "Name the columns that are needed instead of *, use WITH "
                     "queries less often, or send the counts one by one.");
    return E_TOO_LARGE;
}

/* What is kept of an expression; `make` has tested it by itself. */
static enum status keep_nodes(struct lower *l, const struct expr *e,
                              long position)
{
    l->n_nodes += e->n_nodes;
    return l->n_nodes > EXPR_MAX_NODES ? expr_refuse_size(l->err, position)
                                       : OK;
}

void lower_leave(struct lower *l)
{
    l->depth--;
}

/* The atoms whose columns the expression uses. */
static aset sql_expr_atoms(const struct lower *l, const struct expr *e)
{
    aset s = e->op == X_VAR ? aset_one(l->var_atom.p[e->var]) : 0;
    for (uint32_t i = 0; i < e->n_args; i++)
        s |= sql_expr_atoms(l, e->args[i]);
    return s;
}

static enum status term_const(struct lower *l, const struct value *v,
                              struct term *out)
{
    uint32_t id;
    TRY(cqb_const(&l->b, v, &id, l->err));
    *out = (struct term){TERM_CONST, id};
    return OK;
}

static enum status new_calc(struct lower *l, const struct expr *e,
                            uint32_t atom, long position, struct term *out)
{
    uint32_t var;
    TRY(keep_nodes(l, e, position));
    TRY(cqb_var(&l->b, str_of(expr_op_name(e->op)), e->type, &var, l->err));
    struct calc c = {.atom = atom, .var = var, .e = e};
    if (!VEC_PUSH(l->arena, &l->var_atom, atom) ||
        !VEC_PUSH(l->arena, &l->b.calcs, c))
        return err_nomem(l->err);
    *out = (struct term){TERM_VAR, var};
    return OK;
}

enum status term_of(struct lower *l, const struct expr *e, long position,
                    struct term *out)
{
    if (e->op == X_VAR) {
        *out = (struct term){TERM_VAR, e->var};
        return OK;
    }
    if (e->op == X_CONST)
        return term_const(l, &e->val, out);
    aset atoms = sql_expr_atoms(l, e);
    if (aset_count(atoms) != 1)
        return sql_refuse(l->err, NO_EXPR_ACROSS, position);
    for (size_t i = 0; i < l->b.calcs.n; i++)
        if (expr_equal(l->b.calcs.p[i].e, e)) {
            *out = (struct term){TERM_VAR, l->b.calcs.p[i].var};
            return OK;
        }
    return new_calc(l, e, (uint32_t)__builtin_ctzll(atoms), position, out);
}

static bool is_const_bool(const struct expr *e, bool *value)
{
    if (e->op != X_CONST)
        return false;
    *value = !e->val.is_null && e->val.type == T_BOOL && e->val.i;
    return true;
}

enum status add_predicate(struct lower *l, struct expr *e, long position)
{
    bool holds;
    if (is_const_bool(e, &holds)) {
        l->b.unsat |= !holds;
        return OK;
    }
    aset atoms = sql_expr_atoms(l, e);
    TRY(keep_nodes(l, e, position));
    if (aset_count(atoms) > 1)
        return tree_require(l->arena, &l->t, formula_pred(l->arena, e), l->err);
    struct pred p = {.atom = (uint32_t)__builtin_ctzll(atoms), .e = e};
    return VEC_PUSH(l->arena, &l->b.preds, p) ? OK : err_nomem(l->err);
}

static enum status push_comparison(struct lower *l, enum expr_op op,
                                   struct term x, struct term y)
{
    struct cmp c = {.l = x, .r = y};
    if (op == X_EQ)
        return VEC_PUSH(l->arena, &l->b.equals, c) ? OK : err_nomem(l->err);
    if (op == X_GT || op == X_GE)
        c = (struct cmp){.l = y, .r = x};
    c.op = op == X_NE ? CMP_NE : op == X_LT || op == X_GT ? CMP_LT : CMP_LE;
    return VEC_PUSH(l->arena, &l->b.cmps, c) ? OK : err_nomem(l->err);
}

static bool is_plain(const struct expr *e)
{
    return e->op == X_VAR || e->op == X_CONST;
}

enum status add_comparison(struct lower *l, enum expr_op op, struct expr *x,
                           struct expr *y, long position)
{
    struct term tx, ty;
    TRY(unify2(l, &x, &y, position));
    if (op != X_EQ && op != X_NE) {
        TRY(sql_need_type(l, x, position));
        TRY(sql_need_type(l, y, position));
    }
    if ((x->op == X_CONST && x->val.is_null) ||
        (y->op == X_CONST && y->val.is_null)) {
        l->b.unsat = true;
        return OK;
    }
    bool both_const = x->op == X_CONST && y->op == X_CONST;
    bool complex = !is_plain(x) || !is_plain(y);
    aset ax = sql_expr_atoms(l, x), ay = sql_expr_atoms(l, y);
    /* a side over several tables: a condition of the tree */
    if (both_const || (complex && aset_count(ax | ay) <= 1) ||
        aset_count(ax) > 1 || aset_count(ay) > 1) {
        struct expr *e;
        TRY(make2(l, op, x, y, &e));
        return add_predicate(l, e, position);
    }
    TRY(term_of(l, x, position, &tx));
    TRY(term_of(l, y, position, &ty));
    return push_comparison(l, op, tx, ty);
}

/* --- the forms of conditions --- */

static enum status generic(struct lower *l, struct scope *sc,
                           const json_t *node, bool negate)
{
    struct expr *e;
    TRY(lower_boolean(l, sc, node, &e));
    if (negate)
        TRY(make1(l, X_NOT, e, &e));
    return add_predicate(l, e, node_location(node));
}

static enum status each(struct lower *l, struct scope *sc, const json_t *list,
                        bool negate)
{
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++)
        TRY(lower_condition(l, sc, json_array_get(list, i), negate));
    return OK;
}

static enum status junction(struct lower *l, struct scope *sc,
                            const json_t *node, const json_t *e, bool negate)
{
    const char *op = get_text(e, "boolop");
    const json_t *args = get(e, "args");
    if (strcmp(op, "NOT_EXPR") == 0)
        return lower_condition(l, sc, json_array_get(args, 0), !negate);
    if ((strcmp(op, "AND_EXPR") == 0) != negate)
        return each(l, sc, args, negate);
    if (sql_has_sublink(node))
        return lower_alternatives(l, sc, node, negate);
    return generic(l, sc, node, negate);
}

static enum status row_equality(struct lower *l, struct scope *sc,
                                const json_t *x, const json_t *y, long at)
{
    const json_t *xs = get(x, "args"), *ys = get(y, "args");
    size_t n = json_array_size(xs);
    if (n == 0 || n != json_array_size(ys))
        return sql_refuse(l->err, NO_EXPRESSION, at);
    for (size_t i = 0; i < n; i++) {
        struct expr *a, *b;
        TRY(lower_scalar(l, sc, json_array_get(xs, i), &a));
        TRY(lower_scalar(l, sc, json_array_get(ys, i), &b));
        TRY(add_comparison(l, X_EQ, a, b, at));
    }
    return OK;
}

static enum status comparison(struct lower *l, struct scope *sc,
                              const json_t *node, const json_t *e, bool negate)
{
    enum expr_op op = comparison_op(last_name(get(e, "name")));
    const json_t *left = get(e, "lexpr"), *right = get(e, "rexpr");
    const json_t *row = node_as(left, "RowExpr");
    long at = get_location(e);
    struct expr *x, *y;
    if (op == X_N_OPS || !left)
        return generic(l, sc, node, negate);
    if (negate)
        op = negated_op(op);
    if (row && op == X_EQ && node_as(right, "RowExpr"))
        return row_equality(l, sc, row, node_as(right, "RowExpr"), at);
    if (row)
        return generic(l, sc, node, negate);
    TRY(lower_scalar(l, sc, left, &x));
    TRY(lower_scalar(l, sc, right, &y));
    return add_comparison(l, op, x, y, at);
}

static enum status between(struct lower *l, struct scope *sc, const json_t *e)
{
    const json_t *ends = get(node_as(get(e, "rexpr"), "List"), "items");
    struct expr *x, *low, *high;
    long at = get_location(e);
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
    TRY(lower_scalar(l, sc, json_array_get(ends, 0), &low));
    TRY(lower_scalar(l, sc, json_array_get(ends, 1), &high));
    TRY(add_comparison(l, X_GE, x, low, at));
    return add_comparison(l, X_LE, x, high, at);
}

/* Without NULLs it is = or <>; with them it must lie in one table. */
static enum status distinct_from(struct lower *l, struct scope *sc,
                                 const json_t *node, const json_t *e,
                                 bool different, bool negate)
{
    struct expr *x, *y;
    long at = get_location(e);
    if (node_as(get(e, "lexpr"), "RowExpr") ||
        node_as(get(e, "rexpr"), "RowExpr"))
        return generic(l, sc, node, negate);
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
    TRY(lower_scalar(l, sc, get(e, "rexpr"), &y));
    if (aset_count(sql_expr_atoms(l, x) | sql_expr_atoms(l, y)) < 2)
        return generic(l, sc, node, negate);
    if (!sql_is_never_null(l, x) || !sql_is_never_null(l, y))
        return sql_refuse(l->err, NO_DISTINCT_ACROSS, at);
    return add_comparison(l, different != negate ? X_NE : X_EQ, x, y, at);
}

static enum status a_expr(struct lower *l, struct scope *sc, const json_t *node,
                          const json_t *e, bool negate)
{
    const char *kind = get_text(e, "kind");
    if (strcmp(kind, "AEXPR_OP") == 0)
        return comparison(l, sc, node, e, negate);
    if (strcmp(kind, negate ? "AEXPR_NOT_BETWEEN" : "AEXPR_BETWEEN") == 0)
        return between(l, sc, e);
    bool different = strcmp(kind, "AEXPR_DISTINCT") == 0;
    if (different || strcmp(kind, "AEXPR_NOT_DISTINCT") == 0)
        return distinct_from(l, sc, node, e, different, negate);
    const json_t *items = get(node_as(get(e, "rexpr"), "List"), "items");
    bool in = strcmp(last_name(get(e, "name")), "=") == 0;
    if (strcmp(kind, "AEXPR_IN") == 0 && json_array_size(items) == 1 &&
        !node_as(get(e, "lexpr"), "RowExpr")) {
        struct expr *x, *y;
        TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
        TRY(lower_scalar(l, sc, json_array_get(items, 0), &y));
        return add_comparison(l, in != negate ? X_EQ : X_NE, x, y,
                              get_location(e));
    }
    return generic(l, sc, node, negate);
}

/* A boolean column is the constant true (or false) in its place. */
static enum status column(struct lower *l, struct scope *sc, const json_t *node,
                          bool negate)
{
    struct expr *e, *truth;
    struct value v = {.type = T_BOOL, .i = !negate};
    TRY(lower_boolean(l, sc, node, &e));
    TRY(make_const(l, v, &truth));
    return add_comparison(l, X_EQ, e, truth, node_location(node));
}

/* x IS NOT NULL for a column marks its variable. */
static enum status null_test(struct lower *l, struct scope *sc,
                             const json_t *node, const json_t *e, bool negate)
{
    bool is_not = strcmp(get_text(e, "nulltesttype"), "IS_NOT_NULL") == 0;
    struct expr *x;
    if (is_not == negate || !node_as(get(e, "arg"), "ColumnRef"))
        return generic(l, sc, node, negate);
    TRY(lower_cell(l, sc, get(e, "arg"), &x));
    TRY(tree_tag(l->arena, &l->t, l->err));
    /* of a row outside a subquery it is demanded inside only */
    if (x->op != X_VAR || l->t.atom_node.p[l->var_atom.p[x->var]] != l->t.at)
        return generic(l, sc, node, negate);
    l->b.vars.p[x->var].nonnull = true;
    return OK;
}

/* --- subqueries --- */

static enum status not_counted(struct lower *l, struct scope *sc,
                               const json_t *select, rcols *cols)
{
    bool counting = l->counting;
    l->counting = false;
    enum status st = lower_subquery(l, sc, select, cols);
    l->counting = counting;
    return st;
}

static enum status match_columns(struct lower *l, struct scope *sc,
                                 const json_t *test, enum expr_op op,
                                 const rcols *cols, long at)
{
    const json_t *row = get(node_as(test, "RowExpr"), "args");
    size_t n = row ? json_array_size(row) : 1;
    if (n != cols->n) {
        err_set(l->err, E_SYNTAX, "the subquery has %zu columns, not %zu",
                cols->n, n);
        err_at(l->err, at);
        return E_SYNTAX;
    }
    if (n > 1 && op != X_EQ)
        return sql_refuse(l->err, NO_EXPRESSION, at);
    for (size_t i = 0; i < n; i++) {
        struct expr *x, *y;
        TRY(lower_scalar(l, sc, row ? json_array_get(row, i) : test, &x));
        TRY(rcol_expr(l, &cols->p[i], &y));
        TRY(add_comparison(l, op, x, y, at));
    }
    return OK;
}

static enum status sublink(struct lower *l, struct scope *sc,
                           const json_t *node, const json_t *e, bool negate)
{
    const char *type = get_text(e, "subLinkType");
    const json_t *select = node_as(get(e, "subselect"), "SelectStmt");
    long at = get_location(e);
    rcols cols = {0};
    bool exists = strcmp(type, "EXISTS_SUBLINK") == 0;
    bool all = strcmp(type, "ALL_SUBLINK") == 0;
    if (!exists && !all && strcmp(type, "ANY_SUBLINK") != 0)
        return generic(l, sc, node, negate);
    if (negate || all || sql_is_setop(select, NULL) ||
        get(select, "havingClause"))
        return lower_sublink(l, sc, e, negate);
    TRY(not_counted(l, sc, select, &cols));
    if (exists)
        return OK;
    const json_t *name = get(e, "operName");
    enum expr_op op = name ? comparison_op(last_name(name)) : X_EQ;
    if (op == X_N_OPS)
        return sql_refuse(l->err, NO_OPERATOR, at);
    return match_columns(l, sc, get(e, "testexpr"), op, &cols, at);
}

static enum status condition(struct lower *l, struct scope *sc,
                             const json_t *node, bool negate)
{
    const json_t *e;
    const char *kind = node_kind(node, &e);
    if (strcmp(kind, "BoolExpr") == 0)
        return junction(l, sc, node, e, negate);
    if (strcmp(kind, "A_Expr") == 0)
        return sql_is_threshold(node) ? lower_alternatives(l, sc, node, negate)
               : sql_is_number(l, sc, e) ? lower_number(l, sc, e, negate)
                                         : a_expr(l, sc, node, e, negate);
    if (strcmp(kind, "SubLink") == 0)
        return sublink(l, sc, node, e, negate);
    if (strcmp(kind, "ColumnRef") == 0)
        return column(l, sc, node, negate);
    if (strcmp(kind, "NullTest") == 0)
        return null_test(l, sc, node, e, negate);
    if (strcmp(kind, "BooleanTest") == 0 && !negate &&
        strcmp(get_text(e, "booltesttype"), "IS_TRUE") == 0)
        return lower_condition(l, sc, get(e, "arg"), false);
    return generic(l, sc, node, negate);
}

enum status lower_condition(struct lower *l, struct scope *sc,
                            const json_t *node, bool negate)
{
    TRY(lower_enter(l, -1));
    enum status st = condition(l, sc, node, negate);
    lower_leave(l);
    return st;
}
