/*
 * GROUP BY with entities, by exact laws: small databases of entities with
 * vectors over three groups, every entity deleted, changed for another, or
 * lessened by an entity within it. The joint law of the elected threshold and
 * all noisy sums changes by at most exp(epsilon); with keys that are found in
 * private rows the whole output (threshold, which keys are shown, with which
 * numbers) has a hockey-stick divergence of at most delta. Plans for too small
 * a difference, a cut whose order hangs on data, and thresholds that are one
 * too low are caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "entity/entity_groups.h"
#include "entity/score.h"
#include "harness/elect_law.h"
#include "harness/size.h"
#include "noise/elect.h"

enum { GROUPS = 3, ENTITIES = 3, MOST = 2, VECTORS = 27, PREC = 192 };

/* Vectors of entities over groups, as numbers in base 3. */
struct base {
    unsigned n;
    unsigned char vector[ENTITIES];
};

enum mutant { HONEST, BY_SIZE };

struct audit {
    struct mem mem;
    struct election e;
    mpq_t delta;
    enum mutant mutant;
    bool no_keys;    /* those are public */
    long off;        /* added to thresholds of keys */
    double worst;    /* of the log ratio */
    double diverged; /* the most, in units of delta */
    unsigned pairs, broken;
};

static unsigned part_of(unsigned vector, unsigned g)
{
    for (; g; g--)
        vector /= MOST + 1;
    return vector % (MOST + 1);
}

static void audit_open(struct audit *a, bool change, bool nested,
                       unsigned order)
{
    struct guarantee g;
    struct err err;
    struct elect_question q = {.owners = 1,
                               .exact = true,
                               .bound = 6,
                               .order = order,
                               .change = change,
                               .vector = true,
                               .nested = nested};
    *a = (struct audit){.mutant = HONEST};
    mem_init(&a->mem, 0);
    guarantee_init(&g);
    mpq_set_ui(g.epsilon, 1, 1);
    elect_init(&a->e);
    assert_int_equal(elect_plan(&g, &q, &a->e, &err), OK);
    guarantee_fini(&g);
    mpq_init(a->delta);
    mpq_set_ui(a->delta, 1, 10);
}

static void audit_close(struct audit *a)
{
    mpq_clear(a->delta);
    elect_fini(&a->e);
}

/* --- what the library makes of a database ----------------------------------
 */

struct tuples {
    uint32_t id[ENTITIES * GROUPS], group[ENTITIES * GROUPS];
    u128 weight[ENTITIES * GROUPS];
    struct pack_input in;
};

/* In the order of the groups; the mutant's: of their sizes, larger first. */
static void list(const struct audit *a, const struct base *b, struct tuples *t)
{
    unsigned size[GROUPS] = {0}, order[GROUPS] = {0, 1, 2};
    size_t n = 0;
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned u = 0; u < b->n; u++)
            size[g] += part_of(b->vector[u], g);
    for (unsigned i = 0; a->mutant == BY_SIZE && i < GROUPS; i++)
        for (unsigned j = i + 1; j < GROUPS; j++)
            if (size[order[j]] > size[order[i]]) {
                unsigned swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    for (unsigned i = 0; i < GROUPS; i++)
        for (unsigned u = 0; u < b->n; u++)
            if (part_of(b->vector[u], order[i])) {
                t->id[n] = u;
                t->group[n] = order[i];
                t->weight[n++] = part_of(b->vector[u], order[i]);
            }
    t->in = (struct pack_input){.k = 1,
                                .entities = ENTITIES,
                                .n = n,
                                .ids = t->id,
                                .weight = t->weight};
}

struct law {
    struct iv p[ELECT_LAW_MAX];
    u128 sum[ELECT_LAW_MAX][GROUPS];
};

/* The definition: each entity by itself, group after group. */
static void check_cut(const struct base *b, uint64_t t, const u128 *sum)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        u128 want = 0;
        for (unsigned u = 0; u < b->n; u++) {
            uint64_t before = 0, now = part_of(b->vector[u], g);
            for (unsigned h = 0; h < g; h++)
                before += part_of(b->vector[u], h);
            uint64_t left = before < t ? t - before : 0;
            want += now < left ? now : left;
        }
        assert_true(sum[g] == want);
    }
}

