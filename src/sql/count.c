/*
 * The outermost SELECT: its counts, its groups, and sql_read.
 */
#include <string.h>

#include "sql/sql_int.h"

const json_t *target_at(const json_t *select, size_t i)
{
    return node_as(json_array_get(get(select, "targetList"), i), "ResTarget");
}

static const json_t *call_of(const json_t *val, const char *name)
{
    const json_t *call = node_as(val, "FuncCall");
    const json_t *names = get(call, "funcname");
    size_t n = json_array_size(names);
    if (!call || n == 0 || n > 2 || get(call, "over") ||
        strcmp(last_name(names), name) != 0 ||
        (n == 2 &&
         strcmp(string_of(json_array_get(names, 0)), "pg_catalog") != 0))
        return NULL;
    return call;
}

const json_t *count_call(const json_t *val)
{
    return call_of(val, "count");
}

bool sql_is_average(const json_t *call)
{
    return strcmp(last_name(get(call, "funcname")), "avg") == 0;
}

static bool is_sum(const json_t *call)
{
    return strcmp(last_name(get(call, "funcname")), "sum") == 0;
}

const json_t *sql_paid_call(const json_t *val)
{
    const json_t *call = count_call(val);
    if (!call)
        call = call_of(val, "sum");
    return call ? call : call_of(val, "avg");
}

/* Branches of a union are compared output by output: all stay in place. */
static enum status push_out(struct lower *l, struct term t)
{
    if (l->choices->sets)
        return VEC_PUSH(l->arena, &l->b.outs, t) ? OK : err_nomem(l->err);
    for (size_t i = 0; i < l->b.outs.n; i++)
        if (l->b.outs.p[i].kind == t.kind && l->b.outs.p[i].id == t.id)
            return OK;
    return VEC_PUSH(l->arena, &l->b.outs, t) ? OK : err_nomem(l->err);
}

/* --- identity --- */

const struct degree *sql_find_key(const struct table *t)
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

enum status sql_rowid_var(struct lower *l, uint32_t atom, uint32_t *out)
{
    if (l->b.atoms.p[atom].rowid >= 0) {
        *out = (uint32_t)l->b.atoms.p[atom].rowid;
        return OK;
    }
    TRY(cqb_var(&l->b, STR("row"), T_INT, out, l->err));
    if (!VEC_PUSH(l->arena, &l->var_atom, atom))
        return err_nomem(l->err);
    l->b.vars.p[*out].is_rowid = true;
    l->b.atoms.p[atom].rowid = (int32_t)*out;
    return OK;
}

/* PRIVACY: a nullable UNIQUE does not identify rows; such a table is a bag. */
static enum status count_atom(struct lower *l, uint32_t atom)
{
    const struct table *t = &l->schema->tables.p[l->b.atoms.p[atom].table];
    const struct degree *key = sql_find_key(t);
    uint32_t v;
    if (key) {
        for (size_t k = 0; k < key->n_x; k++) {
            TRY(sql_column_var(l, atom, key->x[k], &v));
            TRY(push_out(l, (struct term){TERM_VAR, v}));
        }
        return OK;
    }
    TRY(sql_rowid_var(l, atom, &v));
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

enum status sql_count_rows(struct lower *l)
{
    for (uint32_t i = 0; i < l->b.atoms.n; i++)
        if (l->atom_counted.p[i])
            TRY(count_atom(l, i));
    for (size_t i = 0; i < l->identity.n; i++) {
        struct term t;
        TRY(term_of(l, l->identity.p[i], -1, &t));
        if (t.kind == TERM_VAR || l->choices->sets)
            TRY(push_out(l, t));
    }
    for (uint32_t i = 0; !l->choices->sets && i < l->b.atoms.n; i++)
        if (l->atom_counted.p[i])
            TRY(count_used(l, i));
    return OK;
}

/* --- what COUNT counts --- */

enum status sql_require_value(struct lower *l, struct expr *e, long at)
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
    TRY(lower_cell(l, sc, arg, &e));
    enum status st = sql_require_value(l, e, node_location(arg));
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
            TRY(sql_require_value(l, e, node_location(arg)));
        TRY(term_of(l, e, node_location(arg), &t));
        if (t.kind != TERM_VAR && !l->choices->sets)
            continue;
        if (!tuple && t.kind == TERM_VAR)
            l->b.vars.p[t.id].nonnull = true;
        TRY(push_out(l, t));
    }
    return OK;
}

static bool count_call_of(const json_t *call)
{
    return !is_sum(call) && !sql_is_average(call);
}

