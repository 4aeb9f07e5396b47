/*
 * Types: a literal becomes what stands beside it, CAST what it says. Names of
 * relations, types and the like (regclass, regtype, ..) are their OIDs and are
 * written as names only at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalogue/catalogue_int.h"

static const char *type_words(uint32_t type)
{
    const struct cat_type *t = cat_type_of(type);
    return t ? t->sql : "record";
}

uint32_t cat_type_name(struct cat_printer *p, const json_t *f)
{
    const json_t *names = cat_get(f, "names");
    size_t n = json_array_size(names);
    const char *name = cat_name_of(json_array_get(names, n - 1));
    const struct cat_type *t = cat_type_named(name);
    const char *schema = n > 1 ? cat_name_of(json_array_get(names, 0)) : "";
    if (n > 1 && !strcmp(schema, "information_schema") &&
        (!strcmp(name, "sql_identifier") || !strcmp(name, "cardinal_number")))
        t = cat_type_of(*name == 's' ? T_NAME : T_INT4);
    if (!t)
        cat_fail(p, "42704", cat_at(f), "type \"%s\" does not exist", name);
    if (cat_get(f, "arrayBounds")) {
        if (!t->array)
            cat_fail(p, "42704", cat_at(f), "type \"%s[]\" does not exist",
                     name);
        return t->array;
    }
    return t->oid;
}

static void note_parameter(struct cat_printer *p, const struct cat_expr *e,
                           uint32_t type)
{
    if (e->parameter && !p->parameter_types[e->parameter - 1])
        p->parameter_types[e->parameter - 1] = type;
}

static const char *integer_literal(struct cat_printer *p, const char *text,
                                   uint32_t type, long at)
{
    char *end;
    long long v;
    errno = 0;
    v = strtoll(text, &end, 10);
    while (*end == ' ')
        end++;
    if (end == text || *end || errno)
        cat_fail(p, errno ? "22003" : "22P02", at,
                 "invalid input syntax for type %s: \"%s\"", type_words(type),
                 text);
    if ((type == T_INT4 && (v < INT32_MIN || v > INT32_MAX)) ||
        (type == T_INT2 && (v < INT16_MIN || v > INT16_MAX)) ||
        (type == T_OID && (v < INT32_MIN || v > (long long)UINT32_MAX)))
        cat_fail(p, "22003", at, "value \"%s\" is out of range for type %s",
                 text, type_words(type));
    return cat_format(p, "%lld", v);
}

static const char *boolean_literal(struct cat_printer *p, const char *text,
                                   long at)
{
    static const char *const yes[] = {"t", "true", "y", "yes", "on", "1"},
                             *const no[] = {"f",  "false", "n",
                                            "no", "off",   "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (!strcasecmp(text, yes[i]))
            return "1";
        if (!strcasecmp(text, no[i]))
            return "0";
    }
    cat_fail(p, "22P02", at, "invalid input syntax for type boolean: \"%s\"",
             text);
}

static const char *array_literal(struct cat_printer *p, const char *text,
                                 uint32_t type, long at)
{
    uint32_t element = cat_element(type);
    bool vector = type == T_INT2VECTOR || type == T_OIDVECTOR;
    char *json;
    const char *sql;
    if (vector && !*text)
        return "'[]'";
    json = vector ? NULL : cat_array_read(text, cat_is_integer(element));
    if (!json)
        cat_fail(p, "22P02", at, "malformed array literal: \"%s\"", text);
    sql = cat_quote(p, json);
    free(json);
    return sql;
}

/* A literal as a value of the type. */
static struct cat_expr of_literal(struct cat_printer *p, struct cat_expr e,
                                  uint32_t type, long at)
{
    const char *sql = NULL;
    note_parameter(p, &e, type);
    if (!e.text)
        sql = "NULL";
    else if (cat_is_reg(type))
        sql = cat_format(p, "f_regin(%u,%s)", type, cat_quote(p, e.text));
    else if (cat_is_integer(type))
        sql = integer_literal(p, e.text, type, at);
    else if (type == T_BOOL)
        sql = boolean_literal(p, e.text, at);
    else if (cat_element(type))
        sql = array_literal(p, e.text, type, at);
    else if (cat_category(type) == 'S' || type == T_NUMERIC || type == T_JSON ||
             type == T_JSONB || type == T_UUID)
        sql = cat_quote(p, e.text);
    else
        cat_fail(p, "0A000", at,
                 "a constant of type %s in a query of the"
                 " catalogue is not supported",
                 type_words(type));
    return cat_typed(sql, type);
}

