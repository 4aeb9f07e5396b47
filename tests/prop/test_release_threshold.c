/*
 * End-to-end audit of keys that are found in private rows, by exact
 * probabilities. Every instance of a tiny universe goes through the release's
 * own steps (files, policy, bound, threshold, keys and counts); for every pair
 * of neighbours the hockey-stick divergence of the whole output (which keys
 * are shown, and with which numbers)
 *
 *     sum over outputs of max(0, P(o) - e^epsilon P'(o))
 *
 * is enclosed and compared with delta. The laws are written here again, from
 * their definition. Keys are drawn independently, so an output is a tuple of
 * what each key shows; numbers beyond both counts have one common ratio and
 * are added up, which makes the sum finite and exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "num/iv.h"
#include "release/choose.h"
#include "release/evaluate.h"
#include "harness/session_set.h"
#include "harness/scratch.h"
#include "harness/plain.h"

enum { MAX_FACTS = 9, MAX_KEYS = 4, PREC = 192, MAX_CHANGES = 4096 };

struct fact {
    int table; /* 0: E, 1: F */
    int a, b;
};

struct universe {
    const char *name, *query, *constraint, *groups;
    const char *order; /* NULL: 1 */
    bool change_one;
    struct fact facts[MAX_FACTS];
    size_t n_facts;
};

struct asked {
    const char *epsilon, *delta;
    long off;           /* at most 0, added to the threshold: a defect */
    const char *shrink; /* times the scale: a defect; NULL: none */
};

/* Counts of the keys 1 .. MAX_KEYS. */
struct instance {
    bool valid;
    unsigned count[MAX_KEYS];
};

static char dir[SCRATCH_PATH];

static void write_instance(const struct universe *u, unsigned bits)
{
    static const char *const names[] = {"E", "F"};
    for (int t = 0; t < 2; t++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%s", dir, names[t]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (size_t i = 0; i < u->n_facts; i++)
            if ((bits >> i & 1) && u->facts[i].table == t) {
                if (t == 0)
                    fprintf(f, "%d %d\n", u->facts[i].a, u->facts[i].b);
                else
                    fprintf(f, "%d\n", u->facts[i].a);
            }
        fclose(f);
    }
}

static void set(struct session *s, const char *name, const char *value)
{
    assert_int_equal(session_set(s, str_of(name), str_of(value)), OK);
}

static struct session *make_session(const struct universe *u,
                                    const struct asked *q)
{
    struct session *s;
    struct err err;
    char text[128];
    assert_int_equal(session_new(&s, &err), OK);
    snprintf(text, sizeof text, "E(a,b)=%s/E", dir);
    set(s, "table", text);
    snprintf(text, sizeof text, "F(a)=%s/F", dir);
    set(s, "table", text);
    set(s, "epsilon", q->epsilon);
    set(s, "delta", q->delta);
    if (u->constraint)
        set(s, "constraint", u->constraint);
    if (u->order)
        set(s, "order", u->order);
    if (u->change_one)
        set(s, "neighbours", "change-one");
    if (u->groups)
        set(s, "groups", u->groups);
    return s;
}

/* What the release knows: scale and threshold (public, so they must be the
 * same every time; a zero threshold means that keys are declared), counts. */
struct plan {
    mpq_t scale, epsilon;
    mpz_t tau;
    bool found;
};

static void take_counts(struct prepared *p, struct evaluated *e,
                        const struct group_keys *k, struct instance *out)
{
    struct found_keys keys = {0};
    struct err err;
    struct secret_count counts[MAX_KEYS];
    struct engine none = {0}; /* the counts are of groups */
    if (!k->found) {
        assert_int_equal(evaluate_counts(p->counts, e, &none, k, counts, &err),
                         OK);
        for (size_t i = 0; i < k->n; i++)
            out->count[i] = (unsigned)secret_count_open(&counts[i]);
        return;
    }
    assert_int_equal(evaluate_found(p->counts, e, k, &p->arena, &keys, &err),
                     OK);
    for (size_t i = 0; i < keys.list.n; i++) {
        int64_t key = keys.list.p[i].vals[0].i;
        u128 n = secret_count_open(&keys.list.p[i].count);
        assert_true(key >= 1 && key <= MAX_KEYS && n > 0);
        assert_true(i == 0 || key > keys.list.p[i - 1].vals[0].i);
        out->count[key - 1] = (unsigned)n;
    }
}

