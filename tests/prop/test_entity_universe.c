/*
 * Every database of up to four entities and six results (weights up to three
 * with up to four results), one to three owners, every deletion of an entity:
 * the truncated value moves as it may, and the joint law of threshold and
 * answer changes by at most exp(epsilon), with values moved to whichever ends
 * of their intervals are worst. Mutants of the calibration are caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "entity/score.h"
#include "harness/elect_law.h"
#include "harness/pack_oracle.h"
#include "harness/size.h"
#include "noise/elect.h"

enum { ENTITIES = 4, RESULTS = 6, POINTS = 8 };

/* A database: results as masks of owners with weights. */
struct base {
    unsigned k, n;
    unsigned char own[16], w[16];
};

/* Exact values at 1, 2, 4, ..., 128 and loads. */
struct values {
    mpq_t q[POINTS];
    unsigned load[ENTITIES + 8];
    unsigned total;
};

static void values_init(struct values *v)
{
    for (unsigned i = 0; i < POINTS; i++)
        mpq_init(v->q[i]);
}

static void values_fini(struct values *v)
{
    for (unsigned i = 0; i < POINTS; i++)
        mpq_clear(v->q[i]);
}

static void fill_input(const struct base *b, uint32_t *ids, u128 *w,
                       struct pack_input *in)
{
    for (unsigned i = 0; i < b->n; i++) {
        unsigned last = 0, n = 0;
        for (unsigned u = 0; u < 8; u++)
            if (b->own[i] >> u & 1)
                ids[i * b->k + n++] = last = u;
        while (n < b->k) /* the same owner again */
            ids[i * b->k + n++] = last;
        w[i] = b->w[i];
    }
    *in = (struct pack_input){
        .k = b->k, .entities = 8, .n = b->n, .ids = ids, .weight = w};
}

static void evaluate(const struct base *b, struct values *v)
{
    uint32_t ids[64];
    u128 w[16];
    struct pack_input in;
    mpq_t t;
    mpq_init(t);
    fill_input(b, ids, w, &in);
    memset(v->load, 0, sizeof v->load);
    v->total = 0;
    for (unsigned i = 0; i < b->n; i++) {
        v->total += b->w[i];
        for (unsigned u = 0; u < 8; u++)
            v->load[u] += b->own[i] >> u & 1 ? b->w[i] : 0;
    }
    unsigned most = 0;
    for (unsigned u = 0; u < 8; u++)
        most = v->load[u] > most ? v->load[u] : most;
    for (unsigned i = 0; i < POINTS; i++) {
        mpq_set_ui(t, 1u << i, 1);
        if (most <= 1u << i)
            mpq_set_ui(v->q[i], v->total, 1);
        else
            oracle_pack(&in, t, v->q[i]);
    }
    mpq_clear(t);
}

static struct base without(const struct base *b, unsigned u)
{
    struct base out = {.k = b->k};
    for (unsigned i = 0; i < b->n; i++)
        if (!(b->own[i] >> u & 1)) {
            out.own[out.n] = b->own[i];
            out.w[out.n++] = b->w[i];
        }
    return out;
}

/* --- the check of one pair -------------------------------------------------
 */

enum mutant { HONEST, HALF_DIVISOR, COUNT_HEAVY, MONOTONE, SMALL_NOISE, BOLD };

struct audit {
    struct election e;
    enum mutant mutant;
    double worst; /* log ratio over epsilon */
    unsigned pairs, broken;
    double least, most; /* change of scores */
};

static void audit_open(struct audit *a, unsigned k, unsigned bound,
                       enum mutant m)
{
    struct guarantee g;
    struct err err;
    struct elect_question q = {
        .owners = k, .exact = k < 3, .bound = bound, .order = 1};
    *a = (struct audit){.mutant = m};
    guarantee_init(&g);
    mpq_set_ui(g.epsilon, 1, 1);
    elect_init(&a->e);
    assert_int_equal(elect_plan(&g, &q, &a->e, &err), OK);
    guarantee_fini(&g);
}

static void audit_close(struct audit *a)
{
    elect_fini(&a->e);
}

static unsigned log2_of(uint64_t t)
{
    return (unsigned)__builtin_ctzll(t);
}

