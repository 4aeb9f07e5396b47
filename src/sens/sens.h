/*
 * Sensitivities of a query on an instance: residual (the one of Dong and Yi,
 * and the capped one that calibrates noise), elastic, smooth where an exact
 * algorithm is known, local upper bound, and the lower bound on the error of
 * any mechanism. The arguments are in PROOF.md.
 *
 * PRIVACY: everything in struct sens is a secret of the owner. The release
 * uses only `s`, inside the draw. sens_degree and sens_floor see the query
 * alone, so their answers are public.
 */
#ifndef SENS_SENS_H
#define SENS_SENS_H

#include <gmp.h>
#include "bound/bound.h"
#include "join/join.h"
#include "num/secret_scale.h"
#include "pushdown/pushdown.h"
#include "tree/tree.h"

/* Private atoms a query may have, and up to which every set of them has a
 * residual of its own; beyond, sets that fall apart are products. Trees and
 * sums have the smaller limit. Properties of the query. */
enum { SENS_MAX_PRIVATE = 24, SENS_ALL_SETS = 12 };

/*
 * What counts a query and its residuals: the embedded engine, a database (SQL
 * pushdown), or a test's nested loops.
 *
 * max and max_exact give the T_F, to compute with: the largest number of
 * distinct values of `outs` for one value of `boundary` among the results of
 * the atoms `f`; they differ in the treatment of comparisons that reach outside
 * var(f) (join.h: join_max, join_max_exact). max_exact may be NULL: not
 * offered.
 */
struct sens_counter {
    void *ctx;
    enum status (*max)(void *ctx, aset f, vset boundary, vset outs, u128 *out,
                       struct err *err);
    enum status (*max_exact)(void *ctx, aset f, vset boundary, vset outs,
                             u128 *out, struct err *err);
    /* What will be asked, for counters that answer many at once better than
     * one by one; may be NULL. */
    enum status (*prepare)(void *ctx, const struct pushdown_ask *asks, size_t n,
                           struct err *err);
    /* The count of the query, and that of each of n keys of its GROUP BY:
     * sealed, for those who draw. NULL: of tests, that ask for T alone. */
    enum status (*count)(void *ctx, struct secret_count *out, struct err *err);
    enum status (*groups)(void *ctx, const struct value *keys, size_t n,
                          struct secret_count *out, struct err *err);
};
/* Over rows that are loaded, and over a database; they close what they are
 * given no more than they opened it. */
struct sens_counter sens_engine(struct join *j);
struct sens_counter sens_database(struct pushdown *p);

/* Has the counter prepare the count of q and all of its residuals. */
enum status sens_prepare(struct arena *a, const struct cq *q,
                         const struct sens_counter *counter, bool filters_exact,
                         struct err *err) WARN_UNUSED;

/* The degree in k of the capped sequence: from the query alone, to choose
 * beta before data are read. global_upper: U128_INF for none. */
enum status sens_degree(struct arena *a, const struct cq *q, u128 global_upper,
                        unsigned *out_degree, struct err *err) WARN_UNUSED;

struct sens_residual {
    aset removed;
    vset boundary; /* of the kept atoms */
    u128 t;
    uint32_t part; /* of a tree; else 0 */
};

/*
 * What is not lost yet (PROOF.md, fragile parts): w[d] is T of the set of atoms
 * with those results alone whose answer is lost after at most d rows are gone.
 * PRIVACY: how far it is asked for is a constant.
 */
enum { SENS_FRAGILE = 64 };
struct sens_fragile {
    void *ctx;
    enum status (*weigh)(void *ctx, size_t part, aset f, vset boundary,
                         vset outs, uint64_t w[SENS_FRAGILE + 1],
                         struct err *err);
};

