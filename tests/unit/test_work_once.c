/*
 * Work is done once for all counts of a request: three counts over one file,
 * with noise measured on the data and an error estimate from its scale. The
 * functions whose work must not be repeated are counted by the linker's
 * --wrap, in memory that the processes of a release share; so are the calls of
 * open that name the file. Processes of a release carry on with the descriptor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "bound/advice.h"
#include "bound/bound_explain.h"
#include "harness/session_set.h"
#include "harness/scratch.h"
#include "report/report.h"
#include "sens/state.h"
#include "sql/sql.h"

/* Counts the calls of a function and makes them. Its type is the function's
 * own, so that other parameters there do not compile here. */
#define COUNTED(name, params, args)                                            \
    static int *calls_##name;                                                  \
    __typeof__(name) __real_##name, __wrap_##name;                             \
    enum status __wrap_##name params                                           \
    {                                                                          \
        ++*calls_##name;                                                       \
        return __real_##name args;                                             \
    }

static int *calls_open;

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
    if (strstr(path, "edge.csv"))
        ++*calls_open;
    return __real_open(path, flags, mode);
}

COUNTED(source_open,
        (struct mem * m, const struct source_spec *spec, struct schema *s,
         struct source **out, struct err *err),
        (m, spec, s, out, err))
COUNTED(sql_read,
        (struct arena * a, struct schema *s, struct str text,
         const struct sql_options *opt, struct sql_statement *out,
         struct err *err),
        (a, s, text, opt, out, err))
COUNTED(source_load_for,
        (struct source * src, const struct cq *columns,
         const struct cq *const *rows, size_t n_rows, struct store *st,
         const struct progress *p, struct err *err),
        (src, columns, rows, n_rows, st, p, err))
COUNTED(tab_core,
        (struct arena * a, struct tab *t, struct work *work, struct err *err),
        (a, t, work, err))

/* Plans and fillings of one process: T is filled by the plan made for it, and
 * neither is made again for the estimate of the error. */
static int *calls_sens_state_fill, *plans_again;
static struct {
    pid_t process;
    int plans, fills;
} here;

static void note_process(void)
{
    if (here.process == getpid())
        return;
    memset(&here, 0, sizeof here);
    here.process = getpid();
}

__typeof__(sens_plan_new) __real_sens_plan_new, __wrap_sens_plan_new;
enum status __wrap_sens_plan_new(struct arena *a, const struct cq *q,
                                 bool filters_exact, struct sens_plan **out,
                                 struct err *err)
{
    note_process();
    here.plans++;
    return __real_sens_plan_new(a, q, filters_exact, out, err);
}

__typeof__(sens_state_fill) __real_sens_state_fill, __wrap_sens_state_fill;
enum status __wrap_sens_state_fill(struct sens_state *s,
                                   const struct sens_counter *counter,
                                   struct err *err)
{
    note_process();
    here.fills++;
    ++*calls_sens_state_fill;
    *plans_again += here.plans > here.fills;
    return __real_sens_state_fill(s, counter, err);
}

COUNTED(bound_advise,
        (struct arena * a, const struct advised *parts, size_t n, bool both,
         u128 now, struct work *work, struct bound *out, struct err *err),
        (a, parts, n, both, now, work, out, err))
COUNTED(bound_explain,
        (struct arena * a, const struct upper *up, struct bound *out,
         struct err *err),
        (a, up, out, err))

#define THREE                                                                  \
    "SELECT COUNT(*), COUNT(DISTINCT a.src), COUNT(DISTINCT b.dst) "           \
    "FROM edge a JOIN edge b ON a.dst = b.src"

static char dir[SCRATCH_PATH];

static void set(struct session *s, const char *name, const char *value)
{
    assert_int_equal(session_set(s, str_of(name), str_of(value)), OK);
}

static void set_path(struct session *s, const char *name, const char *format)
{
    char text[160];
    snprintf(text, sizeof text, format, dir);
    set(s, name, text);
}

static void ask(struct session *s, ask_fn *fn, const char *query)
{
    struct result *r = result_new();
    struct err err;
    assert_non_null(r);
    if (fn(s, str_of(query), r, &err) != OK)
        fail_msg("%s %s", err.message, err.detail);
    result_free(r);
}

static void forget(void)
{
    *calls_open = 0;
    *calls_source_open = 0;
    *calls_sql_read = 0;
    *calls_source_load_for = 0;
    *calls_tab_core = 0;
    *calls_sens_state_fill = 0;
    *plans_again = 0;
    *calls_bound_advise = 0;
    *calls_bound_explain = 0;
}

static void test_release(void **state)
{
    struct session *s;
    struct err err;
    (void)state;
    assert_int_equal(session_new(&s, &err), OK);
    set_path(s, "ledger", "%s/ledger");
    set(s, "epsilon", "10");
    ask(s, ask_budget_init, NULL);
    set_path(s, "table", "edge(src,dst)=%s/edge.csv");
    set(s, "epsilon", "1");
    forget();
    ask(s, ask_release, THREE);
    assert_int_equal(*calls_source_open, 1);
    assert_int_equal(*calls_open, 1);
    assert_int_equal(*calls_sql_read, 1);
    assert_int_equal(*calls_source_load_for, 1);
    assert_int_equal(*calls_tab_core, 3); /* one for each count */
    assert_int_equal(*calls_sens_state_fill, 3);
    assert_int_equal(*plans_again, 0); /* one plan for each */
    assert_int_equal(*calls_bound_advise, 0);
    assert_int_equal(*calls_bound_explain, 0);
    forget();
    ask(s, ask_release, THREE); /* stored: no row is read */
    assert_int_equal(*calls_source_open, 1);
    assert_int_equal(*calls_open, 1);
    assert_int_equal(*calls_source_load_for, 0);
    session_free(s);
}

static void test_owner(void **state)
{
    struct session *s;
    struct err err;
    (void)state;
    assert_int_equal(session_new(&s, &err), OK);
    set_path(s, "table", "edge(src,dst)=%s/edge.csv");
    ask_fn *const asks[] = {ask_count, ask_sensitivity};
    for (size_t i = 0; i < 2; i++) {
        forget();
        ask(s, asks[i], THREE);
        assert_int_equal(*calls_source_open, 1);
        assert_int_equal(*calls_open, 1);
        assert_int_equal(*calls_sql_read, 1);
        assert_int_equal(*calls_source_load_for, 1);
        assert_int_equal(*calls_bound_explain, 0);
    }
    forget();
    ask(s, ask_analyze, THREE);
    assert_int_equal(*calls_sql_read, 1);
    assert_int_equal(*calls_source_load_for, 0);
    assert_int_equal(*calls_bound_explain, 3); /* asked for */
    session_free(s);
}

static int make_files(void **state)
{
    char path[160];
    (void)state;
    int *calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED)
        return -1;
    calls_open = calls++;
    calls_source_open = calls++;
    calls_sql_read = calls++;
    calls_source_load_for = calls++;
    calls_tab_core = calls++;
    calls_sens_state_fill = calls++;
    plans_again = calls++;
    calls_bound_advise = calls++;
    calls_bound_explain = calls++;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/edge.csv", dir);
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < 200; i++)
        fprintf(f, "%d,%d\n", i % 17, i % 23);
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
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_owner),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
