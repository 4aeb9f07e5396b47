/*
 * Names, life and draw of a calibrated distribution.
 *
 * Parameters of struct noise by kind (exact rationals):
 *
 *   kind                a                        b
 *   discrete-laplace    scale t/s                -
 *   discrete-gaussian   variance sigma^2         -
 *   smooth-laplace      kappa, in [kappa(beta),1] m = epsilon/beta, or 0:
 *                                                 not rational
 *   generalized-cauchy  alpha (rounded down)     -
 *   arsinh-normal       sigma                    alpha (rounded down)
 *   staircase           nu, the first band       -
 *   joint-laplace       sensitivity of its       that of the other one; beta is
 *                       number                   the number of steps
 */
#include "noise/noise.h"

#include "noise/inverse.h"
#include "noise/sampler.h"
#include "num/open_scale.h"

/* S is at least 2^-64, and known to 2^-384 where it has too many digits. */
enum { SCALE_LEAST_BITS = 64, SCALE_DIGITS = 384 };

static const char *const names[] = {
    [NOISE_DISCRETE_LAPLACE] = "discrete-laplace",
    [NOISE_DISCRETE_GAUSSIAN] = "discrete-gaussian",
    [NOISE_SMOOTH_LAPLACE] = "smooth-laplace",
    [NOISE_GENERALIZED_CAUCHY] = "generalized-cauchy",
    [NOISE_ARSINH_NORMAL] = "arsinh-normal",
    [NOISE_STAIRCASE] = "staircase",
    [NOISE_JOINT_LAPLACE] = "joint-laplace",
};
enum { N_NAMES = sizeof names / sizeof names[0] };

const char *noise_name(enum noise_kind k)
{
    return (unsigned)k < N_NAMES ? names[k] : "unknown";
}

bool noise_find(struct str name, enum noise_kind *out)
{
    for (unsigned k = 0; k < N_NAMES; k++) {
        if (str_is(name, names[k])) {
            *out = (enum noise_kind)k;
            return true;
        }
    }
    return false;
}

void guarantee_init(struct guarantee *g)
{
    g->kind = PRIVACY_PURE;
    mpq_inits(g->epsilon, g->delta, g->rho, NULL);
}

void guarantee_fini(struct guarantee *g)
{
    mpq_clears(g->epsilon, g->delta, g->rho, NULL);
}

void noise_init(struct noise *n)
{
    n->kind = NOISE_DISCRETE_LAPLACE;
    n->smooth = false;
    n->table = NULL;
    mem_init(&n->mem, 0);
    mpq_inits(n->epsilon, n->beta, n->scale_beta, n->a, n->b, NULL);
}

void noise_fini(struct noise *n)
{
    if (n->table) {
        inverse_table_fini(n->table, &n->mem);
        mem_free(&n->mem, n->table, sizeof *n->table);
        n->table = NULL;
    }
    mpfr_free_cache();
    mpq_clears(n->epsilon, n->beta, n->scale_beta, n->a, n->b, NULL);
}

void noise_clamp_scale(mpq_t s)
{
    mpq_t end;
    mpq_init(end);
    mpq_set_ui(end, 1, 1);
    mpq_div_2exp(end, end, SCALE_LEAST_BITS);
    if (mpq_cmp(s, end) < 0)
        mpq_set(s, end);
    mpq_set_ui(end, 0, 1);
    mpz_set_u128(mpq_numref(end), COUNT_MOST);
    if (mpq_cmp(s, end) > 0)
        mpq_set(s, end);
    mpq_clear(end);
}

void noise_scale_times(struct secret_scale *s, mpq_srcptr factor)
{
    mpq_t v;
    mpq_init(v);
    mpq_set(v, secret_scale_open(s));
    if (!mpq_sgn(v))
        mpq_set_ui(v, 1, 1);
    mpq_mul(v, v, factor);
    noise_clamp_scale(v);
    secret_scale_set(s, v);
    mpq_wipe_clear(v);
}

/* Between the ends, of at most NOISE_SCALE_BITS bits: GMP and MPFR abort when
 * memory is out, and with inputs of this size a draw stays below a few hundred
 * kilobytes. Digits beyond are rounded up, which claim 9 allows. */
static void take_scale(mpq_t out, mpq_srcptr s)
{
    mpq_set(out, s);
    noise_clamp_scale(out);
    if (mpz_sizeinbase(mpq_numref(out), 2) <= NOISE_SCALE_BITS &&
        mpz_sizeinbase(mpq_denref(out), 2) <= NOISE_SCALE_BITS)
        return;
    mpq_mul_2exp(out, out, SCALE_DIGITS);
    mpz_cdiv_q(mpq_numref(out), mpq_numref(out), mpq_denref(out));
    mpz_set_ui(mpq_denref(out), 1);
    mpq_div_2exp(out, out, SCALE_DIGITS);
}

static enum status check_scale(const struct noise *n, mpq_srcptr s,
                               struct err *err)
{
    if (!n->smooth)
        return s ? err_internal(err, "noise_draw: scale of global noise") : OK;
    if (!s || mpq_sgn(s) <= 0)
        return err_internal(err, "noise_draw: smooth sensitivity missing");
    return OK;
}

