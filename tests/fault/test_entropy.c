/*
 * The gate to the kernel's random bytes, with getrandom replaced in this
 * program: short reads, interruptions, failure; and with a forked child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "noise/noise.h"

static enum { REAL, FAILS, NOTHING, SHORT_AND_INTERRUPTED } mode;
static int calls;

/* The library's calls of mmap come here (--wrap, tests/CMakeLists.txt). */
static bool no_memory;
__typeof__(mmap) __real_mmap, __wrap_mmap;

void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    if (no_memory) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(p, n, prot, flags, fd, at);
}

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    calls++;
    if (mode == FAILS) {
        errno = ENOSYS;
        return -1;
    }
    if (mode == NOTHING)
        return 0;
    if (mode == SHORT_AND_INTERRUPTED) {
        if (calls % 2) {
            errno = EINTR;
            return -1;
        }
        n = n > 100 ? 100 : n;
    }
    return syscall(SYS_getrandom, buf, n, flags);
}

static void set_laplace(struct noise *n)
{
    noise_init(n);
    n->kind = NOISE_DISCRETE_LAPLACE;
    mpq_set_ui(n->a, 1000000, 1);
}

static void failure_stops_the_draw(void **state)
{
    (void)state;
    struct entropy *e;
    struct err err;
    struct noise n;
    mpz_t out;
    mpz_init(out);
    set_laplace(&n);
    for (unsigned m = FAILS; m <= NOTHING; m++) {
        mode = m;
        assert_int_equal(entropy_open(&e, &err), OK);
        unsigned char b[16];
        assert_int_equal(entropy_bytes(e, b, sizeof b, &err), E_ENTROPY);
        assert_int_equal(noise_draw(&n, NULL, e, out, &err), E_ENTROPY);
        assert_int_equal(err.status, E_ENTROPY);
        entropy_close(e);
    }
    mpz_clear(out);
    noise_fini(&n);
}

static void failure_after_success_is_seen(void **state)
{
    (void)state;
    struct entropy *e;
    struct err err;
    unsigned char b[1000];
    mode = REAL;
    assert_int_equal(entropy_open(&e, &err), OK);
    assert_int_equal(entropy_bytes(e, b, sizeof b, &err), OK);
    mode = FAILS;
    enum status st = OK;
    for (int i = 0; i < 10 && st == OK; i++)
        st = entropy_bytes(e, b, sizeof b, &err);
    assert_int_equal(st, E_ENTROPY);
    mode = REAL;
    assert_int_equal(entropy_bytes(e, b, sizeof b, &err), OK);
    entropy_close(e);
}

static void short_reads_are_joined(void **state)
{
    (void)state;
    struct entropy *e;
    struct err err;
    unsigned char b[5000] = {0}; /* larger than the pool */
    mode = SHORT_AND_INTERRUPTED;
    assert_int_equal(entropy_open(&e, &err), OK);
    assert_int_equal(entropy_bytes(e, b, sizeof b, &err), OK);
    for (size_t i = 0; i + 16 <= sizeof b; i += 16) {
        unsigned char zero[16] = {0};
        assert_memory_not_equal(b + i, zero, 16);
    }
    entropy_close(e);
    mode = REAL;
}

static void draws_never_repeat(void **state)
{
    (void)state;
    struct entropy *e;
    struct err err;
    unsigned char seen[600][16];
    mode = REAL;
    assert_int_equal(entropy_open(&e, &err), OK);
    for (int i = 0; i < 600; i++) {
        assert_int_equal(entropy_bytes(e, seen[i], 16, &err), OK);
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(seen[i], seen[j], 16);
    }
    entropy_close(e);
}

/* Parent and child hold the same pool when they part; they must not draw the
 * same bytes from it. */
/* One gate for each thread: no two of them ever get the same bytes. */
enum { THREADS = 4, BYTES = 1 << 16 };

static void *fill_own(void *out)
{
    struct entropy *e;
    struct err err;
    if (entropy_open(&e, &err) != OK)
        return NULL;
    unsigned char *p = out;
    for (size_t i = 0; i < BYTES; i += 16)
        if (entropy_bytes(e, p + i, 16, &err) != OK)
            return NULL;
    entropy_close(e);
    return out;
}

static int cmp_block(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

static void threads_draw_their_own(void **state)
{
    (void)state;
    static unsigned char bytes[THREADS][BYTES];
    pthread_t t[THREADS];
    mode = REAL;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, fill_own, bytes[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *ok;
        assert_int_equal(pthread_join(t[i], &ok), 0);
        assert_non_null(ok);
    }
    size_t n = sizeof bytes / 16;
    unsigned char *all = bytes[0];
    qsort(all, n, 16, cmp_block);
    for (size_t i = 1; i < n; i++)
        assert_true(memcmp(all + 16 * i - 16, all + 16 * i, 16) != 0);
}

static void child_draws_its_own(void **state)
{
    (void)state;
    struct entropy *e;
    struct err err;
    unsigned char warm[16], mine[64], theirs[64];
    int ends[2];
    mode = REAL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(entropy_open(&e, &err), OK);
    assert_int_equal(entropy_bytes(e, warm, sizeof warm, &err), OK);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bool ok = entropy_bytes(e, theirs, sizeof theirs, &err) == OK &&
                  write(ends[1], theirs, sizeof theirs) == sizeof theirs;
        _exit(!ok);
    }
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(entropy_bytes(e, mine, sizeof mine, &err), OK);
    for (size_t i = 0; i + 16 <= sizeof mine; i += 16)
        for (size_t j = 0; j + 16 <= sizeof mine; j += 16)
            assert_memory_not_equal(mine + i, theirs + j, 16);
    entropy_close(e);
    close(ends[0]);
    close(ends[1]);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct entropy *e = NULL;
    struct err err;
    no_memory = true;
    assert_int_equal(entropy_open(&e, &err), E_NOMEM);
    no_memory = false;
    assert_null(e);
    assert_int_equal(entropy_open(&e, &err), OK);
    entropy_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(failure_stops_the_draw),
        cmocka_unit_test(failure_after_success_is_seen),
        cmocka_unit_test(short_reads_are_joined),
        cmocka_unit_test(draws_never_repeat),
        cmocka_unit_test(child_draws_its_own),
        cmocka_unit_test(threads_draw_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
