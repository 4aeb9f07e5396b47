/*
 * From a statement's text to its rows: parse, decide whose it is, print, run.
 */
#include <pg_query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

/* --- parsing -------------------------------------------------------------- */

static long byte_position(const char *text, int cursor)
{
    long i = 0;
    for (int chars = 1; chars < cursor && text[i]; chars++)
        do
            i++;
        while (((unsigned char)text[i] & 0xC0) == 0x80);
    return i;
}

static json_t *parse(const char *sql, struct catalogue_error *err)
{
    PgQueryParseResult r;
    json_t *root = NULL;
    if (strlen(sql) > CATALOGUE_TEXT) {
        cat_error(err, "54001", -1, "the statement is too long");
        return NULL;
    }
    r = pg_query_parse(sql);
    if (r.error)
        cat_error(err, "42601",
                  r.error->cursorpos > 0
                      ? byte_position(sql, r.error->cursorpos)
                      : -1,
                  "%s", r.error->message ? r.error->message : "syntax error");
    else if (!(root = json_loads(r.parse_tree, 0, NULL)))
        cat_error(err, "54001", -1, "the statement is nested too deeply");
    pg_query_free_parse_result(r);
    return root;
}

/* --- whose it is ---------------------------------------------------------- */

struct seen {
    bool system, owner;
};

struct cat_known_name { /* names of WITH */
    const char *name;
    const struct cat_known_name *next;
};

static void look(const json_t *node, const struct cat_known_name *ctes,
                 struct seen *s, int depth);

static void look_at_name(const json_t *r, const struct cat_known_name *ctes,
                         struct seen *s)
{
    const char *schema = cat_string(r, "schemaname"),
               *name = cat_string(r, "relname");
    if (!*schema)
        for (; ctes; ctes = ctes->next)
            if (!strcmp(ctes->name, name))
                return;
    if (!strcmp(schema, "pg_catalog") ||
        !strcmp(schema, "information_schema") || !strcmp(schema, "dpcount") ||
        (!*schema && cat_relation_find(NULL, name)))
        s->system = true;
    else
        s->owner = true;
}

static void look_inside(const json_t *node, const struct cat_known_name *ctes,
                        struct seen *s, int depth)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(node)) {
        json_array_foreach(node, i, value) look(value, ctes, s, depth + 1);
    } else {
        json_object_foreach((json_t *)(uintptr_t)node, key, value)
        {
            if (!strcmp(key, "RangeVar"))
                look_at_name(value, ctes, s);
            else if (strcmp(key, "withClause"))
                look(value, ctes, s, depth + 1);
        }
    }
}

/* Each WITH query sees those before it, and itself when it is recursive. */
static void look_with(const json_t *node, const json_t *list, size_t at,
                      bool recursive, const struct cat_known_name *ctes,
                      struct seen *s, int depth)
{
    const json_t *cte = cat_as(json_array_get(list, at), "CommonTableExpr");
    struct cat_known_name here = {cat_string(cte, "ctename"), ctes};
    if (at == json_array_size(list) || depth > CAT_DEPTH) {
        look_inside(node, ctes, s, depth);
        return;
    }
    look(cat_get(cte, "ctequery"), recursive ? &here : ctes, s, depth + 1);
    look_with(node, list, at + 1, recursive, &here, s, depth + 1);
}

static void look(const json_t *node, const struct cat_known_name *ctes,
                 struct seen *s, int depth)
{
    const json_t *with = cat_get(node, "withClause");
    if (depth > 4 * CAT_DEPTH) {
        s->owner = s->system = true;
        return;
    }
    if (with)
        look_with(node, cat_get(with, "ctes"), 0, cat_flag(with, "recursive"),
                  ctes, s, depth);
    else
        look_inside(node, ctes, s, depth);
}

static const json_t *only_select(const json_t *root)
{
    const json_t *all = cat_get(root, "stmts");
    if (json_array_size(all) != 1)
        return NULL;
    return cat_as(cat_get(json_array_get(all, 0), "stmt"), "SelectStmt");
}

static enum catalogue_kind kind_of(const json_t *root)
{
    const json_t *select = only_select(root);
    struct seen s = {0};
    if (!select)
        return CATALOGUE_OTHER;
    look(select, NULL, &s, 0);
    return s.owner ? s.system ? CATALOGUE_MIXED : CATALOGUE_OWNER
                   : CATALOGUE_SYSTEM;
}

enum catalogue_kind catalogue_classify(const char *sql,
                                       struct catalogue_error *err)
{
    json_t *root = parse(sql, err);
    enum catalogue_kind kind = root ? kind_of(root) : CATALOGUE_SYNTAX;
    json_decref(root);
    return kind;
}

/* --- values as PostgreSQL writes them ------------------------------------- */

