/*
 * Charges: afford, hold, commit, find.
 *
 * A hold is one BEGIN IMMEDIATE transaction: read the sums, add the price,
 * compare with the total, insert the charge, store the sums. The write lock
 * is taken before the sums are read, so two processes cannot both see the
 * last of the budget. Cost: two indexed reads, three writes, one fsync.
 */
#include "ledger/db.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

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

/* Adds the price to the account in memory, or refuses. */
static enum status add(struct ledger *l, struct str whose, struct account *acc,
                       const struct price *p, struct err *err)
{
    struct account before;
    TRY(compose_check(acc, p, err));
    account_init(&before);
    before.composition = acc->composition;
    mpq_set(before.epsilon_total, acc->epsilon_total);
    mpq_set(before.delta_total, acc->delta_total);
    mpq_set(before.epsilon, acc->epsilon);
    mpq_set(before.delta, acc->delta);
    mpq_set(before.rho, acc->rho);
    compose_add(acc, p);
    enum status s = compose_fits(acc) ? OK : refuse(l, whose, &before, p, err);
    account_fini(&before);
    return s;
}

/* The dataset's account and, if there is one, the analyst's, with the price
 * added. PRIVACY: both must suffice. */
static enum status try_price(struct ledger *l, const struct ledger_request *r,
                             const struct price *p, struct account *all,
                             struct account *own, struct err *err)
{
    TRY(account_load(l, r->dataset, STR(""), all, err));
    if (!all->found)
        return account_missing(r->dataset, err);
    TRY(add(l, r->dataset, all, p, err));
    if (!r->analyst.n)
        return OK;
    TRY(account_load(l, r->dataset, r->analyst, own, err));
    return own->found ? add(l, r->analyst, own, p, err) : OK;
}

enum status ledger_afford(struct ledger *l, const struct ledger_request *r,
                          const struct price *p, struct err *err)
{
    struct account all, own;
    account_init(&all);
    account_init(&own);
    enum status s = try_price(l, r, p, &all, &own, err);
    account_fini(&all);
    account_fini(&own);
    return s;
}

/* What makes two requests the same, in the order of both statements. */
static void bind_request(sqlite3_stmt *st, struct arena *a,
                         const struct ledger_request *r, const struct price *p)
{
    const struct str texts[] = {r->dataset,   r->analyst,  r->query,
                                r->mechanism, r->settings, r->version};
    for (int i = 0; i < 6; i++)
        db_bind(st, i + 1, texts[i]);
    db_bind_rat(st, 7, a, p->epsilon);
    db_bind_rat(st, 8, a, p->delta);
    db_bind_rat(st, 9, a, p->rho);
}

static enum status insert_charge(struct ledger *l, struct arena *a,
                                 const struct ledger_request *r,
                                 const struct price *p, struct str *out_receipt,
                                 struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "INSERT INTO charge(receipt, dataset, analyst, query,"
                   " mechanism, settings, version, epsilon, delta, rho, state,"
                   " held_at) VALUES(lower(hex(randomblob(12))), ?, ?, ?, ?,"
                   " ?, ?, ?, ?, ?, 'held', " NOW ") RETURNING receipt",
                   &st, err));
    bind_request(st, a, r, p);
    enum status s = OK;
    if (sqlite3_step(st) != SQLITE_ROW)
        s = db_error(l->db, "could not write the ledger", err);
    else if (!(*out_receipt = db_copy(a, st, 0)).p)
        s = err_nomem(err);
    else if (sqlite3_step(st) != SQLITE_DONE)
        s = db_error(l->db, "could not write the ledger", err);
    sqlite3_finalize(st);
    return s;
}

static enum status hold(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct account *all, struct account *own,
                        struct str *out_receipt, struct err *err)
{
    TRY(try_price(l, r, p, all, own, err));
    TRY(insert_charge(l, a, r, p, out_receipt, err));
    TRY(account_store(l, a, r->dataset, STR(""), all, err));
    return own->found ? account_store(l, a, r->dataset, r->analyst, own, err)
                      : OK;
}

enum status ledger_hold(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct str *out_receipt, struct err *err)
{
    struct account all, own;
    TRY(db_begin(l, err));
    account_init(&all);
    account_init(&own);
    enum status s = hold(l, a, r, p, &all, &own, out_receipt, err);
    account_fini(&all);
    account_fini(&own);
    /* PRIVACY: OK means that COMMIT returned, so the hold is on the disk. */
    return db_end(l, s, err);
}

static enum status commit(struct ledger *l, struct str receipt,
                          struct str answer, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "UPDATE charge SET state = 'committed', answer = ?,"
                   " committed_at = " NOW
                   " WHERE receipt = ? AND state = 'held'",
                   &st, err));
    db_bind(st, 1, answer);
    db_bind(st, 2, receipt);
    TRY(db_run(l->db, st, "could not write the ledger", err));
    if (sqlite3_changes(l->db) != 1)
        return err_set(err, E_LEDGER,
                       "receipt \"%.*s\" is not held in this ledger",
                       PSTR(receipt));
    return OK;
}

enum status ledger_commit(struct ledger *l, struct str receipt,
                          struct str answer, struct err *err)
{
    TRY(db_begin(l, err));
    return db_end(l, commit(l, receipt, answer, err), err);
}

enum status ledger_find(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct str *out_answer, struct str *out_receipt,
                        struct err *err)
{
    sqlite3_stmt *st = NULL;
    *out_answer = *out_receipt = (struct str){0};
    TRY(db_prepare(l->db,
                   "SELECT answer, receipt FROM charge WHERE dataset = ? AND"
                   " analyst = ? AND query = ? AND mechanism = ? AND"
                   " settings = ? AND version = ? AND epsilon = ? AND"
                   " delta = ? AND rho = ? AND state = 'committed'"
                   " ORDER BY id DESC LIMIT 1",
                   &st, err));
    bind_request(st, a, r, p);
    int rc = sqlite3_step(st);
    enum status s = OK;
    if (rc == SQLITE_ROW) {
        *out_answer = db_copy(a, st, 0);
        *out_receipt = db_copy(a, st, 1);
        s = out_answer->p && out_receipt->p ? OK : err_nomem(err);
    } else if (rc != SQLITE_DONE) {
        s = db_error(l->db, "could not read the ledger", err);
    }
    sqlite3_finalize(st);
    return s;
}
