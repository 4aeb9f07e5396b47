/*
 * SELECT, VALUES and set operations as SQLite text. Columns of a result are
 * called c1, c2, ..; their names are kept beside, since SQLite renames twins.
 * PostgreSQL sorts NULLs last, SQLite first: it is always said.
 */
#include <string.h>

#include "catalogue/catalogue_int.h"

/* --- the names of columns ------------------------------------------------- */

static const char *last_of(const json_t *names)
{
    return cat_name_of(json_array_get(names, json_array_size(names) - 1));
}

static const char *value_function_name(const json_t *f)
{
    static const char *const names[][2] = {
        {"SVFOP_CURRENT_DATE", "current_date"},
        {"SVFOP_CURRENT_TIMESTAMP", "current_timestamp"},
        {"SVFOP_CURRENT_ROLE", "current_role"},
        {"SVFOP_CURRENT_USER", "current_user"},
        {"SVFOP_USER", "user"},
        {"SVFOP_SESSION_USER", "session_user"},
        {"SVFOP_CURRENT_CATALOG", "current_catalog"},
        {"SVFOP_CURRENT_SCHEMA", "current_schema"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(cat_string(f, "op"), names[i][0]))
            return names[i][1];
    return NULL;
}

/* A name and how good it is: 2 as written, 1 made up, 0 none; a cast or a CASE
 * gives its own name where what is inside has none as written. */
struct column_name {
    const char *name;
    int strength;
};

static struct column_name name_within(const json_t *node, int depth);

static struct column_name named(const char *name, int strength)
{
    return (struct column_name){name, name && *name ? strength : 0};
}

static struct column_name indirection_name(const json_t *f, int depth)
{
    const json_t *steps = cat_get(f, "indirection");
    for (size_t i = json_array_size(steps); i-- > 0;)
        if (cat_as(json_array_get(steps, i), "String"))
            return named(cat_name_of(json_array_get(steps, i)), 2);
    return name_within(cat_get(f, "arg"), depth);
}

static struct column_name sublink_name(const json_t *f, int depth)
{
    const char *kind = cat_string(f, "subLinkType");
    const json_t *q = cat_as(cat_get(f, "subselect"), "SelectStmt"), *target;
    if (!strcmp(kind, "EXISTS_SUBLINK"))
        return named("exists", 2);
    if (!strcmp(kind, "ARRAY_SUBLINK"))
        return named("array", 2);
    if (strcmp(kind, "EXPR_SUBLINK"))
        return named(NULL, 0);
    target = cat_as(json_array_get(cat_get(q, "targetList"), 0), "ResTarget");
    if (target && *cat_string(target, "name"))
        return named(cat_string(target, "name"), 2);
    return target ? name_within(cat_get(target, "val"), depth) : named(NULL, 0);
}

static struct column_name better(struct column_name inner, const char *own)
{
    return inner.strength > 1 ? inner : named(own, 1);
}

static struct column_name name_of_kind(const char *kind, const json_t *f,
                                       int depth)
{
    if (!strcmp(kind, "ColumnRef"))
        return named(last_of(cat_get(f, "fields")), 2);
    if (!strcmp(kind, "FuncCall"))
        return named(last_of(cat_get(f, "funcname")), 2);
    if (!strcmp(kind, "A_Indirection"))
        return indirection_name(f, depth);
    if (!strcmp(kind, "TypeCast"))
        return better(name_within(cat_get(f, "arg"), depth),
                      last_of(cat_get(cat_get(f, "typeName"), "names")));
    if (!strcmp(kind, "CaseExpr"))
        return better(name_within(cat_get(f, "defresult"), depth), "case");
    if (!strcmp(kind, "CollateClause"))
        return name_within(cat_get(f, "arg"), depth);
    if (!strcmp(kind, "SubLink"))
        return sublink_name(f, depth);
    if (!strcmp(kind, "CoalesceExpr"))
        return named("coalesce", 2);
    if (!strcmp(kind, "MinMaxExpr"))
        return named(
            strcmp(cat_string(f, "op"), "IS_LEAST") ? "greatest" : "least", 2);
    if (!strcmp(kind, "A_ArrayExpr"))
        return named("array", 2);
    if (!strcmp(kind, "RowExpr"))
        return named("row", 2);
    if (!strcmp(kind, "SQLValueFunction"))
        return named(value_function_name(f), 2);
    if (!strcmp(kind, "A_Expr") &&
        !strcmp(cat_string(f, "kind"), "AEXPR_NULLIF"))
        return named("nullif", 2);
    return named(NULL, 0);
}

static struct column_name name_within(const json_t *node, int depth)
{
    const json_t *f;
    const char *kind = cat_kind(node, &f);
    return depth > CAT_DEPTH ? named(NULL, 0)
                             : name_of_kind(kind, f, depth + 1);
}

const char *cat_column_name(const json_t *node)
{
    struct column_name n = name_within(node, 0);
    return n.strength ? n.name : "?column?";
}

/* --- the list ------------------------------------------------------------- */

struct list {
    struct cat_buffer sql;
    struct cat_column *columns;
    size_t n, room;
};

static void list_add(struct cat_printer *p, struct list *l, const char *name,
                     struct cat_expr e)
{
    if (l->n == l->room) {
        size_t room = 2 * l->room + 16;
        struct cat_column *c = cat_take(p, room * sizeof *c);
        if (l->n)
            memcpy(c, l->columns, l->n * sizeof *c);
        l->columns = c;
        l->room = room;
    }
    if (l->n >= 1600)
        cat_fail(p, "54011", -1, "too many columns");
    l->columns[l->n++] =
        (struct cat_column){.name = name, .type = e.type, .typmod = e.typmod};
    cat_add(p, &l->sql,
            cat_format(p, "%s%s AS c%zu", l->n > 1 ? ", " : "", e.sql, l->n));
}

static void list_item(struct cat_printer *p, struct list *l,
                      const struct cat_item *item, bool common)
{
    for (size_t k = 0; k < item->n; k++) {
        const struct cat_column *c = &item->columns[k];
        if (!c->merged && c->common == common)
            list_add(p, l, c->name,
                     (struct cat_expr){
                         .sql = c->sql, .type = c->type, .typmod = c->typmod});
    }
}

static void list_star(struct cat_printer *p, struct list *l,
                      const struct cat_scope *s, const json_t *ref)
{
    const json_t *fields = cat_get(ref, "fields");
    size_t n = json_array_size(fields);
    bool found = false;
    const char *table =
        n > 1 ? cat_name_of(json_array_get(fields, n - 2)) : NULL;
    for (size_t i = 0; i < s->n && !table; i++)
        list_item(p, l, &s->items[i], true);
    for (size_t i = 0; i < s->n; i++) {
        if (table && (!s->items[i].name || strcmp(s->items[i].name, table)))
            continue;
        found = true;
        if (table)
            list_item(p, l, &s->items[i], true);
        list_item(p, l, &s->items[i], false);
    }
    if (!found && table)
        cat_fail(p, "42P01", cat_at(ref),
                 "missing FROM-clause entry for table \"%s\"", table);
    if (!found)
        cat_fail(p, "42601", cat_at(ref),
                 "SELECT * with no tables specified is not valid");
}

static void print_list(struct cat_printer *p, struct cat_scope *s,
                       const json_t *targets, struct list *l)
{
    s->sets_allowed = true;
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *t = cat_as(json_array_get(targets, i), "ResTarget");
        const json_t *val = cat_get(t, "val");
        const json_t *ref = cat_as(val, "ColumnRef");
        const json_t *fields = cat_get(ref, "fields");
        const char *name = cat_string(t, "name");
        if (ref && cat_as(json_array_get(fields, json_array_size(fields) - 1),
                          "A_Star"))
            list_star(p, l, s, ref);
        else
            list_add(p, l, *name ? name : cat_column_name(val),
                     cat_known(p, cat_expression(p, s, val)));
    }
    s->sets_allowed = false;
}

