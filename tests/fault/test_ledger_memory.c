/*
 * The ledger when SQLite gets no memory for one request, and all it wants for
 * the next: for every request of a charge and of a cap that comes late. Each
 * is made as a whole or not at all, so that the sums stay those of the
 * charges, an analyst's own too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "harness/scratch.h"
#include "harness/sqlite_memory.h"
#include "harness/ledger_kit.h"

struct fixture {
    char dir[SCRATCH_PATH], path[80];
    struct mem mem;
    struct arena arena;
    struct ledger *l;
    struct price p;
    mpq_t much, none;
    struct err err;
};

static void start(struct fixture *f)
{
    *f = (struct fixture){0};
    assert_int_equal(scratch_make(f->dir), 0);
    snprintf(f->path, sizeof f->path, "%s/l", f->dir);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    price_init(&f->p);
    mpq_set_ui(f->p.epsilon, 1, 1000);
    mpq_inits(f->much, f->none, NULL);
    mpq_set_ui(f->much, 1000, 1);
    assert_int_equal(
        kit_create(f->path, COMPOSE_SUM, f->much, f->none, &f->err), OK);
    assert_int_equal(kit_open(&f->mem, f->path, &f->l, &f->err), OK);
}

static void stop(struct fixture *f)
{
    ledger_close(f->l);
    price_fini(&f->p);
    mpq_clears(f->much, f->none, NULL);
    arena_fini(&f->arena);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    assert_int_equal(scratch_remove(f->dir), 0);
}

static enum status hold(struct fixture *f, struct str analyst)
{
    struct ledger_hold *receipt = NULL;
    struct ledger_request r = {
        .analyst = analyst, .query = STR("Q"), .mechanism = STR("m")};
    return kit_hold(f->l, &f->arena, &r, &f->p, &receipt, &f->err);
}

static enum status grant(struct fixture *f, struct str analyst)
{
    return ledger_grant(f->l, STR(""), analyst, f->much, f->none, &f->err);
}

/* Failures at every request of the call; true while there are more. */
static bool one_failure(struct fixture *f, long n, struct str analyst,
                        enum status (*call)(struct fixture *, struct str))
{
    sqlite_memory_fail(n);
    enum status s = call(f, analyst);
    bool failed = sqlite_memory_failed();
    if (s != OK && s != E_NOMEM)
        fail_msg("request %ld: %s: %s", n, status_code(s), f->err.message);
    if (ledger_verify(f->l, &f->err) != OK)
        fail_msg("request %ld, %s: %s", n, status_code(s), f->err.message);
    return failed;
}

static void a_charge(void **state)
{
    struct fixture f;
    long n = 0;
    (void)state;
    start(&f);
    assert_int_equal(grant(&f, STR("ann")), OK);
    while (one_failure(&f, n, STR("ann"), hold))
        n++;
    print_message("%ld requests\n", n);
    assert_true(n > 20);
    stop(&f);
}

static void a_late_cap(void **state)
{
    struct fixture f;
    long n = 0;
    bool more = true;
    (void)state;
    start(&f);
    for (; more; n++) {
        char name[32];
        snprintf(name, sizeof name, "analyst %ld", n);
        assert_int_equal(hold(&f, str_of(name)), OK);
        more = one_failure(&f, n, str_of(name), grant);
    }
    print_message("%ld requests\n", n);
    assert_true(n > 20);
    stop(&f);
}

int main(void)
{
    sqlite_memory_watch();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charge),
        cmocka_unit_test(a_late_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
