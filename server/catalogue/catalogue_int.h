/*
 * What the files of the catalogue share: facts about PostgreSQL, the printer's
 * memory and its types.
 *
 * The printer ends at its first error by longjmp to cat_guard's caller; all it
 * allocates is in one arena that the caller frees, so nothing is lost.
 */
#ifndef CATALOGUE_CATALOGUE_INT_H
#define CATALOGUE_CATALOGUE_INT_H

#include <jansson.h>
#include <setjmp.h>
#include <sqlite3.h>

#include "catalogue/catalogue.h"

/* --- facts (cat_facts.c) -------------------------------------------------- */

enum cat_oid {
    T_BOOL = 16,
    T_BYTEA = 17,
    T_CHAR = 18,
    T_NAME = 19,
    T_INT8 = 20,
    T_INT2 = 21,
    T_INT2VECTOR = 22,
    T_INT4 = 23,
    T_REGPROC = 24,
    T_TEXT = 25,
    T_OID = 26,
    T_XID = 28,
    T_OIDVECTOR = 30,
    T_JSON = 114,
    T_FLOAT4 = 700,
    T_FLOAT8 = 701,
    T_UNKNOWN = 705,
    T_BPCHAR = 1042,
    T_VARCHAR = 1043,
    T_DATE = 1082,
    T_TIMESTAMP = 1114,
    T_TIMESTAMPTZ = 1184,
    T_NUMERIC = 1700,
    T_REGPROCEDURE = 2202,
    T_REGCLASS = 2205,
    T_REGOPER = 2203,
    T_REGOPERATOR = 2204,
    T_REGTYPE = 2206,
    T_RECORD = 2249,
    T_UUID = 2950,
    T_JSONB = 3802,
    T_REGNAMESPACE = 4089,
    T_REGROLE = 4096,
    T_TEXTARRAY = 1009,
    T_INT4ARRAY = 1007,
    T_NAMEARRAY = 1003,
    T_OIDARRAY = 1028,
    T_INT2ARRAY = 1005,
    T_EXPANDED = 0x7f000001 /* (x, n) of _pg_expandarray */
};

struct cat_relation {
    uint32_t oid;
    const char *schema, *name;
    char kind;
    const char *columns; /* "name:type[:typmod] ..." */
};

struct cat_type {
    uint32_t oid;
    const char *name, *sql;
    int len;
    bool by_value;
    char type, category;
    bool preferred;
    char delimiter;
    uint32_t element, array;
    char align, storage;
    uint32_t collation, input, output, receive, send;
};

struct cat_proc {
    uint32_t oid;
    const char *name;
};

const struct cat_relation *cat_relations(size_t *n);
const struct cat_type *cat_types(size_t *n);
const struct cat_proc *cat_procs(size_t *n);
/* schema NULL: as the search path finds it, in pg_catalog. */
const struct cat_relation *cat_relation_find(const char *schema,
                                             const char *name);
const struct cat_type *cat_type_of(uint32_t oid);
const struct cat_type *cat_type_named(const char *name); /* either name */
uint32_t cat_element(uint32_t type);                     /* 0: no array */
char cat_category(uint32_t type);                        /* 'X' for unknown */
bool cat_is_reg(uint32_t type);
bool cat_is_integer(uint32_t type); /* kept as an integer in SQLite */

/* --- memory, errors ------------------------------------------------------- */

enum { CAT_MEMORY = 128 << 20, CAT_DEPTH = 300, CAT_MOST_PARAMETERS = 1000 };

struct cat_block;
struct cat_arena {
    struct cat_block *blocks;
    size_t used;
};
void *cat_arena_take(struct cat_arena *a, size_t n); /* NULL: no more */
void cat_arena_free(struct cat_arena *a);

