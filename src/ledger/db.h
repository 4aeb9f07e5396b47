/*
 * Inside the ledger: the open file and the few ways to talk to SQLite. A
 * statement is prepared once and kept with the open file, since one that stays
 * open (ledger_reopen) runs the same few for each question: preparing them took
 * more time than running them.
 */
#ifndef LEDGER_DB_H
#define LEDGER_DB_H

#include <limits.h>
#include <sqlite3.h>
#include "ledger/ledger.h"

enum { KEPT_STATEMENTS = 64 };
struct kept_statement {
    sqlite3_stmt *st;
    bool used; /* between db_prepare and db_done */
};

struct ledger {
    struct mem *mem;
    struct kept_statement kept[KEPT_STATEMENTS];
    size_t n_kept;
    sqlite3 *db;
    char name[PATH_MAX];   /* of the file, its folder resolved */
    char anchor[PATH_MAX]; /* empty: none */
    bool read_only;
    int holds;                  /* NAME-holds, -1: not open (holder.c) */
    uint64_t log;               /* inode of SQLite's log when it was opened */
    uint64_t first_event;       /* of the transaction that runs; 0: none yet */
    struct ledger_group *group; /* NULL: each COMMIT syncs by itself */
    bool begun;                 /* the group counts the transaction */
    int frames; /* pages in the log behind its last COMMIT, in a group */
};

enum { LEDGER_APPLICATION = 0x6470636c, LEDGER_FORMAT = 2 };
/* Whoever opens first reads all of the log, four megabytes at most; moving it
 * costs two syncs more. */
enum { LOG_PAGES = 1000 };
extern const char ledger_tables[]; /* CREATE statements */

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

/* An error of SQLite as ours: E_LEDGER_IO with SQLite's words as detail. */
enum status db_error(sqlite3 *db, const char *what, struct err *err);
enum status db_exec(sqlite3 *db, const char *sql, const char *what,
                    struct err *err) WARN_UNUSED;
enum status db_prepare(struct ledger *l, const char *sql, sqlite3_stmt **out,
                       struct err *err) WARN_UNUSED;
/* Gives it back: whoever prepared it says so once, unless a call below did. */
void db_done(struct ledger *l, sqlite3_stmt *st);
/* No transaction, and no statement that was not given back. */
bool db_at_rest(const struct ledger *l);
/* Before the file is closed. */
void db_forget(struct ledger *l);
/* Steps a statement that returns no row, then gives it back. */
enum status db_run(struct ledger *l, sqlite3_stmt *st, const char *what,
                   struct err *err) WARN_UNUSED;
/* Steps: *out tells whether there is a row. Gives it back on failure. */
enum status db_step(struct ledger *l, sqlite3_stmt *st, bool *out,
                    struct err *err) WARN_UNUSED;
/* One number, `none` if there is no row or it is NULL; `id` or `text` is the
 * parameter, if there is one. */
enum status db_number(struct ledger *l, const char *sql, int64_t id,
                      int64_t none, int64_t *out, struct err *err) WARN_UNUSED;
enum status db_number_of(struct ledger *l, const char *sql, struct str text,
                         int64_t none, int64_t *out,
                         struct err *err) WARN_UNUSED;
/* Does not copy: the text must stay until the statement is given back. */
void db_bind(sqlite3_stmt *st, int i, struct str s);
struct str db_text(sqlite3_stmt *st, int col); /* until the next step */
/* Of a column that is not NULL; no pointer: memory is out. */
struct str db_copy(struct arena *a, sqlite3_stmt *st, int col);
void db_bind_rat(sqlite3_stmt *st, int i, struct arena *a, mpq_srcptr v);
enum status db_rat(sqlite3_stmt *st, int col, mpq_t out,
                   struct err *err) WARN_UNUSED;
/* BEGIN IMMEDIATE; ends with COMMIT if s is OK, else ROLLBACK. Returns s, or
 * why the commit failed. PRIVACY: OK means that the change is on the disk, and
 * the heads of its events in the anchor. */
enum status db_begin(struct ledger *l, struct err *err) WARN_UNUSED;
enum status db_end(struct ledger *l, enum status s, struct err *err);

/* --- group.c: one sync for several -----------------------------------------
 */

/* `g` may be NULL. */
enum status db_group_open(struct ledger *l, struct ledger_group *g,
                          struct err *err) WARN_UNUSED;
/* Within a transaction; behind its COMMIT or ROLLBACK: returns s, or why it is
 * not durable. */
void db_group_begin(struct ledger *l);
enum status db_group_end(struct ledger *l, enum status s, struct err *err);

/* --- file.c: names, and opening for adopt.c --------------------------------
 */

enum status ledger_file_check(const char *name, const char *path,
                              bool read_only, struct err *err) WARN_UNUSED;
/* The file as SQLite has it, whatever its format; *out_format is that. */
enum status ledger_file_open(struct mem *m, const char *path,
                             const struct ledger_access *access,
                             struct ledger **out, long *out_format,
                             struct err *err) WARN_UNUSED;
/* identity.c: inode and birth time, decimal texts; "0" where unknown. */
struct identity {
    char inode[24], born[40];
};
enum status identity_of(const char *name, struct identity *out,
                        struct err *err) WARN_UNUSED;
enum status identity_store(struct ledger *l, struct err *err) WARN_UNUSED;
enum status identity_check(struct ledger *l, const char *path,
                           struct err *err) WARN_UNUSED;
/* n random bytes of the system. */
enum status chain_random(void *p, size_t n, struct err *err) WARN_UNUSED;

/* --- chain.c, anchor.c -----------------------------------------------------
 */

