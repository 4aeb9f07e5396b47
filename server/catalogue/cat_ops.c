/*
 * Operators, IN, ANY, BETWEEN, LIKE, subqueries as values. LIKE and ~ are
 * functions of ours: SQLite's LIKE does not know upper from lower case.
 */
#include <string.h>

#include "catalogue/catalogue_int.h"

static const char *type_words(uint32_t type)
{
    const struct cat_type *t = cat_type_of(type);
    return t ? t->sql : "record";
}

/* Two sides of a comparison: a literal takes the other side's type. */
void cat_agree(struct cat_printer *p, struct cat_expr *a, struct cat_expr *b,
               const char *op, long at)
{
    char l, r;
    if (a->literal && !b->literal)
        *a = cat_coerce(p, *a, b->type, at);
    else if (b->literal && !a->literal)
        *b = cat_coerce(p, *b, a->type, at);
    *a = cat_known(p, *a);
    *b = cat_known(p, *b);
    l = cat_category(a->type);
    r = cat_category(b->type);
    if (l != r)
        cat_fail(p, "42883", at, "operator does not exist: %s %s %s",
                 type_words(a->type), op, type_words(b->type));
    if (a->type == T_NUMERIC || b->type == T_NUMERIC)
        cat_fail(p, "0A000", at,
                 "decimal numbers in a query of the catalogue"
                 " are not supported");
}

static struct cat_expr text_of(struct cat_printer *p, struct cat_expr e,
                               long at)
{
    e = cat_coerce(p, e, T_TEXT, at);
    if (cat_category(e.type) != 'S')
        cat_fail(p, "42883", at, "operator does not exist for type %s",
                 type_words(e.type));
    return e;
}

static struct cat_expr match(struct cat_printer *p, struct cat_expr l,
                             struct cat_expr r, const char *call, bool icase,
                             bool not, long at)
{
    l = text_of(p, l, at);
    r = text_of(p, r, at);
    return cat_boolean(cat_format(p, "%s%s(%s,%s,%d)%s", not ? "(NOT " : "",
                                  call, l.sql, r.sql, icase, not ? ")" : ""));
}

static struct cat_expr concat(struct cat_printer *p, struct cat_expr l,
                              struct cat_expr r, long at)
{
    if (cat_element(l.type) || cat_element(r.type)) {
        uint32_t type = cat_element(l.type) ? l.type : r.type;
        const char *call = "f_array_cat";
        if (!cat_element(l.type) && !l.literal)
            call = "f_array_prepend";
        else if (!cat_element(r.type) && !r.literal)
            call = "f_array_append";
        l = cat_coerce(p, l, type, at);
        r = cat_coerce(p, r, type, at);
        return cat_typed(cat_format(p, "%s(%s,%s)", call, l.sql, r.sql), type);
    }
    return cat_typed(cat_format(p, "(%s || %s)", cat_as_text(p, l, at),
                                cat_as_text(p, r, at)),
                     T_TEXT);
}

static struct cat_expr arithmetic(struct cat_printer *p, const char *op,
                                  struct cat_expr l, struct cat_expr r, long at)
{
    uint32_t type;
    bool wide;
    cat_agree(p, &l, &r, op, at);
    if (!cat_is_integer(l.type) || !cat_is_integer(r.type) ||
        cat_is_reg(l.type) || cat_is_reg(r.type))
        cat_fail(p, "0A000", at,
                 "arithmetic on %s in a query of the catalogue"
                 " is not supported",
                 type_words(l.type));
    wide = l.type == T_INT8 || r.type == T_INT8;
    type = wide                                   ? T_INT8
           : l.type == T_INT2 && r.type == T_INT2 ? T_INT2
                                                  : T_INT4;
    return cat_typed(cat_format(p, "f_arith('%s',%s,%s,%d)", op, l.sql, r.sql,
                                wide             ? 8
                                : type == T_INT2 ? 2
                                                 : 4),
                     type);
}

static struct cat_expr unary(struct cat_printer *p, struct cat_scope *s,
                             const char *op, const json_t *f)
{
    struct cat_expr e = cat_expression(p, s, cat_get(f, "rexpr"));
    if (strcmp(op, "-") && strcmp(op, "+"))
        cat_refuse(p, f, "this operator");
    e = cat_coerce(p, e, T_INT4, cat_at(f));
    if (!cat_is_integer(e.type))
        cat_refuse(p, f, "a sign before what is no integer");
    return cat_typed(cat_format(p, "(%s%s)", op, e.sql), e.type);
}

static bool is_one_of(const char *op, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(op, *list))
            return true;
    return false;
}

