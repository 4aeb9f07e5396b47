/*
 * Functions: a table says what each is in SQLite's words (functions.def). Ours
 * have the prefix f_, so that SQLite's own cannot be named by a client: a name
 * that is not in a table does not exist.
 */
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

struct cat_function {
    const char *name, *arguments;
    uint32_t type;
    const char *sql;
};

#define FUNCTION(name, arguments, type, sql) {name, arguments, type, sql},
static const struct cat_function functions[] = {
#include "catalogue/functions.def"
};

struct call {
    const char *name;
    const json_t *fields, *args;
    size_t n;
    struct cat_expr *e;
    long at;
};

static struct call open_call(struct cat_printer *p, const json_t *f)
{
    const json_t *names = cat_get(f, "funcname");
    size_t n = json_array_size(names);
    struct call c = {.fields = f, .args = cat_get(f, "args"), .at = cat_at(f)};
    const char *schema = n > 1 ? cat_name_of(json_array_get(names, 0)) : "";
    c.name = cat_name_of(json_array_get(names, n - 1));
    c.n = json_array_size(c.args);
    if (n > 1 && strcmp(schema, "pg_catalog") &&
        (strcmp(schema, "information_schema") || *c.name != '_'))
        cat_fail(p, "42883", c.at, "function %s.%s() does not exist", schema,
                 c.name);
    if (c.n > 100)
        cat_fail(p, "54023", c.at, "cannot pass more than 100 arguments");
    return c;
}

static void print_args(struct cat_printer *p, struct cat_scope *s,
                       struct call *c)
{
    c->e = cat_take(p, (c->n + 1) * sizeof *c->e);
    for (size_t i = 0; i < c->n; i++) {
        if (cat_as(json_array_get(c->args, i), "NamedArgExpr"))
            cat_refuse(p, c->fields, "a named argument");
        c->e[i] = cat_expression(p, s, json_array_get(c->args, i));
    }
}

_Noreturn static void no_function(struct cat_printer *p, const struct call *c)
{
    cat_fail(p, "42883", c->at,
             "function %s() with these arguments does not"
             " exist",
             c->name);
}

/* The letter of the i-th argument in a signature, 0 when there is none. */
static char letter(const char *signature, size_t i)
{
    char last = 0;
    for (; *signature; signature++) {
        if (*signature == '|')
            continue;
        if (*signature == '+')
            return last;
        last = *signature;
        if (i-- == 0)
            return last;
    }
    return 0;
}

static size_t least(const char *signature)
{
    size_t n = 0;
    for (; *signature && *signature != '|'; signature++)
        n += *signature != '+';
    return n;
}

static struct cat_expr fit(struct cat_printer *p, const struct call *c,
                           char want, struct cat_expr e)
{
    char is;
    if (want == 'o')
        e = cat_coerce(p, e, T_REGCLASS, c->at);
    else if (want == 'i')
        e = cat_coerce(p, e, T_INT4, c->at);
    else if (want == 'b')
        e = cat_coerce(p, e, T_BOOL, c->at);
    else if (want == 'A')
        e = cat_coerce(p, e, T_TEXTARRAY, c->at);
    e = cat_known(p, e);
    is = cat_category(e.type);
    if (((want == 'o' || want == 'i') && !cat_is_integer(e.type)) ||
        (want == 't' && is != 'S') || (want == 'b' && e.type != T_BOOL) ||
        (want == 'A' && !cat_element(e.type)))
        no_function(p, c);
    return e;
}

static const char *expand(struct cat_printer *p, const struct call *c,
                          const char *sql)
{
    struct cat_buffer b = {0};
    char one[2] = "";
    for (; *sql; sql++) {
        if (*sql != '$') {
            one[0] = *sql;
            cat_add(p, &b, one);
            continue;
        }
        sql++;
        if (*sql == '*') {
            for (size_t i = 0; i < c->n; i++) {
                cat_add(p, &b, i ? "," : "");
                cat_add(p, &b, c->e[i].sql);
            }
        } else if (*sql == 'k') { /* where the first argument's indexes begin */
            bool vector =
                c->e[0].type == T_INT2VECTOR || c->e[0].type == T_OIDVECTOR;
            cat_add(p, &b, vector ? "0" : "1");
        } else {
            cat_add(p, &b, c->e[*sql - '1'].sql);
        }
    }
    return b.s;
}

