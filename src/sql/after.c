/*
 * What the outermost SELECT does with its counts once they are released: the
 * columns of the result, HAVING, ORDER BY, LIMIT and OFFSET.
 *
 * The trees of these expressions are copied with every call of COUNT, SUM and
 * AVG and every key of GROUP BY replaced by a name that no text can hold, and
 * the copies are read as scalars over those names. PRIVACY: what is left of a
 * column in the copy is refused, so the result is a function of released
 * numbers, of public keys and of keys that passed the threshold.
 */
#include <stdio.h>
#include <string.h>

#include "sql/sql_int.h"

/* --- the same but for places --------------------------------------------- */

static bool same_column(struct lower *l, struct scope *sc, const json_t *a,
                        const json_t *b)
{
    const struct rcol *x = NULL, *y = NULL;
    struct err *err = l->err, scratch;
    l->err = &scratch; /* a name that is not found is told elsewhere */
    bool found = !is_star(a) && !is_star(b) &&
                 find_column(l, sc, a, true, &x) == OK &&
                 find_column(l, sc, b, true, &y) == OK;
    l->err = err;
    if (!found || !x->e != !y->e || x->group || y->group)
        return false;
    return x->e ? expr_equal(x->e, y->e)
                : x->atom == y->atom && x->col == y->col;
}

static bool same_members(struct lower *l, struct scope *sc, const json_t *a,
                         const json_t *b)
{
    const char *key;
    json_t *v;
    size_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)a, key, v)
    {
        if (strcmp(key, "location") == 0)
            continue;
        n++;
        if (!same_node(l, sc, v, json_object_get(b, key)))
            return false;
    }
    return n == json_object_size(b) - (json_object_get(b, "location") != NULL);
}

bool same_node(struct lower *l, struct scope *sc, const json_t *a,
               const json_t *b)
{
    if (!a || !b || json_typeof(a) != json_typeof(b))
        return a == b;
    const json_t *x = sc ? node_as(a, "ColumnRef") : NULL;
    const json_t *y = x ? node_as(b, "ColumnRef") : NULL;
    if (x && y)
        return same_column(l, sc, x, y);
    if (json_is_object(a))
        return same_members(l, sc, a, b);
    if (!json_is_array(a))
        return json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b);
    if (json_array_size(a) != json_array_size(b))
        return false;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!same_node(l, sc, json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

/* --- the calls that are paid for ----------------------------------------- */

static enum status add_call(struct lower *l, const json_t *call, nodes *out)
{
    for (size_t i = 0; i < out->n; i++)
        if (same_node(l, NULL, call, out->p[i]))
            return OK;
    /* an average is two numbers, paid as one */
    for (int n = sql_is_average(call) ? 2 : 1; n > 0; n--)
        if (!VEC_PUSH(l->arena, out, call))
            return err_nomem(l->err);
    return OK;
}

static enum status find_calls(struct lower *l, const json_t *node, int depth,
                              nodes *out)
{
    const char *key;
    json_t *v;
    size_t i;
    if (sql_paid_call(node))
        return add_call(l, sql_paid_call(node), out);
    if (depth > MAX_DEPTH || node_as(node, "SubLink"))
        return OK;
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v)
            TRY(find_calls(l, v, depth + 1, out));
    else if (json_is_array(node))
        json_array_foreach((json_t *)(uintptr_t)node, i, v)
            TRY(find_calls(l, v, depth + 1, out));
    return OK;
}

enum status sql_calls(struct lower *l, const json_t *select, nodes *out)
{
    TRY(find_calls(l, get(select, "targetList"), 0, out));
    TRY(find_calls(l, get(select, "havingClause"), 0, out));
    return find_calls(l, get(select, "sortClause"), 0, out);
}

static bool count_call_of(const json_t *call)
{
    return strcmp(last_name(get(call, "funcname")), "count") == 0;
}

/* --- copies over released numbers ---------------------------------------- */

struct after {
    struct lower *l; /* of FROM: what a column is */
    struct scope *sc;
    const nodes *calls;
    const struct after_keys *keys;
    struct lower over;  /* of released numbers */
    struct scope names; /* what their names stand for */
};

/* No text of a query holds the character 1. */
static void number_name(char out[24], char kind, size_t i)
{
    snprintf(out, 24, "\001%c%zu", kind, i);
}

static json_t *reference(char kind, size_t i, long at)
{
    char name[24];
    number_name(name, kind, i);
    return json_pack("{s{s[{s{ss}}]si}}", "ColumnRef", "fields", "String",
                     "sval", name, "location", (int)at);
}

