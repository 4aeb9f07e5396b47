/*
 * Samplers on chosen byte streams: two implementations that must agree, the
 * same draw with and without refinement, and sources that are stuck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/iv_more.h"
#include "harness/fit.h"
#include "harness/law.h"
#include "harness/scripted.h"
#include "harness/size.h"
#include "noise/inverse.h"
#include "noise/sampler.h"

/* smooth-laplace with kappa 1 and beta = epsilon/m, by the MPFR sampler. */
static void rational_shape(struct noise *n, unsigned long m)
{
    noise_init(n);
    n->kind = NOISE_SMOOTH_LAPLACE;
    n->smooth = true;
    mpq_set_ui(n->epsilon, 7, 10);
    mpq_set_ui(n->a, 1, 1);
    mpq_set_ui(n->beta, 7, 10 * m);
    mpq_canonicalize(n->beta);
    assert_int_equal(noise_prepare(n, NULL), OK);
}

static void mpfr_and_rational_agree(void **state)
{
    (void)state;
    static const unsigned long ms[] = {3, 4, 6, 10, 16};
    static const char *const scales[] = {"1/3", "1", "1000", "123456789012345"};
    unsigned compared = 0;
    for (int i = 0; i < 5; i++) {
        struct noise n;
        rational_shape(&n, ms[i]);
        for (int j = 0; j < 4; j++) {
            mpq_t s, scale;
            mpz_t x, y;
            mpq_inits(s, scale, NULL);
            mpz_inits(x, y, NULL);
            assert_int_equal(rat_read(str_of(scales[j]), "s", s, NULL), OK);
            mpq_div(scale, s, n.epsilon);
            for (unsigned k = 0; k < test_size(300); k++, compared++) {
                struct scripted a, b;
                struct draw da, db;
                uint64_t seed = 1000 * k + 10 * (unsigned)i + (unsigned)j;
                draw_begin(&da, scripted_seed(&a, seed), NULL);
                draw_begin(&db, scripted_seed(&b, seed), NULL);
                assert_int_equal(sample_inverse(&da, &n, s, 128, 192, x), OK);
                assert_int_equal(
                    sample_rational_laplace(&db, ms[i], scale, 128, y), OK);
                assert_true(mpz_cmp(x, y) == 0);
            }
            mpq_clears(s, scale, NULL);
            mpz_clears(x, y, NULL);
        }
        noise_fini(&n);
    }
    assert_int_equal(compared, 20 * test_size(300));
}

/*
 * The rational sampler's answer k against the inequalities that define it:
 * V D (m+u)^m around k, in integers, with V as the first bytes say. Only the
 * tail is checked this way.
 */
static void rational_answers_satisfy_their_inequality(void **state)
{
    (void)state;
    enum { M = 5, BITS = 128 };
    mpz_t k, v, d, t, left, right;
    mpq_t scale;
    mpz_inits(k, v, d, t, left, right, NULL);
    mpq_init(scale);
    mpq_set_ui(scale, 1000, 1);
    unsigned tails = 0;
    for (unsigned seed = 0; seed < test_size(3000); seed++) {
        struct scripted a, b;
        struct draw da, db;
        draw_begin(&da, scripted_seed(&a, seed), NULL);
        draw_begin(&db, scripted_seed(&b, seed), NULL);
        assert_int_equal(sample_rational_laplace(&da, M, scale, BITS, k), OK);
        assert_int_equal(draw_bits(&db, BITS, v), OK);
        mpz_abs(k, k);
        if (mpz_cmp_ui(k, 1002) < 0)
            continue;
        tails++;
        /* u in ((k - 1/2), (k + 1/2)) / 1000, Q(u) = 4^4 6^6 / ((5+u)^5 D) */
        mpz_set_ui(d, 5 * 5 * 5 * 5 * 5 + 2 * 4 * 4 * 4 * 4);
        for (int side = -1; side <= 1; side += 2) {
            mpz_mul_ui(t, k, 2);
            if (side > 0)
                mpz_add_ui(t, t, 1);
            else
                mpz_sub_ui(t, t, 1);
            mpz_add_ui(t, t, 10000); /* 2000 (5 + u) */
            mpz_pow_ui(t, t, M);
            mpz_mul(left, v, d);
            mpz_mul(left, left, t); /* V D (5+u)^5 2^128 2000^5 */
            mpz_ui_pow_ui(right, 2000, M);
            mpz_mul_ui(right, right, 4 * 4 * 4 * 4);
            mpz_mul_ui(right, right, 6 * 6 * 6 * 6 * 6 * 6);
            mpz_mul_2exp(right, right, BITS);
            /* V > Q at the upper edge, V < Q at the lower one */
            assert_true(side > 0 ? mpz_cmp(left, right) > 0
                                 : mpz_cmp(left, right) < 0);
        }
    }
    assert_true(tails > test_size(3000) / 10);
    mpz_clears(k, v, d, t, left, right, NULL);
    mpq_clear(scale);
}

