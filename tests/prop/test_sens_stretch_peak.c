/*
 * The number that calibrates noise, max over k of e^{-beta k} L(k), by the
 * sequence of capped.c with its stretches and by single steps written out here:
 * the same maximum to the last bit, at the same k, after as many k, and the
 * same sum of all values on the way. Random T from 0 to 2^127, orders up to 5,
 * betas down to where thousands of steps are taken, caps that begin to bite
 * late, with and without a global bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include "harness/rules.h"
#include "harness/universe.h"
#include "num/rat.h"
#include "sens/capped.h"

#ifndef STRETCH_ROUNDS
#define STRETCH_ROUNDS 30
#endif

static const struct {
    const char *rule, *public;
} cases[] = {
    {"Q(a,b) :- E(a,b).", NULL},
    {"Q(a,b,c) :- E(a,b), E(b,c), E(a,c).", NULL},
    {"Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a).", NULL},
    {"Q(a,b,c,d) :- E(a,b), E(c,d), E(a,c).", NULL},
    {"Q(a,b,c,d) :- E(a,b), F(c,d).", NULL},
    {"Q(x,y,z,w) :- R(x,y), S(y,z), T(z,w).", NULL},
    {"Q(x,y,z,w) :- R(x,y), R(y,z), S(z,w), S(w,x), P(x,w).", "P"},
    {"Q(x) :- R(x,y), S(y,z), S(z,x).", NULL},
    {"Q(x,u) :- R(x,y), S(y,z), T(z,u), R(u,v).", NULL},
    {"Q(x,y,z,u,v) :- R(x,y), S(y,z), T(z,u), R(u,v), S(v,x).", NULL},
};

struct job {
    struct rules r;
    struct sens_plan *plan;
    struct sens_state fast, plain;
    struct sens_paper paper;
    struct sens_capped capped;
    uint32_t order;
    u128 global;
    mpq_t beta;
    mpz_t part, sum, fast_all, plain_all; /* all: of (k + 1) L(k) */
    bool rode;
};

struct tally {
    unsigned rode, late, steps;
};

static uint64_t pick(uint64_t *seed, uint64_t below)
{
    return universe_random(seed, below);
}

static void some_number(bool close, uint64_t *seed, mpz_t out)
{
    static const unsigned bits[] = {1, 4, 10, 20, 40, 63, 64, 126};
    mpz_set_ui(out, (unsigned long)pick(seed, pick(seed, 2) ? 6 : 900));
    if (close || pick(seed, 3) == 0)
        return;
    mpz_set_ui(out, 1);
    mpz_mul_2exp(out, out, bits[pick(seed, 8)]);
    mpz_add_ui(out, out, (unsigned long)pick(seed, 3));
    mpz_sub_ui(out, out, 1);
}

static void same_start(struct job *w)
{
    for (size_t c = 0; c < w->plan->n_coords; c++)
        mpz_set(w->plain.t[c], w->fast.t[c]);
}

/* A cap that is reached after some steps, or missed by one. */
static void cap_late(struct job *w, uint64_t *seed)
{
    size_t c = 1 + (size_t)pick(seed, w->plan->n_coords - 1);
    struct sens_coord *x = &w->plan->coords[c];
    for (uint64_t k = pick(seed, 400); k; k--)
        sens_state_step(&w->plain);
    mpz_add_ui(w->part, w->plain.t[c], (unsigned long)pick(seed, 2));
    u128 cap;
    if (mpz_get_u128(w->part, &cap) && cap < x->cap)
        x->cap = cap;
    same_start(w);
}

static void make_vector(struct job *w, uint64_t *seed)
{
    bool close = pick(seed, 2);
    for (size_t c = 1; c < w->plan->n_coords; c++)
        some_number(close, seed, w->fast.t[c]);
    if (pick(seed, 2))
        sens_state_step(&w->fast); /* now below its products */
    same_start(w);
    for (uint64_t n = w->plan->n_coords > 1 ? pick(seed, 4) : 0; n; n--)
        cap_late(w, seed);
}

/* So that the scan takes some hundred to some thousand steps. */
static void make_beta(struct job *w, uint64_t *seed)
{
    static const unsigned long steps[] = {40, 300, 1000, 2500};
    w->order = 1 + (uint32_t)pick(seed, 5);
    mpq_set_ui(w->beta, w->plan->n_priv * w->order, steps[pick(seed, 4)]);
    mpq_canonicalize(w->beta);
    w->global = U128_INF;
    if (pick(seed, 3))
        return;
    some_number(false, seed, w->part);
    mpz_mul_ui(w->part, w->part, 1 + (unsigned long)pick(seed, 1000));
    if (!mpz_get_u128(w->part, &w->global))
        w->global = U128_INF;
}

