/* Inside cq_finish: what build.c and cmps.c share. */
#ifndef CQ_FINISH_H
#define CQ_FINISH_H

#include "cq/cq.h"

/* Union-find over variables (0..n_vars-1) and constants (after them). */
struct finish {
    struct cq_builder *b;
    struct cq *q;
    struct err *err;
    uint32_t *parent;
    bool *is_out;
    uint32_t *number;            /* old variable -> new; UINT32_MAX: none */
    const struct value **consts; /* old variable -> its constant or NULL */
    uint32_t n_old;
};

/* A term after substitution, still in old numbers. */
struct term finish_resolve(struct finish *f, struct term t);
/* The comparisons after substitution: decided ones dropped, repeats and looser
 * bounds too. */
enum status finish_cmps(struct finish *f) WARN_UNUSED;

#endif
