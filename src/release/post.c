/* A process that answers requests: see post.h. */
#include "release/post.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TENTH = 100,
    MOST_REQUEST = 256 << 20,
    PATIENCE = 10,
    HELPERS_MOST = 64 /* that stay; more at once answer once each */
};

/* --- descriptors through sockets ------------------------------------------ */

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* One byte, and a descriptor with it unless it is negative. */
static bool give(int socket, int fd)
{
    char byte = 'd';
    union control c;
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    memset(&c, 0, sizeof c);
    if (fd >= 0) {
        m.msg_control = &c;
        m.msg_controllen = sizeof c.bytes;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* The same; *fd is -1 if none came. False: the other side is gone. */
static bool take(int socket, int *fd)
{
    char byte;
    union control c;
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = &c,
                       .msg_controllen = sizeof c.bytes};
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        return false;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(h), sizeof *fd);
    return true;
}

/* --- the server ----------------------------------------------------------- */

static bool read_exactly(int fd, void *p, size_t n)
{
    while (n) {
        ssize_t r = read(fd, p, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return false;
        p = (char *)p + r;
        n -= (size_t)r;
    }
    return true;
}

/* Whoever asks writes at once; one that does not is not waited for long. */
static bool read_request(int asker, struct arena *a, struct str *out)
{
    uint64_t n = 0;
    const struct timeval patience = {.tv_sec = PATIENCE};
    setsockopt(asker, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (!read_exactly(asker, &n, sizeof n) || n > MOST_REQUEST)
        return false;
    char *p = arena_alloc(a, (size_t)n + 1);
    *out = (struct str){p, (size_t)n};
    return p && read_exactly(asker, p, (size_t)n);
}

struct answering {
    const struct post_server *server;
    struct arena *a;
    struct str request;
    int asker;
};

static enum status answer(void *ctx, struct str *out, struct err *err)
{
    struct answering *x = ctx;
    /* first of all, so that it comes before the frame */
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    give(x->asker, self);
    if (self >= 0)
        close(self);
    return x->server->answer(x->server->ctx, x->a, x->request, x->asker, out,
                             err);
}

/* PRIVACY: who asks decides on which processors work is done, so that a service
 * can keep what depends on rows off those that others share. A server has one
 * thread, and what it starts inherits them. */
static void work_where(int asker)
{
    struct ucred who;
    socklen_t n = sizeof who;
    cpu_set_t set;
    if (!getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &who, &n) &&
        !sched_getaffinity(who.pid, sizeof set, &set))
        (void)!sched_setaffinity(0, sizeof set, &set); /* gone: as before */
}

/* In a child that ends with its answer. */
static void serve_once(const struct post_server *s, int asker)
{
    struct mem mem;
    struct arena a;
    struct answering x = {.server = s, .a = &a, .asker = asker};
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    a.wipe = true;
    work_where(asker);
    if (read_request(asker, &a, &x.request)) {
        struct child_limits l = {0};
        if (s->limits)
            l = s->limits(s->ctx, x.request);
        l.keep = s->keep;
        l.n_keep = s->n_keep;
        if (s->prepare)
            (void)s->prepare(s->ctx, x.request);
        (void)child_start(asker, &l, answer, &x); /* none: no answer */
    }
    arena_fini(&a);
}

/* --- children that stay --------------------------------------------------- */

struct helper {
    int fd; /* askers go there, a byte comes back when it is idle */
    bool busy;
    bool past; /* it has what is of the past, and is not asked again */
};

struct helpers {
    struct helper list[HELPERS_MOST];
    size_t n;
};

/* In the child. It has others to answer, so nobody gets a descriptor by which
 * it could be ended. */
static void answer_one(const struct post_server *s, int asker)
{
    struct mem mem;
    struct arena a;
    struct str request, message = {0};
    struct err why;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    a.wipe = true;
    err_clear(&why);
    work_where(asker);
    if (read_request(asker, &a, &request) && give(asker, -1)) {
        enum status st = s->answer(s->ctx, &a, request, asker, &message, &why);
        child_say(asker, st, message, &why);
    }
    arena_fini(&a);
}

/* In the child, as long as the server gives it askers. */
static enum status answer_many(void *ctx, struct str *out, struct err *err)
{
    const struct answering *x = ctx;
    int asker;
    (void)err;
    *out = STR("");
    unsigned most = x->server->answers;
    for (unsigned i = 0; i < most && take(x->asker, &asker); i++) {
        if (asker < 0)
            continue;
        prctl(PR_SET_NAME, x->server->name);
        answer_one(x->server, asker);
        close(asker);
        prctl(PR_SET_NAME, "dpcount-idle"); /* whatever its processors are */
        if (i + 1 == most || !give(x->asker, -1))
            break; /* unless it says that it is idle it is given nothing */
    }
    child_exit();
}

static void end_helper(struct helpers *all, struct helper *h)
{
    close(h->fd);
    *h = all->list[--all->n];
}

static struct helper *start_helper(const struct post_server *s,
                                   struct helpers *all)
{
    int ends[2];
    struct answering x = {.server = s};
    struct child_limits l = {
        .keep = s->keep, .n_keep = s->n_keep, .detached = true};
    if (all->n == HELPERS_MOST ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    x.asker = ends[1];
    int pid = child_start(ends[1], &l, answer_many, &x);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return NULL;
    }
    all->list[all->n] = (struct helper){.fd = ends[0]};
    return &all->list[all->n++];
}

/* Those that wait for the next request; the others end when they are idle. */
static void forget_helpers(struct helpers *all)
{
    for (size_t i = all->n; i-- > 0;) {
        all->list[i].past = true;
        if (!all->list[i].busy)
            end_helper(all, &all->list[i]);
    }
}

static bool hand_over(struct helper *h, int asker)
{
    h->busy = give(h->fd, asker);
    return h->busy;
}

static void serve_staying(const struct post_server *s, struct helpers *all,
                          int asker)
{
    work_where(asker);
    if (s->prepare && !s->prepare(s->ctx, (struct str){0}))
        forget_helpers(all);
    for (size_t i = all->n; i-- > 0;) {
        struct helper *h = &all->list[i];
        if (!h->busy && hand_over(h, asker))
            return;
        if (!h->busy) /* it was killed */
            end_helper(all, h);
    }
    struct helper *h = start_helper(s, all);
    if (!h || !hand_over(h, asker))
        serve_once(s, asker);
}

static unsigned idle(const struct helpers *all)
{
    unsigned n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += !all->list[i].busy;
    return n;
}

/* It is idle, or it is gone. */
static void hear_helper(const struct post_server *s, struct helpers *all,
                        struct helper *h)
{
    int none;
    bool there = take(h->fd, &none);
    if (there && none >= 0)
        close(none);
    h->busy = false;
    if (!there || h->past || idle(all) > s->staying)
        end_helper(all, h);
}

/* --- its loop ------------------------------------------------------------- */

static void on_child(int number)
{
    (void)number; /* it ends the wait below, where children are collected */
}

/* A child that ends while nobody waits ends the next wait at once: the signal
 * is blocked outside of ppoll. */
static bool wait_some(struct pollfd *p, size_t n)
{
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (ppoll(p, (nfds_t)n, NULL, &none) >= 0)
            return true;
        if (errno != EINTR)
            return false;
    }
}

