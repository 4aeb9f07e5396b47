/*
 * Accounts: totals, sums and caps; grants, history, and the check that the
 * sums are what the charges add up to.
 */
#include "ledger/db.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

void balance_init(struct ledger_balance *b)
{
    *b = (struct ledger_balance){0};
    mpq_inits(b->epsilon_total, b->delta_total, b->epsilon_spent,
              b->delta_spent, b->rho_spent, NULL);
}

void balance_fini(struct ledger_balance *b)
{
    mpq_clears(b->epsilon_total, b->delta_total, b->epsilon_spent,
               b->delta_spent, b->rho_spent, NULL);
}

void account_init(struct account *a)
{
    *a = (struct account){0};
    mpq_inits(a->epsilon_total, a->delta_total, a->epsilon, a->delta, a->rho,
              NULL);
}

void account_fini(struct account *a)
{
    mpq_clears(a->epsilon_total, a->delta_total, a->epsilon, a->delta, a->rho,
               NULL);
}

static enum status read_account(sqlite3_stmt *st, struct account *out,
                                struct err *err)
{
    struct str how = db_text(st, 0);
    out->found = true;
    out->composition = str_is(how, "zcdp") ? COMPOSE_ZCDP : COMPOSE_SUM;
    if (out->composition == COMPOSE_SUM && !str_is(how, "sum"))
        return err_set(err, E_LEDGER, "the ledger adds up in an unknown way");
    TRY(db_rat(st, 1, out->epsilon_total, err));
    TRY(db_rat(st, 2, out->delta_total, err));
    TRY(db_rat(st, 3, out->epsilon, err));
    TRY(db_rat(st, 4, out->delta, err));
    return db_rat(st, 5, out->rho, err);
}

enum status account_missing(struct str dataset, struct err *err)
{
    err_set(err, E_NAME, "the ledger has no budget for dataset \"%.*s\"",
            PSTR(dataset));
    err_hint(err, "The owner makes one with: dpcount budget grant "
                  "--dataset NAME --epsilon E");
    return E_NAME;
}

enum status account_load(struct ledger *l, struct str dataset,
                         struct str analyst, struct account *out,
                         struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "SELECT composition, epsilon, delta, spent_epsilon,"
                   " spent_delta, spent_rho FROM budget"
                   " WHERE dataset = ? AND analyst = ?",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, analyst);
    int rc = sqlite3_step(st);
    enum status s = OK;
    out->found = false;
    if (rc == SQLITE_ROW)
        s = read_account(st, out, err);
    else if (rc != SQLITE_DONE)
        s = db_error(l->db, "could not read the ledger", err);
    sqlite3_finalize(st);
    return s;
}

enum status account_store(struct ledger *l, struct arena *a, struct str dataset,
                          struct str analyst, const struct account *acc,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "UPDATE budget SET spent_epsilon = ?, spent_delta = ?,"
                   " spent_rho = ? WHERE dataset = ? AND analyst = ?",
                   &st, err));
    db_bind_rat(st, 1, a, acc->epsilon);
    db_bind_rat(st, 2, a, acc->delta);
    db_bind_rat(st, 3, a, acc->rho);
    db_bind(st, 4, dataset);
    db_bind(st, 5, analyst);
    return db_run(l->db, st, "could not write the ledger", err);
}

enum status ledger_count(struct ledger *l, struct str dataset,
                         struct str analyst, struct ledger_balance *out,
                         struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "SELECT sum(state = 'held'), sum(state = 'committed') FROM"
                   " charge WHERE dataset = ?1 AND (?2 = '' OR analyst = ?2)",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, out->capped ? analyst : STR(""));
    enum status s = OK;
    if (sqlite3_step(st) == SQLITE_ROW) {
        out->n_held = (uint64_t)sqlite3_column_int64(st, 0);
        out->n_committed = (uint64_t)sqlite3_column_int64(st, 1);
    } else {
        s = db_error(l->db, "could not read the ledger", err);
    }
    sqlite3_finalize(st);
    return s;
}

static enum status find_account(struct ledger *l, struct str dataset,
                                struct str analyst, struct account *acc,
                                bool *out_capped, struct err *err)
{
    *out_capped = false;
    if (analyst.n) {
        TRY(account_load(l, dataset, analyst, acc, err));
        *out_capped = acc->found;
    }
    if (!*out_capped)
        TRY(account_load(l, dataset, STR(""), acc, err));
    if (acc->found)
        return OK;
    return account_missing(dataset, err);
}

enum status ledger_balance(struct ledger *l, struct str dataset,
                           struct str analyst, struct ledger_balance *out,
                           struct err *err)
{
    struct account acc;
    account_init(&acc);
    enum status s = find_account(l, dataset, analyst, &acc, &out->capped, err);
    if (s == OK) {
        out->composition = acc.composition;
        mpq_set(out->epsilon_total, acc.epsilon_total);
        mpq_set(out->delta_total, acc.delta_total);
        compose_spent(&acc, out->epsilon_spent, out->delta_spent);
        mpq_set(out->rho_spent, acc.rho);
    }
    account_fini(&acc);
    return s;
}

/* --- grants --------------------------------------------------------------- */

