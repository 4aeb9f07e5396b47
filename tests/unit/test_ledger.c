/* ledger: life of a charge, composition, caps, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "harness/ledger_kit.h"
#include "ledger/db.h"
#include "harness/scratch.h"

struct fixture {
    char dir[SCRATCH_PATH], path[128];
    struct mem mem;
    struct arena arena;
    struct ledger *l;
    struct err err;
    mpq_t e, d;
    struct price p;
};

static const struct ledger_request nobody = {.query = {"Q() :- R(x).", 12},
                                             .mechanism = {"m", 1}};

static void start(struct fixture *f, enum composition c, const char *eps,
                  const char *delta)
{
    assert_int_equal(scratch_make(f->dir), 0);
    snprintf(f->path, sizeof f->path, "%s/l", f->dir);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    mpq_inits(f->e, f->d, NULL);
    price_init(&f->p);
    assert_int_equal(rat_read(str_of(eps), "e", f->e, &f->err), OK);
    assert_int_equal(rat_read(str_of(delta), "d", f->d, &f->err), OK);
    assert_int_equal(kit_create(f->path, c, f->e, f->d, &f->err), OK);
    assert_int_equal(kit_open(&f->mem, f->path, &f->l, &f->err), OK);
}

static void stop(struct fixture *f)
{
    assert_int_equal(ledger_verify(f->l, &f->err), OK);
    ledger_close(f->l);
    arena_fini(&f->arena);
    mpq_clears(f->e, f->d, NULL);
    price_fini(&f->p);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    assert_int_equal(scratch_remove(f->dir), 0);
}

static enum status hold(struct fixture *f, const char *eps, const char *delta,
                        const char *rho, struct ledger_hold **receipt)
{
    assert_int_equal(rat_read(str_of(eps), "e", f->p.epsilon, &f->err), OK);
    assert_int_equal(rat_read(str_of(delta), "d", f->p.delta, &f->err), OK);
    assert_int_equal(rat_read(str_of(rho), "r", f->p.rho, &f->err), OK);
    return kit_hold(f->l, &f->arena, &nobody, &f->p, receipt, &f->err);
}

static void life_of_a_charge(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *receipt[3];
    struct ledger_found found;
    start(&f, COMPOSE_SUM, "1", "0");
    assert_int_equal(hold(&f, "0.5", "0", "0", &receipt[0]), OK);
    assert_int_equal(ledger_find(f.l, &f.arena, &nobody, &f.p, &found, &f.err),
                     OK);
    assert_null(found.answer.p);
    assert_int_equal(ledger_commit(receipt[0], &STR("{}"), &f.err), OK);
    assert_int_equal(ledger_commit(receipt[0], &STR("{1}"), &f.err), E_LEDGER);
    assert_int_equal(ledger_find(f.l, &f.arena, &nobody, &f.p, &found, &f.err),
                     OK);
    assert_true(str_is(found.answer, "{}"));
    assert_true(str_eq(found.receipt, ledger_hold_receipt(receipt[0], 0)));
    assert_int_equal(hold(&f, "0.6", "0", "0", &receipt[1]), E_BUDGET);
    assert_non_null(strstr(f.err.detail, "Spent epsilon 0.5"));
    assert_non_null(strstr(f.err.detail, "asked epsilon 0.6"));
    assert_non_null(strstr(f.err.detail, "remaining epsilon 0.5"));
    assert_int_equal(hold(&f, "0.5", "0", "0", &receipt[2]), OK);
    assert_false(str_eq(ledger_hold_receipt(receipt[0], 0),
                        ledger_hold_receipt(receipt[2], 0)));
    assert_int_equal(ledger_lock(receipt[2], STR("test"), &f.err), OK);
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    struct ledger_balance b;
    balance_init(&b);
    assert_int_equal(ledger_balance(f.l, STR(""), STR(""), &b, &f.err), OK);
    assert_int_equal(ledger_count(f.l, STR(""), STR(""), &b, &f.err), OK);
    assert_true(mpq_equal(b.epsilon_spent, b.epsilon_total));
    assert_int_equal(b.n_held, 1);
    assert_int_equal(b.n_committed, 1);
    balance_fini(&b);
    stop(&f);
}

/* Ten tenths are one: exactly, not as doubles add. */
static void sums_are_exact(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *receipt = NULL;
    start(&f, COMPOSE_SUM, "1", "1e-6");
    for (int i = 0; i < 10; i++)
        assert_int_equal(hold(&f, "0.1", "1e-7", "0", &receipt), OK);
    assert_int_equal(hold(&f, "1e-9", "0", "0", &receipt), E_BUDGET);
    stop(&f);
}

