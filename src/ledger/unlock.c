/* What the owner sees of a data set, and unlocking it. */
#include "ledger/queue.h"

static enum status unlock(struct ledger *l, struct arena *a, struct str dataset,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    int64_t locked = -1;
    TRY(db_number_of(l, "SELECT locked FROM dataset WHERE name = ?", dataset,
                     -1, &locked, err));
    if (locked < 0)
        return account_missing(dataset, err);
    if (!locked)
        return err_set(err, E_VALUE, "the data set is not locked");
    TRY(db_prepare(l,
                   "UPDATE dataset SET locked = 0, unlocks = unlocks + 1"
                   " WHERE name = ?",
                   &st, err));
    db_bind(st, 1, dataset);
    TRY(db_run(l, st, "could not write the ledger", err));
    TRY(dataset_book(l, a, dataset, true, err));
    return chain_add(
        l, a, "unlock",
        str_printf(a, "%lld %.*s", (long long)locked, PSTR(dataset)), NULL,
        err);
}

enum status ledger_unlock(struct ledger *l, struct str dataset, struct err *err)
{
    struct arena a;
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = db_end(l, unlock(l, &a, dataset, err), err);
    arena_fini(&a);
    return s;
}

static enum status add_bits(sqlite3_stmt *st, struct arena *a, struct str *out,
                            struct err *err)
{
    mpq_t before, now;
    struct sb b;
    mpq_inits(before, now, NULL);
    enum status s = db_rat(st, 3, before, err);
    if (s == OK)
        s = db_rat(st, 4, now, err);
    sb_init(&b, a);
    if (s == OK) {
        mpq_add(now, now, before);
        rat_print_decimal(&b, now, 2, true);
    }
    mpq_clears(before, now, NULL);
    *out = sb_view(&b);
    return s != OK ? s : b.failed ? err_nomem(err) : OK;
}

static enum status read_state(sqlite3_stmt *st, struct arena *a,
                              struct ledger_state *out, struct err *err)
{
    out->locked = (uint64_t)sqlite3_column_int64(st, 0);
    out->unlocks = (uint64_t)sqlite3_column_int64(st, 1);
    out->open = sqlite3_column_int(st, 2) != 0;
    out->least_price = db_copy(a, st, 5);
    out->policy = db_copy(a, st, 6);
    out->reason = db_copy(a, st, 7);
    out->in_flight = (uint64_t)sqlite3_column_int64(st, 8);
    out->version = db_copy(a, st, 9);
    if (!out->least_price.p || !out->policy.p || !out->reason.p ||
        !out->version.p)
        return err_nomem(err);
    return add_bits(st, a, &out->unnoised_bits, err);
}

/* A hold that nobody works on any more is a lock that is not written yet: every
 * release says so already. Where that cannot be seen, what is written stands.
 */
static void add_gone(struct ledger *l, struct str dataset,
                     struct ledger_state *out)
{
    int64_t number = 0;
    struct err ignored;
    if (out->locked || queue_gone(l, dataset, &number, &ignored) != OK ||
        !number)
        return;
    out->locked = (uint64_t)number;
    out->reason = STR(QUEUE_GONE);
}

enum status ledger_state(struct ledger *l, struct arena *a, struct str dataset,
                         struct ledger_state *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *out = (struct ledger_state){0};
    TRY(chain_head(l, &out->head, err));
    TRY(db_prepare(
        l,
        "SELECT locked, unlocks, open, bits_before, bits_now, least_price,"
        " policy, coalesce((SELECT reason FROM hold WHERE number = locked),"
        " ''), (SELECT count(*) FROM hold WHERE dataset = ?1 AND"
        " state = 'open'), coalesce((SELECT version FROM seal WHERE"
        " dataset = ?1 AND explicit AND valid ORDER BY id DESC LIMIT 1),"
        " 'live') FROM dataset WHERE name = ?1",
        &st, err));
    db_bind(st, 1, dataset);
    TRY(db_step(l, st, &row, err));
    enum status s =
        row ? read_state(st, a, out, err) : account_missing(dataset, err);
    db_done(l, st);
    if (s == OK)
        add_gone(l, dataset, out);
    return s == OK ? ledger_settle(l, err) : s; /* the head may be noted */
}
