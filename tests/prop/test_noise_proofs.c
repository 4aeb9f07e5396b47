/*
 * Attacks on the claims of src/noise/PROOF.md: certificates in intervals
 * where a claim is one inequality, brute force where it is a supremum. The
 * densities here are written in floating point from their definitions, apart
 * from the module.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "harness/iv_more.h"
#include "harness/fit.h"
#include "noise/calibrate.h"
#include "num/iv.h"

static uint64_t rng = 88172645463325252u;

static double uniform(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (double)(rng >> 11) * 0x1p-53;
}

/* -ln of a density, up to a constant, with the slide's unit (alpha). */
struct density {
    double e, b, k, alpha;
    double (*g)(const struct density *d, double z);
    double nu;
};

/* The integral of min(e, (e+b)/(k+bw), (e-b)/(k-bw)), piece by piece. */
static double g_smooth(const struct density *d, double z)
{
    double c = d->k / d->b, m = d->e / d->b;
    double w1 = fmax(0, (d->b - d->e * (1 - d->k)) / (d->e * d->b));
    double w2 = (d->b + d->e * (1 - d->k)) / (d->e * d->b);
    double w = fabs(z), g = -(m - 1) * log1p(-fmin(w, w1) / c);
    if (w > w1)
        g += d->e * (fmin(w, w2) - w1);
    if (w > w2)
        g += (m + 1) * log((c + w) / (c + w2));
    return g;
}

static double g_cauchy(const struct density *d, double z)
{
    (void)d;
    return log1p(z * z * z * z);
}

static double g_stair(const struct density *d, double z)
{
    double edge = d->nu, g = 0;
    for (double w = fabs(z); w >= edge; edge = exp(d->b) * edge + 1)
        g += d->e - fmin(d->b, log1p(1 / edge));
    return g;
}

/* The loss at z when ln S changes by l and the count by `slide` of what is
 * allowed (-1..1). */
static double loss(const struct density *d, double z, double l, double slide)
{
    double delta = slide * d->alpha * fmin(1, exp(-l));
    return d->g(d, exp(l) * (z + delta)) - d->g(d, z) - l;
}

static double worst_loss(const struct density *d, unsigned tries)
{
    double worst = 0;
    for (unsigned i = 0; i < tries; i++) {
        double z = exp(12 * uniform() - 6) / d->e * (uniform() < .5 ? -1 : 1);
        double l = d->b * (i % 4 == 0   ? 1
                           : i % 4 == 1 ? -1
                           : i % 4 == 2 ? 0
                                        : 2 * uniform() - 1);
        double slide =
            uniform() < .7 ? (uniform() < .5 ? 1 : -1) : 2 * uniform() - 1;
        worst = fmax(worst, loss(d, z, l, slide));
    }
    return worst;
}

static const double epsilons[] = {.05, .1, .5, 1, 2, 5, 10};
static const double ratios[] = {.01, .05, .1, 1. / 6, .25, 2. / 7, 1. / 3, .45};

static void smooth_laplace_is_private_and_tight(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 8; j++) {
            double e = epsilons[i], b = e * ratios[j];
            struct density d = {e, b, b / expm1(b), 1, g_smooth, 0};
            double w = worst_loss(&d, 6000) / e;
            assert_true(w <= 1 + 1e-9);
            assert_true(w >= .995);
            d.k = d.k * .97; /* below kappa the density is too steep */
            assert_true(worst_loss(&d, 6000) / e > 1 + 1e-4);
            d.k = 1;
            assert_true(worst_loss(&d, 2000) / e <= 1 + 1e-9);
        }
    }
}

static double alpha_of(double e, double b)
{
    mpq_t qe, qb, qa;
    mpq_inits(qe, qb, qa, NULL);
    mpq_set_d(qe, e);
    mpq_set_d(qb, b);
    cauchy_alpha_below(qe, qb, qa);
    double a = mpq_get_d(qa);
    mpq_clears(qe, qb, qa, NULL);
    return a;
}