struct cat_expr cat_known(struct cat_printer *p, struct cat_expr e)
{
    return e.type == T_UNKNOWN && e.literal ? of_literal(p, e, T_TEXT, -1) : e;
}

/* A literal to the type; whatever has a type keeps it. */
struct cat_expr cat_coerce(struct cat_printer *p, struct cat_expr e,
                           uint32_t type, long at)
{
    if (!e.literal || type == T_UNKNOWN)
        return e;
    return of_literal(p, e, type, at);
}

const char *cat_as_text(struct cat_printer *p, struct cat_expr e, long at)
{
    e = cat_known(p, e);
    if (cat_category(e.type) == 'S' || e.type == T_NUMERIC)
        return e.sql;
    if (e.type == T_BOOL)
        return cat_format(
            p, "CASE %s WHEN 1 THEN 'true' WHEN 0 THEN 'false' END", e.sql);
    if (cat_is_reg(e.type))
        return cat_format(p, "f_regout(%u,%s)", e.type, e.sql);
    if (cat_is_integer(e.type))
        return cat_format(p, "CAST(%s AS TEXT)", e.sql);
    if (cat_element(e.type))
        return cat_format(p, "f_arrayout(%u,%s)", e.type, e.sql);
    cat_fail(p, "0A000", at,
             "%s as text in a query of the catalogue is not"
             " supported",
             type_words(e.type));
}

static const char *to_integer(struct cat_printer *p, struct cat_expr e,
                              uint32_t type)
{
    char from = cat_category(e.type);
    if (cat_is_integer(e.type) || e.type == T_BOOL)
        return cat_is_reg(type) || type == T_OID || type == T_INT8
                   ? e.sql
                   : cat_format(p, "f_range(%s,%u)", e.sql, type);
    if (from == 'S' && !cat_is_reg(type))
        return cat_format(p, "f_integer(%s,%u)", e.sql, type);
    return NULL;
}

struct cat_expr cat_cast(struct cat_printer *p, struct cat_expr e,
                         uint32_t type, long at)
{
    const char *sql = NULL;
    char from;
    if (e.literal)
        return of_literal(p, e, type, at);
    from = cat_category(e.type);
    if (e.type == type || (from == 'A' && cat_category(type) == 'A'))
        sql = e.sql;
    else if (cat_category(type) == 'S')
        sql = cat_as_text(p, e, at);
    else if (cat_is_reg(type) && from == 'S')
        sql = cat_format(p, "f_regin(%u,%s)", type, e.sql);
    else if (cat_is_integer(type))
        sql = to_integer(p, e, type);
    else if (type == T_BOOL && cat_is_integer(e.type))
        sql = cat_format(p, "(%s <> 0)", e.sql);
    else if (type == T_BOOL && from == 'S')
        sql = cat_format(p, "f_boolean(%s)", e.sql);
    else if ((type == T_NUMERIC || type == T_FLOAT8) && cat_is_integer(e.type))
        sql = e.sql;
    else if (cat_element(type) && from == 'S')
        sql = cat_format(p, "f_arrayin(%s,%d)", e.sql,
                         cat_is_integer(cat_element(type)));
    if (!sql)
        cat_fail(p, "0A000", at,
                 "a cast from %s to %s in a query of the"
                 " catalogue is not supported",
                 type_words(e.type), type_words(type));
    return cat_typed(sql, type);
}
