/*
 * Trees by brute force: on every instance of small universes (NULLs, bags,
 * keys, public tables) the sequence is at least the local sensitivity at
 * distance 0, 1, 2 by definition, never above the next value of a neighbour,
 * and the static bound holds; for rows inserted or deleted and for rows
 * exchanged. Answers are SQLite's. Every mutation must be caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "harness/tree_world.h"

static unsigned rounds(unsigned n)
{
    const char *more = getenv("DPC_ROUNDS");
    return more ? (unsigned)atoi(more) : n;
}

static void sound(void **state)
{
    static struct world w;
    unsigned checked = 0, n = rounds(100);
    (void)state;
    for (uint64_t seed = 1; seed <= n; seed++) {
        if (world_make(&w, seed)) {
            unsigned bad = world_breaches(&w, WORLD_SOUND);
            if (bad)
                fail_msg("seed %llu: %u breaches\n%.*s",
                         (unsigned long long)seed, bad, PSTR(w.sql));
            checked++;
        }
        world_free(&w);
    }
    print_message("%u of %u queries checked\n", checked, n);
    assert_true(2 * checked > n);
}

static unsigned caught(enum world_mutation m)
{
    static struct world w;
    unsigned bad = 0;
    for (uint64_t seed = 1; seed <= 1200 && !bad; seed++) {
        if (world_make(&w, seed))
            bad += world_breaches(&w, m) > 0;
        world_free(&w);
    }
    return bad;
}

static void mutations(void **state)
{
    (void)state;
    for (int m = WORLD_SOUND + 1; m < N_WORLD_MUTATIONS; m++)
        if (!caught((enum world_mutation)m))
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
