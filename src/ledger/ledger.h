/*
 * The ledger: what was spent, durably, before anything is drawn. A SQLite
 * file (WAL, synchronous=FULL), many processes at once. Amounts are exact
 * rationals kept as decimal or fraction texts; docs/ledger-format.md has the
 * tables, src/ledger/PROOF.md the argument.
 *
 * Life of a question: hold (all its charges or none, durable before a private
 * row is read) -> commit with the answers, or lock. PRIVACY: nothing is drawn
 * without a hold; a hold is never undone.
 *
 * A data set's questions end in the order of their holds: commit and lock wait
 * until every earlier one has ended. A lock is of the data set, for every
 * analyst, until the owner unlocks; it also ends every later question that is
 * still on its way. So what shows of failures is which question was the first
 * to fail since the last unlock, and its bits are booked beforehand. A hold
 * whose process is gone is locked by whoever comes next.
 *
 * Invariants, which every function keeps and ledger_verify checks:
 *  1. A charge is either held or committed; it never goes back or away.
 *  2. What an account has spent is the sum of its charges, held ones included.
 *  3. After every transaction what is spent is at most the total.
 *  4. A receipt names one charge, and gets at most one answer.
 *  5. Nothing is decided by the clock: times are for the reader.
 *  6. A hold ends once, after all earlier ones of its data set; none behind a
 *     lock is committed.
 *  7. Every change is an event of the chain, in the same transaction.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include <gmp.h>
#include "base/bytes.h"
#include "base/sha256.h"
#include "num/rat.h"

struct ledger;
struct ledger_hold; /* proof that a question is paid for */

/*
 * How the prices of a dataset add up.
 *   SUM   every charge is (epsilon, delta); both are added.
 *   ZCDP  every charge is rho (a pure one counts epsilon^2/2); the sum is
 *         converted to (epsilon, delta) with a delta that is fixed when the
 *         budget is made (half of its total then), and delta of single
 *         releases is paid from what else there is.
 */
enum composition { COMPOSE_SUM, COMPOSE_ZCDP };

/* What a count costs. zCDP releases cost rho; the others epsilon, delta. */
struct price {
    mpq_t epsilon, delta, rho;
    /* One of two numbers that are one answer (AVG). Next to its other half the
     * two are held against the least and the most price together. */
    bool half;
};
void price_init(struct price *p);
void price_fini(struct price *p);
/* Rounds up to the digits that a price may have: 9 behind the point, 30 for
 * delta. */
void price_round(struct price *p);

/* What makes two questions the same, at the same price: all but the last two.
 */
struct ledger_request {
    struct str dataset; /* name of the budget; "" is the default one */
    struct str analyst; /* "" is nobody in particular */
    struct str source;  /* where the data are, without passwords */
    struct str query;   /* normalised text */
    struct str mechanism;
    struct str settings; /* all else that decides the answer's law */
    struct str version;  /* of the data, by name; of live ones "live" */
    struct str sql;      /* as asked, for the history */
    /* Epsilon that the analyst may have spent with it (without a cap of their
     * own, all together), as a text; empty: what the ledger says. */
    struct str at_most;
};

struct ledger_charge {
    const struct ledger_request *request;
    const struct price *price;
    /* Not charged again where the same is held or answered already. */
    bool once;
};

/* Position in the chain of events, and its hash (lower case hexadecimal). */
struct ledger_head {
    uint64_t n;
    char hash[SHA256_HEX];
};

/* The owner's limits, as texts of the policy; an empty one has its default
 * where it is stored, and `ledger_limits` gives what is stored. */
struct ledger_limits {
    struct str respond_after; /* seconds, or none (default) */
    struct str ladder;        /* rungs: how often that may double; none */
    struct str memory;        /* empty: none */
    struct str least_price;   /* of a count: epsilon; default total/1000 */
    struct str most_price;    /* empty: none */
    struct str strict;        /* yes, or no (default) */
    struct str work_at_most;  /* empty: none */
    unsigned misses; /* out: rungs used; respond_after is 2^misses as long */
};

/*
 * What the data's owner declared, as far as sums of prices depend on it. The
 * first charge of a data set fixes unit, neighbours, order and which tables
 * are private; ledger_bind (or init with a policy) fixes all of `text`. Another
 * one is E_POLICY_CHANGED.
 */
