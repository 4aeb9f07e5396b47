/*
 * ledger: several counts at once, the order in which questions end, locks and
 * the bits they may tell, who may ask and at which price, the policy.
 */
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

#include "harness/ledger_kit.h"
#include "harness/scratch.h"
#include "ledger/db.h"

struct fixture {
    char dir[SCRATCH_PATH], path[128];
    struct mem mem;
    struct arena arena;
    struct ledger *l;
    struct err err;
    struct price p;
    mpq_t e, d;
};

static const struct ledger_request ask = {.query = {"Q", 1},
                                          .mechanism = {"m", 1}};

static void start_with(struct fixture *f, const char *eps, const char *delta,
                       enum composition c, struct ledger_limits limits)
{
    *f = (struct fixture){0};
    assert_int_equal(scratch_make(f->dir), 0);
    snprintf(f->path, sizeof f->path, "%s/l", f->dir);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    mpq_inits(f->e, f->d, NULL);
    price_init(&f->p);
    assert_int_equal(rat_read(str_of(eps), "e", f->e, &f->err), OK);
    assert_int_equal(rat_read(str_of(delta), "d", f->d, &f->err), OK);
    struct ledger_spec spec = {
        .composition = c, .epsilon = f->e, .delta = f->d, .limits = limits};
    assert_int_equal(ledger_create(f->path, &spec, &f->err), OK);
    assert_int_equal(kit_open(&f->mem, f->path, &f->l, &f->err), OK);
}

static void start(struct fixture *f, const char *eps)
{
    start_with(f, eps, "0", COMPOSE_SUM, (struct ledger_limits){0});
}

static void stop(struct fixture *f)
{
    if (ledger_verify(f->l, &f->err) != OK)
        fail_msg("%s", f->err.message);
    ledger_close(f->l);
    arena_fini(&f->arena);
    mpq_clears(f->e, f->d, NULL);
    price_fini(&f->p);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    assert_int_equal(scratch_remove(f->dir), 0);
}

static enum status hold_by(struct fixture *f, struct ledger *l,
                           const struct ledger_request *r, const char *eps,
                           struct ledger_hold **out)
{
    assert_int_equal(rat_read(str_of(eps), "e", f->p.epsilon, &f->err), OK);
    return kit_hold(l, &f->arena, r, &f->p, out, &f->err);
}

static enum status hold(struct fixture *f, const char *eps,
                        struct ledger_hold **out)
{
    return hold_by(f, f->l, &ask, eps, out);
}

static struct ledger_state state_of(struct fixture *f)
{
    struct ledger_state s;
    assert_int_equal(ledger_state(f->l, &f->arena, STR(""), &s, &f->err), OK);
    return s;
}

static bool spent_is(struct fixture *f, const char *eps)
{
    struct ledger_balance b;
    mpq_t want;
    mpq_init(want);
    balance_init(&b);
    assert_int_equal(ledger_balance(f->l, STR(""), STR(""), &b, &f->err), OK);
    assert_int_equal(rat_read(str_of(eps), "e", want, &f->err), OK);
    bool same = mpq_equal(want, b.epsilon_spent);
    balance_fini(&b);
    mpq_clear(want);
    return same;
}

/* --- several counts ------------------------------------------------------- */

/* Held or answered, it is not charged again; another price or analyst is. */
static void charged_once(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL, *again = NULL;
    struct ledger_policy policy = kit_policy();
    bool open = false;
    start(&f, "1");
    assert_int_equal(hold(&f, "0.2", &h), OK);
    struct ledger_charge once = {&ask, &f.p, true};
    for (int answered = 0; answered < 2; answered++) {
        assert_int_equal(
            ledger_hold(f.l, &f.arena, &once, 1, &policy, &again, &f.err),
            E_ON_ITS_WAY);
        assert_true(spent_is(&f, "0.2"));
        assert_int_equal(
            ledger_on_its_way(f.l, &f.arena, &once, 1, &open, &f.err), OK);
        assert_int_equal(open, !answered);
        if (!answered)
            assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    }
    assert_int_equal(rat_read(STR("0.3"), "e", f.p.epsilon, &f.err), OK);
    assert_int_equal(
        ledger_hold(f.l, &f.arena, &once, 1, &policy, &again, &f.err), OK);
    assert_true(spent_is(&f, "0.5"));
    assert_int_equal(ledger_lock(again, STR("lost"), &f.err), OK);
    assert_int_equal(ledger_on_its_way(f.l, &f.arena, &once, 1, &open, &f.err),
                     OK);
    assert_false(open);
    assert_int_equal(
        ledger_hold(f.l, &f.arena, &once, 1, &policy, &again, &f.err),
        E_LOCKED);
    stop(&f);
}

