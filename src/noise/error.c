/*
 * Error of a mechanism, for display only: standard deviation and quantiles of
 * the absolute noise, in units of 1 or of S. Floating point; nothing here
 * feeds back into a draw or a calibration.
 */
#include "noise/noise.h"

#include <math.h>
#include <stdbool.h>

static const double levels[4] = {.50, .90, .95, .99};
/* Quantiles of |Y| for a standard normal Y. */
static const double normal[4] = {0.6744897502, 1.6448536270, 1.9599639845,
                                 2.5758293035};

static void put(struct noise_error *out, double std, const double q[4])
{
    *out = (struct noise_error){std, q[0], q[1], q[2], q[3]};
}

/* P(|X| > k) = 2 q^(k+1) / (1 + q) with q = exp(-1/scale). */
static void laplace_error(double scale, struct noise_error *out)
{
    double q = exp(-1 / scale), at[4];
    for (int i = 0; i < 4; i++) {
        double tail = (1 - levels[i]) * (1 + q) / 2;
        at[i] = fmax(0, ceil(-scale * log(tail) - 1 - 1e-9));
    }
    put(out, sqrt(2 * q) / -expm1(-1 / scale), at);
}

/* Sums for small variances; beyond, the normal law is the same to many
 * digits. */
static void gaussian_error(double sigma2, struct noise_error *out)
{
    double sigma = sqrt(sigma2), at[4];
    for (int i = 0; i < 4; i++)
        at[i] = round(sigma * normal[i]);
    put(out, sigma, at);
    if (sigma > 100)
        return;
    double mass = 1, square = 0, sum = 1;
    for (int x = 1; x < 1500; x++) {
        double p = 2 * exp(-x * (double)x / (2 * sigma2));
        mass += p;
        square += p * x * x;
    }
    for (int i = 0, x = 0; i < 4; i++) {
        while (sum < levels[i] * mass) {
            x++;
            sum += 2 * exp(-x * (double)x / (2 * sigma2));
        }
        at[i] = x;
    }
    put(out, sqrt(square / mass), at);
}

/* smooth_laplace.c in floating point. */
struct error_shape {
    double e, b, m, c, w1, w2, u, c1, c2, l, m1, m2, m3;
};

static void shape_of(const struct noise *n, struct error_shape *s)
{
    double k = mpq_get_d(n->a);
    mpq_t gap; /* e (1 - k), exact because k is near 1 */
    mpq_init(gap);
    mpq_set_ui(gap, 1, 1);
    mpq_sub(gap, gap, n->a);
    mpq_mul(gap, gap, n->epsilon);
    double slack = mpq_get_d(gap);
    mpq_clear(gap);
    s->e = mpq_get_d(n->epsilon);
    s->b = mpq_get_d(n->beta);
    s->m = s->e / s->b;
    s->c = k / s->b;
    s->w1 = fmax(0, (s->b - slack) / (s->e * s->b));
    s->w2 = (s->b + slack) / (s->e * s->b);
    s->u = 1 - s->w1 / s->c;
    s->c1 = pow(s->u, s->m - 1);
    s->c2 = s->c1 * exp(-s->e * (s->w2 - s->w1));
    s->l = s->c + s->w2;
    s->m1 = k / s->e * (1 - pow(s->u, s->m));
    s->m2 = (s->c1 - s->c2) / s->e;
    s->m3 = s->c2 * s->l / s->m;
}

static double shape_height(const struct error_shape *s, double w)
{
    return w < s->w1 ? pow(1 - w / s->c, s->m - 1)
                     : s->c1 * exp(-s->e * (w - s->w1));
}

/* Integral of w^2 h(w) from a to b (Simpson). */
static double shape_square(const struct error_shape *s, double a, double b)
{
    enum { N = 400 };
    double h = (b - a) / N, sum = 0;
    for (int i = 0; i <= N; i++) {
        double w = a + i * h;
        int weight = i == 0 || i == N ? 1 : i % 2 ? 4 : 2;
        sum += weight * w * w * shape_height(s, fmin(w, b));
    }
    return sum * h / 3;
}

static double shape_quantile(const struct error_shape *s, double p)
{
    double t = (1 - p) * (s->m1 + s->m2 + s->m3);
    if (t <= s->m3)
        return s->l * pow(s->m3 / t, 1 / s->m) - s->c;
    if (t <= s->m3 + s->m2)
        return s->w1 - log((s->e * (t - s->m3) + s->c2) / s->c1) / s->e;
    double x = (t - s->m3 - s->m2) * s->b * s->m / (s->c * s->b);
    return s->c * (1 - pow(x + pow(s->u, s->m), 1 / s->m));
}

static void smooth_error(const struct noise *n, struct noise_error *out)
{
    struct error_shape s;
    double at[4];
    shape_of(n, &s);
    double m = s.m, l = s.l, w = s.w2;
    double tail = w * w / m + 2 * w * l / (m * (m - 1)) +
                  2 * l * l / (m * (m - 1) * (m - 2));
    double square = s.c2 * l * tail + shape_square(&s, s.w1, s.w2) +
                    (s.w1 > 0 ? shape_square(&s, 0, s.w1) : 0);
    for (int i = 0; i < 4; i++)
        at[i] = shape_quantile(&s, levels[i]);
    put(out, sqrt(square / (s.m1 + s.m2 + s.m3)), at);
}

