/*
 * Whatever is at work, it hears within 100 ms that it shall end: sealing, the
 * packing of what several people own, statements of PostgreSQL. The join has
 * tests of its own (test_progress.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "dpcount.h"
#include "harness/pg_server.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH], table[128], few[128], people[128], policy[96];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A call, and who ends it from another thread. */
struct ended {
    dpc_dataset *d;
    dpc_question *q; /* NULL: a call without one */
    dpc_status (*call)(const struct ended *x, dpc_result **r, dpc_error **e);
    double after, at;
};

static void *end_it(void *ctx)
{
    struct ended *x = ctx;
    const struct timespec pause = {.tv_nsec = (long)(x->after * 1e9)};
    nanosleep(&pause, NULL);
    x->at = now();
    if (x->q)
        dpc_question_cancel(x->q);
    else
        dpc_dataset_cancel(x->d);
    return NULL;
}

/* Seconds from the cancelling to the end of the call; -1: it was done before.
 */
static double ends_after(struct ended *x)
{
    pthread_t thread;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    assert_int_equal(pthread_create(&thread, NULL, end_it, x), 0);
    dpc_status st = x->call(x, &r, &e);
    double end = now();
    pthread_join(thread, NULL);
    dpc_result_free(r);
    if (st == DPC_OK)
        return -1;
    if (st != DPC_LIMIT)
        fail_msg("status %d: %s", (int)st, dpc_error_message(e));
    assert_string_equal(dpc_error_code(e), "cancelled");
    dpc_error_free(e);
    return end - x->at;
}

/* At several moments of the work, earlier ones where it takes less long; the
 * machine may be busy, so that each has a few tries. */
static void ends_soon(struct ended *x, const double *moments, int n)
{
    for (int i = 0; i < n; i++) {
        double best = 10;
        x->after = moments[i];
        for (int k = 0; k < 16 && best >= 0.1; k++) {
            double took = ends_after(x);
            if (took < 0)
                x->after /= 2;
            else
                best = took < best ? took : best;
        }
        print_message("cancelled after %.2f s: %.0f ms\n", x->after,
                      1e3 * best);
        assert_true(best < 0.1);
    }
}

static dpc_status seal(const struct ended *x, dpc_result **r, dpc_error **e)
{
    return dpc_seal(x->d, r, e);
}

static dpc_status sensitivity(const struct ended *x, dpc_result **r,
                              dpc_error **e)
{
    return dpc_sensitivity(x->d, x->q, r, e);
}

static dpc_status count(const struct ended *x, dpc_result **r, dpc_error **e)
{
    return dpc_count(x->d, x->q, r, e);
}

static dpc_dataset *with(const char *const (*options)[2], size_t n)
{
    dpc_dataset *d;
    dpc_error *e = NULL;
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dpc_dataset_set(d, options[i][0], options[i][1], &e),
                         DPC_OK);
    if (dpc_dataset_open(d, 0, &e) != DPC_OK)
        fail_msg("%s: %s", dpc_error_message(e), dpc_error_detail(e));
    return d;
}

static void test_seal(void **state)
{
    (void)state;
    char ledger[96];
    dpc_result *r;
    snprintf(ledger, sizeof ledger, "%s/ledger", dir);
    const char *const options[][2] = {
        {"table", table}, {"ledger", ledger}, {"version", "v"}};
    struct ended x = {.d = with(options, 3), .call = seal};
    assert_int_equal(dpc_budget_init(x.d, "1", NULL, &r, NULL), DPC_OK);
    dpc_result_free(r);
    ends_soon(&x, (double[]){0.01, 0.05, 0.1}, 3);
    dpc_dataset_free(x.d);
}

static void test_pack(void **state)
{
    (void)state;
    const char *const options[][2] = {
        {"table", few}, {"table", people}, {"policy", policy}};
    struct ended x = {.d = with(options, 3), .call = sensitivity};
    assert_int_equal(
        dpc_question_new("SELECT COUNT(*) FROM \"F\" a JOIN \"F\" b ON a.t = "
                         "b.s JOIN \"F\" c ON b.t = c.s AND c.t = a.s",
                         &x.q),
        DPC_OK);
    ends_soon(&x, (double[]){0.3, 1, 2.5}, 3);
    dpc_question_free(x.q);
    dpc_dataset_free(x.d);
}

static void test_postgres(void **state)
{
    (void)state;
    const char *db = pg_server();
    if (!db)
        skip();
    assert_true(pg_server_run(
        "CREATE TABLE cancel_n AS SELECT generate_series(1, 4000) AS x"));
    const char *const options[][2] = {{"db", db}, {"engine", "sql"}};
    struct ended x = {.d = with(options, 2), .call = count};
    assert_int_equal(dpc_question_new("SELECT COUNT(*) FROM cancel_n a, "
                                      "cancel_n b, cancel_n c WHERE a.x < b.x "
                                      "AND b.x < c.x AND a.x < c.x",
                                      &x.q),
                     DPC_OK);
    ends_soon(&x, (double[]){0.3, 0.6}, 2);
    dpc_question_free(x.q);
    dpc_dataset_free(x.d);
}

static int make_edges(const char *path, int rows, unsigned nodes)
{
    uint32_t x = 1;
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < rows; i++) {
        x = x * 1103515245 + 12345;
        unsigned a = (x >> 16) % nodes;
        x = x * 1103515245 + 12345;
        fprintf(f, "%u,%u\n", a, (x >> 16) % nodes);
    }
    return f ? fclose(f) : -1;
}

static int make_files(void **state)
{
    char path[96];
    FILE *f;
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/e.csv", dir);
    snprintf(table, sizeof table, "E(s,t)=%s", path);
    if (make_edges(path, 1000000, 16384))
        return -1;
    snprintf(path, sizeof path, "%s/f.csv", dir);
    snprintf(few, sizeof few, "F(s,t)=%s", path);
    if (make_edges(path, 40000, 600))
        return -1;
    snprintf(path, sizeof path, "%s/p.csv", dir);
    snprintf(people, sizeof people, "P(s)=%s", path);
    f = fopen(path, "w");
    for (int i = 0; f && i < 16384; i++)
        fprintf(f, "%d\n", i);
    if (!f || fclose(f))
        return -1;
    snprintf(policy, sizeof policy, "%s/policy.yaml", dir);
    f = fopen(policy, "w");
    if (!f)
        return -1;
    fputs("entities: [P]\ntables:\n  P: {keys: [[s]]}\n  F:\n    owned_by:\n"
          "      - {via: [s], table: P}\n      - {via: [t], table: P}\n",
          f);
    return fclose(f);
}

static int drop_files(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seal),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_postgres),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
