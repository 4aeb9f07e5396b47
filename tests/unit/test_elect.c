/*
 * Elections: grids, shares and prices for every kind of guarantee, the toys'
 * laws to twelve digits, the sampler against its law, noise and rounding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness/elect_law.h"
#include "harness/plain.h"
#include "harness/scripted.h"
#include "harness/size.h"
#include "harness/stat.h"
#include "noise/elect.h"

static const struct elect_question one_owner = {
    .owners = 1, .exact = true, .bound = U128_INF, .order = 1};

static mpq_srcptr tenth(void)
{
    static mpq_t v;
    static bool made;
    if (!made)
        mpq_init(v);
    made = true;
    mpq_set_ui(v, 1, 10);
    return v;
}

static void plan(const char *epsilon, const char *rho,
                 const struct elect_question *q, struct election *out)
{
    struct guarantee g;
    struct err err;
    guarantee_init(&g);
    elect_init(out);
    if (rho) {
        g.kind = PRIVACY_ZCDP;
        assert_int_equal(rat_read(str_of(rho), "rho", g.rho, &err), OK);
    } else {
        assert_int_equal(rat_read(str_of(epsilon), "epsilon", g.epsilon, &err),
                         OK);
    }
    assert_int_equal(elect_plan(&g, q, out, &err), OK);
    guarantee_fini(&g);
}

static void same(mpq_srcptr v, long num, unsigned long den)
{
    if (mpq_cmp_si(v, num, den) != 0) {
        gmp_printf("%Qd is not %ld/%lu\n", v, num, den);
        fail();
    }
}

static void grids(void **state)
{
    (void)state;
    static const uint64_t head[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    struct election e;
    struct elect_question q = one_owner;
    plan("1", NULL, &q, &e);
    assert_memory_equal(e.grid, head, sizeof head);
    assert_int_equal(e.n, 124);
    assert_true(e.grid[e.n - 1] == (uint64_t)1 << 62);
    for (unsigned j = 1; j < e.n; j++)
        assert_true(e.grid[j] > e.grid[j - 1]);
    elect_fini(&e);
    q.owners = 3, q.exact = false;
    plan("1", NULL, &q, &e);
    assert_int_equal(e.n, 62);
    assert_int_equal(e.grid[0], 2);
    assert_true(mpq_sgn(e.cap) > 0);
    elect_fini(&e);
}

static void grids_end_at_the_bound(void **state)
{
    (void)state;
    static const struct {
        unsigned owners, bound, n, last;
    } t[] = {{1, 0, 2, 2}, {1, 1, 2, 2}, {1, 5, 5, 6},     {1, 6, 5, 6},
             {1, 7, 6, 8}, {2, 1, 1, 2}, {2, 100, 7, 128}, {2, 128, 7, 128}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct election e;
        struct elect_question q = one_owner;
        q.owners = t[i].owners, q.bound = t[i].bound;
        plan("1", NULL, &q, &e);
        assert_int_equal(e.n, t[i].n);
        assert_int_equal(e.grid[e.n - 1], t[i].last);
        elect_fini(&e);
    }
}

/* e1, e2 and e3 add up to epsilon, whatever the neighbours. */
static void prices(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    plan("1", NULL, &q, &e);
    same(e.e1, 1, 4), same(e.answer.epsilon, 3, 4);
    elect_fini(&e);
    q.lost = tenth();
    plan("1", NULL, &q, &e);
    same(e.e1, 9, 40), same(e.answer.epsilon, 27, 40);
    same(e.lost.epsilon, 1, 10);
    elect_fini(&e);
    q.order = 3;
    plan("1", NULL, &q, &e);
    same(e.e1, 9, 120), same(e.lost.epsilon, 1, 30);
    elect_fini(&e);
    q.order = 1, q.change = true, q.owners = 2; /* 2 e1 + e2 + e3 */
    plan("1", NULL, &q, &e);
    same(e.e1, 9, 50), same(e.answer.epsilon, 27, 50);
    elect_fini(&e);
}

/* One that is changed: no score rises where another falls, but for entities
 * within others. */
