/*
 * The ledger: what was spent, durably, before anything is drawn. A SQLite
 * file (WAL, synchronous=FULL), many processes at once. Amounts are exact
 * rationals kept as decimal or fraction texts.
 *
 * Life of a charge: hold (durable before the noise is drawn) -> commit with
 * the answer. A crash in between leaves the hold: budget wasted, never lost
 * track of. PRIVACY: nothing is drawn without a hold; a hold is never undone.
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include <gmp.h>
#include "num/rat.h"

struct ledger;

/* What a release costs. zCDP releases cost rho; pure ones epsilon. */
struct price {
    mpq_t epsilon, delta, rho;
};
void price_init(struct price *p);
void price_fini(struct price *p);

struct ledger_request {
    struct str dataset; /* name of the budget; "" is the default one */
    struct str analyst;
    struct str query; /* normalised text, for the history */
    struct str mechanism;
    struct str version; /* of the data, from public facts */
};

struct ledger_balance {
    mpq_t epsilon_total, delta_total;
    mpq_t epsilon_spent, delta_spent; /* held and committed */
};
void balance_init(struct ledger_balance *b);
void balance_fini(struct ledger_balance *b);

/* Creates the file (mode 0600); fails if it exists. */
enum status ledger_create(const char *path, mpq_srcptr epsilon,
                          mpq_srcptr delta, struct err *err) WARN_UNUSED;
enum status ledger_open(const char *path, struct ledger **out,
                        struct err *err) WARN_UNUSED;
void ledger_close(struct ledger *l);
/* Reserves the price, durably, or E_BUDGET with spent, asked and remaining
 * and nothing changed. The receipt (an id) lives in `a`. */
enum status ledger_hold(struct ledger *l, struct arena *a,
                        const struct ledger_request *r, const struct price *p,
                        struct str *out_receipt, struct err *err) WARN_UNUSED;
/* Stores the answer (JSON text). Once per receipt. */
enum status ledger_commit(struct ledger *l, struct str receipt,
                          struct str answer, struct err *err) WARN_UNUSED;
enum status ledger_balance(struct ledger *l, struct str dataset,
                           struct str analyst, struct ledger_balance *out,
                           struct err *err) WARN_UNUSED;

#endif
