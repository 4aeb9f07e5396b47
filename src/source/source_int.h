/*
 * What the files of the source module share: the tables a source offers and
 * the functions each kind of source provides.
 */
#ifndef SOURCE_SOURCE_INT_H
#define SOURCE_SOURCE_INT_H

#include "source/source.h"
#include "store/builder.h"

/* A column as the catalogue has it. */
struct src_column {
    struct str name;
    struct str stored; /* sealed copy: its name there; else empty */
    enum type type;    /* T_UNKNOWN: not said */
    bool not_null;
    bool has_scale; /* numeric(p, s) */
    uint8_t scale;
    uint32_t chars; /* PostgreSQL: char(n), varchar(n); 0: any number */
    struct number_size digits;
    bool as_text;      /* PostgreSQL: cast to text by the server */
    bool is_enum;      /* PostgreSQL: has an order of its own */
    bool is_padded;    /* PostgreSQL: char(n) */
    bool is_varchar;   /* PostgreSQL: varchar */
    bool text_only;    /* PostgreSQL: equal by rules of its own */
    bool by_class;     /* SQLite: 1, '1' and '01' are different in it */
    bool is_row_id;    /* SQLite: INTEGER PRIMARY KEY */
    bool own_text;     /* a function of the database's users makes its text */
    bool as_timestamp; /* DuckDB: seconds or milliseconds */
    /* DuckDB: its value, with marks (sqlgen.h); empty: it can only be read */
    struct str sql;
    uint32_t type_oid; /* PostgreSQL: of the base type */
};

struct src_key { /* UNIQUE or PRIMARY KEY */
    uint32_t *cols;
    size_t n_cols;
    /* the database keeps two rows from having what is equal here */
    bool enforced;
    uint64_t number; /* in a sealed copy */
};

struct src_fk {
    uint32_t *cols; /* positions here */
    struct str *ref_cols;
    size_t n_cols;
    struct str ref_table;
    uint64_t number; /* in a sealed copy */
};

struct duck_files;
enum src_kind { SRC_FILE, SRC_SQLITE, SRC_PG, SRC_DUCKDB };

struct src_table {
    enum src_kind kind;
    struct str name;
    struct str stored; /* sealed copy: its name there; else empty */
    uint64_t number;   /* sealed copy */
    struct str namespace_;
    struct src_column *cols;
    size_t n_cols;
    VEC(struct src_key) keys;
    VEC(struct src_fk) fks;
    /* CREATE TABLE statements whose CHECKs list values of columns */
    VEC(struct str) lists;
    struct str path; /* file */
    int kept;        /* file: its descriptor; -1: opened whenever it is read */
    struct duck_files *parquet; /* Parquet: its files; else NULL */
    bool has_header;            /* file: the first line names the columns */
    /* file: what the policy says of it, or NULL */
    const struct file_form *form;
    /* file: what it must hold when it is loaded; NULL: whatever */
    const struct source_hash *expected;
    bool comments; /* file: lines that start with # are skipped */
    /* PostgreSQL: by its statistics, not to be relied on; <= 0: not known */
    double believed_rows;
    const char *refused; /* "a view": listed, but not to be queried */
    const char *refused_why, *refused_hint; /* NULL: those of a view */
    bool is_lockable; /* PostgreSQL: a table of its own, no foreign one */
    bool is_strict;   /* SQLite: cells are of their columns' types */
    bool is_outside;  /* PostgreSQL: its schema is not on the search path */
    size_t table;     /* index in the schema, set by the merge */
    uint32_t *to;     /* column i here is column to[i] of the schema */
};

struct source {
    struct mem *mem;
    struct arena arena;
    struct schema *schema;
    VEC(struct src_table) tables;
    struct sqlite3 *sqlite;
    struct str sqlite_path;
    struct str lock; /* PostgreSQL: the transaction's first statement */
    bool is_sealed;  /* SQLite: a copy of seal --out */
    struct pg *pg;
    struct duck *duckdb, *parquet; /* of --db; for Parquet files */
};

/* Progress of one table; ticks at most ten times a second. */
struct ticker {
    const struct progress *p;
    const char *what;
    uint64_t total;
    bool counts;  /* the database counts, nothing is loaded */
    int64_t last; /* nanoseconds of the monotonic clock */
};
void ticker_init(struct ticker *t, const struct progress *p, const char *what,
                 uint64_t total);
/* E_CANCELLED when the user wants to stop. */
enum status ticker_tick(struct ticker *t, uint64_t done,
                        struct err *err) WARN_UNUSED;

/* src_table.c: the column has these values: "VALUE IN ('a', 'b')", in the
 * grammar of PostgreSQL; column empty: a condition that names its columns. */
enum status source_add_list(struct source *src, struct src_table *t,
                            struct str column, struct str condition,
                            struct err *err) WARN_UNUSED;

/* source.c: a new table of the source, in the arena; NULL: no memory. */
struct src_table *source_add(struct source *src);
const struct src_table *source_find_table(const struct source *src,
                                          size_t table); /* or NULL */
/* The column of the table that is this one of the schema's; NULL: none. */
const struct src_column *source_find_column(const struct source *src,
                                            size_t table, uint32_t col);
/* Room for one more, zeroed; NULL: no memory. */
struct src_column *source_add_column(struct source *src, struct src_table *t);
/* E_UNSUPPORTED: a view and the like. */
enum status source_refuse(const struct src_table *t, struct err *err);
/* spec.c: --table texts and folders of CSV files. */
enum status spec_add_file(struct source *src, struct str text,
                          struct err *err) WARN_UNUSED;
enum status spec_add_folder(struct source *src, const char *path,
                            struct err *err) WARN_UNUSED;

