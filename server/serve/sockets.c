/* Listening: see sockets.h. */
#include "serve/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 128, FIRST_PASSED = 3 };

static int problem(struct conf_problem *bad, const char *what, const char *why)
{
    snprintf(bad->text, sizeof bad->text, "could not listen on %.200s: %.200s",
             what, why);
    return -1;
}

static void unix_path(const struct conf_listen *l, char *out, size_t size)
{
    snprintf(out, size, "%s/.s.PGSQL.%u", l->path, l->port);
}

/* A file that nobody listens on any more is taken away. */
static bool in_use(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool used = fd >= 0 && !connect(fd, (const struct sockaddr *)a, sizeof *a);
    if (fd >= 0)
        close(fd);
    return used;
}

static int open_unix(const struct conf_listen *l, struct conf_problem *bad)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    unix_path(l, a.sun_path, sizeof a.sun_path);
    if (in_use(&a))
        return problem(bad, a.sun_path, "another process does");
    unlink(a.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) ||
        chmod(a.sun_path, 0777) || listen(fd, QUEUE)) {
        problem(bad, a.sun_path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static int open_tcp(const struct conf_listen *l, struct conf_problem *bad)
{
    struct addrinfo hint = {.ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char port[16];
    int one = 1, fd = -1;
    snprintf(port, sizeof port, "%u", l->port);
    int why = getaddrinfo(l->host, port, &hint, &list);
    if (why)
        return problem(bad, l->host, gai_strerror(why));
    fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) ||
        listen(fd, QUEUE)) {
        problem(bad, l->host, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(list);
    return fd;
}

/* --- systemd ----------------------------------------------------------------
 */

static int passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    if (!pid || !n || atol(pid) != (long)getpid())
        return 0;
    return atoi(n);
}

static bool is_unix(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    return !getsockname(fd, (struct sockaddr *)&a, &n) &&
           a.ss_family == AF_UNIX;
}

/* The i-th unix socket that was handed over, for the i-th unix entry. */
static int take_passed(size_t skip)
{
    for (int fd = FIRST_PASSED; fd < FIRST_PASSED + passed(); fd++)
        if (is_unix(fd) && !skip--) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
            fcntl(fd, F_SETFL, O_NONBLOCK);
            return fd;
        }
    return -1;
}

void sockets_notify(const char *what)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path || strlen(path) >= sizeof a.sun_path)
        return;
    memcpy(a.sun_path, path, strlen(path));
    if (*path == '@')
        a.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t n =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (fd < 0)
        return;
    if (sendto(fd, what, strlen(what), MSG_NOSIGNAL, (struct sockaddr *)&a, n) <
        0)
        errno = 0; /* systemd will see for itself */
    close(fd);
}

/* --- all of them ------------------------------------------------------------
 */

int sockets_open(const struct conf *c, bool http, int *out, size_t most,
                 struct conf_problem *bad)
{
    size_t n = 0, unix_seen = 0;
    for (size_t i = 0; i < c->n_listen && n < most; i++) {
        const struct conf_listen *l = &c->listen[i];
        int fd = -1;
        if ((l->kind == CONF_HTTP) != http)
            continue;
        if (l->kind == CONF_UNIX)
            fd = take_passed(unix_seen++);
        if (fd < 0)
            fd = l->kind == CONF_UNIX ? open_unix(l, bad) : open_tcp(l, bad);
        if (fd < 0)
            return -1;
        out[n++] = fd;
    }
    return (int)n;
}

void sockets_remove(const struct conf *c)
{
    char path[108];
    for (size_t i = 0; i < c->n_listen && !passed(); i++)
        if (c->listen[i].kind == CONF_UNIX) {
            unix_path(&c->listen[i], path, sizeof path);
            unlink(path);
        }
}
