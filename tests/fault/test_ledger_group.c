/*
 * Several processes that share their syncs, on a disk that a power cut leaves
 * with what was synced and nothing else. The disk is a model of the kernel's:
 * pages that were written are dirty; a sync takes those that are dirty when it
 * begins to the image, and one that fails forgets them all the same, so that
 * they are clean and were never written. What must be true is in
 * src/ledger/PROOF.md: a hold that returned OK is in the image, whenever the
 * power goes, and so is an answer that was found and settled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "harness/ledger_kit.h"
#include "harness/scratch.h"

enum {
    PAGE = 4096,
    PAGES = 2048,
    PROCESSES = 4,
    MOST = 4000, /* receipts of a run */
    RUNS = 6
};

/* Seen by all processes. */
static struct {
    _Atomic int dirty[PAGES];
    char image[PAGES][PAGE];
    _Atomic long size, syncs, done, failing;
    _Atomic bool other_may; /* hold_meanwhile */
    _Atomic int n_held, n_answered;
    char held[MOST][32], answered[MOST][32];
} * disk;
static struct ledger_group *group;
static char dir[SCRATCH_PATH], path[80];

/* --- the disk ------------------------------------------------------------- */

static const sqlite3_io_methods *real;
static sqlite3_io_methods methods;
static sqlite3_vfs *real_vfs;

static int x_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    int rc = real->xWrite(f, p, n, at);
    if (at + n > (sqlite3_int64)PAGES * PAGE)
        abort();
    for (sqlite3_int64 i = at / PAGE; n && i <= (at + n - 1) / PAGE; i++)
        disk->dirty[i] = 1;
    return rc;
}

/* Once, in the midst of a sync. */
static void (*meanwhile)(sqlite3_file *f);

static int x_sync(sqlite3_file *f, int flags)
{
    void (*now_do)(sqlite3_file *) = meanwhile;
    static char now[PAGES][PAGE];
    static bool take[PAGES];
    const struct timespec pause = {.tv_nsec = 2000000};
    (void)flags;
    bool fails = atomic_fetch_add(&disk->failing, -1) == 1;
    sqlite3_int64 size = 0;
    for (int i = 0; i < PAGES; i++)
        if ((take[i] = atomic_exchange(&disk->dirty[i], 0))) {
            memset(now[i], 0, PAGE);
            int rc = real->xRead(f, now[i], PAGE, (sqlite3_int64)i * PAGE);
            if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
                abort();
        }
    real->xFileSize(f, &size);
    meanwhile = NULL;
    if (now_do)
        now_do(f);
    nanosleep(&pause, NULL);
    disk->syncs++;
    if (fails)
        return SQLITE_IOERR_FSYNC;
    for (int i = 0; i < PAGES; i++)
        if (take[i])
            memcpy(disk->image[i], now[i], PAGE);
    disk->size = size > disk->size ? size : disk->size;
    return SQLITE_OK;
}

static int x_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags,
                  int *out)
{
    (void)v;
    int rc = real_vfs->xOpen(real_vfs, name, f, flags, out);
    if (rc != SQLITE_OK || !(flags & SQLITE_OPEN_WAL))
        return rc;
    real = f->pMethods;
    methods = *real;
    methods.xWrite = x_write;
    methods.xSync = x_sync;
    f->pMethods = &methods;
    return rc;
}

static void install(void)
{
    static sqlite3_vfs vfs;
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "disk";
    vfs.pNext = NULL;
    vfs.xOpen = x_open;
    sqlite3_vfs_register(&vfs, 1);
}

/* --- those who ask -------------------------------------------------------- */

static const struct ledger_request asked = {.query = {"q", 1},
                                            .mechanism = {"m", 1}};
static void (*dies_with_commit)(sqlite3_file *f); /* of ask_one */

static enum status open_member(struct mem *m, struct ledger **l,
                               struct err *err)
{
    const struct ledger_access access = {.busy = true, .group = group};
    return ledger_open(m, path, &access, l, err);
}

static void note(_Atomic int *n, char list[MOST][32], struct str receipt)
{
    int at = atomic_fetch_add(n, 1);
    if (at >= MOST)
        _exit(3);
    snprintf(list[at], sizeof list[at], "%.*s", PSTR(receipt));
}

