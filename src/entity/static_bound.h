/*
 * How much one entity can change a count on any data that keep the declared
 * promises (PROOF.md, claim 10): for each owner variable, how many answers
 * there are once its entity is fixed, by the bound of src/bound started from
 * there; added up.
 *
 * PRIVACY: sees queries and schemas only, so what it returns may be shown.
 */
#ifndef ENTITY_STATIC_BOUND_H
#define ENTITY_STATIC_BOUND_H

#include "bound/bound.h"
#include "entity/complete.h"
#include "tree/tree.h"

struct entity_bound {
    u128 upper;    /* of a number: order times the sum; U128_INF: none */
    u128 l1_upper; /* of the vector of groups, by the schema's neighbours */
};

enum status entity_bound(struct arena *a, const struct cq *q,
                         const struct completion *c, struct entity_bound *out,
                         struct err *err) WARN_UNUSED;

/* The same for a tree (PROOF.md, claim 12): what comes and what goes. */
enum status entity_bound_tree(struct arena *a, const struct ctree *t,
                              const struct cq *root, struct entity_bound *out,
                              struct err *err) WARN_UNUSED;

/* Promises that would bound it, with k for the number that the owner knows. */
struct entity_advice {
    struct str constraint; /* "orders: c -> o <= k" */
    struct str words;      /* "at most k rows of orders for one customer" */
    struct str upper;      /* "k", "3*k^2" */
};
enum { MAX_ENTITY_ADVICE = 8 };
enum status entity_advise(struct arena *a, const struct cq *q,
                          const struct completion *c,
                          struct entity_advice out[static MAX_ENTITY_ADVICE],
                          size_t *n, struct err *err) WARN_UNUSED;

#endif
