/*
 * The ledger when SQLite stops in the middle of any call: interrupted after
 * the n-th step of its machine, for every n until the call gets through. Each
 * failure is told, changes nothing, and leaves a sound ledger. Also the
 * refusals that ask for a state of their own: busy, read-only, another format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/ledger_kit.h"
#include "ledger/db.h"
#include "harness/scratch.h"

struct fixture {
    char dir[SCRATCH_PATH], path[80];
    struct mem mem;
    struct arena arena;
    struct ledger *l;
    struct price p;
    struct err err;
};

static const struct ledger_request ask = {
    .analyst = {"ann", 3}, .query = {"Q", 1}, .mechanism = {"m", 1}};

static void start(struct fixture *f)
{
    mpq_t one, zero;
    *f = (struct fixture){0};
    assert_int_equal(scratch_make(f->dir), 0);
    snprintf(f->path, sizeof f->path, "%s/l", f->dir);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    price_init(&f->p);
    mpq_inits(one, zero, NULL);
    mpq_set_ui(one, 1, 1);
    assert_int_equal(kit_create(f->path, COMPOSE_SUM, one, zero, &f->err), OK);
    assert_int_equal(kit_open(&f->mem, f->path, &f->l, &f->err), OK);
    assert_int_equal(
        ledger_grant(f->l, STR(""), STR("ann"), one, zero, &f->err), OK);
    sqlite3_exec(f->l->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    mpq_set_ui(f->p.epsilon, 1, 1000);
    mpq_clears(one, zero, NULL);
}

static void stop(struct fixture *f)
{
    ledger_close(f->l);
    price_fini(&f->p);
    arena_fini(&f->arena);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    assert_int_equal(scratch_remove(f->dir), 0);
}

/* --- every call, stopped everywhere --------------------------------------- */

static enum status call_hold(struct fixture *f)
{
    struct ledger_hold *receipt = NULL;
    return kit_hold(f->l, &f->arena, &ask, &f->p, &receipt, &f->err);
}

static enum status call_find(struct fixture *f)
{
    struct ledger_found found;
    return ledger_find(f->l, &f->arena, &ask, &f->p, &found, &f->err);
}

static enum status call_balance(struct fixture *f)
{
    struct ledger_balance b;
    balance_init(&b);
    enum status s = ledger_balance(f->l, STR(""), STR("ann"), &b, &f->err);
    balance_fini(&b);
    return s;
}

static enum status call_count(struct fixture *f)
{
    struct ledger_balance b;
    balance_init(&b);
    enum status s = ledger_count(f->l, STR(""), STR(""), &b, &f->err);
    balance_fini(&b);
    return s;
}

static enum status call_grant(struct fixture *f)
{
    return ledger_grant(f->l, STR(""), STR("bob"), f->p.epsilon, f->p.delta,
                        &f->err);
}

static enum status call_verify(struct fixture *f)
{
    return ledger_verify(f->l, &f->err);
}

static enum status seen(void *ctx, const struct ledger_entry *e,
                        struct err *err)
{
    (void)err;
    *(size_t *)ctx += e->receipt.n > 0;
    return OK;
}

static enum status call_history(struct fixture *f)
{
    size_t n = 0;
    return ledger_history(f->l, STR(""), seen, &n, &f->err);
}

/* Stops once; what cleans up afterwards is left in peace. */
static int stop_now(void *ctx)
{
    bool *armed = ctx, fire = *armed;
    *armed = false;
    return fire;
}

static size_t charges(struct fixture *f)
{
    size_t n = 0;
    assert_int_equal(ledger_history(f->l, (struct str){0}, seen, &n, &f->err),
                     OK);
    return n;
}

/* SQLite counts the steps of a statement over all its runs, so one that is
 * kept would be stopped for what it did before. */
static void count_from_here(struct fixture *f, int n, bool *armed)
{
    for (size_t i = 0; i < f->l->n_kept; i++)
        sqlite3_stmt_status(f->l->kept[i].st, SQLITE_STMTSTATUS_VM_STEP, 1);
    *armed = true;
    sqlite3_progress_handler(f->l->db, n, stop_now, armed);
}

/* Returns how often the call was stopped. */
static int stopped(struct fixture *f, enum status (*call)(struct fixture *),
                   size_t adds)
{
    int failures = 0;
    for (int n = 1; n < 5000; n++) {
        size_t before = charges(f);
        bool armed;
        count_from_here(f, n, &armed);
        f->err = (struct err){0};
        enum status s = call(f);
        bool told = f->err.message[0];
        sqlite3_progress_handler(f->l->db, 0, NULL, NULL);
        assert_int_equal(charges(f), before + (s == OK ? adds : 0));
        assert_int_equal(ledger_verify(f->l, &f->err), OK);
        if (s == OK)
            return failures;
        assert_int_equal(s, E_LEDGER_IO);
        assert_true(told);
        failures++;
    }
    fail_msg("never got through");
    return failures;
}