static void prices_of_changes(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    q.change = true;
    plan("1", NULL, &q, &e);
    same(e.e1, 1, 4), same(e.answer.epsilon, 3, 4);
    elect_fini(&e);
    q.nested = true;
    plan("1", NULL, &q, &e);
    same(e.e1, 1, 8), same(e.answer.epsilon, 3, 4);
    elect_fini(&e);
}

/* rho = e1^2/8 + rho2 + rho3, or e1^2/2 where entities are changed. */
static void prices_in_rho(void **state)
{
    (void)state;
    for (int change = 0; change < 2; change++) {
        struct election e;
        struct elect_question q = one_owner;
        mpq_t sum, share;
        mpq_inits(sum, share, NULL);
        q.change = q.nested = change, q.lost = tenth();
        plan(NULL, "1/2", &q, &e);
        assert_true(e.concentrated);
        mpq_mul(sum, e.e1, e.e1);
        mpq_div_2exp(sum, sum, change ? 1 : 3);
        mpq_add(sum, sum, e.answer.rho);
        mpq_add(sum, sum, e.lost.rho);
        assert_true(mpq_cmp_ui(sum, 1, 2) <= 0);
        mpq_set_d(share, .4999999);
        assert_true(mpq_cmp(sum, share) > 0);
        mpq_clears(sum, share, NULL);
        elect_fini(&e);
    }
}

/* --- laws ------------------------------------------------------------------
 */

/* An election with the toys' own constants. */
struct toy {
    struct election e;
    mpq_t score[ELECT_LAW_MAX];
    unsigned n;
};

static void toy_open(struct toy *t, const char *const *scores, unsigned n,
                     const char *e1, const char *lambda)
{
    plan("1", NULL, &one_owner, &t->e);
    t->e.n = t->n = n;
    mpq_set_str(t->e.e1, e1, 10);
    mpq_set_str(t->e.lambda, lambda, 10);
    for (unsigned j = 0; j < n; j++) {
        mpq_init(t->score[j]);
        if (scores[j])
            mpq_set_str(t->score[j], scores[j], 10);
        mpq_canonicalize(t->score[j]);
    }
}

static void toy_close(struct toy *t)
{
    for (unsigned j = 0; j < t->n; j++)
        mpq_clear(t->score[j]);
    elect_fini(&t->e);
}

static void toy_law(const struct toy *t, bool permute, double *out)
{
    mpq_t x[ELECT_LAW_MAX];
    struct iv p[ELECT_LAW_MAX];
    for (unsigned j = 0; j < t->n; j++) {
        mpq_init(x[j]);
        iv_init(&p[j], ELECT_LAW_BITS);
        elect_exponent(&t->e, t->score, j, x[j]);
    }
    elect_law(x, t->n, permute, p);
    for (unsigned j = 0; j < t->n; j++) {
        out[j] = mpfr_get_d(p[j].lo, MPFR_RNDN);
        assert_true(mpfr_get_d(p[j].hi, MPFR_RNDN) - out[j] < 1e-15);
        mpq_clear(x[j]);
        iv_fini(&p[j]);
    }
}

static const char *const toy1[12] = {"5", "4", "4", "2", "2", "1",
                                     "1", "1", "1", "1", "0", "0"};
static const struct golden {
    const char *e1, *lambda;
    unsigned n, known;
    const char *score[12];
    double p[12];
} golden[] = {
    {"1/4",
     "9/10",
     12,
     12,
     {"5", "4", "4", "2", "2", "1", "1", "1", "1", "1", "0", "0"},
     {0.503692350718, 0.262950464479, 0.106907680872, 0.071662361564,
      0.029135741957, 0.015210191042, 0.006184002196, 0.002514227669,
      0.001022208688, 0.000415599038, 0.000216961723, 0.000088210054}},
    {"3/10",
     "7/10",
     11,
     11,
     {"9/10", "7/10", "4/10", "2/10", "1/10"},
     {0.471792961936, 0.248772854546, 0.135170946720, 0.071274616156,
      0.036471832465, 0.018662949520, 0.009267746457, 0.004602226690,
      0.002285398139, 0.001134895129, 0.000563572242}},
    {"3/10",
     "7/10",
     11,
     11,
     {"1", "1", "2/3", "1/3", "1/6"},
     {0.481573877928, 0.239142510469, 0.131244192430, 0.072028339975,
      0.037602090691, 0.019630012643, 0.009747975792, 0.004840701520,
      0.002403821235, 0.001193702298, 0.000592775018}},
    {"3/10",
     "7/10",
     11,
     4,
     {"11/10", "1", "95/100", "13/15", "575/1000", "17/60", "1375/10000"},
     {0.487782278311, 0.249602375904, 0.125822118972, 0.064063139729}},
};

