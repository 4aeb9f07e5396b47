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
    size_t n_domain;
};
struct ddl_types {
    struct arena *arena;
    VEC(struct user_type) list;
};
enum status ddl_add_enum(struct ddl_types *t, const json_t *stmt,
                         struct err *err);
enum status ddl_add_domain(struct ddl_types *t, const json_t *stmt,
                           struct err *err);
/* Gives a column the type of that name, if the file made one. */
void ddl_apply(const struct ddl_types *t, const char *name, struct column *out);
/* ddl_lists.c: the column of x IN ('a', 'b') or x = ANY (ARRAY['a', 'b']), and
 * the list; NULL: another condition. */
const char *ddl_listed(const json_t *e, const json_t **list);
/* The list of a CHECK, unless the column has another; own: the column that the
 * CHECK stands at, which a domain's calls VALUE, or -1. */
enum status ddl_add_list(struct schema *s, size_t table, long own,
                         const json_t *condition, struct err *err);
/* Constants as values of a type; n 0 if one of them is none. */
enum status ddl_values(struct arena *a, const json_t *list, enum type t,
                       struct value **out, size_t *n, struct err *err);

#endif