static void law_of(struct audit *a, const struct base *b, struct law *out)
{
    struct tuples t;
    struct pack *p;
    struct err err;
    mpq_t score[ELECT_LAW_MAX], x[ELECT_LAW_MAX];
    struct score_grid g = {a->e.n, a->e.grid, NULL, NULL};
    list(a, b, &t);
    assert_int_equal(pack_open(&a->mem, &t.in, NULL, &p, &err), OK);
    for (unsigned j = 0; j < a->e.n; j++) {
        mpq_inits(score[j], x[j], NULL);
        iv_init(&out->p[j], ELECT_LAW_BITS);
    }
    assert_int_equal(entity_scores(p, 1, &g, score, &err), OK);
    for (unsigned j = 0; j < a->e.n; j++) {
        elect_exponent(&a->e, score, j, x[j]);
        assert_int_equal(entity_cut_groups(&a->mem, &t.in, t.group, GROUPS,
                                           a->e.grid[j], out->sum[j], &err),
                         OK);
        if (a->mutant == HONEST)
            check_cut(b, a->e.grid[j], out->sum[j]);
    }
    elect_law(x, a->e.n, true, out->p);
    for (unsigned j = 0; j < a->e.n; j++)
        mpq_clears(score[j], x[j], NULL);
    pack_close(p);
}

static void law_close(const struct audit *a, struct law *l)
{
    for (unsigned j = 0; j < a->e.n; j++)
        iv_fini(&l->p[j]);
}

/* --- epsilon ----------------------------------------------------------------
 */

static double vector_loss(const struct audit *a, const struct law *v,
                          const struct law *w, unsigned j)
{
    struct noise n;
    struct err err;
    double sum = 0;
    noise_init(&n);
    assert_int_equal(elect_noise(&a->e, j, &n, &err), OK);
    for (unsigned g = 0; g < GROUPS; g++)
        sum += fabs((double)v->sum[j][g] - (double)w->sum[j][g]);
    sum /= mpq_get_d(n.a);
    noise_fini(&n);
    return sum;
}

static void audit_epsilon(struct audit *a, const struct law *v,
                          const struct law *w)
{
    for (unsigned j = 0; j < a->e.n; j++) {
        double more = vector_loss(a, v, w, j);
        double there = elect_log_ratio(&v->p[j], &w->p[j]) + more;
        double back = elect_log_ratio(&w->p[j], &v->p[j]) + more;
        double loss = there > back ? there : back;
        a->worst = loss > a->worst ? loss : a->worst;
        a->broken += loss > 1 + 1e-9;
    }
}

/* --- keys that are found ----------------------------------------------------
 */

/* P(c + Z >= v), from P(Z = z) = q^|z| (1-q)/(1+q), q = exp(-1/scale). */
static void at_least(mpq_srcptr scale, long c, long v, struct iv *out)
{
    struct iv q, one;
    mpq_t x;
    iv_init(&q, PREC);
    iv_init(&one, PREC);
    mpq_init(x);
    iv_set_ui(&one, 1);
    mpq_set_si(x, -1, 1);
    mpq_div(x, x, scale);
    iv_set_q(&q, x);
    iv_exp(&q, &q);
    iv_add(&q, &q, &one);
    mpq_set_si(x, v > c ? c - v : v - c - 1, 1);
    mpq_div(x, x, scale);
    iv_set_q(out, x);
    iv_exp(out, out);
    iv_div(out, out, &q);
    if (v <= c)
        iv_sub(out, &one, out);
    mpq_clear(x);
    iv_fini(&q);
    iv_fini(&one);
}

struct shown {
    mpq_t scale;
    long first; /* the threshold */
    const u128 *from, *to;
    struct iv *sum;
};

/* 0: hidden; i: the number first + i - 1; the last: that or more. */
static void symbol(const struct shown *s, u128 c, long n, long i,
                   struct iv *out)
{
    struct iv x;
    iv_init(&x, PREC);
    if (!c) {
        iv_set_ui(out, i == 0);
    } else if (i == 0) {
        at_least(s->scale, (long)c, s->first, &x);
        iv_set_ui(out, 1);
        iv_sub(out, out, &x);
    } else {
        at_least(s->scale, (long)c, s->first + i - 1, out);
        at_least(s->scale, (long)c, s->first + i, &x);
        if (i < n)
            iv_sub(out, out, &x);
    }
    iv_fini(&x);
}

static void add_output(const struct iv *p, const struct iv *q, struct iv *sum)
{
    struct iv x;
    iv_init(&x, PREC);
    iv_set_ui(&x, 1);
    iv_exp(&x, &x);
    iv_mul(&x, &x, q);
    iv_sub(&x, p, &x);
    if (mpfr_sgn(x.lo) < 0)
        mpfr_set_zero(x.lo, 1);
    if (mpfr_sgn(x.hi) < 0)
        mpfr_set_zero(x.hi, 1);
    iv_add(sum, sum, &x);
    iv_fini(&x);
}