static void evaluate_instance(const struct universe *u, const struct asked *q,
                              unsigned bits, struct plan *plan,
                              struct instance *out)
{
    struct session *s = make_session(u, q);
    struct prepared p;
    struct choice c;
    struct group_keys k;
    struct evaluated e = {0};
    struct err err;
    write_instance(u, bits);
    prepared_init(&p, s);
    choice_init(&c);
    if (prepare_schema(&p, SOURCE_REQUIRED, &err) != OK ||
        prepare_query(&p, str_of(u->query), &err) != OK ||
        prepare_bounds(&p, false, &err) != OK ||
        group_keys(p.counts, &k, &err) != OK ||
        choose(p.counts, &k, &c, &err) != OK ||
        evaluate_load(&p, &e, &err) != OK)
        fail_msg("%s %s", err.message, err.detail);
    assert_int_not_equal(c.kind, CHOICE_SMOOTH);
    out->valid = evaluate_valid(&p, &e, &err) == OK;
    if (out->valid) {
        take_counts(&p, &e, &k, out);
        assert_true(!mpq_sgn(plan->scale) || mpq_equal(plan->scale, c.noise.a));
        mpq_set(plan->scale, c.noise.a);
        mpq_set(plan->epsilon, c.price.epsilon);
        plan->found = c.kind == CHOICE_THRESHOLD;
        if (plan->found) {
            mpz_set(plan->tau, c.threshold);
            assert_true(mpq_sgn(c.price.delta) > 0);
        }
    }
    evaluated_fini(&e);
    choice_fini(&c);
    prepared_fini(&p);
    session_free(s);
}

/* --- probabilities -------------------------------------------------------- */

/* q^n */
static void power(const struct plan *l, long n, struct iv *out)
{
    mpq_t x;
    mpq_init(x);
    mpq_set_si(x, -n, 1);
    mpq_div(x, x, l->scale);
    iv_set_q(out, x);
    iv_exp(out, out);
    mpq_clear(x);
}

/* P(c + Z >= v), from P(Z = z) = q^|z| (1-q)/(1+q). */
static void at_least(const struct plan *l, long c, long v, struct iv *out)
{
    struct iv q, one;
    iv_init(&q, PREC);
    iv_init(&one, PREC);
    iv_set_ui(&one, 1);
    power(l, 1, &q);
    iv_add(&q, &q, &one);
    power(l, v > c ? v - c : c - v + 1, out);
    iv_div(out, out, &q);
    if (v <= c)
        iv_sub(out, &one, out);
    iv_fini(&q);
    iv_fini(&one);
}

/* Symbol 0: hidden; 1 .. : the numbers from `first` on; the last one: that
 * number or more. A key that does not occur is hidden for sure. */
static void symbol(const struct plan *l, unsigned c, long first, long n, long i,
                   struct iv *out)
{
    struct iv x;
    iv_init(&x, PREC);
    if (l->found && !c) {
        iv_set_ui(out, i == 0);
    } else if (i == 0) {
        at_least(l, c, first, &x);
        iv_set_ui(out, 1);
        iv_sub(out, out, &x);
    } else {
        at_least(l, c, first + i - 1, out);
        at_least(l, c, first + i, &x);
        if (i < n)
            iv_sub(out, out, &x);
    }
    iv_fini(&x);
}

