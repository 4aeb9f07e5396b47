/* A front's bytes: the client, auth and the desk. See front_int.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "catalogue/catalogue.h"
#include "serve/front_int.h"
#include "serve/proc.h"

enum { HEADER = 5 };

_Noreturn void front_end(struct front *f)
{
    front_flush(f);
    tls_conn_close(f->tls);
    _exit(0);
}

/* --- out -------------------------------------------------------------------
 */

static ssize_t send_some(struct front *f, size_t from, bool *want_write)
{
    const unsigned char *p = f->out.p + from;
    size_t n = f->out.n - from;
    *want_write = true;
    if (f->tls)
        return tls_write(f->tls, p, n, want_write);
    return send(f->client->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A client that takes nothing for a minute is gone. */
void front_flush(struct front *f)
{
    size_t sent = 0;
    if (f->out.failed)
        _exit(1);
    while (sent < f->out.n) {
        bool want_write = true;
        ssize_t n = send_some(f, sent, &want_write);
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        struct pollfd p = {.fd = f->client->fd,
                           .events = want_write ? POLLOUT : POLLIN};
        if (n == 0 || (errno != EAGAIN && errno != EINTR) ||
            poll(&p, 1, 60000) <= 0)
            _exit(0);
    }
    f->out.n = 0;
}

void front_fatal(struct front *f, const char *state, const char *message)
{
    struct wire_report r = {
        .severity = "FATAL", .state = state, .message = message};
    wire_put_report(&f->out, &r);
    front_end(f);
}

/* --- in --------------------------------------------------------------------
 */

static bool room_for(struct front *f, size_t want)
{
    if (f->taken) {
        memmove(f->in, f->in + f->taken, f->n_in - f->taken);
        f->n_in -= f->taken;
        f->taken = 0;
    }
    if (want <= f->cap_in)
        return true;
    unsigned char *p = realloc(f->in, want);
    if (!p)
        return false;
    f->in = p;
    f->cap_in = want;
    return true;
}

/* Reads what is there into the free room. 1: something, 0: nothing now, -1:
 * gone. */
static int receive(struct front *f)
{
    bool want_write = false;
    size_t n = f->cap_in - f->n_in;
    if (!n)
        return 1;
    ssize_t got = f->tls
                      ? tls_read(f->tls, f->in + f->n_in, n, &want_write)
                      : recv(f->client->fd, f->in + f->n_in, n, MSG_DONTWAIT);
    if (got > 0) {
        f->n_in += (size_t)got;
        return 1;
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

static void channels(struct front *f);

/* Waits until the client has sent something; looks after the channels
 * meanwhile. */
static bool wait_client(struct front *f, long deadline)
{
    for (;;) {
        struct pollfd p[3] = {
            {.fd = f->client->fd, .events = POLLIN},
            {.fd = f->auth.closed ? -1 : f->auth.fd, .events = POLLIN},
            {.fd = f->desk.closed ? -1 : f->desk.fd, .events = POLLIN}};
        long left = deadline - proc_now_ms();
        if (left <= 0)
            return false;
        int n = poll(p, 3, left > 1000000 ? 1000000 : (int)left);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && (p[1].revents || p[2].revents) && f->session)
            channels(f);
        if (n > 0 && p[0].revents)
            return true;
    }
}

static bool need(struct front *f, size_t n, long deadline)
{
    while (f->n_in - f->taken < n) {
        if (!room_for(f, n > 4096 ? n : 4096))
            return false;
        int got = receive(f);
        if (got < 0 || (!got && !wait_client(f, deadline)))
            return false;
    }
    return true;
}

bool front_first_byte(struct front *f, long deadline, unsigned char *out)
{
    if (!wait_client(f, deadline))
        return false;
    return recv(f->client->fd, out, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

bool front_bytes(struct front *f, void *out, size_t n, long deadline)
{
    if (!need(f, n, deadline))
        return false;
    memcpy(out, f->in + f->taken, n);
    f->taken += n;
    return true;
}

bool front_nothing_waits(const struct front *f)
{
    return f->taken == f->n_in;
}

/* PRIVACY, safety: the length is looked at before memory is asked for. */
bool front_message(struct front *f, size_t most, long deadline, char *type,
                   struct wire_in *in)
{
    if (!need(f, HEADER, deadline))
        return false;
    const unsigned char *p = f->in + f->taken;
    size_t n =
        (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (n < 4 || n > most) {
        front_fatal(f, "08P01", "invalid message length");
        return false;
    }
    if (!need(f, n + 1, deadline))
        return false;
    p = f->in + f->taken;
    *type = (char)p[0];
    *in = wire_in_of(p + HEADER, n - 4);
    f->taken += n + 1;
    return true;
}

/* --- auth and the desk -------------------------------------------------------
 */

static void *map(int fd, size_t n)
{
    void *p = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

/* The snapshot is read and given back; the catalogue stays mapped. */
bool front_take_snapshot(struct front *f, struct wire_in *in)
{
    struct catalogue_error e;
    bool catalogue = wire_get8(in);
    size_t n = wire_get32(in);
    int fd = ipc_take_fd(&f->desk);
    void *p = fd >= 0 ? map(fd, n) : NULL;
    if (!p)
        return false;
    if (catalogue)
        return !f->catalogue &&
               catalogue_open(p, n, f->user, &f->catalogue, &e);
    bool ok =
        !f->snapshot && dpc_dataset_import(p, n, &f->snapshot, NULL) == DPC_OK;
    munmap(p, n);
    return ok;
}

static void auth_messages(struct front *f)
{
    char type;
    struct wire_in in;
    ipc_fill(&f->auth);
    while (ipc_next(&f->auth, &type, &in))
        f->cancelled |= type == IPC_CANCEL;
    if (f->auth.closed)
        front_fatal(f, "57P01",
                    "terminating connection due to administrator command");
}

/* Messages of the desk and of auth that are there. */
static void channels(struct front *f)
{
    char type;
    struct wire_in in;
    auth_messages(f);
    ipc_fill(&f->desk);
    while (ipc_next(&f->desk, &type, &in))
        if (type == IPC_CATALOGUE)
            front_take_snapshot(f, &in);
    if (f->desk.closed)
        front_fatal(f, "57P01",
                    "terminating connection due to administrator command");
    f->cancelled = false; /* nothing runs */
}

/* Has the client gone? Looks without taking. */
static bool client_gone(struct front *f)
{
    char c;
    if (f->tls)
        return false; /* poll tells of a closed connection, too */
    ssize_t n = recv(f->client->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void send_detach(struct front *f, uint32_t number)
{
    ipc_begin(&f->desk, IPC_DETACH);
    wire_put32(&f->desk.out, number);
    ipc_end(&f->desk);
}

static bool take_reply(struct front *f, uint32_t number, struct reply *out)
{
    char type;
    struct wire_in in;
    while (ipc_next(&f->desk, &type, &in)) {
        if (type == IPC_CATALOGUE) {
            front_take_snapshot(f, &in);
            continue;
        }
        if (type != IPC_REPLY || wire_get32(&in) != number)
            continue; /* of one that was given up */
        size_t n = in.n - in.at;
        unsigned char *copy = malloc(n + 1);
        if (!copy)
            _exit(1);
        memcpy(copy, in.p + in.at, n);
        struct wire_in own = wire_in_of(copy, n);
        if (!reply_read(&own, out))
            _exit(1);
        out->bytes = copy;
        return true;
    }
    return false;
}

bool front_reply(struct front *f, uint32_t number, long timeout_ms,
                 struct reply *out)
{
    long end = timeout_ms > 0 ? proc_now_ms() + timeout_ms : 0;
    bool told = false;
    f->timed_out = false;
    while (!take_reply(f, number, out)) {
        struct pollfd p[3] = {{.fd = f->desk.fd, .events = POLLIN},
                              {.fd = f->auth.fd, .events = POLLIN},
                              {.fd = f->client->fd, .events = POLLRDHUP}};
        long left = end ? end - proc_now_ms() : 1000;
        if (f->desk.closed)
            front_fatal(f, "08006", "the data set is no longer served");
        if (!told && (f->cancelled || (end && left <= 0))) {
            send_detach(f, number);
            f->timed_out = !f->cancelled;
            told = true;
        }
        if (poll(p, 3, left > 0 && left < 1000 ? (int)left : 1000) < 0 &&
            errno != EINTR)
            return false;
        if (p[2].revents & (POLLRDHUP | POLLHUP | POLLERR) || client_gone(f))
            _exit(0); /* the desk works it off */
        if (p[1].revents)
            auth_messages(f);
        if (p[0].revents)
            ipc_fill(&f->desk);
    }
    f->cancelled = false;
    return true;
}
