/* The fits of all samplers: see fit_suite.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/fit.h"
#include "harness/fit_suite.h"
#include "harness/scripted.h"
#include "noise/inverse.h"
#include "noise/sampler.h"

/* A source of bytes: a fixed seed, or the kernel. */
struct source {
    struct scripted script;
    struct entropy *rng, *kernel;
};

static struct entropy *open_source(struct source *s, const struct suite *cfg,
                                   unsigned seed)
{
    s->kernel = NULL;
    if (!cfg->fresh)
        return s->rng = scripted_seed(&s->script, seed);
    assert_int_equal(entropy_open(&s->kernel, NULL), OK);
    return s->rng = s->kernel;
}

static double run(const struct suite *cfg, unsigned seed,
                  const struct noise *from, const struct noise *law,
                  mpq_srcptr s, mpq_srcptr law_s, unsigned draws,
                  fit_sampler sampler)
{
    struct source src;
    open_source(&src, cfg, seed);
    double p = fit_chi2(from, law, s, law_s, draws, src.rng, sampler);
    entropy_close(src.kernel);
    return p;
}

static const char *const scales[] = {"3/10", "1", "1000", "1000000",
                                     "1099511627776"};

struct fit_case {
    enum noise_kind kind;
    const char *epsilon, *beta;
};
static const struct fit_case cases[] = {
    {NOISE_SMOOTH_LAPLACE, "0.1", "0.01"},
    {NOISE_SMOOTH_LAPLACE, "1", "0.25"},
    {NOISE_SMOOTH_LAPLACE, "8", "2"},
    {NOISE_GENERALIZED_CAUCHY, "1", "0.1"},
    {NOISE_ARSINH_NORMAL, "0.5", "0.1"},
    {NOISE_STAIRCASE, "5", "0.5"},
    {NOISE_STAIRCASE, "10", "2.5"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void rat(mpq_t q, const char *text)
{
    mpq_init(q);
    assert_int_equal(rat_read(str_of(text), "q", q, NULL), OK);
}

void suite_law(const struct suite *cfg)
{
    for (unsigned c = 0; c < CASES; c++) {
        struct noise n;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        for (unsigned i = 0; i < 5; i++) {
            mpq_t s;
            rat(s, scales[i]);
            unsigned draws = (i == 2 ? 4 : 1) * cfg->draws;
            double p = run(cfg, 100 + 10 * c + i, &n, &n, s, s, draws, NULL);
            if (!(p > cfg->alpha))
                fail_msg("%s %s at scale %s: p = %g", noise_name(n.kind),
                         cases[c].epsilon, scales[i], p);
            mpq_clear(s);
        }
        noise_fini(&n);
    }
}

void suite_ks(const struct suite *cfg, const char *off, bool rejected)
{
    for (unsigned c = 0; c < CASES; c++) {
        struct noise n;
        struct source src;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        open_source(&src, cfg, 400 + c);
        double p = fit_ks(&n, off, cfg->draws, src.rng);
        entropy_close(src.kernel);
        if ((p < cfg->alpha) != rejected)
            fail_msg("%s %s: p = %g", noise_name(n.kind), cases[c].epsilon, p);
        noise_fini(&n);
    }
}

void suite_groups(const struct suite *cfg)
{
    struct guarantee g;
    struct noise n;
    mpq_t beta, s;
    guarantee_init(&g);
    noise_init(&n);
    mpq_set_ui(g.epsilon, 1, 1);
    rat(beta, "1/80");
    rat(s, "777/7");
    assert_int_equal(noise_calibrate_smooth_groups(&g, 10, beta, &n, NULL), OK);
    assert_true(run(cfg, 7, &n, &n, s, s, 20 * cfg->draws, NULL) > cfg->alpha);
    mpq_clears(beta, s, NULL);
    guarantee_fini(&g);
    noise_fini(&n);
}

/* Samplers that start with 8 bits and so refine nearly always. */
static enum status few_bits(const struct noise *n, mpq_srcptr s,
                            struct entropy *rng, mpz_t out)
{
    struct draw d;
    draw_begin(&d, rng, NULL);
    if (n->kind == NOISE_SMOOTH_LAPLACE || n->kind == NOISE_STAIRCASE)
        return sample_inverse(&d, n, s, 8, 64, out);
    mpq_t scale;
    mpq_init(scale);
    mpq_div(scale, s, n->kind == NOISE_ARSINH_NORMAL ? n->b : n->a);
    enum status st = n->kind == NOISE_ARSINH_NORMAL
                         ? sample_arsinh(&d, n->a, scale, 8, out)
                         : sample_cauchy(&d, scale, 8, out);
    mpq_clear(scale);
    return st;
}

void suite_refined(const struct suite *cfg)
{
    for (unsigned c = 0; c < CASES; c++) {
        struct noise n;
        mpq_t s;
        rat(s, "1000");
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        double p = run(cfg, 200 + c, &n, &n, s, s, cfg->draws / 4, few_bits);
        if (!(p > cfg->alpha))
            fail_msg("%s refined: p = %g", noise_name(n.kind), p);
        noise_fini(&n);
        mpq_clear(s);
    }
}

void suite_scale_defect(const struct suite *cfg, unsigned from, unsigned to)
{
    mpq_t s, off;
    rat(s, "1000");
    rat(off, "1050");
    for (unsigned c = from; c < to && c < CASES; c++) {
        struct noise n;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        double p = run(cfg, 300, &n, &n, off, s, 40 * cfg->draws, NULL);
        if (!(p < cfg->alpha))
            fail_msg("%s: a scale 5 %% off went unseen, p = %g",
                     noise_name(n.kind), p);
        noise_fini(&n);
    }
    mpq_clears(s, off, NULL);
}

static enum status one_sided(const struct noise *n, mpq_srcptr s,
                             struct entropy *rng, mpz_t out)
{
    enum status st = noise_draw(n, s, rng, out, NULL);
    mpz_abs(out, out);
    return st;
}

/* Truncates towards zero in place of rounding. */
static enum status truncated(const struct noise *n, mpq_srcptr s,
                             struct entropy *rng, mpz_t out)
{
    mpq_t finer;
    mpq_init(finer);
    mpq_mul_2exp(finer, s, 6);
    enum status st = noise_draw(n, finer, rng, out, NULL);
    mpz_tdiv_q_2exp(out, out, 6);
    mpq_clear(finer);
    return st;
}

void suite_shape_defects(const struct suite *cfg)
{
    struct noise n;
    mpq_t s, small;
    rat(s, "1000");
    rat(small, "3");
    fit_noise(&n, NOISE_SMOOTH_LAPLACE, "1", "0.1");
    assert_true(run(cfg, 1, &n, &n, s, s, 2 * cfg->draws, one_sided) <
                cfg->alpha);
    assert_true(run(cfg, 2, &n, &n, small, small, 8 * cfg->draws, truncated) <
                cfg->alpha);
    noise_fini(&n);
    mpq_clears(s, small, NULL);
}

void suite_alpha_defect(const struct suite *cfg)
{
    struct noise right, wrong;
    mpq_t s, five;
    rat(s, "1000");
    rat(five, "1.05");
    fit_noise(&right, NOISE_GENERALIZED_CAUCHY, "1", "0.1");
    fit_noise(&wrong, NOISE_GENERALIZED_CAUCHY, "1", "0.1");
    mpq_mul(wrong.a, wrong.a, five);
    assert_true(run(cfg, 4, &wrong, &right, s, s, 50 * cfg->draws, NULL) <
                cfg->alpha);
    noise_fini(&right);
    noise_fini(&wrong);
    mpq_clears(s, five, NULL);
}

/* Right in the middle, wrong in the tail: exponent 1/0.13 in place of 10. */
void suite_tail_defect(const struct suite *cfg)
{
    struct noise right, wrong;
    mpq_t s;
    rat(s, "1000");
    fit_noise(&right, NOISE_SMOOTH_LAPLACE, "1", "0.1");
    fit_noise(&wrong, NOISE_SMOOTH_LAPLACE, "1", "0.13");
    assert_true(run(cfg, 3, &wrong, &right, s, s, 50 * cfg->draws, NULL) <
                cfg->alpha);
    noise_fini(&right);
    noise_fini(&wrong);
    mpq_clear(s);
}
