/*
 * release: a process that answers requests, each in a child of its own or in
 * children that stay: also where one has answered its last, where one is
 * killed, and where what they inherited is of the past.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "release/post.h"

static bool renew; /* in the server: by a request that says so */

/* "PID of the child: request" */
static enum status echo(void *ctx, struct arena *a, struct str request,
                        int asker, struct str *out, struct err *err)
{
    (void)ctx, (void)asker;
    if (str_is(request, "die"))
        raise(SIGKILL);
    if (str_is(request, "fail"))
        return err_set(err, E_VALUE, "as wished");
    *out = str_printf(a, "%d: %.*s", (int)getpid(), PSTR(request));
    return OK;
}

static bool look(void *ctx, struct str request)
{
    (void)request;
    return !*(const bool *)ctx;
}

struct fixture {
    struct mem mem;
    struct arena arena;
    struct err err;
    int server;
};

static void start(struct fixture *f, unsigned staying)
{
    *f = (struct fixture){0};
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    struct post_server s = {.name = "test-post",
                            .ctx = &renew,
                            .prepare = look,
                            .answer = echo,
                            .staying = staying,
                            .answers = 20};
    assert_int_equal(post_start(&s, &f->server, &f->err), OK);
}

static void stop(struct fixture *f)
{
    close(f->server);
    arena_fini(&f->arena);
}

static enum status ask(struct fixture *f, const char *text, long *out_pid)
{
    struct child_limits l = {.most = 1 << 20, .detached = true};
    struct str answer;
    arena_fini(&f->arena);
    arena_init(&f->arena, &f->mem);
    enum status s =
        post_ask(f->server, &f->arena, str_of(text), &l, &answer, &f->err);
    if (s != OK)
        return s;
    char *end;
    *out_pid = strtol(answer.p, &end, 10);
    assert_int_equal((size_t)(answer.p + answer.n - end), strlen(text) + 2);
    assert_memory_equal(end + 2, text, strlen(text));
    return OK;
}

static void each_by_itself(void **state)
{
    (void)state;
    struct fixture f;
    long first, second;
    start(&f, 0);
    assert_int_equal(ask(&f, "one", &first), OK);
    assert_int_equal(ask(&f, "two", &second), OK);
    assert_int_not_equal(first, second);
    stop(&f);
}

static void many(struct fixture *f)
{
    long pid;
    for (int i = 0; i < 1500; i++)
        if (ask(f, "again", &pid) != OK)
            _exit(1);
    _exit(0);
}

/* Several ask at once, and each child ends after twenty answers: nobody is sent
 * to one that has ended. */
static void none_is_lost(void **state)
{
    (void)state;
    struct fixture f;
    int status, lost = 0;
    start(&f, 4);
    for (int i = 0; i < 4; i++)
        if (!fork())
            many(&f);
    for (int i = 0; i < 4; i++) {
        assert_true(wait(&status) > 0);
        lost += status != 0;
    }
    assert_int_equal(lost, 0);
    stop(&f);
}

static void one_after_the_other(void **state)
{
    (void)state;
    struct fixture f;
    long before = 0, now = 0;
    int changes = 0;
    start(&f, 2);
    for (int i = 0; i < 300; i++) {
        if (ask(&f, "again", &now) != OK)
            fail_msg("%d: %s", i, f.err.message);
        changes += now != before;
        before = now;
    }
    assert_true(changes > 2 && changes < 100);
    assert_int_equal(ask(&f, "fail", &now), E_VALUE);
    assert_string_equal(f.err.message, "as wished");
    stop(&f);
}

static void those_that_die(void **state)
{
    (void)state;
    struct fixture f;
    long first, second;
    start(&f, 2);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(ask(&f, "one", &first), OK);
        assert_int_equal(ask(&f, "die", &second), E_CHILD);
        assert_int_equal(ask(&f, "two", &second), OK);
    }
    stop(&f);
}

static void of_the_past(void **state)
{
    (void)state;
    struct fixture f;
    long first, second;
    renew = true; /* the server inherits it */
    start(&f, 2);
    renew = false;
    assert_int_equal(ask(&f, "one", &first), OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(ask(&f, "two", &second), OK);
        assert_int_not_equal(first, second);
        first = second;
    }
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_by_itself), cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(none_is_lost),   cmocka_unit_test(those_that_die),
        cmocka_unit_test(of_the_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
