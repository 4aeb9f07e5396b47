/*
 * Upper bounds for one normalised structure, table by table.
 */
#ifndef BOUND_UPPER_H
#define BOUND_UPPER_H

#include "bound/degree_steps.h"

struct upper_atom { /* what one row in the part of this atom brings about */
    u128 walk, plan, lp;
    struct step_plan path; /* the steps of plan, numbers in `steps` */
    bool is_private;
};

struct upper_table {
    uint32_t table;
    u128 walk, plan, lp; /* sums over the table's atoms */
    u128 upper;          /* the smallest bound */
};

struct upper {
    const struct tab *t; /* normalised */
    bool complete_core;  /* the core was found, no search gave up */
    bool pigeonhole;     /* bounded by cases (upper.c) */
    struct steps steps;
    vset goal;
    struct upper_atom *atoms;   /* one for each atom of t */
    struct upper_table *tables; /* the private ones that occur in t */
    size_t n_tables;
    struct tab **cases; /* pigeonhole: structures that cover t */
    size_t n_cases;
};

/* Chases t, takes the core and bounds it. t is changed. */
enum status upper_make(struct arena *a, struct tab *t, struct work *work,
                       unsigned depth, struct upper *out,
                       struct err *err) WARN_UNUSED;
/* The same for the rows that match an atom of `own` only, without a core:
 * PRIVACY: the core of a path query may drop an own atom. */
enum status upper_make_own(struct arena *a, struct tab *t, aset own,
                           struct work *work, struct upper *out,
                           struct err *err) WARN_UNUSED;
/* The largest over the tables; 0: no private row matters. */
u128 upper_max(const struct upper *u);
const struct upper_table *upper_find(const struct upper *u, uint32_t table);

/*
 * The largest number of answers that one row of table can bring about, given
 * bounds u[i] for the atom i of phi alone. Never more than the sum of the u.
 */
enum status upper_tighten(struct arena *a, const struct tab *phi,
                          uint32_t table, const u128 *u, struct work *work,
                          u128 *out, struct err *err) WARN_UNUSED;

#endif