/* merge.c: the catalogue into the schema. */
enum status merge_table(struct source *src, struct src_table *t,
                        struct err *err) WARN_UNUSED;
enum status merge_foreign_keys(struct source *src, const struct src_table *t,
                               struct err *err) WARN_UNUSED;

/* enforced.c: does the database itself keep everything that is declared of the
 * table? */
bool source_enforces_all(const struct src_table *t, const struct table *st);

/* fingerprint.c: E_DATA if h is not what was expected of the table's file. */
struct sha256;
enum status source_as_expected(const struct src_table *t, struct sha256 *h,
                               struct err *err) WARN_UNUSED;

/* delim_load.c: rows of a delimited file. wanted: by schema column. */
enum status file_load(struct source *src, const struct src_table *t,
                      struct store_loader *l, const struct progress *p,
                      struct err *err) WARN_UNUSED;
/* The names in the first record. */
enum status file_header(struct arena *a, const struct src_table *t,
                        struct str **names, size_t *n,
                        struct err *err) WARN_UNUSED;
/* first_bytes.c: E_SOURCE for what is no text, by its first n bytes. */
enum status file_is_text(const char *path, const char *p, size_t n,
                         struct err *err) WARN_UNUSED;

/* sqlite.c */
enum status sqlite_open(struct source *src, const char *path,
                        struct err *err) WARN_UNUSED;
void sqlite_close(struct source *src);
enum status sqlite_catalogue(struct source *src, struct err *err) WARN_UNUSED;
/* sqlite_schema.c: a database without rows by the text of its schema; E_SYNTAX
 * with the place where SQLite does not understand it. */
enum status sqlite_open_schema(struct source *src, const char *file,
                               struct str text, struct err *err) WARN_UNUSED;
enum status sqlite_load(struct source *src, const struct src_table *t,
                        struct store_loader *l, const struct progress *p,
                        struct err *err) WARN_UNUSED;

/* Has the table more rows than that? */
enum status sqlite_has_more(struct source *src, const struct src_table *t,
                            size_t rows, bool *out,
                            struct err *err) WARN_UNUSED;

/* sealed_copy.c: its catalogue, in place of SQLite's. */
enum { SOURCE_COPY_ID = 0x64706373 }; /* PRAGMA application_id: "dpcs" */
enum status sqlite_sealed_catalogue(struct source *src,
                                    struct err *err) WARN_UNUSED;
/* Reads every cell, keeps none: a page that cannot be read is E_SOURCE. */
enum status sqlite_read_all(struct source *src, const struct src_table *t,
                            struct err *err) WARN_UNUSED;

/* pg.c, pg_catalogue.c, pg_load.c */
enum status pg_open(struct source *src, const char *conninfo,
                    struct err *err) WARN_UNUSED;
void pg_close(struct source *src);
/* plan_only: the server plans what would be sent and sends nothing. */
enum status pg_load(struct source *src, const struct src_table *t,
                    struct str where, bool plan_only, struct store_loader *l,
                    const struct progress *p, struct err *err) WARN_UNUSED;
/* Has the table more rows than that? Foreign ones have: they are of no
 * snapshot. */
enum status pg_has_more(struct source *src, const struct src_table *t,
                        size_t rows, bool *out, struct err *err) WARN_UNUSED;
/* pg_filter.c: the condition that rows must meet to matter to one of the
 * queries (some may be NULL); empty: all rows. */
enum status pg_filter(struct source *src, const struct src_table *t,
                      const struct cq *const *qs, size_t n, struct sb *out,
                      struct err *err) WARN_UNUSED;
struct str pg_where(const struct source *src); /* database, host, port */

/* duckdb_catalogue.c, duckdb_load.c, duckdb_hash.c */
enum status duckdb_open(struct source *src, const char *path,
                        struct err *err) WARN_UNUSED;
/* duckdb_parquet.c: --table 'name=FILE.parquet', 'name=FOLDER/' and patterns;
 * every NAME.parquet of a folder. */
bool duckdb_is_parquet(struct str spec);
enum status duckdb_add_spec(struct source *src, struct str spec,
                            struct err *err) WARN_UNUSED;
enum status duckdb_add_folder(struct source *src, const char *path,
                              struct err *err) WARN_UNUSED;
void duckdb_close(struct source *src);
struct str duckdb_path(const struct source *src);
enum status duckdb_load(struct source *src, const struct src_table *t,
                        struct store_loader *l, const struct progress *p,
                        struct err *err) WARN_UNUSED;
/* E_DATA if Parquet files of the table are no longer what was expected. */
enum status duckdb_still_expected(const struct src_table *t,
                                  struct err *err) WARN_UNUSED;
/* Reads every cell, keeps none. */
enum status duckdb_read_all(struct source *src, const struct src_table *t,
                            struct err *err) WARN_UNUSED;
enum status duckdb_hash(struct source *src, struct sha256 *h,
                        struct err *err) WARN_UNUSED;
enum status duckdb_hash_parquet(const struct src_table *t, struct sha256 *h,
                                struct err *err) WARN_UNUSED;

/* The source column that feeds each of the loader's columns. */
enum status source_loader_columns(const struct src_table *t,
                                  struct store_loader *l, uint32_t **out,
                                  struct err *err) WARN_UNUSED;

/* --- policy.c, policy_owners.c ------------------------------------------- */
/* A name, quoted where YAML asks for it; a list of columns. */
void source_policy_name(struct sb *b, struct str s);
void source_policy_columns(struct sb *b, const struct table *t,
                           const uint32_t *cols, size_t n);
/* owned_by and not_owned of a table, as its foreign keys suggest; nothing
 * unless the schema has entities. */
void source_policy_owners(const struct schema *s, size_t table, struct sb *b);

#endif
