/*
 * What reading CREATE TABLE needs besides: a text that PostgreSQL's grammar
 * takes, and the types that the file itself makes.
 */
#ifndef SQL_DDL_INT_H
#define SQL_DDL_INT_H

#include "sql/sql_int.h"

/* ddl_clean.c: what pg_dump and sqlite3 write besides SQL is blanked out, so
 * that places stay: lines of psql (\restrict), rows of COPY, AUTOINCREMENT,
 * WITHOUT ROWID, STRICT; `x` and [x] become "x". */
enum status ddl_clean(struct arena *a, struct str text, struct str *out,
                      struct err *err);

/* ddl_types.c */
struct user_type {
    struct str name;
    enum type type;
    bool is_enum, not_null;
    struct value *domain;
    uint32_t chars; /* of a domain's texts, as in struct column */
    struct number_size digits;
    size_t n_domain;
    VEC(struct str) checks; /* of its VALUE */
};
struct ddl_types {
    struct arena *arena;
    VEC(struct user_type) list;
};
enum status ddl_add_enum(struct ddl_types *t, const json_t *stmt,
                         struct err *err);
enum status ddl_add_domain(struct ddl_types *t, const char *text,
                           const json_t *stmt, struct err *err);
/* What char(n) or numeric(p, s) says of the size; out->type is known. */
void ddl_take_size(const json_t *type_name, struct column *out);
/* Gives a column the type of that name, if the file made one. */
void ddl_apply(const struct ddl_types *t, const char *name, struct column *out);
/* ddl_checks.c: the condition of a CHECK as it stands in the text that was
 * parsed; empty: it cannot be cut out. */
struct str ddl_condition(const char *text, const json_t *constraint);
/* The table has this CHECK; own: the column that it stands at, or -1. */
enum status ddl_add_check(struct schema *s, size_t table, long own,
                          struct str condition, struct err *err);
/* The same of a constraint of the text that was parsed, as a list if it is one
 * that the column does not have yet. */
enum status ddl_take_check(struct schema *s, size_t table, long own,
                           const char *text, const json_t *constraint,
                           struct err *err);
/* The column has what the file's type of that name checks. */
enum status ddl_apply_checks(const struct ddl_types *t, const char *name,
                             struct schema *s, size_t table, long col,
                             struct err *err);
/* ddl_lists.c: the column of x IN ('a', 'b') or x = ANY (ARRAY['a', 'b']), and
 * the list; NULL: another condition. */
const char *ddl_listed(const json_t *e, const json_t **list);
bool ddl_is_list(const json_t *e); /* and says nothing else */
/* The list of a CHECK, unless the column has another; own: the column that the
 * CHECK stands at, which a domain's calls VALUE, or -1. */
enum status ddl_add_list(struct schema *s, size_t table, long own,
                         const json_t *condition, struct err *err);
/* Constants as values of a type; n 0 if one of them is none. */
enum status ddl_values(struct arena *a, const json_t *list, enum type t,
                       struct value **out, size_t *n, struct err *err);

#endif
