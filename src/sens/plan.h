/*
 * The plan of a residual analysis: everything about the sets F of kept atoms
 * that follows from the query alone. It is plain data, so that tests can break
 * it on purpose and watch the brute-force checks notice.
 *
 * A coordinate is one set F with its number T_F. The vector T(I) has one for
 * every F that keeps all public atoms, the empty set, and the parts of
 * products that caps refer to. PRIVACY: the coordinates are closed under
 * removing unifiable sets of private atoms, so that every term of `step` is
 * there; a split whose parts do not fit the limit is dropped, never a term.
 *
 * With a weight, T_F is a sum of weights where the weight's variable is in
 * var(F), and a number of answers elsewhere: each then weighs `unit` at most
 * (PROOF.md, sums).
 */
#ifndef SENS_PLAN_H
#define SENS_PLAN_H

#include "cq/cq.h"

enum { SENS_MAX_COORDS = 8192, SENS_ALL_SPLITS = 5 };

/* A summand T_{F - E}: E are the atoms that match the inserted row of the
 * private relation `relation` (index into plan.tables). */
struct sens_term {
    uint32_t relation;
    uint32_t from; /* coordinate of F - E */
    bool weighs;   /* times the plan's unit: E takes the weight along */
};

struct sens_split { /* T_F <= T_a * T_b */
    uint32_t a, b;
};

/* Others than COORD_ASKED are in wide plans only (wide_plan.h). Sums and
 * products are of the two coordinates in splits[0], which stand before. */
enum sens_kind { COORD_ASKED, COORD_ONE, COORD_SUM, COORD_PRODUCT };

struct sens_coord {
    enum sens_kind kind;
    aset atoms;
    vset boundary;
    vset outs;
    bool keeps_public;       /* enters the paper's sum and the stop rule */
    bool weighted;           /* T_F adds up the query's weight */
    u128 cap;                /* constant bound; U128_INF: none */
    struct sens_term *terms; /* by relation; E nonempty */
    size_t n_terms;
    struct sens_split *splits;
    size_t n_splits;
    uint32_t *rests; /* wide plans: number(F - e) for each private atom e */
    size_t n_rests;
};

struct sens_plan {
    const struct cq *q;
    bool filters_exact;
    aset all, priv;
    unsigned n_priv;
    uint64_t unit; /* what one answer weighs at most; 1: answers are counted */
    uint32_t *tables; /* private tables of the query */
    size_t n_tables;
    struct sens_coord *coords; /* by rising size; 0 is the empty set */
    size_t n_coords;
    size_t n_asked;        /* coordinates that the counter is asked for */
    bool wide;             /* more than SENS_ALL_SETS private atoms */
    struct sens_coord top; /* all atoms: its terms give the local sensitivity */
};

static inline uint64_t sens_times(const struct sens_plan *p,
                                  const struct sens_term *t)
{
    return t->weighs ? p->unit : 1;
}

enum status sens_plan_new(struct arena *a, const struct cq *q,
                          bool filters_exact, struct sens_plan **out,
                          struct err *err) WARN_UNUSED;

/* The plan that queries of more than SENS_ALL_SETS private atoms get, for any
 * query: so that tests can compare on small ones. */
enum status sens_plan_wide(struct arena *a, const struct cq *q,
                           bool filters_exact, struct sens_plan **out,
                           struct err *err) WARN_UNUSED;

/* The degree in k of g: by the terms of `top`. */
enum status sens_plan_degree(struct arena *a, const struct sens_plan *p,
                             unsigned *out, struct err *err) WARN_UNUSED;

/* Coordinate of a set of atoms, or -1. */
long sens_plan_find(const struct sens_plan *p, aset atoms);

/* False: no constraint could bound the outputs of `f` beyond the boundary. */
bool sens_may_be_bounded(const struct cq *q, aset f);

/* Variables of `f` that also occur in an atom outside. */
vset sens_boundary(const struct cq *q, aset f);

/*
 * Finest parts into which the atoms `f` fall once the variables `fixed` have
 * values: atoms hang together by a shared variable that is not fixed and, if
 * `exact`, by a comparison between two such variables. Returns their number.
 */
size_t sens_parts(const struct cq *q, aset f, vset fixed, bool exact,
                  aset parts[MAX_ATOMS]);

#endif
