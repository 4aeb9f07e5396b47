/*
 * Sources: where the tables are. A source gives its catalogue (tables,
 * columns, keys, NOT NULL) to the schema, and rows to the store.
 *
 *   FILE.db, sqlite:FILE    SQLite, read-only, one read transaction
 *   duckdb:FILE             DuckDB, read-only, where its library is there
 *   DIR                     a folder of NAME.csv files with a header line, and
 *                           of NAME.parquet
 *   postgresql://...        PostgreSQL, one REPEATABLE READ READ ONLY
 *                           transaction
 *   --table 'edge(src,dst)=FILE'   one delimited file
 *   --table 'edge=FILE.parquet'    Parquet; also a folder, or a pattern
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "cq/cq.h"
#include "store/store.h"

struct source;

/* Called from long loads, at most ten times a second; false cancels. */
struct progress {
    bool (*tick)(void *ctx, const char *what, uint64_t done, uint64_t total);
    void *ctx;
};

struct source_spec {
    struct str db;            /* empty: none */
    const struct str *tables; /* --table texts */
    size_t n_tables;
    struct str lock; /* of source_lock; empty: none */
};

/* Opens and reads the catalogue into the schema (tables the schema already
 * declares keep their declarations; catalogue keys are added). Reads no row,
 * except the header lines of delimited files. */
enum status source_open(struct mem *m, const struct source_spec *spec,
                        struct schema *s, struct source **out,
                        struct err *err) WARN_UNUSED;
/* The same source once more, for another process: the schema, which had it
 * merged already, stays as it is. */
enum status source_open_again(struct mem *m, const struct source_spec *spec,
                              struct schema *s, struct source **out,
                              struct err *err) WARN_UNUSED;
/* A schema as SQLite writes it, into `s`: the source has no rows. E_SYNTAX with
 * the place if SQLite cannot read it. */
enum status source_open_schema(struct mem *m, struct str text, const char *file,
                               struct schema *s, struct source **out,
                               struct err *err) WARN_UNUSED;
void source_close(struct source *src);
/* The descriptors that it keeps, at most SOURCE_KEPT of them. With these a
 * source of files alone serves a child of this process as it is: *whole. src
 * may be NULL. */
enum { SOURCE_KEPT = 64 };
size_t source_kept(const struct source *src, int out[SOURCE_KEPT], bool *whole);
/* CREATE TABLE statements whose CHECKs list the values of columns of the table,
 * as the catalogue has them. src may be NULL. */
const struct str *source_lists(const struct source *src, size_t table,
                               size_t *n);
/* E_TYPE if a column of a database has another type than the schema says. At
 * the open, and again when a policy was read since. src may be NULL. */
enum status source_check_types(const struct source *src,
                               struct err *err) WARN_UNUSED;
/* Takes out of the schema what is declared of a database's tables and not
 * enforced by it, and adds its text to `left_out`. PRIVACY: a constraint that
 * one row can break must not lower the noise. src may be NULL. */
void source_keep_enforced(const struct source *src, struct sb *left_out);
/* E_UNSUPPORTED if the query uses a view or the like: its rows are rows of
 * other tables too. A matter of the catalogue alone. src may be NULL. */
enum status source_allows(const struct source *src, const struct cq *q,
                          struct err *err) WARN_UNUSED;
/* Loads what the query needs: each table of an atom, the columns that are not
 * TERM_ANY in some atom. With q NULL: all columns of all tables. */
enum status source_load(struct source *src, const struct cq *q,
                        struct store *st, const struct progress *p,
                        struct err *err) WARN_UNUSED;
/* One table of a file or of SQLite, strictly: the wanted columns (NULL: all)
 * into the store, and all others read too. Nothing for tables of servers, views
 * and those that the source does not have. */
enum status source_load_strictly(struct source *src, size_t table,
                                 const bool *wanted, struct store *st,
                                 struct err *err) WARN_UNUSED;
/* The same columns, but each row once and those with NULLs left out: PostgreSQL
 * sends at most `limit` such rows, other sources may send all. */
enum status source_load_once(struct source *src, const struct cq *q,
                             size_t limit, struct store *st,
                             struct err *err) WARN_UNUSED;
/* The same columns, but a database may leave out rows that cannot matter to any
 * of the queries `rows` (NULLs among them are skipped), where no declared
 * constraint has to be checked on them. */
enum status source_load_for(struct source *src, const struct cq *columns,
                            const struct cq *const *rows, size_t n_rows,
                            struct store *st, const struct progress *p,
                            struct err *err) WARN_UNUSED;
/* Columns, types and keys of the query's tables as a text, to see whether they
 * are still the same. Failure is b->failed. */
