/*
 * Sensitivities of a query on an instance: residual (the paper's and the
 * capped one), elastic, smooth where an exact algorithm is known, local upper
 * bound, and the lower bound on any mechanism's error.
 *
 * PRIVACY: everything in struct sens is a secret of the owner. The release
 * uses only `s_num / s_den`, inside the draw.
 */
#ifndef SENS_SENS_H
#define SENS_SENS_H

#include <gmp.h>
#include "bound/bound.h"
#include "join/join.h"

/* The degree in k of the capped sequence: from the query alone, to choose
 * beta before data are read. */
enum status sens_degree(struct arena *a, const struct cq *q, u128 global_upper,
                        unsigned *out_degree, struct err *err) WARN_UNUSED;

struct sens_residual {
    aset removed;
    vset boundary;
    u128 t;
};

struct sens_options {
    mpq_srcptr beta; /* > 0 */
    uint32_t order;  /* neighbours of r rows; >= 1 */
    bool filters_exact;
    u128 global_upper;   /* U128_INF: none */
    bool want_baselines; /* paper, elastic, smooth, optimality */
};

struct sens {
    u128 count;
    struct sens_residual *residuals; /* nonempty sets of private atoms */
    size_t n_residuals;
    /* capped residual sensitivity: S rounded up to a dyadic rational with
     * relative error below 2^-90 */
    mpq_t s;
    uint64_t k;    /* where the maximum is */
    double value;  /* s for display */
    mpz_t *ls_hat; /* first few */
    size_t n_ls_hat;
    /* baselines, for display */
    double paper;
    uint64_t paper_k;
    mpz_t *paper_ls_hat;
    size_t n_paper_ls_hat;
    double elastic;
    bool has_smooth;
    double smooth;
    u128 local_upper;
    u128 neighbourhood_lower; /* max T_F, F removes private atoms only */
    double optimality; /* factor between our error and the best possible */
};

/* Fills `out`; release it with sens_fini. `q` is the normalised query that
 * `j` was opened with. */
enum status sens_compute(struct arena *a, const struct cq *q, struct join *j,
                         const struct sens_options *opt, struct sens *out,
                         struct err *err) WARN_UNUSED;
void sens_fini(struct sens *s); /* wipes */

#endif
