/*
 * A brute-force oracle for global sensitivity: random small queries with
 * constraints, databases searched for a large difference, counts by the
 * definition. Shares no code with the analysis; queries reach it as text.
 */
#ifndef HARNESS_ORACLE_H
#define HARNESS_ORACLE_H

#include "bound/bound.h"

enum { O_RELS = 2, O_ARITY = 3, O_ATOMS = 4, O_VARS = 5, O_CONS = 3 };
enum { O_CONST = 8 }; /* terms from here on are constants */

struct o_query {
    int arity[O_RELS];
    bool is_public[O_RELS];
    int n_atoms;
    struct {
        int rel, term[O_ARITY];
    } atom[O_ATOMS];
    int n_free, free[O_VARS];
    int n_cmps;
    struct {
        int op, l, r; /* 0: !=, 1: <, 2: <= */
    } cmp[2];
    int n_cons;
    struct {
        int rel;
        unsigned x, y; /* columns as bits */
        int k;
    } con[O_CONS];
};

struct o_random {
    uint64_t state;
};
uint64_t o_below(struct o_random *r, uint64_t n);

void o_generate(struct o_random *r, bool filters, struct o_query *q);
/* Rule text; buf holds 400 bytes. */
const char *o_text(const struct o_query *q, char *buf);
const char *o_constraint(const struct o_query *q, int i, char *buf);

/* The largest difference one private row makes, over databases found by
 * random search with the given number of steps. by_rel may be NULL. */
long o_search(struct o_random *r, const struct o_query *q, int steps,
              long *by_rel);

/* Runs the analysis; fails the test on an error. */
struct o_result {
    u128 upper, lower, by_rel[O_RELS];
    bool exact;
    bool bad_witness; /* a recount of the witness says otherwise */
};
void o_analyse(const struct o_query *q, bool want_lower, struct o_result *out);

/* Compares `pairs` random queries; prints and counts what breaks a bound. */
int o_run(uint64_t seed, int pairs, int steps, bool want_lower);

#endif
