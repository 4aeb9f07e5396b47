/*
 * End-to-end audit by exact probabilities. For three small queries (a
 * self-join, a projection, a GROUP BY) every instance of a tiny universe goes
 * through the release's own steps (files, policy, choice of mechanism, count,
 * sensitivity); for every pair of neighbours the probabilities of the answers
 * are enclosed and the worst logarithm of their ratio is compared with
 * epsilon. Answers of different groups are drawn independently, so their
 * worst losses add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/session_set.h"
#include "harness/law.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "release/choose.h"
#include "release/evaluate.h"

enum { MAX_FACTS = 9, MAX_GROUPS_HERE = 2, MAX_KINDS = 512, REACH = 60 };

struct fact {
    int table; /* 0: E, 1: F */
    int a, b;
};

struct universe {
    const char *query, *groups;
    const char *shrink; /* "1", or less for a defect that must be seen */
    bool change_one;    /* a fact may also become another of its table */
    struct fact facts[MAX_FACTS];
    size_t n_facts;
};

/* What the noise of an instance depends on. */
struct outcome {
    double count[MAX_GROUPS_HERE];
    size_t n_groups;
    size_t kind; /* index of its scale */
};

/* ln P(noise = k), one table for each scale that occurs. */
struct scale {
    mpq_t s;
    double low[2 * REACH + 1], high[2 * REACH + 1];
};

static struct scale scales[MAX_KINDS];
static size_t n_scales;
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

static struct session *make_session(const struct universe *u)
{
    struct session *s;
    struct err err;
    char text[128];
    assert_int_equal(session_new(&s, &err), OK);
    snprintf(text, sizeof text, "E(a,b)=%s/E", dir);
    assert_int_equal(session_set(s, STR("table"), str_of(text)), OK);
    snprintf(text, sizeof text, "F(a)=%s/F", dir);
    assert_int_equal(session_set(s, STR("table"), str_of(text)), OK);
    assert_int_equal(session_set(s, STR("epsilon"), STR("1")), OK);
    assert_int_equal(session_set(s, STR("error-budget"), STR("none")), OK);
    if (u->change_one)
        assert_int_equal(session_set(s, STR("neighbours"), STR("change-one")),
                         OK);
    if (u->groups)
        assert_int_equal(session_set(s, STR("groups"), str_of(u->groups)), OK);
    return s;
}

/* Logarithms of the probabilities, as far as REACH scales out. */
static size_t scale_of(const struct choice *c, mpq_srcptr s, const char *shrink)
{
    struct law law;
    mpz_t k;
    mpq_t shrunk;
    for (size_t i = 0; i < n_scales; i++)
        if (mpq_equal(scales[i].s, s))
            return i;
    assert_true(n_scales < MAX_KINDS);
    struct scale *out = &scales[n_scales];
    struct err err;
    mpq_init(out->s);
    mpq_set(out->s, s);
    mpq_init(shrunk);
    assert_int_equal(rat_read(str_of(shrink), "shrink", shrunk, &err), OK);
    mpq_mul(shrunk, shrunk, s);
    mpz_init(k);
    law_open(&law, &c->noise, 128);
    for (int i = -REACH; i <= REACH; i++) {
        struct iv p;
        iv_init(&p, 128);
        mpz_set_si(k, i);
        law_mass(&law, shrunk, k, &p);
        out->low[i + REACH] = log(mpfr_get_d(p.lo, MPFR_RNDD));
        out->high[i + REACH] = log(mpfr_get_d(p.hi, MPFR_RNDU));
        iv_fini(&p);
    }
    law_close(&law);
    mpz_clear(k);
    mpq_clear(shrunk);
    return n_scales++;
}

static void evaluate_instance(const struct universe *u, unsigned bits,
                              struct outcome *out)
{
    struct session *s = make_session(u);
    struct prepared p;
    struct choice c;
    struct group_keys k;
    struct evaluated data = {0};
    struct engine e = {0};
    struct secret_scale smooth;
    struct err err;
    struct secret_count counts[MAX_GROUPS_HERE];
    write_instance(u, bits);
    prepared_init(&p, s);
    choice_init(&c);
    secret_scale_init(&smooth);
    if (prepare_schema(&p, SOURCE_REQUIRED, &err) != OK ||
        prepare_query(&p, str_of(u->query), &err) != OK ||
        prepare_bounds(&p, false, &err) != OK ||
        group_keys(p.counts, &k, &err) != OK ||
        choose(p.counts, &k, &c, &err) != OK ||
        evaluate_load(&p, &data, &err) != OK ||
        evaluate_open(&p, &data, p.counts->normal, &e, &err) != OK ||
        evaluate_counts(p.counts, &data, &e, &k, counts, &err) != OK ||
        evaluate_smooth(p.counts, &e, c.smooth.beta, c.smooth.factor, &smooth,
                        &err) != OK)
        fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(c.kind, CHOICE_SMOOTH);
    out->n_groups = k.n_cols ? k.n : 1;
    for (size_t g = 0; g < out->n_groups; g++)
        out->count[g] = (double)secret_count_open(&counts[g]);
    out->kind = scale_of(&c, secret_scale_open(&smooth), u->shrink);
    secret_scale_fini(&smooth);
    engine_close(&e);
    evaluated_fini(&data);
    choice_fini(&c);
    prepared_fini(&p);
    session_free(s);
}

