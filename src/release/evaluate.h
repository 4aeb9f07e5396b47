/*
 * The data side of a request: load what its counts need, check what the
 * policy claims, count. One state of the data for all counts. OWNER:
 * everything here is secret.
 */
#ifndef RELEASE_EVALUATE_H
#define RELEASE_EVALUATE_H

#include "entity/listed.h"
#include "join/join.h"
#include "noise/noise.h"
#include "num/secret_scale.h"
#include "release/group_keys.h"
#include "release/prepare.h"
#include "sens/sens.h"

/* The rows of a request; with --engine sql they stay in the database. */
struct evaluated {
    struct store *store;
    bool chosen, sql; /* the engine */
    bool plan_only;   /* a server plans what it is asked, all answers are 0 */
    struct progress progress; /* engines keep its address */
    double seconds_load;      /* display */
};
void evaluated_fini(struct evaluated *e);
/* OWNER: "sql" or "embedded". PRIVACY: auto may have gone by the sizes of
 * private tables. */
const char *evaluated_engine(const struct evaluated *e);

/* What counts one query: a join over the rows, or the database. */
struct engine {
    struct sens_counter counter;
    struct join *join;         /* its ctx, or NULL */
    struct pushdown *database; /* its ctx, or NULL */
    struct evaluated *data;    /* a tree needs more than one query */
};

/* Would all declared columns of all tables take more than a third of the
 * memory? One answer for all questions. *believed: not all tables are bounded,
 * and the catalogue's statistics decided. */
enum status evaluate_prefers_sql(struct prepared *p, bool *out, bool *believed,
                                 struct err *err) WARN_UNUSED;
/* Chooses the engine for all counts; reads no row. E_UNSUPPORTED: --engine
 * sql, and the database cannot count one of them exactly. */
enum status evaluate_engine(struct prepared *p, struct evaluated *e,
                            struct err *err) WARN_UNUSED;
/* Has a server plan what evaluate_load would ask of it, and looks whether every
 * table is there; reads no row. */
enum status evaluate_plan(struct prepared *p, struct evaluated *e,
                          struct err *err) WARN_UNUSED;
/* Which columns that are: an atom for each table. */
enum status evaluate_wanted(struct prepared *p, struct cq *out,
                            struct err *err) WARN_UNUSED;
/* Loads the columns that the counts need and those that a declared constraint
 * on their tables speaks of, once for all counts; chooses the engine first if
 * that was not done. With --engine sql it loads nothing, nor where the rows
 * are there already. */
enum status evaluate_load(struct prepared *p, struct evaluated *e,
                          struct err *err) WARN_UNUSED;
/* Opens what counts q, over the rows of e. */
enum status evaluate_open(struct prepared *p, struct evaluated *e,
                          const struct cq *q, struct engine *out,
                          struct err *err) WARN_UNUSED;
void engine_close(struct engine *e);
/* With entities: what lists contributions in the database, to be closed with
 * listed_close; NULL: the rows are here. */
enum status evaluate_listed(struct count *q, struct evaluated *data,
                            struct listed **out, struct err *err) WARN_UNUSED;

/* join_list_groups of q, over the rows of e. */
enum status
evaluate_list(struct prepared *p, struct evaluated *e, const struct cq *q,
              enum status (*each)(void *ctx, const struct value *key,
                                  u128 count, struct err *err),
              void *ctx, struct err *err) WARN_UNUSED;
/* The residuals will be asked for, and the count: a database computes them
 * together. `e` was opened with q->normal, here and below. */
enum status evaluate_prepare(struct count *q, const struct engine *e,
                             struct err *err) WARN_UNUSED;
enum status evaluate_sens(struct count *q, const struct engine *e,
                          const struct sens_options *opt, struct sens *out,
                          struct err *err) WARN_UNUSED;
/* One count for each key, or one in all; each clamped at count_limit of how
 * many there are. Where a total may be negative (tree_is_signed) it is the
 * two's complement of 128 bits. */
enum status evaluate_counts(struct count *q, struct evaluated *data,
                            const struct engine *e, const struct group_keys *k,
                            struct secret_count *out,
                            struct err *err) WARN_UNUSED;
