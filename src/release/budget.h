/* What the commands of the ledger share. */
#ifndef RELEASE_BUDGET_H
#define RELEASE_BUDGET_H

#include "release/answer.h"

enum status budget_open(struct session *s, bool read_only, struct ledger **out,
                        struct err *err) WARN_UNUSED;
/* Verifies and tells what is spent and what remains (budget_show.c). */
enum status budget_balance(struct session *s, struct ledger *l,
                           struct result *out, struct err *err) WARN_UNUSED;

#endif