/* Unlike denominators, as ledgers of version 0.1 may have them: the text stays
 * bounded and the sum an upper bound. */
static void sums_stay_short(void **state)
{
    (void)state;
    struct account acc;
    struct price p;
    struct err err;
    char eps[64];
    mpq_t exact;
    mpq_init(exact);
    account_init(&acc);
    price_init(&p);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(eps, sizeof eps, "1/%u1234567890123456789012345677",
                 7 + 2 * i);
        assert_int_equal(rat_read(str_of(eps), "e", p.epsilon, &err), OK);
        compose_add(&acc, &p);
        mpq_add(exact, exact, p.epsilon);
    }
    assert_true(mpz_sizeinbase(mpq_denref(acc.epsilon), 2) <= 8192);
    assert_true(mpq_cmp(acc.epsilon, exact) > 0);
    price_fini(&p);
    account_fini(&acc);
    mpq_clear(exact);
}

static void zcdp_composes(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *receipt = NULL;
    start(&f, COMPOSE_ZCDP, "1", "2e-6");
    /* rho + 2 sqrt(rho ln(1e6)) = 1 at rho = 0.0174...; the tighter bound
     * allows a little more, and pure releases of 0.01 cost 0.00005 each. */
    assert_int_equal(hold(&f, "0", "0", "0.0174", &receipt), OK);
    assert_int_equal(hold(&f, "0", "0", "0.01", &receipt), E_BUDGET);
    assert_int_equal(hold(&f, "0.5", "0", "0", &receipt), E_BUDGET);
    assert_int_equal(hold(&f, "0.01", "0", "0", &receipt), OK);
    assert_int_equal(hold(&f, "0.01", "1.1e-6", "0", &receipt), E_BUDGET);
    assert_int_equal(hold(&f, "0.01", "1e-6", "0", &receipt), OK);
    stop(&f);
    start(&f, COMPOSE_SUM, "1", "2e-6");
    assert_int_equal(hold(&f, "0", "0", "0.001", &receipt), E_VALUE);
    stop(&f);
}

/* The conversion against values of an independent computation (the bound of
 * Canonne, Kamath, Steinke minimised over the order on a fine grid), which
 * is a lower limit for any single order, and Bun and Steinke's formula,
 * which is an upper one. */
static void conversion(void **state)
{
    (void)state;
    static const struct {
        const char *rho, *delta;
        double least, most;
    } cases[] = {
        {"0.1", "1e-6", 2.1419, 2.4508},
        {"0.5", "1e-5", 4.7283, 5.2985},
        {"0.01", "1e-6", 0.6216, 0.7535},
        {"2", "1e-9", 14.1501, 14.8757},
    };
    mpq_t rho, delta, eps;
    struct err err;
    mpq_inits(rho, delta, eps, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(rat_read(str_of(cases[i].rho), "r", rho, &err), OK);
        assert_int_equal(rat_read(str_of(cases[i].delta), "d", delta, &err),
                         OK);
        compose_rho_to_epsilon(rho, delta, eps);
        double e = mpq_get_d(eps);
        assert_true(e >= cases[i].least && e <= cases[i].most);
        assert_true(e <= cases[i].least * 1.013);
    }
    mpq_clears(rho, delta, eps, NULL);
}

