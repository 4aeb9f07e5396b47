/*
 * Drawing in an election: exact, rationals and exp trials only.
 *
 * Permute and flip (McKenna, Sheldon 2020): grid values are tried in random
 * order, j with probability exp(-(x_j - least x)), where x_j is the prior's
 * exponent plus the weighted score; the first that passes is elected. It is
 * epsilon-private like the exponential mechanism and never less accurate.
 * Under zCDP the exponential mechanism itself, by rejection: its better price
 * of e1^2/8 is proved for it alone.
 * Cost: at most one trial for each grid value, or as many in the mean.
 *
 * Scores of small thresholds may be unknown but for a lower bound: a trial is
 * then made with the bound, and only if it passes, with a probability that does
 * not matter, the score is asked for and a second trial made with the rest.
 */
#include "noise/elect.h"

#include "noise/random_bits.h"
#include "num/secret_scale.h"

/* With random bytes more tries are needed with probability below 2^-1000. */
enum { TRIES_MAX = 1 << 17, ENOUGH = 10 };

struct ballot {
    const struct election *e;
    const struct elect_lazy *s;
    unsigned n;
    mpq_t x[ELECT_GRID_MAX]; /* less `from`; of unknown ones at least that */
    mpq_t from;              /* the least exponent */
};

/* x_j = lambda max(0, j - flat) + e1 min(cap, score) */
static void exponent(const struct election *e, mpq_srcptr score, unsigned j,
                     mpq_t out)
{
    mpq_t prior;
    mpq_init(prior);
    bool capped = mpq_sgn(e->cap) > 0 && mpq_cmp(score, e->cap) > 0;
    mpq_mul(out, capped ? e->cap : score, e->e1);
    mpq_set_ui(prior, j > e->flat ? j - e->flat : 0, 1);
    mpq_mul(prior, prior, e->lambda);
    mpq_add(out, out, prior);
    mpq_clear(prior);
}

void elect_exponent(const struct election *e, const mpq_t *scores, unsigned j,
                    mpq_t out)
{
    exponent(e, scores[j], j, out);
}

/* The least exponent of those that are known. */
static void least_known(const struct election *e, const mpq_t *scores,
                        unsigned known, mpq_t out)
{
    mpq_t x;
    mpq_init(x);
    for (unsigned j = known; j < e->n; j++) {
        exponent(e, scores[j], j, x);
        if (j == known || mpq_cmp(x, out) < 0)
            mpq_set(out, x);
    }
    mpq_wipe_clear(x);
}

bool elect_enough(const struct election *e, const mpq_t *scores, unsigned first,
                  unsigned known, const mpq_t *least)
{
    mpq_t x, from;
    bool enough = known < e->n;
    if (!enough)
        return false;
    mpq_inits(x, from, NULL);
    least_known(e, scores, known, from);
    for (unsigned j = first; enough && j < known; j++) {
        exponent(e, least[j], j, x);
        mpq_sub(x, x, from);
        enough = mpq_cmp_ui(x, ENOUGH, 1) >= 0;
    }
    mpq_wipe_clear(x);
    mpq_wipe_clear(from);
    return enough;
}

static void ballot_init(struct ballot *b, const struct election *e,
                        const struct elect_lazy *s)
{
    *b = (struct ballot){.e = e, .s = s, .n = e->n};
    mpq_init(b->from);
    least_known(e, s->scores, s->known, b->from);
    for (unsigned j = 0; j < b->n; j++) {
        mpq_init(b->x[j]);
        exponent(e, j < s->known ? s->least[j] : s->scores[j], j, b->x[j]);
        mpq_sub(b->x[j], b->x[j], b->from);
    }
}

static void ballot_fini(struct ballot *b)
{
    for (unsigned j = 0; j < b->n; j++)
        mpq_wipe_clear(b->x[j]);
    mpq_wipe_clear(b->from);
}

/* PRIVACY: the least exponent must be a known one, and bounds true. */
static bool sound(const struct ballot *b)
{
    for (unsigned j = 0; j < b->n; j++)
        if (mpq_sgn(b->x[j]) < 0)
            return false;
    return true;
}

static enum status flip(mpq_srcptr x, struct draw *d, bool *out)
{
    return draw_exp(d, mpq_numref(x), mpq_denref(x), out);
}

