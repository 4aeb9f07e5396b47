/*
 * The processes of an open data set: rows are loaded once and shared by all
 * questions of one content, also of threads; a new content is loaded anew; a
 * worker that would draw by another law than was paid for draws nothing; an
 * engine that died is started again. Calls are counted by the linker's --wrap,
 * in memory that all processes share.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <pthread.h>

#include "dpcount.h"
#include "harness/scratch.h"
#include "release/release_int.h"

struct shared {
    atomic_int loads; /* calls of source_load, that is of the engine */
    atomic_int opens; /* of the source in the engine and in workers */
    atomic_int lie;   /* the worker's law is another */
    atomic_int die;   /* the engine dies while it loads */
    atomic_int laws;
    atomic_int engine; /* its process */
    /* what a process shares with others that can write there */
    atomic_int of_engine, of_helper, of_worker;
};
static struct shared *seen;
static char dir[SCRATCH_PATH];

static int mappings_shared(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, " rw-s ") != NULL;
    if (f)
        fclose(f);
    return n;
}

__typeof__(source_load) __real_source_load, __wrap_source_load;
enum status __wrap_source_load(struct source *src, const struct cq *q,
                               struct store *st, const struct progress *p,
                               struct err *err)
{
    atomic_fetch_add(&seen->loads, 1);
    atomic_store(&seen->engine, getpid());
    atomic_store(&seen->of_engine, mappings_shared());
    if (atomic_load(&seen->die))
        _exit(1);
    return __real_source_load(src, q, st, p, err);
}

__typeof__(source_load_for) __real_source_load_for, __wrap_source_load_for;
enum status __wrap_source_load_for(struct source *src, const struct cq *columns,
                                   const struct cq *const *rows, size_t n_rows,
                                   struct store *st, const struct progress *p,
                                   struct err *err)
{
    atomic_fetch_add(&seen->opens, 1);
    return __real_source_load_for(src, columns, rows, n_rows, st, p, err);
}

/* The keeper writes the law, the worker makes it again. */
__typeof__(release_law) __real_release_law, __wrap_release_law;
struct str __wrap_release_law(const struct priced *c)
{
    struct str law = __real_release_law(c);
    bool worker = atomic_fetch_add(&seen->laws, 1) % 2;
    atomic_store(worker ? &seen->of_worker : &seen->of_helper,
                 mappings_shared());
    return worker && atomic_load(&seen->lie) ? STR("another") : law;
}

/* --- a data set ----------------------------------------------------------- */

/* Old enough for its fingerprint to be remembered. */
static void write_rows(const char *name, int n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%d,%d,%d\n", i, i % 7, i % 5);
    fclose(f);
}

static void set(dpc_dataset *d, const char *name, const char *format)
{
    char text[256];
    snprintf(text, sizeof text, format, dir);
    dpc_error *e = NULL;
    if (dpc_dataset_set(d, name, text, &e))
        fail_msg("%s", dpc_error_message(e));
}

static dpc_dataset *open_dataset(const char *memory)
{
    dpc_dataset *d;
    dpc_result *r;
    dpc_error *e = NULL;
    char path[128];
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    set(d, "ledger", "%s/ledger");
    set(d, "table", "t(id,a,b)=%s/t.csv");
    set(d, "table", "u(id,a,b)=%s/u.csv");
    set(d, "constraint", "t: id -> *");
    set(d, "constraint", "u: id -> *");
    if (memory)
        set(d, "memory", memory);
    snprintf(path, sizeof path, "%s/ledger", dir);
    if (access(path, F_OK) != 0) {
        if (dpc_budget_init(d, "1000", NULL, &r, &e))
            fail_msg("%s", dpc_error_message(e));
        dpc_result_free(r);
    }
    if (dpc_dataset_open(d, 0, &e))
        fail_msg("%s", dpc_error_message(e));
    return d;
}

/* With so large an epsilon the answer is the count. */
static dpc_status ask(const dpc_dataset *d, const char *query, long *out,
                      char code[64])
{
    dpc_question *q;
    dpc_result *r;
    dpc_error *e = NULL;
    assert_int_equal(dpc_question_new(query, &q), DPC_OK);
    assert_int_equal(dpc_question_set(q, "epsilon", "20", NULL), DPC_OK);
    assert_int_equal(dpc_question_set(q, "fresh", "yes", NULL), DPC_OK);
    dpc_status st = dpc_release(d, q, NULL, &r, &e);
    code[0] = 0;
    if (st == DPC_OK) {
        *out = atol(dpc_result_cell(r, 0, 0));
        if (!strstr(dpc_result_json(r), "\"isolation\": \"process\""))
            st = DPC_INTERNAL;
    } else {
        snprintf(code, 64, "%s", dpc_error_code(e));
    }
    dpc_result_free(r);
    dpc_error_free(e);
    dpc_question_free(q);
    return st;
}

static void expect(const dpc_dataset *d, const char *query, long count)
{
    char code[64];
    long v = -1;
    if (ask(d, query, &v, code))
        fail_msg("%s: %s", query, code);
    assert_int_equal(v, count);
}

static int make_files(void **state)
{
    (void)state;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || scratch_make(dir))
        return -1;
    write_rows("t.csv", 700);
    write_rows("u.csv", 350);
    return 0;
}

