/* Goodness of fit: see stat.h. Incomplete gamma by series and fraction. */
#include "harness/stat.h"

#include <math.h>

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < 100000 && term > sum * 1e-17; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(-x + a * log(x) - lgamma(a));
}

static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 100000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = fabs(d) < 1e-300 ? 1e-300 : d;
        c = b + an / c;
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        d = 1 / d;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h * exp(-x + a * log(x) - lgamma(a));
}

double stat_chi2_tail(double x, double k)
{
    if (x <= 0)
        return 1;
    double a = k / 2, h = x / 2;
    return h < a + 1 ? 1 - gamma_series(a, h) : gamma_fraction(a, h);
}

double stat_chi2(const double *count, const double *prob, size_t n_bins,
                 double total)
{
    double sum = 0, seen = 0, expected = 0;
    int used = 0;
    double last_seen = 0, last_expected = 0;
    for (size_t i = 0; i < n_bins; i++) {
        seen += count[i];
        expected += prob[i] * total;
        if (expected < 8)
            continue;
        if (used++)
            sum += (last_seen - last_expected) * (last_seen - last_expected) /
                   last_expected;
        last_seen = seen;
        last_expected = expected;
        seen = expected = 0;
    }
    /* what is left joins the last full bin */
    last_seen += seen;
    last_expected += expected;
    sum += (last_seen - last_expected) * (last_seen - last_expected) /
           last_expected;
    return used < 2 ? 1 : stat_chi2_tail(sum, used - 1);
}

double stat_ks_tail(double d, double n)
{
    double root = sqrt(n), lambda = (root + 0.12 + 0.11 / root) * d, sum = 0;
    for (int k = 1; k < 200; k++)
        sum += (k & 1 ? 2 : -2) * exp(-2.0 * k * k * lambda * lambda);
    return sum > 1 ? 1 : sum < 0 ? 0 : sum;
}
