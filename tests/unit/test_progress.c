/*
 * Progress comes on the thread that called and at most ten times a second,
 * also when four threads work, and cancelling ends all of them soon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "dpcount.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH], table[128];

/* Long with four threads too, over so many nodes that all four work. */
#define LONG                                                                   \
    "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(c,d), E(d,e), E(e,a), a != c, b != d, " \
    "c != e, d != a, e != b."

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct seen {
    pthread_t caller;
    int calls, elsewhere, early, threads;
    double last;
    double stop_after, start, stopped; /* seconds; 0: never */
    int when; /* start anew with so many threads: rows are loaded by then */
};

static int count_threads(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static int on_progress(void *ctx, const char *what, unsigned long long done,
                       unsigned long long total)
{
    struct seen *s = ctx;
    double t = now();
    (void)what;
    (void)done;
    (void)total;
    s->elsewhere += !pthread_equal(pthread_self(), s->caller);
    s->early += s->calls && t - s->last < 0.0999;
    s->calls++;
    int threads = count_threads();
    s->threads = threads > s->threads ? threads : s->threads;
    s->last = t;
    if (threads < s->when)
        s->start = t;
    if (!s->stop_after || t - s->start < s->stop_after)
        return 1;
    s->stopped = t;
    return 0;
}

static dpc_status count(struct seen *seen, const char *threads)
{
    dpc_dataset *d;
    dpc_question *q;
    dpc_result *r;
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    assert_int_equal(dpc_dataset_set(d, "table", table, NULL), DPC_OK);
    assert_int_equal(dpc_dataset_set(d, "threads", threads, NULL), DPC_OK);
    assert_int_equal(dpc_dataset_open(d, 0, NULL), DPC_OK);
    assert_int_equal(dpc_question_new(LONG, &q), DPC_OK);
    seen->caller = pthread_self();
    seen->start = now();
    dpc_question_progress(q, on_progress, seen);
    dpc_status st = dpc_count(d, q, &r, NULL);
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
    return st;
}

static void test_where_and_how_often(void **state)
{
    (void)state;
    struct seen seen = {.stop_after = 1.5};
    count(&seen, "4");
    assert_true(seen.threads >= 4);
    assert_int_equal(seen.elsewhere, 0);
    assert_int_equal(seen.early, 0);
    assert_true(seen.calls >= 3); /* it is long enough to tell */
}

static void test_cancelled_soon(void **state)
{
    (void)state;
    double best[2] = {10, 10}; /* the machine may be busy */
    for (int i = 0; i < 6; i++) {
        struct seen seen = {.stop_after = 0.2, .when = i % 2 ? 4 : 1};
        assert_int_equal(count(&seen, i % 2 ? "4" : "1"), DPC_LIMIT);
        double took = now() - seen.stopped;
        best[i % 2] = took < best[i % 2] ? took : best[i % 2];
    }
    assert_true(best[0] < 0.1);
    assert_true(best[1] < 0.1);
}

struct elsewhere {
    dpc_question *q;
    double at;
};

static void *cancel_later(void *ctx)
{
    struct elsewhere *x = ctx;
    const struct timespec pause = {.tv_nsec = 200000000};
    for (int i = 0; i < 150 && count_threads() < 5; i++)
        nanosleep(&pause, NULL); /* until the workers and this one are there */
    nanosleep(&pause, NULL);
    x->at = now();
    dpc_question_cancel(x->q);
    return NULL;
}

/* Nobody listens to progress; another thread ends it. */
static void test_cancelled_from_elsewhere(void **state)
{
    (void)state;
    double best = 10;
    dpc_dataset *d;
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    assert_int_equal(dpc_dataset_set(d, "table", table, NULL), DPC_OK);
    assert_int_equal(dpc_dataset_set(d, "threads", "4", NULL), DPC_OK);
    assert_int_equal(dpc_dataset_open(d, 0, NULL), DPC_OK);
    for (int i = 0; i < 5; i++) {
        struct elsewhere x;
        pthread_t thread;
        dpc_result *r;
        dpc_error *e;
        assert_int_equal(dpc_question_new(LONG, &x.q), DPC_OK);
        assert_int_equal(pthread_create(&thread, NULL, cancel_later, &x), 0);
        assert_int_equal(dpc_count(d, x.q, &r, &e), DPC_LIMIT);
        double took = now();
        pthread_join(thread, NULL);
        assert_string_equal(dpc_error_code(e), "cancelled");
        best = took - x.at < best ? took - x.at : best;
        dpc_error_free(e);
        dpc_question_free(x.q);
    }
    dpc_dataset_free(d);
    assert_true(best < 0.1);
}

static int make_files(void **state)
{
    char path[96];
    unsigned x = 1;
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/e.csv", dir);
    snprintf(table, sizeof table, "E(s,t)=%s", path);
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < 400000; i++) {
        x = x * 1103515245 + 12345;
        unsigned a = x >> 16 & 8191;
        x = x * 1103515245 + 12345;
        fprintf(f, "%u,%u\n", a, x >> 16 & 8191);
    }
    return f ? fclose(f) : -1;
}

static int drop_files(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_and_how_often),
        cmocka_unit_test(test_cancelled_soon),
        cmocka_unit_test(test_cancelled_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
