/*
 * What else the price of an election buys, audited as in
 * test_entity_universe.c: the estimate of what was cut, entities that are
 * changed, two at once. Plans that charge too little for them are caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/elect_audit.h"

#ifndef UNIVERSE_STRIDE
#define UNIVERSE_STRIDE 11
#endif

/* Each kind of neighbour, with a tenth for the estimate. */
static void every_price_is_kept(void **state)
{
    (void)state;
    mpq_t tenth;
    mpq_init(tenth);
    mpq_set_ui(tenth, 1, 10);
    for (unsigned k = 1; k <= 3; k++)
        for (unsigned kind = 0; kind < 3; kind++) {
            struct audit a;
            struct elect_question q = question_of(k, 7);
            q.lost = tenth;
            q.change = kind == 1;
            q.order = kind == 2 ? 2 : 1;
            audit_plan(&a, &q, HONEST);
            universe(&a, k, k == 1 ? 1 : 9 * thinning());
            print_message("k %u, kind %u: %u pairs, worst %.6f\n", k, kind,
                          a.pairs, a.worst);
            assert_int_equal(a.broken, 0);
            assert_true(a.pairs > 5 && a.worst > .3);
            audit_close(&a);
        }
    mpq_clear(tenth);
}

/* Two are full at T and have room for u's results at 2T. */
static struct base room_at_twice(bool with)
{
    struct base b = {.k = 2, .n = with ? 4 : 2};
    static const unsigned char own[] = {1 << 1, 1 << 2, 1 | 1 << 1, 1 | 1 << 2};
    for (unsigned i = 0; i < b.n; i++)
        b.own[i] = own[i], b.w[i] = 4;
    return b;
}

static void small_estimates_are_caught(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct audit a;
        struct base d = room_at_twice(true), less = room_at_twice(false);
        struct elect_question q = question_of(2, 60);
        mpq_t most;
        mpq_init(most);
        mpq_set_ui(most, 98, 100);
        q.lost = most;
        audit_plan(&a, &q, m ? SMALL_LOST : HONEST);
        pair_of(&a, &d, &less);
        print_message("estimate %d: worst %.4f\n", m, a.worst);
        assert_true(m ? a.broken > 0 : a.broken == 0 && a.worst > .97);
        audit_close(&a);
        mpq_clear(most);
    }
}

/* 2 and 3 are full at 2 and have room for u's results at 8, 4 and 5 at 8 and 32
 * for x's: one score rises while the other one falls. */
static struct base exchanged(bool u)
{
    struct base b = {.k = 2, .n = 6};
    static const unsigned char own[] = {1 << 2, 1 << 3, 1 << 4, 1 << 5};
    static const unsigned char w[] = {2, 2, 8, 8};
    for (unsigned i = 0; i < 4; i++)
        b.own[i] = own[i], b.w[i] = w[i];
    for (unsigned i = 0; i < 2; i++) {
        b.own[4 + i] = (unsigned char)(u ? 1 | own[i] : 2 | own[2 + i]);
        b.w[4 + i] = u ? 8 : 32;
    }
    return b;
}

/* A change of an entity moves scores in a range of more than 1: the weight e1
 * has to be paid twice. */
static void unpaid_changes_are_caught(void **state)
{
    (void)state;
    enum { WEIGHT = 20 };
    struct audit a;
    struct values v, w;
    struct base one = exchanged(true), other = exchanged(false);
    audit_open(&a, 2, 60, HONEST);
    mpq_set_ui(a.e.e1, WEIGHT, 1);
    mpq_set_ui(a.e.answer.epsilon, 1, 1000);
    values_init(&v);
    values_init(&w);
    evaluate(&one, &v);
    evaluate(&other, &w);
    audit_pair(&a, &v, &w);
    print_message("change: worst %.4f\n", a.worst / WEIGHT);
    assert_true(a.worst > 1.05 * WEIGHT && a.worst < 2 * WEIGHT);
    values_fini(&v);
    values_fini(&w);
    audit_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_price_is_kept),
        cmocka_unit_test(small_estimates_are_caught),
        cmocka_unit_test(unpaid_changes_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
