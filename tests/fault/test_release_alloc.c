/*
 * Every allocation of a whole release fails in turn, or it is stopped each
 * time that it asks whether to go on: an error each time (or the answer),
 * never a crash, never an answer without a charge, and the ledger stays in
 * order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/session_set.h"
#include "harness/ledger_kit.h"
#include "release/release.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH], path[96], table[128];

static void set(struct session *s, const char *name, const char *value)
{
    assert_int_equal(session_set(s, str_of(name), str_of(value)), OK);
}

static struct session *make(const char *epsilon)
{
    struct session *s;
    struct err err;
    assert_int_equal(session_new(&s, &err), OK);
    set(s, "ledger", path);
    set(s, "table", table);
    set(s, "epsilon", epsilon);
    set(s, "fresh", "yes");
    return s;
}

static uint64_t n_held, n_stuck;

static uint64_t charges(bool *out_ok)
{
    struct mem m;
    struct ledger *l;
    struct err err;
    struct ledger_balance b;
    mem_init(&m, 0);
    balance_init(&b);
    assert_int_equal(kit_open(&m, path, &l, &err), OK);
    *out_ok = ledger_verify(l, &err) == OK;
    assert_int_equal(ledger_balance(l, STR(""), STR(""), &b, &err), OK);
    assert_int_equal(ledger_count(l, STR(""), STR(""), &b, &err), OK);
    (void)!ledger_unlock(l, STR(""), &err); /* if it was locked */
    uint64_t n = b.n_held + b.n_committed;
    n_held = b.n_held;
    ledger_close(l);
    balance_fini(&b);
    return n;
}

/* Held, and not left so by an earlier sweep. */
static uint64_t held(bool *out_ok)
{
    charges(out_ok);
    return n_held - n_stuck;
}

/* Stops at the n-th question whether to go on. */
static bool go_on(void *left, const char *what, uint64_t done, uint64_t total)
{
    long *n = left;
    (void)what;
    (void)done;
    (void)total;
    return (*n)-- > 0;
}

struct asked {
    const char *query, *groups;
    const char *epsilon, *delta; /* NULL: little, none */
    bool free;                   /* the answer costs nothing */
    bool each;     /* every request to an arena may fail, not only blocks */
    bool stopping; /* not memory ends, but the release is stopped */
};

static void set_up(struct session *s, const struct asked *q, long *n)
{
    if (q->groups)
        set(s, "groups", q->groups);
    if (q->delta)
        set(s, "delta", q->delta);
    s->mem.no_sharing = q->each;
    s->tell_always = q->stopping;
    if (q->stopping)
        s->progress = (struct progress){go_on, n};
    else
        atomic_store(&s->mem.fail_after, *n);
}

static bool may_be(const struct asked *q, enum status st)
{
    if (q->stopping)
        return st == OK || st == E_CANCELLED;
    /* E_DATA: the look at the files, before anything is charged */
    return st == OK || st == E_NOMEM || st == E_LIMIT || st == E_DATA ||
           st == E_LOCKED;
}

/* Until who goes on without us has ended: it is a child of this process, and
 * may not have held yet when we look. Then nothing is held any more. */
static void wait_for_answers(void)
{
    bool ok;
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    assert_int_equal(errno, ECHILD);
    assert_int_equal(held(&ok), 0);
}

static void sweep(const struct asked *q)
{
    bool ok;
    /* under valgrind a release takes a second */
    long n = 0, step = q->each && getenv("DPC_SLOW") ? 11 : 1;
    enum status st;
    uint64_t answered = 0, before = charges(&ok);
    n_stuck = n_held;
    do {
        long left = n;
        struct session *s = make(q->epsilon ? q->epsilon : "0.001");
        struct result *r = result_new();
        struct err err;
        assert_non_null(r);
        set_up(s, q, &left);
        size_t base = atomic_load(&s->mem.used);
        st = ask_release(s, str_of(q->query), r, &err);
        answered += st == OK;
        if (!may_be(q, st))
            fail_msg("request %ld: %s: %s %s", n, status_code(st), err.message,
                     err.detail);
        assert_int_equal(atomic_load(&s->mem.used), base);
        result_free(r);
        session_free(s);
        charges(&ok);
        if (q->stopping) /* it goes on without us */
            wait_for_answers();
        n += step;
    } while (st != OK && n < 100000);
    uint64_t after = charges(&ok);
    assert_true(ok);
    assert_true(q->free ? after == before : after - before >= answered);
    assert_true(n > (q->stopping ? 1 : 10));
    print_message("%s: %ld\n", q->query, n - step);
}

static void global(void **state)
{
    (void)state;
    sweep(&(struct asked){.query = "Q(x,y) :- E(x,y)."});
}

static void smooth(void **state)
{
    (void)state;
    sweep(&(struct asked){.query = "Q(x,y,z) :- E(x,y), E(y,z), x != z."});
}

/* So many keys that each vector of the draw asks for memory of its own. */
static void many_groups(struct asked q)
{
    static char keys[20000];
    size_t n = 0;
    for (int i = 0; i < 3000; i++)
        n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%d", i ? "," : "",
                              i);
    q.groups = keys;
    sweep(&q);
}

static void groups(void **state)
{
    (void)state;
    many_groups((struct asked){.query = "Q(a; b) :- E(a,b)."});
}

/* Answered without rows: no row changes it. */
static void groups_without_rows(void **state)
{
    (void)state;
    many_groups((struct asked){.query = "Q(a; b) :- E(a,b), b < 1, b > 1.",
                               .free = true});
}

/* Every request of its own, whatever room a block had left. */
static void piece_by_piece(void **state)
{
    (void)state;
    static const struct asked all[] = {
        {.query = "Q(x,y) :- E(x,y).", .each = true},
        {.query = "Q(a; b) :- E(a,b).", .groups = "1,2", .each = true},
        {.query = "Q(a; b) :- E(a,b), b < 1, b > 1.",
         .groups = "1,2",
         .free = true,
         .each = true},
        {.query = "Q(a; b) :- E(a,b).", /* one key is shown */
         .epsilon = "1",
         .delta = "1e-6",
         .each = true},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sweep(&all[i]);
}

static void stopped(void **state)
{
    (void)state;
    sweep(&(struct asked){
        .query = "Q(a; b) :- E(a,b).", .delta = "1e-6", .stopping = true});
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
    fputs("1 2\n2 3\n3 1\n1 3\n", f);
    for (int i = 0; i < 100; i++)
        fprintf(f, "7 %d\n", i);
    fclose(f);
    struct session *s = make("1000");
    struct result *r = result_new();
    struct err err;
    set(s, "delta", "0.5");
    set(s, "least-price", "0.001");
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
        cmocka_unit_test(global),         cmocka_unit_test(smooth),
        cmocka_unit_test(groups),         cmocka_unit_test(groups_without_rows),
        cmocka_unit_test(piece_by_piece), cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
