/*
 * Every database of up to four entities and six results (weights up to three
 * with up to four results), one to three owners, every deletion of an entity:
 * the truncated value moves as it may, and the joint law of threshold and
 * answer changes by at most exp(epsilon), with values moved to whichever ends
 * of their intervals are worst. Mutants of the calibration are caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/elect_audit.h"

static void honest_elections_keep_epsilon(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct audit a;
        audit_open(&a, k, 7, HONEST);
        universe(&a, k, k == 1 ? 1 + thinning() / 8 : thinning());
        print_message("k %u: %u pairs, worst %.6f, scores %.4f to %.4f\n", k,
                      a.pairs, a.worst, a.least, a.most);
        assert_int_equal(a.broken, 0);
        assert_true(a.pairs > 20 && a.worst > .5);
        assert_true(a.most - a.least <= 1);
        audit_close(&a);
    }
}

/* One node of many results inserted next to many: loads of the others jump,
 * which the number of heavy entities does not survive. */
static struct base star(bool with)
{
    struct base b = {.k = 2};
    for (unsigned i = 0; i < 6; i++) {
        b.own[b.n] = (unsigned char)(1u << (1 + i));
        b.w[b.n++] = 2;
        b.own[b.n] = (unsigned char)(1u | 1u << (1 + i));
        b.w[b.n] = 1;
        b.n += with;
    }
    return b;
}

static void counting_heavy_ones_is_caught(void **state)
{
    (void)state;
    struct audit a;
    struct base d = star(true), less = star(false);
    audit_open(&a, 2, 7, COUNT_HEAVY);
    pair_of(&a, &d, &less);
    assert_true(a.broken > 0);
    audit_close(&a);
    audit_open(&a, 2, 7, HONEST);
    pair_of(&a, &d, &less);
    assert_int_equal(a.broken, 0);
    audit_close(&a);
}

/* u is 0. 1, 2 and 3 are full at t = 1 without it and give it 4 at t = 4; 3
 * gives it all at t = 32 and, full by 4 to 6 again, nothing more at 128. */
static struct base both_ways(bool with)
{
    struct base b = {.k = 2};
    static const struct {
        unsigned char own, w;
    } r[] = {{1 << 1, 1},
             {1 << 2, 1},
             {1 << 3, 2},
             {1 << 3 | 1 << 4, 200},
             {1 << 3 | 1 << 5, 200},
             {1 << 3 | 1 << 6, 200},
             {1 << 4, 40},
             {1 << 5, 40},
             {1 << 6, 40},
             {1 | 1 << 1, 2},
             {1 | 1 << 2, 2},
             {1 | 1 << 3, 200}};
    for (unsigned i = 0; i < (with ? 12u : 9u); i++)
        b.own[i] = r[i].own, b.w[i] = r[i].w, b.n = i + 1;
    return b;
}

static void small_divisors_are_caught(void **state)
{
    (void)state;
    for (int m = HONEST; m <= MONOTONE; m++) {
        if (m == COUNT_HEAVY)
            continue;
        struct audit a;
        struct base d = both_ways(true), less = both_ways(false);
        audit_open(&a, 2, 60, (enum mutant)m);
        weigh(&a, 99);
        pair_of(&a, &d, &less);
        print_message("mutant %d: worst %.4f, scores %.4f to %.4f\n", m,
                      a.worst, a.least, a.most);
        assert_true(m == HONEST ? a.broken == 0 : a.broken > 0);
        audit_close(&a);
    }
}

/* A cap that is not certain lets a score jump. */
static void bold_caps_are_caught(void **state)
{
    (void)state;
    for (int bold = 0; bold < 2; bold++) {
        struct audit a;
        struct base d = {.k = 2, .n = 7}, less;
        for (unsigned i = 0; i < 7; i++)
            d.own[i] = (unsigned char)(1u << i), d.w[i] = 4;
        less = without(&d, 0);
        audit_open(&a, 2, 7, bold ? BOLD : HONEST);
        mpq_set_ui(a.e.cap, 8, 1); /* scores 4.2 and 3.6 at T = 2 */
        pair_of(&a, &d, &less);
        assert_true(bold ? a.broken > 0 : a.broken == 0);
        audit_close(&a);
    }
}

static void small_noise_is_caught(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct audit a;
        audit_open(&a, k, 7, SMALL_NOISE);
        weigh(&a, 1);
        universe(&a, k, 8 * thinning());
        assert_true(a.broken > 0);
        audit_close(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_elections_keep_epsilon),
        cmocka_unit_test(counting_heavy_ones_is_caught),
        cmocka_unit_test(small_divisors_are_caught),
        cmocka_unit_test(bold_caps_are_caught),
        cmocka_unit_test(small_noise_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