static void toys_to_twelve_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const struct golden *g = &golden[i];
        struct toy t;
        double p[12];
        toy_open(&t, g->score, g->n, g->e1, g->lambda);
        toy_law(&t, false, p);
        for (unsigned j = 0; j < g->known; j++)
            if (fabs(p[j] - g->p[j]) > 6e-13)
                fail_msg("toy %zu, %u: %.12f is not %.12f", i, j, p[j],
                         g->p[j]);
        toy_close(&t);
    }
}

static double fit(const struct toy *t, const double *law, unsigned draws,
                  uint64_t seed)
{
    double count[ELECT_LAW_MAX] = {0};
    struct scripted s;
    struct entropy *rng = scripted_seed(&s, seed);
    struct err err;
    for (unsigned i = 0; i < draws; i++) {
        unsigned j;
        assert_int_equal(elect_draw(a_hold(), &t->e, t->score, rng, &j, &err),
                         OK);
        count[j]++;
    }
    return stat_chi2(count, law, t->n, draws);
}

/* Both samplers follow their laws, and not each other's, nor that of a score
 * or prior that is a little off. */
static void sampler_follows_its_law(void **state)
{
    (void)state;
    unsigned draws = (unsigned)test_size(60000);
    for (int zcdp = 0; zcdp < 2; zcdp++) {
        struct toy t;
        double law[12], other[12];
        toy_open(&t, toy1, 12, "1", "3/10");
        t.e.concentrated = zcdp;
        toy_law(&t, !zcdp, law);
        toy_law(&t, zcdp, other);
        assert_true(fit(&t, law, draws, 1) > 1e-4);
        if (draws >= 60000) {
            assert_true(fit(&t, other, draws, 2) < 1e-6);
            mpq_set_str(t.e.e1, "11/10", 10);
            assert_true(fit(&t, law, draws, 3) < 1e-6);
            mpq_set_str(t.e.e1, "1", 10);
            mpq_set_str(t.e.lambda, "33/100", 10);
            assert_true(fit(&t, law, draws, 4) < 1e-6);
        }
        toy_close(&t);
    }
}

struct asked {
    const struct toy *t;
    unsigned times;
};

static enum status tell_score(void *ctx, unsigned j, mpq_t out, struct err *err)
{
    struct asked *a = ctx;
    (void)err;
    a->times++;
    mpq_set(out, a->t->score[j]);
    return OK;
}

static double fit_lazily(const struct toy *t, const struct elect_lazy *s,
                         const double *law, unsigned draws, uint64_t seed)
{
    double count[ELECT_LAW_MAX] = {0};
    struct scripted bits;
    struct entropy *rng = scripted_seed(&bits, seed);
    struct err err;
    for (unsigned i = 0; i < draws; i++) {
        unsigned j;
        assert_int_equal(elect_draw_lazily(a_hold(), &t->e, s, rng, &j, &err),
                         OK);
        count[j]++;
    }
    return stat_chi2(count, law, t->n, draws);
}

static void bounds_open(mpq_t *least, unsigned v)
{
    for (unsigned j = 0; j < 3; j++) {
        mpq_init(least[j]);
        mpq_set_ui(least[j], v, 1);
    }
}

static void bounds_close(mpq_t *least)
{
    for (unsigned j = 0; j < 3; j++)
        mpq_clear(least[j]);
}

/* The law is that of all scores, whatever is known of the first three: with a
 * bound that is passed often, so that they are asked for. A sampler that took
 * the bound for the score would be seen. */
