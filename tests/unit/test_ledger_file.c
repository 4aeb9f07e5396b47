/*
 * ledger: which file it is (links, rights, copies), its chain of events, the
 * anchor, versions of the data, and ledgers of version 0.1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/ledger_kit.h"
#include "harness/scratch.h"
#include "ledger/db.h"

struct fixture {
    char dir[SCRATCH_PATH], path[128], other[128], anchor[128];
    struct mem mem;
    struct arena arena;
    struct ledger *l;
    struct err err;
    struct price p;
    mpq_t e, d;
};

static const struct ledger_request ask = {.query = {"Q", 1},
                                          .mechanism = {"m", 1}};

static void prepare(struct fixture *f)
{
    *f = (struct fixture){0};
    assert_int_equal(scratch_make(f->dir), 0);
    snprintf(f->path, sizeof f->path, "%s/l", f->dir);
    snprintf(f->other, sizeof f->other, "%s/m", f->dir);
    snprintf(f->anchor, sizeof f->anchor, "%s/anchor", f->dir);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    mpq_inits(f->e, f->d, NULL);
    price_init(&f->p);
    mpq_set_ui(f->e, 1, 1);
    mpq_set_ui(f->p.epsilon, 1, 100);
}

static void reopen(struct fixture *f, bool anchored)
{
    struct ledger_access access = {.anchor = anchored ? f->anchor : NULL};
    ledger_close(f->l);
    f->l = NULL;
    if (ledger_open(&f->mem, f->path, &access, &f->l, &f->err) != OK)
        fail_msg("%s", f->err.message);
}

static void start(struct fixture *f, bool anchored)
{
    prepare(f);
    struct ledger_spec spec = {
        .epsilon = f->e, .delta = f->d, .anchor = anchored ? f->anchor : NULL};
    assert_int_equal(ledger_create(f->path, &spec, &f->err), OK);
    reopen(f, anchored);
}

static void stop(struct fixture *f)
{
    if (f->l && ledger_verify(f->l, &f->err) != OK)
        fail_msg("%s", f->err.message);
    ledger_close(f->l);
    arena_fini(&f->arena);
    mpq_clears(f->e, f->d, NULL);
    price_fini(&f->p);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    assert_int_equal(scratch_remove(f->dir), 0);
}

static void charge(struct fixture *f)
{
    struct ledger_hold *h = NULL;
    if (kit_hold(f->l, &f->arena, &ask, &f->p, &h, &f->err) != OK)
        fail_msg("%s", f->err.message);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f->err), OK);
}

static enum status opens(struct fixture *f, const char *path,
                         const char *anchor)
{
    struct ledger *l = NULL;
    struct ledger_access access = {.anchor = anchor};
    enum status s = ledger_open(&f->mem, path, &access, &l, &f->err);
    ledger_close(l);
    return s;
}

static void copy(const char *from, const char *to)
{
    char buf[1 << 16];
    ssize_t n;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0600);
    assert_true(in >= 0 && out >= 0);
    assert_int_equal(ftruncate(out, 0), 0);
    while ((n = read(in, buf, sizeof buf)) > 0)
        assert_int_equal(write(out, buf, (size_t)n), n);
    close(in);
    close(out);
}

/* --- one that stays open ----------------------------------------------------
 */

static enum status same(struct fixture *f)
{
    return ledger_reopen(f->l, f->path, NULL, &f->err);
}

static void put_in_place(struct fixture *f, const char *suffix)
{
    char from[160], to[160];
    snprintf(from, sizeof from, "%s%s", f->path, suffix);
    snprintf(to, sizeof to, "%s%s", f->other, suffix);
    copy(from, to);
    assert_int_equal(rename(to, from), 0);
}

