/*
 * GROUP BY in a subquery. Its rows are the distinct keys (NULL is one), as
 * SELECT DISTINCT has them; HAVING COUNT(*) >= 3, or a condition of the outer
 * query on the column that shows the count, asks how many rows a key has.
 *
 * Such a number can be asked for in two places. A subquery that is all of the
 * outermost FROM: its keys are the outputs of the root, which are answers if
 * they have so many ids. And a subquery of IN or EXISTS all of whose keys are
 * equal to something outside: a child that so many extensions satisfy.
 */
#include <string.h>

#include "sql/sql_int.h"

struct sql_group {
    uint32_t node;
    bool may;            /* numbers can be asked for here */
    const json_t *call;  /* the count that was asked for, NULL: none yet */
    struct scope *sc;    /* of its FROM */
    VEC(uint32_t) atoms; /* whose rows are counted */
    VEC(const struct expr *) identity;
    struct after_keys keys;
    rcols cols; /* the keys' */
};

static enum status refuse_number(struct lower *l, long at)
{
    return sql_refuse(l->err, NO_INNER_HAVING, at);
}

/* --- numbers --- */

/* NOT is taken away where one end is open. */
static struct count_range normal(struct count_range r)
{
    r.least = r.least < 1 ? 1 : r.least; /* a key has a row */
    if (r.outside && r.most >= THRESHOLD_ANY)
        return (struct count_range){1, r.least - 1, false};
    if (r.outside && r.least <= 1 && r.most >= 1)
        return (struct count_range){r.most + 1, THRESHOLD_ANY, false};
    if (r.outside && r.most < r.least)
        return (struct count_range){1, THRESHOLD_ANY, false};
    return r;
}

/* PRIVACY: a child has one sign, so only the root knows "at most". */
static enum status node_range(struct lower *l, struct tree_node *n,
                              const struct count_range *r, long at)
{
    bool capped = r->most < THRESHOLD_ANY;
    if (!r->outside && r->most < r->least) {
        l->b.unsat = true;
        return OK;
    }
    if ((capped && l->t.at) || (r->outside && tree_counts(n)) || n->outside)
        return refuse_number(l, at);
    if (r->least > n->at_least)
        n->at_least = (uint32_t)r->least;
    if (capped && (!n->at_most || r->most < n->at_most))
        n->at_most = (uint32_t)r->most;
    n->outside = r->outside;
    l->b.unsat |= n->at_most && n->at_most < n->at_least;
    return OK;
}

/* The rows, or values, that the call counts are the ids of the node. */
static enum status find_ids(struct lower *l, const struct sql_group *g,
                            const json_t *call)
{
    sql_ids ids = {0};
    size_t n = l->atom_counted.n;
    bool *saved = NEWS(l->arena, bool, n + 1); /* atoms around the subquery */
    struct sql_counted c;
    if (!saved)
        return err_nomem(l->err);
    memcpy(saved, l->atom_counted.p, n * sizeof *saved);
    memset(l->atom_counted.p, 0, n * sizeof *saved);
    sql_counted_begin(l, &c);
    for (size_t i = 0; i < g->atoms.n; i++)
        l->atom_counted.p[g->atoms.p[i]] = true;
    for (size_t i = 0; i < g->identity.n; i++)
        if (!VEC_PUSH(l->arena, &l->identity, g->identity.p[i]))
            return err_nomem(l->err);
    c.atom = 0;
    TRY(sql_counted_call(l, g->sc, call, &c, &ids));
    memcpy(l->atom_counted.p, saved, n * sizeof *saved);
    memcpy(&l->t.nodes.p[g->node].ids, &ids, sizeof ids);
    return OK;
}

/* A key whose rows are not counted has 0, which only COUNT(*) never is: the
 * others leave rows out, and with them keys. */
static enum status ask_number(struct lower *l, struct sql_group *g,
                              const json_t *call, struct count_range r, long at)
{
    bool zero = (r.least <= 0 && r.most >= 0) != r.outside;
    struct tree_node *n = &l->t.nodes.p[g->node];
    if (!g->may || g->node != l->t.at ||
        (zero && !get_flag(call, "agg_star")) ||
        (get(call, "agg_filter") && zero) ||
        (g->call && !same_node(l, g->sc, g->call, call)))
        return refuse_number(l, at);
    r = normal(r);
    TRY(node_range(l, n, &r, at));
    if (!g->call)
        TRY(find_ids(l, g, call));
    g->call = call;
    n = &l->t.nodes.p[g->node];
    if (tree_counts(n) && !n->ids.n) /* one value at most */
        l->b.unsat |= !tree_keeps(n, 1);
    return OK;
}

