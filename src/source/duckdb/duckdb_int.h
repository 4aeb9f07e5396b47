/*
 * A DuckDB instance: a database file, read-only, or one in memory through which
 * Parquet files are read. One thread, no extension is fetched or loaded.
 */
#ifndef SOURCE_DUCKDB_DUCKDB_INT_H
#define SOURCE_DUCKDB_DUCKDB_INT_H

#include "source/duckdb/duckdb.h"
#include "source/duckdb/duckdb_lib.h"
#include "source/source_int.h"

struct duck {
    const struct duck_lib *lib;
    duck_handle db, con;
    struct str path; /* empty: in memory, for Parquet */
    struct str room; /* a folder for what memory does not hold; empty: none */
    int room_fd;     /* locked for as long as it is used */
};

/* The files of a Parquet table, open from the start: what is read is what was
 * open, also if a name means another file by then. */
struct duck_files {
    struct str *paths;
    int *fds;
    size_t n;
};

/* duckdb_room.c */
enum status duck_room_open(struct arena *a, struct duck *d,
                           struct err *err) WARN_UNUSED;
void duck_room_close(struct duck *d);

/* path NULL: in memory. */
enum status duck_connect(struct source *src, const char *path,
                         struct duck **out, struct err *err) WARN_UNUSED;
void duck_disconnect(struct duck *d); /* NULL allowed */
/* "could not read DuckDB database ...", with its words on one line. */
enum status duck_failed(const struct duck *d, const char *what,
                        const char *words, struct err *err);

/* A query whose rows come in chunks. */
struct duck_rows {
    const struct duck *d;
    duck_handle stmt, chunk;
    struct duck_result res;
    uint64_t n; /* rows of the chunk */
};
enum status duck_begin(const struct duck *d, const char *sql,
                       struct duck_rows *r, struct err *err) WARN_UNUSED;
/* The next chunk; *more is false at the end. */
enum status duck_next(struct duck_rows *r, bool *more,
                      struct err *err) WARN_UNUSED;
void duck_end(struct duck_rows *r);

struct duck_vector {
    const void *data;
    const uint64_t *valid; /* NULL: no NULL among them */
};
struct duck_vector duck_column(const struct duck_rows *r, uint64_t col);
static inline bool duck_is_null(const struct duck_vector *v, uint64_t row)
{
    return v->valid && !(v->valid[row / 64] >> (row % 64) & 1);
}
static inline struct str duck_text_at(const struct duck_vector *v, uint64_t row)
{
    const union duck_text *t = (const union duck_text *)v->data + row;
    return (struct str){t->n <= sizeof t->inside ? t->inside : t->outside,
                        t->n};
}

/* One column of a chunk, and how a cell of it is taken. */
struct duck_cells;
typedef enum status (*duck_cell_fn)(struct store_loader *l,
                                    const struct duck_cells *c, uint64_t row,
                                    struct err *err);
struct duck_cells {
    struct duck_vector v;
    size_t i; /* the loader's column */
    int type;
    unsigned scale;
    duck_cell_fn fn;
};

/* duckdb_columns.c */
extern const int64_t duck_first_day, duck_last_day, duck_first_moment;
/* Before the first row. */
void duck_narrow(struct store_loader *l, const struct duck_cells *cells);
/* Can no cell of the chunk's n rows be odd, and no row be one that does not
 * exist? */
bool duck_is_plain(const struct store_loader *l, const struct duck_cells *cells,
                   uint64_t n);
/* Such a chunk. */
enum status duck_put_columns(struct store_loader *l,
                             const struct duck_cells *cells, uint64_t n,
                             struct err *err) WARN_UNUSED;

/* Calls fn for each row of a query of the catalogue; v: its columns, texts. */
typedef enum status (*duck_row_fn)(struct source *src,
                                   const struct duck_vector *v, uint64_t row,
                                   struct err *err);
enum status duck_each_row(struct source *src, const struct duck *d,
                          const char *sql, uint64_t n_cols, duck_row_fn fn,
                          struct err *err) WARN_UNUSED;
/* type: as DuckDB calls it. */
enum status duck_add_column(struct source *src, struct src_table *t,
                            struct str name, struct str type, bool not_null,
                            struct err *err) WARN_UNUSED;

/* How a column is asked for: as it is, or as a text. */
void duck_select(struct sb *b, const struct src_column *c);

#endif