static void refinement_changes_nothing(void **state)
{
    (void)state;
    static const enum noise_kind kinds[] = {NOISE_SMOOTH_LAPLACE,
                                            NOISE_STAIRCASE};
    mpz_t x, y;
    mpq_t s;
    mpz_inits(x, y, NULL);
    mpq_init(s);
    mpq_set_ui(s, 98765, 7);
    for (int i = 0; i < 2; i++) {
        struct noise n;
        fit_noise(&n, kinds[i], "5", "0.5");
        for (unsigned k = 0; k < test_size(150); k++) {
            struct scripted a, b;
            struct draw da, db;
            draw_begin(&da, scripted_seed(&a, k), NULL);
            draw_begin(&db, scripted_seed(&b, k), NULL);
            assert_int_equal(sample_inverse(&da, &n, s, 128, 192, x), OK);
            assert_int_equal(sample_inverse(&db, &n, s, 8, 64, y), OK);
            /* the sign is a later byte of the stream, and differs */
            assert_true(mpz_cmpabs(x, y) == 0);
        }
        noise_fini(&n);
    }
    mpz_clears(x, y, NULL);
    mpq_clear(s);
}

/*
 * The draw against the forward law, deep in the tail where no histogram
 * reaches: V starts with up to 14 zero bytes, and the answer k must satisfy
 * Q((k + 1/2)/S) <= V <= Q((k - 1/2)/S).
 */
static void check_inverse(const struct noise *n, unsigned zeros, unsigned seed)
{
    enum { BYTES = 32, PREC = 512 };
    unsigned char bytes[BYTES + 1] = {0};
    struct scripted script, random;
    struct draw d;
    struct law l;
    struct iv q, v;
    mpq_t s, w;
    mpz_t k, u;
    mpq_inits(s, w, NULL);
    mpz_inits(k, u, NULL);
    iv_init(&q, PREC);
    iv_init(&v, PREC);
    law_open(&l, n, PREC);
    mpz_ui_pow_ui(mpq_numref(s), 10, 20);
    assert_int_equal(entropy_bytes(scripted_seed(&random, seed), bytes + zeros,
                                   BYTES - zeros, NULL),
                     OK);
    draw_begin(&d, scripted_bytes(&script, bytes, sizeof bytes, false), NULL);
    assert_int_equal(sample_inverse(&d, n, s, 8 * BYTES, 8 * BYTES + 64, k),
                     OK);
    mpz_import(u, BYTES, 1, 1, 0, 0, bytes);
    iv_set_z_2exp(&v, u, u, 8 * BYTES);
    mpz_abs(k, k);
    for (int side = -1; side <= 1; side += 2) {
        mpz_mul_ui(mpq_numref(w), k, 2);
        mpz_set_ui(mpq_denref(w), 2);
        mpz_add_ui(mpq_numref(w), mpq_numref(w), 1);
        mpz_sub_ui(mpq_numref(w), mpq_numref(w), side < 0 ? 2 : 0);
        mpq_canonicalize(w);
        mpq_div(w, w, s);
        law_survival(&l, w, &q);
        assert_true(side > 0 ? iv_less(&q, &v) : iv_less(&v, &q));
    }
    law_close(&l);
    iv_fini(&q);
    iv_fini(&v);
    mpq_clears(s, w, NULL);
    mpz_clears(k, u, NULL);
}

static void draws_invert_the_law(void **state)
{
    (void)state;
    static const struct {
        enum noise_kind kind;
        const char *epsilon, *beta;
    } cases[] = {{NOISE_SMOOTH_LAPLACE, "0.1", "0.01"},
                 {NOISE_SMOOTH_LAPLACE, "1", "0.45"},
                 {NOISE_SMOOTH_LAPLACE, "9", "3"},
                 {NOISE_STAIRCASE, "5", "0.5"},
                 {NOISE_STAIRCASE, "1", "0.3"}};
    for (int c = 0; c < 5; c++) {
        struct noise n;
        fit_noise(&n, cases[c].kind, cases[c].epsilon, cases[c].beta);
        for (unsigned zeros = 0; zeros <= 14; zeros += zeros < 2 ? 1 : 4)
            for (unsigned seed = 0; seed < 6; seed++)
                check_inverse(&n, zeros, 50 * zeros + seed);
        noise_fini(&n);
    }
}