struct sens_options {
    mpq_srcptr beta;                    /* > 0 */
    const struct sens_fragile *fragile; /* of parts that are; NULL: plain */
    uint32_t order; /* neighbours of r rows; 0 counts as 1 */
    bool filters_exact;
    /* Of a tree: gain and loss add up (exchanged rows, vectors of counts);
     * else the larger counts. */
    bool both_signs;
    /* Bound on the change of the count between neighbours of this order;
     * U128_INF: none. Not multiplied by the order again. */
    u128 global_upper;
    /* PRIVACY: in a release nothing that rows break may show. Rows that break
     * a declared constraint are found when constraints are checked. */
    bool in_release;
    bool want_baselines; /* paper, elastic, smooth, optimality */
    /* For the smooth sensitivity of triangles; NULL: not computed. */
    const struct store *store;
};

struct sens {
    struct secret_count count;       /* if the counter has one */
    struct sens_residual *residuals; /* nonempty sets of private atoms */
    size_t n_residuals;
    /* capped residual sensitivity, clamped at COUNT_MOST: S rounded up to a
     * dyadic rational with relative error below 2^-90 */
    struct secret_scale s;
    uint64_t k;    /* where the maximum is */
    double value;  /* s for display */
    mpz_t *ls_hat; /* for k = 0, 1, ...; the first few */
    size_t n_ls_hat;
    uint64_t k_scanned; /* values of k looked at */
    u128 local_upper;   /* ls_hat[0]; U128_INF when it exceeds 128 bits */
    u128 global_upper;  /* as given */
    /* baselines, for display */
    bool has_paper; /* false: too many private relations for this beta */
    double paper;
    uint64_t paper_k;
    mpz_t *paper_ls_hat;
    size_t n_paper_ls_hat;
    bool has_elastic;
    double elastic;
    uint64_t elastic_k;
    bool has_smooth;
    double smooth;
    uint64_t smooth_k;
    /* max T_F over F that remove private atoms only: every mechanism has an
     * error of at least neighbourhood_lower / (2 sqrt(1 + e^epsilon)) on some
     * instance within n_P rows. Holds for full queries with `!=` filters and
     * no declared constraints; otherwise has_lower is false. */
    bool has_lower;
    u128 neighbourhood_lower;
    double optimality; /* value / neighbourhood_lower; 0: not known */
    double seconds_count, seconds_residuals, seconds_baselines;
    bool ready; /* numbers are initialised: for sens_fini */
};

/*
 * Everything that sens_compute could refuse: E_TOO_LARGE (more than
 * SENS_MAX_PRIVATE private atoms, or a beta too small), E_UNSUPPORTED (the
 * counter does not treat filters exactly). From the query and the options
 * alone, so that a release refuses before it charges.
 */
enum status sens_admit(struct arena *a, const struct cq *q,
                       const struct sens_counter *counter,
                       const struct sens_options *opt,
                       struct err *err) WARN_UNUSED;

/* Fills `out`; release it with sens_fini (also after a failure). `q` is the
 * normalised query that `counter` counts. E_CONSTRAINT: the data break a
 * declared constraint (never with in_release). Refuses what sens_admit does. */
enum status sens_compute(struct arena *a, const struct cq *q,
                         const struct sens_counter *counter,
                         const struct sens_options *opt, struct sens *out,
                         struct err *err) WARN_UNUSED;
/* The same for the parts of a tree, with one counter for each. The count is
 * not computed, nor any baseline. */
enum status sens_compute_parts(struct arena *a, const struct tree_part *parts,
                               size_t n, const struct sens_counter *counters,
                               const struct sens_options *opt, struct sens *out,
                               struct err *err) WARN_UNUSED;
void sens_fini(struct sens *s); /* wipes */

/* The value of S when every table is empty: no data give less. Public. `out`
 * must be initialised. */
enum status sens_floor(struct arena *a, const struct cq *q, mpq_srcptr beta,
                       uint32_t order, u128 global_upper, mpq_t out,
                       struct err *err) WARN_UNUSED;

/* Degree and floor of the parts of a tree. */
enum status sens_degree_parts(struct arena *a, const struct tree_part *parts,
                              size_t n, unsigned *out_degree,
                              struct err *err) WARN_UNUSED;
enum status sens_floor_parts(struct arena *a, const struct tree_part *parts,
                             size_t n, const struct sens_options *opt,
                             mpq_t out, struct err *err) WARN_UNUSED;

#endif
