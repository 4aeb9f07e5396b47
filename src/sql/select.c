/*
 * SELECT: a statement into one conjunctive query for each COUNT.
 *
 * What is counted becomes `outs` of the query (PRIVACY: the guarantee is
 * about the number of distinct outs, so they must be what SQL counts):
 *   COUNT(*)          the identity of every counted row: its key, or a row id
 *                     where there is no key; for SELECT DISTINCT subqueries
 *                     their columns. Then every used column of those tables:
 *                     it depends on the identity and changes no count, and
 *                     the query is full if nothing is projected away.
 *   COUNT(e)          the same, e not null
 *   COUNT(DISTINCT e) e, not null; tables are sets
 * In front of them the GROUP BY keys.
 */
#include <string.h>

#include "sql/sql_int.h"

/* --- clauses --- */

static long list_location(const json_t *list)
{
    return node_location(json_array_get(list, 0));
}

/* The tree does not say where a locking clause is: the last FOR. */
static long last_for(const char *text)
{
    long at = -1;
    for (const char *p = text; p && (p = strcasestr(p, "for")); p++)
        at = p - text;
    return at;
}

/* Clauses that act on released numbers, so not in a subquery. */
static enum status check_after(struct lower *l, const json_t *s)
{
    const json_t *c;
    if ((c = get(s, "havingClause")) && !get(s, "groupClause"))
        return sql_refuse(l->err, NO_INNER_HAVING, node_location(c));
    if ((c = get(s, "limitCount")) || (c = get(s, "limitOffset")))
        return sql_refuse(l->err, NO_LIMIT, node_location(c));
    if ((c = get(s, "sortClause"))) {
        const json_t *by = node_as(json_array_get(c, 0), "SortBy");
        return sql_refuse(l->err, NO_ORDER_BY, node_location(get(by, "node")));
    }
    return OK;
}

enum status sql_check_clauses(struct lower *l, const json_t *s, bool subquery)
{
    const json_t *c;
    if ((c = get(s, "valuesLists")))
        return sql_refuse(l->err, NO_VALUES, list_location(c));
    if ((c = get(s, "intoClause")))
        return sql_refuse(l->err, NO_INTO, get_location(get(c, "rel")));
    if ((c = get(s, "windowClause")))
        return sql_refuse(l->err, NO_WINDOW, list_location(c));
    if (subquery)
        TRY(check_after(l, s));
    if (get(s, "lockingClause"))
        return sql_refuse(l->err, NO_LOCKING, last_for(l->text));
    return OK;
}

enum status push_ctes(struct lower *l, const json_t *select,
                      struct scope *parent)
{
    const json_t *with = get(select, "withClause"), *list = get(with, "ctes");
    size_t n = json_array_size(list);
    if (get_flag(with, "recursive"))
        return sql_refuse(l->err, NO_RECURSIVE,
                          get_location(with) < 0 ? 0 : get_location(with));
    for (size_t i = 0; i < n; i++) {
        const json_t *c = node_as(json_array_get(list, i), "CommonTableExpr");
        struct cte *cte = NEW(l->arena, struct cte);
        if (!cte)
            return err_nomem(l->err);
        if (!node_as(get(c, "ctequery"), "SelectStmt"))
            return sql_refuse(l->err, NO_DML, get_location(c));
        *cte =
            (struct cte){l->ctes, str_of(get_text(c, "ctename")),
                         get(c, "ctequery"), get(c, "aliascolnames"), parent};
        for (size_t k = 0; k < i; k++)
            if (strcmp(get_text(
                           node_as(json_array_get(list, k), "CommonTableExpr"),
                           "ctename"),
                       get_text(c, "ctename")) == 0) {
                err_set(l->err, E_NAME,
                        "WITH query name \"%s\" specified "
                        "more than once",
                        get_text(c, "ctename"));
                err_at(l->err, get_location(c));
                err_hint(l->err, "Give each WITH query a name of its own.");
                return E_NAME;
            }
        l->ctes = cte;
    }
    return OK;
}

enum status sql_lower_body(struct lower *l, struct scope *sc,
                           const json_t *select)
{
    const json_t *from = get(select, "fromClause");
    size_t n = json_array_size(from);
    l->sole = l->sole && n == 1;
    for (size_t i = 0; i < n; i++)
        TRY(lower_from(l, sc, json_array_get(from, i)));
    l->sole = false;
    if (get(select, "whereClause"))
        TRY(lower_condition(l, sc, get(select, "whereClause"), false));
    return OK;
}

/* --- subqueries --- */

const char *derived_name(const json_t *val)
{
    const json_t *f;
    const char *kind = node_kind(val, &f);
    if (strcmp(kind, "ColumnRef") == 0)
        return last_name(get(f, "fields"));
    if (strcmp(kind, "FuncCall") == 0)
        return last_name(get(f, "funcname"));
    if (strcmp(kind, "TypeCast") == 0) {
        const char *inner = derived_name(get(f, "arg"));
        return strcmp(inner, "?column?") != 0
                   ? inner
                   : last_name(get(get(f, "typeName"), "names"));
    }
    if (strcmp(kind, "CoalesceExpr") == 0)
        return "coalesce";
    if (strcmp(kind, "CaseExpr") == 0)
        return "case";
    return "?column?";
}

