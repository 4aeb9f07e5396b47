/*
 * The outermost SELECT: its counts, its groups, and sql_read.
 */
#include <string.h>

#include "sql/sql_int.h"

static const json_t *target_at(const json_t *select, size_t i)
{
    return node_as(json_array_get(get(select, "targetList"), i), "ResTarget");
}

/* The call of COUNT that a target is, or NULL. */
static const json_t *count_call(const json_t *target)
{
    const json_t *call = node_as(get(target, "val"), "FuncCall");
    const json_t *names = get(call, "funcname");
    size_t n = json_array_size(names);
    if (!call || n == 0 || n > 2 || strcmp(last_name(names), "count") != 0 ||
        (n == 2 &&
         strcmp(string_of(json_array_get(names, 0)), "pg_catalog") != 0))
        return NULL;
    return call;
}

static enum status push_out(struct lower *l, struct term t)
{
    for (size_t i = 0; i < l->b.outs.n; i++)
        if (l->b.outs.p[i].kind == t.kind && l->b.outs.p[i].id == t.id)
            return OK;
    return VEC_PUSH(l->arena, &l->b.outs, t) ? OK : err_nomem(l->err);
}

/* --- identity --- */

static const struct degree *find_key(const struct table *t)
{
    const struct degree *best = NULL;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        bool identifies = d->is_key;
        for (size_t k = 0; k < d->n_x; k++)
            identifies &= t->cols[d->x[k]].not_null;
        if (identifies && (!best || d->n_x < best->n_x))
            best = d;
    }
    return best;
}

/* PRIVACY: a nullable UNIQUE does not identify rows; such a table is a bag. */
static enum status count_atom(struct lower *l, uint32_t atom)
{
    const struct table *t = &l->schema->tables.p[l->b.atoms.p[atom].table];
    const struct degree *key = find_key(t);
    uint32_t v;
    if (key) {
        for (size_t k = 0; k < key->n_x; k++) {
            TRY(column_var(l, atom, key->x[k], &v));
            TRY(push_out(l, (struct term){TERM_VAR, v}));
        }
        return OK;
    }
    TRY(cqb_var(&l->b, STR("row"), T_INT, &v, l->err));
    if (!VEC_PUSH(l->arena, &l->var_atom, atom))
        return err_nomem(l->err);
    l->b.vars.p[v].is_rowid = true;
    l->b.atoms.p[atom].rowid = (int32_t)v;
    return push_out(l, (struct term){TERM_VAR, v});
}

static enum status count_used(struct lower *l, uint32_t atom)
{
    const struct atom *a = &l->b.atoms.p[atom];
    for (uint32_t k = 0; k < a->n_args; k++)
        if (a->args[k].kind == TERM_VAR)
            TRY(push_out(l, a->args[k]));
    for (size_t i = 0; i < l->b.calcs.n; i++)
        if (l->b.calcs.p[i].atom == atom)
            TRY(push_out(l, (struct term){TERM_VAR, l->b.calcs.p[i].var}));
    return OK;
}

static enum status count_rows(struct lower *l)
{
    for (uint32_t i = 0; i < l->b.atoms.n; i++)
        if (l->atom_counted.p[i])
            TRY(count_atom(l, i));
    for (size_t i = 0; i < l->identity.n; i++) {
        struct term t;
        TRY(term_of(l, l->identity.p[i], -1, &t));
        if (t.kind == TERM_VAR)
            TRY(push_out(l, t));
    }
    for (uint32_t i = 0; i < l->b.atoms.n; i++)
        if (l->atom_counted.p[i])
            TRY(count_used(l, i));
    return OK;
}

/* --- what COUNT counts --- */

static enum status require_value(struct lower *l, struct expr *e, long at)
{
    if (e->op == X_VAR) {
        l->b.vars.p[e->var].nonnull = true;
        return OK;
    }
    TRY(make1(l, X_ISNULL, e, &e));
    TRY(make1(l, X_NOT, e, &e));
    return add_predicate(l, e, at);
}

static enum status count_value(struct lower *l, struct scope *sc,
                               const json_t *arg)
{
    struct expr *e;
    if (node_as(arg, "RowExpr")) /* a row is not NULL, whatever it holds */
        return OK;
    TRY(lower_scalar(l, sc, arg, &e));
    enum status st = require_value(l, e, node_location(arg));
    if (st == E_UNSUPPORTED)
        return sql_refuse(l->err, NO_EXPR_ACROSS, node_location(arg));
    return st;
}

/* COUNT(DISTINCT a): NULL does not count. COUNT(DISTINCT (a, b)): tuples with
 * NULLs do, as a row is a value. */