/* --- ORDER BY, GROUP BY, LIMIT -------------------------------------------- */

static size_t position_of(struct cat_printer *p, const json_t *node,
                          const struct cat_select *list)
{
    const json_t *c = cat_as(node, "A_Const"), *i = cat_get(c, "ival");
    json_int_t at = json_integer_value(cat_get(i, "ival")); /* 0: none */
    if (!i)
        return 0;
    if (at < 1 || (size_t)at > list->n)
        cat_fail(p, "42P10", cat_at(c), "position %lld is not in select list",
                 (long long)at);
    return (size_t)at;
}

static size_t output_named(const json_t *node, const struct cat_select *list)
{
    const json_t *fields = cat_get(cat_as(node, "ColumnRef"), "fields");
    const char *name = cat_name_of(json_array_get(fields, 0));
    if (json_array_size(fields) != 1)
        return 0;
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->columns[i].name, name))
            return i + 1;
    return 0;
}

const char *cat_order(struct cat_printer *p, struct cat_scope *s,
                      const json_t *sort, const struct cat_select *list)
{
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(sort); i++) {
        const json_t *by = cat_as(json_array_get(sort, i), "SortBy");
        const json_t *node = cat_get(by, "node");
        size_t at = list ? position_of(p, node, list) : 0;
        bool desc = !strcmp(cat_string(by, "sortby_dir"), "SORTBY_DESC");
        const char *nulls = cat_string(by, "sortby_nulls");
        bool first = !strcmp(nulls, "SORTBY_NULLS_FIRST") ||
                     (desc && strcmp(nulls, "SORTBY_NULLS_LAST"));
        if (!strcmp(cat_string(by, "sortby_dir"), "SORTBY_USING"))
            cat_refuse(p, by, "ORDER BY .. USING");
        if (!at && list)
            at = output_named(node, list);
        if (!at && !s)
            cat_refuse(p, by, "this ORDER BY of a set operation");
        cat_add(p, &b, i ? ", " : " ORDER BY ");
        cat_add(p, &b,
                at ? cat_format(p, "%zu", at)
                   : cat_known(p, cat_expression(p, s, node)).sql);
        cat_add(p, &b, desc ? " DESC" : " ASC");
        cat_add(p, &b, first ? " NULLS FIRST" : " NULLS LAST");
    }
    return b.s ? b.s : "";
}

