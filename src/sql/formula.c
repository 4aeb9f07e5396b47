/*
 * Conditions that are not conjunctive: NOT EXISTS, NOT IN, op ALL, and OR with
 * subqueries inside. A subquery becomes a child of the current node of the
 * tree, and the condition a formula over children and predicates.
 *
 * Three-valued logic. A condition is kept where it is true, so each leaf is
 * lowered either as "is true" or, under NOT, as "is false" (De Morgan holds):
 *
 *   EXISTS S      true: S                      false: not S
 *   x op ANY S    true: S[x op y]              false: not S[x op y],
 *                        not S[y IS NULL], not (S and x IS NULL)
 *   x op ALL S    true: not S[(x op y) is false],
 *                        not S[y IS NULL], not (S and x IS NULL)
 *                                              false: S[(x op y) is false]
 *
 * Cases that cannot be, since a column is never NULL, are left out.
 */
#include <string.h>

#include "sql/sql_int.h"

/* --- what is known of NULLs --- */

static bool mentions(struct term t, uint32_t var)
{
    return t.kind == TERM_VAR && t.id == var;
}

/* A comparison that holds in every row of the current node has the variable. */
static bool is_compared(const struct lower *l, uint32_t var)
{
    const struct tree_branch *t = &l->t;
    bool found = false;
    for (size_t i = 0; i < t->b.cmps.n; i++) {
        uint32_t node = i < t->cmp_node.n ? t->cmp_node.p[i] : t->at;
        found |=
            tree_is_above(t, node, t->at) && (mentions(t->b.cmps.p[i].l, var) ||
                                              mentions(t->b.cmps.p[i].r, var));
    }
    for (size_t i = 0; i < t->b.equals.n; i++) {
        uint32_t node = i < t->equal_node.n ? t->equal_node.p[i] : t->at;
        found |= tree_is_above(t, node, t->at) &&
                 (mentions(t->b.equals.p[i].l, var) ||
                  mentions(t->b.equals.p[i].r, var));
    }
    return found;
}

bool sql_is_never_null(const struct lower *l, const struct expr *e)
{
    if (e->op == X_CONST)
        return !e->val.is_null;
    if (e->op != X_VAR)
        return false;
    const struct atom *a = &l->b.atoms.p[l->var_atom.p[e->var]];
    const struct table *t = &l->schema->tables.p[a->table];
    bool never = l->b.vars.p[e->var].nonnull || is_compared(l, e->var);
    for (uint32_t i = 0; i < a->n_args && i < t->n_cols; i++)
        if (a->args[i].kind == TERM_VAR && a->args[i].id == e->var)
            never |= t->cols[i].not_null;
    return never;
}

bool sql_has_sublink(const json_t *node)
{
    const char *key;
    const json_t *v;
    size_t i;
    bool found = false;
    if (node_as(node, "SubLink"))
        return true;
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v) found =
            found || sql_has_sublink(v);
    else
        json_array_foreach((json_t *)(uintptr_t)node, i, v) found =
            found || sql_has_sublink(v);
    return found;
}

/* --- children --- */

enum demand { EXISTS, HOLDS, Y_NULL, X_NULL, NOT_FALSE };

struct sub_test { /* x op y, y the columns of the subquery */
    struct scope *sc;
    const json_t *node; /* x; NULL: EXISTS */
    enum expr_op op;
    enum demand demand;
    long at;
    bool x_nullable, y_nullable; /* found while lowering */
};

static enum status x_at(struct lower *l, const struct sub_test *t, size_t i,
                        struct expr **out)
{
    const json_t *row = get(node_as(t->node, "RowExpr"), "args");
    return lower_scalar(l, t->sc, row ? json_array_get(row, i) : t->node, out);
}

static enum status demand_null(struct lower *l, struct expr *e, long at)
{
    struct expr *null;
    TRY(make1(l, X_ISNULL, e, &null));
    return add_predicate(l, null, at);
}

/* x = y OR x IS NULL OR y IS NULL: not false. */
static enum status demand_not_false(struct lower *l, struct expr *x,
                                    struct expr *y, long at)
{
    struct expr *ways[3], *e;
    if (sql_is_never_null(l, x) && sql_is_never_null(l, y))
        return add_comparison(l, X_EQ, x, y, at);
    TRY(unify2(l, &x, &y, at));
    TRY(make2(l, X_EQ, x, y, &ways[0]));
    TRY(make1(l, X_ISNULL, x, &ways[1]));
    TRY(make1(l, X_ISNULL, y, &ways[2]));
    TRY(make(l, X_OR, 3, ways, &e));
    return add_predicate(l, e, at);
}

