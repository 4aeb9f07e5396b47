/*
 * Election: a threshold T for what one entity may contribute is chosen
 * privately from a public grid, then the truncated count is released with
 * noise for T (PROOF.md, claims 12 to 16).
 *
 *   elect_plan    fixes everything public: grid, shares of the price, prior
 *   elect_draw    elects a threshold from scores (small: T is large enough)
 *   elect_answer  truncated value + noise for the elected T, a whole number
 *   elect_lost    for a share of the price: what hints at how much was cut
 *
 * Knows scores and values, no rows. PRIVACY: every constant is fixed here, in
 * one table; guesses and bounds come from people, never from the data.
 */
#ifndef NOISE_ELECT_H
#define NOISE_ELECT_H

#include "noise/noise.h"

enum { ELECT_GRID_MAX = 128, ELECT_TOP_BITS = 62, ELECT_ETA = 64 };

/* What is known before data are read. */
struct elect_question {
    unsigned owners; /* of one result, at least 1 */
    bool exact;      /* truncated values are exact, else within T/128 */
    u128 bound;      /* promised contribution of an entity; U128_INF: none */
    u128 guess;      /* of the threshold; 0: none */
    unsigned order;  /* entities in which neighbours differ, at least 1 */
    bool change;     /* they are changed, not inserted or deleted */
    bool vector;     /* one owner: groups, an entity's vector has norm T */
    bool nested;     /* an entity may have a part of another one's results */
    mpq_srcptr lost; /* share of the price for elect_lost, below 1; NULL: none.
                        Read by elect_plan only */
};

struct election {
    struct elect_question q;
    unsigned n;
    uint64_t grid[ELECT_GRID_MAX]; /* rising */
    unsigned flat;                 /* the prior falls from this one on */
    bool concentrated;             /* zCDP */
    mpq_t e1;                      /* weight of a score */
    mpq_t lambda;                  /* of the prior, a step of the grid */
    mpq_t cap;                     /* scores count at most as that; 0: none */
    struct guarantee answer, lost; /* their prices */
};
void elect_init(struct election *e);
void elect_fini(struct election *e);

enum status elect_plan(const struct guarantee *g,
                       const struct elect_question *q, struct election *out,
                       struct err *err) WARN_UNUSED;

/*
 * PRIVACY, for the caller to ensure, over all neighbours D and D - u and every
 * grid value T:
 *   one owner      score = the number of entities with more than T
 *   several owners score = (m(2T) - m(T/2)) / elect_divisor, m within t/128 of
 *                  Q(D, t), or Q(D, t) itself if exact; or anything at least
 *                  `cap` if the score is at least `cap` for some such m
 */
void elect_divisor(const struct election *e, unsigned j, mpq_t out);

/* What is weighed for j: its probability falls by exp(-out). */
void elect_exponent(const struct election *e, const mpq_t *scores, unsigned j,
                    mpq_t out);
/* Elects; scores: n secret numbers. */
enum status elect_draw(const struct ledger_hold *hold, const struct election *e,
                       const mpq_t *scores, struct entropy *rng, unsigned *out,
                       struct err *err) NEEDS_HOLD;

/*
 * The same law where scores of the smallest thresholds are not known: grid
 * value j below `known` scores at least least[j], and is asked for only if it
 * would be elected by that (claim 12).
 */
struct elect_lazy {
    const mpq_t *scores; /* n; those from `known` on are read */
    unsigned known;
    const mpq_t *least;
    enum status (*ask)(void *ctx, unsigned j, mpq_t out, struct err *err);
    void *ctx;
};
enum status elect_draw_lazily(const struct ledger_hold *hold,
                              const struct election *e,
                              const struct elect_lazy *s, struct entropy *rng,
                              unsigned *out, struct err *err) NEEDS_HOLD;
/* Is each from `first` to below `known` elected with a probability below e^-10
 * at most, if j scores at least least[j]? For speed alone. */
bool elect_enough(const struct election *e, const mpq_t *scores, unsigned first,
                  unsigned known, const mpq_t *least);

/* The noise of the answer at grid value j, in units of 1/elect_lattice. */
enum status elect_noise(const struct election *e, unsigned j, struct noise *out,
                        struct err *err) WARN_UNUSED;
unsigned elect_lattice(const struct election *e);
/*
 * The threshold that hides keys of groups which only one of two neighbours has
 * (claim 16), for the noise at j: of vectors (`vector`), or of one group of
 * several that are elected each for itself, an entity being in one of them.
 */
enum status elect_key_threshold(const struct election *e, unsigned j,
                                mpq_srcptr delta, mpz_t out,
                                struct err *err) WARN_UNUSED;
/* value: m(T) as above. */
enum status elect_answer(const struct ledger_hold *hold,
                         const struct election *e, unsigned j,
                         const struct secret_scale *value, struct entropy *rng,
                         mpz_t out, struct err *err) NEEDS_HOLD;
/*
 * For its share of the price. one owner: the number of entities with more than
 * T, plus noise; several: m(2T) - m(T), which is at most what was cut, plus
 * noise.
 */
bool elect_tells_lost(const struct election *e);
enum status elect_lost_noise(const struct election *e, unsigned j,
                             struct noise *out, struct err *err) WARN_UNUSED;
enum status elect_lost(const struct ledger_hold *hold, const struct election *e,
                       unsigned j, const struct secret_scale *value,
                       struct entropy *rng, mpz_t out,
                       struct err *err) NEEDS_HOLD;

/* For display: quantiles of the noise of the answer at j, rounding and the
 * inexactness of the truncated value included. What was cut is not. */
enum status elect_error(const struct election *e, unsigned j, bool lost,
                        struct noise_error *out, struct err *err) WARN_UNUSED;

#endif
