/*
 * Counting by DuckDB itself, for those who write the SQL (module pushdown).
 */
#ifndef SOURCE_DUCKDB_DUCKDB_H
#define SOURCE_DUCKDB_DUCKDB_H

#include "source/source_int.h"

struct duck; /* an instance */
struct sqlgen;
/* How SQL over the source's tables is written, for q. */
void duck_sqlgen(const struct source *src, const struct cq *q,
                 struct sqlgen *out);
/* The instance that has the table. */
struct duck *duck_of(const struct source *src, const struct src_table *t);
/* Counting: it may take what the source's limit leaves. */
enum status duck_for_counting(const struct source *src, const struct duck *d,
                              struct err *err) WARN_UNUSED;
/* Plans the statement and runs nothing. */
enum status duck_plan(const struct duck *d, const char *sql,
                      struct err *err) WARN_UNUSED;
/* Runs it task by task, ticking, and calls fn for each row, all of texts.
 * PRIVACY: what goes wrong is told in fixed words. */
typedef enum status (*duck_texts_fn)(void *ctx, const struct str *cells,
                                     struct err *err);
enum status duck_texts(const struct duck *d, const char *sql, uint64_t n_cols,
                       struct ticker *t, duck_texts_fn fn, void *ctx,
                       struct err *err) WARN_UNUSED;

/* FROM this: the table, or read_parquet of its files. */
void duck_from(struct sb *b, const struct src_table *t);

#endif
