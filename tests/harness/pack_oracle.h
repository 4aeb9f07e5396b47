/*
 * Q(D, t) by an exact simplex over rationals on the problem as it is defined,
 * without collapse, flows or certificates. Slow; for small problems.
 */
#ifndef HARNESS_PACK_ORACLE_H
#define HARNESS_PACK_ORACLE_H

#include <gmp.h>
#include "entity/pack.h"

void oracle_pack(const struct pack_input *in, mpq_srcptr t, mpq_t out);

/* A number in units of 2^-PACK_UNIT as a rational. */
void oracle_units(u128 v, mpq_t out);

#endif