static void stopped_anywhere_changes_nothing(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    assert_int_equal(call_hold(&f), OK);
    assert_int_equal(call_hold(&f), OK);
    assert_true(stopped(&f, call_hold, 1) > 3);
    assert_true(stopped(&f, call_find, 0) > 0);
    assert_true(stopped(&f, call_balance, 0) > 0);
    assert_true(stopped(&f, call_count, 0) > 0);
    assert_true(stopped(&f, call_verify, 0) > 0);
    assert_true(stopped(&f, call_history, 0) > 0);
    assert_true(stopped(&f, call_grant, 0) > 0);
    stop(&f);
}

/* --- refusals ------------------------------------------------------------- */

static void busy_and_read_only(void **state)
{
    (void)state;
    struct fixture f;
    sqlite3 *other;
    start(&f);
    sqlite3_busy_timeout(f.l->db, 1);
    assert_int_equal(sqlite3_open(f.path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(call_hold(&f), E_LEDGER_IO);
    assert_non_null(strstr(f.err.hint, "Try again"));
    sqlite3_close(other);
    assert_int_equal(call_hold(&f), OK);
    sqlite3_exec(f.l->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    assert_int_equal(call_hold(&f), E_LEDGER_IO);
    assert_non_null(strstr(f.err.hint, "writable"));
    assert_int_equal(db_error(NULL, "x", &f.err), E_NOMEM);
    stop(&f);
}

static void other_formats_and_places(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger *l = NULL;
    start(&f);
    sqlite3_exec(f.l->db, "PRAGMA user_version = 9", NULL, NULL, NULL);
    assert_int_equal(kit_open(&f.mem, f.path, &l, &f.err), E_LEDGER);
    assert_non_null(strstr(f.err.message, "format 9"));
    assert_null(l);
    assert_int_equal(kit_create("/proc/nowhere", COMPOSE_SUM, f.p.epsilon,
                                f.p.delta, &f.err),
                     E_LEDGER);
    assert_non_null(strstr(f.err.message, "could not create"));
    assert_true(f.err.detail[0]);
    assert_int_equal(ledger_grant(f.l, STR("other"), STR("ann"), f.p.epsilon,
                                  f.p.delta, &f.err),
                     E_NAME);
    stop(&f);
}

/* PRIVACY: a price below zero would be a refund. */
static void prices_below_zero(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    for (int i = 0; i < 4; i++) {
        mpq_set_si(f.p.epsilon, i == 0 ? -1 : i == 3 ? 0 : 1, 1000);
        mpq_set_si(f.p.delta, i == 1 ? -1 : 0, 1000);
        mpq_set_si(f.p.rho, i == 2 ? -1 : 0, 1000);
        assert_int_equal(call_hold(&f), E_INTERNAL);
    }
    assert_int_equal(charges(&f), 0);
    mpq_t rho, half, out;
    mpq_inits(rho, half, out, NULL);
    mpq_set_ui(half, 1, 2);
    compose_rho_to_epsilon(rho, half, out);
    assert_int_equal(mpq_sgn(out), 0);
    mpq_clears(rho, half, out, NULL);
    stop(&f);
}

/* The receipt's memory runs out after the row is written: rolled back. */
static void no_memory_for_the_receipt(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    size_t failures = 0;
    for (size_t room = 0; room < 1 << 16; room += 16) {
        struct mem m;
        struct arena a;
        struct ledger_hold *receipt = NULL;
        size_t before = charges(&f);
        mem_init(&m, room ? room : 1);
        arena_init(&a, &m);
        enum status s = kit_hold(f.l, &a, &ask, &f.p, &receipt, &f.err);
        arena_fini(&a);
        assert_int_equal(charges(&f), before + (s == OK));
        if (s == OK)
            break;
        failures++;
    }
    assert_true(failures > 0);
    assert_int_equal(ledger_verify(f.l, &f.err), OK);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_anywhere_changes_nothing),
        cmocka_unit_test(busy_and_read_only),
        cmocka_unit_test(other_formats_and_places),
        cmocka_unit_test(prices_below_zero),
        cmocka_unit_test(no_memory_for_the_receipt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
