/*
 * Noise: distributions with exact rational parameters, their calibration to a
 * privacy guarantee, and samplers whose output law is exact.
 * PRIVACY: no floating point in any path from random bits to the output.
 * Doubles appear in noise_error only, which is for display.
 */
#ifndef NOISE_NOISE_H
#define NOISE_NOISE_H

#include <gmp.h>
#include "num/rat.h"
#include "num/secret_scale.h"

/* Larger parameters are refused (E_VALUE): GMP aborts when memory is out, so
 * nothing that could ask for much memory gets that far. */
enum { NOISE_EPSILON_MAX = 1000, NOISE_SCALE_BITS = 1024 };

enum noise_kind {
    NOISE_DISCRETE_LAPLACE,   /* scale b = sensitivity / epsilon */
    NOISE_DISCRETE_GAUSSIAN,  /* sigma^2 */
    NOISE_SMOOTH_LAPLACE,     /* the smallest variance of its family */
    NOISE_GENERALIZED_CAUCHY, /* gamma 4, tight alpha */
    NOISE_ARSINH_NORMAL,      /* zCDP */
    NOISE_STAIRCASE,          /* geometric staircase, large epsilon */
    NOISE_JOINT_LAPLACE,      /* two numbers by one draw */
};
const char *noise_name(enum noise_kind k); /* "smooth-laplace" */
bool noise_find(struct str name, enum noise_kind *out);

enum privacy_kind { PRIVACY_PURE, PRIVACY_APPROX, PRIVACY_ZCDP };

/* The guarantee asked for. rho for zCDP, else epsilon and delta. */
struct guarantee {
    enum privacy_kind kind;
    mpq_t epsilon, delta, rho;
};
void guarantee_init(struct guarantee *g);
void guarantee_fini(struct guarantee *g);

struct inverse_table;
/*
 * A calibrated distribution but for the sensitivity. For global sensitivity
 * the scale is public; for smooth sensitivity the noise is S * Z with S
 * secret. All numbers exact, rounded on the safe side. One thread at a time.
 */
struct noise {
    enum noise_kind kind;
    bool smooth;      /* calibrated to a beta-smooth sensitivity */
    mpq_t epsilon;    /* of the density; rho for Gaussian and arsinh-normal.
                         Not the price: with groups it is less */
    mpq_t beta;       /* of the density */
    mpq_t scale_beta; /* smoothness of S that is tolerated, with slack */
    mpq_t a, b;       /* parameters; meaning by kind, see noise.c */
    struct mem mem;
    struct inverse_table *table; /* enclosures that draws share; NULL: none */
};
void noise_init(struct noise *n);
void noise_fini(struct noise *n);

/*
 * Global sensitivity (an integer, public), of one count or of a vector whose
 * parts get a draw each: `l1` for discrete-laplace, the square of the l2
 * sensitivity for discrete-gaussian; the other may be NULL. discrete-gaussian
 * under (epsilon, delta) goes through zCDP, rounded to more noise, and is
 * refused when delta is 0.
 */
enum status noise_calibrate_global(const struct guarantee *g,
                                   enum noise_kind kind, mpz_srcptr l1,
                                   mpz_srcptr l2_squared, struct noise *out,
                                   struct err *err) WARN_UNUSED;
/*
 * Two numbers that the same rows change, with one draw: half the variance of
 * two draws that share epsilon. PRIVACY, for the caller to ensure, over all
 * neighbours: the first changes by at most `a` and the second by at most `b`.
 * Of vectors, each pair with a draw: a is w b, and there are whole numbers n_j
 * that sum to at most b such that the first of pair j changes by at most w n_j
 * and the second by at most n_j. *first and *second describe either number
 * (noise_error); the pair is drawn by noise_answer_pair. Not under zCDP, where
 * two draws are as good.
 */
enum status noise_calibrate_joint(const struct guarantee *g, mpz_srcptr a,
                                  mpz_srcptr b, struct noise *first,
                                  struct noise *second,
                                  struct err *err) WARN_UNUSED;
/*
 * The threshold that hides keys which only one of two neighbours has: such
 * keys have counts that sum to at most `mass` and are at most `keys` many
 * (1 <= keys <= mass), and `n` is discrete-laplace noise, drawn for each count
 * on its own. A noisy count of such a key reaches the threshold, for any of
 * them, with probability at most delta (at most one half). The smallest
 * integer for which that is certain.
 */
enum status noise_threshold(const struct noise *n, mpz_srcptr mass,
                            mpz_srcptr keys, mpq_srcptr delta, mpz_t out,
                            struct err *err) WARN_UNUSED;
/*
 * Smooth sensitivity with smoothness beta (public, fixed before data are
 * read). The noise tolerates beta * (1 + 2^-60). PRIVACY, for the caller to
 * ensure, over all neighbours: |f - f'| <= min(S, S') and
 * |ln S - ln S'| <= beta (1 + 2^-60), S > 0; S may be rounded up by a relative
 * 2^-90. Needs beta < epsilon/2 (smooth-laplace), < epsilon/3
 * (generalized-cauchy, staircase), <= 0.36 sqrt(2 rho) (arsinh-normal). Under
 * (epsilon, delta) the pure kinds are used with delta 0: for one count they
 * are better than Gaussian noise. Under zCDP a pure kind takes
 * epsilon = sqrt(2 rho), rounded down.
 */
