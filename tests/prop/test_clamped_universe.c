/*
 * Clamping (sens/PROOF.md, 2a) in a build where counts end at COUNT_MOST = 3:
 * this program is linked with join, sens and base/checked.c compiled with
 * DPC_TINY. On every instance of small universes, against nested loops that
 * know nothing of clamping:
 *
 *   the engine's numbers, by every way it has, are those of the loops, clamped;
 *   the capped sequence of the clamped T bounds the local sensitivity of the
 *   clamped count at distance 0, 1, 2, and is smooth (orders 1 and 2);
 *   S, with several groups and both kinds of neighbours, bounds the l1 distance
 *   of the clamped answers, and is smooth.
 *
 * Each way to clamp that the argument forbids must be caught by the same
 * checks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "harness/rule_gen.h"
#include "harness/plain.h"
#include "harness/size.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"
#include "join/join_int.h"
#include "sens/sens.h"

#ifndef DPC_TINY
#error "this test needs the tiny constants"
#endif

static struct universe u;
static universe_sequence seq;

static uint64_t at_most(uint64_t v, u128 most)
{
    return v < most ? v : (uint64_t)most;
}

/* --- the engine -------------------------------------------------------------
 */

static void engine_on(struct rules *r, const struct cq *q,
                      const struct sens_plan *p, struct tiny *t, bool exact)
{
    struct store *st = tiny_store(r, t);
    struct join *j;
    assert_int_equal(join_open(&r->mem, q, st, NULL, &j, &r->err), OK);
    for (size_t c = 1; c < p->n_coords; c++) {
        const struct sens_coord *x = &p->coords[c];
        u128 got = 9, want = 0, wide = 9, walked = 9;
        enum status s = (exact ? join_max_exact : join_max)(
            j, x->atoms, x->boundary, x->outs, &got, &r->err);
        assert_int_equal(s, OK);
        s = (exact ? tiny_max_exact : tiny_max)(t, x->atoms, x->boundary,
                                                x->outs, &want, &r->err);
        assert_int_equal(s, OK);
        want = want < COUNT_MOST ? want : COUNT_MOST;
        if (exact)
            wide = walked = want;
        else if (join_max_wide(j, x->atoms, x->boundary, x->outs, &wide,
                               &r->err) != OK ||
                 join_max_walked(j, x->atoms, x->boundary, x->outs, &walked,
                                 &r->err) != OK)
            fail();
        if (got != want || wide != want || walked != want)
            fail_msg("T of atoms %llu: %d, with words %d, walked %d, not %d",
                     (unsigned long long)x->atoms, (int)got, (int)wide,
                     (int)walked, (int)want);
    }
    join_close(j);
    store_free(st);
}

/* --- sequences of random queries --------------------------------------------
 */

/* How T and S are spoilt; the right way is all zero. */
struct mutant {
    const char *name;
    u128 (*t)(u128 v); /* in place of min(v, COUNT_MOST); NULL: that */
    u128 s_most;       /* in place of COUNT_MOST; 0: that */
    u128 count_most;   /* in place of C; 0: that */
};

static u128 below_c(u128 v)
{
    return v < 1 ? v : 1;
}

static u128 wrapped(u128 v)
{
    return v % (COUNT_MOST + 1);
}

static u128 zero_beyond(u128 v)
{
    return v < COUNT_MOST ? v : 0;
}

/* A counter of loops with a mutant between it and sens. */
struct spoilt {
    struct tiny t;
    const struct mutant *m;
};

static enum status spoilt_max(void *ctx, aset f, vset bd, vset outs, u128 *out,
                              struct err *err)
{
    struct spoilt *s = ctx;
    TRY(tiny_max(&s->t, f, bd, outs, out, err));
    *out = s->m->t ? s->m->t(*out) : *out;
    return OK;
}

static enum status spoilt_max_exact(void *ctx, aset f, vset bd, vset outs,
                                    u128 *out, struct err *err)
{
    struct spoilt *s = ctx;
    TRY(tiny_max_exact(&s->t, f, bd, outs, out, err));
    *out = s->m->t ? s->m->t(*out) : *out;
    return OK;
}