static void outputs(const struct shown *s, unsigned g, const struct iv *p,
                    const struct iv *q)
{
    while (g < GROUPS && s->from[g] == s->to[g])
        g++; /* the same law on both sides */
    if (g == GROUPS) {
        add_output(p, q, s->sum);
        return;
    }
    long last = (long)(s->from[g] > s->to[g] ? s->from[g] : s->to[g]);
    long n = last > s->first ? last - s->first + 1 : 1;
    for (long i = 0; i <= n; i++) {
        struct iv pa, pb;
        iv_init(&pa, PREC);
        iv_init(&pb, PREC);
        symbol(s, s->from[g], n, i, &pa);
        symbol(s, s->to[g], n, i, &pb);
        iv_mul(&pa, &pa, p);
        iv_mul(&pb, &pb, q);
        outputs(s, g + 1, &pa, &pb);
        iv_fini(&pa);
        iv_fini(&pb);
    }
}

static void audit_delta(struct audit *a, const struct law *v,
                        const struct law *w)
{
    struct iv sum;
    struct err err;
    iv_init(&sum, PREC);
    iv_set_ui(&sum, 0);
    for (unsigned j = 0; j < a->e.n; j++) {
        struct noise n;
        struct shown s = {.from = v->sum[j], .to = w->sum[j], .sum = &sum};
        mpz_t tau;
        mpz_init(tau);
        noise_init(&n);
        assert_int_equal(elect_noise(&a->e, j, &n, &err), OK);
        assert_int_equal(elect_key_threshold(&a->e, j, a->delta, tau, &err),
                         OK);
        mpq_init(s.scale);
        mpq_set(s.scale, n.a);
        s.first = mpz_get_si(tau) + a->off;
        outputs(&s, 0, &v->p[j], &w->p[j]);
        mpq_clear(s.scale);
        noise_fini(&n);
        mpz_clear(tau);
    }
    double d = mpfr_get_d(sum.hi, MPFR_RNDU) / mpq_get_d(a->delta);
    a->diverged = d > a->diverged ? d : a->diverged;
    iv_fini(&sum);
}

/* --- pairs ------------------------------------------------------------------
 */

static void audit_pair(struct audit *a, const struct base *d,
                       const struct base *less)
{
    struct law v, w;
    a->pairs++;
    law_of(a, d, &v);
    law_of(a, less, &w);
    audit_epsilon(a, &v, &w);
    if (!a->no_keys) {
        audit_delta(a, &v, &w);
        audit_delta(a, &w, &v);
    }
    law_close(a, &v);
    law_close(a, &w);
}

static bool within(unsigned small, unsigned large)
{
    for (unsigned g = 0; g < GROUPS; g++)
        if (part_of(small, g) > part_of(large, g))
            return false;
    return small != large;
}

/* The same one group further on. */
static unsigned moved(unsigned vector)
{
    return vector * (MOST + 1) % VECTORS + part_of(vector, GROUPS - 1);
}

enum kind { DELETED, CHANGED, WITHIN, WITHIN_CHANGED };

/* Two others, and what happens to entities 0 (and 1); every stride-th. */
static void universe(struct audit *a, enum kind kind, unsigned stride)
{
    static const unsigned char others[] = {0, 2, 13, 26};
    unsigned at = 0;
    for (unsigned o = 0; o < sizeof others; o++)
        for (unsigned x = 0; x < VECTORS; x++)
            for (unsigned y = 0; y < VECTORS; y++) {
                struct base d = {3, {(unsigned char)x, others[o], 9}}, e = d;
                e.vector[0] = (unsigned char)y;
                bool fits = kind == DELETED   ? y == 0 && x > 0
                            : kind == CHANGED ? x < y
                                              : within(y, x);
                if (kind == WITHIN_CHANGED) { /* 1 grows as 0 falls */
                    d.vector[1] = (unsigned char)moved(y);
                    e.vector[1] = (unsigned char)moved(x);
                }
                if (fits && at++ % stride == 0)
                    audit_pair(a, &d, &e);
            }
}

static unsigned thinning(unsigned wanted)
{
    return test_size(4) == 4 ? wanted : 10 * wanted;
}

static void honest_vectors_keep_epsilon(void **state)
{
    (void)state;
    static const struct {
        enum kind kind;
        unsigned stride;
    } runs[] = {
        {DELETED, 3}, {CHANGED, 41}, {WITHIN, 23}, {WITHIN_CHANGED, 23}};
    for (size_t i = 0; i < 4; i++) {
        struct audit a;
        audit_open(&a, i & 1, i & 2, 1);
        universe(&a, runs[i].kind, thinning(runs[i].stride));
        print_message("kind %zu: %u pairs, worst %.6f, divergence %.6f delta\n",
                      i, a.pairs, a.worst, a.diverged);
        assert_int_equal(a.broken, 0);
        assert_true(a.pairs > 9 && a.worst > .5);
        assert_true(a.diverged <= 1 + 1e-9);
        audit_close(&a);
    }
}