static bool plain(const json_t *f)
{
    return !cat_get(f, "agg_order") && !cat_get(f, "agg_filter") &&
           !cat_get(f, "over") && !cat_flag(f, "agg_distinct") &&
           !cat_flag(f, "agg_star") && !cat_flag(f, "func_variadic");
}

static bool table_call(struct cat_printer *p, struct cat_scope *s,
                       struct call *c, struct cat_expr *out)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct cat_function *f = &functions[i];
        if (strcmp(f->name, c->name) || c->n < least(f->arguments) ||
            (c->n && !letter(f->arguments, c->n - 1)))
            continue;
        if (!plain(c->fields))
            no_function(p, c);
        print_args(p, s, c);
        for (size_t k = 0; k < c->n; k++)
            c->e[k] = fit(p, c, letter(f->arguments, k), c->e[k]);
        *out = cat_typed(cat_format(p, "(%s)", expand(p, c, f->sql)), f->type);
        return true;
    }
    return false;
}

/* --- aggregates and windows ----------------------------------------------- */

static const char *window(struct cat_printer *p, struct cat_scope *s,
                          const json_t *over)
{
    const json_t *parts = cat_get(over, "partitionClause");
    struct cat_buffer b = {0};
    if (!over)
        return "";
    if (cat_get(over, "name") || cat_get(over, "refname") ||
        (json_integer_value(cat_get(over, "frameOptions")) & ~0x422))
        cat_refuse(p, over, "this window");
    cat_add(p, &b, " OVER (");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        cat_add(p, &b, i ? "," : "PARTITION BY ");
        cat_add(
            p, &b,
            cat_known(p, cat_expression(p, s, json_array_get(parts, i))).sql);
    }
    cat_add(p, &b, cat_order(p, s, cat_get(over, "orderClause"), NULL));
    cat_add(p, &b, ")");
    return b.s;
}

static const char *filter(struct cat_printer *p, struct cat_scope *s,
                          const json_t *f)
{
    const json_t *where = cat_get(f, "agg_filter");
    return where
               ? cat_format(p, " FILTER (WHERE %s)", cat_condition(p, s, where))
               : "";
}

/* f_collect(value, key, descending): an array in the order of the key. */
static const char *collect(struct cat_printer *p, struct cat_scope *s,
                           struct call *c, struct cat_expr value)
{
    const json_t *order = cat_get(c->fields, "agg_order");
    const json_t *by = cat_as(json_array_get(order, 0), "SortBy");
    bool desc = !strcmp(cat_string(by, "sortby_dir"), "SORTBY_DESC");
    const char *key = "NULL";
    if (json_array_size(order) > 1)
        cat_refuse(p, c->fields, "an aggregate ordered by several expressions");
    if (by)
        key = cat_known(p, cat_expression(p, s, cat_get(by, "node"))).sql;
    return cat_format(p, "f_collect(%s%s,%s,%d)%s",
                      cat_flag(c->fields, "agg_distinct") && !by ? "DISTINCT "
                                                                 : "",
                      value.sql, key, desc, filter(p, s, c->fields));
}

static struct cat_expr gather(struct cat_printer *p, struct cat_scope *s,
                              struct call *c)
{
    struct cat_expr v;
    const struct cat_type *t;
    const char *sql;
    if (cat_get(c->fields, "over") ||
        c->n != (strcmp(c->name, "string_agg") ? 1 : 2))
        no_function(p, c);
    if (cat_flag(c->fields, "agg_distinct"))
        cat_refuse(p, c->fields, "DISTINCT in this aggregate");
    print_args(p, s, c);
    v = cat_known(p, c->e[0]);
    t = cat_type_of(v.type);
    sql = collect(p, s, c, v);
    if (!strcmp(c->name, "string_agg"))
        return cat_typed(cat_format(p, "f_join_texts(%s,%s)", sql,
                                    fit(p, c, 't', c->e[1]).sql),
                         T_TEXT);
    if (!t || !t->array)
        cat_refuse(p, c->fields, "an array of arrays");
    return cat_typed(sql, t->array);
}

static uint32_t aggregate_type(const char *name, uint32_t argument)
{
    if (!strcmp(name, "count"))
        return T_INT8;
    if (!strcmp(name, "sum"))
        return argument == T_INT8 ? T_NUMERIC : T_INT8;
    if (!strncmp(name, "bool_", 5) || !strcmp(name, "every"))
        return T_BOOL;
    return cat_category(argument) == 'S' ? T_TEXT : argument;
}