static char *cat_float_text(double v, uint32_t type, char *out, size_t n)
{
    for (int digits = 1; digits < 18; digits++) {
        snprintf(out, n, "%.*g", digits, v);
        if (type == T_FLOAT4 ? strtof(out, NULL) == (float)v
                             : strtod(out, NULL) == v)
            break;
    }
    return out;
}

static char *cell_text(struct catalogue *c, sqlite3_stmt *q, int at,
                       uint32_t type)
{
    const char *s = (const char *)sqlite3_column_text(q, at);
    char number[60];
    if (type == T_BOOL && sqlite3_column_type(q, at) == SQLITE_INTEGER)
        return sqlite3_mprintf("%s", sqlite3_column_int(q, at) ? "t" : "f");
    if (cat_is_reg(type) && sqlite3_column_type(q, at) == SQLITE_INTEGER)
        return cat_reg_name(c, type, sqlite3_column_int64(q, at));
    if (sqlite3_column_type(q, at) == SQLITE_FLOAT)
        return sqlite3_mprintf("%s",
                               cat_float_text(sqlite3_column_double(q, at),
                                              type, number, sizeof number));
    if (s && (cat_element(type) || type == T_EXPANDED)) {
        char *array = cat_array_text(s, type);
        if (array)
            return array;
    }
    return s ? sqlite3_mprintf("%s", s) : NULL;
}

/* --- running -------------------------------------------------------------- */

struct run {
    struct catalogue *c;
    struct catalogue_rows *out;
    struct catalogue_error *err;
    struct cat_arena *memory; /* of the result */
    size_t room, bytes;
};

static bool no_memory(struct run *r)
{
    cat_error(r->err, "53200", -1, "out of memory");
    return false;
}

static bool keep_cell(struct run *r, const char **cell, char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    char *copy;
    if (!text)
        return true;
    copy = cat_arena_take(r->memory, n);
    if (copy)
        *cell = memcpy(copy, text, n);
    sqlite3_free(text);
    r->bytes += n;
    if (!copy || r->bytes > CATALOGUE_BYTES) {
        cat_error(r->err, "54000", -1, "the result is too large");
        return false;
    }
    return true;
}

static bool keep_row(struct run *r, sqlite3_stmt *q)
{
    struct catalogue_rows *o = r->out;
    if (o->n_rows == CATALOGUE_ROWS) {
        cat_error(r->err, "54000", -1, "the result has too many rows");
        return false;
    }
    if ((o->n_rows + 1) * o->n_fields > r->room) {
        size_t room = 2 * r->room + 16 * o->n_fields;
        const char **cells = realloc(o->cells, room * sizeof *cells);
        if (!cells)
            return no_memory(r);
        o->cells = cells;
        r->room = room;
    }
    for (size_t i = 0; i < o->n_fields; i++) {
        const char **cell = &o->cells[o->n_rows * o->n_fields + i];
        *cell = NULL;
        if (sqlite3_column_type(q, (int)i) == SQLITE_NULL)
            continue;
        if (!keep_cell(r, cell, cell_text(r->c, q, (int)i, o->fields[i].type)))
            return false;
    }
    o->n_rows++;
    return true;
}

static void sqlite_error(struct run *r, int rc)
{
    if (r->c->state)
        cat_error(r->err, r->c->state, -1, "%s", r->c->why);
    else if (rc == SQLITE_INTERRUPT || r->c->steps == 0)
        cat_error(r->err, "54000", -1, "the query takes too long");
    else if (rc == SQLITE_NOMEM)
        cat_error(r->err, "53200", -1, "out of memory");
    else if (rc == SQLITE_TOOBIG)
        cat_error(r->err, "54000", -1, "a value is too large");
    else
        cat_error(r->err, "0A000", -1,
                  "this query of the catalogue is not supported");
}

static bool step_all(struct run *r, const char *sql)
{
    sqlite3_stmt *q = NULL;
    bool good = true;
    int rc;
    r->c->steps = CATALOGUE_STEPS;
    r->c->state = NULL;
    rc = sqlite3_prepare_v2(r->c->db, sql, -1, &q, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(q);
        if (rc == SQLITE_ROW && !keep_row(r, q)) {
            good = false;
            break;
        }
    }
    if (good && rc != SQLITE_DONE) {
        good = false;
        sqlite_error(r, rc);
    }
    sqlite3_finalize(q);
    return good;
}

