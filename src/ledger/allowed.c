/*
 * Who may ask, and at which price. PRIVACY: the least price bounds how many
 * questions can be asked between two unlocks, and with them what a lock can
 * tell; whoever has no account where others have one gets nothing.
 */
#include "ledger/db.h"

enum { DIGITS = 9, DIGITS_DELTA = 30 };

/* --- analysts
 * -------------------------------------------------------------------- */

enum status dataset_admits(struct ledger *l, struct str name,
                           struct str analyst, struct err *err)
{
    int64_t closed = 0, known = 0;
    TRY(db_number_of(l,
                     "SELECT 1 FROM account, dataset WHERE account.dataset = ?1"
                     " AND dataset.name = ?1 AND analyst <> '' AND NOT open"
                     " LIMIT 1",
                     name, 0, &closed, err));
    if (!closed)
        return OK;
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l,
                   "SELECT 1 FROM account WHERE dataset = ? AND analyst = ?"
                   " AND analyst <> ''",
                   &st, err));
    db_bind(st, 1, name);
    db_bind(st, 2, analyst);
    TRY(db_step(l, st, &row, err));
    known = row;
    db_done(l, st);
    if (known)
        return OK;
    err_set(err, E_UNKNOWN_ANALYST, "analyst \"%.*s\" has no account",
            PSTR(analyst));
    err_detail(err, "Other analysts have one in this ledger, so who has none "
                    "cannot ask. Nothing was charged.");
    err_hint(err, "Name yourself with --analyst. The owner opens an account "
                  "with: dpcount budget grant --analyst NAME --epsilon E");
    return E_UNKNOWN_ANALYST;
}

/* --- prices
 * ---------------------------------------------------------------------- */

static bool has_digits(mpq_srcptr v, unsigned most)
{
    mpz_t ten;
    mpz_init(ten);
    mpz_ui_pow_ui(ten, 10, most);
    bool fits = mpz_divisible_p(ten, mpq_denref(v));
    mpz_clear(ten);
    return fits;
}

static enum status check_digits(const struct price *p, struct err *err)
{
    if (has_digits(p->epsilon, DIGITS) && has_digits(p->rho, DIGITS) &&
        has_digits(p->delta, DIGITS_DELTA))
        return OK;
    err_set(err, E_PRICE, "the price has too many digits");
    err_detail(err,
               "At most %d behind the decimal point, %d for delta. Nothing was "
               "charged.",
               DIGITS, DIGITS_DELTA);
    return E_PRICE;
}

static struct str amount_text(struct arena *a, mpq_srcptr v)
{
    struct sb b;
    sb_init(&b, a);
    rat_print(&b, v);
    return b.failed ? STR("?") : sb_view(&b);
}

static enum status refuse_price(struct ledger *l, const struct account *acc,
                                mpq_srcptr asked, mpq_srcptr limit, bool least,
                                struct err *err)
{
    struct arena a;
    const char *unit =
        acc->composition == COMPOSE_ZCDP ? "rho (epsilon^2/2)" : "epsilon";
    arena_init(&a, l->mem);
    err_set(err, E_PRICE, "the price is %s what the owner allows",
            least ? "below" : "above");
    err_detail(err,
               "Each count costs %s %.*s, and at %s %.*s is allowed. Nothing "
               "was charged.",
               unit, PSTR(amount_text(&a, asked)), least ? "least" : "most",
               PSTR(amount_text(&a, limit)));
    err_hint(err, "The owner decides it: least_price and most_price in the "
                  "policy's limits, or --least-price of dpcount budget init.");
    arena_fini(&a);
    return E_PRICE;
}

static enum status compare(struct ledger *l, sqlite3_stmt *st,
                           const struct account *acc, mpq_srcptr asked,
                           struct err *err)
{
    mpq_t limit;
    mpq_init(limit);
    enum status s = db_rat(st, 0, limit, err);
    if (s == OK && mpq_cmp(asked, limit) < 0)
        s = refuse_price(l, acc, asked, limit, true, err);
    if (s == OK && db_text(st, 1).n) {
        s = db_rat(st, 1, limit, err);
        if (s == OK && mpq_cmp(asked, limit) > 0)
            s = refuse_price(l, acc, asked, limit, false, err);
    }
    mpq_clear(limit);
    return s;
}

enum status dataset_price(struct ledger *l, struct str name,
                          const struct account *acc, const struct price *p,
                          const struct price *other, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    mpq_t asked, more;
    TRY(check_digits(p, err));
    TRY(db_prepare(l,
                   "SELECT least_price, most_price FROM dataset WHERE name = ?",
                   &st, err));
    db_bind(st, 1, name);
    TRY(db_step(l, st, &row, err));
    mpq_inits(asked, more, NULL);
    compose_amount(acc->composition, p, asked);
    if (other)
        compose_amount(acc->composition, other, more);
    mpq_add(asked, asked, more);
    enum status s =
        row ? compare(l, st, acc, asked, err) : account_missing(name, err);
    mpq_clears(asked, more, NULL);
    db_done(l, st);
    return s;
}
