/*
 * The desk of a data set: takes questions from signed-in connections, looks
 * into the ledger for stored answers, and gives seats to those that are new.
 * It has neither rows nor passwords of analysts.
 */
#ifndef SERVE_DESK_H
#define SERVE_DESK_H

#include "serve/conf.h"

/* Never returns. `first_cpu`: the seats have this processor and those below
 * it, one each, to themselves; -1: they share. */
_Noreturn void desk_run(struct conf *c, const struct conf_dataset *d,
                        int first_cpu, int control);

#endif
