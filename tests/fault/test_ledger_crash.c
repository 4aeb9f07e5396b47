/*
 * The ledger on a file system that dies or fails at its n-th change, for
 * every n. A child process holds and commits; the parent looks at what is
 * left. What must be true is in src/ledger/PROOF.md: every hold that returned
 * OK is there, the sum stays within the total, answers belong to one receipt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/crash_vfs.h"
#include "harness/scratch.h"
#include "harness/ledger_kit.h"

/* Each question has two counts, at a half each. The second fails and locks,
 * and the owner unlocks; the last finds no budget. */
enum { ROUNDS = 4, TOTAL = 3, COUNTS = 2, LOCKING = 1 };

/* What the child reached, seen by the parent. */
struct progress_seen {
    int drawn, answered, locked, refused, failed;
    long changes;
    char receipts[ROUNDS * COUNTS][32];
    bool committed[ROUNDS * COUNTS];
};

static struct progress_seen *seen;
static bool grouped; /* as a member of a group that shares its syncs */
static char dir[SCRATCH_PATH], path[80];
static struct mem mem;

static enum status hold_both(struct ledger *l, struct arena *a,
                             const struct ledger_request *r,
                             const struct price *p, struct ledger_hold **out,
                             struct err *err)
{
    struct ledger_policy policy = kit_policy();
    const struct ledger_charge both[COUNTS] = {{r, p, false}, {r, p, false}};
    return ledger_hold(l, a, both, COUNTS, &policy, out, err);
}

/* The noise would be drawn here. */
static void finish(struct ledger *l, struct ledger_hold *h, int round,
                   struct err *err)
{
    const struct str answers[COUNTS] = {STR("{\"answers\": [1]}"),
                                        STR("{\"answers\": [2]}")};
    for (size_t k = 0; k < COUNTS; k++)
        snprintf(seen->receipts[seen->drawn++], 32, "%.*s",
                 PSTR(ledger_hold_receipt(h, k)));
    if (round == LOCKING) {
        bool done = ledger_lock(h, STR("test"), err) == OK &&
                    ledger_unlock(l, STR(""), err) == OK;
        seen->locked += done;
        seen->failed += !done;
    } else if (ledger_commit(h, answers, err) == OK) {
        for (int k = 1; k <= COUNTS; k++)
            seen->committed[seen->drawn - k] = true;
        seen->answered++;
    } else {
        seen->failed++;
    }
}

static void child(enum crash_mode mode, long at)
{
    struct arena a;
    struct ledger *l = NULL;
    struct err err;
    struct price p;
    struct ledger_request r = {.query = STR("q"), .mechanism = STR("m")};
    crash_vfs_install();
    crash_vfs_arm(mode, at);
    arena_init(&a, &mem);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, COUNTS);
    const struct ledger_access access = {.group = grouped ? ledger_group_new()
                                                          : NULL};
    if (ledger_open(&mem, path, &access, &l, &err) != OK) {
        seen->failed++;
        seen->changes = crash_vfs_changes();
        _exit(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct ledger_hold *receipt = NULL;
        /* years back, years ahead: nothing may hang on the clock */
        crash_vfs_clock(i % 2 ? -1000000000LL : 1000000000LL);
        enum status s = hold_both(l, &a, &r, &p, &receipt, &err);
        if (s == E_BUDGET)
            seen->refused++;
        else if (s != OK)
            seen->failed++;
        else
            finish(l, receipt, i, &err);
    }
    ledger_close(l);
    seen->changes = crash_vfs_changes();
    _exit(0);
}

struct found {
    int n, committed, known;
};

static enum status look(void *ctx, const struct ledger_entry *e,
                        struct err *err)
{
    struct found *f = ctx;
    (void)err;
    f->n++;
    f->committed += e->committed;
    for (int i = 0; i < seen->drawn; i++)
        if (str_is(e->receipt, seen->receipts[i])) {
            f->known++;
            assert_true(!seen->committed[i] || e->committed);
        }
    return OK;
}

