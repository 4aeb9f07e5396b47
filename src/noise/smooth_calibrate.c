/*
 * From a guarantee and the smoothness beta of a sensitivity to a
 * distribution. S itself is not seen here: the noise is S times a
 * distribution that depends on public numbers only.
 */
#include "noise/calibrate.h"
#include "noise/inverse.h"

/* Below this the slack 2^-60 beta would not cover the rounding of S (relative
 * 2^-90). */
enum { BETA_MIN_BITS = 30 };

enum status noise_check_beta_min(mpq_srcptr beta, struct err *err)
{
    mpq_t bound;
    mpq_init(bound);
    mpq_set_ui(bound, 1, 1);
    mpq_div_2exp(bound, bound, BETA_MIN_BITS);
    bool small = mpq_cmp(beta, bound) < 0;
    mpq_clear(bound);
    if (small)
        return err_set(err, E_VALUE, "beta must be at least 2^-%d",
                       BETA_MIN_BITS);
    return OK;
}

static enum status check_beta(mpq_srcptr beta, mpq_srcptr noise_beta,
                              mpq_srcptr epsilon, unsigned long divisor,
                              enum noise_kind kind, struct err *err)
{
    mpq_t bound;
    mpq_init(bound);
    mpq_set_ui(bound, 1, divisor);
    mpq_mul(bound, bound, epsilon);
    bool large = mpq_cmp(noise_beta, bound) >= 0;
    mpq_clear(bound);
    TRY(noise_check_beta_min(beta, err));
    if (large)
        return err_set(err, E_VALUE,
                       "%s noise needs a beta below epsilon / %lu",
                       noise_name(kind), divisor);
    return OK;
}

/* The row of the smallest r that covers beta / sqrt(2 rho). */
static enum status arsinh_shape(const struct guarantee *g, struct noise *out,
                                struct err *err)
{
    static const unsigned short rows[][3] = {
#define ARSINH(r, sigma, a) {r, sigma, a},
#include "noise/arsinh.def"
#undef ARSINH
    };
    mpq_t epsilon, r, row;
    mpq_inits(epsilon, r, row, NULL);
    pure_epsilon(g, epsilon);
    mpq_div(r, out->beta, epsilon);
    size_t i = 0, n = sizeof rows / sizeof *rows;
    for (; i < n; i++) {
        mpq_set_ui(row, rows[i][0] * 1000001ul, 1000000000ul);
        mpq_canonicalize(row);
        if (mpq_cmp(r, row) <= 0)
            break;
    }
    if (i < n) {
        mpq_set_ui(out->a, rows[i][1], 1000);
        mpq_canonicalize(out->a);
        mpq_set_ui(out->b, rows[i][2], 10000);
        mpq_canonicalize(out->b);
        mpq_mul(out->b, out->b, epsilon);
    }
    mpq_clears(epsilon, r, row, NULL);
    if (i == n)
        return err_set(err, E_VALUE,
                       "arsinh-normal noise needs a beta of at most 0.36 times "
                       "the square root of 2 rho");
    mpq_set(out->epsilon, g->rho);
    return OK;
}

/* (1/5) (3/4)^(floor(epsilon) - 4): within 1 % of the first band of least
 * variance for epsilon 4 to 30. Any positive value is private. */
static void first_band(mpq_srcptr epsilon, mpq_t out)
{
    mpz_t floor;
    mpz_init(floor);
    mpz_fdiv_q(floor, mpq_numref(epsilon), mpq_denref(epsilon));
    unsigned long e = mpz_cmp_ui(floor, 60) > 0 ? 60 : mpz_get_ui(floor);
    mpz_clear(floor);
    mpq_set_ui(out, 1, 5);
    for (unsigned long i = 4; i < e; i++) {
        mpz_mul_ui(mpq_numref(out), mpq_numref(out), 3);
        mpz_mul_ui(mpq_denref(out), mpq_denref(out), 4);
    }
    mpq_canonicalize(out);
}

static enum status set_staircase(struct noise *out, struct err *err)
{
    if (mpq_cmp_ui(out->epsilon, 1, 1) < 0)
        return err_set(err, E_VALUE,
                       "staircase noise needs an epsilon of at least 1");
    first_band(out->epsilon, out->a);
    return OK;
}