/* What stands for the node: a count or a key; false: neither. */
static bool released(struct after *a, const json_t *node, json_t **out)
{
    const json_t *call = sql_paid_call(node);
    for (size_t i = 0; call && i < a->calls->n; i++)
        if (same_node(a->l, NULL, call, a->calls->p[i])) {
            *out = reference('c', i, node_location(node));
            return true;
        }
    for (size_t i = 0; i < a->keys->nodes.n; i++)
        if (same_node(a->l, a->sc, node, a->keys->nodes.p[i])) {
            *out = reference('k', i, node_location(node));
            return true;
        }
    return false;
}

static enum status refuse_column(struct after *a, const json_t *node)
{
    const json_t *ref = node_as(node, "ColumnRef");
    const struct rcol *found;
    if (!is_star(ref)) /* a name that does not exist says so */
        TRY(find_column(a->l, a->sc, ref, true, &found));
    enum status st = sql_refuse(a->l->err, NO_SELECT_LIST, node_location(node));
    if (!is_star(ref))
        err_hint(a->l->err, "Add the column to GROUP BY, or leave it out.");
    return st;
}

static enum status refuse_call(struct after *a, const json_t *call)
{
    return sql_refuse(a->l->err, get(call, "over") ? NO_WINDOW : NO_AGGREGATE,
                      get_location(call));
}

static enum status copy_node(struct after *a, const json_t *node, int depth,
                             json_t **out);

static enum status copy_members(struct after *a, const json_t *node, int depth,
                                json_t *out)
{
    const char *key;
    json_t *v, *copy;
    size_t i;
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v)
        {
            TRY(copy_node(a, v, depth + 1, &copy));
            if (json_object_set_new(out, key, copy) != 0)
                return err_nomem(a->l->err);
        }
    else
        json_array_foreach((json_t *)(uintptr_t)node, i, v)
        {
            TRY(copy_node(a, v, depth + 1, &copy));
            if (json_array_append_new(out, copy) != 0)
                return err_nomem(a->l->err);
        }
    return OK;
}

/* The caller releases *out, unless it failed. */
static enum status copy_node(struct after *a, const json_t *node, int depth,
                             json_t **out)
{
    const json_t *call = node_as(node, "FuncCall");
    if (released(a, node, out))
        return *out ? OK : err_nomem(a->l->err);
    if (node_as(node, "ColumnRef"))
        return refuse_column(a, node);
    if (call &&
        (is_aggregate(last_name(get(call, "funcname"))) || get(call, "over")))
        return refuse_call(a, call);
    TRY(lower_work(a->l, WORK_COLUMN, -1));
    if (depth > 6 * MAX_DEPTH)
        return sql_refuse(a->l->err, NO_EXPRESSION, node_location(node));
    if (!json_is_object(node) && !json_is_array(node)) {
        *out = json_deep_copy(node);
        return *out ? OK : err_nomem(a->l->err);
    }
    *out = json_is_object(node) ? json_object() : json_array();
    if (!*out)
        return err_nomem(a->l->err);
    enum status st = copy_members(a, node, depth, *out);
    if (st != OK)
        json_decref(*out);
    return st;
}

/* An expression over released numbers; boolean: a condition. */
static enum status read_after(struct after *a, const json_t *node, bool boolean,
                              const struct expr **out)
{
    json_t *copy = NULL;
    struct expr *e = NULL;
    TRY(copy_node(a, node, 0, &copy));
    enum status st = boolean ? lower_boolean(&a->over, &a->names, copy, &e)
                             : lower_scalar(&a->over, &a->names, copy, &e);
    if (st == OK && is_untyped(e))
        st = give_type(&a->over, &e, T_TEXT, node_location(node));
    json_decref(copy);
    TRY(st);
    *out = e;
    return e->n_nodes > EXPR_MAX_NODES
               ? expr_refuse_size(a->l->err, node_location(node))
               : OK;
}

static enum status add_name(struct after *a, char kind, size_t i, enum type t)
{
    char name[24];
    size_t var = kind == 'k' ? i : a->keys->nodes.n + i;
    number_name(name, kind, i);
    struct rcol c = {.name = str_copy(a->l->arena, str_of(name)),
                     .e = expr_var(a->l->arena, (uint32_t)var, t)};
    return c.name.p && c.e && VEC_PUSH(a->l->arena, &a->names.visible, c)
               ? OK
               : err_nomem(a->l->err);
}

static enum status after_init(struct after *a)
{
    struct lower *l = a->l;
    a->over = (struct lower){.arena = l->arena,
                             .schema = l->schema,
                             .text = l->text,
                             .text_n = l->text_n,
                             .opt = l->opt,
                             .err = l->err,
                             .position = -1,
                             .work = l->work,
                             .after = true};
    for (size_t i = 0; i < a->keys->nodes.n; i++)
        TRY(add_name(a, 'k', i, a->keys->types.p[i]));
    for (size_t i = 0; i < a->calls->n; i++)
        TRY(add_name(a, 'c', i, count_call_of(a->calls->p[i]) ? T_INT : T_DEC));
    return OK;
}

/* --- the clauses ---------------------------------------------------------- */

