/*
 * The policy as the ledger keeps it: what prices add up for, and a canonical
 * text of all that the owner declared.
 */
#ifndef RELEASE_BINDING_H
#define RELEASE_BINDING_H

#include "ledger/ledger.h"
#include "release/prepare.h"

/* Of a schema that was read whole, before a query adds tables to it. Lives in
 * the arena of `p`. */
enum status binding_of(struct prepared *p, struct ledger_policy *out,
                       struct err *err) WARN_UNUSED;
/* The limits of the policy file. */
void binding_limits(const struct schema *s, struct ledger_limits *out);

#endif