static enum status check_call(struct lower *l, const json_t *call)
{
    long at = get_location(call);
    size_t n = get_size(call, "args");
    if (get(call, "agg_order") || get_flag(call, "agg_within_group") ||
        get_flag(call, "func_variadic"))
        return sql_refuse(l->err, NO_AGG_OPTIONS, at);
    if (!count_call_of(call) && (get_flag(call, "agg_star") || n != 1)) {
        err_set(l->err, E_SYNTAX, "SUM and AVG take one expression");
        err_at(l->err, at);
        return E_SYNTAX;
    }
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
    return sql_count_rows(l);
}

/* --- groups --- */

/* The expression that a GROUP BY item stands for: itself, a position in the
 * SELECT list, or the name of one of its columns. */
enum status sql_group_node(struct lower *l, struct scope *sc,
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

static enum status lower_group(struct lower *l, struct scope *sc,
                               const json_t *node, long at,
                               struct after_keys *out)
{
    struct expr *e;
    struct term t;
    TRY(lower_scalar(l, sc, node, &e));
    if (is_text_only(l, e))
        return sql_refuse(l->err, NO_TEXT_ONLY, at);
    TRY(term_of(l, e, at, &t));
    return VEC_PUSH(l->arena, &out->nodes, node) &&
                   VEC_PUSH(l->arena, &out->types, e->type) &&
                   VEC_PUSH(l->arena, &l->b.outs, t)
               ? OK
               : err_nomem(l->err);
}

static enum status lower_groups(struct lower *l, struct scope *sc,
                                const json_t *select, struct after_keys *out)
{
    const json_t *items = get(select, "groupClause");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i), *node;
        if (node_as(item, "GroupingSet"))
            return sql_refuse(l->err, NO_GROUPING_SETS, node_location(item));
        TRY(sql_group_node(l, sc, select, item, &node));
        TRY(lower_group(l, sc, node, node_location(item), out));
    }
    return OK;
}

/* What the keys determine is found once, where no side of an outer join is
 * absent: all branches have the same keys. */
static enum status add_determined(struct lower *l, struct scope *sc,
                                  const json_t *select, bool first,
                                  nodes *determined, struct after_keys *out)
{
    if (first && !l->choices->united)
        TRY(sql_determined(l, sc, select, &out->nodes, determined));
    for (size_t i = 0; i < determined->n; i++)
        TRY(lower_group(l, sc, determined->p[i],
                        node_location(determined->p[i]), out));
    l->b.n_group = (uint32_t)out->nodes.n;
    return OK;
}

static enum status copy_name(struct lower *l, const char *name, struct str *out)
{
    *out = str_copy(l->arena, str_of(name));
    return out->p ? OK : err_nomem(l->err);
}

/* The name of a key: that of the column of the SELECT list that shows it, or
 * its own. */
static enum status name_groups(struct lower *l, struct scope *sc,
                               const json_t *select,
                               const struct after_keys *keys,
                               struct sql_statement *out)
{
    size_t n = get_size(select, "targetList");
    out->n_group = keys->nodes.n;
    out->group_names = NEWS(l->arena, struct str, keys->nodes.n + 1);
    if (!out->group_names)
        return err_nomem(l->err);
    for (size_t g = 0; g < keys->nodes.n; g++) {
        const char *name = derived_name(keys->nodes.p[g]);
        for (size_t i = n; i-- > 0;) {
            const json_t *t = target_at(select, i);
            if (get_text(t, "name")[0] &&
                same_node(l, sc, get(t, "val"), keys->nodes.p[g]))
                name = get_text(t, "name");
        }
        TRY(copy_name(l, name, &out->group_names[g]));
    }
    return OK;
}

/* --- statements --- */

struct count_reader {
    struct arena *arena;
    struct schema *schema;
    const char *text;
    size_t text_n;
    const struct sql_options *opt;
    struct err *err;
    const json_t *select;
    nodes calls;       /* an average stands twice: its sum, its number */
    uint64_t *work;    /* of all counts together */
    nodes *determined; /* by the keys of GROUP BY: keys as well */
};

/* Is this call the second of an average, its number? */
static bool is_number_of_average(const struct count_reader *r, size_t i)
{
    return i && r->calls.p[i - 1] == r->calls.p[i];
}

/* Lowers the whole statement for one count, with the sides of unions that c
 * picks; the first time also what is done with the counts. */
