/*
 * Error of a mechanism, for display only: standard deviation and quantiles of
 * the absolute noise. The only file of this module with floating point; nothing
 * here feeds back into a draw.
 */
#include "noise/noise.h"

#include <math.h>

/* P(|X| > k) = 2 q^(k+1) / (1 + q) with q = exp(-1/scale). */
static double laplace_quantile(double scale, double p)
{
    double q = exp(-1 / scale);
    double k = ceil(-scale * log((1 - p) * (1 + q) / 2) - 1 - 1e-9);
    return k < 0 ? 0 : k;
}

static void laplace_error(double scale, struct noise_error *out)
{
    double q = exp(-1 / scale);
    out->std = sqrt(2 * q) / -expm1(-1 / scale);
    out->p50 = laplace_quantile(scale, .50);
    out->p90 = laplace_quantile(scale, .90);
    out->p95 = laplace_quantile(scale, .95);
    out->p99 = laplace_quantile(scale, .99);
}

enum status noise_error(const struct noise *n, struct noise_error *out,
                        struct err *err)
{
    switch (n->kind) {
    case NOISE_DISCRETE_LAPLACE:
        laplace_error(mpq_get_d(n->a), out);
        return OK;
    case NOISE_DISCRETE_GAUSSIAN:
    case NOISE_SMOOTH_LAPLACE:
    case NOISE_GENERALIZED_CAUCHY:
    case NOISE_ARSINH_NORMAL:
    case NOISE_STAIRCASE:
        break;
    }
    return err_internal(err, "noise_error");
}
