/*
 * Scores, visited from the largest threshold down: Q is concave in t, so that
 * exact scores only rise on the way, and once one is certainly at least the
 * cap all below are (PROOF.md, claim 6). So only thresholds that few entities
 * exceed are ever solved.
 * PRIVACY: a score is the cap or the difference of middles, and the cap only
 * where the exact score is at least that; which of the two may depend on the
 * solver.
 */
#include "entity/score.h"

#include "num/rat.h"

void pack_middle(const struct pack_interval *v, mpq_t out)
{
    mpz_t hi;
    mpz_init(hi);
    mpz_set_u128(mpq_numref(out), v->lo);
    mpz_set_u128(hi, v->hi);
    mpz_add(mpq_numref(out), mpq_numref(out), hi);
    mpz_set_ui(mpq_denref(out), 1);
    mpz_mul_2exp(mpq_denref(out), mpq_denref(out), PACK_UNIT + 1);
    mpq_canonicalize(out);
    mpz_clear(hi);
}

/* Is (lo - hi) / divisor at least the cap? In units of 2^-PACK_UNIT. */
static bool certainly(u128 lo, u128 hi, mpq_srcptr divisor, mpq_srcptr cap)
{
    if (lo < hi)
        return false;
    mpq_t d, need;
    mpq_inits(d, need, NULL);
    mpz_set_u128(mpq_numref(d), lo - hi);
    mpz_mul_2exp(mpq_denref(d), mpq_denref(d), PACK_UNIT);
    mpq_canonicalize(d);
    mpq_mul(need, divisor, cap);
    bool sure = mpq_cmp(d, need) >= 0;
    mpq_clears(d, need, NULL);
    return sure;
}

static void difference(const struct pack_interval *more,
                       const struct pack_interval *less, mpq_srcptr divisor,
                       mpq_t out)
{
    mpq_t low;
    mpq_init(low);
    pack_middle(more, out);
    pack_middle(less, low);
    mpq_sub(out, out, low);
    mpq_div(out, out, divisor);
    mpq_clear(low);
}

/* The score at j, or *capped. */
static enum status score_one(struct pack *p, const struct score_grid *g,
                             unsigned j, mpq_t out, bool *capped,
                             struct err *err)
{
    struct pack_interval more, less;
    uint64_t t = g->t[j];
    TRY(pack_value(p, 2 * t, &more, err));
    *capped =
        certainly(more.lo, pack_above_value(p, t / 2), g->divisor[j], g->cap);
    if (*capped)
        return OK;
    TRY(pack_value(p, t / 2, &less, err));
    *capped = certainly(more.lo, less.hi, g->divisor[j], g->cap);
    difference(&more, &less, g->divisor[j], out);
    return OK;
}

static enum status score_several(struct pack *p, const struct score_grid *g,
                                 mpq_t *out, struct err *err)
{
    bool capped = false;
    for (unsigned j = g->n; j-- > 0;) {
        if (!capped)
            TRY(score_one(p, g, j, out[j], &capped, err));
        if (capped)
            mpq_set(out[j], g->cap);
    }
    return OK;
}

enum status entity_scores(struct pack *p, unsigned owners,
                          const struct score_grid *g, mpq_t *out,
                          struct err *err)
{
    if (owners > 1)
        return score_several(p, g, out, err);
    for (unsigned j = 0; j < g->n; j++)
        mpq_set_ui(out[j], pack_exceeding(p, g->t[j]), 1);
    return OK;
}