/* What could have changed between two questions is looked at again. */
static void stays_open(void **unused)
{
    (void)unused;
    struct fixture f;
    sqlite3_stmt *st = NULL;
    start(&f, false);
    for (int i = 0; i < 3; i++) {
        charge(&f);
        assert_int_equal(same(&f), OK);
    }
    size_t n = f.l->n_kept;
    charge(&f);
    assert_int_equal(f.l->n_kept, n); /* each statement once */

    assert_int_equal(db_prepare(f.l, "SELECT 1", &st, &f.err), OK);
    assert_int_equal(same(&f), E_LEDGER); /* somebody has not done with it */
    db_done(f.l, st);
    assert_int_equal(same(&f), OK);

    assert_int_equal(link(f.path, f.other), 0);
    assert_int_equal(same(&f), E_LEDGER);
    assert_int_equal(unlink(f.other), 0);
    assert_int_equal(ledger_reopen(f.l, f.path,
                                   &(struct ledger_access){.anchor = f.anchor},
                                   &f.err),
                     E_LEDGER);
    put_in_place(&f, "-wal"); /* the same, but the old one is not seen */
    assert_int_equal(same(&f), E_LEDGER);
    reopen(&f, false);
    put_in_place(&f, "");
    assert_int_equal(same(&f), E_MOVED);
    ledger_close(f.l);
    f.l = NULL;
    stop(&f);
}

/* --- the file ---------------------------------------------------------------
 */

static void links_and_rights(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, false);
    ledger_close(f.l);
    f.l = NULL;
    assert_int_equal(link(f.path, f.other), 0);
    assert_int_equal(opens(&f, f.path, NULL), E_LEDGER);
    assert_int_equal(opens(&f, f.other, NULL), E_LEDGER);
    assert_non_null(strstr(f.err.detail, "hard links"));
    assert_int_equal(unlink(f.other), 0);
    assert_int_equal(opens(&f, f.path, NULL), OK);
    const mode_t bad[] = {0620, 0602, 0666};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(f.path, bad[i]), 0);
        assert_int_equal(opens(&f, f.path, NULL), E_LEDGER);
    }
    assert_int_equal(chmod(f.path, 0640), 0);
    assert_int_equal(opens(&f, f.path, NULL), OK);
    if (!geteuid()) {
        assert_int_equal(chown(f.path, 65534, 65534), 0);
        assert_int_equal(opens(&f, f.path, NULL), E_LEDGER);
        assert_non_null(strstr(f.err.detail, "another user"));
        assert_int_equal(chown(f.path, 0, 0), 0);
    }
    stop(&f);
}

static void copies(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, false);
    charge(&f);
    ledger_close(f.l);
    f.l = NULL;
    copy(f.path, f.other);
    assert_int_equal(opens(&f, f.other, NULL), E_MOVED);
    assert_int_equal(opens(&f, f.path, NULL), OK);
    assert_int_equal(ledger_adopt(&f.mem, f.other, NULL, &f.err), OK);
    assert_int_equal(opens(&f, f.other, NULL), OK);
    /* a new name is the same file */
    assert_int_equal(unlink(f.other), 0);
    assert_int_equal(rename(f.path, f.other), 0);
    assert_int_equal(opens(&f, f.other, NULL), OK);
    assert_int_equal(rename(f.other, f.path), 0);
    reopen(&f, false);
    stop(&f);
}

static void reading_changes_nothing(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_access show = {.read_only = true};
    struct ledger_hold *h = NULL;
    struct ledger_state s;
    start(&f, false);
    charge(&f);
    ledger_close(f.l);
    assert_int_equal(ledger_open(&f.mem, f.path, &show, &f.l, &f.err), OK);
    assert_int_equal(ledger_verify(f.l, &f.err), OK);
    assert_int_equal(ledger_state(f.l, &f.arena, STR(""), &s, &f.err), OK);
    assert_int_equal(s.head.n, 4); /* init, bind, hold, commit */
    assert_int_equal(kit_hold(f.l, &f.arena, &ask, &f.p, &h, &f.err),
                     E_LEDGER_IO);
    stop(&f);
}

/* --- chain ------------------------------------------------------------------
 */

