/* From results to the packing problem at one threshold: see collapse.c. */
#ifndef ENTITY_COLLAPSE_H
#define ENTITY_COLLAPSE_H

#include "entity/packing.h"

/* The tuples in the order of their answers; only with witnesses. */
struct by_answer {
    uint32_t *first; /* answers + 1 */
    uint32_t *tuple; /* n */
};

/* Fills `out` and `base`, what is counted outside (at most 2^96). */
enum status packing_collapse(const struct pack_input *in, const u128 *load,
                             const struct by_answer *by, uint64_t t,
                             struct arena *a, struct packing *out, u128 *base,
                             struct err *err) WARN_UNUSED;

/* The different owners of tuple i in rising order; how many. */
unsigned pack_owners_of(const struct pack_input *in, size_t i,
                        uint32_t out[PACK_OWNERS_MAX]);

#endif
