/*
 * The backtracking join on several threads: counts, maxima and whether there is
 * anything, of cycles through atoms of three variables, which no other engine
 * takes, large enough to be shared out. Against one thread.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 12000, IDS = 160 };

static int64_t cell[3][ROWS];

/* Few ids, so that walks are long; the first column as skewed as can be. */
static void make_rows(struct jc_rng *r, bool cyclic)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        cell[0][i] = jc_below(r, 1 + jc_below(r, IDS));
        cell[1][i] = cyclic ? jc_below(r, IDS) : IDS + jc_below(r, IDS);
        cell[2][i] = jc_below(r, 3);
    }
}

static const char rule[] =
    "Q(a,b,c,x,y,z) :- R(a,b,x), R(b,c,y), R(c,a,z), x <= y.";

static u128 ask(unsigned threads, vset boundary, vset outs, uint64_t *walked)
{
    const int64_t *cols[3] = {cell[0], cell[1], cell[2]};
    struct world w;
    u128 value = 77;
    world_read(&w, rule);
    world_lend(&w, 0, ROWS, cols, NULL);
    world_join(&w, threads, false);
    assert_int_equal(join_max(w.j, 7, boundary, outs, &value, &w.err), OK);
    *walked += w.j->n_walked;
    world_close(&w);
    return value;
}

static void test_equal(void **state)
{
    (void)state;
    static const struct {
        vset boundary, outs;
    } asked[] = {{0, 63}, {1, 63}, {2, 63}, {3, 7}, {0, 7}, {0, 0}, {63, 63}};
    uint64_t walked = 0;
    for (unsigned k = 0; k < 4; k++) {
        struct jc_rng r = {k + 1};
        make_rows(&r, k < 3);
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            u128 one = ask(1, asked[i].boundary, asked[i].outs, &walked);
            for (unsigned n = 2; n < 4; n++)
                assert_true(ask(n, asked[i].boundary, asked[i].outs, &walked) ==
                            one);
            assert_true(k < 3 ? one > 0 : one == 0);
        }
    }
    assert_true(walked > 30);
}

/* Cancelled while threads work: the status is that, and nothing is left. */
static void test_stopped(void **state)
{
    (void)state;
    const int64_t *cols[3] = {cell[0], cell[1], cell[2]};
    struct jc_rng r = {3};
    struct world w;
    u128 value = 0;
    make_rows(&r, true);
    world_read(&w, rule);
    world_lend(&w, 0, ROWS, cols, NULL);
    world_join(&w, 2, false);
    assert_int_equal(join_encode(w.j, &w.err), OK);
    w.polls = 1;
    assert_int_equal(join_max(w.j, 7, 0, 63, &value, &w.err), E_CANCELLED);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