static enum status draw_rational(struct draw *d, const struct noise *n,
                                 mpq_srcptr s, mpz_t out)
{
    mpq_t scale;
    mpq_init(scale);
    mpq_div(scale, s, n->epsilon);
    enum status st =
        sample_rational_laplace(d, mpz_get_ui(mpq_numref(n->b)), scale, 0, out);
    mpq_wipe_clear(scale);
    return st;
}

/* The distributions whose unit is divided by alpha. */
static enum status draw_per_alpha(struct draw *d, const struct noise *n,
                                  mpq_srcptr s, mpz_t out)
{
    bool normal = n->kind == NOISE_ARSINH_NORMAL;
    mpq_t scale;
    mpq_init(scale);
    mpq_div(scale, s, normal ? n->b : n->a);
    enum status st = normal ? sample_arsinh(d, n->a, scale, 0, out)
                            : sample_cauchy(d, scale, 0, out);
    mpq_wipe_clear(scale);
    return st;
}

static enum status draw_kind(const struct noise *n, mpq_srcptr s,
                             struct entropy *rng, mpz_t out, struct err *err)
{
    struct draw d;
    draw_begin(&d, rng, err);
    switch (n->kind) {
    case NOISE_DISCRETE_LAPLACE:
        return sample_discrete_laplace(&d, mpq_numref(n->a), mpq_denref(n->a),
                                       out);
    case NOISE_DISCRETE_GAUSSIAN:
        return sample_discrete_gaussian(&d, n->a, out);
    case NOISE_SMOOTH_LAPLACE:
        if (mpq_sgn(n->b) > 0)
            return draw_rational(&d, n, s, out);
        return sample_inverse(&d, n, s, 0, 0, out);
    case NOISE_STAIRCASE:
        return sample_inverse(&d, n, s, 0, 0, out);
    case NOISE_GENERALIZED_CAUCHY:
    case NOISE_ARSINH_NORMAL:
        return draw_per_alpha(&d, n, s, out);
    case NOISE_JOINT_LAPLACE: /* noise_answer_pair */
        break;
    }
    return err_internal(err, "noise_draw");
}

enum status noise_draw(const struct noise *n, mpq_srcptr s, struct entropy *rng,
                       mpz_t out, struct err *err)
{
    TRY(check_scale(n, s, err));
    if (!n->smooth)
        return draw_kind(n, NULL, rng, out, err);
    mpq_t scale;
    mpq_init(scale);
    take_scale(scale, s);
    enum status st = draw_kind(n, scale, rng, out, err);
    mpq_wipe_clear(scale);
    return st;
}

enum status noise_answer(const struct ledger_hold *hold, const struct noise *n,
                         const struct secret_count *count,
                         const struct secret_scale *s, struct entropy *rng,
                         mpz_t out, struct err *err)
{
    mpz_t noise, v;
    (void)hold; /* the caller has it: see noise.h */
    mpz_inits(noise, v, NULL);
    enum status st =
        noise_draw(n, s ? secret_scale_open(s) : NULL, rng, noise, err);
    secret_scale_of_count(count, v);
    if (st == OK)
        mpz_add(out, v, noise);
    mpz_wipe_clear(noise);
    mpz_wipe_clear(v);
    return st;
}

enum status noise_answer_pair(const struct ledger_hold *hold,
                              const struct noise *n,
                              const struct secret_count *a,
                              const struct secret_count *b, struct entropy *rng,
                              mpz_t out_a, mpz_t out_b, struct err *err)
{
    mpz_t x, y, v;
    struct draw d;
    (void)hold; /* the caller has it: see noise.h */
    if (n->kind != NOISE_JOINT_LAPLACE)
        return err_internal(err, "noise_answer_pair");
    mpz_inits(x, y, v, NULL);
    draw_begin(&d, rng, err);
    enum status st = sample_joint(&d, n, x, y);
    if (st == OK) {
        secret_scale_of_count(a, v);
        mpz_add(out_a, v, x);
        secret_scale_of_count(b, v);
        mpz_add(out_b, v, y);
    }
    mpz_wipe_clear(x);
    mpz_wipe_clear(y);
    mpz_wipe_clear(v);
    return st;
}

/* floor(by v + 1/2) */
static void round_times(mpq_srcptr v, unsigned long by, mpz_t out)
{
    mpz_t den;
    mpz_init(den);
    mpz_mul_ui(out, mpq_numref(v), 2 * by);
    mpz_add(out, out, mpq_denref(v));
    mpz_mul_2exp(den, mpq_denref(v), 1);
    mpz_fdiv_q(out, out, den);
    mpz_wipe_clear(den);
}

/* PRIVACY: rounded to the lattice first, because the noise is calibrated to
 * whole steps of it; then noise; then rounded to whole numbers, which costs
 * nothing. */
enum status noise_answer_rational(const struct ledger_hold *hold,
                                  const struct noise *n, unsigned lattice,
                                  const struct secret_scale *value,
                                  struct entropy *rng, mpz_t out,
                                  struct err *err)
{
    mpz_t v;
    mpq_t noisy;
    (void)hold;
    mpz_init(v);
    mpq_init(noisy);
    round_times(secret_scale_open(value), lattice, v);
    enum status st = noise_draw(n, NULL, rng, out, err);
    mpz_add(mpq_numref(noisy), v, out);
    mpz_set_ui(mpq_denref(noisy), lattice);
    mpq_canonicalize(noisy);
    round_times(noisy, 1, out);
    mpq_clear(noisy);
    mpz_wipe_clear(v);
    return st;
}
