/*
 * Elections on small databases, audited exactly: what test_entity_universe.c
 * and test_entity_prices.c share. Losses are those of the joint law of
 * threshold, answer and estimate of what was cut, with values moved to
 * whichever ends of their intervals are worst.
 */
#ifndef HARNESS_ELECT_AUDIT_H
#define HARNESS_ELECT_AUDIT_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "entity/score.h"
#include "harness/elect_law.h"
#include "harness/pack_oracle.h"
#include "harness/size.h"
#include "noise/elect.h"

#pragma GCC diagnostic ignored "-Wunused-function"

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

enum mutant {
    HONEST,
    HALF_DIVISOR,
    COUNT_HEAVY,
    MONOTONE,
    SMALL_NOISE,
    BOLD,
    SMALL_LOST, /* the estimate of what was cut as if it moved half as far */
};

struct audit {
    struct election e;
    enum mutant mutant;
    double worst; /* log ratio over epsilon */
    unsigned pairs, broken;
    double least, most; /* change of scores */
};

static void audit_plan(struct audit *a, const struct elect_question *q,
                       enum mutant m)
{
    struct guarantee g;
    struct err err;
    *a = (struct audit){.mutant = m};
    guarantee_init(&g);
    mpq_set_ui(g.epsilon, 1, 1);
    elect_init(&a->e);
    assert_int_equal(elect_plan(&g, q, &a->e, &err), OK);
    guarantee_fini(&g);
}

static struct elect_question question_of(unsigned k, unsigned bound)
{
    return (struct elect_question){
        .owners = k, .exact = k < 3, .bound = bound, .order = 1};
}

static void audit_open(struct audit *a, unsigned k, unsigned bound,
                       enum mutant m)
{
    struct elect_question q = question_of(k, bound);
    audit_plan(a, &q, m);
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

/* x in steps of the lattice; moved by `by`/128 first where it is not exact. */
static void on_lattice(const struct audit *a, mpq_t x, long by, mpz_t out)
{
    mpq_t y;
    mpq_init(y);
    mpq_set_si(y, by, 128);
    mpq_canonicalize(y);
    if (!a->e.q.exact)
        mpq_add(x, x, y);
    mpq_set_ui(y, elect_lattice(&a->e), 1);
    mpq_mul(x, x, y);
    mpq_set_ui(y, 1, 2);
    mpq_add(x, x, y);
    mpz_fdiv_q(out, mpq_numref(x), mpq_denref(x));
    mpq_clear(y);
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
    on_lattice(a, x, up * (long)t, out);
    mpq_clears(x, y, NULL);
}

/* One owner: entities above T. Several: m(2T) - m(T) in steps of the lattice.
 */
static void lost_value(const struct audit *a, const struct values *v,
                       unsigned j, int up, mpz_t out)
{
    uint64_t t = a->e.grid[j];
    mpq_t x, y;
    unsigned heavy = 0;
    for (unsigned u = 0; u < 8; u++)
        heavy += v->load[u] > t;
    mpz_set_ui(out, heavy);
    if (a->e.q.owners == 1)
        return;
    mpq_inits(x, y, NULL);
    mpq_sub(x, v->q[log2_of(2 * t)], v->q[log2_of(t)]);
    on_lattice(a, x, up * 3 * (long)t, out);
    mpq_clears(x, y, NULL);
}

/* The most that the noise's law changes: |difference| / scale. */
static double
law_change(const struct audit *a, const struct values *v,
           const struct values *w, unsigned j, const struct noise *n,
           void (*value)(const struct audit *a, const struct values *v,
                         unsigned j, int up, mpz_t out))
{
    mpz_t x, y;
    double worst = 0;
    mpz_inits(x, y, NULL);
    for (int up = -1; up <= 1; up += 2) {
        value(a, v, j, up, x);
        value(a, w, j, -up, y);
        mpz_sub(x, x, y);
        double loss = fabs(mpz_get_d(x)) / mpq_get_d(n->a);
        worst = loss > worst ? loss : worst;
    }
    mpz_clears(x, y, NULL);
    return worst;
}

static double answer_loss(const struct audit *a, const struct values *v,
                          const struct values *w, unsigned j)
{
    struct noise n;
    struct err err;
    noise_init(&n);
    assert_int_equal(elect_noise(&a->e, j, &n, &err), OK);
    double worst = law_change(a, v, w, j, &n, lattice_value);
    noise_fini(&n);
    return a->mutant == SMALL_NOISE ? worst / .8 : worst;
}

static double lost_loss(const struct audit *a, const struct values *v,
                        const struct values *w, unsigned j)
{
    struct noise n;
    struct err err;
    if (!elect_tells_lost(&a->e))
        return 0;
    noise_init(&n);
    assert_int_equal(elect_lost_noise(&a->e, j, &n, &err), OK);
    double worst = law_change(a, v, w, j, &n, lost_value);
    noise_fini(&n);
    return a->mutant == SMALL_LOST ? 2 * worst : worst;
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
        double more = answer_loss(a, v, w, j) + lost_loss(a, v, w, j);
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

/* D0 + u and D0 + x, where the results that both own are in neither; or, for
 * two at once, D0 and D0 + u + x. */
static void each_two(struct audit *a, const struct base *b)
{
    struct values v, w;
    values_init(&v);
    values_init(&w);
    for (unsigned u = 0; u < ENTITIES; u++)
        for (unsigned x = u + 1; x < ENTITIES; x++) {
            struct base with = without(b, x), less = without(b, u);
            bool both = a->e.q.order == 2;
            if (both) {
                less = without(&less, x);
                with = *b;
            }
            if (!with.n || (!less.n && !both))
                continue;
            evaluate(&with, &v);
            evaluate(&less, &w);
            audit_pair(a, &v, &w);
        }
    values_fini(&v);
    values_fini(&w);
}

static void each_neighbour(struct audit *a, const struct base *b)
{
    if (a->e.q.change || a->e.q.order > 1)
        each_two(a, b);
    else
        each_deletion(a, b);
}

/* All multisets of up to `most` results; every `stride`-th. */
static void enumerate(struct audit *a, const struct types *t, struct base *b,
                      unsigned from, unsigned most, unsigned stride)
{
    static unsigned at;
    if (b->n > 0 && canonical(b) && at++ % stride == 0)
        each_neighbour(a, b);
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

#endif