static enum status count_distinct(struct lower *l, struct scope *sc,
                                  const json_t *args)
{
    const json_t *row =
        get(node_as(json_array_get(args, 0), "RowExpr"), "args");
    if (row && json_array_size(args) == 1)
        args = row;
    size_t n = json_array_size(args);
    bool tuple = row || n > 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *arg = json_array_get(args, i);
        struct expr *e;
        struct term t;
        TRY(lower_scalar(l, sc, arg, &e));
        if (is_untyped(e))
            TRY(give_type(l, &e, T_TEXT, node_location(arg)));
        if (is_text_only(l, e))
            return sql_refuse(l->err, NO_TEXT_ONLY, node_location(arg));
        if (!tuple && (e->op == X_CONST))
            TRY(require_value(l, e, node_location(arg)));
        TRY(term_of(l, e, node_location(arg), &t));
        if (t.kind != TERM_VAR)
            continue;
        if (!tuple)
            l->b.vars.p[t.id].nonnull = true;
        TRY(push_out(l, t));
    }
    return OK;
}

static enum status check_call(struct lower *l, const json_t *call)
{
    long at = get_location(call);
    size_t n = get_size(call, "args");
    if (get(call, "over"))
        return sql_refuse(l->err, NO_WINDOW, at);
    if (get(call, "agg_order") || get_flag(call, "agg_within_group") ||
        get_flag(call, "func_variadic"))
        return sql_refuse(l->err, NO_AGG_OPTIONS, at);
    if (get_flag(call, "agg_star") || n == 1 ||
        (n > 1 && get_flag(call, "agg_distinct")))
        return OK;
    err_set(l->err, E_SYNTAX, "COUNT takes * or one expression");
    err_at(l->err, at);
    err_hint(l->err, "Write COUNT(DISTINCT a, b) to count tuples.");
    return E_SYNTAX;
}

static enum status lower_count(struct lower *l, struct scope *sc,
                               const json_t *call)
{
    if (get(call, "agg_filter"))
        TRY(lower_condition(l, sc, get(call, "agg_filter"), false));
    if (get_flag(call, "agg_distinct"))
        return count_distinct(l, sc, get(call, "args"));
    if (!get_flag(call, "agg_star"))
        TRY(count_value(l, sc, json_array_get(get(call, "args"), 0)));
    return count_rows(l);
}

/* --- groups --- */

/* The expression that a GROUP BY item stands for: itself, a position in the
 * SELECT list, or the name of one of its columns. */
static enum status group_node(struct lower *l, struct scope *sc,
                              const json_t *select, const json_t *item,
                              const json_t **out)
{
    const json_t *c = node_as(item, "A_Const"), *ref;
    size_t n = get_size(select, "targetList");
    *out = item;
    if (c && get(c, "ival")) {
        json_int_t i = json_integer_value(get(get(c, "ival"), "ival"));
        if (i >= 1 && (size_t)i <= n) {
            *out = get(target_at(select, (size_t)i - 1), "val");
            return OK;
        }
        err_set(l->err, E_SYNTAX, "GROUP BY position is not in select list");
        err_at(l->err, get_location(c));
        err_hint(l->err, "Positions count the SELECT list from 1.");
        return E_SYNTAX;
    }
    if (!(ref = node_as(item, "ColumnRef")) || get_size(ref, "fields") != 1 ||
        is_star(ref))
        return OK;
    const struct rcol *found;
    TRY(find_column(l, sc, ref, false, &found));
    for (size_t i = 0; !found && i < n; i++) {
        const json_t *t = target_at(select, i);
        if (strcmp(get_text(t, "name"), last_name(get(ref, "fields"))) == 0)
            *out = get(t, "val");
    }
    return OK;
}

typedef VEC(struct expr *) exprs;

static enum status lower_groups(struct lower *l, struct scope *sc,
                                const json_t *select, exprs *out)
{
    const json_t *items = get(select, "groupClause");
    size_t n = json_array_size(items);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(items, i), *node;
        struct expr *e;
        struct term t;
        if (node_as(item, "GroupingSet"))
            return sql_refuse(l->err, NO_GROUPING_SETS, node_location(item));
        TRY(group_node(l, sc, select, item, &node));
        TRY(lower_scalar(l, sc, node, &e));
        if (is_text_only(l, e))
            return sql_refuse(l->err, NO_TEXT_ONLY, node_location(item));
        TRY(term_of(l, e, node_location(item), &t));
        if (!VEC_PUSH(l->arena, out, e) || !VEC_PUSH(l->arena, &l->b.outs, t))
            return err_nomem(l->err);
    }
    l->b.n_group = (uint32_t)n;
    return OK;
}

