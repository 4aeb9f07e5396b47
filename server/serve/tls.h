/* TLS of a connection, by OpenSSL. */
#ifndef SERVE_TLS_H
#define SERVE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;      /* certificate and key */
struct tls_conn; /* of one connection */

/* NULL and a reason if certificate or key cannot be used. minimum: "1.2" (also
 * NULL) or "1.3". */
struct tls *tls_open(const char *certificate, const char *key,
                     const char *minimum, char *why, size_t size);
void tls_close(struct tls *t); /* NULL allowed */

/* The handshake, on a descriptor that does not block, within `ms`. `direct`:
 * without a request before it, which needs ALPN "postgresql". */
struct tls_conn *tls_accept(struct tls *t, int fd, int ms, bool direct);
void tls_conn_close(struct tls_conn *c); /* NULL allowed */
/* As read and write on a descriptor that does not block; -1 with EAGAIN:
 * wait until it is readable (or writable, if *want_write). */
ssize_t tls_read(struct tls_conn *c, void *p, size_t n, bool *want_write);
ssize_t tls_write(struct tls_conn *c, const void *p, size_t n,
                  bool *want_write);

#endif