static bool aggregate(struct cat_printer *p, struct cat_scope *s,
                      struct call *c, struct cat_expr *out)
{
    static const char *const names[][2] = {
        {"count", "count"}, {"min", "min"},      {"max", "max"},
        {"sum", "sum"},     {"bool_and", "min"}, {"bool_or", "max"},
        {"every", "min"}};
    const char *call = NULL, *distinct;
    uint32_t type;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], c->name))
            call = names[i][1];
    if (!call)
        return false;
    if (cat_get(c->fields, "agg_order"))
        cat_refuse(p, c->fields, "this aggregate");
    if (cat_flag(c->fields, "agg_star") ? strcmp(call, "count") : c->n != 1)
        no_function(p, c);
    print_args(p, s, c);
    distinct = cat_flag(c->fields, "agg_distinct") ? "DISTINCT " : "";
    type = c->n ? cat_known(p, c->e[0]).type : T_INT8;
    if (!strcmp(call, "sum") && (!cat_is_integer(type) || cat_is_reg(type)))
        cat_refuse(p, c->fields, "this sum");
    *out = cat_typed(cat_format(p, "%s(%s%s)%s%s", call, distinct,
                                c->n ? cat_known(p, c->e[0]).sql : "*",
                                filter(p, s, c->fields),
                                window(p, s, cat_get(c->fields, "over"))),
                     aggregate_type(c->name, type));
    return true;
}

static bool ranking(struct cat_printer *p, struct cat_scope *s, struct call *c,
                    struct cat_expr *out)
{
    if (strcmp(c->name, "row_number") && strcmp(c->name, "rank") &&
        strcmp(c->name, "dense_rank"))
        return false;
    if (c->n || !cat_get(c->fields, "over"))
        no_function(p, c);
    *out = cat_typed(cat_format(p, "%s()%s", c->name,
                                window(p, s, cat_get(c->fields, "over"))),
                     T_INT8);
    return true;
}

/* --- sets ----------------------------------------------------------------- */

static void set_column(struct cat_set *set, const char *name, uint32_t type)
{
    set->columns[set->n++] =
        (struct cat_column){.name = name, .type = type, .typmod = -1};
}

static bool array_set(struct cat_printer *p, struct call *c,
                      struct cat_set *out)
{
    struct cat_expr e = fit(p, c, 'A', c->e[0]);
    bool vector = e.type == T_INT2VECTOR || e.type == T_OIDVECTOR;
    if (!strcmp(c->name, "unnest") && c->n == 1) {
        out->sql = cat_format(p, "f_array(%s)", e.sql);
        set_column(out, "unnest", cat_element(e.type));
    } else if (!strcmp(c->name, "generate_subscripts") && c->n >= 2) {
        out->sql = cat_format(p, "f_subscripts(%s,%s,%d)", e.sql,
                              fit(p, c, 'i', c->e[1]).sql, vector ? 0 : 1);
        set_column(out, "generate_subscripts", T_INT4);
    } else if (!strcmp(c->name, "_pg_expandarray") && c->n == 1) {
        out->sql = cat_format(p, "f_expand(%s)", e.sql);
        set_column(out, "x", cat_element(e.type));
        set_column(out, "n", T_INT4);
    } else {
        no_function(p, c);
    }
    return true;
}

static bool empty_set(struct call *c, struct cat_set *out)
{
    static const struct {
        const char *name, *columns[4];
        uint32_t types[4];
    } sets[] = {{"pg_partition_ancestors", {"relid"}, {T_REGCLASS}},
                {"pg_partition_tree",
                 {"relid", "parentrelid", "isleaf", "level"},
                 {T_REGCLASS, T_REGCLASS, T_BOOL, T_INT4}},
                {"aclexplode",
                 {"grantor", "grantee", "privilege_type", "is_grantable"},
                 {T_OID, T_OID, T_TEXT, T_BOOL}},
                {"pg_options_to_table",
                 {"option_name", "option_value"},
                 {T_TEXT, T_TEXT}},
                {"pg_get_publication_tables", {"relid"}, {T_OID}},
                {"pg_listening_channels", {"pg_listening_channels"}, {T_TEXT}}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (strcmp(sets[i].name, c->name))
            continue;
        out->sql = "'[]'";
        for (size_t k = 0; k < 4 && sets[i].columns[k]; k++)
            set_column(out, sets[i].columns[k], sets[i].types[k]);
        return true;
    }
    return false;
}