struct ledger_policy {
    struct str unit;                      /* "row", or whose rows go together */
    struct str neighbours;                /* "add-drop-one", ... */
    struct str order;                     /* "1" */
    const struct str *private_, *public_; /* names of tables */
    size_t n_private, n_public;
    struct str text; /* canonical: all of the above, constraints, types... */
};

struct ledger_spec {
    enum composition composition;
    mpq_srcptr epsilon, delta;
    bool open; /* analysts without an account may ask where others have one */
    struct ledger_limits limits;
    const struct ledger_policy *policy; /* NULL: not bound in whole */
    const char *anchor;                 /* NULL: none */
};

/* Creates the file (mode 0600) with a budget for dataset ""; fails if it
 * exists. All or nothing, also when killed. */
enum status ledger_create(const char *path, const struct ledger_spec *spec,
                          struct err *err) WARN_UNUSED;

struct ledger_access {
    bool read_only;     /* show, history: changes nothing, needs no right to */
    const char *anchor; /* owner's file of heads; NULL: none */
    bool busy;          /* others come and go: leave SQLite's log where it is */
    struct ledger_group *group; /* whose syncs it shares; NULL: nobody's */
};
/* Memory that processes share which are forked afterwards. NULL: there is none,
 * and each syncs for itself. */
struct ledger_group *ledger_group_new(void);
void ledger_group_free(struct ledger_group *g); /* here only; NULL allowed */
/* Do processes have it that are forked from now on? PRIVACY: those with rows
 * do not: who writes there decides what counts as durable. */
void ledger_group_inherit(struct ledger_group *g, bool yes);
/* Before something is shown that was read: a member of a group sees others'
 * changes before they are on the disk. E_LEDGER_IO. */
enum status ledger_settle(struct ledger *l, struct err *err) WARN_UNUSED;
/* E_LEDGER if it is missing, a link, writable by others, somebody else's, of
 * another format or not a ledger; E_MOVED for a copy, E_ROLLBACK if the anchor
 * has seen more; nothing is changed then. Otherwise locks what a process that
 * is gone left held. `access` may be NULL. */
enum status ledger_open(struct mem *m, const char *path,
                        const struct ledger_access *access, struct ledger **out,
                        struct err *err) WARN_UNUSED;
/* Is one that stayed open, with no hold of its own, still what ledger_open
 * would open? Then the same has been done and checked; any failure: close it
 * and open anew, which says why. */
enum status ledger_reopen(struct ledger *l, const char *path,
                          const struct ledger_access *access,
                          struct err *err) WARN_UNUSED;
void ledger_close(struct ledger *l); /* NULL allowed */
/* Closes it for a process that goes on with it at once: the log is left where
 * it is, which saves four syncs. */
void ledger_leave(struct ledger *l);
/* Owner: takes a file that was copied or restored as the ledger, and brings
 * one of version 0.1 to the present format. */
enum status ledger_adopt(struct mem *m, const char *path, const char *anchor,
                         struct err *err) WARN_UNUSED;

/* --- charges -------------------------------------------------------------- */

/* Would a hold succeed now? Fails as ledger_hold does; changes nothing. */
enum status ledger_afford(struct ledger *l, const struct ledger_charge *charges,
                          size_t n, const struct ledger_policy *policy,
                          struct err *err) WARN_UNUSED;
/*
 * Reserves the prices of n counts of one question (same data set and analyst),
 * durably, all or none. E_BUDGET with spent, asked and remaining; E_PRICE,
 * E_UNKNOWN_ANALYST, E_POLICY_CHANGED, E_LOCKED; E_ON_ITS_WAY if one that is to
 * be charged once is held or answered already; nothing changed then. The
 * hold lives in `a` and until the ledger is closed; a hold that is neither
 * committed nor locked until then is one whose process is gone.
 */
enum status ledger_hold(struct ledger *l, struct arena *a,
                        const struct ledger_charge *charges, size_t n,
                        const struct ledger_policy *policy,
                        struct ledger_hold **out, struct err *err) WARN_UNUSED;
/* Is one of them held, and its question neither answered nor locked yet? Locks
 * those whose process is gone. */
enum status ledger_on_its_way(struct ledger *l, struct arena *a,
                              const struct ledger_charge *charges, size_t n,
                              bool *out, struct err *err) WARN_UNUSED;
struct str ledger_hold_receipt(const struct ledger_hold *h, size_t i);
uint64_t ledger_hold_number(const struct ledger_hold *h);
size_t ledger_hold_counts(const struct ledger_hold *h);
/* For the process that draws: a hold as bytes, and back. What was read proves
 * the hold to a draw; only the process that holds can commit or lock. */