static bool keep_fields(struct run *r, struct cat_printer *p,
                        const struct cat_select *s)
{
    struct catalogue_rows *o = r->out;
    o->fields = cat_arena_take(r->memory, (s->n + 1) * sizeof *o->fields);
    o->n_parameters = p->most_parameter > p->n_parameters ? p->most_parameter
                                                          : p->n_parameters;
    o->parameters = cat_arena_take(r->memory, (o->n_parameters + 1) *
                                                  sizeof *o->parameters);
    if (!o->fields || !o->parameters)
        return no_memory(r);
    for (size_t i = 0; i < o->n_parameters; i++)
        o->parameters[i] =
            p->parameter_types[i] ? p->parameter_types[i] : T_TEXT;
    for (o->n_fields = 0; o->n_fields < s->n; o->n_fields++) {
        const struct cat_column *c = &s->columns[o->n_fields];
        struct catalogue_field *f = &o->fields[o->n_fields];
        const struct cat_type *t =
            cat_type_of(c->type == T_EXPANDED ? T_RECORD : c->type);
        char *name = cat_arena_take(r->memory, strlen(c->name) + 1);
        if (!name)
            return no_memory(r);
        f->name = strcpy(name, c->name);
        f->type = c->type;
        f->typmod = c->typmod;
        f->len = t ? t->len : -1;
    }
    return true;
}

static bool print_and_run(struct run *r, struct cat_printer *p,
                          const json_t *select)
{
    struct cat_select s;
    if (setjmp(p->out))
        return false;
    s = cat_select_print(p, NULL, select);
    if (!s.n)
        cat_refuse(p, NULL, "a SELECT without columns");
    for (size_t i = 0; i < s.n; i++)
        if (s.columns[i].type == T_RECORD)
            cat_refuse(p, NULL, "a row as a value");
    return keep_fields(r, p, &s) && (!p->values_known || step_all(r, s.sql));
}

static bool check_kind(const json_t *root, struct catalogue_error *err)
{
    enum catalogue_kind kind = kind_of(root);
    if (kind == CATALOGUE_MIXED || kind == CATALOGUE_OWNER)
        cat_error(err, "0A000", -1,
                  "the owner's tables cannot be asked together"
                  " with the catalogue's");
    else if (kind != CATALOGUE_SYSTEM)
        cat_error(err, "0A000", -1, "this statement is not supported");
    return kind == CATALOGUE_SYSTEM;
}

static bool answer(struct run *r, const char *sql, struct cat_printer *p)
{
    json_t *root = parse(sql, r->err);
    bool good;
    p->text = sql;
    good = root && check_kind(root, r->err) &&
           print_and_run(r, p, only_select(root));
    if (good)
        for (size_t i = 0; i < r->out->n_fields; i++)
            if (r->out->fields[i].type == T_EXPANDED)
                r->out->fields[i].type = T_RECORD;
    cat_arena_free(&p->arena);
    json_decref(root);
    free(p);
    if (!good)
        catalogue_rows_free(r->out);
    return good;
}

static struct cat_printer *new_printer(struct run *r, size_t n)
{
    struct cat_printer *p = calloc(1, sizeof *p);
    memset(r->out, 0, sizeof *r->out);
    memset(r->err, 0, sizeof *r->err);
    r->err->position = -1;
    r->memory = r->out->memory = calloc(1, sizeof *r->memory);
    if (p && r->memory && n <= CAT_MOST_PARAMETERS) {
        p->err = r->err;
        p->n_parameters = n;
        return p;
    }
    cat_error(r->err, "54001", -1, "too many parameters");
    catalogue_rows_free(r->out);
    free(p);
    return NULL;
}

bool catalogue_describe(struct catalogue *c, const char *sql,
                        const uint32_t *types, size_t n_types,
                        struct catalogue_rows *out, struct catalogue_error *err)
{
    struct run r = {.c = c, .out = out, .err = err};
    struct cat_printer *p = new_printer(&r, n_types);
    struct catalogue_parameter *nulls = calloc(n_types + 1, sizeof *nulls);
    bool good = false;
    if (p && nulls) {
        for (size_t i = 0; i < n_types; i++)
            p->parameter_types[i] = types[i];
        p->parameters = nulls;
        good = answer(&r, sql, p);
    } else {
        free(p);
    }
    free(nulls);
    return good;
}

bool catalogue_run(struct catalogue *c, const char *sql,
                   const struct catalogue_parameter *parameters,
                   size_t n_parameters, struct catalogue_rows *out,
                   struct catalogue_error *err)
{
    struct run r = {.c = c, .out = out, .err = err};
    struct cat_printer *p = new_printer(&r, n_parameters);
    if (!p)
        return false;
    for (size_t i = 0; i < n_parameters; i++)
        p->parameter_types[i] = parameters[i].type;
    p->parameters = parameters;
    p->values_known = true;
    return answer(&r, sql, p);
}

void catalogue_rows_free(struct catalogue_rows *r)
{
    if (r->memory)
        cat_arena_free(r->memory);
    free(r->memory);
    free(r->cells);
    memset(r, 0, sizeof *r);
}
