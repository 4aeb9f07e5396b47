/*
 * A data set's row: the owner's limits, who may ask, whether it is locked and
 * how many bits locks may tell.
 */
#include "ledger/db.h"

enum { RUNGS_MOST = 16 };

/* --- limits
 * ------------------------------------------------------------------- */

static enum status read_ladder(struct str s, int64_t *out, struct err *err)
{
    u128 n = 0;
    *out = 0;
    if (!s.n || str_is(s, "none"))
        return OK;
    if (!u128_read(s.p, s.n, &n) || n > RUNGS_MOST)
        return err_set(err, E_VALUE,
                       "ladder must be none or a number up to %d, not \"%.*s\"",
                       RUNGS_MOST, PSTR(s));
    *out = (int64_t)n;
    return OK;
}

/* An epsilon as what decides in this account: itself, or its rho. */
static enum status read_price(struct str s, const char *what,
                              const struct account *acc, mpq_t out,
                              struct err *err)
{
    struct price p;
    price_init(&p);
    enum status st = rat_read(s, what, p.epsilon, err);
    if (st == OK && mpq_sgn(p.epsilon) <= 0)
        st = err_set(err, E_VALUE, "%s must be above 0", what);
    if (st == OK)
        compose_amount(acc->composition, &p, out);
    price_fini(&p);
    return st;
}

/* total/1000; of rho to 18 digits, down. */
static void default_least(const struct account *acc, mpq_t out)
{
    mpq_t thousand, fine;
    mpz_t digits;
    mpq_inits(thousand, fine, NULL);
    mpz_init(digits);
    mpq_set_ui(thousand, 1000, 1);
    if (acc->composition == COMPOSE_ZCDP) {
        bits_total_rho(acc, out);
        mpq_div(out, out, thousand);
        mpz_ui_pow_ui(digits, 10, 18);
        mpq_set_z(fine, digits);
        mpq_mul(fine, fine, out);
        mpz_fdiv_q(mpq_numref(fine), mpq_numref(fine), mpq_denref(fine));
        mpz_set(mpq_denref(fine), digits);
        mpq_canonicalize(fine);
        if (mpq_sgn(fine) > 0)
            mpq_set(out, fine);
    } else {
        mpq_div(out, acc->epsilon_total, thousand);
    }
    mpz_clear(digits);
    mpq_clears(thousand, fine, NULL);
}

static enum status read_prices(const struct ledger_limits *x,
                               const struct account *acc, mpq_t least,
                               mpq_t most, struct err *err)
{
    if (x->least_price.n)
        TRY(read_price(x->least_price, "least_price", acc, least, err));
    else
        default_least(acc, least);
    if (x->most_price.n)
        TRY(read_price(x->most_price, "most_price", acc, most, err));
    if (x->most_price.n && mpq_cmp(most, least) < 0)
        return err_set(err, E_VALUE, "most_price is below least_price");
    if (x->strict.n && !str_is(x->strict, "yes") && !str_is(x->strict, "no"))
        return err_set(err, E_VALUE, "strict must be yes or no");
    return OK;
}

static enum status write_limits(struct ledger *l, struct arena *a,
                                struct str name, bool open,
                                const struct ledger_limits *x, mpq_t least,
                                mpq_t most, struct err *err)
{
    sqlite3_stmt *st = NULL;
    int64_t rungs = 0;
    TRY(read_ladder(x->ladder, &rungs, err));
    TRY(db_prepare(l,
                   "INSERT INTO dataset(name, open, respond_after, ladder,"
                   " memory, least_price, most_price, strict, work_at_most)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT(name) DO UPDATE SET"
                   " respond_after = excluded.respond_after,"
                   " ladder = excluded.ladder, memory = excluded.memory,"
                   " least_price = excluded.least_price,"
                   " most_price = excluded.most_price,"
                   " strict = excluded.strict,"
                   " work_at_most = excluded.work_at_most",
                   &st, err));
    db_bind(st, 1, name);
    sqlite3_bind_int(st, 2, open);
    db_bind(st, 3, x->respond_after.n ? x->respond_after : STR("none"));
    sqlite3_bind_int64(st, 4, rungs);
    db_bind(st, 5, x->memory);
    db_bind_rat(st, 6, a, least);
    if (x->most_price.n)
        db_bind_rat(st, 7, a, most);
    else
        db_bind(st, 7, STR(""));
    db_bind(st, 8, x->strict.n ? x->strict : STR("no"));
    db_bind(st, 9, x->work_at_most);
    return db_run(l, st, "could not write the ledger", err);
}

static enum status put_limits(struct ledger *l, struct arena *a,
                              struct str name, bool open,
                              const struct ledger_limits *limits,
                              struct err *err)
{
    struct account acc;
    mpq_t least, most;
    account_init(&acc);
    mpq_inits(least, most, NULL);
    enum status s = account_load(l, name, STR(""), &acc, err);
    if (s == OK && !acc.found)
        s = account_missing(name, err);
    if (s == OK)
        s = read_prices(limits, &acc, least, most, err);
    if (s == OK)
        s = write_limits(l, a, name, open, limits, least, most, err);
    mpq_clears(least, most, NULL);
    account_fini(&acc);
    return s;
}

enum status dataset_make(struct ledger *l, struct arena *a, struct str name,
                         bool open, const struct ledger_limits *limits,
                         struct err *err)
{
    TRY(put_limits(l, a, name, open, limits, err));
    return dataset_book(l, a, name, false, err);
}

