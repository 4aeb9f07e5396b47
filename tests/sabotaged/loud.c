/*
 * Sabotage for audits: linked with --wrap=entity_scores, a program elects its
 * thresholds by scores that are twice as large as its price allows.
 */
#include "entity/score.h"

__typeof__(entity_scores) __real_entity_scores, __wrap_entity_scores;

enum status __wrap_entity_scores(struct pack *p, unsigned owners,
                                 const struct score_grid *g, mpq_t *out,
                                 struct err *err)
{
    enum status s = __real_entity_scores(p, owners, g, out, err);
    for (unsigned j = 0; j < g->n; j++)
        mpq_mul_2exp(out[j], out[j], 1);
    return s;
}