static void cauchy_is_private_and_tight(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 6; j++) {
            double e = epsilons[i], b = e * ratios[j];
            struct density d = {e, b, 0, alpha_of(e, b), g_cauchy, 0};
            double w = 0;
            /* the worst z is near 1, whatever epsilon is */
            for (int k = 0; k < 4000; k++) {
                double z = exp(8 * uniform() - 4);
                for (int l = -1; l <= 1; l++)
                    w = fmax(w, loss(&d, z, l * b, 1));
                w = fmax(w, loss(&d, z, b * (2 * uniform() - 1), 1));
            }
            assert_true(w / e <= 1 + 1e-9);
            assert_true(w / e >= .99);
        }
    }
    assert_true(fabs(alpha_of(1, .1) - .3666) < 1e-4);
    assert_true(fabs(alpha_of(.1, .01) - .03456) < 1e-5);
    assert_true(fabs(alpha_of(5, .5) - 5 * .5956) < 1e-3);
}

static void staircase_is_private(void **state)
{
    (void)state;
    for (int i = 3; i < 7; i++) {
        for (int j = 0; j < 7; j++) {
            for (double nu = .02; nu <= 1; nu *= 2.1) {
                double e = epsilons[i], b = e * ratios[j];
                struct density d = {e, b, 0, 1, g_stair, nu};
                assert_true(worst_loss(&d, 3000) / e <= 1 + 1e-9);
                d.alpha = 1.1;
                if (i > 4 && nu < .1) /* where random points find it */
                    assert_true(worst_loss(&d, 6000) / e > 1);
            }
        }
    }
}

/*
 * A certificate for alpha that does not use the closed form. With
 * t = (b^4/M)^(1/3), (bz+s)^4 <= (bz)^4/t^3 + s^4/(1-t)^3 for all z, so
 * 1 + (bz+s)^4 <= M (1 + z^4) follows from s^4 <= (M-1)(1-t)^3. Checked for
 * (b, s, M) = (1, a, e^eps), (e^beta, a, e^(eps+beta)),
 * (e^-beta, a e^-beta, e^(eps-beta)) in 256 bits; a slightly larger alpha
 * must fail at one of them.
 */
static bool certified(mpq_srcptr eps, mpq_srcptr beta, mpq_srcptr alpha,
                      int way)
{
    struct iv m, t, s, one;
    mpq_t q, third;
    mpq_inits(q, third, NULL);
    iv_init(&m, 256);
    iv_init(&t, 256);
    iv_init(&s, 256);
    iv_init(&one, 256);
    iv_set_ui(&one, 1);
    mpq_set_si(q, way, 1);
    mpq_mul(q, q, beta);
    iv_set_q(&t, q);
    iv_exp(&t, &t); /* b */
    iv_set_q(&s, alpha);
    if (way < 0)
        iv_mul(&s, &s, &t);
    iv_sqr(&s, &s);
    iv_sqr(&s, &s);
    iv_sqr(&t, &t);
    iv_sqr(&t, &t);
    mpq_add(q, q, eps);
    iv_set_q(&m, q);
    iv_exp(&m, &m);
    iv_div(&t, &t, &m);
    mpq_set_ui(third, 1, 3);
    iv_pow_q(&t, &t, third);
    iv_sub(&t, &one, &t); /* 1 - t > 0 */
    iv_sub(&m, &m, &one);
    iv_mul(&m, &m, &t);
    iv_sqr(&t, &t);
    iv_mul(&m, &m, &t);
    bool ok = iv_at_most(&s, &m);
    iv_fini(&m);
    iv_fini(&t);
    iv_fini(&s);
    iv_fini(&one);
    mpq_clears(q, third, NULL);
    return ok;
}

static void cauchy_alpha_has_a_certificate(void **state)
{
    (void)state;
    static const char *const eps[] = {"0.05", "0.1", "0.5", "1",
                                      "2",    "5",   "10"};
    static const char *const rs[] = {"1/100", "1/20", "1/10", "1/6",
                                     "1/4",   "2/7",  "5/16"};
    mpq_t e, b, a, more;
    mpq_inits(e, b, a, more, NULL);
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 7; j++) {
            assert_int_equal(rat_read(str_of(eps[i]), "e", e, NULL), OK);
            assert_int_equal(rat_read(str_of(rs[j]), "b", b, NULL), OK);
            mpq_mul(b, b, e);
            cauchy_alpha_below(e, b, a);
            for (int way = -1; way <= 1; way++)
                assert_true(certified(e, b, a, way));
            mpq_set_ui(more, 1000001, 1000000);
            mpq_mul(a, a, more);
            assert_false(certified(e, b, a, -1) && certified(e, b, a, 0) &&
                         certified(e, b, a, 1));
        }
    }
    mpq_clears(e, b, a, more, NULL);
}

