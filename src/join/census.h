/*
 * Counts by several keys at once, of a query whose atoms form a tree.
 *
 * The keys (q->outs, the first n_group) are variables over ids below `ids`,
 * each in one atom. A question gives every id a mark; results with a key that
 * is OUT are left out. What is asked is how many results have only FREE keys,
 * and who is in them; or those that have one MARKED key besides; or the
 * results by the set of their MARKED ids. One pass up the tree and one down
 * answer the first two for all keys at once: no combination of keys is made.
 *
 * Like all of the engine it knows nothing of privacy; numbers are exact below
 * COUNT_MOST and clamped there.
 */
#ifndef JOIN_CENSUS_H
#define JOIN_CENSUS_H

#include "join/join.h"

struct join_census;
enum { CENSUS_FREE, CENSUS_MARKED, CENSUS_OUT };

/* *out is NULL where the query is not one that this can do: cyclic, with a
 * comparison across atoms, with variables that are not counted. Which these are
 * follows from the query. */
enum status join_census_open(struct join *j, uint32_t ids,
                             struct join_census **out,
                             struct err *err) WARN_UNUSED;
void join_census_close(struct join_census *c); /* NULL allowed */

/* Ids that will be FREE from now on until the next call (never[id] not 0) are
 * no longer told apart, so that passes look at fewer rows. */
enum status join_census_narrow(struct join_census *c, const uint8_t *never,
                               struct err *err) WARN_UNUSED;

/* Arrays by id have ids + 1 places; mark and part hold 0 in the last. */
struct census_counts {
    u128 *key[16]; /* by id: results whose i-th key it is; NULL: not wanted */
    u128 *free;    /* by id: the sum of these; NULL: not wanted */
    u128 *alone;   /* by id: results with it, MARKED, as one key and FREE ones
                      in all others; NULL: not wanted */
    u128 total;    /* of results with FREE keys alone */
};
/* Arrays are set to 0 first; the last place has those not told apart. */
enum status join_census_count(struct join_census *c, const uint8_t *mark,
                              struct census_counts *out,
                              struct err *err) WARN_UNUSED;

/* near[v], v FREE: over the results that have exactly one MARKED key u and only
 * FREE ones besides, the sum of part[u], once for each key that is v. */
enum status join_census_near(struct join_census *c, const uint8_t *mark,
                             const uint64_t *part, u128 *near,
                             struct err *err) WARN_UNUSED;

/*
 * Every result counts as its number times factor[u] for each of its keys u:
 * their sum, and the sums by key (load[u]; once for each key that is u).
 * Factors are 0, or within [2^-40, 1]; 1 in the last place. A number is off by
 * a share of at most 2^-14 of itself, or infinite or none where one of the
 * numbers on its way was too large.
 */
enum status join_census_scale(struct join_census *c, const double *factor,
                              double *load, double *total,
                              struct err *err) WARN_UNUSED;

/* Tells the sets of MARKED ids (rising, n of them, 0 too) of the results, each
 * once with their number. Nothing is told, and *done is false, if there are
 * more than `most` partial sets, or too much work. */
enum status
join_census_list(struct join_census *c, const uint8_t *mark, size_t most,
                 enum status (*each)(void *ctx, const uint32_t *ids, uint32_t n,
                                     u128 count, struct err *err),
                 void *ctx, bool *done, struct err *err) WARN_UNUSED;

#endif