/* The counts of all instances as they are answered. */
static void clamp_counts(u128 most, uint64_t *saved)
{
    for (unsigned x = 0; x < 1u << u.n_slots; x++) {
        saved[x] = u.count[x];
        u.count[x] = at_most(u.count[x], most);
    }
}

static void clamp_sequence(u128 most)
{
    for (unsigned k = 0; k < LEVELS; k++)
        for (unsigned x = 0; x < 1u << u.n_slots; x++)
            seq[k][x] = at_most(seq[k][x], most);
}

static void check_sequence(const struct gen *g, struct rules *r,
                           const struct sens_plan *p, unsigned order)
{
    universe_local(&u, order);
    if (!universe_capped(&u, p, order, U128_INF, false, false, &seq, &r->err))
        fail_msg("%s: %s", g->rule, r->err.message);
    clamp_sequence(COUNT_MOST);
    unsigned bad = universe_violations(&u, order, &seq);
    if (bad)
        fail_msg("order %u: %u violations of %s [%s]", order, bad, g->rule,
                 g->constraint[0]);
}

static unsigned check_class(enum gen_class c, uint64_t *seed)
{
    static uint64_t saved[INSTANCES];
    struct gen g;
    struct rules r;
    struct sens_plan *p;
    unsigned clamped = 0;
    gen_rule(c, seed, &g);
    rules_init(&r);
    struct cq *q = gen_read(&r, &g);
    if (!q->unsat && universe_init(&u, q, g.domain, g.copies, seed)) {
        assert_int_equal(sens_plan_new(&r.arena, q, g.exact, &p, &r.err), OK);
        clamp_counts(count_limit(1, false), saved);
        for (unsigned order = 1; order <= 2; order++)
            check_sequence(&g, &r, p, order);
        for (unsigned x = 0; x < 1u << u.n_slots; x++) {
            clamped += u.valid[x] && saved[x] > u.count[x];
            if (!u.valid[x] || universe_random(seed, 20))
                continue;
            struct tiny t;
            universe_instance(&u, x, &t);
            engine_on(&r, q, p, &t, g.exact);
        }
    }
    assert_true(rules_fini(&r));
    return clamped;
}

static void sequences(void **state)
{
    (void)state;
    uint64_t seed = 21;
    unsigned clamped = 0;
    for (int c = 0; c < GEN_CLASSES; c++)
        for (unsigned i = 0; i < test_size(8); i++)
            clamped += check_class((enum gen_class)c, &seed);
    print_message("%u instances with a clamped count\n", clamped);
    assert_true(clamped > (test_size(8) == 8 ? 500 : 0));
}

/* --- S with groups
 * ------------------------------------------------------------
 */

enum { KEYS = 3 };

struct grouped {
    const char *rule;   /* the group's variable is x */
    const char *of_key; /* the same with x a number */
    const char *constraint, *public;
    int domain, copies;
    bool exact;
};

static const struct grouped grouped[] = {
    {"Q(x,y,z) :- R(x,y), S(y,z).", "Q(y,z) :- R(%d,y), S(y,z).", NULL, NULL, 2,
     1, false},
    {"Q(x,y,z) :- R(x,y), R(y,z).", "Q(y,z) :- R(%d,y), R(y,z).", NULL, NULL, 2,
     1, false},
    {"Q(x,y,z) :- R(x,y), R(x,z).", "Q(y,z) :- R(%d,y), R(%d,z).", NULL, NULL,
     2, 1, false},
    {"Q(x,y,z,w) :- R(x,y), P(y,z), P(z,w).",
     "Q(y,z,w) :- R(%d,y), P(y,z), P(z,w).", NULL, "P", 3, 1, false},
    {"Q(x,y,z) :- R(x,y), S(y,z), R(z,x).",
     "Q(y,z) :- R(%d,y), S(y,z), R(z,%d).", NULL, NULL, 2, 1, false},
    {"Q(x,y,i,j) :- R@i(x,y), S@j(y).", "Q(y,i,j) :- R@i(%d,y), S@j(y).", NULL,
     NULL, 2, 1, false},
    {"Q(x,y,z) :- R(x,y), S(y,z).", "Q(y,z) :- R(%d,y), S(y,z).", "S: 1 -> 2",
     NULL, 2, 1, false},
    {"Q(x,y,z) :- R(x,y), S(z), y < z.", "Q(y,z) :- R(%d,y), S(z), y < z.",
     NULL, NULL, 2, 1, true},
    {"Q(x,y,z) :- R(x,y), S(z), y != z.", "Q(y,z) :- R(%d,y), S(z), y != z.",
     NULL, NULL, 2, 1, false},
    {"Q(x,y,z) :- R(x), S(y), S(z).", "Q(y,z) :- R(%d), S(y), S(z).", NULL,
     NULL, 3, 1, false},
    {"Q(x,i,j,k) :- R@i(x), S@j(y), S@k(y).",
     "Q(i,j,k) :- R@i(%d), S@j(y), S@k(y).", NULL, NULL, 2, 2, false},
};