/*
 * The condition of the arsinh-normal,
 *   a sech x |1 - x tanh x + s^2 (1 - 2 tanh^2 x)|
 *     + (r/s) (tanh x + x sech^2 x + 2 s^2 tanh x sech^2 x) <= 1  for x >= 0,
 * on an interval of x.
 */
struct row {
    mpq_t s2, a, rs; /* sigma^2, a, r/sigma */
};

static bool holds_on(const struct row *row, const struct iv *x)
{
    enum { PREC = 80 };
    struct iv th, se, u, v, t;
    iv_init(&th, PREC);
    iv_init(&se, PREC);
    iv_init(&u, PREC);
    iv_init(&v, PREC);
    iv_init(&t, PREC);
    iv_tanh(&th, x);
    iv_sech(&se, x);
    iv_set_ui(&u, 1);
    iv_sqr(&t, &th);
    iv_add(&t, &t, &t);
    iv_sub(&t, &u, &t);
    iv_mul_q(&t, &t, row->s2);
    iv_add(&u, &u, &t);
    iv_mul(&t, x, &th);
    iv_sub(&u, &u, &t);
    iv_abs(&u, &u);
    iv_mul(&u, &u, &se);
    iv_mul_q(&u, &u, row->a);
    iv_sqr(&se, &se);
    iv_mul_q(&t, &th, row->s2);
    iv_add(&t, &t, &t);
    iv_add(&t, &t, x);
    iv_mul(&t, &t, &se);
    iv_add(&v, &t, &th);
    iv_mul_q(&v, &v, row->rs);
    iv_add(&u, &u, &v);
    bool ok = mpfr_cmp_ui(u.hi, 1) <= 0;
    iv_fini(&th);
    iv_fini(&se);
    iv_fini(&u);
    iv_fini(&v);
    iv_fini(&t);
    return ok;
}

/* [i, i+1] / 2^k by bisection; false at depth 22. */
static bool certify(const struct row *row, unsigned long i, unsigned k)
{
    struct iv x;
    iv_init(&x, 80);
    mpfr_set_ui_2exp(x.lo, i, -(long)k, MPFR_RNDD);
    mpfr_set_ui_2exp(x.hi, i + 1, -(long)k, MPFR_RNDU);
    bool ok = holds_on(row, &x);
    iv_fini(&x);
    if (ok || k > 22)
        return ok;
    return certify(row, 2 * i, k + 1) && certify(row, 2 * i + 1, k + 1);
}

/* For x >= 16: |1 - x tanh x + ...| <= 1 + x + s^2 and x sech x falls, so the
 * sum is at most a sech 16 (17 + s^2) + r/s (1 + (16 + 2 s^2) sech^2 16). */
static bool certify_tail(const struct row *row)
{
    struct iv se, t, u;
    iv_init(&se, 80);
    iv_init(&t, 80);
    iv_init(&u, 80);
    iv_set_ui(&t, 16);
    iv_sech(&se, &t);
    iv_set_ui(&t, 20); /* s^2 < 1 */
    iv_mul(&t, &t, &se);
    iv_mul_q(&t, &t, row->a);
    iv_sqr(&se, &se);
    iv_set_ui(&u, 20);
    iv_mul(&se, &se, &u);
    iv_set_ui(&u, 1);
    iv_add(&u, &u, &se);
    iv_mul_q(&u, &u, row->rs);
    iv_add(&u, &u, &t);
    bool ok = mpfr_cmp_ui(u.hi, 1) <= 0;
    iv_fini(&se);
    iv_fini(&t);
    iv_fini(&u);
    return ok;
}

static bool certify_all(const struct row *row)
{
    bool ok = certify_tail(row);
    for (unsigned long i = 0; ok && i < 16; i++)
        ok = certify(row, i, 0);
    return ok;
}

static bool certify_row(unsigned long r, unsigned long s, unsigned long a)
{
    struct row row;
    mpq_inits(row.s2, row.a, row.rs, NULL);
    mpq_set_ui(row.s2, s * s, 1000000);
    mpq_canonicalize(row.s2);
    mpq_set_ui(row.a, a, 10000);
    mpq_canonicalize(row.a);
    mpq_set_ui(row.rs, r * 1000001, 1000000 * s); /* r (1 + 10^-6) / sigma */
    mpq_canonicalize(row.rs);
    bool ok = certify_all(&row);
    mpq_clears(row.s2, row.a, row.rs, NULL);
    return ok;
}

