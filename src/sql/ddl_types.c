/*
 * Lists of values in a schema file: CREATE TYPE ... AS ENUM, CREATE DOMAIN,
 * CHECK (x IN (...)). They are for the keys of GROUP BY; no bound rests on
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "sql/ddl_int.h"

/* A constant, perhaps cast, as a value of the column's type. */
static bool constant_value(struct arena *a, const json_t *node, enum type t,
                           struct value *out)
{
    char number[32];
    const char *text = NULL;
    while (node_as(node, "TypeCast"))
        node = get(node_as(node, "TypeCast"), "arg");
    const json_t *c = node_as(node, "A_Const"), *f;
    if (node_as(node, "String"))
        text = string_of(node);
    else if ((f = get(c, "sval")))
        text = get_text(f, "sval");
    else if ((f = get(c, "fval")))
        text = get_text(f, "fval");
    else if ((f = get(c, "ival"))) {
        snprintf(number, sizeof number, "%lld",
                 (long long)json_integer_value(get(f, "ival")));
        text = number;
    }
    if (!text)
        return false;
    struct str copy = str_copy(a, str_of(text));
    if (!copy.p || t == T_UNKNOWN)
        return false;
    if (t != T_TEXT)
        return value_parse(a, copy, t, out);
    *out = value_text(copy);
    return true;
}

enum status ddl_values(struct arena *a, const json_t *list, enum type t,
                       struct value **out, size_t *n, struct err *err)
{
    size_t all = json_array_size(list);
    struct value *vals = NEWS(a, struct value, all + 1);
    *n = 0;
    if (!vals)
        return err_nomem(err);
    for (size_t i = 0; i < all; i++)
        if (!constant_value(a, json_array_get(list, i), t, &vals[i]))
            return OK;
    *out = vals;
    *n = all;
    return OK;
}

/* The i-th number in the brackets, 0 if there is none. */
static json_int_t modifier(const json_t *type_name, size_t i)
{
    const json_t *c =
        node_as(json_array_get(get(type_name, "typmods"), i), "A_Const");
    return json_integer_value(get(get(c, "ival"), "ival"));
}

void ddl_take_size(const json_t *type_name, struct column *out)
{
    const char *name = last_name(get(type_name, "names"));
    json_int_t first = modifier(type_name, 0), s = modifier(type_name, 1);
    bool sized = json_array_size(get(type_name, "typmods")) > 0;
    /* numeric(p) has none behind the point */
    out->has_scale =
        out->type == T_DEC && sized && s >= 0 && s <= CQ_WEIGHT_SCALE;
    out->scale = out->has_scale ? (uint8_t)s : 0;
    if (out->type == T_TEXT && first > 0 && first < UINT32_MAX)
        out->chars = (uint32_t)first;
    if (out->type == T_DEC && sized)
        out->digits = schema_digits(first, s);
    if (strcmp(name, "int2") == 0 || strcmp(name, "smallint") == 0 ||
        strcmp(name, "smallserial") == 0)
        out->digits = schema_digits(4, 0);
}

static enum status push(struct ddl_types *t, struct user_type u,
                        const json_t *names, struct err *err)
{
    u.name = str_copy(t->arena, str_of(last_name(names)));
    return u.name.p && VEC_PUSH(t->arena, &t->list, u) ? OK : err_nomem(err);
}

enum status ddl_add_enum(struct ddl_types *t, const json_t *stmt,
                         struct err *err)
{
    struct user_type u = {.type = T_TEXT, .is_enum = true};
    TRY(ddl_values(t->arena, get(stmt, "vals"), T_TEXT, &u.domain, &u.n_domain,
                   err));
    return push(t, u, get(stmt, "typeName"), err);
}

enum status ddl_add_domain(struct ddl_types *t, const char *text,
                           const json_t *stmt, struct err *err)
{
    struct user_type u = {.type = T_UNKNOWN};
    const json_t *list = get(stmt, "constraints"), *values;
    struct column size = {.type = T_UNKNOWN};
    sql_type_of_name(last_name(get(get(stmt, "typeName"), "names")), &u.type);
    size.type = u.type;
    ddl_take_size(get(stmt, "typeName"), &size);
    u.chars = size.chars;
    u.digits = size.digits;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = node_as(json_array_get(list, i), "Constraint");
        const char *type = get_text(c, "contype");
        u.not_null |= strcmp(type, "CONSTR_NOTNULL") == 0;
        bool check = strcmp(type, "CONSTR_CHECK") == 0;
        const char *name =
            check ? ddl_listed(get(c, "raw_expr"), &values) : NULL;
        struct str condition = str_copy(t->arena, ddl_condition(text, c));
        if (check && !(name && ddl_is_list(get(c, "raw_expr"))) &&
            (!condition.p || !VEC_PUSH(t->arena, &u.checks, condition)))
            return err_nomem(err);
        if (name && strcmp(name, "value") == 0)
            TRY(ddl_values(t->arena, values, u.type, &u.domain, &u.n_domain,
                           err));
    }
    /* PRIVACY: a NOT NULL of a domain can be broken (an outer join), so it is
     * not believed. */
    u.not_null = false;
    return push(t, u, get(stmt, "domainname"), err);
}

void ddl_apply(const struct ddl_types *t, const char *name, struct column *out)
{
    for (size_t i = 0; i < t->list.n; i++) {
        const struct user_type *u = &t->list.p[i];
        if (!str_is(u->name, name))
            continue;
        out->type = u->type;
        out->is_enum = u->is_enum;
        out->chars = u->chars;
        out->digits = u->digits;
        out->domain = u->domain;
        out->n_domain = u->n_domain;
        out->own_domain = u->n_domain > 0;
    }
}