static const char *print_group(struct cat_printer *p, struct cat_scope *s,
                               const json_t *group,
                               const struct cat_select *list)
{
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(group); i++) {
        const json_t *node = json_array_get(group, i);
        const json_t *fields = cat_get(cat_as(node, "ColumnRef"), "fields");
        size_t at = position_of(p, node, list);
        bool twice;
        if (cat_as(node, "GroupingSet"))
            cat_refuse(p, NULL, "GROUPING SETS");
        if (json_array_size(fields) == 1 &&
            !cat_find(s, cat_name_of(json_array_get(fields, 0)), &twice))
            at = output_named(node, list);
        cat_add(p, &b, i ? ", " : " GROUP BY ");
        cat_add(p, &b,
                at ? cat_format(p, "%zu", at)
                   : cat_known(p, cat_expression(p, s, node)).sql);
    }
    return b.s ? b.s : "";
}

static const char *print_limit(struct cat_printer *p, struct cat_scope *s,
                               const json_t *q)
{
    const char *limit = "-1", *offset = "";
    if (!strcmp(cat_string(q, "limitOption"), "LIMIT_OPTION_WITH_TIES"))
        cat_refuse(p, NULL, "WITH TIES");
    if (!cat_get(q, "limitCount") && !cat_get(q, "limitOffset"))
        return "";
    if (cat_get(q, "limitCount"))
        limit = cat_format(
            p, "coalesce(%s,-1)",
            cat_coerce(p, cat_expression(p, s, cat_get(q, "limitCount")),
                       T_INT8, -1)
                .sql);
    if (cat_get(q, "limitOffset"))
        offset = cat_format(
            p, " OFFSET coalesce(%s,0)",
            cat_coerce(p, cat_expression(p, s, cat_get(q, "limitOffset")),
                       T_INT8, -1)
                .sql);
    return cat_format(p, " LIMIT %s%s", limit, offset);
}

/* --- the kinds of SELECT -------------------------------------------------- */