/* What the calibration gives, not only what the table says: at rho = 1/2,
 * where sqrt(2 rho) is 1, so that alpha = a and r = beta. */
static void calibrated_arsinh_is_certified(void **state)
{
    (void)state;
    static const char *const betas[] = {"0.001",  "0.0499", "0.1",
                                        "0.1001", "0.26",   "0.355"};
    for (int i = 0; i < 6; i++) {
        struct noise n;
        struct row row;
        fit_noise(&n, NOISE_ARSINH_NORMAL, "0.5", betas[i]);
        mpq_inits(row.s2, row.a, row.rs, NULL);
        mpq_mul(row.s2, n.a, n.a);
        mpq_set(row.a, n.b);
        mpq_div(row.rs, n.scale_beta, n.a);
        assert_true(certify_all(&row));
        mpq_clears(row.s2, row.a, row.rs, NULL);
        noise_fini(&n);
    }
}

static void arsinh_table_is_certified(void **state)
{
    (void)state;
    static const unsigned short rows[][3] = {
#define ARSINH(r, sigma, a) {r, sigma, a},
#include "noise/arsinh.def"
#undef ARSINH
    };
    size_t n = sizeof rows / sizeof *rows;
    assert_true(n >= 30);
    for (size_t i = 0; i < n; i++) {
        if (!certify_row(rows[i][0], rows[i][1], rows[i][2]))
            fail_msg("row %u %u %u", rows[i][0], rows[i][1], rows[i][2]);
        assert_true(i == 0 || rows[i][0] > rows[i - 1][0]);
    }
    /* 0.5 % more is not certified: the certificate can say no */
    assert_false(certify_row(100, 276, 8338 + 42));
    assert_false(certify_row(101, 276, 8338));
}

/* Rényi divergences of the arsinh-normal by quadrature, for shifts and
 * changes of scale at their extremes: at most n rho. */
static double renyi(double sigma, double alpha, double l, double slide,
                    double n)
{
    double sum = 0, h = .01, delta = slide * alpha * fmin(1, exp(-l));
    for (double y = -30; y <= 30; y += h) {
        double z = sinh(sigma * y) / sigma, z2 = exp(l) * (z + delta);
        double y2 = asinh(sigma * z2) / sigma;
        double g = y * y / 2 + log(cosh(sigma * y));
        double g2 = y2 * y2 / 2 + log(cosh(sigma * y2));
        double ratio = g2 - g - l; /* ln p/p' */
        sum += h * exp((n - 1) * ratio - y * y / 2);
    }
    return log(sum / sqrt(2 * acos(-1))) / (n - 1);
}

static void arsinh_divergences_stay_below(void **state)
{
    (void)state;
    static const double rhos[] = {.005, .125, .5};
    static const char *const texts[] = {"0.005", "0.125", "0.5"};
    for (int i = 0; i < 3; i++) {
        for (int j = 1; j <= 3; j++) {
            struct noise n;
            char beta[32];
            double b = .1 * j * sqrt(2 * rhos[i]);
            snprintf(beta, sizeof beta, "%.12f", b);
            fit_noise(&n, NOISE_ARSINH_NORMAL, texts[i], beta);
            double sigma = mpq_get_d(n.a), alpha = mpq_get_d(n.b), worst = 0;
            for (int l = -1; l <= 1; l++)
                for (double order = 1.1; order < 40; order *= 2)
                    worst = fmax(worst, renyi(sigma, alpha, l * b, 1, order) /
                                            (order * rhos[i]));
            assert_true(worst <= 1);
            assert_true(worst >= (j == 1 ? .6 : .25)); /* it has power */
            noise_fini(&n);
        }
    }
}

/* Vectors of g groups: the loss of claim 6, attacked where it is largest (one
 * coordinate slides, the others sit in the tail) and at random. */
