/*
 * Sums by brute force: on every instance of small universes the sequence is at
 * least the local sensitivity at distance 0, 1, 2 by definition, never above
 * the next value of a neighbour, and the static bound holds; for rows inserted
 * or deleted and for rows exchanged. Every mutation must be caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "harness/sum_world.h"

static unsigned rounds(unsigned n)
{
    const char *more = getenv("DPC_ROUNDS");
    return more ? (unsigned)atoi(more) : n;
}

static void sound(void **state)
{
    static struct sum_world w;
    unsigned checked = 0, n = rounds(100);
    (void)state;
    for (uint64_t seed = 1; seed <= n; seed++) {
        if (sum_world_make(&w, seed)) {
            unsigned bad = sum_world_breaches(&w, SUM_SOUND);
            if (bad)
                fail_msg("seed %llu: %u breaches\n%.*s",
                         (unsigned long long)seed, bad, PSTR(w.sql));
            checked++;
        }
        sum_world_free(&w);
    }
    print_message("%u of %u sums checked\n", checked, n);
    assert_true(2 * checked > n);
}

static unsigned caught(enum sum_mutation m)
{
    static struct sum_world w;
    unsigned bad = 0;
    for (uint64_t seed = 1; seed <= 400 && bad < 2; seed++) {
        if (sum_world_make(&w, seed))
            bad += sum_world_breaches(&w, m) > 0;
        sum_world_free(&w);
    }
    return bad;
}

static void mutations(void **state)
{
    (void)state;
    for (int m = SUM_SOUND + 1; m < N_SUM_MUTATIONS; m++)
        if (caught((enum sum_mutation)m) < 2)
            fail_msg("mutation %d is not caught", m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
