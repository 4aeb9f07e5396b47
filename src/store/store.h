/*
 * The store: tables in memory, column by column, immutable once loaded.
 * Only the columns that a query needs are loaded; the others are absent.
 *
 * Column layout by type:
 *   INT BOOL DATE TIMESTAMP TIME : i64[row]
 *   REAL                         : f64[row]
 *   TEXT DEC UUID                : code[row] into dict (distinct strings, in
 *                                  rising order of value_cmp)
 * nulls: bit row of a bitmap, NULL pointer when no row is null.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "schema/schema.h"

struct store_column {
    bool present;
    enum type type; /* never T_UNKNOWN once loaded */
    const int64_t *i64;
    const double *f64;
    const uint32_t *code;
    const struct str *dict;
    size_t n_dict;
    const uint64_t *nulls;
};

struct store_table {
    size_t n_rows;
    struct store_column *cols; /* as many as the schema's table has */
    size_t n_cols;
    bool loaded;
};

struct store {
    struct mem *mem;
    const struct schema *schema;
    struct store_table *tables; /* index = schema's table index */
    size_t n_tables;
};

static inline bool column_is_null(const struct store_column *c, size_t row)
{
    return c->nulls && ((c->nulls[row >> 6] >> (row & 63)) & 1);
}
struct value column_value(const struct store_column *c, size_t row);

enum status store_new(struct mem *m, const struct schema *s, struct store **out,
                      struct err *err) WARN_UNUSED;
void store_free(struct store *st); /* NULL allowed */

/*
 * Filling one table: begin with the wanted columns, append row by row (or
 * column chunks), end. The loader infers T_UNKNOWN columns: INT if all
 * non-null values are 64-bit integers, else DEC, else REAL, else TEXT.
 */
struct store_loader;
enum status store_load_begin(struct store *st, size_t table, const bool *wanted,
                             struct store_loader **out,
                             struct err *err) WARN_UNUSED;
/* vals: one per wanted column, in column order, as text; p NULL is NULL. */
enum status store_load_text(struct store_loader *l, const struct str *vals,
                            struct err *err) WARN_UNUSED;
/* The same with typed values. */
enum status store_load_values(struct store_loader *l, const struct value *vals,
                              struct err *err) WARN_UNUSED;
/* Finishes (sorts dictionaries) and frees the loader, also on failure. */
enum status store_load_end(struct store_loader *l, struct err *err) WARN_UNUSED;
void store_load_abort(struct store_loader *l);

#endif