static void check_what_is_left(void)
{
    struct ledger *l = NULL;
    struct err err;
    struct found f = {0};
    struct ledger_balance b;
    if (kit_open(&mem, path, &l, &err) != OK)
        fail_msg("%s: %s", err.message, err.detail);
    assert_int_equal(ledger_verify(l, &err), OK);
    assert_int_equal(ledger_history(l, (struct str){0}, look, &f, &err), OK);
    assert_int_equal(f.known, seen->drawn); /* nothing drawn is lost */
    assert_true(f.committed >= COUNTS * seen->answered);
    assert_true(f.n <= COUNTS * TOTAL);
    assert_int_equal(f.n % COUNTS, 0); /* all counts of a question or none */
    assert_int_equal(f.committed % COUNTS, 0);
    balance_init(&b);
    assert_int_equal(ledger_balance(l, STR(""), STR(""), &b, &err), OK);
    assert_int_equal(
        mpq_cmp_ui(b.epsilon_spent, (unsigned long)f.n / COUNTS, 1), 0);
    balance_fini(&b);
    ledger_close(l);
}

static void fresh_ledger(void)
{
    char cmd[128];
    mpq_t e, d;
    struct err err;
    snprintf(cmd, sizeof cmd, "rm -f %s/l*", dir);
    assert_int_equal(system(cmd), 0);
    mpq_inits(e, d, NULL);
    mpq_set_ui(e, TOTAL, 1);
    assert_int_equal(kit_create(path, COMPOSE_SUM, e, d, &err), OK);
    mpq_clears(e, d, NULL);
    memset(seen, 0, sizeof *seen);
}

/* One run; the number of changes the child saw, 0 if it was killed. */
static long one(enum crash_mode mode, long at)
{
    int status;
    fresh_ledger();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        child(mode, at);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    bool killed = WIFSIGNALED(status);
    check_what_is_left();
    return killed ? 0 : seen->changes;
}

/* tests/long has every point; here a sample that differs between modes. */
#ifndef STRIDE
#define STRIDE 7
#endif

static int points;

static void every_point(enum crash_mode mode)
{
    long at = 1 + (long)mode % STRIDE, changes;
    do {
        changes = one(mode, at);
        at += STRIDE;
        points++;
    } while (changes == 0 || changes >= at - STRIDE);
}

static void killed_at_every_change(void **state)
{
    (void)state;
    every_point(CRASH_KILL);
}

static void power_cut_at_every_change(void **state)
{
    (void)state;
    every_point(CRASH_POWER);
}

static void torn_writes_at_every_change(void **state)
{
    (void)state;
    every_point(CRASH_TORN);
    print_message("%d points of death\n", points);
    assert_true(points >= 200 / STRIDE);
}

static void disk_full_from_every_change(void **state)
{
    (void)state;
    every_point(FAIL_WRITE);
}

static void sync_fails_from_every_change(void **state)
{
    (void)state;
    every_point(FAIL_SYNC);
}

static void one_error_at_every_change(void **state)
{
    (void)state;
    every_point(FAIL_ONCE);
}

/* Without faults all of it happens, so the tests above test something. */
static void nothing_fails(void **state)
{
    (void)state;
    assert_true(one(CRASH_NEVER, 0) > 50);
    assert_int_equal(seen->drawn, COUNTS * TOTAL);
    assert_int_equal(seen->answered, TOTAL - 1);
    assert_int_equal(seen->locked, 1);
    assert_int_equal(seen->refused, ROUNDS - TOTAL);
    assert_int_equal(seen->failed, 0);
}

static void in_a_group(void **state)
{
    grouped = true;
    nothing_fails(state);
    for (int mode = CRASH_KILL; mode <= FAIL_ONCE; mode++)
        every_point((enum crash_mode)mode);
    grouped = false;
}

static int setup(void **state)
{
    (void)state;
    mem_init(&mem, 0);
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/l", dir);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return seen == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_fails),
        cmocka_unit_test(killed_at_every_change),
        cmocka_unit_test(power_cut_at_every_change),
        cmocka_unit_test(torn_writes_at_every_change),
        cmocka_unit_test(disk_full_from_every_change),
        cmocka_unit_test(sync_fails_from_every_change),
        cmocka_unit_test(one_error_at_every_change),
        cmocka_unit_test(in_a_group),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
