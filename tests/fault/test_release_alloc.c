/*
 * Every allocation of a whole release fails in turn: an error each time (or
 * the answer), never a crash, never an answer without a charge, and the
 * ledger stays in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "ledger/ledger.h"
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

static uint64_t charges(bool *out_ok)
{
    struct mem m;
    struct ledger *l;
    struct err err;
    struct ledger_balance b;
    mem_init(&m, 0);
    balance_init(&b);
    assert_int_equal(ledger_open(&m, path, &l, &err), OK);
    *out_ok = ledger_verify(l, &err) == OK;
    assert_int_equal(ledger_balance(l, STR(""), STR(""), &b, &err), OK);
    assert_int_equal(ledger_count(l, STR(""), STR(""), &b, &err), OK);
    uint64_t n = b.n_held + b.n_committed;
    ledger_close(l);
    balance_fini(&b);
    return n;
}

/* `price`: 1, or 0 for an answer that costs nothing */
static void sweep(const char *query, const char *groups, uint64_t price)
{
    bool ok;
    long n = 0;
    enum status st;
    uint64_t answered = 0, before = charges(&ok);
    do {
        struct session *s = make("0.001");
        struct result *r = result_new();
        struct err err;
        assert_non_null(r);
        if (groups)
            set(s, "groups", groups);
        size_t base = atomic_load(&s->mem.used);
        atomic_store(&s->mem.fail_after, n);
        st = ask_release(s, str_of(query), r, &err);
        answered += st == OK;
        if (st != OK && st != E_NOMEM && st != E_LIMIT && st != E_WITHHELD)
            fail_msg("allocation %ld: %s: %s", n, status_code(st), err.message);
        assert_int_equal(atomic_load(&s->mem.used), base);
        result_free(r);
        session_free(s);
        n++;
    } while (st != OK && n < 100000);
    uint64_t after = charges(&ok);
    assert_true(ok);
    assert_true(price ? after - before >= answered : after == before);
    assert_true(n > 10);
}

static void global(void **state)
{
    (void)state;
    sweep("Q(x,y) :- E(x,y).", NULL, 1);
}

static void smooth(void **state)
{
    (void)state;
    sweep("Q(x,y,z) :- E(x,y), E(y,z), x != z.", NULL, 1);
}

/* So many keys that each vector of the draw asks for memory of its own. */
static void many_groups(const char *query, uint64_t price)
{
    static char keys[20000];
    size_t n = 0;
    for (int i = 0; i < 3000; i++)
        n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%d", i ? "," : "",
                              i);
    sweep(query, keys, price);
}

static void groups(void **state)
{
    (void)state;
    many_groups("Q(a; b) :- E(a,b).", 1);
}

/* Answered without rows: no row changes it. */
static void groups_without_rows(void **state)
{
    (void)state;
    many_groups("Q(a; b) :- E(a,b), b < 1, b > 1.", 0);
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
    fclose(f);
    struct session *s = make("1000");
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
        cmocka_unit_test(global),
        cmocka_unit_test(smooth),
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_without_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