static const json_t *counted_side(const json_t *e)
{
    return count_call(get(e, "lexpr")) ? get(e, "lexpr") : get(e, "rexpr");
}

static enum status having(struct lower *l, struct sql_group *g,
                          const json_t *node)
{
    const json_t *b = node_as(node, "BoolExpr"), *e = node_as(node, "A_Expr");
    const json_t *side = counted_side(e), *args = get(b, "args");
    struct count_range r;
    if (b && strcmp(get_text(b, "boolop"), "AND_EXPR") == 0) {
        for (size_t i = 0; i < json_array_size(args); i++)
            TRY(having(l, g, json_array_get(args, i)));
        return OK;
    }
    if (!e || !count_call(side))
        return refuse_number(l, node_location(node));
    TRY(sql_count_range(l, g->sc, e, side, false, &r));
    return ask_number(l, g, count_call(side), r, node_location(node));
}

/* --- columns that show a count --- */

static const struct rcol *number_column(struct lower *l, struct scope *sc,
                                        const json_t *node)
{
    const json_t *ref = node_as(node, "ColumnRef");
    const struct rcol *c = NULL;
    struct err *err = l->err, scratch;
    l->err = &scratch; /* a name that is not found is told elsewhere */
    bool found = ref && !is_star(ref) &&
                 find_column(l, sc, ref, true, &c) == OK && c->group;
    l->err = err;
    return found ? c : NULL;
}

bool sql_is_number(struct lower *l, struct scope *sc, const json_t *e)
{
    return number_column(l, sc, get(e, "lexpr")) ||
           number_column(l, sc, get(e, "rexpr"));
}

enum status lower_number(struct lower *l, struct scope *sc, const json_t *e,
                         bool negate)
{
    const json_t *side = get(e, "lexpr");
    const struct rcol *c = number_column(l, sc, side);
    struct count_range r;
    if (!c) {
        side = get(e, "rexpr");
        c = number_column(l, sc, side);
    }
    TRY(sql_count_range(l, sc, e, side, negate, &r));
    return ask_number(l, c->group, c->call, r, get_location(e));
}

/* LEAST(n, 5), GREATEST(n, 0) around it: the number column, and the cap. */
static const struct rcol *capped_column(struct lower *l, struct scope *sc,
                                        const json_t *arg, uint32_t *cap)
{
    const json_t *m = node_as(arg, "MinMaxExpr"), *args = get(m, "args");
    *cap = UINT32_MAX;
    if (!m)
        return number_column(l, sc, arg);
    bool least = strcmp(get_text(m, "op"), "IS_LEAST") == 0;
    for (size_t i = 0; json_array_size(args) == 2 && i < 2; i++) {
        const json_t *c = node_as(json_array_get(args, 1 - i), "A_Const");
        json_int_t k = json_integer_value(get(get(c, "ival"), "ival"));
        if (!c || !get(c, "ival") || k > INT32_MAX || (least && k < 1) ||
            (!least && k > 1))
            continue;
        const struct rcol *col =
            capped_column(l, sc, json_array_get(args, i), cap);
        if (least && col && (uint32_t)k < *cap)
            *cap = (uint32_t)k;
        return col;
    }
    return NULL;
}

/* SUM over the numbers of the groups: each answer weighs its number. */
enum status lower_number_sum(struct lower *l, struct scope *sc,
                             const json_t *call, bool *done)
{
    static const struct count_range any = {1, THRESHOLD_ANY, false};
    const json_t *arg = json_array_get(get(call, "args"), 0);
    uint32_t cap;
    const struct rcol *c = capped_column(l, sc, arg, &cap);
    *done = c && !get_flag(call, "agg_distinct");
    if (!*done)
        return OK;
    if (c->group->node || get(call, "agg_filter"))
        return refuse_number(l, node_location(arg));
    TRY(ask_number(l, c->group, c->call, any, node_location(arg)));
    l->t.nodes.p[0].cap = cap;
    return sql_count_rows(l);
}

