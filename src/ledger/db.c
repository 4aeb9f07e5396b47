/* Talking to SQLite: see db.h. */
#include <string.h>

#include "ledger/db.h"

enum status db_error(sqlite3 *db, const char *what, struct err *err)
{
    int full = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    int rc = full & 0xff;
    /* db_bind_rat leaves NULL where memory is out */
    if (rc == SQLITE_NOMEM || full == SQLITE_CONSTRAINT_NOTNULL)
        return err_nomem(err);
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB) {
        err_set(err, E_LEDGER, "%s: the file is damaged or not a ledger", what);
        err_detail(err, "%s.", sqlite3_errmsg(db));
        return E_LEDGER;
    }
    err_set(err, E_LEDGER_IO, "%s", what);
    err_detail(err, "%s.", sqlite3_errmsg(db));
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
        err_hint(err, "Another process holds the ledger. Try again.");
    else if (rc == SQLITE_READONLY || rc == SQLITE_PERM)
        err_hint(err, "The ledger and its folder must be writable.");
    return E_LEDGER_IO;
}

enum status db_exec(sqlite3 *db, const char *sql, const char *what,
                    struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? OK
               : db_error(db, what, err);
}

/* --- statements ------------------------------------------------------------
 */

enum status db_prepare(struct ledger *l, const char *sql, sqlite3_stmt **out,
                       struct err *err)
{
    for (size_t i = 0; i < l->n_kept; i++) {
        struct kept_statement *k = &l->kept[i];
        if (k->used || strcmp(sqlite3_sql(k->st), sql))
            continue;
        k->used = true;
        *out = k->st;
        return OK;
    }
    bool room = l->n_kept < KEPT_STATEMENTS;
    if (sqlite3_prepare_v3(l->db, sql, -1, room ? SQLITE_PREPARE_PERSISTENT : 0,
                           out, NULL) != SQLITE_OK)
        return db_error(l->db, "could not read the ledger", err);
    if (room && *out)
        l->kept[l->n_kept++] = (struct kept_statement){*out, true};
    return OK;
}

/* Its values are forgotten: they were not copied. */
void db_done(struct ledger *l, sqlite3_stmt *st)
{
    for (size_t i = 0; i < l->n_kept; i++) {
        if (l->kept[i].st != st)
            continue;
        sqlite3_reset(st);
        sqlite3_clear_bindings(st);
        l->kept[i].used = false;
        return;
    }
    sqlite3_finalize(st);
}

bool db_at_rest(const struct ledger *l)
{
    sqlite3_stmt *st = NULL;
    bool busy = !sqlite3_get_autocommit(l->db);
    for (size_t i = 0; i < l->n_kept; i++)
        busy |= l->kept[i].used;
    while (!busy && (st = sqlite3_next_stmt(l->db, st)))
        busy = sqlite3_stmt_busy(st);
    return !busy;
}

void db_forget(struct ledger *l)
{
    for (size_t i = 0; i < l->n_kept; i++)
        sqlite3_finalize(l->kept[i].st);
    l->n_kept = 0;
}

enum status db_run(struct ledger *l, sqlite3_stmt *st, const char *what,
                   struct err *err)
{
    enum status s =
        sqlite3_step(st) == SQLITE_DONE ? OK : db_error(l->db, what, err);
    db_done(l, st);
    return s;
}

enum status db_step(struct ledger *l, sqlite3_stmt *st, bool *out,
                    struct err *err)
{
    int rc = sqlite3_step(st);
    *out = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return OK;
    enum status s = db_error(l->db, "could not read the ledger", err);
    db_done(l, st);
    return s;
}

static enum status one_number(struct ledger *l, sqlite3_stmt *st, int64_t none,
                              int64_t *out, struct err *err)
{
    bool row = false;
    TRY(db_step(l, st, &row, err));
    *out = row && sqlite3_column_type(st, 0) != SQLITE_NULL
               ? sqlite3_column_int64(st, 0)
               : none;
    db_done(l, st);
    return OK;
}

enum status db_number(struct ledger *l, const char *sql, int64_t id,
                      int64_t none, int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l, sql, &st, err));
    if (sqlite3_bind_parameter_count(st))
        sqlite3_bind_int64(st, 1, id);
    return one_number(l, st, none, out, err);
}

enum status db_number_of(struct ledger *l, const char *sql, struct str text,
                         int64_t none, int64_t *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l, sql, &st, err));
    db_bind(st, 1, text);
    return one_number(l, st, none, out, err);
}

/* PRIVACY: not copied, so that it cannot fail for want of memory: a parameter
 * that is not bound is NULL and equal to no name, and an account that is not
 * found is not charged. The text stays until the statement is finalized. */
void db_bind(sqlite3_stmt *st, int i, struct str s)
{
    sqlite3_bind_text64(st, i, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

struct str db_text(sqlite3_stmt *st, int col)
{
    const char *p = (const char *)sqlite3_column_text(st, col);
    return (struct str){p, p ? (size_t)sqlite3_column_bytes(st, col) : 0};
}

struct str db_copy(struct arena *a, sqlite3_stmt *st, int col)
{
    struct str s = db_text(st, col);
    return s.p ? str_copy(a, s) : s;
}

/* Without memory it leaves NULL, which NOT NULL columns refuse. */
void db_bind_rat(sqlite3_stmt *st, int i, struct arena *a, mpq_srcptr v)
{
    struct sb b;
    sb_init(&b, a);
    rat_print(&b, v);
    if (!b.failed)
        db_bind(st, i, sb_view(&b));
}

/* Sums may be longer than what rat_read takes from users. */
static bool read_fraction(const char *text, mpq_t out)
{
    if (mpq_set_str(out, text, 10) || !mpz_sgn(mpq_denref(out))) {
        mpq_set_ui(out, 0, 1); /* never a number that cannot be used */
        return false;
    }
    mpq_canonicalize(out);
    return true;
}

static enum status db_read_rat(struct str s, mpq_t out, struct err *err)
{
    struct err why;
    if (s.p && rat_read(s, "amount", out, &why) == OK)
        return OK;
    if (s.p && strlen(s.p) == s.n && strchr(s.p, '/') &&
        read_fraction(s.p, out))
        return OK;
    return err_set(err, E_LEDGER,
                   "the ledger holds an amount that is no number");
}

enum status db_rat(sqlite3_stmt *st, int col, mpq_t out, struct err *err)
{
    return db_read_rat(db_text(st, col), out, err);
}

enum status db_begin(struct ledger *l, struct err *err)
{
    /* An interrupt may come when the lock is already taken. */
    l->first_event = 0;
    enum status s =
        db_exec(l->db, "BEGIN IMMEDIATE", "could not lock the ledger", err);
    if (s != OK)
        return db_end(l, s, err);
    db_group_begin(l);
    return OK;
}

enum status db_end(struct ledger *l, enum status s, struct err *err)
{
    uint64_t from = l->first_event;
    l->first_event = 0;
    if (s == OK)
        s = db_exec(l->db, "COMMIT", "could not write the ledger", err);
    if (s != OK && !sqlite3_get_autocommit(l->db))
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    s = db_group_end(l, s, err);
    return s == OK && from ? anchor_append(l, from, err) : s;
}
