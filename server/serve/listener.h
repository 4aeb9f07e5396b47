/*
 * The process that accepts connections: counts them, forks a front for each.
 * It reads nothing of what clients send.
 */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include "serve/conf.h"

/* Never returns. `sockets` are the listening ones. */
_Noreturn void listener_run(struct conf *c, const int *sockets, size_t n,
                            int control);

#endif
