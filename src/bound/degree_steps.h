/*
 * What a constraint says about the variables of a query: once the variables
 * x have one value, y has at most k. Atoms, dependencies, intervals and
 * computed columns all become such steps; the bounds below see nothing else.
 */
#ifndef BOUND_DEGREE_STEPS_H
#define BOUND_DEGREE_STEPS_H

#include "logic/tableau.h"

enum step_why { STEP_DEP, STEP_INTERVAL, STEP_BOOL, STEP_CALC };

struct degree_step {
    vset x, y; /* y contains x */
    u128 k;
    enum step_why why;
    uint32_t atom;         /* STEP_DEP: in the structure */
    const struct dep *dep; /* STEP_DEP */
};

struct steps {
    struct degree_step *p;
    size_t n;
    uint32_t n_vars;       /* variables that matter, renumbered */
    uint32_t el[MAX_VARS]; /* their elements */
    int32_t *of_el;        /* element -> number, -1: does not matter */
};

/*
 * The steps of the atoms of t (those with atoms[i], NULL: all). `keep` marks
 * the elements that the caller will ask for; others matter only if they lead
 * on. If more than MAX_VARS matter, some steps are left out (sound).
 */
enum status steps_of_tab(struct arena *a, const struct tab *t,
                         const bool *atoms, const bool *keep, struct steps *out,
                         struct err *err) WARN_UNUSED;
/* The set of those of the n elements that matter; constants are skipped. */
vset steps_set(const struct steps *s, const uint32_t *els, uint32_t n);
vset steps_closure(const struct steps *s, vset from);
/* Closure under the steps with k = 1 only. */
vset steps_closure_fd(const struct steps *s, vset from);

/*
 * PLAN: the cheapest sequence of steps from `from` to `goal`, cost = product
 * of the k. U128_INF: there is none. `work` bounds the states visited; when
 * it ends the best plan known is given. path (may be NULL) gets the steps.
 */
struct step_plan {
    u128 cost;
    uint32_t *steps;
    size_t n_steps;
};
enum status steps_plan(struct arena *a, const struct steps *s, vset from,
                       vset goal, struct work *work, struct step_plan *out,
                       struct err *err) WARN_UNUSED;
/* The corrected formula of the paper: product over the goal of the cheapest
 * walks of single-variable steps. */
u128 steps_walk_product(const struct steps *s, vset from, vset goal);

/*
 * The polymatroid bound: floor(exp(max g(goal))). `known` is a bound that
 * holds already; the result is never larger. The value rests on a dual
 * certificate checked in rationals; GLPK only proposes it.
 */
enum status upper_lp(struct arena *a, const struct steps *s, vset from,
                     vset goal, u128 known, struct work *work, u128 *out,
                     struct err *err) WARN_UNUSED;

/* The smallest of PLAN and LP. */
enum status steps_outputs(struct arena *a, const struct steps *s, vset from,
                          vset goal, struct work *work, u128 *out,
                          struct err *err) WARN_UNUSED;

#endif
