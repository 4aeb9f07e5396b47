/*
 * Accepts HTTP connections: see http.h. Knows the certificate and nothing of
 * what clients say.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http/http.h"
#include "http/http_int.h"
#include "http/mhd_lib.h"
#include "serve/proc.h"

enum { PEM_MOST = 1 << 20 };

struct http_listener {
    struct conf *conf;
    struct ipc control, auth;
    bool has_auth, draining;
    char *certificate, *key;
    const int *sockets;
    size_t n_sockets;
    unsigned running;
    uint32_t next;
};

/* --- one connection
 * --------------------------------------------------------------------- */

static void address_of(int fd, char *out, size_t size)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    char host[INET6_ADDRSTRLEN] = "";
    getpeername(fd, (struct sockaddr *)&a, &n);
    if (a.ss_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, host,
                  sizeof host);
    else if (a.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, host,
                  sizeof host);
    snprintf(out, size, "%s", host);
}

static bool introduce(struct http_listener *l, uint32_t pid,
                      const char *address, int end)
{
    ipc_begin(&l->auth, IPC_CLIENT);
    wire_put32(&l->auth.out, pid);
    wire_put32(&l->auth.out, 0);
    wire_put8(&l->auth.out, 0);
    wire_put32(&l->auth.out, (uint32_t)-1);
    wire_put_text(&l->auth.out, address);
    return ipc_end_with(&l->auth, end);
}

static void start_front(struct http_listener *l, int fd)
{
    char address[64];
    int ends[2], one = 1;
    pid_t pid;
    address_of(fd, address, sizeof address);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!ipc_pair(ends))
        return;
    pid = proc_fork("dpcount-http");
    if (!pid) {
        const int keep[] = {fd, ends[0]};
        struct http_connection c = {.fd = fd,
                                    .auth = ends[0],
                                    .tls = l->key != NULL,
                                    .certificate = l->certificate,
                                    .key = l->key,
                                    .minimum = l->conf->tls_minimum};
        close(ends[1]);
        proc_keep_only(keep, 2);
        http_front(&c);
    }
    close(ends[0]);
    if (pid > 0 && introduce(l, ++l->next & 0x7fffffff, address, ends[1]))
        l->running++;
}

static void accept_one(struct http_listener *l, int socket)
{
    int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (l->running < l->conf->connections && l->has_auth && !l->auth.closed)
        start_front(l, fd);
    close(fd);
}

/* --- control
 * -----------------------------------------------------------------------------
 */

static char *pem(const char *file)
{
    FILE *f = file ? fopen(file, "re") : NULL;
    char *text = f ? calloc(1, PEM_MOST) : NULL;
    size_t n = text ? fread(text, 1, PEM_MOST - 1, f) : 0;
    if (f)
        fclose(f);
    if (!n) {
        free(text);
        return NULL;
    }
    return text;
}

static bool read_certificate(struct http_listener *l)
{
    char *certificate, *key;
    if (!l->conf->tls_certificate)
        return true;
    certificate = pem(l->conf->tls_certificate);
    key = pem(l->conf->tls_key);
    if (!certificate || !key) {
        free(certificate);
        free(key);
        return false;
    }
    free(l->certificate);
    if (l->key)
        explicit_bzero(l->key, PEM_MOST);
    free(l->key);
    l->certificate = certificate;
    l->key = key;
    return true;
}

static void control(struct http_listener *l)
{
    char type;
    struct wire_in in;
    if (!ipc_fill(&l->control))
        _exit(0);
    while (ipc_next(&l->control, &type, &in)) {
        if (type == IPC_PEER) {
            int fd = ipc_take_fd(&l->control);
            if (fd < 0)
                continue;
            if (l->has_auth)
                ipc_fini(&l->auth);
            ipc_init(&l->auth, fd, 4096);
            l->has_auth = true;
        } else if (type == IPC_RELOAD) {
            conf_follow(&l->conf, wire_get_text(&in));
            if (!read_certificate(l))
                proc_log("tls", "problem", "could not read the certificate",
                         NULL);
        } else if (type == IPC_DRAIN) {
            l->draining = true;
        }
    }
}

static void reap(struct http_listener *l)
{
    int status;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        l->running -= l->running > 0;
        if (WIFSIGNALED(status))
            proc_log("http-killed", "#signal", (int64_t)WTERMSIG(status), NULL);
    }
}

static void serve_once(struct http_listener *l, struct pollfd *p)
{
    size_t n = 0;
    int got;
    p[n++] = (struct pollfd){.fd = l->control.fd, .events = POLLIN};
    for (size_t i = 0; i < l->n_sockets; i++)
        p[n++] = (struct pollfd){.fd = l->draining ? -1 : l->sockets[i],
                                 .events = POLLIN};
    got = poll(p, (nfds_t)n, 200);
    reap(l);
    if (l->draining && !l->running)
        _exit(0);
    if (got <= 0)
        return;
    for (size_t i = 1; i < n; i++)
        if (p[i].revents)
            accept_one(l, l->sockets[i - 1]);
    if (p[0].revents)
        control(l);
}

static void on_child(int signal)
{
    (void)signal; /* ends the poll */
}

_Noreturn void http_run(struct conf *c, const int *sockets, size_t n, int fd)
{
    static struct http_listener l;
    struct pollfd *p = calloc(n + 1, sizeof *p);
    struct sigaction act = {.sa_handler = on_child};
    l = (struct http_listener){.conf = c, .sockets = sockets, .n_sockets = n};
    ipc_init(&l.control, fd, CONF_FILE_MOST + 4096);
    sigaction(SIGCHLD, &act, NULL);
    if (!p || !mhd_lib_open() || !read_certificate(&l))
        _exit(1);
    conf_forget(c);
    for (;;)
        serve_once(&l, p);
}