static void caps(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *receipt = NULL;
    struct ledger_request bob = nobody;
    bob.analyst = STR("bob");
    start(&f, COMPOSE_SUM, "2", "0");
    assert_int_equal(hold(&f, "0.25", "0", "0", &receipt), OK);
    assert_int_equal(kit_hold(f.l, &f.arena, &bob, &f.p, &receipt, &f.err), OK);
    mpq_set_ui(f.e, 1, 8);
    mpq_set_ui(f.d, 0, 1);
    assert_int_equal(ledger_grant(f.l, STR(""), STR("bob"), f.e, f.d, &f.err),
                     E_VALUE); /* has spent more already */
    mpq_set_ui(f.e, 1, 2);
    assert_int_equal(ledger_grant(f.l, STR(""), STR("bob"), f.e, f.d, &f.err),
                     OK);
    assert_int_equal(kit_hold(f.l, &f.arena, &bob, &f.p, &receipt, &f.err), OK);
    assert_int_equal(kit_hold(f.l, &f.arena, &bob, &f.p, &receipt, &f.err),
                     E_BUDGET);
    assert_non_null(strstr(f.err.message, "bob"));
    assert_int_equal(hold(&f, "1.25", "0", "0", &receipt), OK);
    assert_int_equal(ledger_grant(f.l, STR(""), STR("bob"), f.e, f.d, &f.err),
                     OK); /* a cap does not enlarge the dataset's budget */
    mpq_set_ui(f.p.epsilon, 1, 4);
    assert_int_equal(kit_hold(f.l, &f.arena, &bob, &f.p, &receipt, &f.err),
                     E_BUDGET);
    struct ledger_request other = nobody;
    other.dataset = STR("other");
    assert_int_equal(kit_hold(f.l, &f.arena, &other, &f.p, &receipt, &f.err),
                     E_NAME);
    assert_int_equal(ledger_grant(f.l, STR("other"), STR(""), f.e, f.d, &f.err),
                     OK);
    assert_int_equal(kit_hold(f.l, &f.arena, &other, &f.p, &receipt, &f.err),
                     OK);
    stop(&f);
}

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void refuses_what_is_no_ledger(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger *l = NULL;
    char other[160], link_[160];
    struct stat st;
    start(&f, COMPOSE_SUM, "1", "0");
    assert_int_equal(stat(f.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(kit_create(f.path, COMPOSE_SUM, f.e, f.d, &f.err),
                     E_LEDGER);
    snprintf(other, sizeof other, "%s/text", f.dir);
    snprintf(link_, sizeof link_, "%s/link", f.dir);
    assert_int_equal(kit_open(&f.mem, other, &l, &f.err), E_LEDGER);
    write_text(other, "not a database, but long enough to look at\n");
    assert_int_equal(kit_open(&f.mem, other, &l, &f.err), E_LEDGER);
    write_text(other, "");
    assert_int_equal(kit_open(&f.mem, other, &l, &f.err), E_LEDGER);
    assert_int_equal(stat(other, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(symlink(f.path, link_), 0);
    assert_int_equal(kit_open(&f.mem, link_, &l, &f.err), E_LEDGER);
    assert_int_equal(kit_create(link_, COMPOSE_SUM, f.e, f.d, &f.err),
                     E_LEDGER);
    assert_int_equal(kit_open(&f.mem, f.dir, &l, &f.err), E_LEDGER);
    assert_int_equal(chmod(f.path, 0666), 0);
    assert_int_equal(kit_open(&f.mem, f.path, &l, &f.err), E_LEDGER);
    assert_int_equal(kit_open(&f.mem, "", &l, &f.err), E_LEDGER);
    assert_int_equal(
        kit_create("/nonexistent/x", COMPOSE_SUM, f.e, f.d, &f.err), E_LEDGER);
    stop(&f);
}

/* Someone edits the file with SQL: the triggers and the check see it. */
static void tampering_shows(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *receipt = NULL;
    sqlite3 *db;
    start(&f, COMPOSE_SUM, "1", "0");
    assert_int_equal(hold(&f, "0.5", "0", "0", &receipt), OK);
    assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
    assert_int_not_equal(
        sqlite3_exec(db, "DELETE FROM charged", NULL, NULL, NULL), SQLITE_OK);
    assert_int_not_equal(
        sqlite3_exec(db, "UPDATE charged SET epsilon = '0'", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE account SET spent_epsilon = '0'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(ledger_verify(f.l, &f.err), E_LEDGER);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE account SET spent_epsilon = '0.5'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA ignore_check_constraints = ON;"
                                  "UPDATE account SET composition = 'other'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(hold(&f, "0.1", "0", "0", &receipt), E_LEDGER);
    assert_int_equal(sqlite3_exec(db, "UPDATE account SET composition = 'sum'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_of_a_charge),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(sums_stay_short),
        cmocka_unit_test(zcdp_composes),
        cmocka_unit_test(conversion),
        cmocka_unit_test(caps),
        cmocka_unit_test(refuses_what_is_no_ledger),
        cmocka_unit_test(tampering_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
