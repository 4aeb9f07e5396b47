/*
 * FROM, and the names it gives. Every item gets an alias of our own and every
 * column of a subquery is c1, c2, ..: what a name means is decided here, by
 * PostgreSQL's rules, and SQLite (whose rules differ, and which does not know
 * upper from lower case) sees only names without doubt.
 */
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

static const char *alias_name(const json_t *alias)
{
    const char *s = cat_string(alias, "aliasname");
    return *s ? s : NULL;
}

static void rename_columns(struct cat_printer *p, struct cat_item *item,
                           const json_t *alias)
{
    const json_t *names = cat_get(alias, "colnames");
    if (json_array_size(names) > item->n)
        cat_fail(p, "42P10", -1,
                 "table \"%s\" has %zu columns available but"
                 " %zu columns specified",
                 item->name ? item->name : "", item->n, json_array_size(names));
    for (size_t i = 0; i < json_array_size(names); i++)
        item->columns[i].name = cat_name_of(json_array_get(names, i));
}

static struct cat_item *add_item(struct cat_printer *p, struct cat_scope *s,
                                 const char *name, long at)
{
    if (s->n == sizeof s->items / sizeof *s->items)
        cat_fail(p, "54001", at, "too many tables in FROM");
    for (size_t i = 0; name && i < s->n; i++)
        if (s->items[i].name && !strcmp(s->items[i].name, name) &&
            !s->items[i].schema)
            cat_fail(p, "42712", at,
                     "table name \"%s\" specified more than once", name);
    s->items[s->n] = (struct cat_item){.name = name};
    return &s->items[s->n++];
}

/* "name:type[:typmod] ..." */
static void system_columns(struct cat_printer *p, struct cat_item *item,
                           const char *text, const char *alias)
{
    size_t n = 1;
    for (const char *c = text; *c; c++)
        n += *c == ' ';
    item->columns = cat_take(p, n * sizeof *item->columns);
    for (; *text; item->n++) {
        size_t len = strcspn(text, ":");
        char *end, *name = cat_take(p, len + 1);
        struct cat_column *c = &item->columns[item->n];
        memcpy(name, text, len);
        c->name = name;
        c->sql = cat_format(p, "%s.\"%s\"", alias, name);
        c->type = (uint32_t)strtoul(text + len + 1, &end, 10);
        c->typmod = *end == ':' ? (int)strtol(end + 1, &end, 10) : -1;
        text = *end ? end + 1 : end;
    }
}

static void copy_columns(struct cat_printer *p, struct cat_item *item,
                         const struct cat_column *from, size_t n,
                         const char *alias)
{
    item->columns = cat_take(p, n * sizeof *item->columns);
    item->n = n;
    for (size_t i = 0; i < n; i++) {
        item->columns[i] = from[i];
        item->columns[i].sql = cat_format(p, "%s.c%zu", alias, i + 1);
        item->columns[i].merged = item->columns[i].common = false;
    }
}

static const struct cat_cte *find_cte(const struct cat_scope *s,
                                      const char *name)
{
    for (; s; s = s->outer)
        for (const struct cat_cte *c = s->ctes; c; c = c->next)
            if (!strcmp(c->name, name))
                return c;
    return NULL;
}

static const char *range_var(struct cat_printer *p, struct cat_scope *s,
                             const json_t *r)
{
    const char *schema = cat_string(r, "schemaname"),
               *name = cat_string(r, "relname");
    const json_t *alias = cat_get(r, "alias");
    const char *given = alias_name(alias);
    const char *own = cat_format(p, "t%u", ++p->next);
    const struct cat_cte *cte = *schema ? NULL : find_cte(s, name);
    const struct cat_relation *rel =
        cte ? NULL : cat_relation_find(*schema ? schema : NULL, name);
    struct cat_item *item = add_item(p, s, given ? given : name, cat_at(r));
    if (cat_get(r, "catalogname"))
        cat_refuse(p, r, "a name with three parts");
    if (cte)
        copy_columns(p, item, cte->columns, cte->n, own);
    else if (rel)
        system_columns(p, item, rel->columns, own);
    else
        cat_fail(p, "42P01", cat_at(r), "relation \"%s%s%s\" does not exist",
                 schema, *schema ? "." : "", name);
    item->oid = rel ? rel->oid : 0;
    if (rel && !given)
        item->schema = rel->schema;
    rename_columns(p, item, alias);
    return cte ? cat_format(p, "%s AS %s", cte->sql_name, own)
               : cat_format(p, "\"%s.%s\" AS %s", rel->schema, rel->name, own);
}