static void run_sql(struct fixture *f, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Whatever is changed in rows or events shows, although the triggers are
 * gone. */
static void changes_show(void **unused)
{
    (void)unused;
    static const char *const changes[] = {
        "UPDATE charged SET answer = '{9}' WHERE id = 1",
        "UPDATE charged SET sql = 'x' WHERE id = 1",
        "UPDATE charged SET version = 'x' WHERE id = 2",
        "UPDATE charged SET analyst = 'x' WHERE id = 2",
        "UPDATE charged SET receipt = 'x' WHERE id = 2",
        "UPDATE event SET text = text || 'x' WHERE n = 1",
        "UPDATE event SET salt = hash WHERE n = 2",
        "UPDATE event SET hash = salt WHERE n = 3",
        "UPDATE event SET kind = 'lock' WHERE kind = 'hold'",
        "UPDATE event SET n = 77 WHERE n = (SELECT max(n) FROM event)",
        "DELETE FROM event WHERE n = 2",
        "DELETE FROM charged WHERE id = 2",
        "UPDATE account SET spent_epsilon = '0.01'",
        "UPDATE hold SET state = 'void' WHERE number = 1",
        "UPDATE dataset SET locked = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct fixture f;
        start(&f, false);
        charge(&f);
        charge(&f);
        assert_int_equal(ledger_verify(f.l, &f.err), OK);
        run_sql(&f, "DROP TRIGGER charge_once; DROP TRIGGER charge_stays;"
                    "DROP TRIGGER event_once; DROP TRIGGER event_stays;"
                    "DROP TRIGGER hold_once; DROP TRIGGER hold_stays;");
        assert_int_equal(ledger_verify(f.l, &f.err), OK);
        run_sql(&f, changes[i]);
        if (ledger_verify(f.l, &f.err) == OK)
            fail_msg("not seen: %s", changes[i]);
        ledger_close(f.l);
        f.l = NULL;
        stop(&f);
    }
}

static void heads(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_head early, h;
    struct ledger_state s;
    char text[128];
    start(&f, false);
    charge(&f);
    assert_int_equal(ledger_state(f.l, &f.arena, STR(""), &s, &f.err), OK);
    early = s.head;
    charge(&f);
    assert_int_equal(ledger_verify_head(f.l, &early, &f.err), OK);
    snprintf(text, sizeof text, "%llu:%s", (unsigned long long)early.n,
             early.hash);
    assert_int_equal(ledger_head_read(str_of(text), &h, &f.err), OK);
    assert_int_equal(ledger_verify_head(f.l, &h, &f.err), OK);
    h.n++;
    assert_int_equal(ledger_verify_head(f.l, &h, &f.err), E_ROLLBACK);
    h.n = 1000;
    assert_int_equal(ledger_verify_head(f.l, &h, &f.err), E_ROLLBACK);
    const char *const bad[] = {"",     ":",    "1",    "1:",   "x:00",
                               "0:00", "1:zz", "1:00", "-1:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ledger_head_read(str_of(bad[i]), &h, &f.err), E_VALUE);
    stop(&f);
}

/* --- anchor ------------------------------------------------------------------
 */

static void put(const char *path, const char *text, const char *mode)
{
    FILE *out = fopen(path, mode);
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static int lines(const char *path)
{
    FILE *in = fopen(path, "r");
    int n = 0, c;
    assert_non_null(in);
    while ((c = getc(in)) != EOF)
        n += c == '\n';
    fclose(in);
    return n;
}

static void an_old_state_shows(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, true);
    charge(&f);
    assert_int_equal(lines(f.anchor), 4);
    ledger_close(f.l);
    f.l = NULL;
    copy(f.path, f.other);
    reopen(&f, true);
    charge(&f);
    ledger_close(f.l);
    f.l = NULL;
    assert_int_equal(lines(f.anchor), 6);
    copy(f.other, f.path); /* keeps inode and birth time */
    assert_int_equal(opens(&f, f.path, NULL), OK);
    assert_int_equal(opens(&f, f.path, f.anchor), E_ROLLBACK);
    assert_int_equal(ledger_adopt(&f.mem, f.path, f.anchor, &f.err),
                     E_ROLLBACK);
    stop(&f);
}

static void anchors(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, true);
    charge(&f);
    /* torn by a crash: passed over, and the next line stands alone */
    put(f.anchor, "99 abc", "a");
    reopen(&f, true);
    ledger_close(f.l);
    copy(f.path, f.other);
    f.l = NULL;
    reopen(&f, true);
    struct ledger_hold *h = NULL; /* killed behind the hold */
    assert_int_equal(kit_hold(f.l, &f.arena, &ask, &f.p, &h, &f.err), OK);
    ledger_close(f.l);
    f.l = NULL;
    char now[160];
    snprintf(now, sizeof now, "%s/now", f.dir);
    copy(f.path, now);
    copy(f.other, f.path);
    assert_int_equal(opens(&f, f.path, f.anchor), E_ROLLBACK);
    copy(now, f.path);
    reopen(&f, true);
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    /* not rising, as of several processes; junk */
    char line[128];
    struct ledger_state st;
    assert_int_equal(ledger_state(f.l, &f.arena, STR(""), &st, &f.err), OK);
    snprintf(line, sizeof line, "%llu %s\n", (unsigned long long)st.head.n + 1,
             st.head.hash);
    put(f.anchor, "junk\n1 2 3\n\n", "a");
    reopen(&f, true);
    copy(f.anchor, f.other);
    put(f.anchor, line, "a"); /* larger, and false; then a true one again */
    snprintf(line, sizeof line, "%llu %s\n", (unsigned long long)st.head.n,
             st.head.hash);
    put(f.anchor, line, "a");
    assert_int_equal(opens(&f, f.path, f.anchor), E_ROLLBACK);
    copy(f.other, f.anchor);
    unlink(f.other);
    reopen(&f, true);
    /* a head that the ledger never had, with the largest number */
    put(f.anchor,
        "77 0000000000000000000000000000000000000000000000000000000000000000\n",
        "a");
    assert_int_equal(opens(&f, f.path, f.anchor), E_ROLLBACK);
    /* emptied, or gone */
    put(f.anchor, "", "w");
    assert_int_equal(opens(&f, f.path, f.anchor), E_ROLLBACK);
    assert_int_equal(unlink(f.anchor), 0);
    assert_int_equal(opens(&f, f.path, f.anchor), E_LEDGER_IO);
    assert_int_equal(ledger_adopt(&f.mem, f.path, f.anchor, &f.err), OK);
    reopen(&f, true);
    charge(&f);
    /* of another ledger */
    struct ledger_spec spec = {
        .epsilon = f.e, .delta = f.d, .anchor = f.anchor};
    assert_int_equal(ledger_create(f.other, &spec, &f.err), E_VALUE);
    stop(&f);
}

/* PRIVACY: nothing may be drawn if the anchor could not be written. */
static void an_anchor_that_fails(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_state s;
    start(&f, true);
    assert_int_equal(unlink(f.anchor), 0);
    assert_int_equal(mkdir(f.anchor, 0700), 0);
    assert_int_equal(kit_hold(f.l, &f.arena, &ask, &f.p, &h, &f.err),
                     E_LEDGER_IO);
    assert_null(h);
    assert_int_equal(ledger_state(f.l, &f.arena, STR(""), &s, &f.err), OK);
    assert_int_equal(s.in_flight, 0); /* charged, but it does not lock */
    assert_int_equal(s.locked, 0);
    stop(&f);
}

/* --- versions
 * ------------------------------------------------------------------ */

static void seals(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_seal got;
    char print[SHA256_HEX], again[SHA256_HEX], third[SHA256_HEX], key[160];
    struct stat st;
    bool found = true;
    start(&f, false);
    assert_int_equal(ledger_fingerprint(f.l, "abc", 3, print, &f.err), OK);
    assert_int_equal(ledger_fingerprint(f.l, "abc", 3, again, &f.err), OK);
    assert_int_equal(ledger_fingerprint(f.l, "abd", 3, third, &f.err), OK);
    assert_string_equal(print, again);
    assert_string_not_equal(print, third);
    snprintf(key, sizeof key, "%s.key", f.path);
    assert_int_equal(stat(key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct ledger_seal s = {.dataset = STR(""),
                            .source = STR("d.db"),
                            .version = STR("v1"),
                            .fingerprint = str_of(print),
                            .constraints = STR("c"),
                            .copy = STR("f"),
                            .explicit_ = true,
                            .valid = true};
    assert_int_equal(ledger_seal_get(f.l, &f.arena, STR(""), STR("d.db"),
                                     STR(""), &got, &found, &f.err),
                     OK);
    assert_false(found);
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    s.fingerprint = str_of(third);
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), E_VALUE);
    s.version = STR("v2");
    s.valid = false; /* the newest failed: the last good one is served on */
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    assert_int_equal(ledger_seal_get(f.l, &f.arena, STR(""), STR("d.db"),
                                     STR(""), &got, &found, &f.err),
                     OK);
    assert_true(found && str_is(got.version, "v1") && got.at.n);
    assert_int_equal(ledger_seal_get(f.l, &f.arena, STR(""), STR("d.db"),
                                     STR("v2"), &got, &found, &f.err),
                     OK);
    assert_true(found && !got.valid);
    assert_int_equal(ledger_seal_find(f.l, &f.arena, STR(""), STR("d.db"),
                                      str_of(print), STR("c"), &got, &found,
                                      &f.err),
                     OK);
    assert_true(found && str_is(got.version, "v1"));
    assert_int_equal(ledger_seal_find(f.l, &f.arena, STR(""), STR("d.db"),
                                      str_of(print), STR("other"), &got, &found,
                                      &f.err),
                     OK);
    assert_false(found);
    /* one name in place and as a copy: the same rows, or none */
    s = (struct ledger_seal){.dataset = STR(""),
                             .source = STR("d2.db"),
                             .version = STR("v3"),
                             .fingerprint = str_of(print),
                             .constraints = STR("c"),
                             .cells = STR("rows"),
                             .explicit_ = true,
                             .valid = true};
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    s.source = s.copy = STR("d2.sealed");
    s.fingerprint = str_of(third);
    s.cells = STR("other rows");
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), E_VALUE);
    s.cells = STR("rows");
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    /* a ledger that did not know rows yet */
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE seal DROP COLUMN cells",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    s.version = STR("v4");
    assert_int_equal(ledger_seal_put(f.l, &s, &f.err), OK);
    assert_int_equal(unlink(key), 0); /* another key: all would differ */
    assert_int_equal(ledger_fingerprint(f.l, "abc", 3, again, &f.err),
                     E_LEDGER);
    stop(&f);
}

