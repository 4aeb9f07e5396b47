/*
 * The ledger when what surrounds it fails while it is opened, made or charged:
 * SQLite is stopped during the opening, no file can be opened, a connection
 * cannot be closed, the name is taken by somebody else in between, memory ends
 * just before the receipt. A hook on every new connection of SQLite does it.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/ledger_kit.h"
#include "ledger/db.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH], path[80];
static struct mem mem;
static struct err err;
static mpq_t one, zero;

/* --- the hook ------------------------------------------------------------- */

static enum { NOTHING, STOP, KEEP_OPEN, TAKE_NAME } mode;
static int steps; /* before SQLite is stopped, once */
static sqlite3 *kept;
static sqlite3_stmt *unfinished;

static int stop_once(void *ctx)
{
    (void)ctx;
    return steps-- == 0;
}

static int opened(sqlite3 *db, const char **message, const void *api)
{
    (void)message;
    (void)api;
    if (mode == STOP)
        sqlite3_progress_handler(db, 1, stop_once, NULL);
    if (mode == KEEP_OPEN) {
        kept = db;
        sqlite3_prepare_v2(db, "SELECT 1", -1, &unfinished, NULL);
    }
    if (mode == TAKE_NAME)
        close(open(path, O_CREAT | O_WRONLY, 0600));
    return SQLITE_OK;
}

static enum status create(void)
{
    return kit_create(path, COMPOSE_SUM, one, zero, &err);
}

static void remove_all(void)
{
    char cmd[100];
    snprintf(cmd, sizeof cmd, "rm -f %s/*", dir);
    assert_int_equal(system(cmd), 0);
}

static int files(void)
{
    char cmd[100];
    snprintf(cmd, sizeof cmd, "exit $(ls %s | wc -l)", dir);
    return WEXITSTATUS(system(cmd));
}

static void is_sound(void)
{
    struct ledger *l;
    assert_int_equal(kit_open(&mem, path, &l, &err), OK);
    assert_int_equal(ledger_verify(l, &err), OK);
    ledger_close(l);
    assert_int_equal(atomic_load(&mem.used), 0);
}

/* --- the tests ------------------------------------------------------------ */

static void stopped_while_opening(void **state)
{
    (void)state;
    remove_all();
    assert_int_equal(create(), OK);
    enum status s = E_LEDGER;
    int failures = 0;
    for (int n = 0; s != OK && n < 10000; n++) {
        struct ledger *l = NULL;
        mode = STOP;
        steps = n;
        s = kit_open(&mem, path, &l, &err);
        mode = NOTHING;
        if (s != OK) {
            failures++;
            assert_true(s == E_LEDGER || s == E_LEDGER_IO);
            assert_true(err.message[0]);
        }
        ledger_close(s == OK ? l : NULL);
    }
    assert_int_equal(s, OK);
    assert_true(failures > 3);
    is_sound();
}

static void stopped_while_making(void **state)
{
    (void)state;
    enum status s = E_LEDGER;
    int failures = 0;
    for (int n = 0; s != OK && n < 10000; n += 1 + n / 20) {
        remove_all();
        mode = STOP;
        steps = n;
        s = create();
        mode = NOTHING;
        failures += s != OK;
        assert_int_equal(files(), s == OK); /* nothing half made */
    }
    assert_int_equal(s, OK);
    assert_true(failures > 3);
    is_sound();
}

static void no_file_can_be_opened(void **state)
{
    (void)state;
    struct rlimit old, none;
    struct ledger *l = NULL;
    remove_all();
    assert_int_equal(create(), OK);
    getrlimit(RLIMIT_NOFILE, &old);
    none = old;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    enum status s = kit_open(&mem, path, &l, &err);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(s, E_LEDGER_IO);
    assert_string_equal(err.message, "could not open the ledger");
    is_sound();
}

static void connection_stays_open(void **state)
{
    (void)state;
    remove_all();
    mode = KEEP_OPEN;
    assert_int_equal(create(), E_INTERNAL);
    mode = NOTHING;
    sqlite3_finalize(unfinished);
    sqlite3_close(kept);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* PRIVACY: the other file is the owner's, perhaps a ledger with charges. */
static void name_is_taken_meanwhile(void **state)
{
    (void)state;
    remove_all();
    mode = TAKE_NAME;
    assert_int_equal(create(), E_LEDGER);
    mode = NOTHING;
    assert_non_null(strstr(err.message, "exists already"));
    assert_int_equal(files(), 1);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fgetc(f), EOF); /* untouched */
    fclose(f);
}

/* The arena has room for n more bytes and can get no more: somewhere the
 * amounts fit and the receipt does not. Then nothing may be charged. */
static void no_memory_for_the_receipt(void **state)
{
    (void)state;
    const struct ledger_request ask = {.query = STR("Q"),
                                       .mechanism = STR("m")};
    struct ledger *l;
    struct price p;
    remove_all();
    assert_int_equal(create(), OK);
    assert_int_equal(kit_open(&mem, path, &l, &err), OK);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, 1000);
    bool charged = false, told = false;
    for (size_t room = 0; !charged && room < 4000; room += 16) {
        struct arena a;
        struct ledger_hold *receipt = NULL;
        struct ledger_balance b;
        arena_init(&a, &mem);
        arena_alloc(&a, 1);
        size_t n = 0; /* what the first block has left */
        while (atomic_store(&mem.fail_after, 0), arena_alloc(&a, 16))
            n += 16;
        atomic_store(&mem.fail_after, -1);
        arena_fini(&a);
        arena_init(&a, &mem);
        arena_alloc(&a, 1);
        arena_alloc(&a, n - room);
        atomic_store(&mem.fail_after, 0);
        enum status s = kit_hold(l, &a, &ask, &p, &receipt, &err);
        atomic_store(&mem.fail_after, -1);
        told |= s == E_NOMEM;
        charged = s == OK;
        balance_init(&b);
        assert_int_equal(ledger_count(l, STR(""), STR(""), &b, &err), OK);
        assert_int_equal(b.n_held, charged);
        assert_int_equal(ledger_verify(l, &err), OK);
        balance_fini(&b);
        arena_fini(&a);
    }
    assert_true(charged && told);
    price_fini(&p);
    ledger_close(l);
}

static int setup(void **state)
{
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/l", dir);
    mem_init(&mem, 0);
    mpq_inits(one, zero, NULL);
    mpq_set_ui(one, 1, 1);
    return sqlite3_auto_extension((void (*)(void))opened);
}

static int teardown(void **state)
{
    (void)state;
    sqlite3_cancel_auto_extension((void (*)(void))opened);
    mpq_clears(one, zero, NULL);
    remove_all();
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_while_opening),
        cmocka_unit_test(stopped_while_making),
        cmocka_unit_test(no_file_can_be_opened),
        cmocka_unit_test(connection_stays_open),
        cmocka_unit_test(name_is_taken_meanwhile),
        cmocka_unit_test(no_memory_for_the_receipt),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