static const char *range_subselect(struct cat_printer *p, struct cat_scope *s,
                                   const json_t *r)
{
    const json_t *alias = cat_get(r, "alias");
    const char *own = cat_format(p, "t%u", ++p->next);
    struct cat_scope outside = {.outer = s->outer, .ctes = s->ctes};
    struct cat_select q;
    struct cat_item *item;
    if (cat_flag(r, "lateral"))
        cat_refuse(p, r, "LATERAL");
    q = cat_select_print(p, &outside,
                         cat_as(cat_get(r, "subquery"), "SelectStmt"));
    item = add_item(p, s, alias_name(alias), -1);
    copy_columns(p, item, q.columns, q.n, own);
    rename_columns(p, item, alias);
    return cat_format(p, "(%s) AS %s", q.sql, own);
}

/* json_each over the array that the function gives; a function that gives one
 * value is a subquery. */
static const char *set_item(struct cat_printer *p, struct cat_item *item,
                            const struct cat_set *set, const char *own,
                            bool ordinality)
{
    size_t n = set->n + ordinality;
    item->columns = cat_take(p, n * sizeof *item->columns);
    item->n = n;
    for (size_t i = 0; i < set->n; i++) {
        item->columns[i] = set->columns[i];
        item->columns[i].sql =
            set->n == 1
                ? cat_format(p, "%s.value", own)
                : cat_format(p, "json_extract(%s.value,'$[%zu]')", own, i);
    }
    if (ordinality)
        item->columns[set->n] =
            (struct cat_column){.name = "ordinality",
                                .type = T_INT8,
                                .typmod = -1,
                                .sql = cat_format(p, "(%s.key+1)", own)};
    if (item->name && set->n == 1)
        item->columns[0].name = item->name;
    return cat_format(p, "json_each(%s) AS %s", set->sql, own);
}

static const char *range_function(struct cat_printer *p, struct cat_scope *s,
                                  const json_t *r)
{
    const json_t *functions = cat_get(r, "functions"),
                 *alias = cat_get(r, "alias");
    const json_t *items =
        cat_get(cat_as(json_array_get(functions, 0), "List"), "items");
    const json_t *call = cat_as(json_array_get(items, 0), "FuncCall");
    const char *own = cat_format(p, "t%u", ++p->next), *given;
    struct cat_set set = {0};
    struct cat_item *item;
    struct cat_expr e;
    const char *sql;
    if (json_array_size(functions) != 1 || cat_get(r, "coldeflist"))
        cat_refuse(p, r, "ROWS FROM");
    given = alias_name(alias);
    if (!given)
        given = cat_column_name(json_array_get(items, 0));
    if (call && cat_set_call(p, s, call, &set)) {
        item = add_item(p, s, given, -1);
        sql = set_item(p, item, &set, own, cat_flag(r, "ordinality"));
    } else {
        if (cat_flag(r, "ordinality"))
            cat_refuse(p, r, "WITH ORDINALITY of one value");
        e = cat_known(p, cat_expression(p, s, json_array_get(items, 0)));
        item = add_item(p, s, given, -1);
        item->columns = cat_take(p, sizeof *item->columns);
        item->n = 1;
        item->columns[0] =
            (struct cat_column){.name = given,
                                .type = e.type,
                                .typmod = e.typmod,
                                .sql = cat_format(p, "%s.c1", own)};
        sql = cat_format(p, "(SELECT %s AS c1) AS %s", e.sql, own);
    }
    rename_columns(p, item, alias);
    return sql;
}

/* --- joins ---------------------------------------------------------------- */