static enum status read_columns(struct after *a, const json_t *select,
                                struct sql_after *out)
{
    size_t n = get_size(select, "targetList");
    out->columns = NEWS(a->l->arena, struct sql_column, n + 1);
    if (!out->columns)
        return err_nomem(a->l->err);
    for (size_t i = 0; i < n; i++) {
        const json_t *t = target_at(select, i), *val = get(t, "val");
        const char *name = get_text(t, "name");
        struct sql_column *c = &out->columns[out->n_columns++];
        c->name =
            str_copy(a->l->arena, str_of(name[0] ? name : derived_name(val)));
        if (!c->name.p)
            return err_nomem(a->l->err);
        TRY(read_after(a, val, false, &c->e));
    }
    return OK;
}

static enum status bad_position(struct after *a, long at)
{
    err_set(a->l->err, E_SYNTAX, "ORDER BY position is not in select list");
    err_at(a->l->err, at);
    err_hint(a->l->err, "Positions count the SELECT list from 1.");
    return E_SYNTAX;
}

/* A position, the name of a column of the result, or an expression. */
static enum status sort_value(struct after *a, const json_t *node,
                              const struct sql_after *out,
                              const struct expr **e)
{
    const json_t *c = get(node_as(node, "A_Const"), "ival");
    const json_t *ref = node_as(node, "ColumnRef");
    if (c) {
        json_int_t i = json_integer_value(get(c, "ival"));
        if (i < 1 || (size_t)i > out->n_columns)
            return bad_position(a, node_location(node));
        *e = out->columns[i - 1].e;
        return OK;
    }
    for (size_t i = 0; ref && get_size(ref, "fields") == 1 && !is_star(ref) &&
                       i < out->n_columns;
         i++)
        if (str_is(out->columns[i].name, last_name(get(ref, "fields")))) {
            *e = out->columns[i].e;
            return OK;
        }
    return read_after(a, node, false, e);
}

static enum status read_sorts(struct after *a, const json_t *select,
                              struct sql_after *out)
{
    const json_t *list = get(select, "sortClause");
    size_t n = json_array_size(list);
    out->sorts = NEWS(a->l->arena, struct sql_sort, n + 1);
    if (!out->sorts)
        return err_nomem(a->l->err);
    for (size_t i = 0; i < n; i++) {
        const json_t *by = node_as(json_array_get(list, i), "SortBy");
        struct sql_sort *s = &out->sorts[out->n_sorts++];
        const char *nulls = get_text(by, "sortby_nulls");
        const char *dir = get_text(by, "sortby_dir");
        if (strcmp(dir, "SORTBY_USING") == 0)
            return sql_refuse(a->l->err, NO_OPERATOR,
                              node_location(get(by, "node")));
        s->descending = strcmp(dir, "SORTBY_DESC") == 0;
        s->nulls_first =
            strcmp(nulls, "SORTBY_NULLS_FIRST") == 0 ||
            (s->descending && strcmp(nulls, "SORTBY_NULLS_LAST") != 0);
        TRY(sort_value(a, get(by, "node"), out, &s->e));
    }
    return OK;
}

static enum status read_limit(struct after *a, const json_t *node,
                              const char *what, uint64_t none, uint64_t *out)
{
    const struct expr *e = NULL;
    *out = none;
    if (!node)
        return OK;
    TRY(read_after(a, node, false, &e));
    if (e->op == X_CONST && e->val.is_null)
        return OK;
    if (e->op != X_CONST || e->val.type != T_INT || e->val.i < 0) {
        err_set(a->l->err, E_VALUE, "%s must be a whole number from 0", what);
        err_at(a->l->err, node_location(node));
        err_hint(a->l->err, "Write a constant or a parameter.");
        return E_VALUE;
    }
    *out = (uint64_t)e->val.i;
    return OK;
}

enum status sql_after_read(struct lower *l, struct scope *sc,
                           const json_t *select, const nodes *calls,
                           const struct after_keys *keys,
                           struct sql_statement *out)
{
    struct after a = {.l = l, .sc = sc, .calls = calls, .keys = keys};
    const json_t *having = get(select, "havingClause");
    struct sql_after *x = &out->after;
    *x = (struct sql_after){0};
    TRY(after_init(&a));
    TRY(read_columns(&a, select, x));
    if (having)
        TRY(read_after(&a, having, true, &x->having));
    TRY(read_sorts(&a, select, x));
    if (strcmp(get_text(select, "limitOption"), "LIMIT_OPTION_WITH_TIES") == 0)
        return sql_refuse(l->err, NO_WITH_TIES,
                          node_location(get(select, "limitCount")));
    TRY(read_limit(&a, get(select, "limitOffset"), "OFFSET", 0, &x->offset));
    return read_limit(&a, get(select, "limitCount"), "LIMIT", UINT64_MAX,
                      &x->limit);
}