static enum status set_pure(enum noise_kind kind, mpq_srcptr beta,
                            struct noise *out, struct err *err)
{
    unsigned long divisor = kind == NOISE_SMOOTH_LAPLACE ? 2 : 3;
    TRY(check_beta(beta, out->beta, out->epsilon, divisor, kind, err));
    if (kind == NOISE_STAIRCASE)
        TRY(set_staircase(out, err));
    else if (kind == NOISE_GENERALIZED_CAUCHY)
        cauchy_alpha_below(out->epsilon, out->beta, out->a);
    else
        kappa_above(out->beta, out->a);
    return noise_prepare(out, err);
}

enum status noise_calibrate_smooth(const struct guarantee *g,
                                   enum noise_kind kind, mpq_srcptr beta,
                                   struct noise *out, struct err *err)
{
    TRY(noise_check_guarantee(g, err));
    TRY(noise_check_parameter(beta, "beta", err));
    out->kind = kind;
    out->smooth = true;
    mpq_set_ui(out->b, 0, 1);
    slack_beta(beta, out->beta);
    mpq_set(out->scale_beta, out->beta);
    pure_epsilon(g, out->epsilon);
    switch (kind) {
    case NOISE_SMOOTH_LAPLACE:
    case NOISE_GENERALIZED_CAUCHY:
    case NOISE_STAIRCASE:
        return set_pure(kind, beta, out, err);
    case NOISE_ARSINH_NORMAL:
        if (g->kind != PRIVACY_ZCDP)
            return err_set(err, E_UNSUPPORTED,
                           "arsinh-normal noise gives no guarantee by epsilon, "
                           "only by rho");
        TRY(check_beta(beta, out->beta, out->epsilon, 2, kind, err));
        return arsinh_shape(g, out, err);
    case NOISE_JOINT_LAPLACE:
    case NOISE_DISCRETE_LAPLACE:
    case NOISE_DISCRETE_GAUSSIAN:
        break;
    }
    return err_set(err, E_UNSUPPORTED,
                   "%s noise does not fit a smooth sensitivity",
                   noise_name(kind));
}

/* Where the staircase has the smaller standard deviation: from this epsilon
 * on, for ratios beta/epsilon up to this many thousandths. */
enum noise_kind noise_best_smooth(const struct guarantee *g, mpq_srcptr beta)
{
    static const unsigned short from[][2] = {
        {15, 300}, {10, 250}, {8, 200}, {6, 167}, {4, 100}};
    if (g->kind == PRIVACY_ZCDP)
        return NOISE_ARSINH_NORMAL;
    enum noise_kind kind = NOISE_SMOOTH_LAPLACE;
    mpq_t r, bound;
    mpq_inits(r, bound, NULL);
    if (mpq_sgn(g->epsilon) > 0)
        mpq_div(r, beta, g->epsilon);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        mpq_set_ui(bound, from[i][1], 1000);
        mpq_canonicalize(bound);
        if (mpq_cmp_ui(g->epsilon, from[i][0], 1) >= 0 &&
            mpq_cmp(r, bound) <= 0)
            kind = NOISE_STAIRCASE;
    }
    mpq_clears(r, bound, NULL);
    return kind;
}

/* The ratio of least regret against a choice that knew the data, for a
 * sensitivity that grows like the distance to the power of the degree. */
void noise_choose_beta(const struct guarantee *g, unsigned degree,
                       mpq_t out_beta)
{
    static const unsigned char pure[][2] = {{0, 1}, {1, 6},  {1, 4},
                                            {2, 7}, {5, 16}, {1, 3}};
    static const unsigned char zcdp[][2] = {{0, 1}, {13, 100}, {1, 5},
                                            {1, 4}, {7, 25},   {3, 10}};
    const unsigned char *r =
        (g->kind == PRIVACY_ZCDP ? zcdp : pure)[degree > 5 ? 5 : degree];
    mpq_t ratio;
    mpq_init(ratio);
    mpq_set_ui(ratio, r[0], r[1]);
    pure_epsilon(g, out_beta);
    mpq_mul(out_beta, out_beta, ratio);
    mpq_clear(ratio);
}
