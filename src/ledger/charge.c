/*
 * Charges: afford and hold.
 *
 * A hold is one BEGIN IMMEDIATE transaction: read the sums, add the prices,
 * compare with the totals, insert the charges, store the sums. The write lock
 * is taken before the sums are read, so two processes cannot both see the
 * last of the budget. Cost: a few indexed reads and writes, one fsync (and one
 * of the anchor).
 */
#include "ledger/charge.h"

#include <string.h>
#include "ledger/queue.h"

static struct str decimal(struct arena *a, mpq_srcptr v, bool up)
{
    struct sb b;
    sb_init(&b, a);
    rat_print(&b, v);
    if (b.n > 20) {
        sb_init(&b, a);
        rat_print_decimal(&b, v, 9, up);
    }
    return b.failed ? STR("?") : sb_view(&b);
}

static enum status refuse(struct ledger *l, struct str whose,
                          const struct account *acc, const struct price *p,
                          struct err *err)
{
    mpq_t eps, delta, left, left_delta;
    struct arena a;
    arena_init(&a, l->mem);
    mpq_inits(eps, delta, left, left_delta, NULL);
    compose_spent(acc, eps, delta);
    mpq_sub(left, acc->epsilon_total, eps);
    mpq_sub(left_delta, acc->delta_total, delta);
    bool rho = mpq_sgn(p->rho) != 0;
    err_set(err, E_BUDGET, "the privacy budget%s%.*s does not suffice",
            whose.n ? " of " : "", PSTR(whose));
    err_detail(err,
               "Spent epsilon %.*s, delta %.*s; asked %s %.*s, delta %.*s; "
               "remaining epsilon %.*s, delta %.*s. Nothing was drawn.",
               PSTR(decimal(&a, eps, true)), PSTR(decimal(&a, delta, true)),
               rho ? "rho" : "epsilon",
               PSTR(decimal(&a, rho ? p->rho : p->epsilon, true)),
               PSTR(decimal(&a, p->delta, true)),
               PSTR(decimal(&a, left, false)),
               PSTR(decimal(&a, left_delta, false)));
    bool only_delta = !rho && mpq_cmp(p->epsilon, left) <= 0;
    err_hint(err, only_delta
                      ? "It is the delta that does not suffice: ask with a "
                        "smaller one or with a mechanism that needs none, or "
                        "ask the owner for more (dpcount budget grant --delta)."
                      : "Ask with a smaller epsilon, or ask the owner to "
                        "enlarge the budget (dpcount budget grant).");
    mpq_clears(eps, delta, left, left_delta, NULL);
    arena_fini(&a);
    return E_BUDGET;
}

/* Adds the prices to the account in memory, or refuses: all or none. */
static enum status add(struct ledger *l, struct str whose, struct account *acc,
                       const struct ledger_charge *c, size_t n, struct err *err)
{
    struct account before;
    struct price sum; /* for the message */
    account_init(&before);
    price_init(&sum);
    account_set(&before, acc);
    for (size_t i = 0; i < n; i++) {
        compose_add(acc, c[i].price);
        mpq_add(sum.epsilon, sum.epsilon, c[i].price->epsilon);
        mpq_add(sum.delta, sum.delta, c[i].price->delta);
        mpq_add(sum.rho, sum.rho, c[i].price->rho);
    }
    enum status s =
        compose_fits(acc) ? OK : refuse(l, whose, &before, &sum, err);
    price_fini(&sum);
    account_fini(&before);
    return s;
}

static enum status beyond(const struct account *before, mpq_srcptr with,
                          mpq_srcptr most, struct err *err)
{
    mpq_t spent, delta;
    mpq_inits(spent, delta, NULL);
    compose_spent(before, spent, delta);
    err_set(err, E_BUDGET, "the privacy budget does not suffice");
    err_detail(err, /* display */
               "Spent epsilon %.9g, with this question %.9g, allowed %.9g. "
               "Nothing was drawn.",
               mpq_get_d(spent), mpq_get_d(with), mpq_get_d(most));
    mpq_clears(spent, delta, NULL);
    return E_BUDGET;
}

