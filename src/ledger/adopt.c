/*
 * Taking a file as the ledger: a copy whose original is gone, or a ledger of
 * version 0.1 (format 1), which is brought to the present format.
 *
 * The upgrade is one transaction. It drops the tables that version 0.1 writes,
 * so a process of it that has the file open can neither hold nor commit
 * afterwards. Charges keep their receipts, prices, times and answers; held ones
 * stay held without an answer. Nothing that was shown before is booked as bits.
 */
#include "ledger/db.h"

/* In the order of execution. One hold for each charge, with its number. */
static const char *const upgrade[] = {
    "DROP TRIGGER charge_stays; DROP TRIGGER charge_once;"
    "DROP TRIGGER budget_stays; DROP INDEX charge_repeat;"
    "ALTER TABLE charge RENAME TO charge_1;"
    "ALTER TABLE granted RENAME TO granted_1;"
    "ALTER TABLE budget RENAME TO budget_1;",
    ledger_tables,
    "INSERT INTO hold(number, dataset, analyst, state, at, ended_at)"
    " SELECT id, dataset, analyst, CASE state WHEN 'committed' THEN"
    "  'committed' ELSE 'void' END, held_at, committed_at FROM charge_1;"
    "INSERT INTO charged(id, receipt, hold, dataset, analyst, source, query,"
    "  mechanism, settings, version, sql, epsilon, delta, rho, state, held_at,"
    "  committed_at, answer)"
    " SELECT id, receipt, id, dataset, analyst, '', query, mechanism,"
    "  settings, version, '', epsilon, delta, rho, state, held_at,"
    "  committed_at, answer FROM charge_1;"
    "INSERT INTO granted SELECT * FROM granted_1;",
};

/* The delta that version 0.1 converts with: half of the total as it is now. A
 * cap without delta takes its data set's. */
static enum status copy_account(struct ledger *l, struct arena *a,
                                sqlite3_stmt *st, struct err *err)
{
    static const struct ledger_limits none;
    struct account acc;
    struct str dataset = db_copy(a, st, 0), analyst = db_copy(a, st, 1);
    if (!dataset.p || !analyst.p)
        return err_nomem(err);
    account_init(&acc);
    acc.composition =
        str_is(db_text(st, 2), "zcdp") ? COMPOSE_ZCDP : COMPOSE_SUM;
    enum status s = db_rat(st, 3, acc.epsilon_total, err);
    if (s == OK)
        s = db_rat(st, 4, acc.delta_total, err);
    if (s == OK)
        s = db_rat(st, 5, acc.epsilon, err);
    if (s == OK)
        s = db_rat(st, 6, acc.delta, err);
    if (s == OK)
        s = db_rat(st, 7, acc.rho, err);
    if (s == OK && acc.composition == COMPOSE_ZCDP)
        s = db_rat(st, mpq_sgn(acc.delta_total) ? 4 : 8, acc.conversion, err);
    mpq_div_2exp(acc.conversion, acc.conversion, 1);
    if (s == OK)
        s = account_put(l, a, dataset, analyst, &acc, err);
    if (s == OK && !analyst.n)
        s = dataset_make(l, a, dataset, false, &none, err);
    account_fini(&acc);
    return s;
}

static enum status copy_accounts(struct ledger *l, struct arena *a,
                                 struct err *err)
{
    sqlite3_stmt *st = NULL;
    enum status s = OK;
    bool row = false;
    TRY(db_prepare(l,
                   "SELECT b.dataset, b.analyst, b.composition, b.epsilon,"
                   " b.delta, b.spent_epsilon, b.spent_delta, b.spent_rho,"
                   " d.delta FROM budget_1 b JOIN budget_1 d ON"
                   " d.dataset = b.dataset AND d.analyst = ''"
                   " ORDER BY b.dataset, b.analyst",
                   &st, err));
    while (s == OK) {
        TRY(db_step(l, st, &row, err));
        if (!row)
            break;
        s = copy_account(l, a, st, err);
    }
    db_done(l, st);
    return s;
}

/* The chain begins with what there was. */
static enum status chain_old(struct ledger *l, struct arena *a, struct err *err)
{
    int64_t last = 0;
    TRY(db_number(l, "SELECT max(number) FROM hold", 0, 0, &last, err));
    for (int64_t i = 1; i <= last; i++) {
        struct arena_mark mark = arena_mark(a);
        struct str text;
        int64_t state = 0;
        TRY(db_number(l,
                      "SELECT CASE state WHEN 'committed' THEN 2 ELSE 1 END"
                      " FROM hold WHERE number = ?",
                      i, 0, &state, err));
        for (int k = 0; k < state; k++) {
            TRY(chain_hold_text(l, a, i, k, &text, err));
            TRY(chain_add(l, a, k ? "commit" : "hold", text, NULL, err));
        }
        arena_release(a, mark);
    }
    return OK;
}

static enum status log_adopt(struct ledger *l, struct arena *a, long format,
                             struct err *err)
{
    struct identity id;
    TRY(identity_of(l->name, &id, err));
    return chain_add(l, a, "adopt",
                     str_printf(a, "%ld\n%s\n%s", format, id.inode, id.born),
                     NULL, err);
}

static enum status from_1(struct ledger *l, struct arena *a, struct err *err)
{
    char version[64];
    sqlite3_snprintf(sizeof version, version, "PRAGMA user_version = %d",
                     LEDGER_FORMAT);
    for (size_t i = 0; i < sizeof upgrade / sizeof upgrade[0]; i++)
        TRY(db_exec(l->db, upgrade[i], "could not upgrade the ledger", err));
    TRY(copy_accounts(l, a, err));
    TRY(db_exec(l->db,
                "DROP TABLE charge_1; DROP TABLE granted_1;"
                "DROP TABLE budget_1;",
                "could not upgrade the ledger", err));
    TRY(chain_old(l, a, err));
    return db_exec(l->db, version, "could not upgrade the ledger", err);
}

static enum status adopt(struct ledger *l, struct arena *a, long format,
                         struct err *err)
{
    if (format == 1)
        TRY(from_1(l, a, err));
    TRY(identity_store(l, err));
    return log_adopt(l, a, format, err);
}

static enum status take(struct ledger *l, const char *path, long format,
                        struct err *err)
{
    struct arena a;
    if (format != 1 && format != LEDGER_FORMAT)
        return err_set(err, E_LEDGER, "ledger \"%s\" has format %ld, not %d",
                       path, format, LEDGER_FORMAT);
    bool begins = false;
    TRY(anchor_adopt(l, format == LEDGER_FORMAT, &begins, err));
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = adopt(l, &a, format, err);
    if (begins) /* an anchor that is new gets all */
        l->first_event = 1;
    s = db_end(l, s, err);
    arena_fini(&a);
    return s == OK ? ledger_verify(l, err) : s;
}

enum status ledger_adopt(struct mem *m, const char *path, const char *anchor,
                         struct err *err)
{
    struct ledger_access access = {.anchor = anchor};
    struct ledger *l = NULL;
    long format = 0;
    TRY(ledger_file_open(m, path, &access, &l, &format, err));
    enum status s = take(l, path, format, err);
    ledger_close(l);
    return s;
}
