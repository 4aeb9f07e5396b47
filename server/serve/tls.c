/* TLS: see tls.h. */
#include "serve/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "serve/proc.h"

struct tls;      /* is an SSL_CTX */
struct tls_conn; /* is an SSL */

static SSL_CTX *ctx_of(struct tls *t)
{
    return (SSL_CTX *)t;
}

static SSL *ssl_of(const struct tls_conn *c)
{
    return (SSL *)(size_t)c;
}

/* A client that names protocols must name ours. */
static int choose_alpn(SSL *s, const unsigned char **out, unsigned char *n_out,
                       const unsigned char *in, unsigned n_in, void *ctx)
{
    static const unsigned char ours[] = "\012postgresql";
    unsigned char *found = NULL;
    (void)s;
    (void)ctx;
    if (SSL_select_next_proto(&found, n_out, ours, sizeof ours - 1, in, n_in) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = found;
    return SSL_TLSEXT_ERR_OK;
}

struct tls *tls_open(const char *certificate, const char *key,
                     const char *minimum, char *why, size_t size)
{
    SSL_CTX *x = SSL_CTX_new(TLS_server_method());
    bool newest = minimum && !strcmp(minimum, "1.3");
    bool ok = x &&
              SSL_CTX_set_min_proto_version(x, newest ? TLS1_3_VERSION
                                                      : TLS1_2_VERSION) == 1 &&
              SSL_CTX_use_certificate_chain_file(x, certificate) == 1 &&
              SSL_CTX_use_PrivateKey_file(x, key, SSL_FILETYPE_PEM) == 1 &&
              SSL_CTX_check_private_key(x) == 1;
    if (!ok) {
        snprintf(why, size, "%.100s: %.100s", certificate,
                 ERR_reason_error_string(ERR_peek_last_error()) ?: "no TLS");
        ERR_clear_error();
        SSL_CTX_free(x);
        return NULL;
    }
    SSL_CTX_set_options(x, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                               SSL_OP_NO_COMPRESSION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(x, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(x, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(x, choose_alpn, NULL);
    return (struct tls *)x;
}

void tls_close(struct tls *t)
{
    SSL_CTX_free(ctx_of(t));
}

static bool alpn_named(SSL *s)
{
    const unsigned char *p;
    unsigned n;
    SSL_get0_alpn_selected(s, &p, &n);
    return n > 0;
}

struct tls_conn *tls_accept(struct tls *t, int fd, int ms, bool direct)
{
    long end = proc_now_ms() + ms;
    SSL *s = SSL_new(ctx_of(t));
    if (!s || SSL_set_fd(s, fd) != 1) {
        SSL_free(s);
        return NULL;
    }
    for (;;) {
        int got = SSL_accept(s), what = SSL_get_error(s, got);
        long left = end - proc_now_ms();
        struct pollfd p = {.fd = fd,
                           .events =
                               what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};
        if (got == 1 && (!direct || alpn_named(s)))
            return (struct tls_conn *)s;
        if ((what != SSL_ERROR_WANT_READ && what != SSL_ERROR_WANT_WRITE) ||
            left <= 0 || poll(&p, 1, (int)left) <= 0) {
            ERR_clear_error();
            SSL_free(s);
            return NULL;
        }
    }
}

void tls_conn_close(struct tls_conn *c)
{
    if (!c)
        return;
    SSL_shutdown(ssl_of(c));
    SSL_free(ssl_of(c));
}

static ssize_t outcome(SSL *s, int got, bool *want_write)
{
    int what = SSL_get_error(s, got);
    *want_write = what == SSL_ERROR_WANT_WRITE;
    ERR_clear_error();
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    errno = ECONNRESET;
    return what == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

ssize_t tls_read(struct tls_conn *c, void *p, size_t n, bool *want_write)
{
    int got = SSL_read(ssl_of(c), p, n > INT_MAX ? INT_MAX : (int)n);
    return got > 0 ? got : outcome(ssl_of(c), got, want_write);
}

ssize_t tls_write(struct tls_conn *c, const void *p, size_t n, bool *want_write)
{
    int got = SSL_write(ssl_of(c), p, n > INT_MAX ? INT_MAX : (int)n);
    return got > 0 ? got : outcome(ssl_of(c), got, want_write);
}