/* What the asker, or a service for him, allows besides the ledger. */
static enum status within(const struct account *acc,
                          const struct ledger_charge *c, size_t n,
                          struct err *err)
{
    struct account with;
    mpq_t most, spent, delta;
    if (!c[0].request->at_most.n)
        return OK;
    account_init(&with);
    mpq_inits(most, spent, delta, NULL);
    account_set(&with, acc);
    for (size_t i = 0; i < n; i++)
        compose_add(&with, c[i].price);
    compose_spent(&with, spent, delta);
    enum status s = rat_read(c[0].request->at_most, "spend-at-most", most, err);
    if (s == OK && mpq_cmp(spent, most) > 0)
        s = beyond(acc, spent, most, err);
    mpq_clears(most, spent, delta, NULL);
    account_fini(&with);
    return s;
}

/* The dataset's account and, if there is one, the analyst's. */
struct accounts {
    struct account all, own;
};

static void accounts_init(struct accounts *x)
{
    account_init(&x->all);
    account_init(&x->own);
}

static void accounts_fini(struct accounts *x)
{
    account_fini(&x->all);
    account_fini(&x->own);
}

static enum status one_question(const struct ledger_charge *c, size_t n,
                                const struct ledger_policy *policy,
                                struct err *err)
{
    bool good = n > 0 && policy;
    for (size_t i = 1; good && i < n; i++)
        good = str_eq(c[i].request->dataset, c[0].request->dataset) &&
               str_eq(c[i].request->analyst, c[0].request->analyst);
    return good ? OK : err_internal(err, "ledger_hold");
}

/* PRIVACY: every hold costs the least price at least, which bounds how many
 * there are; a half that is alone (the other is stored) is a price of its own.
 */
static const struct price *other_half(const struct ledger_charge *c, size_t n,
                                      size_t i)
{
    size_t before = 0; /* halves in a row before this one */
    while (before < i && c[i - before - 1].price->half)
        before++;
    if (!c[i].price->half)
        return NULL;
    if (before % 2)
        return c[i - 1].price;
    return i + 1 < n && c[i + 1].price->half ? c[i + 1].price : NULL;
}

/* PRIVACY: both accounts must suffice, for all counts together. */
static enum status try_prices(struct ledger *l, const struct ledger_charge *c,
                              size_t n, struct accounts *x, struct err *err)
{
    const struct ledger_request *r = c[0].request;
    TRY(account_load(l, r->dataset, STR(""), &x->all, err));
    if (!x->all.found)
        return account_missing(r->dataset, err);
    TRY(dataset_admits(l, r->dataset, r->analyst, err));
    for (size_t i = 0; i < n; i++) {
        TRY(compose_check(&x->all, c[i].price, err));
        TRY(dataset_price(l, r->dataset, &x->all, c[i].price,
                          other_half(c, n, i), err));
    }
    if (r->analyst.n)
        TRY(account_load(l, r->dataset, r->analyst, &x->own, err));
    TRY(queue_locked(l, r->dataset, err));
    TRY(within(x->own.found ? &x->own : &x->all, c, n, err));
    TRY(add(l, r->dataset, &x->all, c, n, err));
    return x->own.found ? add(l, r->analyst, &x->own, c, n, err) : OK;
}

enum status ledger_afford(struct ledger *l, const struct ledger_charge *charges,
                          size_t n, const struct ledger_policy *policy,
                          struct err *err)
{
    struct accounts x;
    TRY(one_question(charges, n, policy, err));
    TRY(ledger_bound(l, charges[0].request->dataset, policy, err));
    accounts_init(&x);
    enum status s = try_prices(l, charges, n, &x, err);
    accounts_fini(&x);
    return s;
}

/* --- hold -------------------------------------------------------------------
 */

void charge_bind(sqlite3_stmt *st, struct arena *a,
                 const struct ledger_request *r, const struct price *p)
{
    const struct str texts[] = {r->dataset,   r->analyst,  r->source, r->query,
                                r->mechanism, r->settings, r->version};
    for (int i = 0; i < 7; i++)
        db_bind(st, i + 1, texts[i]);
    db_bind_rat(st, 8, a, p->epsilon);
    db_bind_rat(st, 9, a, p->delta);
    db_bind_rat(st, 10, a, p->rho);
}

#define SAME                                                                   \
    "SELECT 1 FROM charged JOIN hold ON hold.number = charged.hold WHERE"      \
    " charged.dataset = ? AND charged.analyst = ? AND source = ?"              \
    " AND query = ? AND mechanism = ? AND settings = ? AND version = ?"        \
    " AND epsilon = ? AND delta = ? AND rho = ? AND "