/* The score at j; `up` moves the values within their intervals. */
static void score(const struct audit *a, const struct values *v, unsigned j,
                  int up, mpq_t out)
{
    uint64_t t = a->e.grid[j];
    mpq_t x;
    unsigned heavy = 0;
    for (unsigned u = 0; u < 8; u++)
        heavy += v->load[u] > t;
    mpq_set_ui(out, heavy, 1);
    if (a->e.q.owners == 1 || a->mutant == COUNT_HEAVY)
        return;
    mpq_init(x);
    mpq_sub(out, v->q[log2_of(2 * t)], v->q[log2_of(t / 2)]);
    if (!a->e.q.exact) { /* (2T + T/2) / 128 */
        mpq_set_si(x, up * 5 * (long)t, 256);
        mpq_canonicalize(x);
        mpq_add(out, out, x);
    }
    elect_divisor(&a->e, j, x);
    mpq_div(out, out, x);
    if (a->mutant == BOLD) { /* twice the score is called certain */
        mpq_set_ui(x, 1, 2);
        mpq_mul(x, a->e.cap, x);
        if (mpq_cmp(out, x) >= 0)
            mpq_set(out, a->e.cap);
    }
    if (a->mutant == HALF_DIVISOR || a->mutant == MONOTONE) {
        mpq_set_ui(x, a->mutant == MONOTONE ? 5 : 2,
                   a->mutant == MONOTONE ? 4 : 1);
        mpq_mul(out, out, x);
    }
    mpq_clear(x);
}

/* The exponents for the election of `one`: it low and the rest high, or the
 * reverse. */
static void exponents(const struct audit *a, const struct values *v,
                      unsigned one, int dir, mpq_t *x)
{
    mpq_t s[ELECT_LAW_MAX];
    for (unsigned j = 0; j < a->e.n; j++) {
        mpq_init(s[j]);
        score(a, v, j, j == one ? -dir : dir, s[j]);
    }
    for (unsigned j = 0; j < a->e.n; j++)
        elect_exponent(&a->e, s, j, x[j]);
    for (unsigned j = 0; j < a->e.n; j++)
        mpq_clear(s[j]);
}

/* ln P(j | v) - ln P(j | w) at worst. */
static double election_loss(const struct audit *a, const struct values *v,
                            const struct values *w, unsigned j)
{
    mpq_t x[ELECT_LAW_MAX];
    struct iv p[ELECT_LAW_MAX], q[ELECT_LAW_MAX];
    for (unsigned i = 0; i < a->e.n; i++) {
        mpq_init(x[i]);
        iv_init(&p[i], ELECT_LAW_BITS);
        iv_init(&q[i], ELECT_LAW_BITS);
    }
    exponents(a, v, j, 1, x);
    elect_law(x, a->e.n, true, p);
    exponents(a, w, j, -1, x);
    elect_law(x, a->e.n, true, q);
    double loss = elect_log_ratio(&p[j], &q[j]);
    for (unsigned i = 0; i < a->e.n; i++) {
        mpq_clear(x[i]);
        iv_fini(&p[i]);
        iv_fini(&q[i]);
    }
    return loss;
}

/* The truncated value at T in steps of the lattice, moved by half a T/64. */
static void lattice_value(const struct audit *a, const struct values *v,
                          unsigned j, int up, mpz_t out)
{
    uint64_t t = a->e.grid[j];
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    if (a->e.q.owners == 1) {
        uint64_t sum = 0;
        for (unsigned u = 0; u < 8; u++)
            sum += v->load[u] < t ? v->load[u] : t;
        mpq_set_ui(x, sum, 1);
    } else {
        mpq_set(x, v->q[log2_of(t)]);
    }
    mpq_set_si(y, up * (long)t, 128);
    mpq_canonicalize(y);
    if (!a->e.q.exact)
        mpq_add(x, x, y);
    mpq_set_ui(y, elect_lattice(&a->e), 1);
    mpq_mul(x, x, y);
    mpq_set_ui(y, 1, 2);
    mpq_add(x, x, y);
    mpz_fdiv_q(out, mpq_numref(x), mpq_denref(x));
    mpq_clears(x, y, NULL);
}

/* The most that the noise's law changes: |difference| / scale. */
static double answer_loss(const struct audit *a, const struct values *v,
                          const struct values *w, unsigned j)
{
    struct noise n;
    struct err err;
    mpz_t x, y;
    double worst = 0;
    mpz_inits(x, y, NULL);
    noise_init(&n);
    assert_int_equal(elect_noise(&a->e, j, &n, &err), OK);
    for (int up = -1; up <= 1; up += 2) {
        lattice_value(a, v, j, up, x);
        lattice_value(a, w, j, -up, y);
        mpz_sub(x, x, y);
        double loss = fabs(mpz_get_d(x)) / mpq_get_d(n.a);
        worst = loss > worst ? loss : worst;
    }
    noise_fini(&n);
    mpz_clears(x, y, NULL);
    return a->mutant == SMALL_NOISE ? worst / .8 : worst;
}