void cat_error(struct catalogue_error *err, const char *state, long at,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- the printer ---------------------------------------------------------- */

struct cat_column {
    const char *name;
    const char *sql; /* how SQLite's text names it */
    uint32_t type;
    int typmod;
    bool merged; /* by USING: only with its table's name */
    bool common; /* of USING: first in * */
};

struct cat_item { /* of FROM */
    const char *name, *schema;
    struct cat_column *columns;
    size_t n;
    uint32_t oid; /* of a relation; 0: something else */
};

struct cat_cte {
    const char *name, *sql_name;
    struct cat_column *columns;
    size_t n;
    struct cat_cte *next;
};

struct cat_scope {
    struct cat_item items[64];
    size_t n;
    const struct cat_scope *outer;
    struct cat_cte *ctes;
    bool sets_allowed;        /* in the list of SELECT */
    const char *set_alias;    /* of the functions there that give sets */
    const char *set_args[16]; /* SQLite's text of each */
    size_t n_sets;
};

struct cat_printer {
    struct cat_arena arena;
    struct catalogue_error *err;
    jmp_buf out;
    const char *text; /* the statement */
    const struct catalogue_parameter *parameters;
    size_t n_parameters;
    uint32_t parameter_types[CAT_MOST_PARAMETERS];
    size_t most_parameter;
    bool values_known; /* false: describe */
    unsigned next;     /* alias */
    int depth;
};

struct cat_expr {
    const char *sql;
    uint32_t type;
    int typmod;
    bool literal; /* of an unknown type: text says what, NULL is NULL */
    const char *text;
    size_t parameter; /* from 1 */
};

struct cat_select {
    const char *sql; /* its columns are called c1, c2, .. */
    struct cat_column *columns;
    size_t n;
};

/* cat_text.c */
void *cat_take(struct cat_printer *p, size_t n);
const char *cat_format(struct cat_printer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *cat_quote(struct cat_printer *p, const char *text);
_Noreturn void cat_fail(struct cat_printer *p, const char *state, long at,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void cat_refuse(struct cat_printer *p, const json_t *at,
                          const char *what);
void cat_enter(struct cat_printer *p);
struct cat_buffer {
    char *s;
    size_t n, room;
};
void cat_add(struct cat_printer *p, struct cat_buffer *b, const char *text);

/* the tree: an absent field is its default */
const json_t *cat_get(const json_t *fields, const char *key);
const json_t *cat_as(const json_t *node, const char *kind);
const char *cat_kind(const json_t *node, const json_t **fields);
const char *cat_string(const json_t *fields, const char *key); /* "" */
bool cat_flag(const json_t *fields, const char *key);
long cat_at(const json_t *fields);
const char *cat_name_of(const json_t *string_node); /* {"String":..} or "" */

/* cat_expr.c, cat_ops.c, cat_cast.c, cat_func.c */
struct cat_expr cat_expression(struct cat_printer *p, struct cat_scope *s,
                               const json_t *node);
struct cat_expr cat_operator(struct cat_printer *p, struct cat_scope *s,
                             const json_t *a_expr);
struct cat_expr cat_sublink(struct cat_printer *p, struct cat_scope *s,
                            const json_t *sublink);
struct cat_expr cat_call(struct cat_printer *p, struct cat_scope *s,
                         const json_t *call);
struct cat_expr cat_value_function(struct cat_printer *p, const json_t *f);
struct cat_expr cat_typed(const char *sql, uint32_t type);
struct cat_expr cat_boolean(const char *sql);
struct cat_expr cat_coerce(struct cat_printer *p, struct cat_expr e,
                           uint32_t type, long at);
struct cat_expr cat_cast(struct cat_printer *p, struct cat_expr e,
                         uint32_t type, long at);
struct cat_expr cat_known(struct cat_printer *p, struct cat_expr e);
const char *cat_as_text(struct cat_printer *p, struct cat_expr e, long at);
const char *cat_condition(struct cat_printer *p, struct cat_scope *s,
                          const json_t *node);
void cat_agree(struct cat_printer *p, struct cat_expr *a, struct cat_expr *b,
               const char *op, long at);
uint32_t cat_type_name(struct cat_printer *p, const json_t *type_name);

/* Functions that give sets. Their SQLite text is a JSON array. */
struct cat_set {
    const char *sql;
    struct cat_column columns[8]; /* sql: of json_each's value, as %s */
    size_t n;
};
bool cat_set_call(struct cat_printer *p, struct cat_scope *s,
                  const json_t *call, struct cat_set *out);

/* cat_from.c, cat_select.c */
const char *cat_from(struct cat_printer *p, struct cat_scope *s,
                     const json_t *from);
struct cat_expr cat_resolve(struct cat_printer *p, const struct cat_scope *s,
                            const json_t *column_ref);
const struct cat_column *cat_find(const struct cat_scope *s, const char *name,
                                  bool *twice);
struct cat_select cat_select_print(struct cat_printer *p,
                                   const struct cat_scope *outer,
                                   const json_t *select);
const char *cat_order(struct cat_printer *p, struct cat_scope *s,
                      const json_t *sort, const struct cat_select *list);
const char *cat_column_name(const json_t *node); /* as PostgreSQL names it */

/* --- the open catalogue --------------------------------------------------- */

struct catalogue {
    sqlite3 *db;
    char user[64];
    uint64_t steps; /* what is left of this query */
    bool building;
    const char *state; /* SQLSTATE of a function's failure, or NULL */
    char why[200];     /* and its words */
};

bool cat_functions_add(struct catalogue *c); /* cat_sqlfn.c */
bool cat_array_functions_add(struct catalogue *c);
bool cat_text_functions_add(struct catalogue *c);
bool cat_spend(struct catalogue *c, uint64_t steps);
void cat_raise(sqlite3_context *x, const char *state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
char *cat_reg_name(struct catalogue *c, uint32_t type, sqlite3_int64 oid);
char *cat_array_text(const char *json, uint32_t type); /* malloc */
char *cat_array_read(const char *text, bool integers); /* '{a,b}' to JSON */
bool cat_needs_quotes(const char *name);

#endif