/* Is there a charge for the very same, in the state that `sql` names? */
static enum status same(struct ledger *l, struct arena *a, const char *sql,
                        const struct ledger_charge *c, bool *out,
                        struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l, sql, &st, err));
    charge_bind(st, a, c->request, c->price);
    TRY(db_step(l, st, out, err));
    db_done(l, st);
    return OK;
}

/* Within the transaction: two that ask at once cannot both miss the other. */
static enum status only_once(struct ledger *l, struct arena *a,
                             const struct ledger_charge *c, size_t n,
                             struct err *err)
{
    bool there = false;
    for (size_t i = 0; !there && i < n; i++)
        if (c[i].once)
            TRY(same(l, a,
                     SAME "(charged.state = 'committed' OR"
                          " hold.state = 'open') LIMIT 1",
                     &c[i], &there, err));
    return there ? err_set(err, E_ON_ITS_WAY,
                           "the same question is being answered")
                 : OK;
}

enum status ledger_on_its_way(struct ledger *l, struct arena *a,
                              const struct ledger_charge *charges, size_t n,
                              bool *out, struct err *err)
{
    *out = false;
    TRY(queue_sweep(l, err));
    for (size_t i = 0; !*out && i < n; i++)
        TRY(same(l, a, SAME "hold.state = 'open' LIMIT 1", &charges[i], out,
                 err));
    return OK;
}

static enum status insert_hold(struct ledger *l, const struct ledger_request *r,
                               int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO hold(dataset, analyst, state, at)"
                   " VALUES(?, ?, 'open', " NOW ")",
                   &st, err));
    db_bind(st, 1, r->dataset);
    db_bind(st, 2, r->analyst);
    TRY(db_run(l, st, "could not write the ledger", err));
    *out = sqlite3_last_insert_rowid(l->db);
    TRY(db_prepare(l, "UPDATE dataset SET asked = asked + 1 WHERE name = ?",
                   &st, err));
    db_bind(st, 1, r->dataset);
    return db_run(l, st, "could not write the ledger", err);
}

static enum status insert_charge(struct ledger *l, struct arena *a,
                                 const struct ledger_charge *c, int64_t number,
                                 struct str *out_receipt, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO charged(receipt, dataset, analyst, source,"
                   " query, mechanism, settings, version, epsilon, delta, rho,"
                   " sql, hold, state, held_at)"
                   " VALUES(lower(hex(randomblob(12))), ?, ?, ?, ?, ?, ?, ?,"
                   " ?, ?, ?, ?, ?, 'held', " NOW ") RETURNING receipt",
                   &st, err));
    charge_bind(st, a, c->request, c->price);
    db_bind(st, 11, c->request->sql);
    sqlite3_bind_int64(st, 12, number);
    enum status s = OK;
    if (sqlite3_step(st) != SQLITE_ROW)
        s = db_error(l->db, "could not write the ledger", err);
    else if (!(*out_receipt = db_copy(a, st, 0)).p)
        s = err_nomem(err);
    else if (sqlite3_step(st) != SQLITE_DONE)
        s = db_error(l->db, "could not write the ledger", err);
    db_done(l, st);
    return s;
}

static enum status store_sums(struct ledger *l, struct arena *a,
                              const struct ledger_request *r,
                              const struct accounts *x, struct err *err)
{
    TRY(account_store(l, a, r->dataset, STR(""), &x->all, err));
    return x->own.found
               ? account_store(l, a, r->dataset, r->analyst, &x->own, err)
               : OK;
}

static enum status hold(struct ledger *l, struct arena *a,
                        const struct ledger_charge *c, size_t n,
                        const struct ledger_policy *policy, struct accounts *x,
                        struct ledger_hold *h, struct err *err)
{
    const struct ledger_request *r = c[0].request;
    struct str text;
    TRY(only_once(l, a, c, n, err));
    TRY(try_prices(l, c, n, x, err));
    TRY(dataset_bind(l, a, r->dataset, policy, false, err));
    TRY(insert_hold(l, r, &h->number, err));
    for (size_t i = 0; i < n; i++)
        TRY(insert_charge(l, a, &c[i], h->number, &h->receipts[i], err));
    TRY(store_sums(l, a, r, x, err));
    TRY(chain_hold_text(l, a, h->number, false, &text, err));
    TRY(chain_add(l, a, "hold", text, &h->head, err));
    /* before anybody can see the hold */
    return holder_take(l, h->number, err);
}

