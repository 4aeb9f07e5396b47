/*
 * A count in a subquery, compared with a number: (SELECT COUNT(*) FROM s WHERE
 * ...) >= 3. The subquery is a child of the current node that at least so many
 * extensions satisfy; what is counted (the rows' identity, or the values of
 * COUNT(DISTINCT y)) are its ids. A count is never NULL, so that NOT is the
 * complement.
 *
 * PRIVACY: EXISTS and IN inside such a subquery add atoms to its body but not
 * to its ids; they do not multiply what is counted.
 */
#include <string.h>

#include "sql/sql_int.h"

/* --- ranges --- */

static enum status bad_number(struct lower *l, long at)
{
    return sql_refuse(l->err, NO_SCALAR_SUBQUERY, at);
}

static enum status constant(struct lower *l, struct scope *sc,
                            const json_t *node, int64_t *out)
{
    struct expr *e;
    if (sql_has_sublink(node))
        return bad_number(l, node_location(node));
    TRY(lower_scalar(l, sc, node, &e));
    if (is_untyped(e))
        TRY(give_type(l, &e, T_INT, node_location(node)));
    if (e->op != X_CONST || e->val.is_null || e->val.type != T_INT ||
        e->val.i > THRESHOLD_ANY - 1)
        return bad_number(l, node_location(node));
    *out = e->val.i < -1 ? -1 : e->val.i;
    return OK;
}

static struct count_range op_range(enum expr_op op, int64_t c)
{
    struct count_range r = {0, THRESHOLD_ANY, false};
    if (op == X_GE || op == X_EQ || op == X_NE)
        r.least = c;
    if (op == X_GT)
        r.least = c + 1;
    if (op == X_LE || op == X_EQ || op == X_NE)
        r.most = c;
    if (op == X_LT)
        r.most = c - 1;
    r.outside = op == X_NE;
    return r;
}

static enum expr_op turned(enum expr_op op)
{
    return op == X_LT   ? X_GT
           : op == X_GT ? X_LT
           : op == X_LE ? X_GE
           : op == X_GE ? X_LE
                        : op;
}

enum status sql_count_range(struct lower *l, struct scope *sc, const json_t *e,
                            const json_t *counted, bool negate,
                            struct count_range *out)
{
    const char *kind = get_text(e, "kind");
    const json_t *left = get(e, "lexpr"), *right = get(e, "rexpr");
    bool between = strcmp(kind, "AEXPR_BETWEEN") == 0;
    int64_t low, high;
    if (between || strcmp(kind, "AEXPR_NOT_BETWEEN") == 0) {
        const json_t *ends = get(node_as(right, "List"), "items");
        TRY(constant(l, sc, json_array_get(ends, 0), &low));
        TRY(constant(l, sc, json_array_get(ends, 1), &high));
        *out = (struct count_range){low, high, between == negate};
        return OK;
    }
    enum expr_op op = comparison_op(last_name(get(e, "name")));
    if (strcmp(kind, "AEXPR_OP") != 0 || op == X_N_OPS)
        return bad_number(l, get_location(e));
    TRY(constant(l, sc, left == counted ? right : left, &low));
    *out = op_range(left == counted ? op : turned(op), low);
    out->outside ^= negate;
    return OK;
}

/* --- what is counted --- */

static enum status add_id(struct lower *l, uint32_t var, sql_ids *ids)
{
    struct term t = {TERM_VAR, var};
    for (size_t i = 0; i < ids->n; i++)
        if (ids->p[i].id == var)
            return OK;
    return VEC_PUSH(l->arena, ids, t) ? OK : err_nomem(l->err);
}

static enum status atom_ids(struct lower *l, uint32_t atom, sql_ids *ids)
{
    const struct degree *key =
        sql_find_key(&l->schema->tables.p[l->b.atoms.p[atom].table]);
    uint32_t v;
    for (size_t k = 0; key && k < key->n_x; k++) {
        TRY(sql_column_var(l, atom, key->x[k], &v));
        TRY(add_id(l, v, ids));
    }
    if (key)
        return OK;
    TRY(sql_rowid_var(l, atom, &v));
    return add_id(l, v, ids);
}

void sql_counted_begin(struct lower *l, struct sql_counted *c)
{
    c->atom = l->b.atoms.n;
    c->identity = l->identity.n;
    c->counting = l->counting;
    l->counting = true;
}

/* Its rows are ids, no outputs. */
enum status sql_counted_end(struct lower *l, const struct sql_counted *c,
                            sql_ids *ids)
{
    for (uint32_t i = (uint32_t)c->atom; i < l->b.atoms.n; i++) {
        if (l->atom_counted.p[i] && ids)
            TRY(atom_ids(l, i, ids));
        l->atom_counted.p[i] = false;
    }
    for (size_t i = c->identity; ids && i < l->identity.n; i++) {
        struct term t;
        TRY(term_of(l, l->identity.p[i], -1, &t));
        if (t.kind == TERM_VAR)
            TRY(add_id(l, t.id, ids));
    }
    l->identity.n = c->identity;
    l->counting = c->counting;
    return OK;
}