static enum status check_width(struct lower *l, const struct sub_test *t,
                               size_t n)
{
    const json_t *row = get(node_as(t->node, "RowExpr"), "args");
    size_t width = row ? json_array_size(row) : 1;
    if (width == n)
        return width > 1 && t->op != X_EQ
                   ? sql_refuse(l->err, NO_EXPRESSION, t->at)
                   : OK;
    err_set(l->err, E_SYNTAX, "the subquery has %zu columns, not %zu", n,
            width);
    err_at(l->err, t->at);
    return E_SYNTAX;
}

static enum status apply_test(struct lower *l, struct sub_test *t,
                              const rcols *cols)
{
    if (t->demand == EXISTS)
        return OK;
    TRY(check_width(l, t, cols->n));
    for (size_t i = 0; i < cols->n; i++) {
        struct expr *x, *y;
        TRY(x_at(l, t, i, &x));
        TRY(rcol_expr(l, &cols->p[i], &y));
        if (t->demand == HOLDS) {
            t->x_nullable |= !sql_is_never_null(l, x);
            t->y_nullable |= !sql_is_never_null(l, y);
            TRY(add_comparison(l, t->op, x, y, t->at));
        } else if (t->demand == NOT_FALSE) {
            TRY(demand_not_false(l, x, y, t->at));
        } else {
            TRY(demand_null(l, t->demand == Y_NULL ? y : x, t->at));
        }
    }
    return OK;
}

static enum status body(struct lower *l, struct scope *sc, const json_t *select,
                        rcols *cols)
{
    const char *op = "";
    struct formula *f;
    if (!sql_is_setop(select, &op))
        return lower_subquery(l, sc, select, cols);
    TRY(sql_check_clauses(l, select, true));
    if (get_flag(select, "all"))
        return sql_refuse(l->err, NO_SETOP_ALL, -1);
    TRY(body(l, sc, get(select, "larg"), cols));
    TRY(lower_member(l, sc, get(select, "rarg"), cols,
                     strcmp(op, "SETOP_EXCEPT") == 0, &f));
    return tree_require(l->arena, &l->t, f, l->err);
}

static enum status child(struct lower *l, struct scope *sc,
                         const json_t *select, struct sub_test *t, bool negate,
                         struct formula **out)
{
    const char *op = "";
    uint32_t node;
    rcols cols = {0};
    bool counting = l->counting;
    if (sql_is_setop(select, &op) && strcmp(op, "SETOP_UNION") == 0) {
        struct formula *x, *y;
        TRY(sql_check_clauses(l, select, true));
        if (get(select, "withClause"))
            return sql_refuse(l->err, NO_UNION, t->at);
        TRY(child(l, sc, get(select, "larg"), t, negate, &x));
        TRY(child(l, sc, get(select, "rarg"), t, negate, &y));
        *out = formula_new(l->arena, negate ? F_AND : F_OR, x, y);
        return *out ? OK : err_nomem(l->err);
    }
    TRY(tree_enter(l->arena, &l->t, &node, l->err));
    l->counting = false;
    l->direct = !sql_is_setop(select, NULL);
    TRY(body(l, sc, select, &cols));
    TRY(apply_test(l, t, &cols));
    TRY(sql_check_child_keys(l, t->demand == Y_NULL));
    l->counting = counting;
    TRY(tree_leave(l->arena, &l->t, l->err));
    *out = formula_child(l->arena, node, negate);
    return *out ? OK : err_nomem(l->err);
}

static enum status also(struct lower *l, struct scope *sc, const json_t *select,
                        struct sub_test t, enum demand d, struct formula **out)
{
    struct formula *f;
    t.demand = d;
    TRY(child(l, sc, select, &t, true, &f));
    *out = formula_new(l->arena, F_AND, *out, f);
    return *out ? OK : err_nomem(l->err);
}

/* Nothing in the subquery makes `x op y` true or unknown. */
static enum status none_holds(struct lower *l, struct scope *sc,
                              const json_t *select, struct sub_test t,
                              struct formula **out)
{
    bool row = node_as(t.node, "RowExpr") != NULL;
    t.demand = row ? NOT_FALSE : HOLDS;
    TRY(child(l, sc, select, &t, true, out));
    if (!row && t.y_nullable)
        TRY(also(l, sc, select, t, Y_NULL, out));
    if (!row && t.x_nullable)
        TRY(also(l, sc, select, t, X_NULL, out));
    return OK;
}