static struct cat_select print_values(struct cat_printer *p,
                                      struct cat_scope *s, const json_t *q)
{
    const json_t *lists = cat_get(q, "valuesLists");
    struct cat_buffer b = {0}, names = {0};
    struct cat_select out = {0};
    for (size_t i = 0; i < json_array_size(lists); i++) {
        const json_t *items =
            cat_get(cat_as(json_array_get(lists, i), "List"), "items");
        if (i == 0) {
            out.n = json_array_size(items);
            out.columns = cat_take(p, (out.n + 1) * sizeof *out.columns);
        }
        if (json_array_size(items) != out.n)
            cat_fail(p, "42601", -1,
                     "VALUES lists must all be the same length");
        cat_add(p, &b, i ? "), (" : "(");
        for (size_t k = 0; k < out.n; k++) {
            struct cat_expr e =
                cat_known(p, cat_expression(p, s, json_array_get(items, k)));
            if (i == 0)
                out.columns[k] = (struct cat_column){
                    .name = cat_format(p, "column%zu", k + 1),
                    .type = e.type,
                    .typmod = -1};
            cat_add(p, &b, k ? ", " : "");
            cat_add(p, &b, e.sql);
        }
    }
    for (size_t k = 0; k < out.n; k++)
        cat_add(
            p, &names,
            cat_format(p, "%scolumn%zu AS c%zu", k ? ", " : "", k + 1, k + 1));
    out.sql = cat_format(p, "SELECT %s FROM (VALUES %s))%s%s", names.s, b.s,
                         cat_order(p, NULL, cat_get(q, "sortClause"), &out),
                         print_limit(p, s, q));
    return out;
}

static struct cat_select print_setop(struct cat_printer *p, struct cat_scope *s,
                                     const json_t *q)
{
    const char *op = cat_string(q, "op");
    bool all = cat_flag(q, "all");
    struct cat_select l = cat_select_print(p, s, cat_get(q, "larg"));
    struct cat_select r = cat_select_print(p, s, cat_get(q, "rarg"));
    const char *word = !strcmp(op, "SETOP_UNION")       ? "UNION"
                       : !strcmp(op, "SETOP_INTERSECT") ? "INTERSECT"
                                                        : "EXCEPT";
    if (l.n != r.n)
        cat_fail(p, "42601", -1,
                 "each %s query must have the same number of"
                 " columns",
                 word);
    if (all && strcmp(word, "UNION"))
        cat_refuse(p, NULL, "INTERSECT ALL or EXCEPT ALL");
    for (size_t i = 0; i < l.n; i++)
        if (l.columns[i].type == T_TEXT &&
            cat_category(r.columns[i].type) != 'S')
            l.columns[i].type = r.columns[i].type; /* NULL UNION .. */
    l.sql = cat_format(p, "SELECT * FROM (%s) %s%s SELECT * FROM (%s)%s%s",
                       l.sql, word, all ? " ALL" : "", r.sql,
                       cat_order(p, NULL, cat_get(q, "sortClause"), &l),
                       print_limit(p, s, q));
    return l;
}

static const char *add_sets(struct cat_printer *p, struct cat_scope *s,
                            const char *from)
{
    struct cat_buffer b = {0};
    if (!s->n_sets)
        return from;
    for (size_t i = 0; i < s->n_sets; i++) {
        cat_add(p, &b, i ? "," : "");
        cat_add(p, &b, s->set_args[i]);
    }
    return cat_format(p, "%s%s json_each(f_zip(%s)) AS %s", from,
                      *from ? "," : " FROM", b.s, s->set_alias);
}

static struct cat_select print_core(struct cat_printer *p, struct cat_scope *s,
                                    const json_t *q)
{
    const char *from = cat_from(p, s, cat_get(q, "fromClause"));
    const char *where =
        cat_get(q, "whereClause")
            ? cat_format(p, " WHERE %s",
                         cat_condition(p, s, cat_get(q, "whereClause")))
            : "";
    const json_t *distinct = cat_get(q, "distinctClause");
    struct list l = {0};
    struct cat_select out;
    const char *group, *having, *order;
    print_list(p, s, cat_get(q, "targetList"), &l);
    if (!l.n)
        cat_add(p, &l.sql, "NULL"); /* EXISTS (SELECT FROM ..) */
    out = (struct cat_select){.columns = l.columns, .n = l.n};
    group = print_group(p, s, cat_get(q, "groupClause"), &out);
    if (*group && s->n_sets)
        cat_refuse(p, NULL, "a set under GROUP BY");
    having = cat_get(q, "havingClause")
                 ? cat_format(p, " HAVING %s",
                              cat_condition(p, s, cat_get(q, "havingClause")))
                 : "";
    order = cat_order(p, s, cat_get(q, "sortClause"), &out);
    if (distinct && json_object_size(json_array_get(distinct, 0)))
        cat_refuse(p, NULL, "DISTINCT ON");
    out.sql =
        cat_format(p, "SELECT %s%s%s%s%s%s%s%s", distinct ? "DISTINCT " : "",
                   l.sql.s, add_sets(p, s, from), where, group, having, order,
                   print_limit(p, s, q));
    return out;
}

