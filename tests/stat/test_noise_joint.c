/*
 * The draw for two numbers at once: its law is exp(-level epsilon / g), by
 * sums over levels and by draws on fixed seeds, with broken variants that are
 * rejected; the law keeps epsilon, exactly (levels are whole numbers), between
 * all pairs that neighbours can give, vectors of pairs too, and another number
 * of steps would not; half the variance of two draws; what is told of the error
 * is true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/scripted.h"
#include "harness/stat.h"
#include "noise/sampler.h"

struct shape {
    long a, b;
    const char *epsilon;
};
static const struct shape shapes[] = {
    {1, 1, "1"},   {5, 1, "1"},   {3, 2, "1/2"}, {7, 3, "2"},
    {1, 4, "3/4"}, {40, 20, "3"}, {2, 17, "1"},  {100, 1, "5/2"}};
enum { SHAPES = sizeof shapes / sizeof *shapes, DRAWS = 40000 };

static void calibrate(const struct shape *s, struct noise *first,
                      struct noise *second)
{
    struct guarantee g;
    mpz_t a, b;
    guarantee_init(&g);
    noise_init(first);
    noise_init(second);
    assert_int_equal(rat_read(str_of(s->epsilon), "epsilon", g.epsilon, NULL),
                     OK);
    mpz_init_set_si(a, s->a);
    mpz_init_set_si(b, s->b);
    assert_int_equal(noise_calibrate_joint(&g, a, b, first, second, NULL), OK);
    mpz_clears(a, b, NULL);
    guarantee_fini(&g);
}

static long steps_of(const struct noise *n)
{
    return mpz_get_si(mpq_numref(n->beta));
}

/* By definition. */
static long level(long x, long y, long a, long b, long g)
{
    long j = 0;
    while (labs(x) > j * a / g || labs(y) > j * b / g)
        j++;
    return j;
}

/* --- the law keeps epsilon ------------------------------------------------ */

static long worst_shift(long a, long b, long g, long dx, long dy)
{
    long most = 0;
    for (long x = -3 * a; x <= 3 * a; x++)
        for (long y = -3 * b; y <= 3 * b; y++) {
            long by = level(x + dx, y + dy, a, b, g) - level(x, y, a, b, g);
            most = labs(by) > most ? labs(by) : most;
        }
    return most;
}

/* epsilon is g steps: no shift of neighbours costs more, and some cost it. */
static void pairs_keep_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        const struct shape *s = &shapes[i];
        struct noise n, m;
        calibrate(s, &n, &m);
        long g = steps_of(&n), most = 0;
        assert_true(g >= 16 && g % s->b == 0);
        for (long dx = -s->a; dx <= s->a; dx++)
            for (long dy = -s->b; dy <= s->b; dy++) {
                long w = worst_shift(s->a, s->b, g, dx, dy);
                most = w > most ? w : most;
            }
        assert_int_equal(most, g);
        assert_true(worst_shift(s->a, s->b, g, s->a + 1, 0) > g ||
                    s->a > g); /* a step is more than 1 */
        noise_fini(&n);
        noise_fini(&m);
    }
}

/* Of vectors: n answers of B come or go in one group, the others in others.
 * What each group costs must add up to g at most. */
static long worst_vector(long w, long b, long g)
{
    long cost[64] = {0}, best[64] = {0};
    for (long n = 1; n <= b; n++)
        for (long dx = 0; dx <= w * n; dx++)
            for (long dy = 0; dy <= n; dy++) {
                long c = worst_shift(w * b, b, g, dx, dy);
                cost[n] = c > cost[n] ? c : cost[n];
            }
    for (long all = 1; all <= b; all++)
        for (long n = 1; n <= all; n++)
            if (cost[n] + best[all - n] > best[all])
                best[all] = cost[n] + best[all - n];
    return best[b];
}

