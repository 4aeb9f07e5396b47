/*
 * The process of one HTTP connection. libmicrohttpd reads and writes it; an
 * answer may take as long as the data set's pace, and nobody else waits for
 * it. Whoever is slow to send a request is dropped, however they drip.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_int.h"
#include "http/mhd_lib.h"
#include "serve/front_int.h"
#include "serve/proc.h"

struct collected_body {
    unsigned char *p;
    size_t n, cap;
    bool too_large;
};

struct http_life {
    struct http_session session;
    bool tls, over;
    long deadline; /* for the request that comes */
};

/* --- headers
 * ------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *m, const char *name)
{
    const char *v = MHD_lookup_connection_value(m, MHD_HEADER_KIND, name);
    return v ? v : "";
}

static const char *argument(struct MHD_Connection *m, const char *name)
{
    const char *v = MHD_lookup_connection_value(m, MHD_GET_ARGUMENT_KIND, name);
    return v ? v : "";
}

static void add_headers(struct MHD_Response *p, const struct http_answer *a,
                        bool tls)
{
    static const char *const always[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src"
         " 'self'; img-src 'self'; base-uri 'none'; form-action 'none';"
         " frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"}};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(p, always[i][0], always[i][1]);
    if (tls)
        MHD_add_response_header(p, "Strict-Transport-Security",
                                "max-age=31536000");
    MHD_add_response_header(p, "Content-Type", a->type);
    MHD_add_response_header(p, "Cache-Control",
                            *a->etag ? "no-cache" : "no-store");
    if (*a->etag)
        MHD_add_response_header(p, "ETag", a->etag);
    if (*a->cookie)
        MHD_add_response_header(p, "Set-Cookie", a->cookie);
    if (a->status == 429 || a->status == 503)
        MHD_add_response_header(p, "Retry-After", "5");
}

/* --- answers
 * -------------------------------------------------------------------------- */

static enum MHD_Result reply(struct MHD_Connection *m, struct http_life *l,
                             struct http_answer *a)
{
    char *text = a->json ? json_dumps(a->json, JSON_COMPACT) : NULL;
    struct MHD_Response *p;
    enum MHD_Result r = MHD_NO;
    json_decref(a->json);
    if (!a->body && !text)
        return MHD_NO;
    p = text ? MHD_create_response_from_buffer(strlen(text), text,
                                               MHD_RESPMEM_MUST_FREE)
             : MHD_create_response_from_buffer(a->n_body,
                                               (void *)(uintptr_t)a->body,
                                               MHD_RESPMEM_PERSISTENT);
    if (!p) {
        free(text);
        return MHD_NO;
    }
    add_headers(p, a, l->tls);
    r = MHD_queue_response(m, a->status, p);
    MHD_destroy_response(p);
    l->deadline = proc_now_ms() + 1000L * HTTP_SECONDS_REQUEST;
    return r;
}