/* Somebody else's answer, too: whose member has not synced it yet. */
static void find_one(struct ledger *l, struct arena *a,
                     const struct ledger_request *r, const struct price *p)
{
    struct ledger_found found;
    struct err err;
    if (ledger_find(l, a, r, p, &found, &err) == OK && found.answer.p &&
        ledger_settle(l, &err) == OK)
        note(&disk->n_answered, disk->answered, found.receipt);
}

static bool ask_one(struct ledger *l, const struct price *p, struct err *err)
{
    struct mem m;
    struct arena a;
    struct ledger_hold *h = NULL;
    const struct str answer = STR("{\"answers\": [1]}");
    mem_init(&m, 0);
    arena_init(&a, &m);
    bool ok = kit_hold(l, &a, &asked, p, &h, err) == OK;
    if (ok) {
        struct str receipt = ledger_hold_receipt(h, 0);
        meanwhile = dies_with_commit;
        note(&disk->n_held, disk->held, receipt);
        ok = ledger_commit(h, &answer, err) == OK;
        if (ok)
            note(&disk->n_answered, disk->answered, receipt);
        find_one(l, &a, &asked, p);
    }
    arena_fini(&a);
    return ok;
}

static void member(int questions)
{
    struct mem m;
    struct ledger *l = NULL;
    struct err err;
    struct price p;
    mem_init(&m, 0);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, 1000);
    if (open_member(&m, &l, &err) != OK)
        _exit(2);
    int failed = 0;
    for (int i = 0; i < questions; i++)
        failed += !ask_one(l, &p, &err);
    disk->done += questions - failed;
    _exit(0);
}

/* --- what the power cut leaves -------------------------------------------- */

static void write_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(name, 0600), 0);
}

struct found {
    char held[MOST][32];
    bool committed[MOST];
    int n;
};

static enum status look(void *ctx, const struct ledger_entry *e,
                        struct err *err)
{
    struct found *f = ctx;
    (void)err;
    assert_true(f->n < MOST);
    snprintf(f->held[f->n], 32, "%.*s", PSTR(e->receipt));
    f->committed[f->n++] = e->committed;
    return OK;
}

static int place_of(const struct found *f, const char *receipt)
{
    int i = 0;
    while (i < f->n && strcmp(f->held[i], receipt) != 0)
        i++;
    return i;
}

/* The ledger as the disk has it. */
static void look_at_image(struct found *f)
{
    struct mem m;
    struct ledger *l = NULL;
    struct err err;
    char name[SCRATCH_PATH + 16], command[4 * SCRATCH_PATH];
    mem_init(&m, 0);
    snprintf(command, sizeof command, "rm -f %s/after* && cp %s/start %s/after",
             dir, dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(name, sizeof name, "%s/after-wal", dir);
    write_file(name, disk->image, (size_t)disk->size);
    snprintf(name, sizeof name, "%s/after", dir);
    if (ledger_adopt(&m, name, NULL, &err) != OK ||
        ledger_open(&m, name, NULL, &l, &err) != OK)
        fail_msg("%s: %s", err.message, err.detail);
    assert_int_equal(ledger_verify(l, &err), OK);
    assert_int_equal(ledger_history(l, (struct str){0}, look, f, &err), OK);
    ledger_close(l);
}

static void check_what_is_left(void)
{
    static struct found f;
    memset(&f, 0, sizeof f);
    look_at_image(&f);
    for (int i = 0; i < disk->n_held; i++)
        if (disk->held[i][0]) /* else it was killed while it noted */
            assert_true(place_of(&f, disk->held[i]) < f.n);
    for (int i = 0; i < disk->n_answered; i++) {
        int at = place_of(&f, disk->answered[i]);
        assert_true(!disk->answered[i][0] || (at < f.n && f.committed[at]));
    }
}

/* --- runs ----------------------------------------------------------------- */

static void fresh(void)
{
    char cmd[4 * SCRATCH_PATH];
    mpq_t e, d;
    struct err err;
    snprintf(cmd, sizeof cmd, "rm -f %s/l* %s/start*", dir, dir);
    assert_int_equal(system(cmd), 0);
    mpq_inits(e, d, NULL);
    mpq_set_ui(e, 1000, 1);
    assert_int_equal(kit_create(path, COMPOSE_SUM, e, d, &err), OK);
    mpq_clears(e, d, NULL);
    snprintf(cmd, sizeof cmd, "cp %s/l %s/start", dir, dir);
    assert_int_equal(system(cmd), 0);
    memset(disk, 0, sizeof *disk);
    ledger_group_free(group);
    group = ledger_group_new();
    assert_non_null(group);
}

/* The number of those that ended by themselves. */
static int run(int processes, int questions, long microseconds)
{
    pid_t pids[PROCESSES];
    int ended = 0, status;
    for (int i = 0; i < processes; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i]) {
            install();
            member(questions);
        }
    }
    if (microseconds) {
        const struct timespec pause = {.tv_nsec = microseconds * 1000};
        nanosleep(&pause, NULL);
        for (int i = 0; i < processes; i++)
            kill(pids[i], SIGKILL);
    }
    for (int i = 0; i < processes; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        ended += WIFEXITED(status) && !WEXITSTATUS(status);
    }
    return ended;
}

