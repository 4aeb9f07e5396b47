/*
 * The ledger: what was spent, durably, before anything is drawn. A SQLite
 * file (WAL, synchronous=FULL), many processes at once. Amounts are exact
 * rationals kept as decimal or fraction texts; docs/ledger-format.md has the
 * tables, src/ledger/PROOF.md the argument.
 *
 * Life of a charge: hold (durable before the noise is drawn) -> commit with
 * the answer. A crash in between leaves the hold: budget wasted, never lost
 * track of. PRIVACY: nothing is drawn without a hold; a hold is never undone.
 *
 * Invariants, which every function keeps and ledger_verify checks:
 *  1. A charge is either held or committed; it never goes back or away.
 *  2. What a budget has spent is the sum of its charges, held ones included.
 *  3. After every transaction what is spent is at most the total.
 *  4. A receipt names one charge, and gets at most one answer.
 *  5. Nothing is decided by the clock: times are for the reader.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include <gmp.h>
#include "num/rat.h"

struct ledger;

/*
 * How the prices of a dataset add up.
 *   SUM   every charge is (epsilon, delta); both are added.
 *   ZCDP  every charge is rho (a pure one counts epsilon^2/2); the sum is
 *         converted to (epsilon, delta) with half of the total delta, and
 *         delta of single releases is paid from the other half.
 */
enum composition { COMPOSE_SUM, COMPOSE_ZCDP };

/* What a release costs. zCDP releases cost rho; the others epsilon, delta. */
struct price {
    mpq_t epsilon, delta, rho;
};
void price_init(struct price *p);
void price_fini(struct price *p);

struct ledger_request {
    struct str dataset; /* name of the budget; "" is the default one */
    struct str analyst; /* "" is nobody in particular */
    struct str query;   /* normalised text, for the history */
    struct str mechanism;
    struct str settings; /* all else that decides the answer's law */
    struct str version;  /* of the data, from public facts */
};

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

/* Creates the file (mode 0600) with a budget for dataset ""; fails if it
 * exists. All or nothing, also when killed. */
enum status ledger_create(const char *path, enum composition c,
                          mpq_srcptr epsilon, mpq_srcptr delta,
                          struct err *err) WARN_UNUSED;
/* E_LEDGER if it is missing, a symbolic link, writable by others, or not a
 * ledger; nothing is changed then. */
enum status ledger_open(struct mem *m, const char *path, struct ledger **out,
                        struct err *err) WARN_UNUSED;
void ledger_close(struct ledger *l); /* NULL allowed */

/* Would a hold succeed now? E_BUDGET as ledger_hold; changes nothing. */
enum status ledger_afford(struct ledger *l, const struct ledger_request *r,
                          const struct price *p, struct err *err) WARN_UNUSED;
/* Reserves the price, durably, or E_BUDGET with spent, asked and remaining
 * and nothing changed. The receipt (an id) lives in `a`. */
enum status ledger_hold(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct str *out_receipt, struct err *err) WARN_UNUSED;
/* Stores the answer (JSON text). Once per receipt. */
enum status ledger_commit(struct ledger *l, struct str receipt,
                          struct str answer, struct err *err) WARN_UNUSED;
/* The newest committed answer to the same request at the same price; p NULL
 * in *out_answer when there is none. */
enum status ledger_find(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct str *out_answer, struct str *out_receipt,
                        struct err *err) WARN_UNUSED;

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
    uint64_t id;
    struct str receipt, dataset, analyst, query, mechanism, version;
    struct str epsilon, delta, rho; /* exact texts */
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
/* Checks invariants 1 to 4 on the whole file. */
enum status ledger_verify(struct ledger *l, struct err *err) WARN_UNUSED;

/* epsilon such that rho-zCDP implies (epsilon, delta)-DP, rounded up;
 * 0 < delta < 1. */
void compose_rho_to_epsilon(mpq_srcptr rho, mpq_srcptr delta, mpq_t out);

#endif
