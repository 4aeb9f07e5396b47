/*
 * The store: tables in memory, column by column, immutable once loaded.
 * Only the columns that a query needs are loaded; the others are absent.
 *
 * Column layout by type:
 *   INT BOOL DATE TIMESTAMP TIME : i32[row] if every cell fits, else i64[row]
 *                                  (column_int reads either)
 *   REAL                         : f64[row]
 *   TEXT DEC UUID                : code[row] into dict (distinct strings, in
 *                                  rising order of value_cmp)
 * nulls: bit row of a bitmap, NULL pointer when no row is null; the cell of a
 * null row is 0.
 *
 * PRIVACY: what a cell means depends on the cell and on the public schema,
 * never on other rows. A column without a declared type is loaded as INT if
 * every cell is a 64-bit integer, else as DEC if every cell is a number, else
 * as TEXT whose first `n_numeric` dictionary entries are numbers (canonical
 * decimals): column_value gives them as numbers (T_INT if whole, so that 7 / 2
 * stays 3), so "7" stays equal to 7 when another row holds "x". Were the column
 * turned into text as a whole, one row could change every match of a join.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "schema/schema.h"

/* OWNER: what the cell rule (builder.h) did to the cells of a column. */
struct store_odd {
    size_t n_converted; /* not of the declared type, hence NULL */
    size_t n_missing;   /* NULL in a NOT NULL column */
    size_t first;       /* the first row with one, from 1; 0: none */
};

/* A cell that is not of its column's declared type, as the source has it. */
struct store_raw {
    size_t row;
    struct str text;
};

struct store_column {
    bool present;
    enum type type; /* never T_UNKNOWN once loaded */
    const int64_t *i64;
    const int32_t *i32;
    const double *f64;
    const uint32_t *code;
    const struct str *dict;
    size_t n_dict;
    size_t n_numeric; /* TEXT only: entries that are numbers, see above */
    bool inferred;    /* no declared type: `type` depends on rows, and whole
                       * numbers    of a dictionary are T_INT cell by cell */
    const uint64_t *nulls;
    struct store_odd odd;
    /* OWNER: of columns by which owners are found (`leads` in the schema): what
     * the cell rule took away. raw: by rising row; ghosts: the cells of rows
     * that do not exist, ill-typed ones as texts. */
    const struct store_raw *raw;
    size_t n_raw;
    const struct value *ghosts; /* n_ghosts of the table */
};

struct store_table {
    size_t n_rows;
    size_t n_ghosts;  /* rows that do not exist, if some column `leads` */
    size_t n_dropped; /* OWNER: rows that do not exist by the cell rule */
    struct store_column *cols; /* as many as the schema's table has */
    size_t n_cols;
    bool loaded;
};

struct store {
    struct mem *mem;
    struct arena arena; /* tables and the texts of dictionaries */
    const struct schema *schema;
    struct store_table *tables; /* index = schema's table index */
    size_t n_tables;
};

static inline bool column_is_null(const struct store_column *c, size_t row)
{
    return c->nulls && ((c->nulls[row >> 6] >> (row & 63)) & 1);
}
/* Is it one of the types that are whole numbers inside? */
static inline bool column_has_ints(const struct store_column *c)
{
    return c->i64 || c->i32;
}
static inline int64_t column_int(const struct store_column *c, size_t row)
{
    return c->i32 ? c->i32[row] : c->i64[row];
}
struct value column_value(const struct store_column *c, size_t row);

enum status store_new(struct mem *m, const struct schema *s, struct store **out,
                      struct err *err) WARN_UNUSED;
void store_free(struct store *st); /* NULL allowed */

/* The value of a dictionary entry of a TEXT, DEC or UUID column. */
struct value column_dict_value(const struct store_column *c, size_t code);

/*
 * Filling one table: begin with the wanted columns (NULL: all), append row by
 * row, end. A cell that is not of its column's declared type is NULL; a row
 * with a NULL in a NOT NULL column is left out (the cell rule, builder.h).
 * Loading a table again replaces what was loaded.
 */
struct store_loader;
enum status store_load_begin(struct store *st, size_t table, const bool *wanted,
                             struct store_loader **out,
                             struct err *err) WARN_UNUSED;
/* Finishes (sorts dictionaries) and frees the loader, also on failure. */
enum status store_load_end(struct store_loader *l, struct err *err) WARN_UNUSED;
void store_load_abort(struct store_loader *l); /* NULL allowed */

/* Out of memory: E_LIMIT if --memory said no, else E_NOMEM. */
enum status store_nomem(const struct mem *m, struct err *err);

#endif
