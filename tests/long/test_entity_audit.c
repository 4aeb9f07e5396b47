/*
 * Audit by sampling: an entity more or less, many elections with their answers
 * on each side, and the question whether some event is so much likelier on one
 * of them that epsilon cannot be true. The event is the worst one: a threshold
 * that the entity makes less likely, and an answer below its share. Noise of
 * 0.8 and scores times 2 must be rejected by the same test.
 *
 * Decision: with z = 4 for the log ratio, the truth is rejected with
 * probability below 1e-4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <cmocka.h>

#include "entity/score.h"
#include "harness/scripted.h"
#include "harness/plain.h"
#include "harness/size.h"
#include "noise/elect.h"

enum { OTHERS = 15, MOST = OTHERS + 1 };
enum sabotage { NONE, SMALL_NOISE, LOUD_SCORES };

static void plan(enum sabotage how, struct election *e)
{
    struct guarantee g;
    struct err err;
    struct elect_question q = {
        .owners = 1, .exact = true, .bound = 2, .order = 1};
    guarantee_init(&g);
    mpq_set_ui(g.epsilon, 1, 1);
    elect_init(e);
    assert_int_equal(elect_plan(&g, &q, e, &err), OK);
    guarantee_fini(&g);
    if (how == SMALL_NOISE) { /* 3/4 becomes 15/16 */
        mpq_set_ui(e->answer.epsilon, 15, 16);
    }
}

/* How often T = 1 with an answer of at most OTHERS, of n releases over
 * `entities` entities with two results each. */
static double sample(unsigned entities, enum sabotage how, long n,
                     uint64_t seed)
{
    uint32_t ids[2 * MOST];
    struct mem m;
    struct err err;
    struct pack *p;
    struct election e;
    struct pack_interval at;
    struct secret_scale v[2];
    struct scripted s;
    struct entropy *rng = scripted_seed(&s, seed);
    mpq_t score[2];
    mpz_t out;
    long found = 0;
    for (unsigned i = 0; i < 2 * entities; i++)
        ids[i] = i / 2;
    struct pack_input in = {
        .k = 1, .entities = MOST, .n = 2 * entities, .ids = ids};
    plan(how, &e);
    mem_init(&m, 0);
    mpz_init(out);
    mpq_inits(score[0], score[1], NULL);
    assert_int_equal(pack_open(&m, &in, NULL, &p, &err), OK);
    struct score_grid g = {e.n, e.grid, NULL, NULL};
    assert_int_equal(e.n, 2);
    assert_int_equal(entity_scores(p, 1, &g, score, &err), OK);
    for (unsigned j = 0; j < 2; j++) {
        secret_scale_init(&v[j]);
        assert_int_equal(pack_value(p, e.grid[j], &at, &err), OK);
        mpq_t middle;
        mpq_init(middle);
        pack_middle(&at, middle);
        secret_scale_set(&v[j], middle);
        mpq_clear(middle);
        if (how == LOUD_SCORES)
            mpq_mul_2exp(score[j], score[j], 1);
    }
    if (how == LOUD_SCORES) /* so that T = 1 stays as likely */
        mpq_set_ui(e.lambda, 9 + 10 * OTHERS / 4, 10);
    for (long i = 0; i < n; i++) {
        unsigned j;
        assert_int_equal(elect_draw(a_hold(), &e, score, rng, &j, &err), OK);
        assert_int_equal(elect_answer(a_hold(), &e, j, &v[j], rng, out, &err),
                         OK);
        found += j == 0 && mpz_cmp_ui(out, OTHERS) <= 0;
    }
    for (unsigned j = 0; j < 2; j++) {
        secret_scale_fini(&v[j]);
        mpq_clear(score[j]);
    }
    mpz_clear(out);
    elect_fini(&e);
    pack_close(p);
    return (double)found;
}

/* The log ratio less z of its standard error: above epsilon it is refuted. */
static double certain_loss(enum sabotage how, long n)
{
    double less = sample(OTHERS, how, n, 11), more = sample(MOST, how, n, 12);
    double loss = log(less / more), error = sqrt(1 / less + 1 / more);
    print_message("sabotage %d: %.0f and %.0f of %ld, loss %.4f +- %.4f\n",
                  (int)how, less, more, n, loss, error);
    return loss - 4 * error;
}

static void honest_releases_pass(void **state)
{
    (void)state;
    assert_true(certain_loss(NONE, (long)test_size(400000)) < 1);
}

static void sabotage_is_rejected(void **state)
{
    (void)state;
    long n = (long)test_size(400000);
    if (n < 400000)
        skip();
    assert_true(certain_loss(SMALL_NOISE, n) > 1);
    assert_true(certain_loss(LOUD_SCORES, n) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_releases_pass),
        cmocka_unit_test(sabotage_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