/* --- version 0.1
 * ---------------------------------------------------------------- */

static enum status count_states(void *ctx, const struct ledger_entry *e,
                                struct err *err)
{
    int *n = ctx;
    (void)err;
    n[e->committed]++;
    assert_int_equal(e->receipt.n, 24);
    return OK;
}

/* Made by version 0.1.0: total 3, delta 1e-6; ann has a cap of 1; five
 * charges, one of them held. */
static void of_version_0_1(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_balance b;
    struct ledger_request ann = ask;
    struct ledger_hold *h = NULL;
    int n[2] = {0};
    char old[512];
    sqlite3 *running = NULL;
    ann.analyst = STR("ann");
    prepare(&f);
    snprintf(old, sizeof old, "%s/tests/golden/ledger-0.1.0.db",
             getenv("DPC_SOURCE"));
    copy(old, f.path);
    assert_int_equal(opens(&f, f.path, NULL), E_LEDGER);
    assert_non_null(strstr(f.err.hint, "budget adopt"));
    assert_int_equal(sqlite3_open(f.path, &running), SQLITE_OK);
    assert_int_equal(ledger_adopt(&f.mem, f.path, NULL, &f.err), OK);
    /* what a process of version 0.1 that has it open would do */
    assert_int_not_equal(sqlite3_exec(running,
                                      "UPDATE charge SET state = 'committed',"
                                      " answer = '{}' WHERE state = 'held'",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(running,
                                      "UPDATE budget SET spent_epsilon = '0'",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    sqlite3_close(running);
    reopen(&f, false);
    assert_int_equal(ledger_verify(f.l, &f.err), OK);
    assert_int_equal(
        ledger_history(f.l, (struct str){0}, count_states, n, &f.err), OK);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 4);
    balance_init(&b);
    assert_int_equal(ledger_balance(f.l, STR(""), STR(""), &b, &f.err), OK);
    assert_int_equal(mpq_cmp_ui(b.epsilon_total, 3, 1), 0);
    assert_int_equal(mpq_cmp_ui(b.epsilon_spent, 9, 10), 0);
    assert_int_equal(ledger_balance(f.l, STR(""), STR("ann"), &b, &f.err), OK);
    assert_int_equal(mpq_cmp_ui(b.epsilon_total, 1, 1), 0);
    assert_int_equal(mpq_cmp_ui(b.epsilon_spent, 1, 5), 0);
    balance_fini(&b);
    assert_int_equal(kit_hold(f.l, &f.arena, &ask, &f.p, &h, &f.err),
                     E_UNKNOWN_ANALYST);
    assert_int_equal(kit_hold(f.l, &f.arena, &ann, &f.p, &h, &f.err), OK);
    assert_int_equal(ledger_hold_number(h), 6);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_open),
        cmocka_unit_test(links_and_rights),
        cmocka_unit_test(copies),
        cmocka_unit_test(reading_changes_nothing),
        cmocka_unit_test(changes_show),
        cmocka_unit_test(heads),
        cmocka_unit_test(an_old_state_shows),
        cmocka_unit_test(anchors),
        cmocka_unit_test(an_anchor_that_fails),
        cmocka_unit_test(seals),
        cmocka_unit_test(of_version_0_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
