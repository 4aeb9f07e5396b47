/*
 * Work in a process of its own (release/child.h): the message arrives whole or
 * not at all, whatever becomes of the child; its limits hold; it has no
 * terminal and no descriptors; it dies with its parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "release/child.h"

static struct mem mem;
static struct arena arena;

static enum status run(const struct child_limits *l, child_fn *fn, void *ctx,
                       struct str *out, struct err *err)
{
    return child_run(&arena, l, fn, ctx, out, err);
}

static enum status say(void *ctx, struct str *out, struct err *err)
{
    (void)err;
    *out = *(struct str *)ctx;
    return OK;
}

static void test_message(void **state)
{
    (void)state;
    struct child_limits l = {0};
    struct str out, small = STR("noisy"), none = STR("");
    struct err err;
    assert_int_equal(run(&l, say, &small, &out, &err), OK);
    assert_true(str_is(out, "noisy"));
    assert_int_equal(run(&l, say, &none, &out, &err), OK);
    assert_int_equal(out.n, 0);
    size_t n = 3 << 20;
    char *big = malloc(n);
    assert_non_null(big);
    for (size_t i = 0; i < n; i++)
        big[i] = (char)(i * 7 % 251);
    struct str large = {big, n};
    assert_int_equal(run(&l, say, &large, &out, &err), OK);
    assert_true(str_eq(out, large));
    l.most = n - 1; /* it says too much */
    assert_int_equal(run(&l, say, &large, &out, &err), E_CHILD);
    free(big);
}

static enum status refuse(void *ctx, struct str *out, struct err *err)
{
    (void)ctx;
    (void)out;
    err_set(err, E_CONSTRAINT, "row %d", 7);
    return E_CONSTRAINT;
}

static void test_failure(void **state)
{
    (void)state;
    struct child_limits l = {0};
    struct str out;
    struct err err;
    assert_int_equal(run(&l, refuse, NULL, &out, &err), E_CONSTRAINT);
    assert_string_equal(err.message, "row 7");
}

static enum status die(void *ctx, struct str *out, struct err *err)
{
    (void)out;
    (void)err;
    signal(*(int *)ctx, SIG_DFL);
    raise(*(int *)ctx);
    return OK;
}

static enum status leave(void *ctx, struct str *out, struct err *err)
{
    (void)ctx;
    (void)out;
    (void)err;
    _exit(0);
}

static void test_ends(void **state)
{
    (void)state;
    const int signals[] = {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGTERM};
    struct child_limits l = {0};
    struct str out;
    struct err err;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int s = signals[i];
        assert_int_equal(run(&l, die, &s, &out, &err), E_CHILD);
        assert_null(out.p);
    }
    assert_int_equal(run(&l, leave, NULL, &out, &err), E_CHILD);
}

static enum status deaf(void *ctx, struct str *out, struct err *err)
{
    (void)ctx;
    (void)err;
    raise(SIGINT);
    raise(SIGHUP);
    raise(SIGQUIT);
    raise(SIGTERM);
    *out = STR("still here");
    return OK;
}

static void test_terminal(void **state)
{
    (void)state;
    struct child_limits l = {0};
    struct str out;
    struct err err;
    assert_int_equal(run(&l, deaf, NULL, &out, &err), OK);
}

static bool watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    const char *p = getenv("LD_PRELOAD");
    return p && strstr(p, "vgpreload");
#endif
}

static enum status eat(void *ctx, struct str *out, struct err *err)
{
    size_t n = *(size_t *)ctx;
    char *p = malloc(n);
    (void)err;
    if (!p)
        return err_nomem(err);
    memset(p, 1, n);
    *out = p[n / 2] ? STR("eaten") : STR("");
    free(p);
    return OK;
}

static enum status spin(void *ctx, struct str *out, struct err *err)
{
    (void)ctx;
    (void)out;
    (void)err;
    for (volatile unsigned long i = 0; i < i + 1; i++)
        ;
    return OK;
}