static enum status lower_branch(const struct count_reader *r, size_t i,
                                bool first, struct choices *c,
                                struct sql_common *common,
                                struct sql_statement *out, struct lower *l)
{
    struct scope sc = {0};
    struct after_keys keys = {0};
    const json_t *call = r->calls.p[i];
    *l = (struct lower){.arena = r->arena,
                        .schema = r->schema,
                        .text = r->text,
                        .text_n = r->text_n,
                        .opt = r->opt,
                        .err = r->err,
                        .choices = c,
                        .common = common,
                        .position = -1,
                        .work = r->work};
    cqb_init(&l->b, r->arena, r->schema);
    l->b.tidy_outs = true;
    l->t.tag = 1;
    TRY(tree_begin(r->arena, &l->t, r->err));
    TRY(check_call(l, call));
    l->counting = !get_flag(call, "agg_distinct");
    TRY(push_ctes(l, r->select, NULL));
    l->sole = true;
    TRY(sql_lower_body(l, &sc, r->select));
    TRY(lower_groups(l, &sc, r->select, &keys));
    TRY(add_determined(l, &sc, r->select, first, r->determined, &keys));
    if (first) {
        TRY(name_groups(l, &sc, r->select, &keys, out));
        TRY(sql_after_read(l, &sc, r->select, &r->calls, &keys, out));
    }
    TRY(is_sum(call) ? lower_sum(l, &sc, call)
        : sql_is_average(call)
            ? lower_average(l, &sc, call, is_number_of_average(r, i))
            : lower_count(l, &sc, call));
    TRY(sql_check_root_keys(l));
    if (l->b.atoms.n == 0)
        return sql_refuse(r->err, NO_NO_FROM, get_location(call));
    TRY(tree_tag(r->arena, &l->t, r->err));
    l->t.nodes.p[0].unsat |= l->b.unsat;
    return OK;
}

typedef VEC(struct tree_branch *) branches;

/* PRIVACY: rows of a table without a key are told apart by where they stand,
 * which says nothing about another branch. */
static enum status check_branches(const struct count_reader *r,
                                  const branches *all)
{
    for (size_t i = 0; all->n > 1 && i < all->n; i++)
        for (size_t k = 0; k < all->p[i]->b.outs.n; k++) {
            struct term t = all->p[i]->b.outs.p[k];
            bool alone = true;
            for (size_t j = 0; j < all->n; j++)
                alone &= j == i || all->p[j]->tag != all->p[i]->tag;
            if (t.kind == TERM_VAR && !alone &&
                all->p[i]->b.vars.p[t.id].is_rowid)
                return sql_refuse(r->err, NO_UNION, -1);
        }
    return OK;
}

static enum status keep_branch(const struct count_reader *r,
                               const struct lower *l, branches *all)
{
    struct tree_branch *t = NEW(r->arena, struct tree_branch);
    if (!t)
        return err_nomem(r->err);
    *t = l->t;
    if (all->n < TREE_MAX_BRANCHES)
        return VEC_PUSH(r->arena, all, t) ? OK : err_nomem(r->err);
    err_set(r->err, E_TOO_LARGE, "the query has more than %d cases of unions",
            TREE_MAX_BRANCHES);
    err_hint(r->err, "Count the parts one by one.");
    return E_TOO_LARGE;
}

/* All branches of one count. */
static enum status read_branches(const struct count_reader *r, size_t i,
                                 struct sql_common *common,
                                 struct sql_statement *out, struct lower *l,
                                 branches *all)
{
    struct choices c = {0};
    bool first = i == 0 && !common->fixed;
    do {
        TRY(lower_branch(r, i, first && !all->n, &c, common, out, l));
        TRY(keep_branch(r, l, all));
    } while (sql_next_choice(&c));
    return OK;
}

/* The range of all branches is known: it is what all are shifted by. */
static enum status read_average(const struct count_reader *r, size_t i,
                                struct sql_common *common, struct sql_count *to)
{
    struct sql_average *v = NEW(r->arena, struct sql_average);
    if (!v)
        return err_nomem(r->err);
    common->fixed = true;
    *v = (struct sql_average){common->range.lo, common->range.hi,
                              common->range.scale, r->schema->has_entities};
    to->average = is_number_of_average(r, i) ? NULL : v;
    to->half = true;
    return OK;
}