static void note_scores(struct audit *a, const struct values *v,
                        const struct values *w, unsigned j)
{
    mpq_t s, t;
    mpq_inits(s, t, NULL);
    score(a, v, j, 0, s);
    score(a, w, j, 0, t);
    mpq_sub(s, s, t);
    double d = mpq_get_d(s);
    a->least = d < a->least ? d : a->least;
    a->most = d > a->most ? d : a->most;
    mpq_clears(s, t, NULL);
}

/* v: the database, w: the same without an entity. */
static void audit_pair(struct audit *a, const struct values *v,
                       const struct values *w)
{
    a->pairs++;
    for (unsigned j = 0; j < a->e.n; j++) {
        double more = answer_loss(a, v, w, j);
        double there = election_loss(a, v, w, j) + more;
        double back = election_loss(a, w, v, j) + more;
        double loss = there > back ? there : back;
        a->worst = loss > a->worst ? loss : a->worst;
        a->broken += loss > 1 + 1e-9;
        note_scores(a, v, w, j);
    }
}

/* Claim 1(a): 0 <= Q(D, t) - Q(D - u, t) <= t, exactly. */
static void check_move(const struct values *v, const struct values *w)
{
    mpq_t d;
    mpq_init(d);
    for (unsigned i = 0; i < POINTS; i++) {
        mpq_sub(d, v->q[i], w->q[i]);
        assert_true(mpq_sgn(d) >= 0 && mpq_cmp_ui(d, 1u << i, 1) <= 0);
    }
    mpq_clear(d);
}

/* --- enumeration -----------------------------------------------------------
 */

struct types {
    unsigned n;
    unsigned char own[64], w[64];
};

static void fill_types(struct types *t, unsigned k, unsigned weights)
{
    t->n = 0;
    for (unsigned m = 1; m < 1u << ENTITIES; m++)
        for (unsigned w = 1; (unsigned)__builtin_popcount(m) <= k; w++) {
            t->own[t->n] = (unsigned char)m;
            t->w[t->n++] = (unsigned char)w;
            if (w == weights)
                break;
        }
}

/* Loads fall with the number of the entity: one of each class up to renaming,
 * nearly. */
static bool canonical(const struct base *b)
{
    unsigned load[ENTITIES] = {0};
    for (unsigned i = 0; i < b->n; i++)
        for (unsigned u = 0; u < ENTITIES; u++)
            load[u] += b->own[i] >> u & 1 ? 10u * b->w[i] + 1 : 0;
    return load[0] >= load[1] && load[1] >= load[2] && load[2] >= load[3];
}

static void each_deletion(struct audit *a, const struct base *b)
{
    struct values v, w;
    values_init(&v);
    values_init(&w);
    evaluate(b, &v);
    for (unsigned u = 0; u < ENTITIES; u++) {
        if (v.load[u] == 0)
            continue;
        struct base less = without(b, u);
        evaluate(&less, &w);
        check_move(&v, &w);
        audit_pair(a, &v, &w);
    }
    values_fini(&v);
    values_fini(&w);
}

/* All multisets of up to `most` results; every `stride`-th. */
static void enumerate(struct audit *a, const struct types *t, struct base *b,
                      unsigned from, unsigned most, unsigned stride)
{
    static unsigned at;
    if (b->n > 0 && canonical(b) && at++ % stride == 0)
        each_deletion(a, b);
    for (unsigned i = from; b->n < most && i < t->n; i++) {
        b->own[b->n] = t->own[i];
        b->w[b->n++] = t->w[i];
        enumerate(a, t, b, i, most, stride);
        b->n--;
    }
}

static void universe(struct audit *a, unsigned k, unsigned stride)
{
    struct types t;
    struct base b = {.k = k};
    fill_types(&t, k, 1);
    enumerate(a, &t, &b, 0, RESULTS, stride);
    fill_types(&t, k, 3);
    enumerate(a, &t, &b, 0, 4, stride == 1 ? 1 : 7 * stride);
}

#ifndef UNIVERSE_STRIDE
#define UNIVERSE_STRIDE 11
#endif
static unsigned thinning(void)
{
    return test_size(4) == 4 ? UNIVERSE_STRIDE : 400;
}

static void honest_elections_keep_epsilon(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct audit a;
        audit_open(&a, k, 7, HONEST);
        universe(&a, k, k == 1 ? 1 + thinning() / 8 : thinning());
        print_message("k %u: %u pairs, worst %.6f, scores %.4f to %.4f\n", k,
                      a.pairs, a.worst, a.least, a.most);
        assert_int_equal(a.broken, 0);
        assert_true(a.pairs > 20 && a.worst > .5);
        assert_true(a.most - a.least <= 1);
        audit_close(&a);
    }
}

