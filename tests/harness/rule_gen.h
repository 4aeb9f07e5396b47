/*
 * Random small queries of every class that residual sensitivity must handle:
 * self-joins, constants, projections, filters, several private relations and
 * a public one, declared constraints, bags.
 */
#ifndef HARNESS_RULE_GEN_H
#define HARNESS_RULE_GEN_H

#include "harness/rules.h"

enum gen_class {
    GEN_FULL,
    GEN_PROJECTION,
    GEN_FILTERS,
    GEN_SEVERAL, /* R and S private, P public */
    GEN_CONSTRAINTS,
    GEN_BAGS,
    GEN_EXACT,  /* filters to be treated exactly */
    GEN_PIECES, /* unary and binary tables, up to five atoms: products */
    GEN_CLASSES
};

struct gen {
    char rule[400];
    char constraint[3][60];
    unsigned n_constraints;
    bool has_public;
    int domain, copies; /* for universe_init */
    bool exact;
};

void gen_rule(enum gen_class c, uint64_t *seed, struct gen *out);
/* Reads it into a fresh schema; fails the test on an error. */
struct cq *gen_read(struct rules *r, const struct gen *g);

#endif
