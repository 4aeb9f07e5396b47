/*
 * Global sensitivity from the query and the schema alone.
 * PRIVACY: this module cannot see rows, so everything it returns may be shown
 * to the analyst. `upper` is always sound; `lower` is certified by a witness
 * that checker.c (which shares no code with the analysis) has recounted.
 */
#ifndef BOUND_BOUND_H
#define BOUND_BOUND_H

#include "logic/logic.h"
#include "tree/tree.h"
#include "witness/witness.h"

struct bound_relation {
    uint32_t table;
    bool is_private;
    u128 upper, lower; /* U128_INF: unbounded */
    u128 gain, loss;   /* answers that one row can add, can take away */
};

struct bound_advice {
    struct str
        constraint;   /* "patdoc: pat -> doc <= k"; several joined by "; " */
    struct str upper; /* expression in k: "k", "k1*k2", "2*k" */
};

struct bound {
    const struct cq *query;      /* as given */
    const struct cq *simplified; /* after chase and core */
    bool satisfiable, connected, acyclic, full;
    uint32_t n_free;
    u128 paper, plan, polymatroid; /* single bounds, U128_INF: none */
    /* for the asked neighbours and order; `upper` calibrates noise */
    u128 upper, lower;
    bool exact;
    bool gave_up; /* the work budget ended the search for tighter bounds */
    /* GROUP BY: bound on the l1 norm, and on the square of the l2 norm, of
     * the change of the vector of counts. Without GROUP BY upper, upper^2. */
    u128 l1_upper, l2_squared_upper;
    struct bound_relation *relations;
    size_t n_relations;
    /* A tree's parts, chased; none of a conjunctive query. */
    struct tree_part *parts;
    size_t n_parts;
    /* Where answers weigh the number of their ids: the same change by another
     * count; the smaller of both holds. */
    struct tree_part *other_parts;
    size_t n_other;
    bool monotone; /* no row of a private table takes answers away */
    /* Every private table has one sign: exchanging a row of it changes a
     * number by no more than inserting or deleting one. */
    bool one_signed;
    struct bound_advice *advice;
    size_t n_advice;
    bool has_witness;
    struct witness witness;
    struct str explanation; /* several lines of plain words */
};

struct bound_options {
    uint64_t work;      /* 0: default */
    uint64_t witness_n; /* size asked of a witness family; 0: 3 */
    bool want_lower;    /* false: skip witnesses (fast) */
    bool want_advice;
    bool want_words; /* the explanation */
    /* what witnesses must fit besides dependencies; NULL: nothing */
    const struct admissible *adm;
};

enum status bound_analyze(struct arena *a, const struct cq *q,
                          const struct bound_options *opt, struct bound *out,
                          struct err *err) WARN_UNUSED;

/* The same for a tree; `root` is the body of its first branch. */
enum status bound_tree(struct arena *a, const struct ctree *t,
                       const struct cq *root, const struct bound_options *opt,
                       struct bound *out, struct err *err) WARN_UNUSED;

/*
 * Upper bound on the number of values of `goal` once the variables `fixed`
 * have one value, using the constraints on the atoms of `atoms` only (PLAN,
 * and the certified LP where it is small). U128_INF: none. For caps on T_F.
 */
enum status bound_outputs(struct arena *a, const struct cq *q, aset atoms,
                          vset fixed, vset goal, u128 *out,
                          struct err *err) WARN_UNUSED;

#endif
