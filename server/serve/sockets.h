/* The sockets that the service listens on: its own, or systemd's. */
#ifndef SERVE_SOCKETS_H
#define SERVE_SOCKETS_H

#include "serve/conf.h"

/* One for each entry of `listen` of PostgreSQL's protocol (http = false) or of
 * HTTP. Returns how many, or -1 and a problem. */
int sockets_open(const struct conf *c, bool http, int *out, size_t most,
                 struct conf_problem *bad);
void sockets_remove(const struct conf *c); /* the files of unix sockets */
/* Tells systemd, if it started us. */
void sockets_notify(const char *what);

#endif