static void unknown_scores_have_the_same_law(void **state)
{
    (void)state;
    static const char *const scores[] = {"2", "3/2", "5/4", "1", "1/2", "1/4"};
    unsigned draws = (unsigned)test_size(60000);
    for (int zcdp = 0; zcdp < 2; zcdp++) {
        struct toy t;
        struct asked a = {&t, 0};
        double law[12];
        mpq_t least[3];
        bounds_open(least, 1);
        toy_open(&t, scores, 6, "1", "1/10");
        t.e.concentrated = zcdp;
        toy_law(&t, !zcdp, law);
        struct elect_lazy s = {t.score, 3, least, tell_score, &a};
        assert_true(fit_lazily(&t, &s, law, draws, 5) > 1e-4);
        assert_true(a.times > draws / 100);
        for (unsigned j = 0; j < 3; j++)
            mpq_set(t.score[j], least[j]);
        if (draws >= 60000)
            assert_true(fit_lazily(&t, &s, law, draws, 6) < 1e-6);
        bounds_close(least);
        toy_close(&t);
    }
}

/* A bound that lies below the least exponent, or above the score it bounds. */
static void wrong_bounds_are_errors(void **state)
{
    (void)state;
    static const char *const scores[] = {"2", "3/2", "5/4", "1", "1/2", "1/4"};
    struct scripted bits;
    struct entropy *rng = scripted_seed(&bits, 7);
    struct toy t;
    struct asked a = {&t, 0};
    struct err err;
    mpq_t least[3];
    unsigned j;
    bounds_open(least, 0);
    toy_open(&t, scores, 6, "1", "1/10");
    struct elect_lazy s = {t.score, 3, least, tell_score, &a};
    assert_int_equal(elect_draw_lazily(a_hold(), &t.e, &s, rng, &j, &err),
                     E_INTERNAL);
    s.known = 6;
    assert_int_equal(elect_draw_lazily(a_hold(), &t.e, &s, rng, &j, &err),
                     E_INTERNAL);
    s.known = 3;
    bounds_close(least);
    bounds_open(least, 3);
    enum status st = OK;
    for (unsigned i = 0; i < 2000 && st == OK; i++)
        st = elect_draw_lazily(a_hold(), &t.e, &s, rng, &j, &err);
    assert_int_equal(st, E_INTERNAL);
    assert_false(elect_enough(&t.e, t.score, 0, 3, least));
    bounds_close(least);
    bounds_open(least, 30);
    assert_true(elect_enough(&t.e, t.score, 0, 3, least));
    mpq_set_ui(least[1], 1, 1);
    assert_false(elect_enough(&t.e, t.score, 0, 3, least));
    bounds_close(least);
    toy_close(&t);
}

static void guesses_flatten_the_prior(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    mpq_t x, zero[ELECT_GRID_MAX];
    mpq_init(x);
    q.guess = 13;
    plan("1", NULL, &q, &e);
    assert_int_equal(e.grid[e.flat], 12);
    for (unsigned j = 0; j < e.n; j++)
        mpq_init(zero[j]);
    for (unsigned j = 0; j < e.n; j++) {
        elect_exponent(&e, zero, j, x);
        same(x, j > e.flat ? 9 * (long)(j - e.flat) : 0, 10);
    }
    for (unsigned j = 0; j < e.n; j++)
        mpq_clear(zero[j]);
    mpq_clear(x);
    elect_fini(&e);
}

/* --- noise -----------------------------------------------------------------
 */

static void scale_is(const struct election *e, unsigned j, bool lost, long num,
                     unsigned long den)
{
    struct noise n;
    struct err err;
    noise_init(&n);
    assert_int_equal(lost ? elect_lost_noise(e, j, &n, &err)
                          : elect_noise(e, j, &n, &err),
                     OK);
    same(n.a, num, den);
    noise_fini(&n);
}