static enum status not_null(struct lower *l, struct scope *sc,
                            const json_t *arg, struct expr **out)
{
    struct expr *e;
    TRY(lower_scalar(l, sc, arg, &e));
    if (is_untyped(e))
        TRY(give_type(l, &e, T_TEXT, node_location(arg)));
    if (is_text_only(l, e))
        return sql_refuse(l->err, NO_TEXT_ONLY, node_location(arg));
    *out = e;
    TRY(make1(l, X_ISNULL, e, &e));
    TRY(make1(l, X_NOT, e, &e));
    return add_predicate(l, e, node_location(arg));
}

/* FILTER and what the call counts; ids of COUNT(DISTINCT y) are values. */
enum status sql_counted_call(struct lower *l, struct scope *sc,
                             const json_t *call, const struct sql_counted *c,
                             sql_ids *ids)
{
    const json_t *arg = json_array_get(get(call, "args"), 0);
    struct expr *e = NULL;
    struct term t;
    if (get(call, "agg_order") || get_flag(call, "agg_within_group") ||
        get_size(call, "args") > 1)
        return sql_refuse(l->err, NO_AGG_OPTIONS, get_location(call));
    if (get(call, "agg_filter"))
        TRY(lower_condition(l, sc, get(call, "agg_filter"), false));
    if (get_flag(call, "agg_star"))
        return sql_counted_end(l, c, ids);
    TRY(not_null(l, sc, arg, &e));
    if (!get_flag(call, "agg_distinct"))
        return sql_counted_end(l, c, ids);
    TRY(sql_counted_end(l, c, NULL));
    TRY(term_of(l, e, node_location(arg), &t));
    return t.kind == TERM_VAR ? add_id(l, t.id, ids) : OK;
}

/* --- children --- */

struct count_sub { /* the subquery, and what it counts */
    struct scope *sc;
    const json_t *select, *call;
    long at;
};

static enum status number_child(struct lower *l, const struct count_sub *s,
                                int64_t least, bool negate,
                                struct formula **out)
{
    struct sql_counted c;
    sql_ids ids = {0};
    uint32_t node;
    TRY(tree_enter(l->arena, &l->t, &node, l->err));
    sql_counted_begin(l, &c);
    TRY(sql_lower_counted(l, s->sc, s->select, s->call, &c, &ids));
    struct tree_node *n = &l->t.nodes.p[node];
    n->at_least = (uint32_t)least;
    if (least > 1)
        memcpy(&n->ids, &ids, sizeof ids);
    l->b.unsat |= least > 1 && !ids.n; /* one value at most */
    TRY(tree_leave(l->arena, &l->t, l->err));
    *out = formula_child(l->arena, node, negate);
    return *out ? OK : err_nomem(l->err);
}

static enum status both(struct lower *l, enum formula_kind k, struct formula *x,
                        struct formula *y, struct formula **out)
{
    *out = x && y ? formula_new(l->arena, k, x, y) : x ? x : y;
    if (!*out) /* no condition: an AND of nothing is true */
        *out = formula_new(l->arena, k, NULL, NULL);
    return *out ? OK : err_nomem(l->err);
}

/* least to most: as many as least, and not one more than most. */
static enum status range_formula(struct lower *l, const struct count_sub *s,
                                 const struct count_range *r,
                                 struct formula **out)
{
    struct formula *low = NULL, *high = NULL;
    bool empty = r->most < r->least || r->most < 0;
    if (empty) {
        *out = formula_new(l->arena, r->outside ? F_AND : F_OR, NULL, NULL);
        return *out ? OK : err_nomem(l->err);
    }
    if (r->least > 0)
        TRY(number_child(l, s, r->least, r->outside, &low));
    if (r->most < THRESHOLD_ANY)
        TRY(number_child(l, s, r->most + 1, !r->outside, &high));
    return both(l, r->outside ? F_OR : F_AND, low, high, out);
}

/* The subquery that a side of the comparison is, if it counts. */
static const json_t *count_select(const json_t *side, const json_t **call)
{
    const json_t *e = node_as(side, "SubLink");
    const json_t *select = node_as(get(e, "subselect"), "SelectStmt");
    if (!select || strcmp(get_text(e, "subLinkType"), "EXPR_SUBLINK") != 0 ||
        get_size(select, "targetList") != 1 || sql_is_setop(select, NULL))
        return NULL;
    *call = count_call(get(target_at(select, 0), "val"));
    return *call ? select : NULL;
}

bool sql_is_threshold(const json_t *node)
{
    const json_t *e = node_as(node, "A_Expr"), *call;
    return count_select(get(e, "lexpr"), &call) ||
           count_select(get(e, "rexpr"), &call);
}

enum status lower_threshold(struct lower *l, struct scope *sc,
                            const json_t *node, bool negate,
                            struct formula **out)
{
    const json_t *e = node_as(node, "A_Expr");
    const json_t *side = get(e, "lexpr");
    struct count_sub s = {.sc = sc, .at = get_location(e)};
    struct count_range r;
    s.select = count_select(side, &s.call);
    if (!s.select) {
        side = get(e, "rexpr");
        s.select = count_select(side, &s.call);
    }
    TRY(sql_count_range(l, sc, e, side, negate, &r));
    return range_formula(l, &s, &r, out);
}