void source_catalogue(const struct source *src, const struct cq *q,
                      struct sb *b);
/* The statement that keeps a server's tables of the query as they are, to be
 * given when the source is opened again: locked before the snapshot is taken,
 * catalogue and rows of it are of one state. Empty where there is none (files,
 * clusters). Failure is b->failed. */
void source_lock(const struct source *src, const struct cq *const *qs, size_t n,
                 struct sb *b);
bool source_is_server(const struct source *src); /* src may be NULL */
/* Has the table at most so many rows (of files: so many times 64 bytes)? Of
 * foreign tables no: they are of no snapshot. */
enum status source_is_small(struct source *src, size_t table, size_t rows,
                            bool *out, struct err *err) WARN_UNUSED;
/* Can be read twice: no file of it is a pipe. */
bool source_is_repeatable(const struct source *src);
/* A commented policy file (YAML) from the catalogue alone: every table
 * private, every key found. `src` may be NULL. Failure is b->failed. */
void source_policy(const struct schema *s, const struct source *src,
                   struct sb *b);
/* Hashes of what the files hold, SQLite's among them. Of a server: none. */
struct source_hash {
    unsigned char bytes[32];
};
struct source_print {
    struct source_hash *each;
    size_t n;
};
enum status source_fingerprint(struct source *src, struct arena *a,
                               struct source_print *out,
                               struct err *err) WARN_UNUSED;
/* Names, sizes and times of the files: where they are the same, so is, as far
 * as the file system tells, the content. *newest: the youngest time, in
 * seconds. False where that says nothing (servers, Parquet, DuckDB). Failure is
 * b->failed. */
bool source_stamp(const struct source *src, struct sb *b, int64_t *newest);
/* From now on what is loaded must be that content, byte for byte: E_DATA.
 * `print` is kept. It must have been taken before the source was opened. */
enum status source_expect(struct source *src, const struct source_print *print,
                          struct err *err) WARN_UNUSED;
/* After a database has counted in files that others may write (Parquet): are
 * they what was expected? E_DATA if not. */
enum status source_unchanged(const struct source *src,
                             struct err *err) WARN_UNUSED;
/* One table with all its columns into the store, from any source. */
enum status source_load_whole(struct source *src, size_t table,
                              struct store *st, const struct progress *p,
                              struct err *err) WARN_UNUSED;
/*
 * A sealed copy of the source: begin, tables that were loaded whole, end. The
 * file must not exist; it is complete and mode 0400, or not there. As a --db it
 * has the schema's tables, types, NOT NULL and keys.
 */
struct source_copy;
enum status source_copy_begin(const struct source *src, const char *path,
                              struct str version, struct source_copy **out,
                              struct err *err) WARN_UNUSED;
enum status source_copy_table(struct source_copy *c, size_t table,
                              const struct store_table *t,
                              struct err *err) WARN_UNUSED;
/* Frees c, also on failure. */
enum status source_copy_end(struct source_copy *c, struct err *err) WARN_UNUSED;
void source_copy_abort(struct source_copy *c); /* NULL allowed */
bool source_is_sealed_copy(const struct source *src);
bool source_has_files(const struct source *src); /* SQLite's among them */
/* Adds the cells to a hash: equal for equal tables. */
struct sha256;
void source_hash_rows(const struct store_table *t, struct sha256 *h);
/* Where the data are, without passwords. Failure is b->failed. */
void source_name(const struct source *src, struct sb *b);

/* Has the database plan what source_load_for would send, and send nothing.
 * E_UNSUPPORTED where its planner refuses. Nothing for files. */
enum status source_load_plan(struct source *src, const struct cq *columns,
                             const struct cq *const *rows, size_t n_rows,
                             struct store *st, struct err *err) WARN_UNUSED;
/* Limits for what the database does from now on: milliseconds for a statement
 * and for waiting for a lock, bytes on its disk; 0: its own. Where the role
 * may not set one it stays as it is. */
enum status source_limit(struct source *src, uint64_t milliseconds,
                         uint64_t bytes, struct err *err) WARN_UNUSED;
/* Rows are spread over several servers (Citus): what one transaction reads is
 * not one state of all of them. */
bool source_is_distributed(const struct source *src);
/* How many bytes all declared columns take: of a table by rows[table] if that
 * is not U128_INF, else by the catalogue's statistics, and then *believed is
 * set. */
enum status source_bytes(struct source *src, const u128 *rows, double *out,
                         bool *believed, struct err *err) WARN_UNUSED;
/* Is there a database that counts itself (PostgreSQL, DuckDB, Parquet)? */
bool source_counts(const struct source *src); /* src may be NULL */
#endif