static enum status put_total(struct ledger *l, struct arena *a,
                             struct str dataset, struct str analyst,
                             const struct account *acc, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "INSERT INTO budget(dataset, analyst, composition, epsilon,"
                   " delta, spent_epsilon, spent_delta, spent_rho)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT(dataset, analyst) DO UPDATE"
                   " SET epsilon = excluded.epsilon, delta = excluded.delta",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, analyst);
    db_bind(st, 3, acc->composition == COMPOSE_ZCDP ? STR("zcdp") : STR("sum"));
    db_bind_rat(st, 4, a, acc->epsilon_total);
    db_bind_rat(st, 5, a, acc->delta_total);
    db_bind_rat(st, 6, a, acc->epsilon);
    db_bind_rat(st, 7, a, acc->delta);
    db_bind_rat(st, 8, a, acc->rho);
    return db_run(l->db, st, "could not write the ledger", err);
}

static enum status log_grant(struct ledger *l, struct arena *a,
                             struct str dataset, struct str analyst,
                             mpq_srcptr epsilon, mpq_srcptr delta,
                             struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "INSERT INTO granted(dataset, analyst, epsilon, delta, at)"
                   " VALUES(?, ?, ?, ?, " NOW ")",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, analyst);
    db_bind_rat(st, 3, a, epsilon);
    db_bind_rat(st, 4, a, delta);
    return db_run(l->db, st, "could not write the ledger", err);
}

/* What the charges of a dataset (and analyst, unless empty) add up to. */
static enum status sum_charges(struct ledger *l, struct str dataset,
                               struct str analyst, struct account *acc,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    struct price p;
    TRY(db_prepare(l->db,
                   "SELECT epsilon, delta, rho FROM charge WHERE dataset = ?1"
                   " AND (?2 = '' OR analyst = ?2) ORDER BY id",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, analyst);
    price_init(&p);
    enum status s = OK;
    int rc;
    while (s == OK && (rc = sqlite3_step(st)) != SQLITE_DONE) {
        if (rc != SQLITE_ROW)
            s = db_error(l->db, "could not read the ledger", err);
        else if ((s = db_rat(st, 0, p.epsilon, err)) == OK &&
                 (s = db_rat(st, 1, p.delta, err)) == OK &&
                 (s = db_rat(st, 2, p.rho, err)) == OK)
            compose_add(acc, &p);
    }
    price_fini(&p);
    sqlite3_finalize(st);
    return s;
}

/* A cap that comes late starts with what the analyst has spent before, so
 * that invariant 2 holds for it too. */
static enum status grant(struct ledger *l, struct arena *a, struct str dataset,
                         struct str analyst, mpq_srcptr epsilon,
                         mpq_srcptr delta, struct account *all,
                         struct account *acc, struct err *err)
{
    TRY(account_load(l, dataset, STR(""), all, err));
    if (analyst.n && !all->found)
        return account_missing(dataset, err);
    if (!all->found)
        TRY(account_load(l, STR(""), STR(""), all, err));
    TRY(account_load(l, dataset, analyst, acc, err));
    if (!acc->found) {
        acc->composition = all->composition;
        TRY(sum_charges(l, dataset, analyst, acc, err));
    }
    mpq_add(acc->epsilon_total, acc->epsilon_total, epsilon);
    mpq_add(acc->delta_total, acc->delta_total, delta);
    if (!acc->found && !compose_fits(acc))
        return err_set(err, E_VALUE,
                       "\"%.*s\" has spent more than this cap already",
                       PSTR(analyst));
    TRY(put_total(l, a, dataset, analyst, acc, err));
    return log_grant(l, a, dataset, analyst, epsilon, delta, err);
}

enum status ledger_grant(struct ledger *l, struct str dataset,
                         struct str analyst, mpq_srcptr epsilon,
                         mpq_srcptr delta, struct err *err)
{
    struct account all, acc;
    struct arena a;
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    account_init(&all);
    account_init(&acc);
    enum status s =
        grant(l, &a, dataset, analyst, epsilon, delta, &all, &acc, err);
    account_fini(&all);
    account_fini(&acc);
    arena_fini(&a);
    return db_end(l, s, err);
}

/* --- history and verification --------------------------------------------- */

static void read_entry(sqlite3_stmt *st, struct ledger_entry *e)
{
    struct str *const texts[] = {
        &e->receipt, &e->dataset, &e->analyst, &e->query,        &e->mechanism,
        &e->version, &e->epsilon, &e->delta,   &e->rho,          &e->held_at,
        &e->answer,  NULL,        NULL,        &e->committed_at,
    };
    e->id = (uint64_t)sqlite3_column_int64(st, 11);
    e->committed = str_is(db_text(st, 12), "committed");
    for (int i = 0; i < 14; i++)
        if (texts[i])
            *texts[i] = db_text(st, i);
}

enum status ledger_history(struct ledger *l, struct str dataset,
                           enum status (*each)(void *ctx,
                                               const struct ledger_entry *e,
                                               struct err *err),
                           void *ctx, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l->db,
                   "SELECT receipt, dataset, analyst, query, mechanism,"
                   " version, epsilon, delta, rho, held_at, answer, id, state,"
                   " committed_at FROM charge WHERE ?1 IS NULL OR dataset = ?1"
                   " ORDER BY id",
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
    sqlite3_finalize(st);
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
        s = sum_charges(l, dataset, analyst, &summed, err);
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
    TRY(db_prepare(l->db, "SELECT dataset, analyst FROM budget", &st, err));
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
    sqlite3_finalize(st);
    return s;
}

enum status ledger_verify(struct ledger *l, struct err *err)
{
    struct arena a;
    enum status s = db_exec(l->db, "BEGIN", "could not read the ledger", err);
    arena_init(&a, l->mem);
    if (s == OK)
        s = verify_all(l, &a, err);
    arena_fini(&a);
    if (!sqlite3_get_autocommit(l->db))
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    return s;
}
