/*
 * The capped sequence: L(k) = sum over t < r of g(step^{rk+t}(T)), lowered to
 * the paper's LS-hat and to the global sensitivity. This is what noise is
 * calibrated to.
 */
#ifndef SENS_CAPPED_H
#define SENS_CAPPED_H

#include "sens/paper.h"
#include "sens/smooth_max.h"
#include "sens/polystep.h"

struct sens_capped {
    struct sens_stretch steps; /* of the state */
    struct sens_paper *paper;
    uint32_t order;
    mpz_t global; /* negative: none */
    mpz_t part, sum;
    struct sens_sequence seq; /* hand &seq to sens_scan */
};

/* `paper` must have been made from the same state, before any step. */
enum status sens_capped_init(struct sens_capped *c, struct arena *a,
                             struct sens_state *state, struct sens_paper *paper,
                             mpq_srcptr beta, uint32_t order, u128 global_upper,
                             struct err *err) WARN_UNUSED;
void sens_capped_fini(struct sens_capped *c); /* only after a good init */

/* From which distance on the stop rule holds: from the query and beta. */
enum status sens_capped_from(const struct sens_plan *p, mpq_srcptr beta,
                             uint32_t order, uint64_t *out,
                             struct err *err) WARN_UNUSED;

/* How many values of the paper's sequence to tabulate: enough for both scans;
 * from the query and beta. */
enum status sens_paper_range(const struct sens_plan *p, mpq_srcptr beta,
                             uint32_t order, uint64_t *out_k_hat,
                             uint64_t *out_up_to, struct err *err) WARN_UNUSED;

/* sens.c: `out` as it is before anything is computed, for a query and for parts
 * alike; E_VALUE for a beta that is none. */
enum status sens_begin(const struct sens_options *opt, struct sens *out,
                       struct err *err) WARN_UNUSED;

#endif
