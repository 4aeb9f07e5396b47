/* Inside the ledger: the order in which holds end (queue.c). */
#ifndef LEDGER_QUEUE_H
#define LEDGER_QUEUE_H

#include "base/vec.h"
#include "ledger/db.h"

#define QUEUE_FIRST                                                            \
    "SELECT min(number) FROM hold WHERE dataset = ? AND state = 'open'"

/* Why a hold is locked that nobody works on. */
#define QUEUE_GONE "the process that worked on it ended"

/* The error E_LOCKED. */
enum status queue_refuse(struct err *err);
enum status queue_locked(struct ledger *l, struct str dataset,
                         struct err *err) WARN_UNUSED;
/* Within a transaction: this hold failed. */
enum status queue_lock(struct ledger *l, struct str dataset, int64_t number,
                       struct str reason, struct err *err) WARN_UNUSED;
/* What locks the data set as soon as somebody opens the ledger to write: the
 * first open hold, if its process is gone; 0: nothing. */
enum status queue_gone(struct ledger *l, struct str dataset, int64_t *out,
                       struct err *err) WARN_UNUSED;
/* Locks the first hold of each data set if its process is gone. */
enum status queue_sweep(struct ledger *l, struct err *err) WARN_UNUSED;
/* May this hold end now? */
enum status queue_turn(struct ledger *l, struct str dataset, int64_t number,
                       bool *out, struct err *err) WARN_UNUSED;
enum status queue_wait(struct ledger *l, struct str dataset, int64_t number,
                       struct err *err) WARN_UNUSED;

#endif
