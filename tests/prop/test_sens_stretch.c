/*
 * Stretches against single steps: for queries of many shapes and random
 * vectors T of very different sizes, so that caps and relations take over
 * late, every local bound must be the same number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include "harness/rules.h"
#include "harness/universe.h"
#include "sens/polystep.h"

static const struct {
    const char *rule, *public, *constraint;
} cases[] = {
    {"Q(a,b) :- E(a,b).", NULL, NULL},
    {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c).", NULL, NULL},
    {"Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d).", NULL, NULL},
    {"Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a).", NULL, NULL},
    {"Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), E(b,c).", NULL, NULL},
    {"Q(a,b,c,d) :- E(a,b), E(c,d).", NULL, NULL},
    {"Q(x,y,z,w) :- R(x,y), R(y,z), S(z,w).", NULL, NULL},
    {"Q(x,y,z,w) :- R(x,y), S(y,z), T(z,w).", NULL, NULL},
    {"Q(x,y,z,w) :- R(x,y), R(y,z), S(z,w), S(w,x), P(x,w).", "P", NULL},
    {"Q(x,y,z,w) :- R(x,y), S(y,z), S(z,w), P(w).", "P", "R: a -> b <= 40"},
    {"Q(x,y,z) :- R(x,y), S(y,z), R(z,x).", NULL, "S: b -> a <= 700"},
    {"Q(x) :- R(x,y), S(y,z), S(z,x).", NULL, NULL},
};

struct tally {
    unsigned long ridden, stretches, ended;
};

static void start(struct sens_state *s, uint64_t *seed)
{
    static const unsigned long sizes[] = {2, 50, 3000, 1000000, 1000000000};
    for (size_t c = 1; c < s->p->n_coords; c++)
        mpz_set_ui(
            s->t[c],
            universe_random(seed, (unsigned)sizes[universe_random(seed, 5)]));
}

/*
 * Plans as no query has them, for both sides the same: lost terms, so that
 * products outgrow sums, and polynomials of too small a degree are looked for.
 */
static void bend(struct sens_plan *p, uint64_t *seed)
{
    for (size_t c = 1; c < p->n_coords; c++)
        if (universe_random(seed, 2) && p->coords[c].n_terms)
            p->coords[c].n_terms =
                (size_t)universe_random(seed, p->coords[c].n_terms + 1);
    if (universe_random(seed, 2))
        p->n_priv = 1 + (unsigned)universe_random(seed, p->n_priv);
}

/* The same vector again. */
static void copy(const struct sens_state *from, struct sens_state *to)
{
    for (size_t c = 0; c < from->p->n_coords; c++)
        mpz_set(to->t[c], from->t[c]);
}

/* eager: a try at every step, so that samples lie across every change. */
static void compare(struct sens_stretch *fast, struct sens_state *plain,
                    unsigned steps, bool eager, struct tally *n)
{
    mpz_t x, y;
    mpz_inits(x, y, (mpz_ptr)NULL);
    bool riding = false;
    for (unsigned k = 0; k < steps; k++) {
        sens_stretch_local(fast, x);
        sens_state_local(plain, y);
        if (mpz_cmp(x, y))
            fail_msg("step %u", k);
        if (eager)
            fast->next_try = 0;
        sens_stretch_step(fast);
        sens_state_step(plain);
        n->ridden += fast->end != 0;
        n->stretches += fast->end && !riding;
        n->ended += !fast->end && riding;
        riding = fast->end != 0;
    }
    mpz_clears(x, y, (mpz_ptr)NULL);
}

static void one(size_t i, uint64_t *seed, bool eager, struct tally *n)
{
    enum { STEPS = 2500, EAGER_STEPS = 250 };
    struct rules r;
    struct sens_plan *p;
    struct sens_state s, plain;
    struct sens_stretch fast;
    rules_init(&r);
    struct cq *q = rules_read(&r, cases[i].rule);
    if (cases[i].public)
        rules_public(&r, cases[i].public);
    assert_int_equal(sens_plan_new(&r.arena, q, false, &p, &r.err), OK);
    assert_int_equal(sens_state_new(&r.arena, p, &s, &r.err), OK);
    assert_int_equal(sens_state_new(&r.arena, p, &plain, &r.err), OK);
    /* constant caps of any size */
    for (size_t c = 1; cases[i].constraint && c < p->n_coords; c++)
        if (universe_random(seed, 2))
            p->coords[c].cap = universe_random(seed, 1000000);
    if (eager)
        bend(p, seed);
    start(&s, seed);
    copy(&s, &plain);
    assert_int_equal(sens_stretch_init(&fast, &r.arena, &s, &r.err), OK);
    compare(&fast, &plain, eager ? EAGER_STEPS : STEPS, eager, n);
    sens_stretch_fini(&fast);
    sens_state_fini(&s);
    sens_state_fini(&plain);
    assert_true(rules_fini(&r));
}

static void same_numbers(void **state)
{
    uint64_t seed = 41;
    struct tally n = {0};
    (void)state;
    for (int round = 0; round < 36; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            one(i, &seed, round % 3 != 0, &n);
    printf("%lu steps in %lu stretches, %lu of them ended\n", n.ridden,
           n.stretches, n.ended);
    assert_true(n.ridden > 200000);
    assert_true(n.ended > 20); /* where another cap takes over */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