static void all_counts_or_none(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_policy policy = kit_policy();
    struct ledger_request other = ask;
    struct ledger_found found;
    start(&f, "1");
    other.query = STR("R");
    assert_int_equal(hold(&f, "0.6", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    assert_int_equal(rat_read(STR("0.3"), "e", f.p.epsilon, &f.err), OK);
    struct ledger_charge two[] = {{&ask, &f.p, false}, {&other, &f.p, false}};
    assert_int_equal(ledger_afford(f.l, two, 2, &policy, &f.err), E_BUDGET);
    assert_int_equal(ledger_hold(f.l, &f.arena, two, 2, &policy, &h, &f.err),
                     E_BUDGET);
    assert_non_null(strstr(f.err.detail, "asked epsilon 0.6"));
    assert_non_null(strstr(f.err.detail, "remaining epsilon 0.4"));
    assert_true(spent_is(&f, "0.6"));
    assert_int_equal(rat_read(STR("0.2"), "e", f.p.epsilon, &f.err), OK);
    assert_int_equal(ledger_afford(f.l, two, 2, &policy, &f.err), OK);
    assert_int_equal(ledger_hold(f.l, &f.arena, two, 2, &policy, &h, &f.err),
                     OK);
    assert_int_equal(ledger_hold_counts(h), 2);
    assert_false(str_eq(ledger_hold_receipt(h, 0), ledger_hold_receipt(h, 1)));
    assert_true(spent_is(&f, "1"));
    const struct str answers[] = {STR("{1}"), STR("{2}")};
    assert_int_equal(ledger_commit(h, answers, &f.err), OK);
    assert_int_equal(ledger_find(f.l, &f.arena, &other, &f.p, &found, &f.err),
                     OK);
    assert_true(str_is(found.answer, "{2}"));
    assert_true(str_eq(found.receipt, ledger_hold_receipt(h, 1)));
    assert_true(found.as_of.n > 10);
    stop(&f);
}

/* --- locks ---------------------------------------------------------------- */

static void a_lock_is_for_everybody(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL, *first = NULL;
    struct ledger_found found;
    struct ledger_request bob = ask;
    /* the name as the options have it when none was given */
    struct ledger_request plain = ask;
    plain.dataset = plain.analyst = (struct str){0};
    start(&f, "1");
    bob.analyst = STR("bob");
    assert_int_equal(hold(&f, "0.1", &first), OK);
    assert_int_equal(ledger_commit(first, &STR("{}"), &f.err), OK);
    assert_int_equal(hold(&f, "0.1", &h), OK);
    assert_int_equal(ledger_lock(h, STR("memory"), &f.err), OK);
    struct ledger_state s = state_of(&f);
    assert_int_equal(s.locked, ledger_hold_number(h));
    assert_true(str_is(s.reason, "memory"));
    assert_int_equal(hold(&f, "0.1", &h), E_LOCKED);
    assert_int_equal(hold_by(&f, f.l, &bob, "0.1", &h), E_LOCKED);
    assert_int_equal(hold_by(&f, f.l, &plain, "0.1", &h), E_LOCKED);
    assert_true(spent_is(&f, "0.2"));
    assert_int_equal(ledger_find(f.l, &f.arena, &ask, &f.p, &found, &f.err),
                     OK);
    assert_true(str_is(found.answer, "{}")); /* repeats are given */
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), E_VALUE);
    assert_int_equal(hold(&f, "0.1", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    assert_int_equal(state_of(&f).unlocks, 1);
    stop(&f);
}

/* The least number that fails is what shows: later ones end with it. */
static void questions_end_in_order(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger *m = NULL;
    struct ledger_hold *one = NULL, *two = NULL, *three = NULL;
    bool ready = true;
    start(&f, "1");
    assert_int_equal(kit_open(&f.mem, f.path, &m, &f.err), OK);
    assert_int_equal(hold(&f, "0.1", &one), OK);
    assert_int_equal(hold_by(&f, m, &ask, "0.1", &two), OK);
    assert_int_equal(hold(&f, "0.1", &three), OK);
    assert_int_equal(ledger_turn(two, &ready, &f.err), OK);
    assert_false(ready);
    assert_int_equal(ledger_turn(three, &ready, &f.err), OK);
    assert_false(ready);
    /* it would wait for itself */
    assert_int_equal(ledger_commit(three, &STR("{}"), &f.err), E_INTERNAL);
    assert_int_equal(ledger_commit(one, &STR("{}"), &f.err), OK);
    assert_int_equal(ledger_turn(two, &ready, &f.err), OK);
    assert_true(ready);
    assert_int_equal(ledger_lock(two, STR("x"), &f.err), OK);
    assert_int_equal(ledger_commit(three, &STR("{}"), &f.err), E_LOCKED);
    /* also when the owner was quicker */
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    assert_int_equal(ledger_commit(three, &STR("{}"), &f.err), E_LOCKED);
    assert_int_equal(ledger_lock(three, STR("y"), &f.err), OK);
    assert_int_equal(state_of(&f).locked, 0);
    assert_true(spent_is(&f, "0.3"));
    ledger_close(m);
    stop(&f);
}

/* A process that is killed with a hold: whoever comes next locks, and one that
 * waits behind it is freed. */
static void the_gone_are_locked(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    int status;
    start(&f, "1");
    ledger_close(f.l);
    pid_t pid = fork();
    if (!pid) {
        if (kit_open(&f.mem, f.path, &f.l, &f.err) != OK ||
            hold(&f, "0.1", &h) != OK)
            _exit(1);
        abort();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    struct ledger_access show = {.read_only = true};
    assert_int_equal(ledger_open(&f.mem, f.path, &show, &f.l, &f.err), OK);
    struct ledger_head before = state_of(&f).head;
    assert_int_equal(state_of(&f).locked, 1);
    assert_int_equal(state_of(&f).in_flight, 1);
    assert_int_equal(state_of(&f).head.n, before.n); /* only looked */
    ledger_close(f.l);
    assert_int_equal(kit_open(&f.mem, f.path, &f.l, &f.err), OK);
    assert_int_equal(state_of(&f).locked, 1);
    assert_int_equal(hold(&f, "0.1", &h), E_LOCKED);
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    stop(&f);
}

static void one_that_waits_is_freed(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger *m = NULL;
    struct ledger_hold *one = NULL, *two = NULL;
    start(&f, "1");
    assert_int_equal(kit_open(&f.mem, f.path, &m, &f.err), OK);
    assert_int_equal(hold_by(&f, m, &ask, "0.1", &one), OK);
    assert_int_equal(hold(&f, "0.1", &two), OK);
    ledger_close(m);
    assert_int_equal(ledger_commit(two, &STR("{}"), &f.err), E_LOCKED);
    assert_int_equal(state_of(&f).locked, 1);
    assert_int_equal(state_of(&f).in_flight, 0);
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    stop(&f);
}

/* --- bits -------------------------------------------------------------------
 */

static void bits_are_booked_beforehand(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    start(&f, "1");
    assert_true(str_is(state_of(&f).unnoised_bits, "9.97")); /* log2 1001 */
    assert_true(str_is(state_of(&f).least_price, "0.001"));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(hold(&f, "0.1", &h), OK);
        assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    }
    assert_true(str_is(state_of(&f).unnoised_bits, "9.97"));
    assert_int_equal(hold(&f, "0.1", &h), OK);
    assert_int_equal(ledger_lock(h, STR("x"), &f.err), OK);
    assert_true(str_is(state_of(&f).unnoised_bits, "9.97"));
    assert_int_equal(ledger_unlock(f.l, STR(""), &f.err), OK);
    /* 0.4 remains: log2 401 = 8.65 */
    assert_true(str_is(state_of(&f).unnoised_bits, "18.62"));
    mpq_set_ui(f.e, 1, 1); /* 1.4 remains: log2 1401 = 10.46 */
    assert_int_equal(ledger_grant(f.l, STR(""), STR(""), f.e, f.d, &f.err), OK);
    assert_true(str_is(state_of(&f).unnoised_bits, "20.43"));
    /* ten more are asked, one is granted: log2(11 + 1300) is less than what is
     * booked, but the eleven count: log2(11 + 2300) = 11.18 */
    for (int i = 0; i < 10; i++) {
        assert_int_equal(hold(&f, "0.01", &h), OK);
        assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    }
    assert_int_equal(ledger_grant(f.l, STR(""), STR(""), f.e, f.d, &f.err), OK);
    assert_true(str_is(state_of(&f).unnoised_bits, "21.15"));
    stop(&f);
    start_with(
        &f, "1", "0", COMPOSE_SUM,
        (struct ledger_limits){.ladder = STR("3"), .least_price = STR("0.01")});
    /* 4 log2 101 = 26.64 */
    assert_true(str_is(state_of(&f).unnoised_bits, "26.64"));
    stop(&f);
    start_with(&f, "1", "1e-6", COMPOSE_ZCDP, (struct ledger_limits){0});
    assert_true(str_is(state_of(&f).unnoised_bits, "9.97"));
    stop(&f);
}

static void rungs(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_limits x;
    bool left = false;
    start_with(
        &f, "1", "0", COMPOSE_SUM,
        (struct ledger_limits){.ladder = STR("2"), .respond_after = STR("3s")});
    assert_int_equal(hold(&f, "0.1", &h), OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ledger_miss(h, &left, &f.err), OK);
        assert_int_equal(left, i < 2);
    }
    assert_int_equal(ledger_limits(f.l, &f.arena, STR(""), &x, &f.err), OK);
    assert_int_equal(x.misses, 2);
    assert_true(str_is(x.respond_after, "3s"));
    assert_true(str_is(x.ladder, "2"));
    assert_int_equal(ledger_lock(h, STR("x"), &f.err), OK);
    stop(&f);
}

/* --- prices --------------------------------------------------------------- */

static void prices(void **unused)
{
    (void)unused;
    static const struct {
        const char *price;
        enum status want;
    } cases[] = {
        {"0.0009", E_PRICE}, {"0.001", OK},
        {"1e-19", E_PRICE},  {"0.1234567891", E_PRICE},
        {"0.123456789", OK}, {"1/3", E_PRICE},
        {"1/4", OK},         {"0.600000001", E_PRICE},
    };
    struct fixture f;
    struct ledger_hold *h = NULL;
    start_with(&f, "1", "1e-6", COMPOSE_SUM,
               (struct ledger_limits){.most_price = STR("0.6")});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (hold(&f, cases[i].price, &h) != cases[i].want)
            fail_msg("%s", cases[i].price);
        if (cases[i].want == OK)
            assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    }
    assert_int_equal(rat_read(STR("1e-30"), "d", f.p.delta, &f.err), OK);
    assert_int_equal(hold(&f, "0.1", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    assert_int_equal(rat_read(STR("1.1e-30"), "d", f.p.delta, &f.err), OK);
    assert_int_equal(hold(&f, "0.1", &h), E_PRICE);
    char never[160];
    struct ledger_spec bad = {.epsilon = f.e, .delta = f.d};
    snprintf(never, sizeof never, "%s/never", f.dir);
    bad.limits.least_price = STR("0");
    assert_int_equal(ledger_create(never, &bad, &f.err), E_VALUE);
    assert_int_not_equal(access(never, F_OK), 0);
    stop(&f);
}

/* A pure price in a ledger of zCDP counts epsilon^2/2 against the least. */
static void prices_of_zcdp(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    start_with(&f, "1", "1e-6", COMPOSE_ZCDP,
               (struct ledger_limits){.least_price = STR("0.1")});
    assert_true(str_is(state_of(&f).least_price, "0.005"));
    assert_int_equal(hold(&f, "0.099", &h), E_PRICE);
    assert_int_equal(hold(&f, "0.1", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    mpq_set_ui(f.p.rho, 4, 1000);
    assert_int_equal(hold(&f, "0", &h), E_PRICE);
    mpq_set_ui(f.p.rho, 1, 200);
    assert_int_equal(hold(&f, "0", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    stop(&f);
}

/* --- analysts ------------------------------------------------------------- */

static void unknown_analysts(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_found found;
    struct ledger_request bob = ask, eve = ask;
    start(&f, "1");
    bob.analyst = STR("bob");
    eve.analyst = STR("eve");
    assert_int_equal(hold_by(&f, f.l, &eve, "0.1", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    mpq_set_ui(f.e, 1, 2);
    assert_int_equal(ledger_grant(f.l, STR(""), STR("bob"), f.e, f.d, &f.err),
                     OK);
    assert_int_equal(hold_by(&f, f.l, &eve, "0.1", &h), E_UNKNOWN_ANALYST);
    assert_int_equal(hold(&f, "0.1", &h), E_UNKNOWN_ANALYST);
    assert_int_equal(ledger_find(f.l, &f.arena, &eve, &f.p, &found, &f.err),
                     E_UNKNOWN_ANALYST);
    assert_int_equal(hold_by(&f, f.l, &bob, "0.1", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    assert_true(spent_is(&f, "0.2"));
    stop(&f);
}

/* --- the conversion's delta ----------------------------------------------- */

static void grants_leave_the_conversion(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_balance before, after;
    start_with(&f, "1", "2e-6", COMPOSE_ZCDP, (struct ledger_limits){0});
    mpq_set_ui(f.p.rho, 1, 100);
    assert_int_equal(hold(&f, "0", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    balance_init(&before);
    balance_init(&after);
    assert_int_equal(ledger_balance(f.l, STR(""), STR(""), &before, &f.err),
                     OK);
    mpq_set_ui(f.e, 0, 1);
    mpq_set_ui(f.d, 1, 100000);
    assert_int_equal(ledger_grant(f.l, STR(""), STR(""), f.e, f.d, &f.err), OK);
    assert_int_equal(ledger_balance(f.l, STR(""), STR(""), &after, &f.err), OK);
    assert_true(mpq_equal(before.epsilon_spent, after.epsilon_spent));
    assert_true(mpq_equal(before.delta_spent, after.delta_spent));
    /* all of the grant is for single releases */
    mpq_set_ui(f.p.rho, 1, 1000);
    mpq_set_ui(f.p.delta, 11, 1000000);
    assert_int_equal(hold(&f, "0", &h), OK);
    assert_int_equal(ledger_commit(h, &STR("{}"), &f.err), OK);
    balance_fini(&before);
    balance_fini(&after);
    stop(&f);
}

/* --- the policy -------------------------------------------------------------
 */

static enum status hold_under(struct fixture *f, const struct ledger_policy *p,
                              struct ledger_hold **out)
{
    struct ledger_charge c = {&ask, &f->p, false};
    mpq_set_ui(f->p.epsilon, 1, 100);
    enum status s = ledger_hold(f->l, &f->arena, &c, 1, p, out, &f->err);
    return s == OK ? ledger_commit(*out, &STR("{}"), &f->err) : s;
}

static void another_policy(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_policy p = kit_policy(), x;
    static const struct str more[] = {{"d2", 2}, {"pat", 3}};
    start(&f, "1");
    assert_int_equal(hold_under(&f, &p, &h), OK);
    x = p;
    x.unit = STR("customer");
    assert_int_equal(hold_under(&f, &x, &h), E_POLICY_CHANGED);
    assert_int_equal(ledger_bound(f.l, STR(""), &x, &f.err), E_POLICY_CHANGED);
    assert_int_equal(ledger_bind(f.l, STR(""), &x, NULL, &f.err),
                     E_POLICY_CHANGED);
    x = p;
    x.neighbours = STR("change-one");
    assert_int_equal(hold_under(&f, &x, &h), E_POLICY_CHANGED);
    x = p;
    x.order = STR("2");
    assert_int_equal(hold_under(&f, &x, &h), E_POLICY_CHANGED);
    x = p; /* the sides are swapped */
    x.private_ = p.public_;
    x.public_ = p.private_;
    assert_int_equal(hold_under(&f, &x, &h), E_POLICY_CHANGED);
    assert_int_equal(ledger_bind(f.l, STR(""), &x, NULL, &f.err),
                     E_POLICY_CHANGED);
    x = p; /* a table more */
    x.private_ = more;
    x.n_private = 2;
    assert_int_equal(hold_under(&f, &x, &h), OK);
    x.text = STR("constraints");
    assert_int_equal(hold_under(&f, &x, &h), OK); /* not bound in whole */
    assert_int_equal(ledger_bind(f.l, STR(""), &p, NULL, &f.err), OK);
    assert_int_equal(hold_under(&f, &x, &h), E_POLICY_CHANGED);
    assert_int_equal(hold_under(&f, &p, &h), OK);
    assert_int_equal(ledger_bind(f.l, STR(""), &x, NULL, &f.err), OK);
    assert_int_equal(hold_under(&f, &x, &h), OK);
    assert_true(spent_is(&f, "0.05"));
    stop(&f);
}

/* Before anything is spent the owner may change all of it. */
static void bound_anew(void **unused)
{
    (void)unused;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_policy p = kit_policy(), x = kit_policy();
    start(&f, "1");
    assert_int_equal(ledger_bind(f.l, STR(""), &p, NULL, &f.err), OK);
    x.order = STR("2");
    x.private_ = p.public_;
    x.public_ = p.private_;
    struct ledger_limits limits = {.least_price = STR("0.005")};
    assert_int_equal(ledger_bind(f.l, STR(""), &x, &limits, &f.err), OK);
    assert_int_equal(hold_under(&f, &p, &h), E_POLICY_CHANGED);
    assert_int_equal(hold_under(&f, &x, &h), OK);
    assert_true(str_is(state_of(&f).least_price, "0.005"));
    assert_int_equal(state_of(&f).policy.n, 64);
    stop(&f);
}

/* What another one has just given up is not one's own: who waited for it took
 * it for that, and locked the data set. */
static void a_dropped_hold_is_nobodys(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger *other;
    start(&f, "1");
    assert_int_equal(kit_open(&f.mem, f.path, &other, &f.err), OK);
    assert_int_equal(holder_take(f.l, 7, &f.err), OK);
    assert_int_equal(holder_take(other, 8, &f.err), OK);
    assert_true(holder_ours(f.l, 7) && holder_ours(other, 8));
    assert_false(holder_ours(other, 7) || holder_ours(f.l, 8));
    holder_drop(f.l, 7);
    assert_false(holder_ours(other, 7));
    assert_false(holder_ours(f.l, 7));
    ledger_close(other);
    stop(&f);
}

/* What the request allows besides the ledger, with all counts of the question;
 * of the analyst alone where there is a cap. */
static void no_more_than_allowed(void **state)
{
    (void)state;
    struct fixture f;
    struct ledger_hold *h = NULL;
    struct ledger_policy policy = kit_policy();
    struct ledger_request most = ask;
    mpq_t cap, none;
    start(&f, "2");
    assert_int_equal(hold(&f, "0.4", &h), OK);
    most.at_most = STR("0.9");
    assert_int_equal(rat_read(STR("0.3"), "e", f.p.epsilon, &f.err), OK);
    struct ledger_charge two[] = {{&most, &f.p, false}, {&most, &f.p, false}};
    assert_int_equal(ledger_hold(f.l, &f.arena, two, 2, &policy, &h, &f.err),
                     E_BUDGET);
    assert_non_null(strstr(f.err.detail, "Spent epsilon 0.4"));
    assert_non_null(strstr(f.err.detail, "allowed 0.9"));
    assert_true(spent_is(&f, "0.4"));
    assert_int_equal(ledger_afford(f.l, two, 2, &policy, &f.err), E_BUDGET);
    most.at_most = STR("1");
    assert_int_equal(ledger_hold(f.l, &f.arena, two, 2, &policy, &h, &f.err),
                     OK);
    assert_true(spent_is(&f, "1"));
    mpq_inits(cap, none, NULL);
    mpq_set_ui(cap, 1, 2);
    most.analyst = STR("ann"); /* who has spent nothing */
    most.at_most = STR("0.5");
    assert_int_equal(
        ledger_grant(f.l, STR(""), most.analyst, cap, none, &f.err), OK);
    assert_int_equal(ledger_afford(f.l, two, 2, &policy, &f.err), E_BUDGET);
    assert_int_equal(ledger_hold(f.l, &f.arena, two, 1, &policy, &h, &f.err),
                     OK);
    most.at_most = STR("x");
    assert_int_equal(ledger_afford(f.l, two, 1, &policy, &f.err), E_VALUE);
    mpq_clears(cap, none, NULL);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_allowed),
        cmocka_unit_test(all_counts_or_none),
        cmocka_unit_test(charged_once),
        cmocka_unit_test(a_lock_is_for_everybody),
        cmocka_unit_test(questions_end_in_order),
        cmocka_unit_test(the_gone_are_locked),
        cmocka_unit_test(one_that_waits_is_freed),
        cmocka_unit_test(a_dropped_hold_is_nobodys),
        cmocka_unit_test(bits_are_booked_beforehand),
        cmocka_unit_test(rungs),
        cmocka_unit_test(prices),
        cmocka_unit_test(prices_of_zcdp),
        cmocka_unit_test(unknown_analysts),
        cmocka_unit_test(grants_leave_the_conversion),
        cmocka_unit_test(another_policy),
        cmocka_unit_test(bound_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
