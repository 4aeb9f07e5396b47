/*
 * Smooth sensitivity (Nissim, Raskhodnikova, Smith) where an exact algorithm
 * is known: triangles and t-stars, all variables different, over one private
 * binary relation read as a set of directed pairs over an infinite domain.
 * A baseline: the best that any smooth bound on local sensitivity can do.
 */
#ifndef SENS_SMOOTH_H
#define SENS_SMOOTH_H

#include "sens/smooth_max.h"
#include "sens/sens.h"

enum sens_shape {
    SHAPE_OTHER,
    SHAPE_STAR,
    SHAPE_TRANSITIVE, /* E(a,b), E(b,c), E(a,c) */
    SHAPE_CYCLE       /* E(a,b), E(b,c), E(c,a) */
};

/* Recognised by structure, whatever the names. For a star *centre is the
 * variable in all atoms. */
enum sens_shape sens_shape_of(const struct cq *q, uint32_t *centre);

/* Star with t rays and largest degree d: t (d+k) (d+k-1) ... t-1 factors. */
void sens_star_at(unsigned t, u128 d, uint64_t k, mpz_t out);
enum status sens_star_peak(struct arena *a, unsigned t, u128 d, mpq_srcptr beta,
                           struct sens_peak *out, struct err *err) WARN_UNUSED;

/* A directed graph without loops; nodes are 0..n-1, by falling degree. */
struct sens_graph {
    struct mem *mem;
    size_t n, n_links;
    uint32_t *rank;     /* the number here of a node as given */
    size_t *start;      /* n + 1: where a node's links begin */
    uint32_t *to;       /* rising within a node */
    unsigned char *dir; /* 1: out, 2: in, 3: both */
};

enum status sens_graph_new(struct mem *m, const uint32_t *from,
                           const uint32_t *to, size_t n_edges, size_t n_nodes,
                           struct sens_graph *out, struct err *err) WARN_UNUSED;
enum status sens_graph_load(const struct store *st, uint32_t table,
                            struct sens_graph *out,
                            struct err *err) WARN_UNUSED;
void sens_graph_free(struct sens_graph *g);

/* Local sensitivity of the triangle query at distance k, for one pair of
 * nodes (the row that is inserted or deleted); u == v is not allowed, nodes
 * from n on are fresh. */
uint64_t sens_triangle_pair(const struct sens_graph *g, bool cycle, size_t u,
                            size_t v, uint64_t k);
/* max over k and pairs. False: the work budget did not suffice. */
enum status sens_triangle_peak(const struct sens_graph *g, bool cycle,
                               double beta, bool *done, double *value,
                               uint64_t *k, struct err *err) WARN_UNUSED;

#endif