static void plain_value(void *ctx, uint64_t k, mpz_t out)
{
    struct job *w = ctx;
    bool known = true;
    mpz_set_ui(out, 0);
    mpz_set_ui(w->sum, 0);
    for (uint32_t t = 0; t < w->order; t++) {
        if (k || t)
            sens_state_step(&w->plain);
        sens_state_local(&w->plain, w->part);
        mpz_add(out, out, w->part);
        known = known && sens_paper_at(&w->paper, k * w->order + t, w->part);
        mpz_add(w->sum, w->sum, w->part);
    }
    if (w->plan->n_tables > 1 && known && mpz_cmp(w->sum, out) < 0)
        mpz_set(out, w->sum);
    mpz_set_u128(w->part, w->global);
    if (w->global != U128_INF && mpz_cmp(w->part, out) < 0)
        mpz_set(out, w->part);
    mpz_addmul_ui(w->plain_all, out, k + 1);
}

static void fast_value(void *ctx, uint64_t k, mpz_t out)
{
    struct job *w = ctx;
    w->capped.seq.value(&w->capped, k, out);
    mpz_addmul_ui(w->fast_all, out, k + 1);
    w->rode = w->rode || w->capped.steps.end;
}

static void bound(void *ctx, uint64_t k, mpz_t out)
{
    struct job *w = ctx;
    w->capped.seq.bound(&w->capped, k, out);
}

static void compare(struct job *w, struct tally *n)
{
    struct sens_sequence seq = w->capped.seq;
    struct sens_peak fast, plain;
    seq.ctx = w;
    seq.bound = bound;
    seq.value = fast_value;
    assert_int_equal(sens_scan(&w->r.arena, w->beta, &seq, &fast, &w->r.err),
                     OK);
    seq.value = plain_value;
    assert_int_equal(sens_scan(&w->r.arena, w->beta, &seq, &plain, &w->r.err),
                     OK);
    assert_int_equal(mpfr_cmp(fast.best, plain.best), 0);
    assert_int_equal(fast.k, plain.k);
    assert_int_equal(fast.scanned, plain.scanned);
    assert_int_equal(mpz_cmp(w->fast_all, w->plain_all), 0);
    n->rode += w->rode;
    n->late += w->rode && fast.k * w->order > 80;
    n->steps += (unsigned)(fast.scanned * w->order);
    sens_peak_fini(&fast);
    sens_peak_fini(&plain);
}

static void one(size_t i, uint64_t *seed, struct tally *n)
{
    struct job w = {0};
    rules_init(&w.r);
    mpq_init(w.beta);
    mpz_inits(w.part, w.sum, w.fast_all, w.plain_all, (mpz_ptr)NULL);
    struct cq *q = rules_read(&w.r, cases[i].rule);
    if (cases[i].public)
        rules_public(&w.r, cases[i].public);
    struct arena *a = &w.r.arena;
    assert_int_equal(sens_plan_new(a, q, false, &w.plan, &w.r.err), OK);
    assert_int_equal(sens_state_new(a, w.plan, &w.fast, &w.r.err), OK);
    assert_int_equal(sens_state_new(a, w.plan, &w.plain, &w.r.err), OK);
    make_vector(&w, seed);
    make_beta(&w, seed);
    assert_int_equal(
        sens_paper_new(a, &w.fast, pick(seed, 30), &w.paper, &w.r.err), OK);
    assert_int_equal(sens_capped_init(&w.capped, a, &w.fast, &w.paper, w.beta,
                                      w.order, w.global, &w.r.err),
                     OK);
    compare(&w, n);
    sens_capped_fini(&w.capped);
    sens_paper_fini(&w.paper);
    sens_state_fini(&w.fast);
    sens_state_fini(&w.plain);
    mpz_clears(w.part, w.sum, w.fast_all, w.plain_all, (mpz_ptr)NULL);
    mpq_clear(w.beta);
    assert_true(rules_fini(&w.r));
}

static void same_peak(void **state)
{
    uint64_t seed = 5;
    struct tally n = {0};
    unsigned all = 0;
    (void)state;
    for (int round = 0; round < STRETCH_ROUNDS; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, all++)
            one(i, &seed, &n);
    printf("%u scans of %u steps, %u with stretches, %u of them with the peak "
           "beyond 80 steps\n",
           all, n.steps, n.rode, n.late);
    assert_true(n.rode > all / 4);
    assert_true(n.late > all / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
