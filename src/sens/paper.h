/*
 * The residual sensitivity of Dong and Yi: LS-hat at distance k is the
 * largest, over the ways to spread k changes over the private relations, of a
 * sum of products of T_F and distances. A baseline, and a bound that the
 * capped sequence may not exceed.
 */
#ifndef SENS_PAPER_H
#define SENS_PAPER_H

#include "sens/state.h"

struct sens_paper {
    size_t n_tables;
    unsigned *copies; /* atoms of each private relation */
    /* sum of T_F by how many atoms of each relation F lacks; index in mixed
     * radix, first relation slowest */
    mpz_t *coef;
    size_t n_coef;
    mpz_t *by_size; /* the same by the number of lacking atoms, 0..n_priv */
    unsigned n_priv;
    mpz_t *table; /* several relations: LS-hat for k < n_table */
    uint64_t n_table;
    mpz_t x, y; /* scratch */
    bool ready;
};

/* Sums up T; tabulates LS-hat for k < up_to as far as the budget allows
 * (n_table then says how far, from the query and up_to alone). */
enum status sens_paper_new(struct arena *a, const struct sens_state *s,
                           uint64_t up_to, struct sens_paper *p,
                           struct err *err) WARN_UNUSED;
void sens_paper_fini(struct sens_paper *p);

/* LS-hat at distance k. False: beyond the table. */
bool sens_paper_at(struct sens_paper *p, uint64_t k, mpz_t out);
/* V(k) = sum of T_F ((k+1)^j - k^j), j atoms lacking: at least every other
 * sequence, and equal to LS-hat for one private relation. */
void sens_paper_bound(struct sens_paper *p, uint64_t k, mpz_t out);

#endif
