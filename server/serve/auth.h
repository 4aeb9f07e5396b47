/*
 * The process that knows verifiers. It signs people in, hands each signed-in
 * connection a channel to its data set (which then knows who asks, because it
 * is that channel), and passes requests to cancel on to the right connection.
 */
#ifndef SERVE_AUTH_H
#define SERVE_AUTH_H

#include "serve/conf.h"

/* Never returns. `control` leads to the supervisor. */
_Noreturn void auth_run(struct conf *c, int control);

#endif
