/*
 * Mutants must die: what is not lost yet counts for too little if the rows that
 * come in between are forgotten. The mutated functions are compiled into this
 * program and take the place of the library's.
 */
#include "sens/capped.h"

static void no_increment(struct sens_state *s, uint32_t coord, mpz_t out)
{
    (void)s;
    (void)coord;
    mpz_set_ui(out, 0);
}

#define sens_state_increment no_increment
#include "sens/sens_parts.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/tree_world.h"

static void dies(void **state)
{
    static struct world w;
    unsigned bad = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 1200 && !bad; seed++) {
        bool fragile = false;
        if (world_make(&w, seed))
            for (size_t i = 0; i < w.bound.n_parts; i++)
                fragile |= w.bound.parts[i].fragile;
        if (fragile)
            bad += world_breaches(&w, WORLD_SOUND) > 0;
        world_free(&w);
    }
    assert_true(bad > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