static void vectors_keep_epsilon(void **state)
{
    (void)state;
    static const struct shape vectors[] = {
        {3, 3, "1"}, {6, 3, "1/2"}, {4, 2, "1"}, {12, 4, "1"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct shape *s = &vectors[i];
        struct noise n, m;
        calibrate(s, &n, &m);
        assert_int_equal(worst_vector(s->a / s->b, s->b, steps_of(&n)),
                         steps_of(&n));
        noise_fini(&n);
        noise_fini(&m);
    }
    /* steps that are no multiple of B round up in every group */
    assert_true(worst_vector(1, 3, 16) > 16);
}

/* --- the law is what is drawn --------------------------------------------- */

/* A level by the sampler's own way, then uniform in its rectangle. */
static double by_levels(const struct shape *s, long g, double q, long x, long y)
{
    double all = 0, here = 0;
    for (long j = 0; (double)j < 60 / q + 400; j++) {
        long m = j * s->a / g, k = j * s->b / g;
        double points = (2. * (double)m + 1) * (2. * (double)k + 1);
        double proposed =
            (double)(j + 1) * (double)(j + 2) / 2 * exp(-q * (double)j);
        double kept = points / ((double)(j + 1) * (double)(j + 2));
        all += proposed * kept;
        if (labs(x) <= m && labs(y) <= k)
            here += proposed * kept / points;
    }
    return here / all;
}

static void levels_give_the_law(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        struct noise n, m;
        calibrate(s, &n, &m);
        long g = steps_of(&n);
        double q = mpq_get_d(n.epsilon) / (double)g;
        double none = by_levels(s, g, q, 0, 0);
        for (long x = 0; x <= 2 * s->a; x += 1 + s->a / 7)
            for (long y = -s->b; y <= s->b; y += 1 + s->b / 3) {
                double want = exp(-q * (double)level(x, y, s->a, s->b, g));
                double got = by_levels(s, g, q, x, y) / none;
                assert_true(fabs(got / want - 1) < 1e-9);
            }
        noise_fini(&n);
        noise_fini(&m);
    }
}

enum { SIDE = 9 }; /* bins of each number, the ends take the tails */

static int bin(long v, long width)
{
    long b = v >= 0 ? (v + width / 2) / width : -((-v + width / 2) / width);
    b = b > SIDE / 2 ? SIDE / 2 : b < -(SIDE / 2) ? -(SIDE / 2) : b;
    return (int)b + SIDE / 2;
}

struct defect {
    double epsilon; /* that of the law, times this */
    long a, b;      /* added to the law's */
};

static void draw_bins(const struct shape *s, uint64_t seed,
                      double count[SIDE * SIDE])
{
    struct scripted script;
    struct entropy *rng = scripted_seed(&script, seed);
    struct noise n, m;
    mpz_t x, y;
    calibrate(s, &n, &m);
    mpz_inits(x, y, NULL);
    for (int i = 0; i < DRAWS; i++) {
        struct draw draw;
        draw_begin(&draw, rng, NULL);
        assert_int_equal(sample_joint(&draw, &n, x, y), OK);
        count[bin(mpz_get_si(x), 1 + s->a) * SIDE +
              bin(mpz_get_si(y), 1 + s->b)]++;
    }
    mpz_clears(x, y, NULL);
    noise_fini(&n);
    noise_fini(&m);
}

static double fit(const struct shape *s, struct defect d,
                  const double count[SIDE * SIDE])
{
    double prob[SIDE * SIDE] = {0};
    struct noise n, m;
    calibrate(s, &n, &m);
    double g = (double)steps_of(&n), all = 0;
    double q = d.epsilon * mpq_get_d(n.epsilon) / g;
    for (long u = -20 * s->a; u <= 20 * s->a; u++)
        for (long v = -20 * s->b; v <= 20 * s->b; v++) {
            double pa = (double)labs(u) * g / (double)(s->a + d.a);
            double pb = (double)labs(v) * g / (double)(s->b + d.b);
            double p = exp(-q * fmax(ceil(pa - 1e-9), ceil(pb - 1e-9)));
            prob[bin(u, 1 + s->a) * SIDE + bin(v, 1 + s->b)] += p;
            all += p;
        }
    for (int i = 0; i < SIDE * SIDE; i++)
        prob[i] /= all;
    noise_fini(&n);
    noise_fini(&m);
    return stat_chi2(count, prob, SIDE * SIDE, DRAWS);
}

