/*
 * Inside the ledger: the open file and the few ways to talk to SQLite. A
 * statement lives for one call; preparing costs microseconds and a write
 * costs an fsync.
 */
#ifndef LEDGER_DB_H
#define LEDGER_DB_H

#include <sqlite3.h>
#include "ledger/ledger.h"

struct ledger {
    struct mem *mem;
    sqlite3 *db;
};

enum { LEDGER_APPLICATION = 0x6470636c, LEDGER_FORMAT = 1 };
extern const char ledger_tables[]; /* CREATE statements */

/* An error of SQLite as ours: E_LEDGER_IO with SQLite's words as detail. */
enum status db_error(sqlite3 *db, const char *what, struct err *err);
enum status db_exec(sqlite3 *db, const char *sql, const char *what,
                    struct err *err) WARN_UNUSED;
enum status db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out,
                       struct err *err) WARN_UNUSED;
/* Steps a statement that returns no row, then finalises it. */
enum status db_run(sqlite3 *db, sqlite3_stmt *st, const char *what,
                   struct err *err) WARN_UNUSED;
/* Does not copy: the text must stay until the statement is finalised. */
void db_bind(sqlite3_stmt *st, int i, struct str s);
struct str db_text(sqlite3_stmt *st, int col); /* until the next step */
/* Of a column that is not NULL; no pointer: memory is out. */
struct str db_copy(struct arena *a, sqlite3_stmt *st, int col);
void db_bind_rat(sqlite3_stmt *st, int i, struct arena *a, mpq_srcptr v);
enum status db_rat(sqlite3_stmt *st, int col, mpq_t out,
                   struct err *err) WARN_UNUSED;
/* BEGIN IMMEDIATE; ends with COMMIT if s is OK, else ROLLBACK. Returns s, or
 * why the commit failed. */
enum status db_begin(struct ledger *l, struct err *err) WARN_UNUSED;
enum status db_end(struct ledger *l, enum status s, struct err *err);

/* One row of the table budget. */
struct account {
    bool found;
    enum composition composition;
    mpq_t epsilon_total, delta_total;
    mpq_t epsilon, delta, rho; /* sums of the charges */
};
void account_init(struct account *a);
void account_fini(struct account *a);
/* E_NAME: there is no budget for these data. */
enum status account_missing(struct str dataset, struct err *err);
enum status account_load(struct ledger *l, struct str dataset,
                         struct str analyst, struct account *out,
                         struct err *err) WARN_UNUSED;
/* Writes the three sums back. */
enum status account_store(struct ledger *l, struct arena *a, struct str dataset,
                          struct str analyst, const struct account *acc,
                          struct err *err) WARN_UNUSED;

/* compose.c: adds a price to the sums; what the sums amount to. */
void compose_add(struct account *acc, const struct price *p);
void compose_spent(const struct account *acc, mpq_t epsilon, mpq_t delta);
bool compose_fits(const struct account *acc);
/* E_VALUE if a price of this kind cannot be charged to the account. */
enum status compose_check(const struct account *acc, const struct price *p,
                          struct err *err) WARN_UNUSED;

#endif