static void syncs_are_shared(void **state)
{
    (void)state;
    const int each = 10; /* the log is not moved: its pages are the disk */
    fresh();
    assert_int_equal(run(PROCESSES, each, 0), PROCESSES);
    check_what_is_left();
    long all = (long)PROCESSES * each;
    assert_int_equal(disk->done, all);
    print_message("%ld syncs for %ld transactions\n", (long)disk->syncs,
                  2 * all);
    assert_true(disk->syncs < 2 * all);
}

/* Alone there is nobody to wait for: each transaction one sync. What is found
 * is durable already. */
static void alone_each_syncs(void **state)
{
    (void)state;
    const int each = 10;
    fresh();
    assert_int_equal(run(1, each, 0), 1);
    check_what_is_left();
    assert_int_equal(disk->syncs, 2 * each + 1); /* and the log's head */
}

static void power_cuts(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        fresh();
        run(PROCESSES, 1000, 20000 + i * 17000);
        check_what_is_left();
    }
}

/* Pages of a sync that failed are clean, and not on the disk. (The first sync
 * is of the log's head, the second is the new group's, which writes all again.)
 */
static void after_a_failed_sync(void **state)
{
    (void)state;
    for (int at = 3; at < 9; at++) {
        fresh();
        disk->failing = at;
        assert_int_equal(run(2, 6, 0), 2);
        assert_true(disk->failing < 1);
        check_what_is_left();
        assert_int_equal(disk->done, 12); /* it was written again */
    }
}

/* Both fail: nothing counts until the log was written again. */
static int failed_twice(sqlite3_file *f, int flags)
{
    if (disk->syncs == 4 || disk->syncs == 5)
        disk->failing = 1;
    return x_sync(f, flags);
}

typedef bool holding(struct ledger *l, const struct price *p, struct err *err);

static void be_member(holding *work)
{
    struct mem m;
    struct ledger *l = NULL;
    struct err err;
    struct price p;
    install();
    mem_init(&m, 0);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, 1000);
    if (open_member(&m, &l, &err) != OK)
        _exit(2);
    _exit(work(l, &p, &err) ? 0 : 3);
}

static bool fails_twice(struct ledger *l, const struct price *p,
                        struct err *err)
{
    int bad = !ask_one(l, p, err);
    methods.xSync = failed_twice;
    for (int i = 0; i < 4; i++)
        bad += !ask_one(l, p, err);
    return bad == 1;
}

static void after_two_failed_syncs(void **state)
{
    (void)state;
    fresh();
    pid_t pid = fork();
    if (!pid)
        be_member(fails_twice);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    check_what_is_left();
}

/* --- one of two, at the worst moment
 * -------------------------------------------------------- */

enum { LONG = 1000 * (PAGE + 24) };
static long long_syncs, failing_long; /* of a log that is to be moved */

/* Another member commits while this one syncs. */
static void let_other_hold(sqlite3_file *f)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    sqlite3_int64 size = 0, before = 0;
    real->xFileSize(f, &before);
    disk->other_may = true;
    for (int i = 0; i < 400 && size <= before; i++) {
        nanosleep(&pause, NULL);
        real->xFileSize(f, &size);
    }
    nanosleep(&pause, NULL);
}

static int one_long_failed(sqlite3_file *f, int flags)
{
    sqlite3_int64 size = 0;
    real->xFileSize(f, &size);
    if (size > LONG && long_syncs++ == failing_long) {
        disk->failing = 1; /* and the other's pages are lost, too */
        let_other_hold(f);
    }
    return x_sync(f, flags);
}

