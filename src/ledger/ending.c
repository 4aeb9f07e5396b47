/*
 * How a question ends: committed with its answers, or locked; and the free
 * repetition of answers. Both endings wait for their turn (queue.c).
 */
#include "ledger/queue.h"
#include "ledger/charge.h"

enum status ledger_turn(struct ledger_hold *h, bool *out, struct err *err)
{
    return queue_turn(h->ledger, h->dataset, h->number, out, err);
}

/* Open, or ended by an earlier lock, or not at all in this ledger any more. */
static enum status still_open(struct ledger_hold *h, bool *out, struct err *err)
{
    int64_t state = 0;
    TRY(db_number(h->ledger,
                  "SELECT CASE state WHEN 'open' THEN 1 WHEN 'void' THEN 2"
                  " WHEN 'locked' THEN 2 ELSE 3 END FROM hold"
                  " WHERE number = ?",
                  h->number, 3, &state, err));
    *out = state == 1;
    if (state == 3)
        return err_set(err, E_LEDGER,
                       "receipt \"%.*s\" is not held in this ledger",
                       PSTR(h->receipts[0]));
    return OK;
}

static enum status store_answer(struct ledger *l, struct str receipt,
                                struct str answer, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE charged SET state = 'committed', answer = ?,"
                   " committed_at = " NOW
                   " WHERE receipt = ? AND state = 'held'",
                   &st, err));
    db_bind(st, 1, answer);
    db_bind(st, 2, receipt);
    TRY(db_run(l, st, "could not write the ledger", err));
    if (sqlite3_changes(l->db) != 1)
        return err_set(err, E_LEDGER,
                       "receipt \"%.*s\" is not held in this ledger",
                       PSTR(receipt));
    return OK;
}

static enum status commit(struct ledger_hold *h, struct arena *a,
                          const struct str *answers, struct err *err)
{
    struct ledger *l = h->ledger;
    sqlite3_stmt *st = NULL;
    struct str text;
    bool open = false;
    TRY(still_open(h, &open, err));
    if (!open) /* PRIVACY: whatever it found */
        return queue_refuse(err);
    for (size_t i = 0; i < h->n; i++)
        TRY(store_answer(l, h->receipts[i], answers[i], err));
    TRY(db_prepare(l,
                   "UPDATE hold SET state = 'committed', ended_at = " NOW
                   " WHERE number = ?",
                   &st, err));
    sqlite3_bind_int64(st, 1, h->number);
    TRY(db_run(l, st, "could not write the ledger", err));
    TRY(chain_hold_text(l, a, h->number, true, &text, err));
    return chain_add(l, a, "commit", text, NULL, err);
}

enum status ledger_commit(struct ledger_hold *h, const struct str *answers,
                          struct err *err)
{
    struct ledger *l = h->ledger;
    struct arena a;
    TRY(queue_wait(l, h->dataset, h->number, err));
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = db_end(l, commit(h, &a, answers, err), err);
    arena_fini(&a);
    if (s == OK || s == E_LOCKED)
        holder_drop(l, h->number);
    return s;
}

static enum status lock(struct ledger_hold *h, struct str reason,
                        struct err *err)
{
    bool open = false;
    TRY(still_open(h, &open, err));
    return open ? queue_lock(h->ledger, h->dataset, h->number, reason, err)
                : OK;
}

enum status ledger_lock(struct ledger_hold *h, struct str reason,
                        struct err *err)
{
    struct ledger *l = h->ledger;
    TRY(queue_wait(l, h->dataset, h->number, err));
    TRY(db_begin(l, err));
    enum status s = db_end(l, lock(h, reason, err), err);
    if (s == OK)
        holder_drop(l, h->number);
    return s;
}

/* --- the ladder
 * ------------------------------------------------------------------ */

static enum status miss(struct ledger_hold *h, bool *out, struct err *err)
{
    struct ledger *l = h->ledger;
    struct arena a;
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE dataset SET misses = misses + 1"
                   " WHERE name = ? AND misses < ladder",
                   &st, err));
    db_bind(st, 1, h->dataset);
    TRY(db_run(l, st, "could not write the ledger", err));
    *out = sqlite3_changes(l->db) == 1;
    if (!*out)
        return OK;
    arena_init(&a, l->mem);
    enum status s = chain_add(
        l, &a, "miss", str_printf(&a, "%lld", (long long)h->number), NULL, err);
    arena_fini(&a);
    return s;
}

enum status ledger_locked(struct err *err)
{
    return queue_refuse(err);
}

enum status ledger_miss(struct ledger_hold *h, bool *out, struct err *err)
{
    *out = false;
    TRY(db_begin(h->ledger, err));
    return db_end(h->ledger, miss(h, out, err), err);
}

/* --- repetition
 * ------------------------------------------------------------------- */

static enum status take_found(sqlite3_stmt *st, struct arena *a,
                              struct ledger_found *out, struct err *err)
{
    out->answer = db_copy(a, st, 0);
    out->receipt = db_copy(a, st, 1);
    out->as_of = db_copy(a, st, 2);
    return out->answer.p && out->receipt.p && out->as_of.p ? OK
                                                           : err_nomem(err);
}

enum status ledger_find(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct ledger_found *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    *out = (struct ledger_found){0};
    TRY(dataset_admits(l, r->dataset, r->analyst, err));
    TRY(db_prepare(l,
                   "SELECT answer, receipt, held_at FROM charged WHERE"
                   " dataset = ? AND analyst = ? AND source = ? AND query = ?"
                   " AND mechanism = ? AND settings = ? AND version = ? AND"
                   " epsilon = ? AND delta = ? AND rho = ? AND"
                   " state = 'committed' ORDER BY id DESC LIMIT 1",
                   &st, err));
    charge_bind(st, a, r, p);
    TRY(db_step(l, st, &row, err));
    enum status s = row ? take_found(st, a, out, err) : OK;
    db_done(l, st);
    return s;
}