static struct cat_expr binary(struct cat_printer *p, const char *op,
                              struct cat_expr l, struct cat_expr r, long at)
{
    static const char *const compare[] = {"=", "<>", "!=", "<",
                                          ">", "<=", ">=", NULL};
    static const char *const calculate[] = {"+", "-", "*", "/",
                                            "%", "&", "|", NULL};
    if (is_one_of(op, compare)) {
        cat_agree(p, &l, &r, op, at);
        return cat_boolean(cat_format(p, "(%s %s %s)", l.sql, op, r.sql));
    }
    if (!strcmp(op, "~") || !strcmp(op, "~*") || !strcmp(op, "!~") ||
        !strcmp(op, "!~*"))
        return match(p, l, r, "f_regex", strchr(op, '*') != NULL, *op == '!',
                     at);
    if (!strcmp(op, "~~") || !strcmp(op, "~~*") || !strcmp(op, "!~~") ||
        !strcmp(op, "!~~*"))
        return match(p, l, r, "f_like", strchr(op, '*') != NULL, *op == '!',
                     at);
    if (!strcmp(op, "||"))
        return concat(p, l, r, at);
    if (!strcmp(op, "@>") && cat_element(l.type) && cat_element(r.type))
        return cat_boolean(cat_format(p, "f_contains(%s,%s)", l.sql, r.sql));
    if (is_one_of(op, calculate))
        return arithmetic(p, op, l, r, at);
    cat_fail(p, "0A000", at,
             "the operator %s in a query of the catalogue is"
             " not supported",
             op);
}

/* ROW(..) IN and the like keep SQLite's row values. */
static struct cat_expr in_list(struct cat_printer *p, struct cat_scope *s,
                               const json_t *f, bool not )
{
    const json_t *items = cat_get(cat_as(cat_get(f, "rexpr"), "List"), "items");
    struct cat_buffer b = {0};
    for (size_t i = 0; i < json_array_size(items); i++) {
        struct cat_expr l = cat_expression(p, s, cat_get(f, "lexpr"));
        struct cat_expr r = cat_expression(p, s, json_array_get(items, i));
        cat_agree(p, &l, &r, "=", cat_at(f));
        if (l.type == T_RECORD)
            cat_refuse(p, f, "a row IN a list");
        cat_add(p, &b,
                i ? ","
                  : cat_format(p, "(%s %sIN (", l.sql, not ? "NOT " : ""));
        cat_add(p, &b, r.sql);
    }
    cat_add(p, &b, "))");
    return cat_boolean(b.s);
}

/* x = ANY(array), x <> ALL(array) */
static struct cat_expr any_of(struct cat_printer *p, struct cat_scope *s,
                              const json_t *f, const char *op, bool all)
{
    struct cat_expr l = cat_expression(p, s, cat_get(f, "lexpr"));
    struct cat_expr r = cat_expression(p, s, cat_get(f, "rexpr"));
    const char *call = !all && !strcmp(op, "=") ? "f_any"
                       : all && (!strcmp(op, "<>") || !strcmp(op, "!="))
                           ? "f_none"
                           : NULL;
    if (!call)
        cat_refuse(p, f, "ANY or ALL with this operator");
    if (r.literal) {
        const struct cat_type *t = cat_type_of(cat_known(p, l).type);
        r = cat_coerce(p, r, t && t->array ? t->array : T_TEXTARRAY, cat_at(f));
    }
    if (!cat_element(r.type))
        cat_fail(p, "42809", cat_at(f),
                 "op ANY/ALL (array) requires array on"
                 " right side");
    l = cat_coerce(p, l, cat_element(r.type), cat_at(f));
    if (cat_category(l.type) != cat_category(cat_element(r.type)))
        cat_fail(p, "42883", cat_at(f), "operator does not exist: %s %s %s",
                 type_words(l.type), op, type_words(cat_element(r.type)));
    return cat_boolean(cat_format(p, "%s(%s,%s)", call, l.sql, r.sql));
}

static struct cat_expr between(struct cat_printer *p, struct cat_scope *s,
                               const json_t *f, bool not )
{
    const json_t *items = cat_get(cat_as(cat_get(f, "rexpr"), "List"), "items");
    struct cat_expr l = cat_expression(p, s, cat_get(f, "lexpr"));
    struct cat_expr a =
        binary(p, not ? "<" : ">=", l,
               cat_expression(p, s, json_array_get(items, 0)), cat_at(f));
    struct cat_expr b =
        binary(p, not ? ">" : "<=", l,
               cat_expression(p, s, json_array_get(items, 1)), cat_at(f));
    return cat_boolean(
        cat_format(p, "(%s %s %s)", a.sql, not ? "OR" : "AND", b.sql));
}

static struct cat_expr distinct(struct cat_printer *p, struct cat_expr l,
                                struct cat_expr r, bool not, long at)
{
    cat_agree(p, &l, &r, "=", at);
    return cat_boolean(
        cat_format(p, "(%s IS %s%s)", l.sql, not ? "" : "NOT ", r.sql));
}