static bool hold_one(struct ledger *l, const struct price *p, struct err *err)
{
    struct mem m;
    struct arena a;
    struct ledger_hold *h = NULL;
    mem_init(&m, 0);
    arena_init(&a, &m);
    bool ok = kit_hold(l, &a, &asked, p, &h, err) == OK;
    if (ok)
        note(&disk->n_held, disk->held, ledger_hold_receipt(h, 0));
    arena_fini(&a);
    return ok;
}

static void wait_for_the_other(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; !disk->other_may; i++) {
        if (i > 30000)
            _exit(4);
        nanosleep(&pause, NULL);
    }
}

static bool hold_late(struct ledger *l, const struct price *p, struct err *err)
{
    wait_for_the_other();
    return hold_one(l, p, err);
}

/* The first sync of a log is made with the write lock. */
static bool hold_slowly(struct ledger *l, const struct price *p,
                        struct err *err)
{
    bool ok = hold_one(l, p, err);
    meanwhile = let_other_hold;
    return ok && hold_one(l, p, err);
}

/* It ends before the log begins anew, so that the image has all of it. */
static bool hold_until_moved(struct ledger *l, const struct price *p,
                             struct err *err)
{
    bool ok = true;
    methods.xSync = one_long_failed;
    while (ok && long_syncs <= failing_long)
        ok = hold_one(l, p, err);
    return ok;
}

static void two_members(holding *one, holding *other)
{
    holding *const both[] = {one, other};
    int status;
    fresh();
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (!pid)
            be_member(both[i]);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    check_what_is_left();
}

/* What is committed while a sync runs is not of it. */
static void a_sync_of_earlier_writes(void **state)
{
    (void)state;
    two_members(hold_slowly, hold_late);
    assert_int_equal(disk->n_held, 3);
}

static void die_slowly(sqlite3_file *f)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    (void)f;
    disk->other_may = true;
    nanosleep(&pause, NULL);
    _exit(0);
}

static bool answer_and_die(struct ledger *l, const struct price *p,
                           struct err *err)
{
    dies_with_commit = die_slowly;
    return ask_one(l, p, err);
}

static bool find_late(struct ledger *l, const struct price *p, struct err *err)
{
    struct mem m;
    struct arena a;
    (void)err;
    wait_for_the_other();
    mem_init(&m, 0);
    arena_init(&a, &m);
    find_one(l, &a, &asked, p);
    arena_fini(&a);
    return disk->n_answered == 1;
}

/* An answer that is seen before it is on the disk, and whose member dies. */
static void found_before_it_is_synced(void **state)
{
    (void)state;
    two_members(answer_and_die, find_late);
}

/* SQLite syncs the log before it moves it, and tells nobody if that fails:
 * what another wrote meanwhile is lost with it. */
static void after_a_failed_move(void **state)
{
    (void)state;
    for (failing_long = 0; failing_long < 2; failing_long++) {
        two_members(hold_until_moved, hold_late);
        assert_true(disk->failing < 1);
    }
}

/* A member that died while it took over from one that had died. */
static void a_group_that_is_lost(void **state)
{
    (void)state;
    int status;
    fresh();
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (!pid) {
            (void)!pthread_mutex_lock((pthread_mutex_t *)(void *)group);
            if (i) /* without saying that all is well: nobody can any more */
                pthread_mutex_unlock((pthread_mutex_t *)(void *)group);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
    }
    assert_int_equal(run(2, 5, 0), 2);
    assert_int_equal(disk->done, 10);
    check_what_is_left();
}

/* A new group cannot know that the one before failed. */
static void a_new_group(void **state)
{
    (void)state;
    fresh();
    assert_int_equal(run(1, 2, 0), 1);
    memset(disk->image, 0, sizeof disk->image); /* none of it was written */
    ledger_group_free(group);
    group = ledger_group_new();
    assert_int_equal(run(1, 2, 0), 1);
    check_what_is_left();
}

static int setup(void **state)
{
    (void)state;
    if (scratch_make(dir))
        return -1;
    snprintf(path, sizeof path, "%s/l", dir);
    disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return disk == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    return scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_each_syncs),
        cmocka_unit_test(syncs_are_shared),
        cmocka_unit_test(power_cuts),
        cmocka_unit_test(after_a_failed_sync),
        cmocka_unit_test(after_two_failed_syncs),
        cmocka_unit_test(a_sync_of_earlier_writes),
        cmocka_unit_test(found_before_it_is_synced),
        cmocka_unit_test(after_a_failed_move),
        cmocka_unit_test(a_group_that_is_lost),
        cmocka_unit_test(a_new_group),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
