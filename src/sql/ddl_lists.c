/*
 * Lists of values that a condition gives a column: x IN ('a', 'b'), also as
 * PostgreSQL prints it, within AND, and beside "x IS NULL". They name the keys
 * of GROUP BY; no upper bound rests on them: rows that break them are in no
 * group.
 */
#include <string.h>

#include "sql/ddl_int.h"

static const json_t *without_casts(const json_t *node)
{
    while (node_as(node, "TypeCast"))
        node = get(node_as(node, "TypeCast"), "arg");
    return node;
}

static const char *column_of(const json_t *node)
{
    const json_t *ref = node_as(without_casts(node), "ColumnRef");
    return ref && get_size(ref, "fields") == 1 ? last_name(get(ref, "fields"))
                                               : NULL;
}

/* x IN (...), x = ANY (ARRAY[...]) */
static const char *listed_here(const json_t *x, const json_t **list)
{
    const json_t *right = without_casts(get(x, "rexpr"));
    const char *kind = get_text(x, "kind");
    if (strcmp(string_of(json_array_get(get(x, "name"), 0)), "=") != 0)
        return NULL;
    if (strcmp(kind, "AEXPR_IN") == 0 && node_as(right, "List"))
        *list = get(node_as(right, "List"), "items");
    else if (strcmp(kind, "AEXPR_OP_ANY") == 0 && node_as(right, "A_ArrayExpr"))
        *list = get(node_as(right, "A_ArrayExpr"), "elements");
    else
        return NULL;
    return column_of(get(x, "lexpr"));
}

static const char *null_column(const json_t *node)
{
    const json_t *t = node_as(node, "NullTest");
    bool is_null = t && strcmp(get_text(t, "nulltesttype"), "IS_NULL") == 0;
    return is_null ? column_of(get(t, "arg")) : NULL;
}

static const char *listed_in(const json_t *node, const json_t **list)
{
    const json_t *x = node_as(node, "A_Expr");
    return x ? listed_here(x, list) : NULL;
}

/* x IN (...) OR x IS NULL: a NULL passes any CHECK, so it is the list alone. */
static const char *listed_or_null(const json_t *args, const json_t **list)
{
    const json_t *a = json_array_get(args, 0), *b = json_array_get(args, 1);
    bool swapped = null_column(a) != NULL;
    const char *null = null_column(swapped ? a : b);
    const char *name = listed_in(swapped ? b : a, list);
    bool both = json_array_size(args) == 2 && null && name;
    return both && strcmp(null, name) == 0 ? name : NULL;
}

static const char *listed_below(const json_t *x, const json_t **list)
{
    const json_t *args = get(x, "args");
    const char *name = NULL;
    if (strcmp(get_text(x, "boolop"), "OR_EXPR") == 0)
        return listed_or_null(args, list);
    if (strcmp(get_text(x, "boolop"), "AND_EXPR") != 0)
        return NULL;
    for (size_t i = 0; !name && i < json_array_size(args); i++)
        name = listed_in(json_array_get(args, i), list);
    return name;
}

bool ddl_is_list(const json_t *e)
{
    const json_t *list, *b = node_as(e, "BoolExpr");
    return ddl_listed(e, &list) &&
           strcmp(get_text(b, "boolop"), "AND_EXPR") != 0;
}

const char *ddl_listed(const json_t *e, const json_t **list)
{
    const json_t *x = node_as(e, "A_Expr"), *b = node_as(e, "BoolExpr");
    return x ? listed_here(x, list) : b ? listed_below(b, list) : NULL;
}

/* char(n) is read without its padding. */
static void strip(struct column *c)
{
    for (size_t i = 0; c->is_padded && i < c->n_domain; i++) {
        struct str *s = &c->domain[i].s;
        while (s->n && s->p[s->n - 1] == ' ')
            s->n--;
    }
}

static bool has(const struct column *c, const struct value *v)
{
    for (size_t i = 0; i < c->n_domain; i++)
        if (value_eq(&c->domain[i], v))
            return true;
    return false;
}

/* Does the policy list what the CHECK lists, and NULL where there can be one?
 * Then it is the column's own list, of which an enum has no other values. */
static bool says_the_same(const struct column *policy,
                          const struct column *check)
{
    size_t nulls = 0;
    for (size_t i = 0; i < policy->n_domain; i++) {
        nulls += policy->domain[i].is_null;
        if (!policy->domain[i].is_null && !has(check, &policy->domain[i]))
            return false;
    }
    for (size_t i = 0; i < check->n_domain; i++)
        if (!has(policy, &check->domain[i]))
            return false;
    return (nulls > 0) == !check->not_null;
}

enum status ddl_add_list(struct schema *s, size_t table, long own,
                         const json_t *condition, struct err *err)
{
    const json_t *list = NULL;
    struct table *t = &s->tables.p[table];
    const char *name = ddl_listed(condition, &list);
    long col = name ? table_match_column(t, str_of(name)) : -1;
    if (col < 0 && name && strcmp(name, "value") == 0)
        col = own;
    if (col < 0 || t->cols[col].own_domain)
        return OK;
    struct column *c = &t->cols[col], by_check = *c;
    TRY(ddl_values(s->arena, list, c->type, &by_check.domain,
                   &by_check.n_domain, err));
    by_check.own_domain = by_check.n_domain > 0;
    strip(&by_check);
    if (by_check.own_domain && (!c->n_domain || says_the_same(c, &by_check)))
        *c = by_check;
    return OK;
}

static enum status take_check(struct schema *s, size_t table, long own,
                              const char *text, const json_t *node,
                              struct err *err)
{
    const json_t *c = node_as(node, "Constraint");
    return strcmp(get_text(c, "contype"), "CONSTR_CHECK") == 0
               ? ddl_take_check(s, table, own, text, c, err)
               : OK;
}

static enum status take_checks(struct schema *s, size_t table, const char *text,
                               const json_t *create, struct err *err)
{
    const json_t *all = get(create, "tableElts");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *e = json_array_get(all, i), *c = node_as(e, "ColumnDef");
        const json_t *own = get(c, "constraints");
        long col = c ? table_match_column(&s->tables.p[table],
                                          str_of(get_text(c, "colname")))
                     : -1;
        TRY(take_check(s, table, -1, text, e, err));
        for (size_t k = 0; k < json_array_size(own); k++)
            TRY(take_check(s, table, col, text, json_array_get(own, k), err));
    }
    return OK;
}

enum status sql_read_lists(struct schema *s, size_t table, struct str text,
                           struct err *err)
{
    struct str epsilon = {0}, delta = {0};
    struct parse_tree tree;
    const json_t *f;
    char *clean;
    enum status st = ddl_clean(s->arena, text, &text, err);
    if (st == OK)
        st = sql_scan(s->arena, text, &clean, &epsilon, &delta, err);
    if (st == OK)
        st = parse_tree_make(clean, &tree, err);
    if (st != OK) { /* another dialect: it lists nothing */
        if (st == E_NOMEM)
            return st;
        err_clear(err);
        return ddl_add_check(s, table, -1, STR(""), err);
    }
    const json_t *first = json_array_get(get(tree.root, "stmts"), 0);
    if (strcmp(node_kind(get(first, "stmt"), &f), "CreateStmt") == 0)
        st = take_checks(s, table, clean, f, err);
    parse_tree_free(&tree);
    return st;
}