/* A call of some aggregate anywhere in the expression. */
static const json_t *find_aggregate(const json_t *node, int depth)
{
    const json_t *call = node_as(node, "FuncCall"), *found = NULL, *v;
    const char *key;
    size_t i;
    if (call &&
        (is_aggregate(last_name(get(call, "funcname"))) || get(call, "over")))
        return call;
    if (depth > MAX_DEPTH)
        return NULL;
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v) found =
            found ? found : find_aggregate(v, depth + 1);
    else
        json_array_foreach((json_t *)(uintptr_t)node, i, v) found =
            found ? found : find_aggregate(v, depth + 1);
    return found;
}

static bool has_aggregate(const json_t *node)
{
    return find_aggregate(node, 0) != NULL;
}

/* SUM(x), COUNT(*) OVER (), COUNT(*) + 1: what is wrong with them. */
static enum status refuse_expression(struct err *err, const json_t *val)
{
    const json_t *call = find_aggregate(val, 0);
    enum construct c = NO_SELECT_LIST;
    if (call && get(call, "over"))
        c = NO_WINDOW;
    else if (call && strcmp(last_name(get(call, "funcname")), "count") != 0)
        c = NO_AGGREGATE;
    return sql_refuse(err, c, node_location(val));
}

/* Which GROUP BY key a target is; E_UNSUPPORTED if none. */
static enum status match_group(struct lower *l, struct scope *sc,
                               const json_t *target, const exprs *groups,
                               size_t *out)
{
    const json_t *val = get(target, "val"), *ref = node_as(val, "ColumnRef");
    struct expr *e;
    if (groups->n == 0 || (ref && is_star(ref)) || has_aggregate(val))
        return refuse_expression(l->err, val);
    TRY(lower_scalar(l, sc, val, &e));
    for (*out = 0; *out < groups->n; ++*out)
        if (expr_equal(e, groups->p[*out]))
            return OK;
    enum status st = sql_refuse(l->err, NO_SELECT_LIST, node_location(val));
    if (ref)
        err_hint(l->err, "Add the column to GROUP BY, or leave it out.");
    return st;
}

static enum status copy_name(struct lower *l, const char *name, struct str *out)
{
    *out = str_copy(l->arena, str_of(name));
    return out->p ? OK : err_nomem(l->err);
}

static enum status name_groups(struct lower *l, struct scope *sc,
                               const json_t *select, const exprs *groups,
                               struct sql_statement *out)
{
    const json_t *items = get(select, "groupClause");
    size_t n = get_size(select, "targetList");
    out->n_group = groups->n;
    out->group_names = NEWS(l->arena, struct str, groups->n + 1);
    if (!out->group_names)
        return err_nomem(l->err);
    for (size_t i = 0; i < groups->n; i++) {
        const json_t *ref = node_as(json_array_get(items, i), "ColumnRef");
        TRY(copy_name(l, ref ? last_name(get(ref, "fields")) : "?column?",
                      &out->group_names[i]));
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *t = target_at(select, i);
        const json_t *ref = node_as(get(t, "val"), "ColumnRef");
        const char *name = get_text(t, "name");
        size_t g = 0;
        if (count_call(t))
            continue;
        TRY(match_group(l, sc, t, groups, &g));
        if (!name[0] && ref)
            name = last_name(get(ref, "fields"));
        if (name[0])
            TRY(copy_name(l, name, &out->group_names[g]));
    }
    return OK;
}

/* --- statements --- */

struct reader {
    struct arena *arena;
    struct schema *schema;
    const char *text;
    size_t text_n;
    const struct sql_options *opt;
    struct err *err;
    const json_t *select;
    uint64_t *work; /* of all counts together */
};

/* Lowers the whole statement for the count at `target`. */
static enum status read_count(const struct reader *r, size_t target,
                              struct sql_statement *out, struct cq **q)
{
    struct lower l = {.arena = r->arena,
                      .schema = r->schema,
                      .text = r->text,
                      .text_n = r->text_n,
                      .opt = r->opt,
                      .err = r->err,
                      .position = -1,
                      .work = r->work};
    struct scope sc = {0};
    exprs groups = {0};
    const json_t *call = count_call(target_at(r->select, target));
    cqb_init(&l.b, r->arena, r->schema);
    l.b.tidy_outs = true;
    TRY(check_call(&l, call));
    l.counting = !get_flag(call, "agg_distinct");
    TRY(push_ctes(&l, r->select, NULL));
    const json_t *from = get(r->select, "fromClause");
    for (size_t i = 0; i < json_array_size(from); i++)
        TRY(lower_from(&l, &sc, json_array_get(from, i)));
    if (get(r->select, "whereClause"))
        TRY(lower_condition(&l, &sc, get(r->select, "whereClause"), false));
    TRY(lower_groups(&l, &sc, r->select, &groups));
    TRY(name_groups(&l, &sc, r->select, &groups, out));
    TRY(lower_count(&l, &sc, call));
    if (l.b.atoms.n == 0)
        return sql_refuse(r->err, NO_NO_FROM, get_location(call));
    return cq_finish(&l.b, q, r->err);
}