static struct cat_column *column_among(struct cat_scope *s, size_t from,
                                       size_t to, const char *name)
{
    struct cat_column *found = NULL;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < s->items[i].n; k++)
            if (!s->items[i].columns[k].merged &&
                !strcmp(s->items[i].columns[k].name, name)) {
                if (found)
                    return NULL;
                found = &s->items[i].columns[k];
            }
    return found;
}

static void join_using(struct cat_printer *p, struct cat_scope *s, size_t from,
                       size_t middle, const char *name, bool right,
                       struct cat_buffer *on)
{
    struct cat_column *l = column_among(s, from, middle, name),
                      *r = column_among(s, middle, s->n, name);
    struct cat_expr a, b;
    if (!l || !r)
        cat_fail(p, "42703", -1,
                 "column \"%s\" specified in USING clause does"
                 " not exist in both tables",
                 name);
    a = (struct cat_expr){.sql = l->sql, .type = l->type, .typmod = -1};
    b = (struct cat_expr){.sql = r->sql, .type = r->type, .typmod = -1};
    cat_agree(p, &a, &b, "=", -1);
    cat_add(p, on,
            cat_format(p, "%s%s=%s", on->n ? " AND " : "", a.sql, b.sql));
    (right ? l : r)->merged = true;
    (right ? r : l)->common = true;
}

static const char *join_condition(struct cat_printer *p, struct cat_scope *s,
                                  const json_t *j, size_t from, size_t middle)
{
    const json_t *names = cat_get(j, "usingClause");
    struct cat_buffer on = {0};
    bool right = !strcmp(cat_string(j, "jointype"), "JOIN_RIGHT");
    if (json_array_size(names) &&
        !strcmp(cat_string(j, "jointype"), "JOIN_FULL"))
        cat_refuse(p, j, "FULL JOIN .. USING");
    for (size_t i = 0; i < json_array_size(names); i++)
        join_using(p, s, from, middle, cat_name_of(json_array_get(names, i)),
                   right, &on);
    if (on.n)
        return on.s;
    /* ON sees the join's own tables only */
    if (cat_get(j, "quals")) {
        struct cat_scope *inner = cat_take(p, sizeof *inner);
        *inner = *s;
        inner->n = s->n - from;
        memcpy(inner->items, s->items + from, inner->n * sizeof *s->items);
        return cat_condition(p, inner, cat_get(j, "quals"));
    }
    return NULL;
}

static const char *from_item(struct cat_printer *p, struct cat_scope *s,
                             const json_t *node);

static const char *join(struct cat_printer *p, struct cat_scope *s,
                        const json_t *j)
{
    static const struct {
        const char *kind, *word;
    } words[] = {{"JOIN_INNER", "JOIN"},
                 {"JOIN_LEFT", "LEFT JOIN"},
                 {"JOIN_RIGHT", "RIGHT JOIN"},
                 {"JOIN_FULL", "FULL JOIN"}};
    size_t from = s->n, middle;
    const char *word = NULL, *l, *r, *on;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].kind, cat_string(j, "jointype")))
            word = words[i].word;
    if (!word || cat_flag(j, "isNatural") || cat_get(j, "alias"))
        cat_refuse(p, j, "this join");
    l = from_item(p, s, cat_get(j, "larg"));
    middle = s->n;
    r = from_item(p, s, cat_get(j, "rarg"));
    if (cat_as(cat_get(j, "rarg"), "JoinExpr"))
        r = cat_format(p, "(%s)", r);
    on = join_condition(p, s, j, from, middle);
    return cat_format(p, "%s %s %s%s%s", l, word, r, on ? " ON " : "",
                      on ? on : "");
}

static const char *from_item(struct cat_printer *p, struct cat_scope *s,
                             const json_t *node)
{
    const json_t *f;
    const char *kind = cat_kind(node, &f), *sql = NULL;
    cat_enter(p);
    if (!strcmp(kind, "RangeVar"))
        sql = range_var(p, s, f);
    else if (!strcmp(kind, "RangeSubselect"))
        sql = range_subselect(p, s, f);
    else if (!strcmp(kind, "RangeFunction"))
        sql = range_function(p, s, f);
    else if (!strcmp(kind, "JoinExpr"))
        sql = join(p, s, f);
    else
        cat_refuse(p, f, "this item of FROM");
    p->depth--;
    return sql;
}

