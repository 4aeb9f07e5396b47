/*
 * A worker that is broken, or in other hands: whatever it says instead of an
 * answer, the asker sees one outcome with one text, the charge stays, and
 * nothing of what it said is shown or stored. Its two words are in the hands
 * of the test: how the draw ended, and the answer as it is written. All of it
 * once more in a program with threads, where there is no worker and the same
 * happens in the program itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/session_set.h"
#include "harness/ledger_kit.h"
#include "harness/scratch.h"
#include "ledger/ledger.h"
#include "release/release.h"
#include "release/release_int.h"

static char dir[SCRATCH_PATH], path[96], table[128];

/* --- the two words -------------------------------------------------------- */

static int lie_status;         /* of the draw; 0: none */
static const char *lie_answer; /* in place of each answer; NULL: none */

__typeof__(release_draw) __real_release_draw, __wrap_release_draw;
enum status __wrap_release_draw(struct release *r, struct err *err)
{
    if (!lie_status)
        return __real_release_draw(r, err);
    err_set(err, (enum status)lie_status, "person 7 has it");
    err_hint(err, "person 7 has it");
    return (enum status)lie_status;
}

__typeof__(answer_write) __real_answer_write, __wrap_answer_write;
enum status __wrap_answer_write(struct arena *a, const struct answer *x,
                                struct str *out, struct err *err)
{
    if (!lie_answer)
        return __real_answer_write(a, x, out, err);
    *out = str_of(lie_answer);
    return OK;
}

/* --- asking --------------------------------------------------------------- */

struct asked {
    const char *query, *groups, *delta;
};

static void set(struct session *s, const char *name, const char *value)
{
    assert_int_equal(session_set(s, str_of(name), str_of(value)), OK);
}

static struct session *make(const char *epsilon, const char *delta)
{
    struct session *s;
    struct err err;
    assert_int_equal(session_new(&s, &err), OK);
    set(s, "ledger", path);
    set(s, "table", table);
    set(s, "epsilon", epsilon);
    if (delta)
        set(s, "delta", delta);
    return s;
}

static bool fresh;

static enum status ask(const struct asked *q, struct err *err)
{
    struct session *s = make("1", q->delta);
    struct result *r = result_new();
    assert_non_null(r);
    if (q->groups)
        set(s, "groups", q->groups);
    if (fresh)
        set(s, "fresh", "yes");
    enum status st = ask_release(s, str_of(q->query), r, err);
    assert_true(st == OK || !r->json.n);
    result_free(r);
    session_free(s);
    return st;
}

/* Locked, and by this one: the owner can unlock once. */
static void unlock(bool was_locked)
{
    struct mem m;
    struct ledger *l;
    struct err err;
    mem_init(&m, 0);
    assert_int_equal(kit_open(&m, path, &l, &err), OK);
    assert_int_equal(ledger_verify(l, &err), OK);
    assert_int_equal(ledger_unlock(l, STR(""), &err) == OK, was_locked);
    ledger_close(l);
}

static void check_locked(const struct asked *q, const char *what)
{
    struct err err, fixed;
    err_clear(&err);
    enum status st = ask(q, &err);
    if (st != E_LOCKED)
        fail_msg("%s: %s: %s", what, status_code(st), err.message);
    assert_int_equal(ledger_locked(&fixed), E_LOCKED);
    assert_string_equal(err.message, fixed.message);
    assert_string_equal(err.detail, fixed.detail);
    assert_string_equal(err.hint, fixed.hint);
    unlock(true);
}

static const struct asked plain = {"Q(x,y) :- E(x,y).", NULL, NULL};
static const struct asked listed = {"Q(a; b) :- E(a,b).", "1,2", NULL};
static const struct asked found = {"Q(a; b) :- E(a,b).", NULL, "1e-6"};

/* --- what it may say ------------------------------------------------------ */