static enum status sub_formula(struct lower *l, struct scope *sc,
                               const json_t *e, bool negate,
                               struct formula **out)
{
    const char *type = get_text(e, "subLinkType");
    const json_t *select = node_as(get(e, "subselect"), "SelectStmt");
    const json_t *name = get(e, "operName");
    struct sub_test t = {.sc = sc,
                         .node = get(e, "testexpr"),
                         .op = name ? comparison_op(last_name(name)) : X_EQ,
                         .demand = EXISTS,
                         .at = get_location(e)};
    bool all = strcmp(type, "ALL_SUBLINK") == 0;
    if (strcmp(type, "EXISTS_SUBLINK") == 0)
        return child(l, sc, select, &t, negate, out);
    if (!all && strcmp(type, "ANY_SUBLINK") != 0)
        return sql_refuse(l->err, NO_SUBQUERY_HERE, t.at);
    if (t.op == X_N_OPS)
        return sql_refuse(l->err, NO_OPERATOR, t.at);
    if (all && node_as(t.node, "RowExpr"))
        return sql_refuse(l->err, NO_EXPRESSION, t.at);
    if (all)
        t.op = negated_op(t.op);
    t.demand = HOLDS;
    return all != negate ? none_holds(l, sc, select, t, out)
                         : child(l, sc, select, &t, false, out);
}

enum status lower_sublink(struct lower *l, struct scope *sc, const json_t *e,
                          bool negate)
{
    struct formula *f;
    TRY(sub_formula(l, sc, e, negate, &f));
    return tree_require(l->arena, &l->t, f, l->err);
}

/* --- formulas --- */

static enum status leaf(struct lower *l, struct scope *sc, const json_t *node,
                        bool negate, struct formula **out)
{
    struct expr *e;
    TRY(lower_boolean(l, sc, node, &e));
    if (negate)
        TRY(make1(l, X_NOT, e, &e));
    l->n_nodes += e->n_nodes;
    if (l->n_nodes > EXPR_MAX_NODES)
        return expr_refuse_size(l->err, node_location(node));
    *out = formula_pred(l->arena, e);
    return *out ? OK : err_nomem(l->err);
}

static enum status formula(struct lower *l, struct scope *sc,
                           const json_t *node, bool negate,
                           struct formula **out);

static enum status junction(struct lower *l, struct scope *sc, const json_t *e,
                            bool negate, struct formula **out)
{
    const char *op = get_text(e, "boolop");
    const json_t *args = get(e, "args");
    size_t n = json_array_size(args);
    if (strcmp(op, "NOT_EXPR") == 0)
        return formula(l, sc, json_array_get(args, 0), !negate, out);
    enum formula_kind k =
        (strcmp(op, "AND_EXPR") == 0) != negate ? F_AND : F_OR;
    *out = NULL;
    for (size_t i = 0; i < n; i++) {
        struct formula *f;
        TRY(formula(l, sc, json_array_get(args, i), negate, &f));
        *out = *out ? formula_new(l->arena, k, *out, f) : f;
        if (!*out)
            return err_nomem(l->err);
    }
    return *out ? OK : err_internal(l->err, "a junction of nothing");
}

static enum status formula_of(struct lower *l, struct scope *sc,
                              const json_t *node, bool negate,
                              struct formula **out)
{
    const json_t *e;
    const char *kind = node_kind(node, &e);
    if (strcmp(kind, "BoolExpr") == 0)
        return junction(l, sc, e, negate, out);
    if (strcmp(kind, "SubLink") == 0)
        return sub_formula(l, sc, e, negate, out);
    if (sql_is_threshold(node))
        return lower_threshold(l, sc, node, negate, out);
    if (sql_has_sublink(node))
        return sql_refuse(l->err, NO_SUBQUERY_HERE, node_location(node));
    return leaf(l, sc, node, negate, out);
}

static enum status formula(struct lower *l, struct scope *sc,
                           const json_t *node, bool negate,
                           struct formula **out)
{
    TRY(lower_enter(l, -1));
    enum status st = formula_of(l, sc, node, negate, out);
    lower_leave(l);
    return st;
}

enum status lower_alternatives(struct lower *l, struct scope *sc,
                               const json_t *node, bool negate)
{
    struct formula *f;
    TRY(formula(l, sc, node, negate, &f));
    return tree_require(l->arena, &l->t, f, l->err);
}
