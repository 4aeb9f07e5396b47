/* Inside the ledger: a hold, as charge.c makes it and ending.c ends it. */
#ifndef LEDGER_CHARGE_H
#define LEDGER_CHARGE_H

#include "ledger/db.h"

struct ledger_hold {
    struct ledger *ledger;
    struct str dataset;
    int64_t number;
    struct str *receipts;
    size_t n;
    struct ledger_head head;
};

/* What makes two requests the same: parameters 1 to 10 of a statement. */
void charge_bind(sqlite3_stmt *st, struct arena *a,
                 const struct ledger_request *r, const struct price *p);

#endif
