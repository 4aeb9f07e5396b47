/*
 * GROUP BY: contributions of entities to groups (PROOF.md, claim 11).
 *
 *   entity_cut_groups  one owner: every entity's vector over the groups is cut
 *                      to norm t, filled in the order of the groups' numbers,
 *                      which must be that of the keys' values
 *   entity_part_of     the results of one group as a packing problem
 *
 * Tuples come sorted by groups (contrib.h). OWNER: everything here is secret.
 */
#ifndef ENTITY_ENTITY_GROUPS_H
#define ENTITY_ENTITY_GROUPS_H

#include "entity/pack.h"

/* out[g]: what is left in group g, of n groups. One owner, no witnesses. */
enum status entity_cut_groups(struct mem *m, const struct pack_input *in,
                              const uint32_t *group, size_t n, uint64_t t,
                              u128 *out, struct err *err) WARN_UNUSED;

/* Room for parts, made for a whole. */
struct entity_parts {
    struct mem *mem;
    struct arena arena;    /* of the part at hand */
    uint32_t *id, *answer; /* numbers within the part, or PACK_NONE */
    size_t n_ids, n_answers;
};
enum status entity_parts_init(struct entity_parts *x, struct mem *m,
                              const struct pack_input *whole,
                              struct err *err) WARN_UNUSED;
void entity_parts_fini(struct entity_parts *x);
/* The tuples of group g, with entities and answers numbered anew; until the
 * next call or the end. */
enum status entity_part_of(struct entity_parts *x,
                           const struct pack_input *whole,
                           const uint32_t *group, uint32_t g,
                           struct pack_input *out, struct err *err) WARN_UNUSED;

#endif