static void ends(void **state)
{
    (void)state;
    const int all[] = {E_LOCKED, E_LEDGER_IO,  E_LEDGER, E_CANCELLED, E_CHILD,
                       E_BUDGET, E_ON_ITS_WAY, E_UNPAID, E_USAGE,     9999};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lie_status = all[i];
        check_locked(&plain, status_code((enum status)all[i]));
    }
    lie_status = 0;
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const struct asked *q;
        const char *text;
    } all[] = {
        {&plain, ""},
        {&plain, "person 7 has it"},
        {&plain, "{\"answers\": [], \"error\": []}"},
        {&plain, "{\"answers\": [1, 2], \"error\": []}"},
        {&plain, "{\"answers\": [1], \"error\": []} "},
        {&plain, "{\"answers\": [1], \"error\": [], \"keys\": [[1]]}"},
        {&plain, "{\"answers\": [1], \"error\": [], \"thresholds\": [1]}"},
        {&listed, "{\"answers\": [1], \"error\": []}"},
        {&listed, "{\"answers\": [1, 2, 3], \"error\": []}"},
        {&found, "{\"answers\": [1], \"error\": []}"},
        {&found, "{\"answers\": [1, 2], \"error\": [], \"keys\": [[1]]}"},
        {&found, "{\"answers\": [1], \"error\": [], \"keys\": [[1, 2]]}"},
        {&found, "{\"answers\": [1], \"error\": [], \"keys\": [[]]}"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lie_answer = all[i].text;
        check_locked(all[i].q, all[i].text);
    }
    lie_answer = NULL;
}

/* In the end all three are answered, and nothing is locked. */
static void truth(void **state)
{
    struct err err;
    (void)state;
    assert_int_equal(ask(&plain, &err), OK);
    assert_int_equal(ask(&listed, &err), OK);
    assert_int_equal(ask(&found, &err), OK);
    lie_status = E_INTERNAL; /* nobody is asked: the answers are stored */
    assert_int_equal(ask(&found, &err), OK);
    lie_status = 0;
    unlock(false);
}

/* --- in a program with threads -------------------------------------------- */

static void isolation(const char *said)
{
    struct session *s = make("1", NULL);
    struct result *r = result_new();
    struct err err;
    set(s, "fresh", "yes");
    assert_int_equal(ask_release(s, str_of(plain.query), r, &err), OK);
    assert_non_null(memmem(r->json.p, r->json.n, said, strlen(said)));
    result_free(r);
    session_free(s);
}

static void *until_closed(void *end)
{
    char byte;
    while (read(*(int *)end, &byte, 1) > 0)
        ;
    return NULL;
}

static void with_threads(void **state)
{
    int ends_[2];
    pthread_t thread;
    isolation("\"isolation\": \"process\"");
    assert_int_equal(pipe(ends_), 0);
    assert_int_equal(pthread_create(&thread, NULL, until_closed, &ends_[0]), 0);
#if !defined(__SANITIZE_THREAD__)
    isolation("\"isolation\": \"none\"");
#endif
    fresh = true;
    ends(state);
    answers(state);
    fresh = false;
    truth(state);
    close(ends_[1]);
    pthread_join(thread, NULL);
    close(ends_[0]);
}

static int setup(void **state)
{
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/l", dir);
    char file[96];
    snprintf(file, sizeof file, "%s/e.txt", dir);
    snprintf(table, sizeof table, "E(a,b)=%s", file);
    FILE *f = fopen(file, "w");
    if (!f)
        return -1;
    for (int i = 0; i < 100; i++)
        fprintf(f, "7 %d\n", i);
    fclose(f);
    struct session *s = make("1000", "0.5");
    struct result *r = result_new();
    struct err err;
    enum status st = r ? ask_budget_init(s, STR(""), r, &err) : E_NOMEM;
    result_free(r);
    session_free(s);
    return st == OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends),
        cmocka_unit_test(answers),
        cmocka_unit_test(truth),
        cmocka_unit_test(with_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
