/*
 * The service over HTTP: the console's files and a JSON API. One process
 * accepts; every connection is a process of its own, like those of the
 * PostgreSQL protocol: it has no rows, no ledger and no verifiers, and cannot
 * open files or connections. libmicrohttpd reads the requests and speaks TLS.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "serve/conf.h"

/* Never returns. `control` leads to the supervisor. */
_Noreturn void http_run(struct conf *c, const int *sockets, size_t n,
                        int control);

#endif
