/*
 * Accepting connections: see listener.h.
 *
 * Of all connections those that have signed in stay. When there are as many as
 * the configuration allows, a new one takes the place of one that has not: of
 * the oldest from the same address, or, if there is none, of the oldest. So
 * who opens hundreds and says nothing pushes out himself, and nobody waits for
 * the ten seconds that a sign-in may take.
 */
#include "serve/listener.h"

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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/front.h"
#include "serve/ipc.h"
#include "serve/proc.h"
#include "serve/tls.h"

enum { GUESTS_MOST = 12000 };

/* A connection, in the order in which they came. */
struct guest {
    pid_t process;
    uint32_t pid; /* as clients know it */
    bool known, leaving;
    char address[64];
};

struct listener {
    struct conf *conf;
    struct ipc control, auth;
    bool has_auth, draining;
    struct tls *tls;
    const int *sockets;
    size_t n_sockets;
    struct guest guests[GUESTS_MOST];
    size_t n_guests, n_leaving;
    uint32_t next_pid;
};

/* --- one connection ---------------------------------------------------------
 */

static void describe(int fd, struct front_client *out)
{
    struct sockaddr_storage a;
    struct ucred who;
    socklen_t n = sizeof a, n_who = sizeof who;
    char host[INET6_ADDRSTRLEN] = "";
    memset(&a, 0, sizeof a);
    getpeername(fd, (struct sockaddr *)&a, &n);
    if (a.ss_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, host,
                  sizeof host);
    else if (a.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, host,
                  sizeof host);
    out->local = a.ss_family == AF_UNIX;
    out->uid = (uid_t)-1;
    if (out->local && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n_who))
        out->uid = who.uid;
    if (out->local)
        snprintf(out->address, sizeof out->address, "local:%lu",
                 (unsigned long)out->uid);
    else
        snprintf(out->address, sizeof out->address, "%s", host);
}

static bool introduce(struct listener *l, const struct front_client *c, int end)
{
    ipc_begin(&l->auth, IPC_CLIENT);
    wire_put32(&l->auth.out, c->pid);
    wire_put32(&l->auth.out, c->key);
    wire_put8(&l->auth.out, c->local);
    wire_put32(&l->auth.out, (uint32_t)c->uid);
    wire_put_text(&l->auth.out, c->address);
    return ipc_end_with(&l->auth, end);
}

/* In the child: nothing is left of the listener but this connection. */
static _Noreturn void become_front(struct listener *l, struct front_client *c,
                                   int fd, int end)
{
    const int keep[] = {fd, end};
    proc_keep_only(keep, 2);
    c->fd = fd;
    c->auth = end;
    c->tls = l->tls;
    c->conf = l->conf;
    front_run(c);
}

