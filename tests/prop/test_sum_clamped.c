/*
 * Sums in a build where numbers end at COUNT_MOST = 3 (sens/PROOF.md, 2a): both
 * sides saturate, their difference is clamped to [-C, C] with C = floor(3 / 2)
 * where a total may be negative, S at 3. U and S hold on every instance of
 * small universes; without halving they do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/sum_world.h"

#ifndef DPC_TINY
#error "this test needs the tiny constants"
#endif

static unsigned breaches(uint64_t seed, bool halved)
{
    static struct sum_world w;
    unsigned bad = 0;
    if (sum_world_make(&w, seed)) {
        sum_world_clamp(&w, (uint64_t)COUNT_MOST, halved);
        bad = sum_world_breaches(&w, SUM_SOUND);
        if (bad && halved)
            print_message("%.*s\n", PSTR(w.sql));
    }
    sum_world_free(&w);
    return bad;
}

static void sound(void **state)
{
    (void)state;
    assert_int_equal((int)COUNT_MOST, 3);
    assert_int_equal((int)count_limit(1, true), 1);
    for (uint64_t seed = 1; seed <= 80; seed++)
        assert_int_equal(breaches(seed, true), 0);
}

/* Exchanging a row leads from -4 to 4: clamped at 3 each they are 6 apart. */
static void opposite(void **state)
{
    static struct sum_world w;
    (void)state;
    for (int halved = 0; halved < 2; halved++) {
        assert_true(sum_world_opposite(&w));
        sum_world_clamp(&w, (uint64_t)COUNT_MOST, halved);
        unsigned bad = sum_world_breaches(&w, SUM_SOUND);
        assert_true(halved ? bad == 0 : bad > 0);
        sum_world_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound),
        cmocka_unit_test(opposite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