/* One node of many results inserted next to many: loads of the others jump,
 * which the number of heavy entities does not survive. */
static struct base star(bool with)
{
    struct base b = {.k = 2};
    for (unsigned i = 0; i < 6; i++) {
        b.own[b.n] = (unsigned char)(1u << (1 + i));
        b.w[b.n++] = 2;
        b.own[b.n] = (unsigned char)(1u | 1u << (1 + i));
        b.w[b.n] = 1;
        b.n += with;
    }
    return b;
}

static void pair_of(struct audit *a, const struct base *d,
                    const struct base *less)
{
    struct values v, w;
    values_init(&v);
    values_init(&w);
    evaluate(d, &v);
    evaluate(less, &w);
    check_move(&v, &w);
    audit_pair(a, &v, &w);
    values_fini(&v);
    values_fini(&w);
}

/* The election gets that many hundredths of epsilon, the answer the rest. */
static void weigh(struct audit *a, unsigned hundredths)
{
    mpq_set_ui(a->e.e1, hundredths, 100);
    mpq_set_ui(a->e.answer.epsilon, 100 - hundredths, 100);
}

static void counting_heavy_ones_is_caught(void **state)
{
    (void)state;
    struct audit a;
    struct base d = star(true), less = star(false);
    audit_open(&a, 2, 7, COUNT_HEAVY);
    pair_of(&a, &d, &less);
    assert_true(a.broken > 0);
    audit_close(&a);
    audit_open(&a, 2, 7, HONEST);
    pair_of(&a, &d, &less);
    assert_int_equal(a.broken, 0);
    audit_close(&a);
}

/* u is 0. 1, 2 and 3 are full at t = 1 without it and give it 4 at t = 4; 3
 * gives it all at t = 32 and, full by 4 to 6 again, nothing more at 128. */
static struct base both_ways(bool with)
{
    struct base b = {.k = 2};
    static const struct {
        unsigned char own, w;
    } r[] = {{1 << 1, 1},
             {1 << 2, 1},
             {1 << 3, 2},
             {1 << 3 | 1 << 4, 200},
             {1 << 3 | 1 << 5, 200},
             {1 << 3 | 1 << 6, 200},
             {1 << 4, 40},
             {1 << 5, 40},
             {1 << 6, 40},
             {1 | 1 << 1, 2},
             {1 | 1 << 2, 2},
             {1 | 1 << 3, 200}};
    for (unsigned i = 0; i < (with ? 12u : 9u); i++)
        b.own[i] = r[i].own, b.w[i] = r[i].w, b.n = i + 1;
    return b;
}

static void small_divisors_are_caught(void **state)
{
    (void)state;
    for (int m = HONEST; m <= MONOTONE; m++) {
        if (m == COUNT_HEAVY)
            continue;
        struct audit a;
        struct base d = both_ways(true), less = both_ways(false);
        audit_open(&a, 2, 60, (enum mutant)m);
        weigh(&a, 99);
        pair_of(&a, &d, &less);
        print_message("mutant %d: worst %.4f, scores %.4f to %.4f\n", m,
                      a.worst, a.least, a.most);
        assert_true(m == HONEST ? a.broken == 0 : a.broken > 0);
        audit_close(&a);
    }
}

/* A cap that is not certain lets a score jump. */
static void bold_caps_are_caught(void **state)
{
    (void)state;
    for (int bold = 0; bold < 2; bold++) {
        struct audit a;
        struct base d = {.k = 2, .n = 7}, less;
        for (unsigned i = 0; i < 7; i++)
            d.own[i] = (unsigned char)(1u << i), d.w[i] = 4;
        less = without(&d, 0);
        audit_open(&a, 2, 7, bold ? BOLD : HONEST);
        mpq_set_ui(a.e.cap, 8, 1); /* scores 4.2 and 3.6 at T = 2 */
        pair_of(&a, &d, &less);
        assert_true(bold ? a.broken > 0 : a.broken == 0);
        audit_close(&a);
    }
}

static void small_noise_is_caught(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct audit a;
        audit_open(&a, k, 7, SMALL_NOISE);
        weigh(&a, 1);
        universe(&a, k, 8 * thinning());
        assert_true(a.broken > 0);
        audit_close(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_elections_keep_epsilon),
        cmocka_unit_test(counting_heavy_ones_is_caught),
        cmocka_unit_test(small_divisors_are_caught),
        cmocka_unit_test(bold_caps_are_caught),
        cmocka_unit_test(small_noise_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
