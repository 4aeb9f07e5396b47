/* Fit of draws to laws: see fit.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/fit.h"
#include "harness/law.h"
#include "harness/stat.h"

/* Cuts in units of the median of |noise|; bins that expect little are merged,
 * so a cut far out costs nothing. */
static const double cuts[] = {.05, .15, .3,  .5, .75, 1,  1.3, 1.7, 2.2, 2.8,
                              3.5, 4.5, 5.5, 7,  9,   12, 16,  22,  30,  45};
enum { LEVELS = sizeof cuts / sizeof *cuts };

/* Cuts of |noise|: bin 0 holds 0..cut[0]-1, bin i cut[i-1]..cut[i]-1. */
struct bins {
    mpz_t cut[LEVELS];
    double tail[LEVELS]; /* P(|noise| >= cut) */
    size_t n;
};

static void bins_init(struct bins *b, const struct noise *law, mpq_srcptr s)
{
    mpq_t w;
    struct law l;
    struct noise_error error;
    mpq_init(w);
    law_open(&l, law, 256);
    assert_int_equal(noise_error(law, &error, NULL), OK);
    b->n = 0;
    for (int i = 0; i < LEVELS; i++) {
        mpz_ptr cut = b->cut[b->n];
        mpz_init(cut);
        mpq_set_d(w, error.p50 * cuts[i]);
        mpq_mul(w, w, s);
        mpz_cdiv_q(cut, mpq_numref(w), mpq_denref(w));
        if (mpz_sgn(cut) == 0)
            mpz_set_ui(cut, 1);
        if (b->n > 0 && mpz_cmp(cut, b->cut[b->n - 1]) <= 0) {
            mpz_clear(cut);
            continue;
        }
        b->tail[b->n++] = law_tail(&l, s, cut);
    }
    law_close(&l);
    mpq_clear(w);
}

static size_t bin_of(const struct bins *b, mpz_srcptr v)
{
    size_t i = 0;
    while (i < b->n && mpz_cmpabs(v, b->cut[i]) >= 0)
        i++;
    return i;
}

static void probabilities(const struct bins *b, double *prob)
{
    for (size_t i = 0; i <= b->n; i++) {
        double above = i == b->n ? 0 : b->tail[i];
        double mass = (i == 0 ? 1 : b->tail[i - 1]) - above;
        if (i == 0)
            prob[b->n] = mass; /* around zero, both signs */
        else
            prob[b->n + i] = prob[b->n - i] = mass / 2;
    }
}

double fit_chi2(const struct noise *from, const struct noise *law, mpq_srcptr s,
                mpq_srcptr law_s, unsigned draws, struct entropy *rng,
                fit_sampler sampler)
{
    struct bins b;
    double count[2 * LEVELS + 1] = {0}, prob[2 * LEVELS + 1] = {0};
    bins_init(&b, law, law_s);
    probabilities(&b, prob);
    mpz_t v;
    mpz_init(v);
    enum status st = OK;
    for (unsigned i = 0; i < draws && st == OK; i++) {
        st = sampler ? sampler(from, s, rng, v)
                     : noise_draw(from, s, rng, v, NULL);
        size_t bin = bin_of(&b, v);
        if (bin == 0)
            count[b.n]++;
        else
            count[mpz_sgn(v) > 0 ? b.n + bin : b.n - bin]++;
    }
    mpz_clear(v);
    for (size_t i = 0; i < b.n; i++)
        mpz_clear(b.cut[i]);
    return st == OK ? stat_chi2(count, prob, 2 * b.n + 1, draws) : -1;
}

static int compare(const void *a, const void *b)
{
    return mpz_cmp(*(const mpz_t *)a, *(const mpz_t *)b);
}

double fit_ks(const struct noise *n, const char *off, unsigned draws,
              struct entropy *rng)
{
    struct law l;
    mpq_t s, drawn;
    mpz_t *v = calloc(draws, sizeof *v);
    assert_non_null(v);
    mpq_inits(s, drawn, NULL);
    assert_int_equal(rat_read(str_of(off), "off", drawn, NULL), OK);
    mpq_set_ui(s, 1000000000000, 1);
    mpq_mul(drawn, drawn, s);
    for (unsigned i = 0; i < draws; i++) {
        mpz_init(v[i]);
        assert_int_equal(noise_draw(n, drawn, rng, v[i], NULL), OK);
        mpz_abs(v[i], v[i]);
    }
    qsort(v, draws, sizeof *v, compare);
    law_open(&l, n, 128);
    double worst = 0;
    for (unsigned i = 0; i < draws; i++) {
        double above = mpz_sgn(v[i]) ? law_tail(&l, s, v[i]) : 1;
        double seen = 1 - i / (double)draws;
        worst = fmax(worst,
                     fmax(fabs(above - seen), fabs(above - seen + 1. / draws)));
        mpz_clear(v[i]);
    }
    law_close(&l);
    free(v);
    mpq_clears(s, drawn, NULL);
    return stat_ks_tail(worst, draws);
}

void fit_noise(struct noise *n, enum noise_kind kind, const char *epsilon,
               const char *beta)
{
    struct guarantee g;
    struct err err;
    mpq_t b;
    mpq_init(b);
    guarantee_init(&g);
    noise_init(n);
    bool zcdp = kind == NOISE_ARSINH_NORMAL;
    g.kind = zcdp ? PRIVACY_ZCDP : PRIVACY_PURE;
    assert_int_equal(
        rat_read(str_of(epsilon), "epsilon", zcdp ? g.rho : g.epsilon, &err),
        OK);
    assert_int_equal(rat_read(str_of(beta), "beta", b, &err), OK);
    if (noise_calibrate_smooth(&g, kind, b, n, &err) != OK)
        fail_msg("%s %s %s: %s", noise_name(kind), epsilon, beta, err.message);
    guarantee_fini(&g);
    mpq_clear(b);
}
