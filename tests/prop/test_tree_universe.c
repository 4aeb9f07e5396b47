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

/* At least twice: once could be luck of the generator. */
static unsigned caught(enum world_mutation m)
{
    static struct world w;
    unsigned bad = 0;
    for (uint64_t seed = 1; seed <= 1500 && bad < 2; seed++) {
        if (world_make(&w, seed) && world_is_broken_by(&w, m))
            bad += world_breaches(&w, m) > 0;
        world_free(&w);
    }
    return bad;
}

static void mutations(void **state)
{
    (void)state;
    for (int m = WORLD_SOUND + 1; m < N_WORLD_MUTATIONS; m++)
        if (caught((enum world_mutation)m) < 2)
            fail_msg("not caught: %s",
                     world_mutation_name((enum world_mutation)m));
}

/* Matches that share rows are fewer than the rows that must go. */
static void fragile(void **state)
{
    static const struct {
        const char *sql;
        bool is;
    } cases[] = {
        {"SELECT COUNT(*) FROM p t1 WHERE NOT EXISTS (SELECT 1 FROM s t2 WHERE "
         "t2.x = t1.x)",
         true},
        {"SELECT COUNT(*) FROM r t1 WHERE t1.x <> t1.y AND NOT EXISTS (SELECT "
         "1 FROM s t2, s t3 WHERE t2.x = t1.x AND t3.x = t1.y AND t2.y = t3.y)",
         true},
        {"SELECT COUNT(*) FROM r t1 WHERE NOT EXISTS (SELECT 1 FROM s t2, s t3 "
         "WHERE t2.x = t1.x AND t3.x = t1.y AND t2.y = t3.y)",
         false},
        {"SELECT COUNT(*) FROM p t1 WHERE NOT EXISTS (SELECT 1 FROM r t2, s t3 "
         "WHERE t2.x = t1.x AND t2.y = t3.x AND t3.y > 0)",
         false},
        {"SELECT COUNT(*) FROM p t1 WHERE NOT EXISTS (SELECT 1 FROM s t2 WHERE "
         "t2.x = t1.x AND NOT EXISTS (SELECT 1 FROM r t3 WHERE t3.x = t2.y))",
         false},
        {"SELECT COUNT(*) FROM p t1 WHERE (SELECT COUNT(*) FROM s t2 WHERE "
         "t2.x = t1.x) < 2",
         false},
        {"SELECT COUNT(*) FROM p t1 WHERE t1.y = 1 OR EXISTS (SELECT 1 FROM s "
         "t2 WHERE t2.x = t1.x)",
         false},
        {"SELECT COUNT(*) FROM (SELECT x FROM p WHERE NOT EXISTS (SELECT 1 "
         "FROM s WHERE s.x = p.x) GROUP BY x HAVING COUNT(*) = 2) u",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (world_has_fragile(cases[i].sql) != cases[i].is)
            fail_msg("%s", cases[i].sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound),
        cmocka_unit_test(mutations),
        cmocka_unit_test(fragile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
