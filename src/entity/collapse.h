/* From results to the packing problem at one threshold: see collapse.c. */
#ifndef ENTITY_COLLAPSE_H
#define ENTITY_COLLAPSE_H

#include "entity/packing.h"

/* The tuples in the order of their answers; only with witnesses. */
struct by_answer {
    uint32_t *first; /* answers + 1 */
    uint32_t *tuple; /* n */
};

/* The tuples by the bits of their largest owner's load, the most first: those
 * of fewer bits than t has need not be looked at. Only without witnesses. */
struct by_load {
    uint32_t *tuple; /* n; NULL: in any order */
    size_t n[130];   /* tuples of so many bits or more */
    u128 rest[130];  /* what the others weigh */
};
unsigned pack_bits(u128 v);

/* Fills `out` and `base`, what is counted outside (at most 2^96). */
enum status packing_collapse(const struct pack_input *in, const u128 *load,
                             const struct by_answer *by,
                             const struct by_load *order, uint64_t t,
                             struct arena *a, struct packing *out, u128 *base,
                             struct err *err) WARN_UNUSED;

/* The different owners of tuple i in rising order; how many. */
unsigned pack_owners_of(const struct pack_input *in, size_t i,
                        uint32_t out[PACK_OWNERS_MAX]);

#endif