struct cat_expr cat_operator(struct cat_printer *p, struct cat_scope *s,
                             const json_t *f)
{
    const char *kind = cat_string(f, "kind");
    const json_t *names = cat_get(f, "name");
    const char *op =
        cat_name_of(json_array_get(names, json_array_size(names) - 1));
    struct cat_expr l, r;
    if (!strcmp(kind, "AEXPR_IN"))
        return in_list(p, s, f, !strcmp(op, "<>"));
    if (!strcmp(kind, "AEXPR_OP_ANY") || !strcmp(kind, "AEXPR_OP_ALL"))
        return any_of(p, s, f, op, !strcmp(kind, "AEXPR_OP_ALL"));
    if (!strcmp(kind, "AEXPR_BETWEEN") || !strcmp(kind, "AEXPR_NOT_BETWEEN"))
        return between(p, s, f, !strcmp(kind, "AEXPR_NOT_BETWEEN"));
    if (!strcmp(kind, "AEXPR_OP") && !cat_get(f, "lexpr"))
        return unary(p, s, op, f);
    l = cat_expression(p, s, cat_get(f, "lexpr"));
    r = cat_expression(p, s, cat_get(f, "rexpr"));
    if (!strcmp(kind, "AEXPR_DISTINCT") || !strcmp(kind, "AEXPR_NOT_DISTINCT"))
        return distinct(p, l, r, !strcmp(kind, "AEXPR_NOT_DISTINCT"),
                        cat_at(f));
    if (!strcmp(kind, "AEXPR_NULLIF")) {
        cat_agree(p, &l, &r, "=", cat_at(f));
        l.sql = cat_format(p, "nullif(%s,%s)", l.sql, r.sql);
        return l;
    }
    if (strcmp(kind, "AEXPR_OP") && strcmp(kind, "AEXPR_LIKE") &&
        strcmp(kind, "AEXPR_ILIKE"))
        cat_refuse(p, f, "this operator");
    return binary(p, op, l, r, cat_at(f));
}

/* --- subqueries ----------------------------------------------------------- */

static struct cat_expr in_select(struct cat_printer *p, struct cat_scope *s,
                                 const json_t *f, struct cat_select *q,
                                 bool not )
{
    struct cat_expr l = cat_expression(p, s, cat_get(f, "testexpr"));
    if (!q->n)
        cat_fail(p, "42601", cat_at(f), "subquery has too few columns");
    struct cat_expr r = cat_typed("", q->columns[0].type);
    if (l.type != T_RECORD) {
        if (q->n != 1)
            cat_fail(p, "42601", cat_at(f), "subquery has too many columns");
        cat_agree(p, &l, &r, "=", cat_at(f));
    }
    return cat_boolean(
        cat_format(p, "(%s %sIN (%s))", l.sql, not ? "NOT " : "", q->sql));
}

static struct cat_expr array_select(struct cat_printer *p, struct cat_select *q,
                                    const json_t *f)
{
    if (q->n != 1)
        cat_fail(p, "42601", cat_at(f), "subquery must return only one column");
    const struct cat_type *t = cat_type_of(q->columns[0].type);
    if (!t || !t->array)
        cat_refuse(p, f, "an array of arrays");
    return cat_typed(
        cat_format(p, "(SELECT json_group_array(c1) FROM (%s))", q->sql),
        t->array);
}

struct cat_expr cat_sublink(struct cat_printer *p, struct cat_scope *s,
                            const json_t *f)
{
    const char *kind = cat_string(f, "subLinkType");
    const json_t *names = cat_get(f, "operName");
    const char *op =
        cat_name_of(json_array_get(names, json_array_size(names) - 1));
    struct cat_select q =
        cat_select_print(p, s, cat_as(cat_get(f, "subselect"), "SelectStmt"));
    if (!strcmp(kind, "EXISTS_SUBLINK"))
        return cat_boolean(cat_format(p, "EXISTS (%s)", q.sql));
    if (!strcmp(kind, "ARRAY_SUBLINK"))
        return array_select(p, &q, f);
    if (!strcmp(kind, "EXPR_SUBLINK") && q.n == 1)
        return cat_typed(cat_format(p, "(%s)", q.sql), q.columns[0].type);
    if (!strcmp(kind, "ANY_SUBLINK") && (!*op || !strcmp(op, "=")))
        return in_select(p, s, f, &q, false);
    if (!strcmp(kind, "ALL_SUBLINK") &&
        (!strcmp(op, "<>") || !strcmp(op, "!=")))
        return in_select(p, s, f, &q, true);
    cat_refuse(p, f, "this subquery");
}