static void add_output(const struct plan *l, const struct iv *p,
                       const struct iv *q, struct iv *sum)
{
    struct iv x;
    iv_init(&x, PREC);
    iv_set_q(&x, l->epsilon);
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

/* Over what the keys from `key` on show. */
static void outputs(const struct plan *l, const struct instance *a,
                    const struct instance *b, size_t key, const struct iv *p,
                    const struct iv *q, struct iv *sum)
{
    while (key < MAX_KEYS && a->count[key] == b->count[key])
        key++; /* the same law on both sides */
    if (key == MAX_KEYS) {
        add_output(l, p, q, sum);
        return;
    }
    long c = a->count[key], d = b->count[key], low = c < d ? c : d;
    /* declared keys hide nothing: all numbers below both counts are one */
    long first = l->found ? mpz_get_si(l->tau) : low + 1;
    long last = c > d ? c : d;
    long n = last > first ? last - first + 1 : 1;
    for (long i = 0; i <= n; i++) {
        struct iv pa, pb;
        iv_init(&pa, PREC);
        iv_init(&pb, PREC);
        symbol(l, a->count[key], first, n, i, &pa);
        symbol(l, b->count[key], first, n, i, &pb);
        iv_mul(&pa, &pa, p);
        iv_mul(&pb, &pb, q);
        outputs(l, a, b, key + 1, &pa, &pb, sum);
        iv_fini(&pa);
        iv_fini(&pb);
    }
}

static void divergence(const struct plan *l, const struct instance *a,
                       const struct instance *b, struct iv *sum)
{
    struct iv one;
    iv_init(&one, PREC);
    iv_set_ui(&one, 1);
    iv_set_ui(sum, 0);
    outputs(l, a, b, 0, &one, &one, sum);
    iv_fini(&one);
}

/* --- neighbours ----------------------------------------------------------- */

static bool neighbours(const struct universe *u, unsigned a, unsigned b)
{
    int order = u->order ? atoi(u->order) : 1;
    int lost = __builtin_popcount(a & ~b), gained = __builtin_popcount(b & ~a);
    if (!u->change_one)
        return lost + gained <= order && a != b;
    for (int t = 0; t < 2; t++) /* a row is replaced within its table */
        for (size_t i = 0; order == 1 && i < u->n_facts; i++)
            for (size_t j = 0; j < u->n_facts; j++)
                if ((a & ~b) >> i & 1 && (b & ~a) >> j & 1 &&
                    u->facts[i].table != u->facts[j].table)
                    return false;
    return lost <= order && gained <= order && a != b;
}

/* The counts of every instance; they do not depend on what is asked. */
static struct instance *instances(const struct universe *u,
                                  const struct asked *q, struct plan *l)
{
    static const struct universe *last;
    static struct instance all[1 << MAX_FACTS];
    struct instance first = {0};
    evaluate_instance(u, q, 0, l, &first);
    for (unsigned i = 0; u != last && i < 1u << u->n_facts; i++) {
        memset(&all[i], 0, sizeof all[i]);
        evaluate_instance(u, q, i, l, &all[i]);
    }
    last = u;
    return all;
}

/* Pairs of counts that differ, in order: all that the divergence depends on. */
struct change {
    unsigned from[MAX_KEYS], to[MAX_KEYS];
};

static struct change change_of(const struct instance *a,
                               const struct instance *b)
{
    struct change c = {0};
    for (size_t k = 0, n = 0; k < MAX_KEYS; k++)
        if (a->count[k] != b->count[k]) {
            c.from[n] = a->count[k];
            c.to[n++] = b->count[k];
        }
    return c;
}

static bool seen(struct change *all, size_t *n, const struct change *c)
{
    for (size_t i = 0; i < *n; i++)
        if (!memcmp(&all[i], c, sizeof *c))
            return true;
    assert_true(*n < MAX_CHANGES);
    all[(*n)++] = *c;
    return false;
}

/* The largest divergence over all pairs of neighbours. */
static unsigned worst(const struct universe *u, const struct plan *l,
                      const struct instance *all, struct iv *out)
{
    static struct change changes[MAX_CHANGES];
    unsigned n = 1u << u->n_facts, pairs = 0;
    size_t n_changes = 0;
    struct iv h;
    iv_init(&h, PREC);
    iv_set_ui(out, 0);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            if (!all[i].valid || !all[j].valid || !neighbours(u, i, j))
                continue;
            pairs++;
            struct change c = change_of(&all[i], &all[j]);
            if (seen(changes, &n_changes, &c))
                continue;
            divergence(l, &all[i], &all[j], &h);
            mpfr_max(out->lo, out->lo, h.lo, MPFR_RNDD);
            mpfr_max(out->hi, out->hi, h.hi, MPFR_RNDU);
        }
    iv_fini(&h);
    return pairs;
}

/* In units of delta: certain and possible. */
static void audit(const struct universe *u, const struct asked *q,
                  double *certain, double *possible)
{
    struct plan l = {0};
    struct iv h;
    mpq_t x;
    mpq_inits(l.scale, l.epsilon, x, NULL);
    mpz_init(l.tau);
    iv_init(&h, PREC);
    const struct instance *all = instances(u, q, &l);
    if (q->off < 0)
        mpz_sub_ui(l.tau, l.tau, (unsigned long)-q->off);
    if (q->shrink) {
        assert_int_equal(rat_read(str_of(q->shrink), "x", x, NULL), OK);
        mpq_mul(l.scale, l.scale, x);
    }
    unsigned pairs = worst(u, &l, all, &h);
    assert_true(pairs > 0);
    assert_int_equal(rat_read(str_of(q->delta), "delta", x, NULL), OK);
    mpq_inv(x, x);
    iv_mul_q(&h, &h, x);
    *certain = mpfr_get_d(h.lo, MPFR_RNDD);
    *possible = mpfr_get_d(h.hi, MPFR_RNDU);
    gmp_printf("%s, epsilon %s, delta %s, scale %Qd, threshold %Zd: %u pairs, "
               "worst divergence %.6f delta\n",
               u->name, q->epsilon, q->delta, l.scale, l.tau, pairs, *possible);
    mpq_clears(l.scale, l.epsilon, x, NULL);
    mpz_clear(l.tau);
    iv_fini(&h);
}