enum status dataset_set_limits(struct ledger *l, struct arena *a,
                               struct str name,
                               const struct ledger_limits *limits,
                               struct err *err)
{
    TRY(put_limits(l, a, name, false, limits, err)); /* open stays */
    TRY(dataset_book(l, a, name, false, err));
    return chain_add(l, a, "limits", dataset_text(a, name, limits), NULL, err);
}

enum status ledger_limits(struct ledger *l, struct arena *a, struct str dataset,
                          struct ledger_limits *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *out = (struct ledger_limits){0};
    TRY(db_prepare(l,
                   "SELECT respond_after, ladder, memory, least_price,"
                   " most_price, strict, work_at_most, misses FROM dataset"
                   " WHERE name = ?",
                   &st, err));
    db_bind(st, 1, dataset);
    TRY(db_step(l, st, &row, err));
    struct str *const texts[] = {
        &out->respond_after, &out->ladder, &out->memory,      &out->least_price,
        &out->most_price,    &out->strict, &out->work_at_most};
    bool whole = true;
    for (int i = 0; row && i < 7; i++)
        whole &= (*texts[i] = db_copy(a, st, i)).p != NULL;
    out->misses = row ? (unsigned)sqlite3_column_int(st, 7) : 0;
    db_done(l, st);
    if (!row)
        return account_missing(dataset, err);
    return whole ? OK : err_nomem(err);
}

struct str dataset_text(struct arena *a, struct str name,
                        const struct ledger_limits *x)
{
    return str_printf(a, "%zu %.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s\n",
                      name.n, PSTR(name), PSTR(x->respond_after),
                      PSTR(x->ladder), PSTR(x->memory), PSTR(x->least_price),
                      PSTR(x->most_price), PSTR(x->strict),
                      PSTR(x->work_at_most));
}

/* --- bits
 * --------------------------------------------------------------------- */

struct booked {
    mpq_t least, before, now;
    mpz_t questions;
    unsigned rungs;
};

static enum status load_booked(struct ledger *l, struct str name,
                               struct booked *b, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l,
                   "SELECT least_price, bits_before, bits_now, asked, ladder"
                   " FROM dataset WHERE name = ?",
                   &st, err));
    db_bind(st, 1, name);
    TRY(db_step(l, st, &row, err));
    enum status s = row ? OK : account_missing(name, err);
    if (s == OK)
        s = db_rat(st, 0, b->least, err);
    if (s == OK)
        s = db_rat(st, 1, b->before, err);
    if (s == OK)
        s = db_rat(st, 2, b->now, err);
    if (s == OK) {
        mpz_set_si(b->questions, (long)sqlite3_column_int64(st, 3));
        b->rungs = (unsigned)sqlite3_column_int(st, 4);
    }
    db_done(l, st);
    return s;
}

static enum status store_booked(struct ledger *l, struct arena *a,
                                struct str name, bool next,
                                const struct booked *b, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE dataset SET bits_before = ?2, bits_now = ?3,"
                   " asked = CASE ?4 WHEN 1 THEN 0 ELSE asked END"
                   " WHERE name = ?1",
                   &st, err));
    db_bind(st, 1, name);
    db_bind_rat(st, 2, a, b->before);
    db_bind_rat(st, 3, a, b->now);
    sqlite3_bind_int(st, 4, next);
    return db_run(l, st, "could not write the ledger", err);
}

/* Those asked since the last unlock, and those that can still be paid. What
 * was booked stays booked. */
static enum status book(struct ledger *l, struct arena *a, struct str name,
                        bool next, const struct account *acc, struct booked *b,
                        struct err *err)
{
    mpz_t more;
    mpq_t bits;
    TRY(load_booked(l, name, b, err));
    if (next) {
        mpq_add(b->before, b->before, b->now);
        mpq_set_ui(b->now, 0, 1);
        mpz_set_ui(b->questions, 0);
    }
    mpz_init(more);
    mpq_init(bits);
    bits_questions(acc, b->least, more);
    mpz_add(more, more, b->questions);
    bits_of(b->rungs, more, bits);
    if (mpq_cmp(bits, b->now) > 0)
        mpq_set(b->now, bits);
    mpz_clear(more);
    mpq_clear(bits);
    return store_booked(l, a, name, next, b, err);
}

enum status dataset_book(struct ledger *l, struct arena *a, struct str name,
                         bool next, struct err *err)
{
    struct account acc;
    struct booked b = {0};
    account_init(&acc);
    mpq_inits(b.least, b.before, b.now, NULL);
    mpz_init(b.questions);
    enum status s = account_load(l, name, STR(""), &acc, err);
    if (s == OK)
        s = book(l, a, name, next, &acc, &b, err);
    mpz_clear(b.questions);
    mpq_clears(b.least, b.before, b.now, NULL);
    account_fini(&acc);
    return s;
}

enum status dataset_book_bit(struct ledger *l, struct arena *a, struct str name,
                             struct err *err)
{
    struct booked b = {0};
    mpq_t one;
    int64_t known = 0;
    TRY(db_number_of(l, "SELECT count(*) FROM dataset WHERE name = ?", name, 0,
                     &known, err));
    if (!known)
        return OK;
    mpq_inits(b.least, b.before, b.now, one, NULL);
    mpz_init(b.questions);
    enum status s = load_booked(l, name, &b, err);
    mpq_set_ui(one, 1, 1);
    mpq_add(b.before, b.before, one);
    if (s == OK)
        s = store_booked(l, a, name, false, &b, err);
    mpz_clear(b.questions);
    mpq_clears(b.least, b.before, b.now, one, NULL);
    return s;
}
