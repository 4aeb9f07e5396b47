/*
 * A process that asks the library one question after the other for its desk.
 * It never has a private row: the library reads those in processes of their
 * own. Some clerks have a seat (a worker's processors, a moment of reply), the
 * others look into the ledger: stored answers, budgets, histories.
 */
#ifndef SERVE_CLERK_H
#define SERVE_CLERK_H

#include "dpcount.h"
#include "serve/conf.h"

enum clerk_job {
    CLERK_STORED = 1, /* only if it was paid for before */
    CLERK_RELEASE,
    CLERK_BUDGET,
    CLERK_HISTORY,
    CLERK_OWNER /* everybody's; the body is names of analysts */
};

/* The data set as its desk opens it: what is set up, not yet open. NULL and a
 * reason if something does not fit. */
dpc_dataset *clerk_dataset(const struct conf *c, const struct conf_dataset *d,
                           bool sealed, dpc_error **err);

/*
 * Before a data set is served: makes or binds its ledger, gives analysts their
 * caps, seals the version and writes its copy. Run in a process of its own;
 * returns its exit status. The reasons of a failure go to STATE/owner.log.
 */
int clerk_prepare(const struct conf *c, const struct conf_dataset *d);

/* --check-config: can the data set be opened, from its copy or its source?
 * Nothing is written, no row is read. */
bool clerk_check(const struct conf *c, const struct conf_dataset *d,
                 struct conf_problem *bad);

/* Never returns. Messages: u8 job, text analyst, caps (text total, text
 * per day), question; replies as of reply.h. */
_Noreturn void clerk_run(const dpc_dataset *d, int fd);

#endif
