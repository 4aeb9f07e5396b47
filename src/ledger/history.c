/* Reading the whole ledger: the history, and the check that the sums are what
 * the charges add up to and the chain is whole. */
#include "ledger/db.h"

static void read_entry(sqlite3_stmt *st, struct ledger_entry *e)
{
    struct str *const texts[] = {
        &e->receipt, &e->dataset, &e->analyst, &e->query,        &e->mechanism,
        &e->version, &e->epsilon, &e->delta,   &e->rho,          &e->held_at,
        &e->answer,  &e->state,   &e->sql,     &e->committed_at,
    };
    for (int i = 0; i < 14; i++)
        *texts[i] = db_text(st, i);
    e->id = (uint64_t)sqlite3_column_int64(st, 14);
    e->hold = (uint64_t)sqlite3_column_int64(st, 15);
    e->committed = str_is(e->state, "committed");
    if (str_is(e->state, "open"))
        e->state = STR("held");
}

enum status ledger_history(struct ledger *l, struct str dataset,
                           enum status (*each)(void *ctx,
                                               const struct ledger_entry *e,
                                               struct err *err),
                           void *ctx, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "SELECT receipt, c.dataset, c.analyst, query, mechanism,"
                   " version, epsilon, delta, rho, held_at, answer, h.state,"
                   " sql, committed_at, id, hold FROM charged c, hold h"
                   " WHERE h.number = c.hold AND"
                   " (?1 IS NULL OR c.dataset = ?1) ORDER BY id",
                   &st, err));
    if (dataset.p)
        db_bind(st, 1, dataset);
    enum status s = OK;
    int rc;
    while (s == OK && (rc = sqlite3_step(st)) != SQLITE_DONE) {
        struct ledger_entry e = {0};
        if (rc != SQLITE_ROW) {
            s = db_error(l->db, "could not read the ledger", err);
            break;
        }
        read_entry(st, &e);
        s = each(ctx, &e, err);
    }
    db_done(l, st);
    return s;
}

static enum status verify_one(struct ledger *l, struct str dataset,
                              struct str analyst, struct err *err)
{
    struct account stored, summed;
    account_init(&stored);
    account_init(&summed);
    enum status s = account_load(l, dataset, analyst, &stored, err);
    if (s == OK)
        s = account_sum(l, dataset, analyst, &summed, err);
    if (s == OK && (mpq_cmp(stored.epsilon, summed.epsilon) ||
                    mpq_cmp(stored.delta, summed.delta) ||
                    mpq_cmp(stored.rho, summed.rho)))
        s = err_set(err, E_LEDGER, "the ledger's sums differ from its charges");
    if (s == OK && !compose_fits(&stored))
        s = err_set(err, E_LEDGER, "the ledger is overspent");
    account_fini(&stored);
    account_fini(&summed);
    return s;
}

static enum status verify_all(struct ledger *l, struct arena *a,
                              struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l, "SELECT dataset, analyst FROM account", &st, err));
    enum status s = OK;
    int rc;
    while (s == OK && (rc = sqlite3_step(st)) != SQLITE_DONE) {
        struct str d, n;
        if (rc != SQLITE_ROW) {
            s = db_error(l->db, "could not read the ledger", err);
            break;
        }
        d = db_copy(a, st, 0);
        n = db_copy(a, st, 1);
        s = d.p && n.p ? verify_one(l, d, n, err) : err_nomem(err);
    }
    db_done(l, st);
    return s;
}

/* Invariants 1, 4 and 6 where SQL can say them: each is a number of rows that
 * must not be there. */
static enum status verify_holds(struct ledger *l, struct err *err)
{
    static const char *const bad[] = {
        "SELECT count(*) FROM charged WHERE hold NOT IN"
        " (SELECT number FROM hold)",
        "SELECT count(*) FROM hold WHERE number NOT IN"
        " (SELECT hold FROM charged)",
        "SELECT count(*) FROM charged c, hold h WHERE h.number = c.hold AND"
        " (h.state = 'committed') <> (c.state = 'committed')",
        "SELECT count(*) FROM charged c, hold h WHERE h.number = c.hold AND"
        " (h.dataset <> c.dataset OR h.analyst <> c.analyst)",
        "SELECT count(*) FROM account WHERE dataset NOT IN"
        " (SELECT name FROM dataset)",
        "SELECT count(*) FROM dataset WHERE locked <> 0 AND NOT EXISTS"
        " (SELECT 1 FROM hold WHERE number = locked AND state = 'locked')",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t n = 0;
        TRY(db_number(l, bad[i], 0, 0, &n, err));
        if (n)
            return err_set(err, E_LEDGER,
                           "the ledger's holds and charges differ");
    }
    return OK;
}

enum status ledger_verify(struct ledger *l, struct err *err)
{
    struct arena a;
    enum status s = db_exec(l->db, "BEGIN", "could not read the ledger", err);
    arena_init(&a, l->mem);
    if (s == OK)
        s = verify_all(l, &a, err);
    if (s == OK)
        s = verify_holds(l, err);
    if (s == OK)
        s = chain_verify(l, err);
    arena_fini(&a);
    if (!sqlite3_get_autocommit(l->db))
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    return s;
}
