/* Channels between processes: see ipc.h. */
#include "serve/ipc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 5 };

bool ipc_pair(int out[2])
{
    return !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out);
}

void ipc_init(struct ipc *c, int fd, size_t most)
{
    *c = (struct ipc){.fd = fd, .most = most, .give = -1};
    wire_out_init(&c->out, IPC_REPLY_MOST + 1024);
}

void ipc_fini(struct ipc *c)
{
    if (c->fd >= 0)
        close(c->fd);
    for (size_t i = 0; i < c->n_fds; i++)
        close(c->fds[i]);
    if (c->in)
        explicit_bzero(c->in, c->cap_in);
    free(c->in);
    wire_out_fini(&c->out);
    *c = (struct ipc){.fd = -1, .give = -1, .closed = true};
}

/* --- in --------------------------------------------------------------------
 */

static size_t need(const struct ipc *c)
{
    if (c->n_in - c->taken < HEADER)
        return HEADER;
    const unsigned char *p = c->in + c->taken;
    return 1 +
           ((size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4]);
}

static bool room(struct ipc *c)
{
    if (c->taken) {
        memmove(c->in, c->in + c->taken, c->n_in - c->taken);
        c->n_in -= c->taken;
        c->taken = 0;
    }
    size_t want = need(c);
    if (want < HEADER || want > c->most)
        return false;
    want = want < 4096 ? 4096 : want;
    if (want <= c->cap_in)
        return true;
    unsigned char *p = realloc(c->in, want);
    if (!p)
        return false;
    c->in = p;
    c->cap_in = want;
    return true;
}

static void take_fds(struct ipc *c, struct msghdr *m)
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
        int fd;
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof fd;
        for (size_t i = 0; i < n; i++) {
            memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
            if (c->n_fds < IPC_FDS)
                c->fds[c->n_fds++] = fd;
            else
                close(fd);
        }
    }
}

bool ipc_fill(struct ipc *c)
{
    char control[CMSG_SPACE(sizeof(int) * IPC_FDS)];
    if (c->closed || !room(c)) {
        c->closed = true;
        return false;
    }
    if (c->n_in == c->cap_in)
        return true; /* a whole message waits */
    struct iovec v = {c->in + c->n_in, c->cap_in - c->n_in};
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        c->closed = true;
        return false;
    }
    take_fds(c, &m);
    c->n_in += (size_t)n;
    return true;
}

bool ipc_next(struct ipc *c, char *type, struct wire_in *in)
{
    if (c->n_in - c->taken < HEADER)
        return false;
    size_t n = need(c);
    if (n < HEADER || n > c->most) {
        c->closed = true;
        return false;
    }
    if (c->n_in - c->taken < n)
        return false;
    *type = (char)c->in[c->taken];
    *in = wire_in_of(c->in + c->taken + HEADER, n - HEADER);
    c->taken += n;
    return true;
}

int ipc_take_fd(struct ipc *c)
{
    if (!c->n_fds)
        return -1;
    int fd = c->fds[0];
    memmove(c->fds, c->fds + 1, --c->n_fds * sizeof *c->fds);
    return fd;
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool ipc_wait(struct ipc *c, int ms, char *type, struct wire_in *in)
{
    long end = ms < 0 ? 0 : now_ms() + ms;
    while (!ipc_next(c, type, in)) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        long left = ms < 0 ? -1 : end - now_ms();
        if (c->closed || (ms >= 0 && left < 0))
            return false;
        int n = poll(&p, 1, (int)left);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && !ipc_fill(c) && !ipc_next(c, type, in))
            return false;
    }
    return true;
}

/* --- out -------------------------------------------------------------------
 */

void ipc_begin(struct ipc *c, char type)
{
    if (c->sent == c->out.n)
        c->sent = c->out.n = 0;
    wire_begin(&c->out, type);
}

void ipc_end(struct ipc *c)
{
    wire_end(&c->out);
    if (c->out.failed)
        c->closed = true;
    ipc_flush(c);
}

static ssize_t send_some(struct ipc *c)
{
    struct iovec v = {c->out.p + c->sent, c->out.n - c->sent};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (c->give >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(h), &c->give, sizeof(int));
    }
    return sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void ipc_flush(struct ipc *c)
{
    while (!c->closed && c->sent < c->out.n) {
        ssize_t n = send_some(c);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            c->closed = true;
            return;
        }
        c->sent += (size_t)n;
        if (c->give >= 0) {
            close(c->give);
            c->give = -1;
        }
    }
}

bool ipc_waits(const struct ipc *c)
{
    return !c->closed && c->sent < c->out.n;
}

bool ipc_flush_all(struct ipc *c)
{
    ipc_flush(c);
    while (ipc_waits(c)) {
        struct pollfd p = {.fd = c->fd, .events = POLLOUT};
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return false;
        ipc_flush(c);
    }
    return !c->closed;
}

/* What came before goes first, so that the descriptor comes with its message
 * and not with an earlier one. */
bool ipc_end_with(struct ipc *c, int fd)
{
    size_t start = c->out.start - 1, n = c->out.n - start;
    wire_end(&c->out);
    if (c->out.failed || c->closed) {
        close(fd);
        c->closed = true;
        return false;
    }
    c->out.n = start;
    bool ok = ipc_flush_all(c);
    c->out.n = start + n;
    c->give = fd;
    ok = ok && ipc_flush_all(c);
    if (c->give >= 0) {
        close(c->give);
        c->give = -1;
    }
    return ok;
}
