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

enum status entity_score(struct pack *p, const struct score_grid *g, unsigned j,
                         mpq_t out, bool *capped, struct err *err)
{
    struct pack_interval more, less;
    uint64_t t = g->t[j];
    TRY(pack_value(p, 2 * t, &more, err));
    *capped =
        certainly(more.lo, pack_above_value(p, t / 2), g->divisor[j], g->cap);
    if (!*capped) {
        TRY(pack_value(p, t / 2, &less, err));
        *capped = certainly(more.lo, less.hi, g->divisor[j], g->cap);
        difference(&more, &less, g->divisor[j], out);
    }
    if (*capped)
        mpq_set(out, g->cap);
    return OK;
}

/* --- bounds --------------------------------------------------------------- */

/* What is used for a score is off by at most (5t/256) / divisor (claim 6);
 * above the cap it is the cap. */
static void settle(const struct score_grid *g, mpq_t v)
{
    mpq_t off;
    mpq_init(off);
    mpq_set_ui(off, 1, 128); /* 5/256 / (5/2) */
    mpq_sub(v, v, off);
    if (mpq_sgn(v) < 0)
        mpq_set_ui(v, 0, 1);
    if (mpq_cmp(v, g->cap) > 0)
        mpq_set(v, g->cap);
    mpq_clear(off);
}

/* The mean slope of Q above 2 t[i], from there to `to` where it is at least
 * `value`: Q(2 t[i]) is at most `below`. Slopes do not fall on the way down, so
 * the score of i is at least that times (3 t[i]/2) / divisor. Exact: 0 where
 * nothing follows. */
static void by_slope(const struct score_grid *g, unsigned i, u128 value,
                     uint64_t to, u128 below, mpq_t out)
{
    mpq_set_ui(out, 0, 1);
    if (g->t[i] > PACK_T_MAX / 4 || 2 * g->t[i] >= to ||
        value >> PACK_UNIT <= below)
        return;
    mpz_set_u128(mpq_numref(out), (value >> PACK_UNIT) - below);
    mpz_set_ui(mpq_denref(out), to - 2 * g->t[i]);
    mpq_canonicalize(out);
    mpq_t f;
    mpq_init(f);
    mpz_set_ui(mpq_numref(f), g->t[i]);
    mpz_mul_ui(mpq_numref(f), mpq_numref(f), 3);
    mpz_set_ui(mpq_denref(f), 2);
    mpq_canonicalize(f);
    mpq_mul(out, out, f);
    mpq_div(out, out, g->divisor[i]);
    mpq_clear(f);
}

/* An upper end at t, in units. */
static enum status upper_end(struct pack *p, uint64_t t,
                             const struct score_above *above, bool solve,
                             u128 *out, struct err *err)
{
    u128 whole = above->at(above->ctx, t);
    *out = whole >> (127 - PACK_UNIT) ? U128_INF : whole << PACK_UNIT;
    if (!solve)
        return OK;
    u128 solved;
    TRY(pack_upper(p, t, &solved, err));
    *out = solved < *out ? solved : *out;
    return OK;
}

/* PRIVACY: scores do not fall on the way down (claim 6), so what one is at
 * least, those of smaller thresholds are too. */
static void raise_to(const struct score_grid *g, unsigned j, mpq_t v,
                     mpq_t *least)
{
    settle(g, v);
    for (unsigned i = j + 1; i-- > 0 && mpq_cmp(least[i], v) < 0;)
        mpq_set(least[i], v);
}

void entity_least_by(const struct score_grid *g, unsigned j, u128 lo, u128 hi,
                     mpq_t *least)
{
    mpq_t v;
    mpq_init(v);
    mpz_set_u128(mpq_numref(v), lo > hi ? lo - hi : 0);
    mpz_set_ui(mpq_denref(v), 1);
    mpz_mul_2exp(mpq_denref(v), mpq_denref(v), PACK_UNIT);
    mpq_canonicalize(v);
    mpq_div(v, v, g->divisor[j]);
    raise_to(g, j, v, least);
    mpq_clear(v);
}

enum status entity_least(struct pack *p, const struct score_grid *g, unsigned j,
                         const struct score_above *above, bool solve,
                         mpq_t *least, bool *some, struct err *err)
{
    struct pack_interval more;
    u128 less;
    uint64_t t = g->t[j];
    *some = pack_listed(p, 2 * t);
    if (!*some)
        return OK;
    TRY(pack_value(p, 2 * t, &more, err));
    TRY(upper_end(p, t / 2, above, solve, &less, err));
    entity_least_by(g, j, more.lo, less, least);
    mpq_t v;
    mpq_init(v);
    for (unsigned i = 0; i < j; i++) {
        by_slope(g, i, more.lo, 2 * t, above->at(above->ctx, 2 * g->t[i]), v);
        raise_to(g, i, v, least);
    }
    mpq_clear(v);
    return OK;
}

static enum status score_several(struct pack *p, const struct score_grid *g,
                                 mpq_t *out, struct err *err)
{
    bool capped = false;
    for (unsigned j = g->n; j-- > 0;) {
        if (!capped)
            TRY(entity_score(p, g, j, out[j], &capped, err));
        else
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
