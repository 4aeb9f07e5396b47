/*
 * The desk of a data set: takes questions from signed-in connections, looks
 * into the ledger for stored answers, and gives seats to those that are new.
 * It has neither rows nor passwords of analysts.
 */
#ifndef SERVE_DESK_H
#define SERVE_DESK_H

#include "serve/conf.h"

/* Never returns. `cpus`: processors that the seats have to themselves, one
 * each; NULL: they share. */
_Noreturn void desk_run(struct conf *c, const struct conf_dataset *d,
                        const int *cpus, int control);

#endif