static void too_many(int fd)
{
    struct wire_out out;
    struct wire_report r = {.severity = "FATAL",
                            .state = "53300",
                            .message = "too many connections"};
    wire_out_init(&out, 1024);
    wire_put_report(&out, &r);
    if (send(fd, out.p, out.n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        out.failed = true; /* it goes away anyway */
    wire_out_fini(&out);
}

static void add_guest(struct listener *l, pid_t process,
                      const struct front_client *c)
{
    struct guest *g = &l->guests[l->n_guests++];
    *g = (struct guest){.process = process, .pid = c->pid};
    memcpy(g->address, c->address, sizeof g->address);
}

/* Makes room for one from there; false: all have signed in. */
static bool push_out(struct listener *l, const char *address)
{
    struct guest *found = NULL;
    for (size_t i = 0; i < l->n_guests; i++) {
        struct guest *g = &l->guests[i];
        if (g->known || g->leaving)
            continue;
        bool same = !strcmp(g->address, address);
        if (!found || same)
            found = g;
        if (same)
            break;
    }
    if (!found)
        return false;
    kill(found->process, SIGKILL);
    found->leaving = true;
    l->n_leaving++;
    return true;
}

static bool has_room(struct listener *l, const char *address)
{
    if (l->n_guests == GUESTS_MOST)
        return false;
    return l->n_guests - l->n_leaving < l->conf->connections ||
           push_out(l, address);
}

static void start_front(struct listener *l, int fd)
{
    struct front_client c = {.pid = ++l->next_pid & 0x7fffffff};
    int ends[2], one = 1;
    describe(fd, &c);
    if (!has_room(l, c.address)) {
        too_many(fd);
        return;
    }
    if (!c.local)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!proc_random(&c.key, sizeof c.key) || !ipc_pair(ends))
        return;
    pid_t pid = proc_fork("dpcount-front");
    if (!pid) {
        close(ends[1]);
        become_front(l, &c, fd, ends[0]);
    }
    close(ends[0]);
    if (pid < 0)
        close(ends[1]);
    else
        add_guest(l, pid, &c);
    if (pid > 0 && !introduce(l, &c, ends[1]))
        kill(pid, SIGKILL);
}

static void accept_one(struct listener *l, int socket)
{
    int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (l->has_auth && !l->auth.closed)
        start_front(l, fd);
    close(fd);
}

/* --- control ----------------------------------------------------------------
 */

static void reload_tls(struct listener *l)
{
    char why[256];
    struct tls *t;
    if (!l->conf->tls_certificate)
        return;
    t = tls_open(l->conf->tls_certificate, l->conf->tls_key,
                 l->conf->tls_minimum, why, sizeof why);
    if (!t) {
        proc_log("tls", "problem", why, NULL);
        return;
    }
    tls_close(l->tls);
    l->tls = t;
}

static void take_auth(struct listener *l)
{
    int fd = ipc_take_fd(&l->control);
    if (fd < 0)
        return;
    if (l->has_auth)
        ipc_fini(&l->auth);
    ipc_init(&l->auth, fd, 4096);
    l->has_auth = true;
}

/* Connections that come from now on see the new limits and data sets. */
static void reload(struct listener *l, const char *text)
{
    conf_follow(&l->conf, text);
    reload_tls(l);
}

static void control(struct listener *l)
{
    char type;
    struct wire_in in;
    if (!ipc_fill(&l->control))
        _exit(0);
    while (ipc_next(&l->control, &type, &in)) {
        if (type == IPC_PEER)
            take_auth(l);
        else if (type == IPC_RELOAD)
            reload(l, wire_get_text(&in));
        else if (type == IPC_DRAIN)
            l->draining = true;
    }
}

/* Their order stays. */
static bool remove_guest(struct listener *l, pid_t process)
{
    size_t i = 0;
    while (i < l->n_guests && l->guests[i].process != process)
        i++;
    if (i == l->n_guests)
        return false;
    bool leaving = l->guests[i].leaving;
    l->n_leaving -= leaving;
    l->n_guests--;
    memmove(&l->guests[i], &l->guests[i + 1],
            (l->n_guests - i) * sizeof l->guests[i]);
    return leaving;
}

static void reap(struct listener *l)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        bool pushed = remove_guest(l, pid);
        if (WIFSIGNALED(status) && !pushed)
            proc_log("front-killed", "#signal", (int64_t)WTERMSIG(status),
                     NULL);
    }
}

/* Who has signed in. */
static void hear_auth(struct listener *l)
{
    char type;
    struct wire_in in;
    ipc_fill(&l->auth);
    while (ipc_next(&l->auth, &type, &in)) {
        uint32_t pid = type == IPC_KNOWN ? wire_get32(&in) : 0;
        for (size_t i = 0; pid && i < l->n_guests; i++)
            l->guests[i].known |= l->guests[i].pid == pid;
    }
}

static void serve_once(struct listener *l, struct pollfd *p)
{
    size_t n = 0;
    p[n++] = (struct pollfd){.fd = l->control.fd, .events = POLLIN};
    bool signs_in = l->has_auth && !l->auth.closed; /* else they wait */
    p[n++] =
        (struct pollfd){.fd = signs_in ? l->auth.fd : -1, .events = POLLIN};
    for (size_t i = 0; i < l->n_sockets; i++)
        p[n++] =
            (struct pollfd){.fd = l->draining || !signs_in ? -1 : l->sockets[i],
                            .events = POLLIN};
    int got = poll(p, (nfds_t)n, 200);
    reap(l);
    if (l->draining && !l->n_guests)
        _exit(0);
    if (got <= 0)
        return;
    if (p[1].revents)
        hear_auth(l);
    for (size_t i = 2; i < n; i++)
        if (p[i].revents)
            accept_one(l, l->sockets[i - 2]);
    if (p[0].revents)
        control(l);
}

static void on_child(int signal)
{
    (void)signal; /* ends the poll */
}

_Noreturn void listener_run(struct conf *c, const int *sockets, size_t n,
                            int fd)
{
    static struct listener l;
    struct pollfd *p = calloc(n + 2, sizeof *p);
    struct sigaction act = {.sa_handler = on_child};
    l = (struct listener){.conf = c, .sockets = sockets, .n_sockets = n};
    ipc_init(&l.control, fd, CONF_FILE_MOST + 4096);
    sigaction(SIGCHLD, &act, NULL);
    reload_tls(&l);
    conf_forget(c);
    if (!p || (c->tls_certificate && !l.tls))
        _exit(1);
    for (;;)
        serve_once(&l, p);
}