/* Adds an event to the running transaction. `out` may be NULL. */
enum status chain_add(struct ledger *l, struct arena *a, const char *kind,
                      struct str text, struct ledger_head *out,
                      struct err *err) WARN_UNUSED;
enum status chain_head(struct ledger *l, struct ledger_head *out,
                       struct err *err) WARN_UNUSED;
enum status chain_verify(struct ledger *l, struct err *err) WARN_UNUSED;
/* The texts of the events of a hold, made from its rows. */
enum status chain_hold_text(struct ledger *l, struct arena *a, int64_t number,
                            bool answers, struct str *out,
                            struct err *err) WARN_UNUSED;
/* Appends the events of the transaction that was just committed. */
enum status anchor_append(struct ledger *l, uint64_t from,
                          struct err *err) WARN_UNUSED;
/* E_ROLLBACK if the ledger does not have the largest head of the anchor. */
enum status anchor_check(struct ledger *l, struct err *err) WARN_UNUSED;
/* The same for a ledger that is taken over; *begins: it has none yet. */
enum status anchor_adopt(struct ledger *l, bool has_chain, bool *begins,
                         struct err *err) WARN_UNUSED;

/* --- holder.c: is the process of a hold alive? -----------------------------
 */

enum status holder_take(struct ledger *l, int64_t number,
                        struct err *err) WARN_UNUSED;
void holder_drop(struct ledger *l, int64_t number);
enum status holder_alive(struct ledger *l, int64_t number, bool *out,
                         struct err *err) WARN_UNUSED;
/* Is it one of this open ledger? */
bool holder_ours(struct ledger *l, int64_t number);

/* --- accounts --------------------------------------------------------------
 */

/* One row of the table account. */
struct account {
    bool found;
    enum composition composition;
    mpq_t epsilon_total, delta_total;
    mpq_t conversion;          /* delta of the conversion; 0 for SUM */
    mpq_t epsilon, delta, rho; /* sums of the charges */
};
void account_init(struct account *a);
void account_fini(struct account *a);
void account_set(struct account *to, const struct account *from);
/* E_NAME: there is no budget for these data. */
enum status account_missing(struct str dataset, struct err *err);
enum status account_load(struct ledger *l, struct str dataset,
                         struct str analyst, struct account *out,
                         struct err *err) WARN_UNUSED;
/* Writes the three sums back. */
enum status account_store(struct ledger *l, struct arena *a, struct str dataset,
                          struct str analyst, const struct account *acc,
                          struct err *err) WARN_UNUSED;
/* Makes or changes the row, sums of a new one included. */
enum status account_put(struct ledger *l, struct arena *a, struct str dataset,
                        struct str analyst, const struct account *acc,
                        struct err *err) WARN_UNUSED;
/* What the charges of a dataset (and analyst, unless empty) add up to. */
enum status account_sum(struct ledger *l, struct str dataset,
                        struct str analyst, struct account *acc,
                        struct err *err) WARN_UNUSED;

/* --- limits.c, allowed.c, bits.c: limits, and what locks may tell
 * --------------------
 */

/* A new data set with its limits; the account is there already. */
enum status dataset_make(struct ledger *l, struct arena *a, struct str name,
                         bool open, const struct ledger_limits *limits,
                         struct err *err) WARN_UNUSED;
enum status dataset_set_limits(struct ledger *l, struct arena *a,
                               struct str name,
                               const struct ledger_limits *limits,
                               struct err *err) WARN_UNUSED;
/* For the chain. */
struct str dataset_text(struct arena *a, struct str name,
                        const struct ledger_limits *limits);
/* Books the bits of the questions until the next unlock. `next`: they begin
 * anew, the ones before stay booked. */
enum status dataset_book(struct ledger *l, struct arena *a, struct str name,
                         bool next, struct err *err) WARN_UNUSED;
/* One more bit, for good; nothing if there is no such data set. */
enum status dataset_book_bit(struct ledger *l, struct arena *a, struct str name,
                             struct err *err) WARN_UNUSED;
/* E_PRICE. */
enum status dataset_price(struct ledger *l, struct str name,
                          const struct account *acc, const struct price *p,
                          const struct price *other,
                          struct err *err) WARN_UNUSED;
/* E_UNKNOWN_ANALYST. */
enum status dataset_admits(struct ledger *l, struct str name,
                           struct str analyst, struct err *err) WARN_UNUSED;
/* How many charges of at least `least` still fit, at most. */
void bits_questions(const struct account *acc, mpq_srcptr least, mpz_t out);
/* (rungs + 1) log2(1 + n) in hundredths, rounded up. */
void bits_of(unsigned rungs, mpz_srcptr n, mpq_t out);
/* rho that the account can spend in all: an upper bound, tight. */
void bits_total_rho(const struct account *acc, mpq_t out);

/* policy_bind.c: within a transaction. Compares, and fixes what is not fixed
 * yet; `whole`: the text too, in place of the one before. */
enum status dataset_bind(struct ledger *l, struct arena *a, struct str dataset,
                         const struct ledger_policy *p, bool whole,
                         struct err *err) WARN_UNUSED;

/* compose.c: adds a price to the sums; what the sums amount to. */
void compose_add(struct account *acc, const struct price *p);
void compose_spent(const struct account *acc, mpq_t epsilon, mpq_t delta);
/* What a price adds to the sum that decides: epsilon, or rho. */
void compose_amount(enum composition c, const struct price *p, mpq_t out);
bool compose_fits(const struct account *acc);
/* E_VALUE if a price of this kind cannot be charged to the account. */
enum status compose_check(const struct account *acc, const struct price *p,
                          struct err *err) WARN_UNUSED;

#endif
