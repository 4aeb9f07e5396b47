/*
 * The catalogue that clients of PostgreSQL 15 look into: pg_catalog and
 * information_schema over the owner's public facts, in SQLite in memory.
 *
 * PRIVACY: it is built from the public snapshot alone, so no row and no size
 * of a private table can be in it: reltuples and relpages are -1 and 0,
 * statistics are empty, sizes NULL, OIDs come from a counter.
 *
 * A statement is read by PostgreSQL's parser and written again as SQLite text
 * (cat_select.c, cat_expr.c); what is not understood is refused with 0A000,
 * never guessed. Built once to bytes; every connection opens them read-only.
 *
 * Cost: building some milliseconds, opening one, a query what SQLite takes,
 * within CATALOGUE_STEPS.
 */
#ifndef CATALOGUE_CATALOGUE_H
#define CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CATALOGUE_STEPS = 50 * 1000 * 1000, /* of SQLite's machine, a query */
    CATALOGUE_ROWS = 100 * 1000,        /* in a result */
    CATALOGUE_BYTES = 64 << 20,         /* in a result */
    CATALOGUE_TEXT = 1 << 20            /* of a statement */
};

/* --- what it is built from; the caller's ---------------------------------- */

struct catalogue_column {
    const char *name;
    const char *type; /* PostgreSQL's name: "integer", "text", "date", .. */
    int typmod;       /* PostgreSQL's; -1: none */
    bool not_null;
    const char *comment; /* or NULL */
};

/* Columns are numbers from 0. A name that is NULL is made as PostgreSQL does.
 */
struct catalogue_key {
    const char *name;
    bool primary;
    const size_t *columns;
    size_t n;
};

struct catalogue_reference {
    const char *name;
    const size_t *columns, *others; /* others: of the table that is named */
    size_t n;
    size_t table; /* its number in the source */
};

struct catalogue_table {
    const char *schema, *name; /* schema NULL: public */
    const char *comment;       /* "private: ..."; or NULL */
    const struct catalogue_column *columns;
    size_t n_columns;
    const struct catalogue_key *keys;
    size_t n_keys;
    const struct catalogue_reference *references;
    size_t n_references;
};

struct catalogue_source {
    const char *database; /* the data set's name */
    const struct catalogue_table *tables;
    size_t n_tables;
};

/* --- errors --------------------------------------------------------------- */

struct catalogue_error {
    char sqlstate[6];
    char message[300];
    char hint[200]; /* "" for none */
    long position;  /* bytes from 0 in the statement; -1: none */
};

/* --- building, opening ---------------------------------------------------- */

/* Bytes to be freed with free(). */
bool catalogue_build(const struct catalogue_source *source, unsigned char **out,
                     size_t *n, struct catalogue_error *err);

struct catalogue; /* used by one thread at a time */

/* The bytes must outlive it; they are not written to. The user is the role
 * that is shown as one's own. Limits SQLite's memory in this process. */
bool catalogue_open(const void *bytes, size_t n, const char *user,
                    struct catalogue **out, struct catalogue_error *err);
void catalogue_close(struct catalogue *c);

/* What pg_settings, current_setting() and SHOW tell; false: unknown name. A
 * value of NULL leaves it. Names of pg_settings only. */
bool catalogue_setting(struct catalogue *c, const char *name, const char *value,
                       char *out, size_t n);

/* --- whose statement is it ------------------------------------------------ */

enum catalogue_kind {
    CATALOGUE_SYNTAX, /* not to be parsed; err tells */
    CATALOGUE_OTHER,  /* no SELECT and no VALUES, or several statements */
    CATALOGUE_SYSTEM, /* over system relations or none: for catalogue_run */
    CATALOGUE_OWNER,  /* over the owner's tables */
    CATALOGUE_MIXED   /* over both: refuse with 0A000 */
};
enum catalogue_kind catalogue_classify(const char *sql,
                                       struct catalogue_error *err);

/* --- one SELECT ----------------------------------------------------------- */

struct catalogue_parameter {
    uint32_t type;    /* OID; 0: inferred */
    const char *text; /* PostgreSQL's text form; NULL: NULL */
};

struct catalogue_field {
    const char *name;
    uint32_t type; /* OID */
    int typmod;
    int len; /* typlen, as RowDescription wants it */
};

struct catalogue_rows {
    size_t n_fields, n_rows, n_parameters;
    struct catalogue_field *fields;
    const char **cells;   /* n_rows * n_fields, row by row; NULL: NULL */
    uint32_t *parameters; /* the types that were given or inferred */
    void *memory;
};

/* The result's fields and parameters without running it. The statement is of
 * the kind CATALOGUE_SYSTEM; others are refused. */
bool catalogue_describe(struct catalogue *c, const char *sql,
                        const uint32_t *types, size_t n_types,
                        struct catalogue_rows *out,
                        struct catalogue_error *err);
bool catalogue_run(struct catalogue *c, const char *sql,
                   const struct catalogue_parameter *parameters,
                   size_t n_parameters, struct catalogue_rows *out,
                   struct catalogue_error *err);
void catalogue_rows_free(struct catalogue_rows *r);

#endif