static enum status read_count(const struct count_reader *r, size_t i,
                              struct sql_statement *out, struct sql_count *to)
{
    struct lower l;
    branches all = {0};
    struct sql_common common = {0};
    if (sql_is_average(r->calls.p[i])) {
        TRY(read_branches(r, i, &common, out, &l, &all));
        TRY(read_average(r, i, &common, to));
        all.n = 0;
    }
    TRY(read_branches(r, i, &common, out, &l, &all));
    if (all.n == 1 && tree_is_plain(all.p[0]))
        return cq_finish(&l.b, &to->q, r->err);
    TRY(check_branches(r, &all));
    to->tree = NEW(r->arena, struct ctree);
    if (!to->tree)
        return err_nomem(r->err);
    *to->tree = (struct ctree){all.p, all.n};
    if (all.p[0]->b.weight.on)
        TRY(tree_split_signs(r->arena, to->tree, r->err));
    aset own;
    return tree_path(r->arena, to->tree->branches[0], 0, &to->q, &own, r->err);
}

static enum status check_select(const struct count_reader *r)
{
    struct lower l = {.err = r->err, .text = r->text};
    const json_t *distinct = get(r->select, "distinctClause");
    TRY(sql_check_clauses(&l, r->select, false));
    if (sql_is_setop(r->select, NULL))
        return sql_refuse(r->err, NO_UNION, 0);
    if (distinct)
        return sql_refuse(
            r->err, NO_DISTINCT_HERE,
            node_location(json_array_get(get(r->select, "targetList"), 0)));
    return OK;
}

/* SUM(x), COUNT(*) OVER (), a bare column: what is wrong with it. */
static enum status refuse_target(const struct count_reader *r)
{
    const json_t *val = get(target_at(r->select, 0), "val");
    const json_t *call = node_as(val, "FuncCall");
    enum construct c = NO_NO_COUNT;
    if (call && get(call, "over"))
        c = NO_WINDOW;
    else if (call && is_aggregate(last_name(get(call, "funcname"))))
        c = NO_AGGREGATE;
    return sql_refuse(r->err, c, node_location(val));
}

/* Each count reads the whole statement, so many of them in a long one would
 * take time that grows with the square of its length. */
static enum status check_counts(const struct count_reader *r)
{
    size_t n = r->calls.n;
    if (n <= MAX_COUNTS && n * r->text_n <= MAX_COUNT_WORK)
        return OK;
    if (n > MAX_COUNTS)
        err_set(r->err, E_TOO_LARGE, "the query has more than %d counts",
                MAX_COUNTS);
    else
        err_set(r->err, E_TOO_LARGE,
                "the query has too many counts for its length");
    err_at(r->err, get_location(r->calls.p[n - 1]));
    err_hint(r->err, "Send the counts in several queries.");
    return E_TOO_LARGE;
}

/* A count is named by the first column that shows it and nothing else. */
static enum status name_count(const struct count_reader *r, const json_t *call,
                              struct str *out)
{
    const char *name = last_name(get(call, "funcname"));
    for (size_t i = get_size(r->select, "targetList"); i-- > 0;) {
        const json_t *t = target_at(r->select, i);
        if (get_text(t, "name")[0] &&
            same_node(NULL, NULL, call, sql_paid_call(get(t, "val"))))
            name = get_text(t, "name");
    }
    *out = str_copy(r->arena, str_of(name));
    return out->p ? OK : err_nomem(r->err);
}

static enum status read_select(struct count_reader *r,
                               struct sql_statement *out)
{
    struct lower l = {.arena = r->arena, .err = r->err};
    TRY(check_select(r));
    TRY(sql_calls(&l, r->select, &r->calls));
    TRY(check_counts(r));
    if (!r->calls.n)
        return refuse_target(r);
    out->counts = NEWS(r->arena, struct sql_count, r->calls.n);
    if (!out->counts)
        return err_nomem(r->err);
    for (size_t i = 0; i < r->calls.n; i++) {
        struct sql_count *c = &out->counts[out->n_counts++];
        TRY(name_count(r, r->calls.p[i], &c->label));
        TRY(read_count(r, i, out, c));
    }
    return OK;
}

static enum status read_tree(struct count_reader *r, const json_t *root,
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
    nodes determined = {0};
    struct count_reader r = {.arena = a,
                             .schema = s,
                             .opt = opt,
                             .err = err,
                             .work = &work,
                             .determined = &determined};
    struct parse_tree tree;
    char *clean;
    *out = (struct sql_statement){0};
    TRY(sql_scan(a, text, &clean, &out->epsilon, &out->delta, err));
    r.text = clean;
    r.text_n = strlen(clean);
    TRY(parse_tree_make(clean, &tree, err));
    enum status st = read_tree(&r, tree.root, out);
    parse_tree_free(&tree);
    return st;
}