static enum status lower_target(struct lower *l, struct scope *sc,
                                const json_t *target, rcols *out)
{
    const json_t *val = get(target, "val");
    const json_t *ref = node_as(val, "ColumnRef");
    if (ref && is_star(ref))
        return expand_star(l, sc, ref, out);
    struct rcol c = {0};
    if (ref) {
        const struct rcol *found;
        TRY(find_column(l, sc, ref, true, &found));
        c = *found;
    } else {
        struct expr *e;
        TRY(lower_scalar(l, sc, val, &e));
        if (is_untyped(e))
            TRY(give_type(l, &e, T_TEXT, node_location(val)));
        c.e = e;
    }
    const char *name = get_text(target, "name");
    if (name[0] || !c.any_case) {
        c.name = str_of(name[0] ? name : derived_name(val));
        c.any_case = false;
    }
    return VEC_PUSH(l->arena, out, c) ? OK : err_nomem(l->err);
}

static enum status too_many_columns(struct lower *l, long position)
{
    err_set(l->err, E_TOO_LARGE, "a subquery has more than %d columns",
            MAX_COLUMNS);
    err_at(l->err, position);
    err_hint(l->err, "Name the columns that are needed instead of *.");
    return E_TOO_LARGE;
}

static enum status lower_targets(struct lower *l, struct scope *sc,
                                 const json_t *select, rcols *out)
{
    const json_t *list = get(select, "targetList");
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        const json_t *target = json_array_get(list, i);
        TRY(lower_work(l, WORK_COLUMN, l->position));
        TRY(lower_target(l, sc, node_as(target, "ResTarget"), out));
        if (out->n > MAX_COLUMNS)
            return too_many_columns(l, node_location(target));
    }
    return OK;
}

/* The columns of SELECT DISTINCT are its rows' identity. */
enum status sql_count_columns(struct lower *l, const rcols *cols)
{
    for (size_t i = 0; i < cols->n; i++) {
        struct expr *e;
        TRY(rcol_expr(l, &cols->p[i], &e));
        if (is_text_only(l, e))
            return sql_refuse(l->err, NO_TEXT_ONLY, -1);
        if (!VEC_PUSH(l->arena, &l->identity, e))
            return err_nomem(l->err);
    }
    return OK;
}

static enum status subquery(struct lower *l, struct scope *parent,
                            const json_t *select, rcols *out)
{
    struct scope sc = {.parent = parent};
    const json_t *distinct = get(select, "distinctClause");
    bool counting = l->counting;
    bool may = l->direct || (l->sole && !l->t.at);
    l->direct = false;
    TRY(push_ctes(l, select, parent));
    TRY(sql_check_clauses(l, select, true));
    if (sql_is_setop(select, NULL) || distinct || get(select, "groupClause"))
        l->sole = false;
    if (sql_is_setop(select, NULL))
        return lower_setop(l, parent, select, out);
    if (get(select, "groupClause"))
        return lower_grouped(l, parent, select, may, out);
    if (distinct && json_object_size(json_array_get(distinct, 0)) > 0)
        return sql_refuse(l->err, NO_DISTINCT_ON, list_location(distinct));
    l->counting = counting && !distinct;
    TRY(sql_lower_body(l, &sc, select));
    TRY(lower_targets(l, &sc, select, out));
    return counting && distinct ? sql_count_columns(l, out) : OK;
}

static enum status counted(struct lower *l, struct scope *parent,
                           const json_t *select, const json_t *call,
                           const struct sql_counted *c, sql_ids *ids)
{
    struct scope sc = {.parent = parent};
    TRY(push_ctes(l, select, parent));
    TRY(sql_check_clauses(l, select, true));
    if (get(select, "groupClause") || get(select, "distinctClause"))
        return sql_refuse(l->err, NO_SCALAR_SUBQUERY, get_location(call));
    TRY(sql_lower_body(l, &sc, select));
    return sql_counted_call(l, &sc, call, c, ids);
}

static enum status unfolds_too_far(struct lower *l)
{
    err_set(l->err, E_TOO_LARGE, "the query unfolds to more than %d subqueries",
            MAX_SUBQUERIES);
    err_hint(l->err, "Each use of a WITH query is a copy of it; use it less "
                     "often.");
    return E_TOO_LARGE;
}

enum status lower_subquery(struct lower *l, struct scope *parent,
                           const json_t *select, rcols *out)
{
    const struct cte *ctes = l->ctes;
    bool counting = l->counting;
    if (++l->n_subqueries > MAX_SUBQUERIES)
        return unfolds_too_far(l);
    TRY(lower_enter(l, -1));
    enum status st = subquery(l, parent, select, out);
    lower_leave(l);
    l->ctes = ctes;
    l->counting = counting;
    return st;
}

enum status sql_lower_counted(struct lower *l, struct scope *parent,
                              const json_t *select, const json_t *call,
                              const struct sql_counted *c, sql_ids *ids)
{
    const struct cte *ctes = l->ctes;
    if (++l->n_subqueries > MAX_SUBQUERIES)
        return unfolds_too_far(l);
    TRY(lower_enter(l, -1));
    enum status st = counted(l, parent, select, call, c, ids);
    lower_leave(l);
    l->ctes = ctes;
    return st;
}