/* --- keys and columns --- */

static enum status key_column(struct lower *l, struct sql_group *g,
                              const json_t *select, const json_t *item)
{
    const json_t *node;
    struct expr *e;
    if (node_as(item, "GroupingSet"))
        return sql_refuse(l->err, NO_GROUPING_SETS, node_location(item));
    TRY(sql_group_node(l, g->sc, select, item, &node));
    TRY(lower_scalar(l, g->sc, node, &e));
    if (is_untyped(e))
        TRY(give_type(l, &e, T_TEXT, node_location(node)));
    if (is_text_only(l, e))
        return sql_refuse(l->err, NO_TEXT_ONLY, node_location(node));
    struct rcol c = {.e = e};
    return VEC_PUSH(l->arena, &g->keys.nodes, node) &&
                   VEC_PUSH(l->arena, &g->cols, c)
               ? OK
               : err_nomem(l->err);
}

static bool is_key_var(const struct sql_group *g, uint32_t v)
{
    for (size_t i = 0; i < g->cols.n; i++)
        if (g->cols.p[i].e->op == X_VAR && g->cols.p[i].e->var == v)
            return true;
    return false;
}

static bool has_key(const struct sql_group *g, const struct atom *a,
                    const struct degree *k)
{
    bool all = true;
    for (size_t i = 0; i < k->n_x; i++)
        all &= a->args[k->x[i]].kind == TERM_VAR &&
               is_key_var(g, a->args[k->x[i]].id);
    return all;
}

/* A column of a table whose key is among the keys. */
static bool is_determined(const struct lower *l, const struct sql_group *g,
                          uint32_t v)
{
    const struct atom *a = &l->b.atoms.p[l->var_atom.p[v]];
    const struct degree *k = sql_find_key(&l->schema->tables.p[a->table]);
    return k && has_key(g, a, k);
}

static bool of_keys(const struct lower *l, const struct sql_group *g,
                    const struct expr *e)
{
    bool all = true;
    for (size_t i = 0; i < g->cols.n; i++)
        if (expr_equal(g->cols.p[i].e, e))
            return true;
    if (e->op == X_VAR)
        return is_key_var(g, e->var) || is_determined(l, g, e->var);
    for (uint32_t i = 0; i < e->n_args; i++)
        all &= of_keys(l, g, e->args[i]);
    return all;
}

static enum status target_column(struct lower *l, struct sql_group *g,
                                 const json_t *target, rcols *out)
{
    const json_t *val = get(target, "val"), *call = count_call(val);
    const char *name = get_text(target, "name");
    struct rcol c = {.name = str_of(name[0] ? name : derived_name(val))};
    struct expr *e;
    if (call) {
        c.group = g;
        c.call = call;
        return VEC_PUSH(l->arena, out, c) ? OK : err_nomem(l->err);
    }
    if (node_as(val, "ColumnRef") && is_star(node_as(val, "ColumnRef")))
        return sql_refuse(l->err, NO_INNER_GROUP, node_location(val));
    TRY(lower_scalar(l, g->sc, val, &e));
    if (is_untyped(e))
        TRY(give_type(l, &e, T_TEXT, node_location(val)));
    if (!of_keys(l, g, e))
        return sql_refuse(l->err, NO_INNER_GROUP, node_location(val));
    c.e = e;
    return VEC_PUSH(l->arena, out, c) ? OK : err_nomem(l->err);
}

/* --- the subquery --- */

/* Which rows are counted; the keys alone tell rows of the subquery apart. */
static enum status group_body(struct lower *l, struct sql_group *g,
                              const json_t *select)
{
    struct sql_counted c;
    unsigned seen = l->choices->seen;
    uint64_t tag = l->t.tag;
    sql_counted_begin(l, &c);
    TRY(sql_lower_body(l, g->sc, select));
    for (uint32_t i = (uint32_t)c.atom; i < l->b.atoms.n; i++)
        if (l->atom_counted.p[i] && !VEC_PUSH(l->arena, &g->atoms, i))
            return err_nomem(l->err);
    for (size_t i = c.identity; i < l->identity.n; i++)
        if (!VEC_PUSH(l->arena, &g->identity, l->identity.p[i]))
            return err_nomem(l->err);
    if (l->choices->seen != seen) { /* cases: their keys are united */
        l->t.tag = tag;
        l->choices->sets = true;
        g->may = false;
    }
    return sql_counted_end(l, &c, NULL);
}