/* Order 2: two entities at once, planned at half the price. */
static void two_at_once(void **state)
{
    (void)state;
    struct audit a;
    audit_open(&a, false, false, 2);
    for (unsigned x = 1; x < VECTORS; x += 9)
        for (unsigned y = 1; y < VECTORS; y += 9) {
            struct base d = {3, {(unsigned char)x, (unsigned char)y, 13}};
            struct base e = {3, {0, 0, 13}};
            audit_pair(&a, &d, &e);
        }
    assert_int_equal(a.broken, 0);
    assert_true(a.diverged <= 1 + 1e-9);
    audit_close(&a);
}

static void small_plans_are_caught(void **state)
{
    (void)state;
    static const enum kind kinds[] = {CHANGED, WITHIN, WITHIN_CHANGED};
    for (size_t i = 0; i < 3; i++) {
        struct audit a;
        audit_open(&a, kinds[i] == WITHIN_CHANGED, false, 1);
        /* nearly all to the answer, so that it is the vector that breaks */
        mpq_set_ui(a.e.e1, 1, 100);
        mpq_set_ui(a.e.answer.epsilon, 99, 100);
        a.no_keys = true;
        universe(&a, kinds[i], 11);
        assert_true(a.broken > 0);
        audit_close(&a);
    }
}

static void order_by_size_is_caught(void **state)
{
    (void)state;
    struct audit a;
    audit_open(&a, false, false, 1);
    mpq_set_ui(a.e.e1, 1, 100);
    mpq_set_ui(a.e.answer.epsilon, 99, 100);
    a.no_keys = true;
    universe(&a, DELETED, 1);
    assert_int_equal(a.broken, 0);
    a.mutant = BY_SIZE;
    universe(&a, DELETED, 1);
    assert_true(a.broken > 0);
    audit_close(&a);
}

static void low_thresholds_are_caught(void **state)
{
    (void)state;
    struct audit a;
    audit_open(&a, false, false, 1);
    mpq_set_ui(a.delta, 1, 1000);
    a.off = -1;
    universe(&a, DELETED, 3);
    print_message("one lower: %.4f delta\n", a.diverged);
    assert_true(a.diverged > 1);
    audit_close(&a);
}

/* --- an election for each group ---------------------------------------------
 */

/* A group that one entity alone makes: it is shown with at most delta, whatever
 * is elected. */
static double alone(struct audit *a, unsigned results, long off)
{
    struct law l;
    struct err err;
    struct base b = {1, {(unsigned char)results}};
    double sum = 0;
    law_of(a, &b, &l);
    for (unsigned j = 0; j < a->e.n; j++) {
        struct noise n;
        struct iv p;
        mpz_t tau;
        mpz_init(tau);
        noise_init(&n);
        iv_init(&p, PREC);
        assert_int_equal(elect_noise(&a->e, j, &n, &err), OK);
        assert_int_equal(elect_key_threshold(&a->e, j, a->delta, tau, &err),
                         OK);
        at_least(n.a, (long)l.sum[j][0], mpz_get_si(tau) + off, &p);
        iv_mul(&p, &p, &l.p[j]);
        sum += mpfr_get_d(p.hi, MPFR_RNDU);
        iv_fini(&p);
        noise_fini(&n);
        mpz_clear(tau);
    }
    law_close(a, &l);
    return sum / mpq_get_d(a->delta);
}

static void lone_groups_stay_hidden(void **state)
{
    (void)state;
    struct audit a;
    audit_open(&a, false, false, 1);
    a.e.q.vector = false;
    mpq_set_ui(a.delta, 1, 1000);
    double most = 0, mutant = 0;
    for (unsigned c = 1; c <= MOST; c++) {
        double d = alone(&a, c, 0), m = alone(&a, c, -1);
        most = d > most ? d : most;
        mutant = m > mutant ? m : mutant;
    }
    print_message("alone: %.4f delta, one lower %.4f\n", most, mutant);
    assert_true(most <= 1 && most > .1 && mutant > 1);
    audit_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_vectors_keep_epsilon),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(small_plans_are_caught),
        cmocka_unit_test(order_by_size_is_caught),
        cmocka_unit_test(low_thresholds_are_caught),
        cmocka_unit_test(lone_groups_stay_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
