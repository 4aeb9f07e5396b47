/*
 * Binary factors: for every id on the left its neighbours on the right,
 * rising, with a weight where rows were counted together. Both directions
 * are kept; a relation equal to its reverse is one array for both.
 *
 *   left id   0   1   2          neighbours of 0: 1 and 4, of 1: none,
 *   off       0   2   2   3      of 2: 4; the weight of pair k is w[k]
 *   adj       1   4   4
 *   w         1   2   1
 */
#ifndef JOIN_CSR_H
#define JOIN_CSR_H

#include "join/join_int.h"

struct csr {
    uint32_t n_left, n_right;
    uint32_t n; /* pairs */
    const uint32_t *off, *adj;
    const uint32_t *mid; /* same_sides: first neighbour of i not below i */
    const uint32_t *w;   /* by pair; NULL: all one */
    /* by pair, wide_words each: the weights where 32 bits do not hold them,
     * or NULL; w and the figures are then not to be used */
    const uint64_t *wide;
    uint32_t wide_words;
    const uint64_t *sum; /* of weights, by left id; NULL: use off */
    double mean2; /* degree of the left end of a random pair; for guesses */
    uint32_t max_deg;
    uint64_t max_w;
    uint64_t max_sum; /* largest sum of weights of one left id */
    bool has_loop;    /* an id is its own neighbour */
    bool same_sides;  /* both sides have one domain */
    struct csr *flip; /* the other direction */
    uint32_t id;      /* creation number: names the factor in keys */
};

/* What an atom becomes when the variables that only it has are aggregated out:
 * kept columns (at most two), or a number when none is left. */
struct factor {
    uint32_t n_keep;
    const struct csr *pairs; /* n_keep == 2 */
    const uint64_t *unary;   /* n_keep == 1 */
    uint64_t scalar;         /* n_keep == 0 */
    uint32_t id;
};

/* keep: columns of r in the wanted order; counted: columns whose distinct
 * values are counted; the other columns only have to exist. Remembered. */
enum status factor_make(struct join *j, struct rel *r, const uint8_t *keep,
                        uint32_t n_keep, const uint8_t *counted,
                        uint32_t n_counted, const struct factor **out,
                        struct err *err) WARN_UNUSED;
/* Pairs in both, weights multiplied; both have the same direction. *wide: a
 * weight left 32 bits, or a sum 64; if it was true before, any weight will
 * do. */
enum status csr_intersect(struct join *j, const struct csr *a,
                          const struct csr *b, const struct csr **out,
                          bool *wide, struct err *err) WARN_UNUSED;
/* Pairs whose left id is at least lo and below hi; c has no wide weights. */
enum status csr_within(struct join *j, const struct csr *c, uint32_t lo,
                       uint32_t hi, const struct csr **out,
                       struct err *err) WARN_UNUSED;
/* First neighbour of row i that is not below v. */
uint32_t csr_seek(const struct csr *c, uint32_t i, uint32_t v);
/* Weight of the pair, 0 if absent. */
uint64_t csr_weight(const struct csr *c, uint32_t l, uint32_t r);

#endif
