/* Accounts: totals, sums and caps; grants. */
#include "ledger/db.h"

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
    mpq_inits(a->epsilon_total, a->delta_total, a->conversion, a->epsilon,
              a->delta, a->rho, NULL);
}

void account_fini(struct account *a)
{
    mpq_clears(a->epsilon_total, a->delta_total, a->conversion, a->epsilon,
               a->delta, a->rho, NULL);
}

void account_set(struct account *to, const struct account *from)
{
    to->found = from->found;
    to->composition = from->composition;
    mpq_set(to->epsilon_total, from->epsilon_total);
    mpq_set(to->delta_total, from->delta_total);
    mpq_set(to->conversion, from->conversion);
    mpq_set(to->epsilon, from->epsilon);
    mpq_set(to->delta, from->delta);
    mpq_set(to->rho, from->rho);
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
    TRY(db_rat(st, 5, out->rho, err));
    TRY(db_rat(st, 6, out->conversion, err));
    /* PRIVACY: outside (0, 1) the conversion means nothing */
    if (out->composition == COMPOSE_ZCDP &&
        (mpq_sgn(out->conversion) <= 0 ||
         mpq_cmp_ui(out->conversion, 1, 1) >= 0))
        return err_set(err, E_LEDGER, "the ledger's conversion is no delta");
    return OK;
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
    TRY(db_prepare(l,
                   "SELECT composition, epsilon, delta, spent_epsilon,"
                   " spent_delta, spent_rho, conversion FROM account"
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
    db_done(l, st);
    return s;
}

enum status account_store(struct ledger *l, struct arena *a, struct str dataset,
                          struct str analyst, const struct account *acc,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE account SET spent_epsilon = ?, spent_delta = ?,"
                   " spent_rho = ? WHERE dataset = ? AND analyst = ?",
                   &st, err));
    db_bind_rat(st, 1, a, acc->epsilon);
    db_bind_rat(st, 2, a, acc->delta);
    db_bind_rat(st, 3, a, acc->rho);
    db_bind(st, 4, dataset);
    db_bind(st, 5, analyst);
    return db_run(l, st, "could not write the ledger", err);
}

enum status ledger_count(struct ledger *l, struct str dataset,
                         struct str analyst, struct ledger_balance *out,
                         struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "SELECT sum(state = 'held'), sum(state = 'committed') FROM"
                   " charged WHERE dataset = ?1 AND (?2 = '' OR analyst = ?2)",
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
    db_done(l, st);
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

enum status account_put(struct ledger *l, struct arena *a, struct str dataset,
                        struct str analyst, const struct account *acc,
                        struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO account(dataset, analyst, composition, epsilon,"
                   " delta, spent_epsilon, spent_delta, spent_rho, conversion)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
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
    db_bind_rat(st, 9, a, acc->conversion);
    return db_run(l, st, "could not write the ledger", err);
}

static enum status log_grant(struct ledger *l, struct arena *a,
                             struct str dataset, struct str analyst,
                             mpq_srcptr epsilon, mpq_srcptr delta,
                             struct err *err)
{
    sqlite3_stmt *st = NULL;
    struct sb b;
    TRY(db_prepare(l,
                   "INSERT INTO granted(dataset, analyst, epsilon, delta, at)"
                   " VALUES(?, ?, ?, ?, " NOW ")",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, analyst);
    db_bind_rat(st, 3, a, epsilon);
    db_bind_rat(st, 4, a, delta);
    TRY(db_run(l, st, "could not write the ledger", err));
    sb_init(&b, a);
    sb_printf(&b, "%zu %.*s\n%zu %.*s\n", dataset.n, PSTR(dataset), analyst.n,
              PSTR(analyst));
    rat_print(&b, epsilon);
    sb_char(&b, '\n');
    rat_print(&b, delta);
    return b.failed ? err_nomem(err)
                    : chain_add(l, a, "grant", sb_view(&b), NULL, err);
}

enum status account_sum(struct ledger *l, struct str dataset,
                        struct str analyst, struct account *acc,
                        struct err *err)
{
    sqlite3_stmt *st = NULL;
    struct price p;
    TRY(db_prepare(l,
                   "SELECT epsilon, delta, rho FROM charged WHERE dataset = ?1"
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
    db_done(l, st);
    return s;
}

/* What a new account starts with. A cap that comes late starts with what the
 * analyst has spent before, so that invariant 2 holds for it too. A data set
 * that is new converts with half of its delta, a cap with what its data set
 * does. */
static enum status begin_account(struct ledger *l, struct str dataset,
                                 struct str analyst, const struct account *all,
                                 mpq_srcptr delta, struct account *acc,
                                 struct err *err)
{
    acc->composition = all->composition;
    if (all->composition == COMPOSE_ZCDP && analyst.n)
        mpq_set(acc->conversion, all->conversion);
    else if (all->composition == COMPOSE_ZCDP)
        mpq_div_2exp(acc->conversion, delta, 1);
    if (all->composition == COMPOSE_ZCDP && !mpq_sgn(acc->conversion))
        return err_set(err, E_VALUE,
                       "a budget of composition zcdp needs a delta");
    return account_sum(l, dataset, analyst, acc, err);
}

static enum status grant(struct ledger *l, struct arena *a, struct str dataset,
                         struct str analyst, mpq_srcptr epsilon,
                         mpq_srcptr delta, struct account *all,
                         struct account *acc, struct err *err)
{
    static const struct ledger_limits none;
    TRY(account_load(l, dataset, STR(""), all, err));
    if (analyst.n && !all->found)
        return account_missing(dataset, err);
    bool new_data = !all->found;
    if (new_data)
        TRY(account_load(l, STR(""), STR(""), all, err));
    TRY(account_load(l, dataset, analyst, acc, err));
    if (!acc->found)
        TRY(begin_account(l, dataset, analyst, all, delta, acc, err));
    mpq_add(acc->epsilon_total, acc->epsilon_total, epsilon);
    mpq_add(acc->delta_total, acc->delta_total, delta);
    if (!acc->found && !compose_fits(acc))
        return err_set(err, E_VALUE,
                       "\"%.*s\" has spent more than this cap already",
                       PSTR(analyst));
    TRY(account_put(l, a, dataset, analyst, acc, err));
    if (new_data)
        TRY(dataset_make(l, a, dataset, false, &none, err));
    else if (!analyst.n) /* more questions can be paid */
        TRY(dataset_book(l, a, dataset, false, err));
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
    s = db_end(l, s, err);
    arena_fini(&a);
    return s;
}
