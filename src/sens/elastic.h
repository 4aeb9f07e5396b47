/*
 * Elastic sensitivity (Johnson, Near, Song: Towards Practical Differential
 * Privacy for SQL Queries, VLDB 2018): a bound from the largest frequencies of
 * single columns. A baseline.
 */
#ifndef SENS_ELASTIC_H
#define SENS_ELASTIC_H

#include "sens/smooth_max.h"
#include "sens/sens.h"

struct sens_elastic; /* in the arena; numbers freed by _fini */

enum status sens_elastic_new(struct arena *a, const struct cq *q,
                             const struct sens_counter *counter,
                             struct sens_elastic **out,
                             struct err *err) WARN_UNUSED;
void sens_elastic_fini(struct sens_elastic *e);
/* Elastic sensitivity at distance k, any k. */
void sens_elastic_at(struct sens_elastic *e, uint64_t k, mpz_t out);
/* max over k of e^{-beta k} sum over t < order of the value at order k + t. */
enum status sens_elastic_peak(struct arena *a, struct sens_elastic *e,
                              mpq_srcptr beta, uint32_t order,
                              struct sens_peak *out,
                              struct err *err) WARN_UNUSED;

#endif