static void groups_stay_below_epsilon(void **state)
{
    (void)state;
    static const uint64_t gs[] = {1, 2, 3, 10};
    for (int i = 0; i < 4; i++) {
        for (unsigned degree = 1; degree <= 3; degree++) {
            struct guarantee g;
            struct noise n;
            mpq_t beta;
            mpq_init(beta);
            guarantee_init(&g);
            noise_init(&n);
            mpq_set_ui(g.epsilon, 1, 1);
            noise_choose_beta_groups(&g, degree, gs[i], beta);
            assert_int_equal(
                noise_calibrate_smooth_groups(&g, gs[i], beta, &n, NULL), OK);
            struct density d = {
                mpq_get_d(n.epsilon), mpq_get_d(n.beta), 1, 1, g_smooth, 0};
            double b = mpq_get_d(n.scale_beta), worst = 0;
            for (int k = 0; k < 20000; k++) {
                double l = k % 3 == 0 ? b : k % 3 == 1 ? -b : 0, total = 0;
                double left = 1;
                for (uint64_t c = 0; c < gs[i]; c++) {
                    double slide = c == 0 && k % 2 ? 1 : uniform() * left;
                    slide = c > 0 && k % 2 ? 0 : slide;
                    left -= slide;
                    double far = k % 5 == 0 ? 9 : 0;
                    double z = exp(8 * uniform() - 5 + (c ? far : 0));
                    total += loss(&d, z, l, slide);
                }
                worst = fmax(worst, total);
            }
            assert_true(worst <= 1 + 1e-9);
            assert_true(worst >= .8);
            guarantee_fini(&g);
            noise_fini(&n);
            mpq_clear(beta);
        }
    }
}

/* delta of discrete Gaussian noise at (epsilon, sigma), by the definition. */
static double gaussian_delta(double eps, double sigma2)
{
    double norm = 0, delta = 0;
    for (int x = -4000; x <= 4000; x++)
        norm += exp(-x * (double)x / (2 * sigma2));
    for (int x = -4000; x <= 4000; x++) {
        double p = exp(-x * (double)x / (2 * sigma2));
        double q = exp(-(x - 1.) * (x - 1.) / (2 * sigma2));
        delta += fmax(0, p - exp(eps) * q);
    }
    return delta / norm;
}

static void gaussian_keeps_epsilon_delta(void **state)
{
    (void)state;
    static const double eps[] = {.1, .5, 1, 3}, deltas[] = {1e-9, 1e-6, 1e-3};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) {
            mpq_t e, d, rho;
            mpq_inits(e, d, rho, NULL);
            mpq_set_d(e, eps[i]);
            mpq_set_d(d, deltas[j]);
            rho_below(e, d, rho);
            double r = mpq_get_d(rho), l = -log(deltas[j]);
            double delta = gaussian_delta(eps[i], 1 / (2 * r));
            assert_true(delta <= deltas[j]);
            assert_true(delta >= deltas[j] / 200);
            /* no worse than the textbook's conversion */
            assert_true(r >= pow(sqrt(l + eps[i]) - sqrt(l), 2));
            mpq_clears(e, d, rho, NULL);
        }
    }
}

static void kappa_is_not_below(void **state)
{
    (void)state;
    static const char *const betas[] = {"1/1000000", "0.01", "0.5", "2", "40"};
    mpq_t b, k;
    mpq_inits(b, k, NULL);
    for (int i = 0; i < 5; i++) {
        struct iv x, e;
        iv_init(&x, 300);
        iv_init(&e, 300);
        assert_int_equal(rat_read(str_of(betas[i]), "b", b, NULL), OK);
        kappa_above(b, k);
        iv_set_q(&x, b);
        iv_expm1(&e, &x);
        iv_div(&x, &x, &e);
        assert_true(mpfr_cmp_q(x.hi, k) <= 0);
        assert_true(mpq_cmp_ui(k, 1, 1) <= 0);
        assert_true(mpfr_get_d(x.lo, MPFR_RNDN) > mpq_get_d(k) * (1 - 1e-15));
        iv_fini(&x);
        iv_fini(&e);
    }
    mpq_clears(b, k, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_laplace_is_private_and_tight),
        cmocka_unit_test(cauchy_is_private_and_tight),
        cmocka_unit_test(cauchy_alpha_has_a_certificate),
        cmocka_unit_test(staircase_is_private),
        cmocka_unit_test(arsinh_table_is_certified),
        cmocka_unit_test(calibrated_arsinh_is_certified),
        cmocka_unit_test(arsinh_divergences_stay_below),
        cmocka_unit_test(groups_stay_below_epsilon),
        cmocka_unit_test(gaussian_keeps_epsilon_delta),
        cmocka_unit_test(kappa_is_not_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