/* --- groups of rows with their partners --- */

static bool names_table(const json_t *node, const char *name)
{
    const json_t *ref = node_as(node, "ColumnRef"), *v;
    const json_t *fields = get(ref, "fields");
    const char *key;
    size_t i;
    bool found = json_array_size(fields) > 1 &&
                 strcmp(string_of(json_array_get(fields, 0)), name) == 0;
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v) found =
            found || names_table(v, name);
    else
        json_array_foreach((json_t *)(uintptr_t)node, i, v) found =
            found || names_table(v, name);
    return found;
}

/* COUNT(b.x) of the right side, by its name; WHERE is about the left one. */
static bool counts_right(const json_t *call, const json_t *right,
                         const json_t *where)
{
    const json_t *range = node_as(right, "RangeVar");
    const json_t *alias = get(range, "alias");
    const json_t *ref =
        node_as(json_array_get(get(call, "args"), 0), "ColumnRef");
    const json_t *first = json_array_get(get(ref, "fields"), 0);
    const char *name =
        alias ? get_text(alias, "aliasname") : get_text(range, "relname");
    return range && call && !get_flag(call, "agg_star") &&
           !get(call, "agg_filter") && get_size(ref, "fields") == 2 &&
           !is_star(ref) && strcmp(string_of(first), name) == 0 &&
           !names_table(where, name);
}

/* WHERE ... AND (SELECT COUNT(b.x) FROM b WHERE ...) op c */
static json_t *partner_where(const json_t *select, const json_t *join,
                             const json_t *e, const json_t *side)
{
    bool left = side == get(e, "lexpr");
    json_t *test = json_deep_copy(e);
    json_t *sub = json_pack(
        "{s{ss s{s{s[{s{so}}] s[o] so ss}}}}", "SubLink", "subLinkType",
        "EXPR_SUBLINK", "subselect", "SelectStmt", "targetList", "ResTarget",
        "val", json_deep_copy(side), "fromClause",
        json_deep_copy(get(join, "rarg")), "whereClause",
        json_deep_copy(get(join, "quals")), "op", "SETOP_NONE");
    json_object_set_new(test, left ? "lexpr" : "rexpr", sub);
    json_t *both = json_array();
    if (get(select, "whereClause"))
        json_array_append_new(both, json_deep_copy(get(select, "whereClause")));
    json_array_append_new(both, json_pack("{so}", "A_Expr", test));
    return json_pack("{s{ss so}}", "BoolExpr", "boolop", "AND_EXPR", "args",
                     both);
}

/*
 * a LEFT JOIN b GROUP BY a.id HAVING COUNT(b.x) < 3: every row of a is a group,
 * also one without partner, so it is a condition of a. NULL: not of this form.
 * The new text belongs to the old one and goes with it.
 */
static const json_t *rows_with_partners(const json_t *select)
{
    const json_t *from = get(select, "fromClause");
    const json_t *join = node_as(json_array_get(from, 0), "JoinExpr");
    const json_t *e = node_as(get(select, "havingClause"), "A_Expr");
    const json_t *side = counted_side(e);
    if (get(select, "partners"))
        return get(select, "partners");
    if (json_array_size(from) != 1 || !e || get(join, "alias") ||
        strcmp(get_text(join, "jointype"), "JOIN_LEFT") != 0 ||
        !get(join, "quals") || !node_as(get(join, "larg"), "RangeVar") ||
        !counts_right(count_call(side), get(join, "rarg"),
                      get(select, "whereClause")))
        return NULL;
    json_t *to = json_deep_copy(select);
    json_object_del(to, "havingClause");
    json_object_set_new(to, "single", json_true());
    json_object_set_new(to, "fromClause",
                        json_pack("[o]", json_deep_copy(get(join, "larg"))));
    json_object_set_new(to, "whereClause",
                        partner_where(select, join, e, side));
    json_t *owner = (json_t *)(uintptr_t)select;
    return json_object_set_new(owner, "partners", to) == 0 ? to : NULL;
}