/* Waits for the next asker; what helpers say comes first, so that no request
 * goes to one that is gone. */
static bool wait_request(const struct post_server *s, struct helpers *all,
                         int control)
{
    struct pollfd p[HELPERS_MOST + 1];
    for (;;) {
        size_t n = all->n;
        for (size_t i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = all->list[i].fd, .events = POLLIN};
        p[n] = (struct pollfd){.fd = control, .events = POLLIN};
        if (!wait_some(p, n + 1))
            return false;
        for (size_t i = n; i-- > 0;)
            if (p[i].revents)
                hear_helper(s, all, &all->list[i]);
        if (p[n].revents)
            return true;
    }
}

static void settle(const struct post_server *s, int control)
{
    struct sigaction sa = {.sa_handler = on_child};
    sigset_t child;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&sa.sa_mask);
    sigaction(SIGCHLD, &sa, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    prctl(PR_SET_NAME, s->name);
    child_settle(control, s->keep, s->n_keep);
}

static void serve(const struct post_server *s, int control)
{
    struct helpers all = {0};
    int asker;
    settle(s, control);
    while (wait_request(s, &all, control) && take(control, &asker)) {
        if (asker < 0)
            continue;
        if (s->staying)
            serve_staying(s, &all, asker);
        else
            serve_once(s, asker);
        close(asker);
    }
    child_exit();
}