struct group_state {
    uint64_t counts[INSTANCES][KEYS];
    double s[INSTANCES];
};
static struct group_state gs;

/* |a - b| summed over the groups, each at most `most`. */
static uint64_t apart(unsigned x, unsigned y, unsigned n_keys, u128 most)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < n_keys; k++) {
        uint64_t a = at_most(gs.counts[x][k], most);
        uint64_t b = at_most(gs.counts[y][k], most);
        sum += a > b ? a - b : b - a;
    }
    return sum;
}

static void count_keys(struct rules *r, const struct grouped *g,
                       unsigned n_keys)
{
    for (unsigned k = 0; k < n_keys; k++) {
        char rule[200];
        int key = (int)k * TINY_GAP;
        snprintf(rule, sizeof rule, g->of_key, key, key);
        struct cq *q = rules_read(r, rule);
        for (unsigned x = 0; x < 1u << u.n_slots; x++) {
            struct tiny t;
            universe_instance(&u, x, &t);
            t.q = q;
            gs.counts[x][k] = u.valid[x] ? tiny_count(&t) : 0;
        }
    }
}

/* The engine's counts of the keys, too. */
static void engine_keys(struct rules *r, struct cq *q, unsigned n_keys,
                        unsigned x)
{
    struct value keys[KEYS];
    u128 got[KEYS];
    struct tiny t;
    struct join *j;
    universe_instance(&u, x, &t);
    struct store *st = tiny_store(r, &t);
    for (unsigned k = 0; k < n_keys; k++)
        keys[k] = (struct value){.type = T_INT, .i = (int)k * TINY_GAP};
    q->n_group = 1;
    assert_int_equal(join_open(&r->mem, q, st, NULL, &j, &r->err), OK);
    for (int wide = 0; wide < 2; wide++) {
        j->only_wide = wide;
        assert_int_equal(plain_groups(j, keys, n_keys, got, &r->err), OK);
        for (unsigned k = 0; k < n_keys; k++)
            assert_int_equal(got[k], at_most(gs.counts[x][k], COUNT_MOST));
    }
    q->n_group = 0;
    join_close(j);
    store_free(st);
}

static void smooth_of(struct rules *r, const struct cq *q,
                      const struct sens_options *opt, unsigned factor,
                      const struct mutant *m)
{
    double most = (double)(m->s_most ? m->s_most : COUNT_MOST);
    for (unsigned x = 0; x < 1u << u.n_slots; x++) {
        struct spoilt c = {.m = m};
        struct arena a;
        struct sens s;
        if (!u.valid[x])
            continue;
        universe_instance(&u, x, &c.t);
        struct sens_counter counter = {
            .ctx = &c, .max = spoilt_max, .max_exact = spoilt_max_exact};
        arena_init(&a, &r->mem);
        assert_int_equal(sens_compute(&a, q, &counter, opt, &s, &r->err), OK);
        gs.s[x] = fmin(
            factor * mpq_get_d(secret_scale_open(&s.s)) * (1 + 1e-12), most);
        sens_fini(&s);
        arena_fini(&a);
    }
}

/* Pairs that break P1 or smoothness. one_way: a row more or less; else a row
 * may be replaced as well. */