/* Is it on the disk although the hold failed (the anchor could not be written,
 * or COMMIT failed in an unclear way)? Nothing was read for it, so it need not
 * lock. If this fails too, it will. Rolled back, its number may be somebody
 * else's already. */
static void abandon(const struct ledger_hold *h)
{
    struct ledger *l = h->ledger;
    sqlite3_stmt *st = NULL;
    struct err ignored;
    int64_t there = 0;
    if (h->receipts[0].p &&
        db_number_of(l, "SELECT 1 FROM charged WHERE receipt = ?",
                     h->receipts[0], 0, &there, &ignored) == OK &&
        there &&
        db_prepare(l,
                   "UPDATE hold SET state = 'void', ended_at = " NOW
                   " WHERE number = ? AND state = 'open'",
                   &st, &ignored) == OK) {
        sqlite3_bind_int64(st, 1, h->number);
        (void)!db_run(l, st, "", &ignored);
    }
    holder_drop(l, h->number);
}

static enum status new_hold(struct ledger *l, struct arena *a, struct str data,
                            size_t n, struct ledger_hold **out, struct err *err)
{
    struct ledger_hold *h = NEW(a, struct ledger_hold);
    if (!h || !(h->receipts = NEWS(a, struct str, n)))
        return err_nomem(err);
    h->ledger = l;
    h->n = n;
    h->dataset = str_copy(a, data);
    *out = h;
    return h->dataset.p ? OK : err_nomem(err);
}

enum status ledger_hold(struct ledger *l, struct arena *a,
                        const struct ledger_charge *charges, size_t n,
                        const struct ledger_policy *policy,
                        struct ledger_hold **out, struct err *err)
{
    struct accounts x;
    struct ledger_hold *h = NULL;
    TRY(one_question(charges, n, policy, err));
    TRY(new_hold(l, a, charges[0].request->dataset, n, &h, err));
    TRY(queue_sweep(l, err));
    TRY(db_begin(l, err));
    accounts_init(&x);
    enum status s = hold(l, a, charges, n, policy, &x, h, err);
    accounts_fini(&x);
    /* PRIVACY: OK means that COMMIT returned, so the hold is on the disk. */
    s = db_end(l, s, err);
    if (s == OK)
        *out = h;
    else if (h->number)
        abandon(h);
    return s;
}

struct str ledger_hold_receipt(const struct ledger_hold *h, size_t i)
{
    return i < h->n ? h->receipts[i] : (struct str){0};
}

uint64_t ledger_hold_number(const struct ledger_hold *h)
{
    return (uint64_t)h->number;
}

size_t ledger_hold_counts(const struct ledger_hold *h)
{
    return h->n;
}

const struct ledger_head *ledger_hold_head(const struct ledger_hold *h)
{
    return &h->head;
}

void ledger_hold_write(struct sb *b, const struct ledger_hold *h)
{
    bytes_put_str(b, h->dataset);
    bytes_put_u64(b, (uint64_t)h->number);
    bytes_put_str(b, (struct str){(const char *)&h->head, sizeof h->head});
    bytes_put_u64(b, h->n);
    for (size_t i = 0; i < h->n; i++)
        bytes_put_str(b, h->receipts[i]);
}

/* PRIVACY: without a number and a receipt nothing was held. */
enum status ledger_hold_read(struct bytes *b, struct ledger_hold **out,
                             struct err *err)
{
    struct ledger_hold *h = NEW(b->arena, struct ledger_hold);
    if (!h)
        return err_nomem(err);
    h->dataset = bytes_str(b);
    h->number = (int64_t)bytes_u64(b);
    struct str head = bytes_str(b);
    h->n = bytes_count(b, sizeof(uint64_t));
    h->receipts = NEWS(b->arena, struct str, h->n + 1);
    bool whole = h->receipts && head.n == sizeof h->head;
    if (whole)
        memcpy(&h->head, head.p, head.n);
    for (size_t i = 0; whole && i < h->n; i++) {
        h->receipts[i] = bytes_str(b);
        whole = h->receipts[i].n > 0;
    }
    *out = h;
    return whole && !b->failed && h->n && h->number > 0
               ? OK
               : err_internal(err, "a hold that is none");
}
