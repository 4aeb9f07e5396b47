/*
 * Inside pushdown: what its files share. The interface to others is in
 * pushdown.h; how it works stands in README.md.
 */
#ifndef PUSHDOWN_PUSHDOWN_INT_H
#define PUSHDOWN_PUSHDOWN_INT_H

#include "base/map.h"
#include "pushdown/pushdown.h"
#include "source/duckdb/duckdb.h"
#include "source/postgres/pg.h"
#include "sqlgen/sqlgen.h"

struct pushdown {
    struct source *src;
    struct duck *duck; /* NULL: PostgreSQL counts */
    const struct cq *q;
    struct sqlgen sql;    /* how columns are written */
    struct arena arena;   /* answers remembered */
    struct arena scratch; /* one request */
    struct map answers;   /* description -> index in values */
    VEC(u128) values;
    const struct progress *progress;
    uint64_t n_statements; /* sent so far */
    bool planning;         /* statements are planned, not run */
    /* pushdown_owner.c: tables with owners' columns, as FROM has them, by
     * table, empty for the others; NULL: there are none */
    struct {
        struct str *from, *names;
        bool (*column)(const void *ctx, uint32_t table, uint32_t col,
                       struct sqlgen_col *out);
        const void *ctx;
    } owned;
};

enum { MAX_PUSHDOWN_CMPS = 256 };

/* A connected set of atoms with what is asked of it. */
struct part {
    const struct cq *q;
    uint32_t atoms[MAX_ATOMS]; /* in canonical order */
    size_t n_atoms;
    vset vars;     /* without row ids */
    vset outside;  /* exact filters: in vars and boundary, in no atom */
    vset boundary; /* maximum over these */
    vset outs;     /* counted: closed under keys, without the boundary */
    vset exists;   /* the rest: there is some value */
    aset weighted; /* bags whose rows are counted */
    bool weighs;   /* an answer counts what the query's weight says */
    bool cmps[MAX_PUSHDOWN_CMPS]; /* comparisons that lie inside */
    uint8_t num[MAX_VARS];        /* canonical numbers, by first use */
};

/* What is asked of a set of atoms. outside: variables that no atom of the set
 * has and that range over all values (filters treated exactly). */
struct ask {
    aset atoms;
    vset boundary, outs, outside;
};

/* Takes from `left` what hangs together with its first atom or, when no atom
 * is left, with its first variable outside. */
struct ask part_cut(const struct cq *q, struct ask *left);

/* Fills the roles. */
enum status part_init(struct part *p, const struct cq *q, const struct ask *ask,
                      struct err *err) WARN_UNUSED;
/* Puts the atoms in canonical order and describes the part: parts with equal
 * descriptions are equal up to the names of variables. */
enum status part_describe(struct arena *a, struct part *p, struct str *out,
                          struct err *err) WARN_UNUSED;

/* pushdown_batch.c: components that are asked together. Their answers go into
 * c->answers. */
enum { MAX_BATCH = 64 };
struct batch;
struct batch *batch_new(struct pushdown *c); /* NULL: no memory */
void batch_free(struct batch *b);            /* NULL allowed */
bool batch_has(const struct batch *b, struct str key);
bool batch_full(const struct batch *b);
/* Writes its SQL. Not when full. The scratch may go afterwards. */
enum status batch_add(struct batch *b, const struct part *p, struct str key,
                      struct err *err) WARN_UNUSED;
enum status batch_send(struct batch *b, struct err *err) WARN_UNUSED;

/* pushdown_run.c: statements. Settings that counting needs come first; for
 * PostgreSQL they end with the transaction. */
enum status pushdown_begin(struct source *src, struct duck *duck,
                           struct err *err) WARN_UNUSED;
/* Plans it where the counter only plans. Else fn is called for each row, whose
 * columns are texts. */
typedef enum status (*pushdown_row_fn)(void *ctx, const struct str *cells,
                                       struct err *err);
enum status pushdown_query(struct pushdown *c, const char *sql, size_t n_cols,
                           pushdown_row_fn fn, void *ctx,
                           struct err *err) WARN_UNUSED;

/* pushdown_owner.c: the columns of owners, before anything is written. */
struct pushdown_apart;
enum status pushdown_add_owners(struct pushdown *c,
                                const struct pushdown_apart *apart,
                                struct err *err) WARN_UNUSED;
/* pushdown_atom.c: the table's name, or how its files are read. */
void pushdown_put_table(const struct src_table *t, struct sb *b);

/* pushdown_exact.c */
/* Variables outside f that comparisons tie down (join.h: join_max_exact). */
vset part_exact_outside(const struct cq *q, aset f);
/* Do the values of v's domain count one by one, with nothing between? */
bool part_exact_whole(const struct cq *q, uint32_t v);
/* E_UNSUPPORTED where the database cannot do it. duck: NULL for PostgreSQL. */
enum status part_exact_supported(const struct cq *q, const struct duck *duck,
                                 struct err *err) WARN_UNUSED;

#endif
