/*
 * The order in which questions end. Of the open holds of a data set only the
 * one with the smallest number may end; the others wait. A lock ends all of
 * them at once. A hold whose process is gone is locked when it comes first.
 *
 * PRIVACY: so what everybody sees of failures is the least number that failed
 * since the last unlock, whoever was quicker.
 */
#include <time.h>

#include "ledger/queue.h"

enum status queue_locked(struct ledger *l, struct str dataset, struct err *err)
{
    int64_t locked = 0;
    TRY(db_number_of(l, "SELECT locked FROM dataset WHERE name = ?", dataset, 0,
                     &locked, err));
    return locked ? queue_refuse(err) : OK;
}

/* PRIVACY: one text, whatever the reason. */
enum status queue_refuse(struct err *err)
{
    err_set(err, E_LOCKED, "nothing is released until the owner unlocks");
    err_detail(err, "A release could not be finished, so the data set is "
                    "locked, for everybody. Answers that were given before "
                    "are still repeated.");
    err_hint(err,
             "The owner sees the reason with dpcount budget show --owner and "
             "ends it with dpcount budget unlock.");
    return E_LOCKED;
}

/* --- locking -----------------------------------------------------------------
 */

static enum status end_holds(struct ledger *l, struct str dataset,
                             int64_t number, struct str reason, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE hold SET ended_at = " NOW ", state = CASE number"
                   " WHEN ?2 THEN 'locked' ELSE 'void' END, reason = CASE"
                   " number WHEN ?2 THEN ?3 END"
                   " WHERE dataset = ?1 AND number >= ?2 AND state = 'open'",
                   &st, err));
    db_bind(st, 1, dataset);
    sqlite3_bind_int64(st, 2, number);
    db_bind(st, 3, reason);
    TRY(db_run(l, st, "could not write the ledger", err));
    TRY(db_prepare(l, "UPDATE dataset SET locked = ?2 WHERE name = ?1", &st,
                   err));
    db_bind(st, 1, dataset);
    sqlite3_bind_int64(st, 2, number);
    return db_run(l, st, "could not write the ledger", err);
}

enum status queue_lock(struct ledger *l, struct str dataset, int64_t number,
                       struct str reason, struct err *err)
{
    struct arena a;
    char hash[SHA256_HEX];
    TRY(end_holds(l, dataset, number, reason, err));
    sha256_text(reason.p, reason.n, hash);
    arena_init(&a, l->mem);
    enum status s = chain_add(
        l, &a, "lock", str_printf(&a, "%lld %s", (long long)number, hash), NULL,
        err);
    arena_fini(&a);
    return s;
}

/* --- what is gone
 * -------------------------------------------------------------- */

enum status queue_gone(struct ledger *l, struct str dataset, int64_t *out,
                       struct err *err)
{
    bool alive = false;
    int64_t first = 0;
    *out = 0;
    TRY(db_number_of(l, QUEUE_FIRST, dataset, 0, &first, err));
    if (!first)
        return OK;
    TRY(holder_alive(l, first, &alive, err));
    if (alive)
        return OK;
    /* it may have ended between the two looks */
    TRY(db_number_of(l, QUEUE_FIRST, dataset, 0, out, err));
    *out = *out == first ? first : 0;
    return OK;
}

/* Within a transaction: whoever ends a hold gives up its byte afterwards, so a
 * hold that is open here and has no process will never end by itself. */
static enum status lock_gone(struct ledger *l, struct str dataset,
                             int64_t number, struct err *err)
{
    int64_t first = 0;
    bool alive = false;
    TRY(db_number_of(l, QUEUE_FIRST, dataset, 0, &first, err));
    if (first != number)
        return OK;
    TRY(holder_alive(l, number, &alive, err));
    if (alive)
        return OK;
    return queue_lock(l, dataset, number, STR(QUEUE_GONE), err);
}

static enum status sweep_one(struct ledger *l, struct str dataset,
                             int64_t number, struct err *err)
{
    bool alive = false;
    TRY(holder_alive(l, number, &alive, err));
    if (alive)
        return OK;
    TRY(db_begin(l, err));
    return db_end(l, lock_gone(l, dataset, number, err), err);
}

struct first {
    struct str dataset;
    int64_t number;
};

/* The first open hold of each data set. The statement is finished before the
 * ledger is written. */
static enum status firsts(struct ledger *l, struct arena *a, struct first **out,
                          size_t *out_n, struct err *err)
{
    VEC(struct first) list = {0};
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l,
                   "SELECT dataset, min(number) FROM hold"
                   " WHERE state = 'open' GROUP BY dataset",
                   &st, err));
    for (;;) {
        TRY(db_step(l, st, &row, err));
        if (!row)
            break;
        struct first f = {db_copy(a, st, 0), sqlite3_column_int64(st, 1)};
        if (!f.dataset.p || !VEC_PUSH(a, &list, f)) {
            db_done(l, st);
            return err_nomem(err);
        }
    }
    db_done(l, st);
    *out = list.p;
    *out_n = list.n;
    return OK;
}

enum status queue_sweep(struct ledger *l, struct err *err)
{
    struct arena a;
    struct first *list = NULL;
    size_t n = 0;
    arena_init(&a, l->mem);
    enum status s = firsts(l, &a, &list, &n, err);
    for (size_t i = 0; s == OK && i < n; i++)
        s = sweep_one(l, list[i].dataset, list[i].number, err);
    arena_fini(&a);
    return s;
}

/* --- waiting
 * --------------------------------------------------------------------- */

static enum status turn(struct ledger *l, struct str dataset, int64_t number,
                        int64_t *out_first, struct err *err)
{
    TRY(db_number_of(l, QUEUE_FIRST, dataset, number, out_first, err));
    if (*out_first >= number)
        return OK;
    TRY(sweep_one(l, dataset, *out_first, err));
    return db_number_of(l, QUEUE_FIRST, dataset, number, out_first, err);
}

enum status queue_turn(struct ledger *l, struct str dataset, int64_t number,
                       bool *out, struct err *err)
{
    int64_t first = 0;
    TRY(turn(l, dataset, number, &first, err));
    *out = first >= number;
    return OK;
}

enum status queue_wait(struct ledger *l, struct str dataset, int64_t number,
                       struct err *err)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (;;) {
        int64_t first = 0;
        TRY(turn(l, dataset, number, &first, err));
        if (first >= number)
            return OK;
        if (holder_ours(l, first)) /* would wait for itself */
            return err_internal(err, "queue_wait");
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 4000000)
            pause.tv_nsec *= 2;
    }
}
