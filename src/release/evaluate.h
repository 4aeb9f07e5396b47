/*
 * The data side of a command: load what the query needs, check what the
 * policy claims, count. OWNER: everything here is secret.
 */
#ifndef RELEASE_EVALUATE_H
#define RELEASE_EVALUATE_H

#include "join/join.h"
#include "num/secret.h"
#include "release/groups.h"
#include "release/prepare.h"
#include "sens/sens.h"

/* Either a store and a join over it, or (--engine sql) a counter that has the
 * database compute; both belong to the query they were last opened with. */
struct evaluated {
    struct store *store;
    struct join *join;
    struct source_counter *counter;
    struct progress progress; /* the counter keeps its address */
    double seconds_load;      /* display */
    bool chosen;              /* the engine */
};
void evaluated_fini(struct evaluated *e);
/* OWNER: "sql" or "embedded". PRIVACY: what auto chose depends on the sizes of
 * private tables. */
const char *evaluated_engine(const struct evaluated *e);

/* Chooses the engine and opens what counts in the database; reads no row.
 * E_UNSUPPORTED: --engine sql, and the database cannot count q exactly. */
enum status evaluate_engine(struct prepared *p, const struct cq *q,
                            struct evaluated *e, struct err *err) WARN_UNUSED;
/* Loads the columns that q needs and those that a declared constraint on its
 * tables speaks of. With --engine sql it loads nothing, and E_UNSUPPORTED says
 * that the database cannot count q exactly. */
enum status evaluate_load(struct prepared *p, const struct cq *q,
                          struct evaluated *e, struct err *err) WARN_UNUSED;
enum status evaluate_join(struct prepared *p, const struct cq *q,
                          struct evaluated *e, struct err *err) WARN_UNUSED;

enum status evaluate_count(const struct evaluated *e, u128 *out,
                           struct err *err) WARN_UNUSED;
/* The residuals will be asked for, and the count: a database computes them
 * together. `e` was opened with p->normal. */
enum status evaluate_prepare(struct prepared *p, const struct evaluated *e,
                             struct err *err) WARN_UNUSED;
/* Of the query that e was joined for. */
enum status evaluate_sens(struct prepared *p, const struct evaluated *e,
                          const struct sens_options *opt, struct sens *out,
                          struct err *err) WARN_UNUSED;
/* One count for each key, or one in all. `e` was opened with p->normal. */
enum status evaluate_counts(struct prepared *p, struct evaluated *e,
                            const struct group_keys *k, u128 *out,
                            struct err *err) WARN_UNUSED;
/* The keys that occur in the data, with their counts. PRIVACY: sorted by key,
 * in one form for equal values, so that neither order nor form tells more
 * than the set does. */
struct found_key {
    struct value *vals;
    u128 count;
};
struct found_keys {
    VEC(struct found_key) list;
};
enum status evaluate_found(struct prepared *p, const struct evaluated *e,
                           const struct group_keys *k, struct arena *a,
                           struct found_keys *out, struct err *err) WARN_UNUSED;
/* factor times the smooth sensitivity for beta. */
enum status evaluate_smooth(struct prepared *p, struct evaluated *e,
                            mpq_srcptr beta, mpq_srcptr factor,
                            struct secret_rat *out,
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
/* E_CONSTRAINT if one does not hold. */
enum status evaluate_valid(struct prepared *p, const struct evaluated *e,
                           struct err *err) WARN_UNUSED;

#endif