/* exp(-x) = exp(-bound) exp(-(x - bound)) */
static enum status ask_rest(const struct ballot *b, unsigned j, struct draw *d,
                            bool *out)
{
    mpq_t x, score;
    mpq_inits(x, score, NULL);
    enum status st = b->s->ask(b->s->ctx, j, score, d->err);
    exponent(b->e, score, j, x);
    mpq_sub(x, x, b->from);
    mpq_sub(x, x, b->x[j]);
    if (st == OK)
        st = mpq_sgn(x) < 0 ? err_internal(d->err, "elect: a bound was wrong")
                            : flip(x, d, out);
    mpq_wipe_clear(x);
    mpq_wipe_clear(score);
    return st;
}

static enum status try_one(const struct ballot *b, unsigned j, struct draw *d,
                           bool *out)
{
    TRY(flip(b->x[j], d, out));
    return *out && j < b->s->known ? ask_rest(b, j, d, out) : OK;
}

/* The one with the least exponent passes for certain, so somebody does. */
static enum status permute_and_flip(const struct ballot *b, struct draw *d,
                                    unsigned *out)
{
    unsigned left[ELECT_GRID_MAX], n = b->n;
    for (unsigned j = 0; j < n; j++)
        left[j] = j;
    while (n > 0) {
        uint64_t at;
        bool pass;
        TRY(draw_below_u64(d, n, &at));
        TRY(try_one(b, left[at], d, &pass));
        *out = left[at];
        if (pass)
            return OK;
        left[at] = left[--n];
    }
    return err_internal(d->err, "permute_and_flip");
}

static enum status reject(const struct ballot *b, struct entropy *rng,
                          unsigned *out, struct err *err)
{
    struct draw d;
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        uint64_t at;
        bool pass;
        draw_begin(&d, rng, err);
        TRY(draw_below_u64(&d, b->n, &at));
        TRY(try_one(b, (unsigned)at, &d, &pass));
        *out = (unsigned)at;
        if (pass)
            return OK;
    }
    return draw_stuck(&d);
}

enum status elect_draw_lazily(const struct ledger_hold *hold,
                              const struct election *e,
                              const struct elect_lazy *s, struct entropy *rng,
                              unsigned *out, struct err *err)
{
    (void)hold; /* the caller has it: see noise.h */
    struct ballot b;
    struct draw d;
    if (s->known >= e->n)
        return err_internal(err, "elect_draw");
    draw_begin(&d, rng, err);
    ballot_init(&b, e, s);
    enum status st = !sound(&b)        ? err_internal(err, "elect_draw")
                     : e->concentrated ? reject(&b, rng, out, err)
                                       : permute_and_flip(&b, &d, out);
    ballot_fini(&b);
    return st;
}

enum status elect_draw(const struct ledger_hold *hold, const struct election *e,
                       const mpq_t *scores, struct entropy *rng, unsigned *out,
                       struct err *err)
{
    struct elect_lazy all = {.scores = scores};
    return elect_draw_lazily(hold, e, &all, rng, out, err);
}

enum status elect_answer(const struct ledger_hold *hold,
                         const struct election *e, unsigned j,
                         const struct secret_scale *value, struct entropy *rng,
                         mpz_t out, struct err *err)
{
    struct noise n;
    noise_init(&n);
    enum status st = elect_noise(e, j, &n, err);
    if (st == OK)
        st = noise_answer_rational(hold, &n, elect_lattice(e), value, rng, out,
                                   err);
    noise_fini(&n);
    return st;
}

enum status elect_lost(const struct ledger_hold *hold, const struct election *e,
                       unsigned j, const struct secret_scale *value,
                       struct entropy *rng, mpz_t out, struct err *err)
{
    struct noise n;
    noise_init(&n);
    enum status st = elect_lost_noise(e, j, &n, err);
    if (st == OK)
        st = noise_answer_rational(hold, &n, elect_lattice(e), value, rng, out,
                                   err);
    noise_fini(&n);
    return st;
}

static double wider(double q, double step, double more) /* display */
{
    return q / step + more;
}

enum status elect_error(const struct election *e, unsigned j, bool lost,
                        struct noise_error *out, struct err *err)
{
    struct noise n;
    noise_init(&n);
    enum status st =
        lost ? elect_lost_noise(e, j, &n, err) : elect_noise(e, j, &n, err);
    if (st == OK)
        st = noise_error(&n, out, err);
    double step = elect_lattice(e); /* display */
    double more = e->q.owners > 1;  /* display */
    if (!e->q.exact)
        more += (lost ? 3 : 1) * ((double)e->grid[j] / 128); /* display */
    out->std = wider(out->std, step, 0);
    out->p50 = wider(out->p50, step, more);
    out->p90 = wider(out->p90, step, more);
    out->p95 = wider(out->p95, step, more);
    out->p99 = wider(out->p99, step, more);
    noise_fini(&n);
    return st;
}
