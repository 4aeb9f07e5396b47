/*
 * Black-box audit: two neighbouring databases, many releases of each through
 * the library as users call it (files, ledger and all), and the question
 * whether some event is so much likelier on one of them that the claimed
 * epsilon cannot be true. The sabotaged program (test_release_sabotaged.c),
 * whose noise has 0.8 of its scale, must be rejected by the same test.
 *
 * Decision: with z = 5 for both proportions, a true mechanism is rejected with
 * probability below 1e-5. DPC_AUDIT_RUNS changes the number of releases (the
 * full audit has 100000).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "dpcount.h"
#include "harness/scratch.h"

#ifndef SABOTAGED
#define SABOTAGED 0
#endif

enum { RUNS = 6000, BINS = 41 };

static const double epsilon = 1;
static char dir[SCRATCH_PATH];

static void write_rows(const char *name, int n)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%d %d\n", i, i + 1);
    fclose(f);
}

static long runs(void)
{
    const char *text = getenv("DPC_AUDIT_RUNS");
    return text ? atol(text) : RUNS;
}

static void must(dpc_status st, dpc_error *e)
{
    if (st)
        fail_msg("%s: %s", dpc_error_message(e), dpc_error_detail(e));
}

static void set(dpc_dataset *d, const char *name, const char *value)
{
    assert_int_equal(dpc_dataset_set(d, name, value, NULL), DPC_OK);
}

static void make_ledger(const dpc_dataset *d, long n)
{
    dpc_result *r;
    dpc_error *e = NULL;
    must(dpc_budget_init(d, "1000", NULL, &r, &e), e);
    dpc_result_free(r);
    for (long i = 1000; i < n; i += 1000) {
        must(dpc_budget_grant(d, NULL, "1000", NULL, &r, &e), e);
        dpc_result_free(r);
    }
}

/* How often each answer -20 .. 20 came out; what is beyond goes to the ends. */
static void sample(const char *name, long n, long hist[BINS])
{
    dpc_dataset *d;
    dpc_question *q;
    dpc_result *r;
    dpc_error *e = NULL;
    char text[128];
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    snprintf(text, sizeof text, "%s/%s.ledger", dir, name);
    set(d, "ledger", text);
    snprintf(text, sizeof text, "E(a,b)=%s/%s", dir, name);
    set(d, "table", text);
    make_ledger(d, n);
    must(dpc_dataset_open(d, 0, &e), e);
    assert_int_equal(dpc_question_new("Q(x,y) :- E(x,y).", &q), DPC_OK);
    must(dpc_question_set(q, "epsilon", "1", &e), e);
    must(dpc_question_set(q, "fresh", "yes", &e), e);
    for (long i = 0; i < n; i++) {
        must(dpc_release(d, q, NULL, &r, &e), e);
        long v = atol(dpc_result_cell(r, 0, 0));
        hist[v < -20 ? 0 : v > 20 ? BINS - 1 : v + 20]++;
        dpc_result_free(r);
    }
    dpc_question_free(q);
    dpc_dataset_free(d);
}

/* A lower bound on ln(p/q), certain up to z standard deviations. */
static double log_ratio(long a, long b, long n)
{
    double p = (double)a / (double)n, q = (double)(b + 1) / (double)n;
    if (a < 100)
        return 0;
    double sp = sqrt((1 - p) / (p * (double)n));
    double sq = sqrt((1 - q) / (q * (double)n));
    return log(p) - log(q) - 5 * (sp + sq);
}

/* Over all events "answer at least t" and "answer at most t", both ways. */
static double epsilon_at_least(const long a[BINS], const long b[BINS], long n)
{
    double worst = 0;
    long up_a = 0, up_b = 0;
    for (int t = 0; t < BINS; t++) {
        up_a += a[t];
        up_b += b[t];
        worst = fmax(worst, log_ratio(up_a, up_b, n));
        worst = fmax(worst, log_ratio(up_b, up_a, n));
        worst = fmax(worst, log_ratio(n - up_a, n - up_b, n));
        worst = fmax(worst, log_ratio(n - up_b, n - up_a, n));
    }
    return worst;
}

static void neighbours(void **state)
{
    (void)state;
    static long a[BINS], b[BINS];
    long n = runs();
    write_rows("small", 3);
    write_rows("large", 4);
    sample("small", n, a);
    sample("large", n, b);
    double found = epsilon_at_least(a, b, n);
    print_message("%ld releases each: epsilon is at least %.4f\n", n, found);
    if (SABOTAGED)
        assert_true(found > epsilon);
    else
        assert_true(found <= epsilon && found > 0.7 * epsilon);
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
        cmocka_unit_test(neighbours),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
