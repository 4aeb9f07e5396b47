/*
 * Facts about PostgreSQL 15 that are the same everywhere: its system
 * relations, base types and their functions (relations.def, types.def,
 * procs.def, made by tools/catalogue-facts).
 */
#include <string.h>

#include "catalogue/catalogue_int.h"

#define RELATION(oid, schema, name, kind, columns)                             \
    {oid, schema, name, kind, columns},
static const struct cat_relation relations[] = {
#include "catalogue/relations.def"
};

#define TYPE(...) {__VA_ARGS__},
static const struct cat_type types[] = {
#include "catalogue/types.def"
};

#define PROC(oid, name) {oid, name},
static const struct cat_proc procs[] = {
#include "catalogue/procs.def"
};

const struct cat_relation *cat_relations(size_t *n)
{
    *n = sizeof relations / sizeof *relations;
    return relations;
}

const struct cat_type *cat_types(size_t *n)
{
    *n = sizeof types / sizeof *types;
    return types;
}

const struct cat_proc *cat_procs(size_t *n)
{
    *n = sizeof procs / sizeof *procs;
    return procs;
}

const struct cat_relation *cat_relation_find(const char *schema,
                                             const char *name)
{
    size_t n;
    const struct cat_relation *r = cat_relations(&n);
    if (!schema)
        schema = "pg_catalog";
    for (size_t i = 0; i < n; i++)
        if (!strcmp(r[i].name, name) && !strcmp(r[i].schema, schema))
            return &r[i];
    return NULL;
}

const struct cat_type *cat_type_of(uint32_t oid)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].oid == oid)
            return &types[i];
    return NULL;
}

const struct cat_type *cat_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name) || !strcmp(types[i].sql, name))
            return &types[i];
    return NULL;
}

uint32_t cat_element(uint32_t type)
{
    const struct cat_type *t = cat_type_of(type);
    return t && (t->category == 'A' || type == T_INT2VECTOR ||
                 type == T_OIDVECTOR)
               ? t->element
               : 0;
}

char cat_category(uint32_t type)
{
    const struct cat_type *t = cat_type_of(type);
    if (type == T_EXPANDED)
        return 'P';
    if (type == T_INT2VECTOR || type == T_OIDVECTOR)
        return 'A';
    if (type == T_CHAR)
        return 'S';
    return t ? t->category : 'X';
}

bool cat_is_reg(uint32_t type)
{
    return type == T_REGPROC || type == T_REGPROCEDURE || type == T_REGCLASS ||
           type == T_REGOPER || type == T_REGOPERATOR || type == T_REGTYPE ||
           type == T_REGNAMESPACE || type == T_REGROLE;
}

bool cat_is_integer(uint32_t type)
{
    return type == T_INT2 || type == T_INT4 || type == T_INT8 ||
           type == T_OID || type == T_XID || cat_is_reg(type);
}