/* --- WITH ----------------------------------------------------------------- */

static void name_cte(struct cat_printer *p, struct cat_cte *c,
                     const json_t *names, const struct cat_select *q)
{
    c->columns = cat_take(p, q->n * sizeof *c->columns);
    c->n = q->n;
    if (q->n) /* SELECT may have no columns at all */
        memcpy(c->columns, q->columns, q->n * sizeof *c->columns);
    if (json_array_size(names) > q->n)
        cat_fail(p, "42P10", -1, "WITH query \"%s\" has too many names",
                 c->name);
    for (size_t i = 0; i < json_array_size(names); i++)
        c->columns[i].name = cat_name_of(json_array_get(names, i));
}

static const char *print_cte(struct cat_printer *p, struct cat_scope *s,
                             const json_t *cte, bool recursive)
{
    const json_t *q = cat_as(cat_get(cte, "ctequery"), "SelectStmt");
    const json_t *names = cat_get(cte, "aliascolnames");
    struct cat_cte *c = cat_take(p, sizeof *c);
    struct cat_select sel;
    if (!q)
        cat_refuse(p, cte, "a WITH that writes");
    c->name = cat_string(cte, "ctename");
    c->sql_name = cat_format(p, "w%u", ++p->next);
    if (recursive && cat_get(q, "larg")) {
        /* its first part says what the columns are; then it sees itself.
         * SQLite wants the parts of a recursion bare. */
        struct cat_select l = cat_select_print(p, s, cat_get(q, "larg")), r;
        name_cte(p, c, names, &l);
        c->next = s->ctes;
        s->ctes = c;
        r = cat_select_print(p, s, cat_get(q, "rarg"));
        if (strcmp(cat_string(q, "op"), "SETOP_UNION") || r.n != l.n ||
            cat_get(q, "sortClause") || cat_get(q, "limitCount"))
            cat_refuse(p, cte, "this recursion");
        sel = l;
        sel.sql = cat_format(p, "%s UNION%s %s", l.sql,
                             cat_flag(q, "all") ? " ALL" : "", r.sql);
    } else {
        sel = cat_select_print(p, s, q);
        name_cte(p, c, names, &sel);
        c->next = s->ctes;
        s->ctes = c;
    }
    struct cat_buffer b = {0};
    for (size_t i = 0; i < sel.n; i++)
        cat_add(p, &b, cat_format(p, "%sc%zu", i ? "," : "", i + 1));
    return cat_format(p, "%s(%s) AS (%s)", c->sql_name, b.s, sel.sql);
}

static const char *print_with(struct cat_printer *p, struct cat_scope *s,
                              const json_t *with)
{
    const json_t *ctes = cat_get(with, "ctes");
    bool recursive = cat_flag(with, "recursive");
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(ctes); i++) {
        cat_add(p, &b, i ? ", " : recursive ? "WITH RECURSIVE " : "WITH ");
        cat_add(p, &b,
                print_cte(p, s,
                          cat_as(json_array_get(ctes, i), "CommonTableExpr"),
                          recursive));
    }
    cat_add(p, &b, " ");
    return b.s;
}

struct cat_select cat_select_print(struct cat_printer *p,
                                   const struct cat_scope *outer,
                                   const json_t *q)
{
    struct cat_scope *s = cat_take(p, sizeof *s);
    const char *with = "";
    struct cat_select out;
    s->outer = outer;
    cat_enter(p);
    if (!q)
        cat_refuse(p, NULL, "this statement");
    if (cat_get(q, "intoClause") || cat_get(q, "lockingClause") ||
        cat_get(q, "windowClause"))
        cat_refuse(p, NULL, "INTO, FOR UPDATE or WINDOW");
    if (cat_get(q, "withClause"))
        with = print_with(p, s, cat_get(q, "withClause"));
    if (cat_get(q, "valuesLists"))
        out = print_values(p, s, q);
    else if (cat_get(q, "larg"))
        out = print_setop(p, s, q);
    else
        out = print_core(p, s, q);
    if (*with)
        out.sql = cat_format(p, "%s%s", with, out.sql);
    p->depth--;
    return out;
}
