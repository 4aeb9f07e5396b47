/*
 * The public side of every command: schema and policy, the query read and
 * normalised, the global sensitivity of each of its counts. A query is read
 * once, and its counts are one request: one load, one state of the data, one
 * charge. PRIVACY: opens a source for its catalogue at most; sees no row, but
 * of public tables.
 */
#ifndef RELEASE_PREPARE_H
#define RELEASE_PREPARE_H

#include "bound/bound.h"
#include "entity/static_bound.h"
#include "release/session.h"
#include "sql/sql.h"

/* One count of the request: each COUNT of a SELECT list, or a rule. */
struct count {
    struct prepared *p; /* the request it is of */
    struct str label;   /* the column's name */
    struct cq *query;   /* as written; of a tree: its first body */
    struct ctree *tree; /* NULL: the query is conjunctive */
    bool is_sum;        /* numbers are in units of 10^-scale */
    uint32_t scale;
    /* AVG: this count and the next, a shifted sum and how many there are, for
     * half of the price each; NULL: none */
    const struct sql_average *average;
    bool half;
    /* the query, or the path queries of all nodes: every atom is in one */
    const struct cq **bodies;
    size_t n_bodies;
    const struct cq *normal; /* after chase and core; NULL: not bounded yet */
    struct bound bound;
    /* with entities: whose results these are, and what one entity changes */
    struct completion owners;
    struct entity_bound entity;
};

/* A column of a public table whose values are keys of GROUP BY. */
struct public_column {
    uint32_t table, col;
    struct value *vals; /* sorted, each once */
    size_t n;
};

/* --error: the price is looked for. */
struct error_wish {
    bool given, percent;
    double value;  /* display: the p95 that is wanted, or a percentage */
    bool at_least; /* noise measured on the data: a lower price will not do */
};

struct prepared {
    struct session *session;
    struct arena arena; /* all of this */
    struct schema schema;
    struct source *source;     /* NULL: none asked for */
    struct str lock;           /* of source_lock, when it is opened again */
    struct str policy;         /* the file's text; p NULL: not read yet */
    struct str text;           /* the query as given */
    struct str epsilon, delta; /* of the options, or of the query */
    int64_t today;             /* CURRENT_DATE: the day of asking */
    struct error_wish wish;
    /* describe: the types of parameters, of which none needs a value */
    enum type *param_types;
    size_t n_param_types;
    struct count *counts; /* in the order of the SELECT list */
    size_t n_counts;
    struct sql_after after;  /* what becomes of the released numbers */
    struct str *group_names; /* of SQL's GROUP BY; may be fewer than keys */
    size_t n_group_names;
    VEC(struct public_column) columns_read;
    /* declared of a database and not enforced by it, hence not used */
    struct str left_out;
    /* By table: the declared bound on its rows, enforced or not; U128_INF:
     * none. It decides what is tried, never the noise. */
    u128 *rows_declared;
    bool owner_view;    /* OWNER: names in a file's first line may be shown */
    bool keep_all;      /* check: everything that was declared */
    bool declared_only; /* OWNER: nothing is measured on public tables */
    unsigned threads;
    bool owner_counts; /* OWNER: keys may be found without a price */
    bool keys_found;   /* by group_keys: the embedded engine has to list them */
    /* --engine auto: what a release takes for this version of the data
     * (engine_once) */
    enum { ENGINE_OPEN, ENGINE_EMBEDDED, ENGINE_SQL } engine;
    bool steady;        /* strict.c: the join's work is bounded beforehand */
    u128 work;          /* by so many steps */
    u128 *sizes;        /* of public tables, by table; U128_INF: others */
    bool filters_exact; /* PRIVACY: one treatment, for every T_F of the query */
};

void prepared_init(struct prepared *p, struct session *s);
void prepared_fini(struct prepared *p);

enum source_need { SOURCE_NONE, SOURCE_OPTIONAL, SOURCE_REQUIRED };

/* Reads --schema, the catalogue, --policy, --constraint, --private, ... */
enum status prepare_schema(struct prepared *p, enum source_need need,
                           struct err *err) WARN_UNUSED;
/* Opens the source that an open data set has, if this question needs it after
 * all; p->source stays NULL where there is none. */
enum status prepare_source(struct prepared *p, struct err *err) WARN_UNUSED;
/* schema_file.c: --schema, in PostgreSQL's words or SQLite's. */
enum status prepare_read_ddl(struct prepared *p, struct err *err) WARN_UNUSED;
/* public_sizes.c: what public tables say of themselves. */
enum status prepare_public_sizes(struct prepared *p,
                                 struct err *err) WARN_UNUSED;
/* Of a server once more: they were measured when the data set was opened. */
enum status prepare_sizes_again(struct prepared *p,
                                struct err *err) WARN_UNUSED;
/* Opens the source that was closed again: another process may have it. What
 * was prepared stays as it is. A source that was carried over is as it was. */
enum status prepare_reopen(struct prepared *p, struct err *err) WARN_UNUSED;
/* Closes the source unless a child can go on with it, as with files; the
 * descriptors that the child needs for it. */
void prepare_carry(struct prepared *p);
size_t prepare_kept(const struct prepared *p, int out[SOURCE_KEPT]);
void prepare_close_source(struct prepared *p);
/* The budget of --policy; with --db or --schema the whole policy is read. */
enum status prepare_budget(struct prepared *p, struct err *err) WARN_UNUSED;
/* Reads the query, all of its counts: SQL, or a rule if it contains ":-". */
enum status prepare_query(struct prepared *p, struct str text,
                          struct err *err) WARN_UNUSED;
/* admission.c: what witnesses must fit besides dependencies. */
struct admissible;
enum status prepare_admission(struct prepared *p, const struct admissible **out,
                              struct err *err) WARN_UNUSED;
/* Normalises and bounds every count; `thorough`: with witness, advice and
 * explanation. */
enum status prepare_bounds(struct prepared *p, bool thorough,
                           struct err *err) WARN_UNUSED;
/* snapshot.c: what is public of a data set, as bytes; values of public columns
 * are read, as far as they could be keys of GROUP BY. p->source is open, or
 * NULL. E_USAGE: these bytes are none that prepare_write wrote. */
enum status prepare_write(struct prepared *p, struct sb *b,
                          struct err *err) WARN_UNUSED;
enum status prepare_read(struct prepared *p, struct str bytes,
                         struct err *err) WARN_UNUSED;
/* Fills the advice of a count that was bounded without it. */
enum status prepare_advice(struct count *q, struct err *err) WARN_UNUSED;

/* Rule text of the whole question. */
struct str prepare_count_text(struct count *q);
bool prepare_count_uses(const struct count *q, uint32_t table);
/* With entities: can what one of them contributes be cut (entity/contrib.h)? A
 * conjunctive query's results can, and sums of numbers that are not negative.
 */
bool prepare_can_cut(const struct count *q);
/* guarantee_text.c: "insert or delete one row of: edge" */
struct str prepare_neighbours_text(struct count *q);

#endif