static void draws_have_the_law(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        const struct shape *s = &shapes[i];
        double count[SIDE * SIDE] = {0};
        draw_bins(s, 7 + (uint64_t)i, count);
        double p = fit(s, (struct defect){1, 0, 0}, count);
        if (p < 1e-4)
            fail_msg("shape %d: p %g", i, p);
        assert_true(fit(s, (struct defect){1.08, 0, 0}, count) < 1e-6);
        assert_true(fit(s, (struct defect){1, 1, 0}, count) < 1e-6);
        assert_true(fit(s, (struct defect){1, 0, 1}, count) < 1e-6);
    }
}

/* --- its error ------------------------------------------------------------ */

struct marginal {
    double square, within[2]; /* within what is told for 50 and 95 % */
};

static void look(const struct shape *s, const struct noise *n, bool second,
                 const struct noise_error *e, struct marginal *out)
{
    long g = steps_of(n), ex = 30 * s->a, ey = 30 * s->b;
    double q = mpq_get_d(n->epsilon) / (double)g, all = 0;
    *out = (struct marginal){0};
    for (long x = -ex; x <= ex; x++)
        for (long y = -ey; y <= ey; y++) {
            double pa = ceil((double)labs(x) * (double)g / (double)s->a - 1e-9);
            double pb = ceil((double)labs(y) * (double)g / (double)s->b - 1e-9);
            double p = exp(-q * fmax(pa, pb));
            double v = (double)labs(second ? y : x);
            all += p;
            out->square += p * v * v;
            out->within[0] += v <= e->p50 ? p : 0;
            out->within[1] += v <= e->p95 ? p : 0;
        }
    out->square /= all;
    out->within[0] /= all;
    out->within[1] /= all;
}

static void error_is_true(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct noise n[2];
        calibrate(&shapes[i], &n[0], &n[1]);
        for (int k = 0; k < 2; k++) {
            struct noise_error e;
            struct marginal m;
            assert_int_equal(noise_error(&n[k], &e, NULL), OK);
            look(&shapes[i], &n[0], k == 1, &e, &m);
            assert_true(fabs(e.std / sqrt(m.square) - 1) < 1e-3);
            assert_true(m.within[0] >= .5 - 1e-6 && m.within[1] >= .95 - 1e-6);
            e.p95 -= 1;
            look(&shapes[i], &n[0], k == 1, &e, &m);
            assert_true(m.within[1] < .95);
        }
        noise_fini(&n[0]);
        noise_fini(&n[1]);
    }
}

/* Standard deviation 2 A / epsilon, beside 2.83 of a draw of half the price;
 * 95 % within 4.11 A / epsilon, beside 5.99. */
static void half_the_variance(void **state)
{
    (void)state;
    struct shape s = {100000, 1000, "1/10"};
    struct noise n, m;
    struct noise_error e;
    calibrate(&s, &n, &m);
    assert_int_equal(noise_error(&n, &e, NULL), OK);
    assert_true(fabs(e.std / 2e6 - 1) < 1e-3);
    assert_true(fabs(e.p95 / 4.113e6 - 1) < 1e-3);
    noise_fini(&n);
    noise_fini(&m);
}

static void refusals(void **state)
{
    (void)state;
    struct guarantee g;
    struct noise n, m;
    struct err err;
    mpz_t a, b;
    guarantee_init(&g);
    noise_init(&n);
    noise_init(&m);
    mpz_init_set_ui(a, 3);
    mpz_init_set_ui(b, 0);
    mpq_set_ui(g.epsilon, 1, 1);
    assert_int_equal(noise_calibrate_joint(&g, a, b, &n, &m, &err), E_INTERNAL);
    mpz_set_ui(b, 1);
    g.kind = PRIVACY_ZCDP;
    assert_int_equal(noise_calibrate_joint(&g, a, b, &n, &m, &err),
                     E_UNSUPPORTED);
    g.kind = PRIVACY_PURE;
    assert_int_equal(noise_calibrate_joint(&g, a, b, &n, &m, &err), OK);
    mpz_t x;
    mpz_init(x);
    assert_int_equal(noise_draw(&n, NULL, NULL, x, &err), E_INTERNAL);
    mpz_clears(a, b, x, NULL);
    guarantee_fini(&g);
    noise_fini(&n);
    noise_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_keep_epsilon),
        cmocka_unit_test(vectors_keep_epsilon),
        cmocka_unit_test(levels_give_the_law),
        cmocka_unit_test(draws_have_the_law),
        cmocka_unit_test(error_is_true),
        cmocka_unit_test(half_the_variance),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