#define EDGES                                                                  \
    .facts = {{0, 1, 1}, {0, 1, 2}, {0, 1, 3}, {0, 1, 4},                      \
              {0, 2, 1}, {0, 2, 2}, {0, 3, 1}},                                \
    .n_facts = 7

static const struct universe rows = {
    .name = "rows", .query = "Q(x; y) :- E(x,y).", EDGES};
static const struct universe moved = {.name = "rows, change-one",
                                      .query = "Q(x; y) :- E(x,y).",
                                      .change_one = true,
                                      EDGES};
static const struct universe two = {.name = "rows, order 2",
                                    .query = "Q(x; y) :- E(x,y).",
                                    .order = "2",
                                    EDGES};
/* one row of F brings up to two keys */
static const struct universe several = {.name = "several keys",
                                        .query = "Q(x; y) :- E(x,y), F(y).",
                                        .constraint = "E: b -> a <= 2",
                                        .facts = {{0, 1, 1},
                                                  {0, 2, 1},
                                                  {0, 3, 1},
                                                  {0, 1, 2},
                                                  {0, 2, 2},
                                                  {1, 1, 0},
                                                  {1, 2, 0}},
                                        .n_facts = 7};
/* one row changes one count by up to three */
static const struct universe pairs = {.name = "self-join",
                                      .query = "Q(x; y,z) :- E(x,y), E(x,z).",
                                      .constraint = "E: a -> b <= 2",
                                      EDGES};
/* keys that were declared: pure, and every number is shown */
static const struct universe declared = {.name = "declared",
                                         .query = "Q(x; y) :- E(x,y).",
                                         .groups = "1,2,3",
                                         EDGES};

static void holds(const struct universe *u, const char *epsilon,
                  const char *delta)
{
    struct asked q = {epsilon, delta, 0, NULL};
    double certain, possible;
    audit(u, &q, &certain, &possible);
    assert_true(possible <= 1);
}

/* A defect that must be seen. */
static void breaks(const struct universe *u, const char *epsilon,
                   const char *delta, long off, const char *shrink)
{
    struct asked q = {epsilon, delta, off, shrink};
    double certain, possible;
    audit(u, &q, &certain, &possible);
    assert_true(certain > 1);
}

static void rows_are_private(void **state)
{
    (void)state;
    holds(&rows, "1", "0.2");
    holds(&rows, "1", "0.01");
    holds(&rows, "0.3", "0.4");
    holds(&rows, "3", "0.001");
    breaks(&rows, "1", "0.02", -1, NULL);
    breaks(&rows, "1", "0.02", 0, "0.8");
}

static void substitution_is_private(void **state)
{
    (void)state;
    holds(&moved, "2", "0.2");
    holds(&moved, "1", "0.05");
    breaks(&moved, "1", "0.05", -1, NULL);
}

static void several_rows_are_private(void **state)
{
    (void)state;
    holds(&two, "2", "0.2");
    holds(&two, "1", "0.05");
    breaks(&two, "1", "0.05", -1, NULL);
}

static void several_keys_are_private(void **state)
{
    (void)state;
    holds(&several, "2", "0.2");
    holds(&several, "0.5", "0.3");
    breaks(&several, "2", "0.1", -1, NULL);
}

static void large_changes_are_private(void **state)
{
    (void)state;
    holds(&pairs, "4", "0.2");
    holds(&pairs, "1", "0.3");
}

/* delta is not charged, so the divergence must be 0 up to the enclosure; and
 * the l1 norm is that of one count: no noise for the number of groups */
static void declared_keys_are_pure(void **state)
{
    (void)state;
    struct asked q = {"1", "0.1", 0, NULL}, less = {"1", "0.1", 0, "0.8"};
    double certain, possible;
    audit(&declared, &q, &certain, &possible);
    assert_true(possible < 1e-40);
    audit(&declared, &less, &certain, &possible);
    assert_true(certain > 0.01);
}

static int setup(void **state)
{
    (void)state;
    return scratch_make(dir);
}

static int teardown(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_private),
        cmocka_unit_test(substitution_is_private),
        cmocka_unit_test(several_rows_are_private),
        cmocka_unit_test(several_keys_are_private),
        cmocka_unit_test(large_changes_are_private),
        cmocka_unit_test(declared_keys_are_pure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