static enum status no_server(struct err *err)
{
    err_set(err, E_CHILD, "could not start a process: %s", strerror(errno));
    return E_CHILD;
}

/* Forked twice, so that it is nobody's child: who made it need not wait for
 * it, and a program that waits for all its children does not see it. */
enum status post_start(const struct post_server *s, int *out, struct err *err)
{
    int ends[2], status = 1;
    *out = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return no_server(err);
    pid_t child = fork();
    if (child == 0) {
        pid_t server = fork();
        if (server == 0)
            serve(s, ends[1]);
        _exit(server < 0);
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0 || status != 0) {
        close(ends[0]);
        return no_server(err);
    }
    *out = ends[0];
    return OK;
}

bool post_alive(int fd)
{
    struct pollfd p = {.fd = fd};
    return fd > 0 && poll(&p, 1, 0) >= 0 && !p.revents;
}

/* --- who asks ------------------------------------------------------------- */

/* Negative: the wait is over. */
static int pause_of(const struct child_limits *l)
{
    int pause = l->wait ? l->wait(l->ctx) : TENTH;
    return pause < TENTH ? pause : TENTH;
}

/* Its buffer may be full while the server is busy. False: gone, or no time. */
static bool send_all(int fd, const void *p, size_t n,
                     const struct child_limits *l)
{
    while (n) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (w > 0) {
            p = (const char *)p + w;
            n -= (size_t)w;
            continue;
        }
        if (w == 0 || (errno != EAGAIN && errno != EINTR))
            return false;
        struct pollfd out = {.fd = fd, .events = POLLOUT};
        int pause = pause_of(l);
        if (pause < 0)
            return false;
        poll(&out, 1, pause);
    }
    return true;
}

/* Waits for the child to be forked; false: there is none, or no time. */
static bool wait_start(int fd, const struct child_limits *l, int *child)
{
    for (;;) {
        struct pollfd in = {.fd = fd, .events = POLLIN};
        int pause = pause_of(l);
        if (pause < 0)
            return false;
        if (poll(&in, 1, pause) > 0)
            return take(fd, child);
    }
}

static enum status ask_over(int fd, struct arena *a, struct str request,
                            const struct child_limits *l, struct str *out,
                            struct err *err)
{
    uint64_t n = request.n;
    int child = -1;
    if (!send_all(fd, &n, sizeof n, l) ||
        !send_all(fd, request.p, request.n, l) || !wait_start(fd, l, &child)) {
        bool over = l->wait && l->wait(l->ctx) < 0;
        return over && l->detached
                   ? err_set(err, E_CANCELLED, "cancelled")
                   : err_set(err, E_CHILD, "the evaluation was not begun");
    }
    enum status s = child_listen(fd, child, a, l, out, err);
    if (child >= 0)
        close(child);
    return s;
}

enum status post_ask(int fd, struct arena *a, struct str request,
                     const struct child_limits *l, struct str *out,
                     struct err *err)
{
    int ends[2];
    *out = (struct str){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return no_server(err);
    bool given = give(fd, ends[1]);
    close(ends[1]);
    enum status s =
        given ? ask_over(ends[0], a, request, l, out, err)
              : err_set(err, E_CHILD, "the process for questions is gone");
    close(ends[0]);
    return s;
}