static void all_kinds(struct noise n[7])
{
    struct guarantee g;
    mpz_t one;
    mpz_init_set_ui(one, 1000);
    guarantee_init(&g);
    fit_noise(&n[0], NOISE_SMOOTH_LAPLACE, "1", "0.1");
    fit_noise(&n[1], NOISE_GENERALIZED_CAUCHY, "1", "0.1");
    fit_noise(&n[2], NOISE_ARSINH_NORMAL, "1", "0.1");
    fit_noise(&n[3], NOISE_STAIRCASE, "5", "0.5");
    noise_init(&n[4]);
    noise_init(&n[5]);
    noise_init(&n[6]);
    mpq_set_ui(g.epsilon, 1, 1);
    assert_int_equal(noise_calibrate_global(&g, NOISE_DISCRETE_LAPLACE, one,
                                            NULL, &n[4], NULL),
                     OK);
    mpq_set_ui(g.rho, 1, 100);
    mpq_canonicalize(g.rho);
    assert_int_equal(noise_calibrate_smooth_groups(&g, 1, g.rho, &n[6], NULL),
                     OK);
    g.kind = PRIVACY_ZCDP;
    assert_int_equal(noise_calibrate_global(&g, NOISE_DISCRETE_GAUSSIAN, NULL,
                                            one, &n[5], NULL),
                     OK);
    guarantee_fini(&g);
    mpz_clear(one);
}

/* Every draw from a source that repeats itself ends, with a number or with
 * E_ENTROPY, and no other way. */
static void stuck_sources_end(void **state)
{
    (void)state;
    static const unsigned char patterns[][4] = {{0, 0, 0, 0},
                                                {255, 255, 255, 255},
                                                {0x55, 0x55, 0x55, 0x55},
                                                {0xaa, 0xaa, 0xaa, 0xaa},
                                                {0, 255, 0, 255},
                                                {1, 0, 0, 0},
                                                {255, 0, 0, 0},
                                                {128, 0, 127, 255}};
    struct noise n[7];
    mpz_t x;
    mpq_t s;
    unsigned failed = 0;
    bool all = test_size(2) == 2; /* under valgrind two patterns do */
    mpz_init(x);
    mpq_init(s);
    mpq_set_ui(s, 1000, 1);
    all_kinds(n);
    for (int i = 0; i < 7; i++) {
        for (size_t p = 0; p < (all ? sizeof patterns / 4 : 2); p++) {
            for (size_t len = 1; len <= 4; len += 3) {
                struct scripted script;
                struct err err;
                enum status st = noise_draw(
                    &n[i], n[i].smooth ? s : NULL,
                    scripted_bytes(&script, patterns[p], len, true), x, &err);
                if (st != OK)
                    assert_int_equal(st, E_ENTROPY);
                assert_true(script.taken <= DRAW_BYTES);
                failed += st != OK;
            }
        }
    }
    assert_true(failed >= (all ? 7 : 1));
    for (int i = 0; i < 7; i++)
        noise_fini(&n[i]);
    mpz_clear(x);
    mpq_clear(s);
}

/* A source that fails after any number of bytes gives E_ENTROPY. */
static void failing_sources_are_reported(void **state)
{
    (void)state;
    struct noise n[7];
    unsigned char bytes[400];
    mpz_t x;
    mpq_t s;
    mpz_init(x);
    mpq_init(s);
    mpq_set_ui(s, 1000, 1);
    all_kinds(n);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 151 + i / 7 * 13 + 89);
    for (int i = 0; i < 7; i++) {
        unsigned ok = 0;
        for (size_t len = 1; len < sizeof bytes; len++) {
            struct scripted script;
            enum status st =
                noise_draw(&n[i], n[i].smooth ? s : NULL,
                           scripted_bytes(&script, bytes, len, false), x, NULL);
            assert_true(st == OK || (st == E_ENTROPY && ok == 0));
            ok += st == OK;
        }
        assert_true(ok > 0);
    }
    for (int i = 0; i < 7; i++)
        noise_fini(&n[i]);
    mpz_clear(x);
    mpq_clear(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mpfr_and_rational_agree),
        cmocka_unit_test(rational_answers_satisfy_their_inequality),
        cmocka_unit_test(refinement_changes_nothing),
        cmocka_unit_test(draws_invert_the_law),
        cmocka_unit_test(stuck_sources_end),
        cmocka_unit_test(failing_sources_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