void ledger_hold_write(struct sb *b, const struct ledger_hold *h);
enum status ledger_hold_read(struct bytes *b, struct ledger_hold **out,
                             struct err *err) WARN_UNUSED;
/* Of the event that made the hold. */
const struct ledger_head *ledger_hold_head(const struct ledger_hold *h);
/* Have all earlier questions of the data set ended? Locks those whose process
 * is gone. */
enum status ledger_turn(struct ledger_hold *h, bool *out,
                        struct err *err) WARN_UNUSED;
/* Stores the answers (JSON texts), in the order of the charges, all or none.
 * Once; waits for its turn. E_LOCKED if an earlier question was locked. */
enum status ledger_commit(struct ledger_hold *h, const struct str *answers,
                          struct err *err) WARN_UNUSED;
/* The question failed: locks the data set, unless an earlier one did. Waits for
 * its turn. The reason is for the owner. */
enum status ledger_lock(struct ledger_hold *h, struct str reason,
                        struct err *err) WARN_UNUSED;
/* PRIVACY: the one text of E_LOCKED, whatever the reason. */
enum status ledger_locked(struct err *err);
/* The moment of the reply passed: doubles respond_after for all later ones if
 * a rung is left. *out: is one left? */
enum status ledger_miss(struct ledger_hold *h, bool *out,
                        struct err *err) WARN_UNUSED;

struct ledger_found {
    struct str answer; /* p NULL: there is none */
    struct str receipt, as_of;
};
/* The newest committed answer to the same request at the same price; given
 * also while the data set is locked. E_UNKNOWN_ANALYST. */
enum status ledger_find(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct ledger_found *out, struct err *err) WARN_UNUSED;

/* --- the owner's settings ------------------------------------------------- */

enum status ledger_unlock(struct ledger *l, struct str dataset,
                          struct err *err) WARN_UNUSED;
/* Owner: from now on this policy and these limits. E_POLICY_CHANGED if
 * something is spent and the sums would not mean the same. `limits` NULL:
 * they stay. */
enum status ledger_bind(struct ledger *l, struct str dataset,
                        const struct ledger_policy *policy,
                        const struct ledger_limits *limits,
                        struct err *err) WARN_UNUSED;
/* Fits the policy what the data set is bound to? E_POLICY_CHANGED. */
enum status ledger_bound(struct ledger *l, struct str dataset,
                         const struct ledger_policy *policy,
                         struct err *err) WARN_UNUSED;
enum status ledger_limits(struct ledger *l, struct arena *a, struct str dataset,
                          struct ledger_limits *out,
                          struct err *err) WARN_UNUSED;

struct ledger_state {
    uint64_t locked; /* number of the hold; 0: not locked */
    uint64_t unlocks;
    uint64_t in_flight;       /* held, neither answered nor locked */
    struct str reason;        /* of the lock; for the owner */
    struct str unnoised_bits; /* decimal, rounded up */
    struct str least_price;   /* exact */
    struct str version;       /* the newest valid sealed one, or live */
    struct str policy;        /* SHA-256 of its text; empty: not bound */
    bool open;
    struct ledger_head head;
};
enum status ledger_state(struct ledger *l, struct arena *a, struct str dataset,
                         struct ledger_state *out, struct err *err) WARN_UNUSED;

/* --- versions of the data ------------------------------------------------- */

struct ledger_seal {
    struct str dataset, source;
    struct str version;     /* NAME; of an implicit seal its fingerprint */
    struct str fingerprint; /* of ledger_fingerprint; never shown */
    struct str constraints; /* SHA-256 of the canonical list that was checked */
    struct str copy;        /* file of seal --out; empty: none */
    struct str cells;       /* ledger_fingerprint of the rows as read, the same
                               for a copy; empty: implicit, or not known */
    bool explicit_, valid;
    struct str at; /* out: UTC */
};
/* HMAC-SHA-256 of a hash of content under the key in FILE.key (made when first
 * needed, 0600). PRIVACY: a plain hash would let whoever knows all rows but
 * one try that one. */
enum status ledger_fingerprint(struct ledger *l, const void *hash, size_t n,
                               char out[SHA256_HEX],
                               struct err *err) WARN_UNUSED;
/* E_VALUE if the data set has this version with other content: a version is
 * one content for good, in place and as a copy. The same again changes
 * nothing. */