static unsigned broken_pairs(unsigned n_keys, unsigned order, bool one_way,
                             double beta, u128 count_most)
{
    unsigned bad = 0, n = 1u << u.n_slots;
    for (unsigned x = 0; x < n; x++)
        for (unsigned y = 0; y < n; y++) {
            unsigned d = one_way ? (unsigned)__builtin_popcount(x ^ y)
                                 : universe_distance(&u, x, y);
            if (!u.valid[x] || !u.valid[y] || d > order)
                continue;
            double far = (double)apart(x, y, n_keys, count_most);
            bad += far > gs.s[x] + 1e-9;
            bad += gs.s[x] > exp(beta) * gs.s[y] * (1 + 1e-9);
        }
    return bad;
}

struct setting {
    unsigned n_keys, order;
    bool one_way;
};

static unsigned check_groups(const struct grouped *g, struct setting set,
                             const struct mutant *m)
{
    struct rules r;
    uint64_t seed = 3;
    mpq_t beta;
    rules_init(&r);
    struct cq *q = rules_read(&r, g->rule);
    if (g->constraint)
        rules_constraint(&r, g->constraint);
    if (g->public)
        rules_public(&r, g->public);
    assert_true(universe_init(&u, q, g->domain, g->copies, &seed));
    count_keys(&r, g, set.n_keys);
    mpq_init(beta);
    mpq_set_ui(beta, 1, 3);
    struct sens_options opt = {.beta = beta,
                               .order = set.order,
                               .filters_exact = g->exact,
                               .in_release = true,
                               .global_upper = U128_INF};
    unsigned factor = set.n_keys > 1 && !set.one_way ? 2 : 1;
    smooth_of(&r, q, &opt, factor, m);
    u128 most = m->count_most ? m->count_most : count_limit(set.n_keys, false);
    unsigned bad =
        broken_pairs(set.n_keys, set.order, set.one_way, 1.0 / 3, most);
    for (unsigned x = 0; !m->name && x < 1u << u.n_slots; x += 7)
        if (u.valid[x])
            engine_keys(&r, q, set.n_keys, x);
    mpq_clear(beta);
    assert_true(rules_fini(&r));
    return bad;
}

enum { N_GROUPED = sizeof grouped / sizeof grouped[0] };
static const struct mutant right = {0};

static void groups(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_GROUPED; i++)
        for (unsigned n = 1; n <= (unsigned)grouped[i].domain; n++)
            for (unsigned order = 1; order <= 2; order++)
                for (int way = 0; way < 2; way++) {
                    struct setting s = {n, order, way};
                    unsigned bad = check_groups(&grouped[i], s, &right);
                    if (bad)
                        fail_msg("%s, %u keys, order %u: %u pairs",
                                 grouped[i].rule, n, order, bad);
                }
}

/* --- what must be caught
 * --------------------------------------------------------
 */

static const struct mutant mutants[] = {
    {"T clamped below C", below_c, 0, 0},
    {"T wraps around", wrapped, 0, 0},
    {"T beyond C is 0", zero_beyond, 0, 0},
    {"S clamped below C", NULL, 2, 0},
    /* three groups at C = 1: their sum is 3 */
    {"S clamped at C, not at G C", NULL, 1, 0},
    /* N5: every group at COUNT_MOST, S at COUNT_MOST as well */
    {"groups clamped at G C", NULL, 0, COUNT_MOST},
    {"counts not clamped", NULL, 0, U128_MAX},
};

static void mutants_are_caught(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof mutants / sizeof mutants[0]; m++) {
        unsigned bad = 0;
        for (unsigned i = 0; i < N_GROUPED; i++) {
            unsigned keys = (unsigned)grouped[i].domain;
            bad += check_groups(&grouped[i], (struct setting){keys, 1, true},
                                &mutants[m]);
            bad += check_groups(&grouped[i], (struct setting){1, 1, false},
                                &mutants[m]);
        }
        print_message("%s: %u pairs\n", mutants[m].name, bad);
        assert_true(bad > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences),
        cmocka_unit_test(groups),
        cmocka_unit_test(mutants_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