static int drop_files(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

/* --- tests ---------------------------------------------------------------- */

static void test_loaded_once(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset(NULL);
    atomic_store(&seen->loads, 0);
    atomic_store(&seen->opens, 0);
    expect(d, "Q(i,b) :- t(i,3,b).", 100);
    assert_int_equal(atomic_load(&seen->loads), 1);
    expect(d, "Q(i,b) :- t(i,4,b).", 100);
    expect(d, "Q(i,a) :- t(i,a,2).", 140);
    expect(d, "Q(i) :- t(i,3,2).", 20);
    assert_int_equal(atomic_load(&seen->loads), 1);
    expect(d, "Q(i,a) :- t(i,a,2), u(i,a,2).", 70); /* u is new, t is not */
    assert_int_equal(atomic_load(&seen->loads), 2);
    expect(d, "Q(i,b) :- u(i,3,b).", 50);
    assert_int_equal(atomic_load(&seen->loads), 2);
    assert_int_equal(atomic_load(&seen->opens), 0); /* no worker loaded */
    /* what helpers share, and with whom: `seen` alone is everybody's */
    assert_true(atomic_load(&seen->of_helper) >= 3);
    assert_int_equal(atomic_load(&seen->of_engine), 1);
    assert_int_equal(atomic_load(&seen->of_worker), 1);
    dpc_dataset_free(d);
}

static void test_new_content(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset(NULL);
    for (int n = 70; n <= 1400; n *= 2) {
        write_rows("t.csv", n);
        expect(d, "Q(i,b) :- t(i,3,b).", n / 7);
    }
    write_rows("t.csv", 700);
    expect(d, "Q(i,b) :- t(i,3,b).", 100);
    dpc_dataset_free(d);
}

struct asker {
    const dpc_dataset *d;
    int failed;
    char code[64];
};

static void *ask_often(void *ctx)
{
    struct asker *x = ctx;
    for (int i = 0; i < 3 && !x->failed; i++) {
        long v = -1;
        x->failed = ask(x->d, "Q(i,b) :- t(i,3,b).", &v, x->code) || v != 100;
    }
    return NULL;
}

/* One data set, four threads that ask at once: isolated all the same. */
static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    dpc_dataset *d = open_dataset(NULL);
    struct asker x[THREADS] = {{0}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        x[i].d = d;
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &x[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (x[i].failed)
            fail_msg("thread %d: %s", i, x[i].code);
    }
    dpc_dataset_free(d);
}

/* Tables that do not fit together take turns; one that never fits is loaded
 * by its worker. */
static void test_memory(void **state)
{
    (void)state;
    write_rows("t.csv", 70000);
    write_rows("u.csv", 70000);
    dpc_dataset *d = open_dataset("8M");
    for (int i = 0; i < 2; i++) {
        expect(d, "Q(i,b) :- t(i,3,b).", 10000);
        expect(d, "Q(i,b) :- u(i,3,b).", 10000);
    }
    dpc_dataset_free(d);
    write_rows("t.csv", 700);
    write_rows("u.csv", 350);
}

static void unlock(const dpc_dataset *d)
{
    dpc_result *r;
    dpc_error *e = NULL;
    if (dpc_budget_unlock(d, &r, &e))
        fail_msg("%s", dpc_error_message(e));
    dpc_result_free(r);
}

/* Charged, and nothing else: the same for every reason. */
static void expect_locked(const dpc_dataset *d)
{
    char code[64];
    long v;
    assert_int_equal(ask(d, "Q(i,b) :- t(i,3,b).", &v, code), DPC_SOURCE);
    assert_string_equal(code, "locked");
    unlock(d);
}

static void test_another_law(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset(NULL);
    atomic_store(&seen->laws, 0);
    atomic_store(&seen->lie, 1);
    expect_locked(d);
    atomic_store(&seen->lie, 0);
    atomic_store(&seen->laws, 0);
    expect(d, "Q(i,b) :- t(i,3,b).", 100);
    dpc_dataset_free(d);
}

static void test_engine_dies(void **state)
{
    (void)state;
    dpc_dataset *d = open_dataset(NULL);
    atomic_store(&seen->die, 1);
    expect_locked(d);
    atomic_store(&seen->die, 0);
    expect(d, "Q(i,b) :- t(i,3,b).", 100); /* another one */
    dpc_dataset_free(d);
}

/* When nobody has the data set its processes end. */
static void test_ends(void **state)
{
    (void)state;
    const struct timespec pause = {.tv_nsec = 20000000};
    dpc_dataset *d = open_dataset(NULL);
    write_rows("t.csv", 701);
    expect(d, "Q(i,b) :- t(i,0,b).", 101);
    int engine = atomic_load(&seen->engine);
    assert_int_equal(kill(engine, 0), 0);
    dpc_dataset_free(d);
    int gone = 0;
    for (int i = 0; i < 500 && !gone; i++) {
        gone = kill(engine, 0) != 0;
        nanosleep(&pause, NULL);
    }
    assert_true(gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaded_once), cmocka_unit_test(test_new_content),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_another_law), cmocka_unit_test(test_engine_dies),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
