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

struct sql_col {
    struct str name;
    enum type type; /* T_UNKNOWN: none that is read natively */
    bool has_zone;  /* timestamp with time zone: read in UTC */
    bool is_oid;    /* the server's unsigned 32-bit type */
};

/* What the SQL is written for. */
struct sqlgen {
    const struct cq *q;
    bool is_utf8; /* other encodings order and measure texts differently */
    int version;  /* of the server, as 150002 */
    /* The column of the server that is column `col` of the schema's table. */
    bool (*column)(const void *ctx, uint32_t table, uint32_t col,
                   struct sql_col *out);
    const void *ctx;
};

/* The name in double quotes, quotes doubled: SQL of all databases. */
void sql_ident(struct sb *b, struct str name);
/* A literal that no setting of the server reads otherwise. */
void sql_text(struct sb *b, struct str s);

/* sqlgen_expr.c */
/* The SQL of a column as a value of its type. */
enum status sql_column(const struct sqlgen *c, uint32_t atom, uint32_t col,
                       struct sb *b, struct err *err) WARN_UNUSED;
enum status sql_const(const struct value *v, struct sb *b,
                      struct err *err) WARN_UNUSED;
enum status sql_refuse_expr(struct err *err, const char *what);

/* sqlgen_node.c */
/* The SQL of an expression over one atom, and of a variable inside it (a
 * column or a computed value). The builder's arena is used. */
enum status sql_expr(const struct sqlgen *c, uint32_t atom,
                     const struct expr *e, struct sb *b,
                     struct err *err) WARN_UNUSED;
enum status sql_var(const struct sqlgen *c, uint32_t atom, uint32_t var,
                    struct sb *b, struct err *err) WARN_UNUSED;

struct sql_nodes;
struct sql_out { /* where a part of an expression is written to */
    const struct sqlgen *c;
    uint32_t atom;
    struct sql_nodes *nodes;
    struct sb *b;
    struct err *err;
};

/* The SQL of an argument, short enough to be written several times. */
enum status sql_part(const struct sql_out *o, const struct expr *e,
                     struct str *out) WARN_UNUSED;
enum status sql_write_var(const struct sql_out *o, uint32_t var) WARN_UNUSED;
/* sqlgen_expr.c: the SQL of a node over its parts, however long. */
enum status sql_write(const struct sql_out *o,
                      const struct expr *e) WARN_UNUSED;
/* sqlgen_func.c */
enum status sql_function(const struct sql_out *o,
                         const struct expr *e) WARN_UNUSED;
/* A date that was computed from another. The database's calendar may not have
 * it, so it is only compared, by its days. */
bool sql_is_date_sum(const struct expr *e);
enum status sql_days(const struct sql_out *o, const struct expr *e) WARN_UNUSED;
/* sqlgen_num.c */
/* An integer or decimal as numeric; NULL where it is no number, or longer
 * than EXPR_MAX_DIGITS. */
enum status sql_numeric(const struct sql_out *o, const struct expr *e,
                        struct str *out) WARN_UNUSED;
/* + - * abs floor ceil round div mod, and the nearest double. */
enum status sql_arithmetic(const struct sql_out *o,
                           const struct expr *e) WARN_UNUSED;
enum status sql_to_real(const struct sql_out *o,
                        const struct expr *e) WARN_UNUSED;
/* Can the database compare these types exactly as dpcount does? */
bool sql_same_order(enum type a, enum type b);

#endif