/* PRIVACY: a group must be one row, or the rows' partners would be added. */
static enum status check_single(struct lower *l, const struct sql_group *g,
                                const json_t *select)
{
    for (size_t i = 0; get_flag(select, "single") && i < g->atoms.n; i++) {
        const struct atom *a = &l->b.atoms.p[g->atoms.p[i]];
        const struct degree *k = sql_find_key(&l->schema->tables.p[a->table]);
        if (!k || !has_key(g, a, k))
            return refuse_number(l, -1);
    }
    return OK;
}

enum status lower_grouped(struct lower *l, struct scope *parent,
                          const json_t *select, bool may, rcols *out)
{
    const json_t *partners =
        may && !l->t.at ? rows_with_partners(select) : NULL;
    if (partners)
        return lower_grouped(l, parent, partners, may, out);
    struct sql_group *g = NEW(l->arena, struct sql_group);
    const json_t *items = get(select, "groupClause");
    const json_t *list = get(select, "targetList");
    bool counting = l->counting;
    if (!g || !(g->sc = NEW(l->arena, struct scope)))
        return err_nomem(l->err);
    g->sc->parent = parent;
    g->node = l->t.at;
    g->may = may;
    if (get(select, "distinctClause"))
        return sql_refuse(l->err, NO_INNER_GROUP,
                          node_location(json_array_get(items, 0)));
    TRY(group_body(l, g, select));
    for (size_t i = 0; i < json_array_size(items); i++)
        TRY(key_column(l, g, select, json_array_get(items, i)));
    TRY(check_single(l, g, select));
    if (get(select, "havingClause"))
        TRY(having(l, g, get(select, "havingClause")));
    for (size_t i = 0; i < json_array_size(list); i++)
        TRY(target_column(l, g, node_as(json_array_get(list, i), "ResTarget"),
                          out));
    l->group = may ? g : l->group;
    return counting ? sql_count_columns(l, &g->cols) : OK;
}

/* --- what must hold of the keys --- */

static bool is_outside(const struct lower *l, struct term t)
{
    return t.kind == TERM_CONST ||
           l->t.atom_node.p[l->var_atom.p[t.id]] != l->t.at;
}

static bool is_fixed(const struct lower *l, struct term t)
{
    const struct tree_branch *b = &l->t;
    if (is_outside(l, t))
        return true;
    for (size_t i = 0; i < b->b.equals.n; i++) {
        const struct cmp *c = &b->b.equals.p[i];
        if (b->equal_node.p[i] != b->at)
            continue;
        if ((c->l.kind == TERM_VAR && c->l.id == t.id && is_outside(l, c->r)) ||
            (c->r.kind == TERM_VAR && c->r.id == t.id && is_outside(l, c->l)))
            return true;
    }
    return false;
}

/* PRIVACY: otherwise rows of several keys would be counted together. */
enum status sql_check_child_keys(struct lower *l, bool null)
{
    const struct sql_group *g = l->group;
    TRY(tree_tag(l->arena, &l->t, l->err));
    if (!g || g->node != l->t.at || !tree_counts(&l->t.nodes.p[l->t.at]) ||
        (null && g->cols.n == 1))
        return OK;
    for (size_t i = 0; i < g->cols.n; i++) {
        struct term t;
        TRY(term_of(l, g->cols.p[i].e, -1, &t));
        TRY(tree_tag(l->arena, &l->t, l->err));
        if (!is_fixed(l, t))
            return refuse_number(l, -1);
    }
    return OK;
}

/* PRIVACY: an answer is a key, so that its ids are the key's. */
enum status sql_check_root_keys(struct lower *l)
{
    const struct sql_group *g = l->group;
    if (!tree_counts(&l->t.nodes.p[0]))
        return OK;
    if (!g || g->node)
        return err_internal(l->err, "numbers of no group");
    for (size_t i = 0; i < g->cols.n; i++) {
        struct term t;
        bool out = false;
        TRY(term_of(l, g->cols.p[i].e, -1, &t));
        for (size_t k = 0; k < l->b.outs.n; k++)
            out |= l->b.outs.p[k].kind == t.kind && l->b.outs.p[k].id == t.id;
        if (t.kind == TERM_VAR && !out)
            return refuse_number(l, -1);
    }
    return OK;
}