/* The largest ln p(y)/p'(y) over outputs y, certain (low) and possible. */
static void worst_loss(const struct outcome *x, const struct outcome *y,
                       double *certain, double *possible)
{
    const struct scale *a = &scales[x->kind], *b = &scales[y->kind];
    *certain = *possible = 0;
    for (size_t g = 0; g < x->n_groups; g++) {
        int shift = (int)(x->count[g] - y->count[g]);
        double low = -1e300, high = -1e300;
        for (int k = -REACH; k <= REACH; k++) {
            int other = k + shift;
            if (other < -REACH || other > REACH)
                continue;
            low = fmax(low, a->low[k + REACH] - b->high[other + REACH]);
            high = fmax(high, a->high[k + REACH] - b->low[other + REACH]);
        }
        *certain += low;
        *possible += high;
    }
}

/* One fact more or less, or (change_one) one replaced by another of its
 * table. */
static bool neighbours(const struct universe *u, unsigned differ, unsigned in)
{
    int n = __builtin_popcount(differ);
    if (n != 2 || !u->change_one)
        return n == 1;
    int low = __builtin_ctz(differ), high = 31 - __builtin_clz(differ);
    return u->facts[low].table == u->facts[high].table &&
           (in >> low & 1) != (in >> high & 1);
}

static double audit(const struct universe *u)
{
    unsigned n = 1u << u->n_facts;
    struct outcome *all = calloc(n, sizeof *all);
    double worst = 0;
    assert_non_null(all);
    n_scales = 0;
    for (unsigned i = 0; i < n; i++)
        evaluate_instance(u, i, &all[i]);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            double certain, possible;
            if (!neighbours(u, i ^ j, i))
                continue;
            worst_loss(&all[i], &all[j], &certain, &possible);
            worst = fmax(worst, possible);
        }
    for (size_t i = 0; i < n_scales; i++)
        mpq_clear(scales[i].s);
    free(all);
    print_message("%s: %u instances, %zu scales, worst loss %.6f\n", u->query,
                  n, n_scales, worst);
    return worst;
}

static struct universe self_join = {
    .query = "Q(x,y,z) :- E(x,y), E(y,z).",
    .shrink = "1",
    .facts = {{0, 1, 1},
              {0, 1, 2},
              {0, 2, 1},
              {0, 2, 2},
              {0, 1, 3},
              {0, 3, 1},
              {0, 2, 3}},
    .n_facts = 7,
};
static struct universe projection = {
    .query = "Q(x) :- E(x,y), F(y).",
    .shrink = "1",
    .facts = {{0, 1, 1}, {0, 1, 2}, {0, 2, 1}, {0, 2, 2}, {1, 1, 0}, {1, 2, 0}},
    .n_facts = 6,
};
static struct universe grouped = {
    .query = "Q(x; y) :- E(x,y), F(y).",
    .groups = "1,2",
    .shrink = "1",
    .facts = {{0, 1, 1}, {0, 1, 2}, {0, 2, 1}, {0, 2, 2}, {1, 1, 0}, {1, 2, 0}},
    .n_facts = 6,
};

static void self_join_is_private(void **state)
{
    (void)state;
    double w = audit(&self_join);
    assert_true(w <= 1 + 1e-9);
    assert_true(w > 0.5); /* the test can see something */
}

static void projection_is_private(void **state)
{
    (void)state;
    double w = audit(&projection);
    assert_true(w <= 1 + 1e-9);
    assert_true(w > 0.3);
}

static void grouped_is_private(void **state)
{
    (void)state;
    double w = audit(&grouped);
    assert_true(w <= 1 + 1e-9);
    assert_true(w > 0.2);
}

static void grouped_change_one_is_private(void **state)
{
    (void)state;
    struct universe u = grouped;
    u.change_one = true;
    double w = audit(&u);
    assert_true(w <= 1 + 1e-9);
    assert_true(w > 0.2);
}

/* A scalar count covers substitution without being asked. */
static void substitution_is_covered(void **state)
{
    (void)state;
    struct universe u = self_join;
    u.change_one = true;
    assert_true(audit(&u) <= 1 + 1e-9);
}

/* Half the scale must be seen. */
static void defect_is_seen(void **state)
{
    (void)state;
    struct universe u = self_join;
    u.shrink = "0.5";
    assert_true(audit(&u) > 1.01);
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
        cmocka_unit_test(self_join_is_private),
        cmocka_unit_test(projection_is_private),
        cmocka_unit_test(grouped_is_private),
        cmocka_unit_test(grouped_change_one_is_private),
        cmocka_unit_test(substitution_is_covered),
        cmocka_unit_test(defect_is_seen),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
