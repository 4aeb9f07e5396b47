/*
 * The process of one connection: TLS, PostgreSQL's protocol, the catalogue,
 * quotes. It has the public snapshot of one data set, and nothing else: no
 * rows, no ledger, no verifiers, and after its first steps no right to open a
 * file, connect or start a program.
 */
#ifndef SERVE_FRONT_H
#define SERVE_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "serve/conf.h"
#include "serve/tls.h"

struct front_client {
    int fd, auth; /* of the client; to the process that signs in */
    uint32_t pid, key;
    bool local;
    uid_t uid;
    char address[64];
    struct tls *tls; /* NULL: none is offered */
    const struct conf *conf;
};

_Noreturn void front_run(const struct front_client *c);

#endif
