/*
 * Expressions, columns and constants as SQL of PostgreSQL. The text means just
 * what the embedded engine computes, and never fails on some rows only; what
 * the database might do differently is E_UNSUPPORTED. Who writes says what the
 * columns are called and what the server is like (struct sqlgen); nothing here
 * talks to a server.
 */
#ifndef SQLGEN_SQLGEN_H
#define SQLGEN_SQLGEN_H

#include "cq/cq.h"

struct sqlgen_col {
    struct str name;
    enum type type; /* T_UNKNOWN: none that is read natively */
    bool has_zone;  /* timestamp with time zone: read in UTC */
    bool is_oid;    /* the server's unsigned 32-bit type */
    struct str sql; /* DuckDB: how its value is written, with marks */
};

/* No name or literal that is written has this byte. */
#define SQLGEN_MARK '\1'

/* What the SQL is written for. */
struct sqlgen {
    const struct cq *q;
    bool duckdb;  /* its dialect: less is written, the rest is refused */
    bool marked;  /* SQLGEN_MARK stands before columns' names, for an alias */
    bool is_utf8; /* other encodings order and measure texts differently */
    int version;  /* of the server, as 150002 */
    /* The column of the server that is column `col` of the schema's table. */
    bool (*column)(const void *ctx, uint32_t table, uint32_t col,
                   struct sqlgen_col *out);
    const void *ctx;
    /* How a variable is written where an expression stands outside of its
     * atom; NULL: as a column of the atom. */
    enum status (*write_var)(const void *vars, uint32_t var, struct sb *b,
                             struct err *err);
    const void *vars;
};

/* The name in double quotes, quotes doubled: SQL of all databases. */
void sqlgen_ident(struct sb *b, struct str name);
/* A literal that no setting of the server reads otherwise. */
void sqlgen_text(struct sb *b, struct str s);

/* sqlgen_expr.c */
/* SQL with marks: they stay where marks are asked for, and go otherwise. */
void sqlgen_marked(const struct sqlgen *c, struct str sql, struct sb *b);
/* The SQL of a column as a value of its type. */
enum status sqlgen_column(const struct sqlgen *c, uint32_t atom, uint32_t col,
                          struct sb *b, struct err *err) WARN_UNUSED;
enum status sqlgen_const(const struct sqlgen *c, const struct value *v,
                         struct sb *b, struct err *err) WARN_UNUSED;
enum status sqlgen_refuse_expr(struct err *err, const char *what);

/* sqlgen_node.c */
/* The SQL of an expression over one atom, and of a variable inside it (a
 * column or a computed value). The builder's arena is used. */
enum status sqlgen_expr(const struct sqlgen *c, uint32_t atom,
                        const struct expr *e, struct sb *b,
                        struct err *err) WARN_UNUSED;
enum status sqlgen_var(const struct sqlgen *c, uint32_t atom, uint32_t var,
                       struct sb *b, struct err *err) WARN_UNUSED;

struct sqlgen_nodes;
struct sqlgen_out { /* where a part of an expression is written to */
    const struct sqlgen *c;
    uint32_t atom;
    struct sqlgen_nodes *nodes;
    struct sb *b;
    struct err *err;
};

/* The SQL of an argument, short enough to be written several times. */
enum status sqlgen_part(const struct sqlgen_out *o, const struct expr *e,
                        struct str *out) WARN_UNUSED;
enum status sqlgen_write_var(const struct sqlgen_out *o,
                             uint32_t var) WARN_UNUSED;
/* sqlgen_expr.c: the SQL of a node over its parts, however long. */
enum status sqlgen_write(const struct sqlgen_out *o,
                         const struct expr *e) WARN_UNUSED;
/* sqlgen_func.c */
enum status sqlgen_function(const struct sqlgen_out *o,
                            const struct expr *e) WARN_UNUSED;
/* A date that was computed from another. The database's calendar may not have
 * it, so it is only compared, by its days. */
bool sqlgen_is_date_sum(const struct expr *e);
enum status sqlgen_days(const struct sqlgen_out *o,
                        const struct expr *e) WARN_UNUSED;
/* sqlgen_num.c */
/* An integer or decimal as numeric; NULL where it is no number, or longer
 * than EXPR_MAX_DIGITS. */
enum status sqlgen_numeric(const struct sqlgen_out *o, const struct expr *e,
                           struct str *out) WARN_UNUSED;
/* + - * abs floor ceil round div mod, and the nearest double. */
enum status sqlgen_arithmetic(const struct sqlgen_out *o,
                              const struct expr *e) WARN_UNUSED;
enum status sqlgen_to_real(const struct sqlgen_out *o,
                           const struct expr *e) WARN_UNUSED;
/* Can the database compare these types exactly as dpcount does? */
bool sqlgen_same_order(enum type a, enum type b);

#endif