static void test_limits(void **state)
{
    (void)state;
    struct child_limits l = {.memory = 64 << 20};
    struct str out;
    struct err err;
    size_t fits = 16 << 20, not = 200 << 20;
    assert_int_equal(run(&l, eat, &fits, &out, &err), OK);
    if (!watched())
        assert_int_equal(run(&l, eat, &not, &out, &err), E_NOMEM);
    struct child_limits cpu = {.seconds = 1};
    assert_int_equal(run(&cpu, spin, NULL, &out, &err), E_CHILD);
}

static enum status look(void *ctx, struct str *out, struct err *err)
{
    static char text[64];
    struct rlimit core;
    (void)ctx;
    (void)err;
    getrlimit(RLIMIT_CORE, &core);
    int open_ones = 0;
    for (int fd = 0; fd < 64; fd++)
        open_ones += fcntl(fd, F_GETFD) != -1;
    printf("to nobody\n");
    fflush(stdout);
    snprintf(text, sizeof text, "%d %d %d", open_ones, isatty(1),
             (int)core.rlim_max);
    *out = str_of(text);
    return OK;
}

static void test_descriptors(void **state)
{
    (void)state;
    struct str out;
    struct err err;
    int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY);
    struct child_limits none = {0}, one = {.keep = &b, .n_keep = 1};
    /* 0, 1, 2 and the pipe */
    assert_int_equal(run(&none, look, NULL, &out, &err), OK);
    assert_true(str_is(out, "4 0 0"));
    assert_int_equal(run(&one, look, NULL, &out, &err), OK);
    assert_true(str_is(out, "5 0 0"));
    close(a);
    close(b);
}

struct clock {
    int calls, most;
};

static int tick(void *ctx)
{
    struct clock *c = ctx;
    return ++c->calls > c->most ? -1 : 20;
}

static void test_waiting(void **state)
{
    (void)state;
    struct clock c = {0, 5};
    struct child_limits l = {.wait = tick, .ctx = &c};
    struct str out;
    struct err err;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    assert_int_equal(run(&l, spin, NULL, &out, &err), E_CHILD);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    assert_int_equal(c.calls, 6);
    assert_true(t1.tv_sec - t0.tv_sec < 5);
    errno = 0; /* no child is left */
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* The child writes its number to a pipe of the test and works for ever. */
static enum status tell_and_spin(void *ctx, struct str *out, struct err *err)
{
    pid_t me = getpid();
    if (write(*(int *)ctx, &me, sizeof me) != sizeof me)
        _exit(1);
    return spin(NULL, out, err);
}

static void test_dies_with_parent(void **state)
{
    (void)state;
    int ends[2];
    pid_t child = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct child_limits l = {.keep = &ends[1], .n_keep = 1};
        struct str out;
        struct err err;
        _exit((int)run(&l, tell_and_spin, &ends[1], &out, &err));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    char more;
    assert_int_equal(read(ends[0], &more, 1), 0); /* the child's end is shut */
    close(ends[0]);
}

static void *idle(void *ctx)
{
    pthread_mutex_lock(ctx);
    pthread_mutex_unlock(ctx);
    return NULL;
}

static void test_possible(void **state)
{
    (void)state;
    struct err err;
    pthread_t id;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    assert_int_equal(child_possible(&err), OK);
    pthread_mutex_lock(&m);
    assert_int_equal(pthread_create(&id, NULL, idle, &m), 0);
#if !defined(__SANITIZE_THREAD__)
    assert_int_equal(child_possible(&err), E_USAGE);
#endif
    pthread_mutex_unlock(&m);
    pthread_join(id, NULL);
}

static int begin(void **state)
{
    (void)state;
    mem_init(&mem, 0);
    arena_init(&arena, &mem);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_dies_with_parent),
        cmocka_unit_test(test_possible),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