enum status ledger_seal_put(struct ledger *l, const struct ledger_seal *s,
                            struct err *err) WARN_UNUSED;
/* By name (version not empty), else the newest valid explicit one of the
 * source. *out_found: is there one? */
enum status ledger_seal_get(struct ledger *l, struct arena *a,
                            struct str dataset, struct str source,
                            struct str version, struct ledger_seal *out,
                            bool *out_found, struct err *err) WARN_UNUSED;
/* By content and what was checked on it: the newest, explicit ones first. */
enum status ledger_seal_find(struct ledger *l, struct arena *a,
                             struct str dataset, struct str source,
                             struct str fingerprint, struct str constraints,
                             struct ledger_seal *out, bool *out_found,
                             struct err *err) WARN_UNUSED;

/* Which engine counts all questions on a version, with so much memory. */
struct ledger_engine {
    struct str dataset, source, version, memory;
    bool sql;      /* what it would be now */
    bool believed; /* decided by what the catalogue believes of private rows */
};
enum status ledger_engine_get(struct ledger *l, const struct ledger_engine *e,
                              bool *found, bool *sql,
                              struct err *err) WARN_UNUSED;
/* Puts e->sql down if nothing is there; *sql: what is there now. PRIVACY: one
 * that was believed books a bit. */
enum status ledger_engine_put(struct ledger *l, const struct ledger_engine *e,
                              bool *sql, struct err *err) WARN_UNUSED;

/* --- balances ------------------------------------------------------------- */

struct ledger_balance {
    enum composition composition;
    mpq_t epsilon_total, delta_total;
    mpq_t epsilon_spent, delta_spent; /* held and committed */
    mpq_t rho_spent;                  /* ZCDP only */
    uint64_t n_held, n_committed;     /* by ledger_count */
    bool capped; /* the analyst has a cap of their own, and it is this */
};
void balance_init(struct ledger_balance *b);
void balance_fini(struct ledger_balance *b);

/* The budget of the dataset, or the analyst's cap where one was granted and
 * analyst is not empty. E_NAME if there is no such dataset. */
enum status ledger_balance(struct ledger *l, struct str dataset,
                           struct str analyst, struct ledger_balance *out,
                           struct err *err) WARN_UNUSED;
/* Adds the numbers of charges to what ledger_balance filled; reads them all. */
enum status ledger_count(struct ledger *l, struct str dataset,
                         struct str analyst, struct ledger_balance *out,
                         struct err *err) WARN_UNUSED;
/* Owner: adds to the total of a dataset (analyst empty; made if new), or to
 * the cap of an analyst in it (made if new: from then on the analyst can
 * spend no more than that, and never more than the dataset has). */
enum status ledger_grant(struct ledger *l, struct str dataset,
                         struct str analyst, mpq_srcptr epsilon,
                         mpq_srcptr delta, struct err *err) WARN_UNUSED;

struct ledger_entry {
    uint64_t id, hold;
    struct str receipt, dataset, analyst, query, mechanism, version, sql;
    struct str epsilon, delta, rho; /* exact texts */
    struct str state;               /* held, committed, locked, void */
    bool committed;
    struct str held_at, committed_at; /* UTC, ISO 8601 */
    struct str answer;                /* JSON; empty while held */
};
/* Calls `each` for every charge of the dataset (all datasets if p is NULL),
 * oldest first. Slices live until `each` returns. */
enum status ledger_history(struct ledger *l, struct str dataset,
                           enum status (*each)(void *ctx,
                                               const struct ledger_entry *e,
                                               struct err *err),
                           void *ctx, struct err *err) WARN_UNUSED;
/* Checks the invariants on the whole file, and the chain. */
enum status ledger_verify(struct ledger *l, struct err *err) WARN_UNUSED;
/* E_ROLLBACK unless the chain passes through this head. */
enum status ledger_verify_head(struct ledger *l, const struct ledger_head *h,
                               struct err *err) WARN_UNUSED;
/* Reads "12:9f86d0..."; E_VALUE. */
enum status ledger_head_read(struct str text, struct ledger_head *out,
                             struct err *err) WARN_UNUSED;

/* epsilon such that rho-zCDP implies (epsilon, delta)-DP, rounded up;
 * 0 < delta < 1. */
void compose_rho_to_epsilon(mpq_srcptr rho, mpq_srcptr delta, mpq_t out);

#endif