enum status noise_calibrate_smooth(const struct guarantee *g,
                                   enum noise_kind kind, mpq_srcptr beta,
                                   struct noise *out,
                                   struct err *err) WARN_UNUSED;
/* The kind to take by default: smooth-laplace; staircase for epsilon >= 4
 * where it is better; arsinh-normal under zCDP. */
enum noise_kind noise_best_smooth(const struct guarantee *g, mpq_srcptr beta);
/* beta by the query's degree: epsilon * {0, 1/6, 1/4, 2/7, 5/16, 1/3}; under
 * zCDP sqrt(2 rho) * {0, 0.13, 1/5, 1/4, 0.28, 0.3}. 0: there is a finite
 * global sensitivity and no use for a smooth one. */
void noise_choose_beta(const struct guarantee *g, unsigned degree,
                       mpq_t out_beta);

/*
 * A vector of `groups` counts, each with its own draw and all with one S:
 * the sum of |f_j - f_j'| over the groups must be at most min(S, S'). (When
 * neighbours substitute a row, that sum is up to twice what it is for one
 * insertion.) The change of scale is paid in every group, so beta must be
 * about epsilon / (8 groups); noise_choose_beta_groups gives such a beta.
 */
enum status noise_calibrate_smooth_groups(const struct guarantee *g,
                                          uint64_t groups, mpq_srcptr beta,
                                          struct noise *out,
                                          struct err *err) WARN_UNUSED;
void noise_choose_beta_groups(const struct guarantee *g, unsigned degree,
                              uint64_t groups, mpq_t out_beta);

/* s := min(max(s, 2^-64), COUNT_MOST). PRIVACY: whatever the data, S is a
 * number that a draw takes; smoothness and P1 stay (PROOF.md, claim 9). */
void noise_clamp_scale(mpq_t s);
/* s := factor * s, clamped as above. PRIVACY: S is smooth, so it is 0 for all
 * private rows or for none (an empty public table); 1 stands in its place. */
void noise_scale_times(struct secret_scale *s, mpq_srcptr factor);
/* One draw, rounded to an integer. `s`: the smooth sensitivity (> 0) for
 * smooth kinds, else NULL; it is clamped as above. Fails with E_ENTROPY or
 * E_NOMEM only: no size of S is refused. */
struct entropy;
enum status noise_draw(const struct noise *n, mpq_srcptr s, struct entropy *rng,
                       mpz_t out, struct err *err) WARN_UNUSED;

/*
 * PRIVACY: what ledger_hold returned (ledger/ledger.h), and nothing else makes
 * one: the proof that the question is paid for, which every function that draws
 * from secrets demands. Nobody here looks into it.
 */
struct ledger_hold;
#define NEEDS_HOLD __attribute__((nonnull(1), warn_unused_result))

/* The answer of a release, count + noise: the one place where a count is opened
 * for an analyst. `s` as in noise_draw. */
enum status noise_answer(const struct ledger_hold *hold, const struct noise *n,
                         const struct secret_count *count,
                         const struct secret_scale *s, struct entropy *rng,
                         mpz_t out, struct err *err) NEEDS_HOLD;
/* Two of them with one draw; `n` is the first of noise_calibrate_joint. */
enum status noise_answer_pair(const struct ledger_hold *hold,
                              const struct noise *n,
                              const struct secret_count *a,
                              const struct secret_count *b, struct entropy *rng,
                              mpz_t out_a, mpz_t out_b,
                              struct err *err) NEEDS_HOLD;
/* The same for a rational: rounded to the nearest multiple of 1/lattice, for
 * whose steps the noise is, then noise, then rounded to a whole number. */
enum status noise_answer_rational(const struct ledger_hold *hold,
                                  const struct noise *n, unsigned lattice,
                                  const struct secret_scale *value,
                                  struct entropy *rng, mpz_t out,
                                  struct err *err) NEEDS_HOLD;

/*
 * A differentially private estimate of S, by a draw of its own: the total price
 * is that of the answer plus epsilon2 (epsilon2^2/2 of rho). It is in the
 * middle: too large as often as too small, ln S being off by a Laplace variable
 * of scale beta/epsilon2. The upper one is the same draw raised by a public
 * factor, and below S with probability at most `miss`. Multiply them by the
 * quantiles of noise_error to get an error bar.
 */
struct scale_estimate {
    double middle, upper; /* display */
};
enum status noise_release_scale(const struct ledger_hold *hold,
                                const struct noise *n,
                                const struct secret_scale *s,
                                mpq_srcptr epsilon2, mpq_srcptr miss,
                                struct entropy *rng, struct scale_estimate *out,
                                struct err *err) NEEDS_HOLD;

/* For display: standard deviation and P(|noise| <= q) quantiles, in units of
 * 1 for global, of S for smooth kinds. */
struct noise_error {
    double std, p50, p90, p95, p99; /* display */
};
enum status noise_error(const struct noise *n, struct noise_error *out,
                        struct err *err) WARN_UNUSED;

/* --- entropy: the one gate ------------------------------------------------ */
/* Bytes of getrandom(2), wiped when used, never shared across fork. The
 * shipped program has no other implementation; tests link a scripted one. */
enum status entropy_open(struct entropy **out, struct err *err) WARN_UNUSED;
void entropy_close(struct entropy *e);
enum status entropy_bytes(struct entropy *e, void *out, size_t n,
                          struct err *err) WARN_UNUSED;

#endif