/* A question takes a minute of processor time at most. */
static void limit_time(void)
{
    struct rusage u;
    struct rlimit l;
    if (getrusage(RUSAGE_SELF, &u) || getrlimit(RLIMIT_CPU, &l))
        return;
    l.rlim_cur = (rlim_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 60;
    setrlimit(RLIMIT_CPU, &l);
}

static enum MHD_Result answer(struct MHD_Connection *m, struct http_life *l,
                              const char *path, const char *method,
                              const struct collected_body *b)
{
    struct http_request r = {.method = method,
                             .path = path,
                             .query_before = argument(m, "before"),
                             .query_limit = argument(m, "limit"),
                             .host = header(m, "Host"),
                             .origin = header(m, "Origin"),
                             .x_dpc = header(m, "X-DPC"),
                             .cookie = header(m, "Cookie"),
                             .authorization = header(m, "Authorization"),
                             .content_type = header(m, "Content-Type"),
                             .etag = header(m, "If-None-Match"),
                             .body = b->p ? b->p : (const unsigned char *)"",
                             .n_body = b->n,
                             .tls = l->tls};
    struct http_answer a = {.status = 500, .type = "application/json"};
    limit_time();
    if (b->too_large) {
        a.status = 413;
        a.json =
            http_error("too-large", "the request is too large", "", "", -1);
    } else if (strcmp(method, "GET") || !http_asset(&r, &a)) {
        http_api(&l->session, &r, &a);
    }
    return reply(m, l, &a);
}

static bool collect(struct collected_body *b, const char *data, size_t n)
{
    if (b->too_large || b->n + n > HTTP_BODY_MOST) {
        b->too_large = true;
        return true;
    }
    if (b->n + n > b->cap) {
        size_t cap = 2 * (b->n + n);
        unsigned char *p = realloc(b->p, cap);
        if (!p)
            return false;
        b->p = p;
        b->cap = cap;
    }
    memcpy(b->p + b->n, data, n);
    b->n += n;
    return true;
}

static enum MHD_Result handle(void *data, struct MHD_Connection *m,
                              const char *path, const char *method,
                              const char *version, const char *upload,
                              size_t *n_upload, void **own)
{
    struct collected_body *b = *own;
    (void)version;
    if (!b) {
        *own = calloc(1, sizeof *b);
        return *own ? MHD_YES : MHD_NO;
    }
    if (*n_upload) {
        bool good = collect(b, upload, *n_upload);
        *n_upload = 0;
        return good ? MHD_YES : MHD_NO;
    }
    return answer(m, data, path, method, b);
}

static void completed(void *data, struct MHD_Connection *m, void **own,
                      enum MHD_RequestTerminationCode how)
{
    struct collected_body *b = *own;
    (void)data, (void)m, (void)how;
    if (b && b->p)
        explicit_bzero(b->p, b->cap); /* a password may be in it */
    if (b)
        free(b->p);
    free(b);
    *own = NULL;
}

static void connection(void *data, struct MHD_Connection *m, void **own,
                       enum MHD_ConnectionNotificationCode what)
{
    struct http_life *l = data;
    (void)m, (void)own;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
        l->over = true;
}

/* --- the loop
 * ---------------------------------------------------------------------------
 */

static struct MHD_Daemon *start(struct http_life *l,
                                const struct http_connection *c)
{
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)c->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)c->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t)(c->minimum && !strcmp(c->minimum, "1.3")
                                 ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
                                 : "NORMAL:-VERS-ALL:+VERS-TLS1.3:"
                                   "+VERS-TLS1.2")},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET | (c->tls ? MHD_USE_TLS : 0), 0, NULL, NULL,
        handle, l, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(48 << 10),
        MHD_OPTION_CONNECTION_LIMIT, 1u, MHD_OPTION_NOTIFY_COMPLETED, completed,
        l, MHD_OPTION_NOTIFY_CONNECTION, connection, l, MHD_OPTION_ARRAY,
        c->tls ? tls : none, MHD_OPTION_END);
}

static bool turn(struct MHD_Daemon *d, int fd, long deadline)
{
    fd_set in, out, bad;
    MHD_socket most = 0;
    MHD_UNSIGNED_LONG_LONG ms = 0;
    long left = deadline - proc_now_ms();
    struct pollfd p = {.fd = fd};
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&bad);
    if (left <= 0 || MHD_get_fdset(d, &in, &out, &bad, &most) != MHD_YES)
        return false;
    if (MHD_get_timeout(d, &ms) == MHD_YES && (long)ms < left)
        left = (long)ms;
    p.events = (short)((FD_ISSET(fd, &in) ? POLLIN : 0) |
                       (FD_ISSET(fd, &out) ? POLLOUT : 0));
    if (poll(&p, 1, (int)left) < 0)
        return true;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&bad);
    if (p.revents & (POLLIN | POLLHUP | POLLERR))
        FD_SET(fd, &in);
    if (p.revents & POLLOUT)
        FD_SET(fd, &out);
    return MHD_run_from_select(d, &in, &out, &bad) == MHD_YES;
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit l = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &l);
#endif
}

_Noreturn void http_front(const struct http_connection *c)
{
    static struct http_life l;
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    struct MHD_Daemon *d;
    l.tls = c->tls;
    l.deadline = proc_now_ms() + 1000L * HTTP_SECONDS_REQUEST;
    ipc_init(&l.session.auth, c->auth, 256 << 10);
    signal(SIGPIPE, SIG_IGN);
    getpeername(c->fd, (struct sockaddr *)&a, &n);
    d = start(&l, c);
    limit_memory();
    if (!d ||
        MHD_add_connection(d, c->fd, (struct sockaddr *)&a, n) != MHD_YES ||
        !front_jail())
        _exit(1);
    while (!l.over && !l.session.broken && turn(d, c->fd, l.deadline))
        ;
    _exit(0);
}