/* The same for a tree (tree_count.c); embedded engine only. */
enum status evaluate_tree(struct count *q, struct evaluated *data,
                          const struct group_keys *k, struct secret_count *out,
                          struct err *err) WARN_UNUSED;
/* All keys together, by either engine. */
enum status evaluate_tree_total(struct count *q, struct evaluated *data,
                                struct secret_count *out,
                                struct err *err) WARN_UNUSED;
enum status
evaluate_tree_groups(struct count *q, struct evaluated *data,
                     enum status (*each)(void *ctx, const struct value *key,
                                         u128 count, struct err *err),
                     void *ctx, struct err *err) WARN_UNUSED;
/* n values as bytes that live in the arena: one form for all values that are
 * equal, a NULL equal to itself. */
enum status evaluate_key_bytes(struct arena *a, const struct value *key,
                               size_t n, struct str *out,
                               struct err *err) WARN_UNUSED;
/* tree_fragile.c: for struct sens_fragile, with a fragile_job. */
struct fragile_job {
    struct count *q;
    struct evaluated *data;
};
enum status evaluate_fragile(void *ctx, size_t part, aset f, vset boundary,
                             vset outs, uint64_t w[SENS_FRAGILE + 1],
                             struct err *err);
/* The keys that occur in the data, with their counts. PRIVACY: sorted by key,
 * in one form for equal values, so that neither order nor form tells more
 * than the set does. */
struct found_key {
    struct value *vals;
    struct secret_count count;
};
struct found_keys {
    VEC(struct found_key) list;
};
/* A key that was found: a copy in the one form that equal values have; *out
 * NULL where the key is not among the declared ones. */
enum status evaluate_key(const struct count *q, const struct group_keys *k,
                         struct arena *a, const struct value *key,
                         struct value **out, struct err *err) WARN_UNUSED;
/* The order of keys, of n values each: that of their values. */
int evaluate_compare_keys(const struct value *a, const struct value *b,
                          size_t n);
enum status evaluate_found(struct count *q, struct evaluated *data,
                           const struct group_keys *k, struct arena *a,
                           struct found_keys *out, struct err *err) WARN_UNUSED;
/* Whatever evaluate_smooth refuses, it refuses here, before the hold: from the
 * query and beta. Reads no row. */
enum status evaluate_admit(struct count *q, mpq_srcptr beta,
                           struct err *err) WARN_UNUSED;
/* factor times the smooth sensitivity for beta, clamped for a draw. */
enum status evaluate_smooth(struct count *q, const struct engine *e,
                            mpq_srcptr beta, mpq_srcptr factor,
                            struct secret_scale *out,
                            struct err *err) WARN_UNUSED;

/* --- constraints ---------------------------------------------------------- */

struct violation {
    uint32_t table;
    const struct degree *degree;
    u128 found;        /* distinct values of Y for one X */
    struct value *x;   /* that X, n_x values */
    size_t row, other; /* two rows (from 1, in load order) that show it */
};
struct violations {
    VEC(struct violation) list;
    uint64_t n_checked;
};
/* Every declared constraint of the loaded tables (a NOT NULL is checked when
 * loading). At most one violation for each constraint. */
enum status evaluate_constraints(struct prepared *p, const struct store *st,
                                 struct violations *out,
                                 struct err *err) WARN_UNUSED;
/* E_DATA if the table has outgrown what was measured on it (public_sizes.c);
 * all columns that this speaks of are loaded. */
enum status evaluate_measured(struct prepared *p, uint32_t table,
                              const struct store *st,
                              struct err *err) WARN_UNUSED;
/* public_sizes.c: the same of all tables of the request, of a server: its
 * transaction is not the one in which they were measured. */
enum status evaluate_sizes(struct prepared *p, const struct evaluated *e,
                           struct err *err) WARN_UNUSED;
/* E_CONSTRAINT if one does not hold. */
enum status evaluate_valid(struct prepared *p, struct evaluated *e,
                           struct err *err) WARN_UNUSED;

#endif