static void scales(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    q.lost = tenth();
    plan("1", NULL, &q, &e); /* T = 12 at 6 */
    assert_int_equal(e.grid[6], 12);
    scale_is(&e, 6, false, 12 * 40, 27);
    scale_is(&e, 6, true, 10, 1);
    elect_fini(&e);
    q.vector = q.change = true; /* l1 norm 2 T */
    plan("1", NULL, &q, &e);
    scale_is(&e, 6, false, 2 * 12 * 40, 27);
    elect_fini(&e);
    q.vector = false, q.owners = 2; /* T = 8 at 2 */
    plan("1", NULL, &q, &e);
    assert_int_equal(elect_lattice(&e), 1);
    scale_is(&e, 2, false, 8 * 50, 27);
    scale_is(&e, 2, true, 3 * 8 * 10, 1);
    elect_fini(&e);
    q.owners = 3, q.exact = q.change = false;
    plan("1", NULL, &q, &e);
    assert_int_equal(elect_lattice(&e), 64);
    scale_is(&e, 2, false, 65 * 8 * 50, 27);
    scale_is(&e, 2, true, 131 * 8 * 10, 1);
    elect_fini(&e);
}

/* Values are rounded to the lattice, never cut off: 2.5 counts as 3. */
static void answers_are_whole(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    struct scripted s;
    struct entropy *rng = scripted_seed(&s, 7);
    struct secret_scale v;
    struct err err;
    mpz_t out;
    double sum = 0;
    unsigned n = (unsigned)test_size(4000);
    mpz_init(out);
    secret_scale_init(&v);
    mpq_t half;
    mpq_init(half);
    mpq_set_str(half, "5000001/2", 10);
    secret_scale_set(&v, half);
    mpq_clear(half);
    q.owners = 3, q.exact = false;
    plan("100", NULL, &q, &e);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(elect_answer(a_hold(), &e, 0, &v, rng, out, &err), OK);
        sum += mpz_get_d(out) - 2500000.5;
    }
    assert_true(fabs(sum / n) < .6);
    mpz_clear(out);
    secret_scale_fini(&v);
    elect_fini(&e);
}

static void errors_are_shown(void **state)
{
    (void)state;
    struct election e;
    struct elect_question q = one_owner;
    struct noise_error x;
    struct err err;
    plan("1", NULL, &q, &e);
    assert_int_equal(elect_error(&e, 11, false, &x, &err), OK); /* T = 64 */
    assert_true(fabs(x.p95 - 64 * 4 / 3. * log(20)) < 1.5);
    elect_fini(&e);
    q.owners = 3, q.exact = false;
    plan("1", NULL, &q, &e);
    assert_int_equal(elect_error(&e, 5, false, &x, &err), OK); /* T = 64 */
    assert_true(fabs(x.p95 - (65 * 5 / 3. * log(20) + 1.5)) < 1.5);
    elect_fini(&e);
}

/* A source that repeats itself ends in an error, not in a loop. */
static void stuck_sources_end(void **state)
{
    (void)state;
    for (int byte = 0; byte < 2; byte++) {
        struct scripted s;
        unsigned char stuck[1] = {byte ? 0xff : 0};
        struct toy t;
        struct err err;
        unsigned j;
        toy_open(&t, toy1, 12, "1", "3/10");
        t.e.concentrated = true;
        struct entropy *rng = scripted_bytes(&s, stuck, 1, true);
        enum status st = elect_draw(a_hold(), &t.e, t.score, rng, &j, &err);
        assert_true(st == OK || st == E_ENTROPY);
        toy_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),
        cmocka_unit_test(grids_end_at_the_bound),
        cmocka_unit_test(prices),
        cmocka_unit_test(prices_of_changes),
        cmocka_unit_test(prices_in_rho),
        cmocka_unit_test(toys_to_twelve_digits),
        cmocka_unit_test(sampler_follows_its_law),
        cmocka_unit_test(unknown_scores_have_the_same_law),
        cmocka_unit_test(wrong_bounds_are_errors),
        cmocka_unit_test(guesses_flatten_the_prior),
        cmocka_unit_test(scales),
        cmocka_unit_test(answers_are_whole),
        cmocka_unit_test(errors_are_shown),
        cmocka_unit_test(stuck_sources_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
