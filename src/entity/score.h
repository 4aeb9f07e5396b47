/*
 * Scores of thresholds: how much a larger threshold would still add. They are
 * what an election weighs (noise/elect.h says what they must be).
 */
#ifndef ENTITY_SCORE_H
#define ENTITY_SCORE_H

#include <gmp.h>
#include "entity/pack.h"

/* The public side: n rising thresholds; with several owners consecutive powers
 * of two, what differences are divided by, and where scores are capped. */
struct score_grid {
    unsigned n;
    const uint64_t *t;
    const mpq_t *divisor;
    mpq_srcptr cap;
};

/*
 * One owner: the number of entities with more than t. Several: (m(2t) - m(t/2))
 * / divisor with m the middle of the certified interval, or the cap once a
 * score is certainly at least that. `out`: n initialised numbers.
 */
enum status entity_scores(struct pack *p, unsigned owners,
                          const struct score_grid *g, mpq_t *out,
                          struct err *err) WARN_UNUSED;

/* The same for j alone, several owners, j falling. `capped`: it is the cap, and
 * so are those of smaller thresholds. */
enum status entity_score(struct pack *p, const struct score_grid *g, unsigned j,
                         mpq_t out, bool *capped, struct err *err) WARN_UNUSED;

/* An upper bound of Q(D, t) that needs no solving, in whole results, for any
 * power of two t. */
struct score_above {
    u128 (*at)(const void *ctx, uint64_t t);
    const void *ctx;
};

/*
 * What the scores of thresholds 0 .. j are at least, as far as 2 t[j], `above`
 * and what is listed tell. `solve`: the problem at t[j]/2 is solved for it,
 * with the constraints that are listed. least: j + 1 numbers, true already,
 * which are raised. false in *some: nothing is known without listing more.
 */
enum status entity_least(struct pack *p, const struct score_grid *g, unsigned j,
                         const struct score_above *above, bool solve,
                         mpq_t *least, bool *some, struct err *err) WARN_UNUSED;

/* The same by an interval of Q at 2 t[j] and one at t[j]/2, in units, for 0 ..
 * j: raises what is there. */
void entity_least_by(const struct score_grid *g, unsigned j, u128 lo, u128 hi,
                     mpq_t *least);

/* The middle of an interval. */
void pack_middle(const struct pack_interval *v, mpq_t out);

#endif
