/*
 * What a call gives back: JSON and text, the rows of the SELECT as cells, and
 * what was paid. It has memory of its own, so it outlives what it came from.
 * PRIVACY: filled from what was released, or by the owner's commands.
 */
#ifndef RELEASE_RESULT_H
#define RELEASE_RESULT_H

#include "base/vec.h"
#include "schema/value.h"

typedef VEC(struct str) str_list;

enum result_role { RESULT_KEY, RESULT_COUNT, RESULT_ERROR };
struct result_column {
    struct str name;
    enum type type;
    enum result_role role;
};

struct result {
    struct mem mem;
    struct arena arena;
    struct sb json, text;
    bool error_columns; /* asked for, behind each column of numbers */
    VEC(struct result_column) columns;
    size_t n_rows;
    str_list cells;                 /* row by row; p NULL: NULL */
    VEC(enum type) parameters;      /* $1, $2, ... */
    struct str epsilon, delta, rho; /* the price; p NULL: no such one */
    str_list guarantees, receipts;  /* of each count */
    bool repeated;
    bool failed; /* no memory for some of it */
};

struct result *result_new(void); /* NULL when memory is out */
void result_free(struct result *r);
bool result_failed(const struct result *r);

struct sql_after;
struct answer_table;
struct price;
/* The columns of the SELECT; the first n_keys variables of its expressions are
 * keys. */
void result_set_columns(struct result *r, const struct sql_after *after,
                        size_t n_keys);
/* Columns and rows. */
void result_set_table(struct result *r, const struct answer_table *t);
/* A table that is no SELECT's. */
void result_add_column(struct result *r, const char *name, enum type type);
void result_add_row(struct result *r, const struct str *cells, size_t n);
void result_set_price(struct result *r, const struct price *p);
void result_add_guarantee(struct result *r, struct str sentence);
void result_add_receipt(struct result *r, struct str receipt);
/* All of it as bytes, and back into a new one. */
void result_write(struct sb *b, const struct result *r);
enum status result_read(struct result *r, struct str bytes,
                        struct err *err) WARN_UNUSED;

#endif
