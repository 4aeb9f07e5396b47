/*
 * Allocation failure, swept: counts the allocations of a piece of work, then
 * runs it once for each with that one (and all after it) failing. Every failed
 * run must say E_NOMEM and leave nothing allocated. Works for whatever
 * allocates through struct mem and does so the same way each time.
 *
 *     static enum status work(struct mem *m, void *with, struct err *err);
 *     assert_true(oom_sweep(work, NULL) > 3);
 */
#ifndef HARNESS_OOM_H
#define HARNESS_OOM_H

#include "base/err.h"
#include "base/mem.h"

typedef enum status oom_work(struct mem *m, void *with, struct err *err);

/* Returns the number of allocations, or -1 after a message on standard error
 * when a run with a failure had another status than E_NOMEM or leaked. */
long oom_sweep(oom_work *work, void *with);

#endif