static enum status check_select(const struct reader *r)
{
    struct lower l = {.err = r->err, .text = r->text};
    const json_t *distinct = get(r->select, "distinctClause");
    TRY(check_clauses(&l, r->select));
    if (distinct)
        return sql_refuse(
            r->err, NO_DISTINCT_HERE,
            node_location(json_array_get(get(r->select, "targetList"), 0)));
    return OK;
}

static enum status refuse_target(const struct reader *r)
{
    const json_t *val = get(target_at(r->select, 0), "val");
    if (has_aggregate(val))
        return refuse_expression(r->err, val);
    return sql_refuse(r->err, NO_NO_COUNT, node_location(val));
}

/* Each count reads the whole statement, so many of them in a long one would
 * take time that grows with the square of its length. */
static enum status check_counts(const struct reader *r)
{
    size_t n = get_size(r->select, "targetList"), counts = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *call = count_call(target_at(r->select, i));
        counts += call != NULL;
        if (!call ||
            (counts <= MAX_COUNTS && counts * r->text_n <= MAX_COUNT_WORK))
            continue;
        if (counts > MAX_COUNTS)
            err_set(r->err, E_TOO_LARGE, "the query has more than %d counts",
                    MAX_COUNTS);
        else
            err_set(r->err, E_TOO_LARGE,
                    "the query has too many counts for its length");
        err_at(r->err, get_location(call));
        err_hint(r->err, "Send the counts in several queries.");
        return E_TOO_LARGE;
    }
    return OK;
}

static enum status read_select(const struct reader *r,
                               struct sql_statement *out)
{
    size_t n = get_size(r->select, "targetList");
    TRY(check_select(r));
    TRY(check_counts(r));
    out->counts = NEWS(r->arena, struct sql_count, n + 1);
    if (!out->counts)
        return err_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        const json_t *t = target_at(r->select, i);
        if (!count_call(t))
            continue;
        struct sql_count *c = &out->counts[out->n_counts++];
        const char *name = get_text(t, "name");
        c->label = str_copy(r->arena, str_of(name[0] ? name : "count"));
        if (!c->label.p)
            return err_nomem(r->err);
        TRY(read_count(r, i, out, &c->q));
    }
    return out->n_counts ? OK : refuse_target(r);
}

static enum status read_tree(struct reader *r, const json_t *root,
                             struct sql_statement *out)
{
    static const char *const dml[] = {"InsertStmt", "UpdateStmt", "DeleteStmt",
                                      "MergeStmt"};
    const json_t *stmts = get(root, "stmts"), *f;
    if (json_array_size(stmts) == 0)
        return err_set(r->err, E_SYNTAX, "the query is empty");
    const json_t *second = json_array_get(stmts, 1);
    if (second)
        return sql_refuse(
            r->err, NO_MULTI,
            (long)json_integer_value(get(second, "stmt_location")));
    const char *kind = node_kind(get(json_array_get(stmts, 0), "stmt"), &f);
    for (size_t i = 0; i < sizeof dml / sizeof *dml; i++)
        if (strcmp(kind, dml[i]) == 0)
            return sql_refuse(r->err, NO_DML, 0);
    if (strcmp(kind, "SelectStmt") != 0)
        return sql_refuse(r->err, NO_STATEMENT, 0);
    r->select = f;
    return read_select(r, out);
}

enum status sql_read(struct arena *a, struct schema *s, struct str text,
                     const struct sql_options *opt, struct sql_statement *out,
                     struct err *err)
{
    uint64_t work = 0;
    struct reader r = {
        .arena = a, .schema = s, .opt = opt, .err = err, .work = &work};
    struct tree tree;
    char *clean;
    *out = (struct sql_statement){0};
    TRY(sql_scan(a, text, &clean, &out->epsilon, &out->delta, err));
    r.text = clean;
    r.text_n = strlen(clean);
    TRY(tree_parse(clean, &tree, err));
    enum status st = read_tree(&r, tree.root, out);
    tree_free(&tree);
    return st;
}
