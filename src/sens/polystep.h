/*
 * The steps of the vector T, many at a time. Between the places where another
 * cap or relation begins to decide, every T_F is a polynomial in the number of
 * steps. A stretch is such a piece, found by reading polynomials off a few
 * steps and proving that they go on: then only the numbers that g needs are
 * computed, a few additions each. The values are those of sens_state_step and
 * sens_state_local, one by one; where no stretch is proved, the steps are
 * taken as they are.
 */
#ifndef SENS_POLYSTEP_H
#define SENS_POLYSTEP_H

#include "sens/state.h"

struct sens_stretch {
    struct sens_state *s;
    unsigned degree;    /* of the polynomials at most */
    bool tries;         /* false: too large to look for stretches */
    uint64_t taken;     /* steps so far */
    uint64_t next_try;  /* when to look again */
    unsigned n_samples; /* of this try */
    mpz_t *diff;        /* samples, then differences: [i * n_coords + c] */
    mpz_t *value;       /* of a coordinate at 0, 1, ...: [c * n_points + j] */
    unsigned n_points;
    mpz_t *top; /* g of each relation by differences: [r * (degree + 1) + i] */
    size_t n_top;
    uint64_t at, end; /* steps since the base, and proved; end 0: none */
    mpz_t *work;      /* n_points numbers */
    mpz_t x, y;
};

/* `s` must outlive it and is stepped only through it. */
enum status sens_stretch_init(struct sens_stretch *r, struct arena *a,
                              struct sens_state *s,
                              struct err *err) WARN_UNUSED;
void sens_stretch_fini(struct sens_stretch *r); /* wipes */
void sens_stretch_step(struct sens_stretch *r);
void sens_stretch_local(struct sens_stretch *r, mpz_t out);
/* The same for each table of the plan. */
void sens_stretch_relations(struct sens_stretch *r, mpz_t *out);

/*
 * The proof alone, for any polynomials P_F with the forward differences `diff`
 * at 0: some m such that a step leads from P(j) to P(j+1) for all 0 <= j <= m,
 * if P(0) >= 0; 0: none found. Here apart so that tests can hand it polynomials
 * that no vector has.
 */
uint64_t sens_stretch_proved(struct sens_stretch *r);

#endif