/* Items are joined by commas; one with a RIGHT or FULL JOIN in it must not
 * reach to its left, so that every join has parentheses. */
const char *cat_from(struct cat_printer *p, struct cat_scope *s,
                     const json_t *from)
{
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *node = json_array_get(from, i);
        const char *sql = from_item(p, s, node);
        bool alone = json_array_size(from) == 1;
        bool outer = strstr(sql, "RIGHT JOIN") || strstr(sql, "FULL JOIN");
        cat_add(p, &b, i ? ", " : " FROM ");
        cat_add(p, &b, !alone && outer ? cat_format(p, "(%s)", sql) : sql);
    }
    return b.s ? b.s : "";
}

/* --- names ---------------------------------------------------------------- */

const struct cat_column *cat_find(const struct cat_scope *s, const char *name,
                                  bool *twice)
{
    const struct cat_column *found = NULL;
    *twice = false;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->items[i].n; k++) {
            const struct cat_column *c = &s->items[i].columns[k];
            if (c->merged || strcmp(c->name, name))
                continue;
            *twice = *twice || found;
            found = c;
        }
    return found;
}

static const struct cat_item *find_item(const struct cat_scope *s,
                                        const char *schema, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].name && !strcmp(s->items[i].name, name) &&
            (!schema ||
             (s->items[i].schema && !strcmp(s->items[i].schema, schema))))
            return &s->items[i];
    return NULL;
}

static struct cat_expr of_column(const struct cat_column *c)
{
    return (struct cat_expr){
        .sql = c->sql, .type = c->type, .typmod = c->typmod};
}

static struct cat_expr resolve_bare(struct cat_printer *p,
                                    const struct cat_scope *s, const char *name,
                                    long at)
{
    const struct cat_scope *first = s;
    for (; s; s = s->outer) {
        bool twice;
        const struct cat_column *c = cat_find(s, name, &twice);
        const struct cat_item *item = c ? NULL : find_item(s, NULL, name);
        if (twice)
            cat_fail(p, "42702", at, "column reference \"%s\" is ambiguous",
                     name);
        if (c)
            return of_column(c);
        if (item && item->n == 1) /* of a function: its one column */
            return of_column(&item->columns[0]);
        if (item)
            cat_fail(p, "0A000", at,
                     "whole rows in a query of the catalogue"
                     " are not supported");
    }
    if (first->n == 1 && first->items[0].oid && !strcmp(name, "tableoid"))
        return cat_typed(cat_format(p, "%u", first->items[0].oid), T_OID);
    cat_fail(p, "42703", at, "column \"%s\" does not exist", name);
}

struct cat_expr cat_resolve(struct cat_printer *p, const struct cat_scope *s,
                            const json_t *ref)
{
    const json_t *fields = cat_get(ref, "fields");
    size_t n = json_array_size(fields);
    const char *column = cat_name_of(json_array_get(fields, n - 1)), *table;
    const char *schema = n == 3 ? cat_name_of(json_array_get(fields, 0)) : NULL;
    if (n == 0 || n > 3 || cat_as(json_array_get(fields, n - 1), "A_Star"))
        cat_refuse(p, ref, "this reference");
    if (n == 1)
        return resolve_bare(p, s, column, cat_at(ref));
    table = cat_name_of(json_array_get(fields, n - 2));
    for (; s; s = s->outer) {
        const struct cat_item *item = find_item(s, schema, table);
        for (size_t i = 0; item && i < item->n; i++)
            if (!strcmp(item->columns[i].name, column))
                return of_column(&item->columns[i]);
        if (item && item->oid && !strcmp(column, "tableoid"))
            return cat_typed(cat_format(p, "%u", item->oid), T_OID);
        if (item)
            cat_fail(p, "42703", cat_at(ref), "column %s.%s does not exist",
                     table, column);
    }
    cat_fail(p, "42P01", cat_at(ref),
             "missing FROM-clause entry for table \"%s\"", table);
}