bool cat_set_call(struct cat_printer *p, struct cat_scope *s, const json_t *f,
                  struct cat_set *out)
{
    static const char *const known[] = {"unnest", "generate_subscripts",
                                        "_pg_expandarray", "generate_series",
                                        "pg_get_keywords"};
    struct call c = open_call(p, f);
    size_t i = 0;
    *out = (struct cat_set){0};
    if (empty_set(&c, out))
        return true;
    while (i < sizeof known / sizeof *known && strcmp(known[i], c.name))
        i++;
    if (i == sizeof known / sizeof *known)
        return false;
    if (!plain(f))
        no_function(p, &c);
    print_args(p, s, &c);
    if (!strcmp(c.name, "pg_get_keywords")) {
        out->sql = "f_keywords()";
        set_column(out, "word", T_TEXT);
        set_column(out, "catcode", T_CHAR);
        set_column(out, "barelabel", T_BOOL);
        set_column(out, "catdesc", T_TEXT);
        set_column(out, "baredesc", T_TEXT);
        return true;
    }
    if (strcmp(c.name, "generate_series"))
        return c.n ? array_set(p, &c, out) : (no_function(p, &c), false);
    if (c.n < 2 || c.n > 3)
        no_function(p, &c);
    for (size_t k = 0; k < c.n; k++)
        c.e[k] = fit(p, &c, 'i', c.e[k]);
    out->sql = cat_format(p, "f_series(%s)", expand(p, &c, "$*"));
    set_column(out, "generate_series", T_INT4);
    return true;
}

/* A set in the list of SELECT: all of them run in step over one json_each. */
static struct cat_expr listed_set(struct cat_printer *p, struct cat_scope *s,
                                  const struct cat_set *set, const json_t *f)
{
    size_t at = 0;
    if (!s->sets_allowed)
        cat_refuse(p, f, "a set at this place");
    if (set->n != 1 && set->n != 2)
        cat_refuse(p, f, "a set of rows");
    while (at < s->n_sets && strcmp(s->set_args[at], set->sql))
        at++;
    if (at == sizeof s->set_args / sizeof *s->set_args)
        cat_refuse(p, f, "so many sets");
    if (at == s->n_sets)
        s->set_args[s->n_sets++] = set->sql;
    if (!s->set_alias)
        s->set_alias = cat_format(p, "t%u", ++p->next);
    return cat_typed(
        cat_format(p, "json_extract(%s.value,'$[%zu]')", s->set_alias, at),
        set->n == 1 ? set->columns[0].type : T_EXPANDED);
}

struct cat_expr cat_call(struct cat_printer *p, struct cat_scope *s,
                         const json_t *f)
{
    struct call c = open_call(p, f);
    struct cat_expr out;
    struct cat_set set;
    if (table_call(p, s, &c, &out) || aggregate(p, s, &c, &out) ||
        ranking(p, s, &c, &out))
        return out;
    if (!strcmp(c.name, "array_agg") || !strcmp(c.name, "string_agg"))
        return gather(p, s, &c);
    if (cat_set_call(p, s, f, &set))
        return listed_set(p, s, &set, f);
    cat_error(p->err, "0A000", c.at,
              "function %s() with these arguments is not"
              " in this catalogue",
              c.name);
    longjmp(p->out, 1);
}

struct cat_expr cat_value_function(struct cat_printer *p, const json_t *f)
{
    const char *op = cat_string(f, "op");
    if (!strcmp(op, "SVFOP_CURRENT_USER") || !strcmp(op, "SVFOP_USER") ||
        !strcmp(op, "SVFOP_SESSION_USER") || !strcmp(op, "SVFOP_CURRENT_ROLE"))
        return cat_typed("f_session('user')", T_NAME);
    if (!strcmp(op, "SVFOP_CURRENT_CATALOG"))
        return cat_typed("f_session('database')", T_NAME);
    if (!strcmp(op, "SVFOP_CURRENT_SCHEMA"))
        return cat_typed("'public'", T_NAME);
    if (!strcmp(op, "SVFOP_CURRENT_TIMESTAMP"))
        return cat_typed("f_now()", T_TIMESTAMPTZ);
    if (!strcmp(op, "SVFOP_CURRENT_DATE"))
        return cat_typed("substr(f_now(),1,10)", T_DATE);
    cat_refuse(p, f, "this value");
}
