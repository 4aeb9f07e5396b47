/*
 * From a guarantee and a public global sensitivity to a distribution.
 *
 * PRIVACY: every parameter is an exact rational. What is not rational is
 * enclosed with MPFR and rounded to the side of more noise.
 */
#include "noise/calibrate.h"

enum { PARAMETER_BITS = 400 };

enum status noise_check_parameter(mpq_srcptr v, const char *what,
                                  struct err *err)
{
    if (mpq_sgn(v) <= 0)
        return err_set(err, E_VALUE, "%s must be greater than zero", what);
    if (mpz_sizeinbase(mpq_numref(v), 2) > PARAMETER_BITS ||
        mpz_sizeinbase(mpq_denref(v), 2) > PARAMETER_BITS)
        return err_set(err, E_VALUE,
                       "%s is too precise, too large or too small", what);
    return OK;
}

enum status noise_check_guarantee(const struct guarantee *g, struct err *err)
{
    if (g->kind == PRIVACY_ZCDP)
        return noise_check_parameter(g->rho, "rho", err);
    TRY(noise_check_parameter(g->epsilon, "epsilon", err));
    if (mpq_cmp_ui(g->epsilon, NOISE_EPSILON_MAX, 1) > 0)
        return err_set(err, E_VALUE, "epsilon must be at most %d",
                       NOISE_EPSILON_MAX);
    if (g->kind == PRIVACY_APPROX && mpq_sgn(g->delta) != 0) {
        TRY(noise_check_parameter(g->delta, "delta", err));
        if (mpq_cmp_ui(g->delta, 1, 1) >= 0)
            return err_set(err, E_VALUE, "delta must be less than one");
    }
    return OK;
}

enum status noise_check_sensitivity(mpz_srcptr v, struct err *err)
{
    if (!v || mpz_sgn(v) <= 0)
        return err_internal(err, "noise_calibrate_global: sensitivity");
    if (mpz_sizeinbase(v, 2) > PARAMETER_BITS)
        return err_set(err, E_TOO_LARGE, "the sensitivity is too large");
    return OK;
}

/* Scale l1 / epsilon: pure epsilon-DP for integer counts, so also
 * (epsilon, delta)-DP. */
static enum status laplace(const struct guarantee *g, mpz_srcptr l1,
                           struct noise *out, struct err *err)
{
    TRY(noise_check_sensitivity(l1, err));
    pure_epsilon(g, out->epsilon);
    mpq_set_z(out->a, l1);
    mpq_div(out->a, out->a, out->epsilon);
    return OK;
}

/* sigma^2 = l2^2 / (2 rho) gives rho-zCDP for integer counts (Canonne,
 * Kamath, Steinke 2020, Theorem 4). */
static enum status gaussian(const struct guarantee *g, mpz_srcptr l2_squared,
                            struct noise *out, struct err *err)
{
    if (g->kind == PRIVACY_PURE ||
        (g->kind == PRIVACY_APPROX && mpq_sgn(g->delta) == 0)) {
        err_set(err, E_UNSUPPORTED,
                "discrete-gaussian noise gives no pure guarantee");
        err_hint(err, "Give a delta, or use discrete-laplace.");
        return E_UNSUPPORTED;
    }
    TRY(noise_check_sensitivity(l2_squared, err));
    if (g->kind == PRIVACY_ZCDP)
        mpq_set(out->epsilon, g->rho);
    else
        rho_below(g->epsilon, g->delta, out->epsilon);
    if (mpq_sgn(out->epsilon) <= 0)
        return err_set(err, E_VALUE, "delta is too small for this epsilon");
    mpq_set_z(out->a, l2_squared);
    mpq_div(out->a, out->a, out->epsilon);
    mpq_div_2exp(out->a, out->a, 1);
    return OK;
}

enum status noise_calibrate_global(const struct guarantee *g,
                                   enum noise_kind kind, mpz_srcptr l1,
                                   mpz_srcptr l2_squared, struct noise *out,
                                   struct err *err)
{
    TRY(noise_check_guarantee(g, err));
    out->kind = kind;
    out->smooth = false;
    if (kind == NOISE_DISCRETE_LAPLACE)
        return laplace(g, l1, out, err);
    if (kind == NOISE_DISCRETE_GAUSSIAN)
        return gaussian(g, l2_squared, out, err);
    return err_set(err, E_UNSUPPORTED,
                   "%s noise does not fit a global sensitivity",
                   noise_name(kind));
}