/* P(|Z| <= z) for density proportional to 1 / (1 + z^4). */
static double cauchy_cdf(double z)
{
    double r = sqrt(2) * z, q = z * z + 1;
    return (log((q + r) / (q - r)) + 2 * atan(r + 1) + 2 * atan(r - 1)) /
           (2 * acos(-1));
}

static void cauchy_error(double alpha, struct noise_error *out)
{
    double at[4];
    for (int i = 0; i < 4; i++) {
        double lo = 0, hi = 100;
        for (int k = 0; k < 80; k++) {
            double mid = (lo + hi) / 2;
            if (cauchy_cdf(mid) < levels[i])
                lo = mid;
            else
                hi = mid;
        }
        at[i] = lo / alpha;
    }
    put(out, 1 / alpha, at);
}

static void arsinh_error(double sigma, double alpha, struct noise_error *out)
{
    double at[4];
    for (int i = 0; i < 4; i++)
        at[i] = sinh(sigma * normal[i]) / sigma / alpha;
    put(out, sqrt(expm1(2 * sigma * sigma) / 2) / sigma / alpha, at);
}

/* One pass over the bands: `square` gets the integral of w^2 h, the result is
 * the mass; with a wanted mass it stops there and gives the place. */
static double stair_scan(const struct noise *n, double wanted, double *square)
{
    double e = mpq_get_d(n->epsilon), b = mpq_get_d(n->beta);
    double z = 0, next = mpq_get_d(n->a), log_h = 0, mass = 0;
    *square = 0;
    for (int k = 0; k < 20000 && log_h > -700; k++) {
        double h = exp(log_h), part = h * (next - z);
        if (wanted >= 0 && mass + part >= wanted)
            return z + (wanted - mass) / h;
        mass += part;
        *square += h * (next * next * next - z * z * z) / 3;
        log_h -= e - fmin(b, log1p(1 / next));
        z = next;
        next = exp(b) * next + 1;
    }
    return wanted >= 0 ? z : mass;
}

static void stair_error(const struct noise *n, struct noise_error *out)
{
    double square, unused, at[4];
    double mass = stair_scan(n, -1, &square);
    for (int i = 0; i < 4; i++)
        at[i] = stair_scan(n, levels[i] * mass, &unused);
    put(out, sqrt(square / mass), at);
}

/* One number of a pair: |X| is uniform below rho A / epsilon, rho a gamma
 * variable of shape 3, so P(|X| > t A / epsilon) = exp(-t) (t + 2) / 2. */
static double joint_quantile(double p)
{
    double lo = 0, hi = 50;
    for (int k = 0; k < 60; k++) {
        double t = (lo + hi) / 2;
        if (exp(-t) * (t + 2) / 2 > 1 - p)
            lo = t;
        else
            hi = t;
    }
    return hi;
}

enum { LEVELS_MOST = 20000 }; /* that are looked at one by one */

/* P(|X| <= x), and where square is not NULL the variance: a sum over levels. */
static double joint_cdf(const struct noise *n, double x, double *square)
{
    double a = mpq_get_d(n->a), b = mpq_get_d(n->b), g = mpq_get_d(n->beta);
    double q = mpq_get_d(n->epsilon) / g, mass = 0, in = 0, sum = 0;
    for (int j = 0; j < LEVELS_MOST && j * q < 60; j++) {
        double m = floor(j * a / g + 1e-9), k = floor(j * b / g + 1e-9);
        double w = exp(-j * q) * (2 * m + 1) * (2 * k + 1);
        mass += w;
        in += w * fmin(1, (2 * x + 1) / (2 * m + 1));
        sum += w * m * (m + 1) / 3;
    }
    if (square)
        *square = sum / mass;
    return in / mass;
}

static double joint_search(const struct noise *n, double p)
{
    double lo = -1, hi = 1;
    while (joint_cdf(n, hi, NULL) < p)
        hi *= 2;
    while (hi - lo > 1) {
        double x = floor((lo + hi) / 2);
        if (joint_cdf(n, x, NULL) < p)
            lo = x;
        else
            hi = x;
    }
    return hi;
}

static void joint_error(const struct noise *n, struct noise_error *out)
{
    double scale = mpq_get_d(n->a) / mpq_get_d(n->epsilon), at[4], square;
    bool small = mpq_get_d(n->beta) / mpq_get_d(n->epsilon) * 60 < LEVELS_MOST;
    for (int i = 0; i < 4; i++)
        at[i] = small ? joint_search(n, levels[i])
                      : ceil(scale * joint_quantile(levels[i]));
    if (small)
        joint_cdf(n, 0, &square);
    put(out, small ? sqrt(square) : 2 * scale, at);
}

enum status noise_error(const struct noise *n, struct noise_error *out,
                        struct err *err)
{
    switch (n->kind) {
    case NOISE_DISCRETE_LAPLACE:
        laplace_error(mpq_get_d(n->a), out);
        return OK;
    case NOISE_DISCRETE_GAUSSIAN:
        gaussian_error(mpq_get_d(n->a), out);
        return OK;
    case NOISE_SMOOTH_LAPLACE:
        smooth_error(n, out);
        return OK;
    case NOISE_GENERALIZED_CAUCHY:
        cauchy_error(mpq_get_d(n->a), out);
        return OK;
    case NOISE_ARSINH_NORMAL:
        arsinh_error(mpq_get_d(n->a), mpq_get_d(n->b), out);
        return OK;
    case NOISE_STAIRCASE:
        stair_error(n, out);
        return OK;
    case NOISE_JOINT_LAPLACE:
        joint_error(n, out);
        return OK;
    }
    return err_internal(err, "noise_error");
}
