/* The desk's processes and its loop: see desk.h. */
#include "serve/desk.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/desk_int.h"
#include "serve/proc.h"

/* --- preparing --------------------------------------------------------------
 */

static void start_preparing(struct desk *d)
{
    d->preparing = proc_fork("dpcount-prepare");
    if (d->preparing)
        return;
    proc_keep_only(NULL, 0);
    _exit(clerk_prepare(d->conf, d->dataset));
}

static bool start_clerks(struct desk *d)
{
    d->n_clerks = DESK_LOOKERS + d->dataset->workers;
    for (size_t i = 0; i < d->n_clerks; i++) {
        struct desk_clerk *c = &d->clerks[i];
        c->seat = i >= DESK_LOOKERS;
        c->cpu = c->seat && d->cpus ? d->cpus[i - DESK_LOOKERS] : -1;
        if (!desk_start_clerk(d, c))
            return false;
    }
    return true;
}

static void open_dataset(struct desk *d)
{
    dpc_error *e = NULL;
    d->open = clerk_dataset(d->conf, d->dataset, true, &e);
    if (!d->open || dpc_dataset_open(d->open, 0, &e) != DPC_OK ||
        !desk_publish(d) || !start_clerks(d)) {
        proc_log("not-served", "dataset", d->dataset->name, "step", "open",
                 "code", dpc_error_code(e), NULL);
        dpc_error_free(e);
        dpc_dataset_free(d->open);
        d->open = NULL;
        d->retry_at = proc_now_ms() + DESK_RETRY_MS;
        return;
    }
    d->ready = true;
    proc_log("serving", "dataset", d->dataset->name, "version",
             d->dataset->version, NULL);
    ipc_begin(&d->control, IPC_READY);
    ipc_end(&d->control);
    for (size_t i = 0; i < d->n_sessions; i++)
        desk_tell(d, d->sessions[i]);
}

static void reap(struct desk *d)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == d->preparing) {
            d->preparing = 0;
            bool done = WIFEXITED(status) && !WEXITSTATUS(status);
            if (!done)
                d->retry_at = proc_now_ms() + DESK_RETRY_MS;
            else if (!d->ready) /* else a reload that changed nothing */
                open_dataset(d);
        }
        for (size_t i = 0; i < d->n_clerks; i++)
            if (d->clerks[i].pid == pid && d->clerks[i].running) {
                proc_log("clerk-lost", "dataset", d->dataset->name, NULL);
                desk_clerk_lost(d, &d->clerks[i]);
                ipc_fini(&d->clerks[i].ipc);
                desk_start_clerk(d, &d->clerks[i]);
            }
    }
}

/* --- connections ------------------------------------------------------------
 */

static void add_session(struct desk *d, struct wire_in *in)
{
    int fd = ipc_take_fd(&d->auth);
    struct desk_session *s = calloc(1, sizeof *s);
    if (fd < 0 || !s || d->n_sessions == DESK_SESSIONS_MOST) {
        if (fd >= 0)
            close(fd);
        free(s);
        return;
    }
    snprintf(s->analyst, sizeof s->analyst, "%s", wire_get_text(in));
    snprintf(s->address, sizeof s->address, "%s", wire_get_text(in));
    snprintf(s->application, sizeof s->application, "%s", wire_get_text(in));
    s->number = wire_get32(in);
    s->owner = wire_get8(in);
    ipc_init(&s->ipc, fd, IPC_FRONT_MOST);
    d->sessions[d->n_sessions++] = s;
    if (d->ready)
        desk_tell(d, s);
}

static void drop_session(struct desk *d, size_t i)
{
    struct desk_session *s = d->sessions[i];
    desk_forget_session(d, s);
    ipc_fini(&s->ipc);
    free(s);
    d->sessions[i] = d->sessions[--d->n_sessions];
}

static void session_ready(struct desk *d, struct desk_session *s)
{
    char type;
    struct wire_in in;
    ipc_fill(&s->ipc);
    while (!s->ipc.closed && ipc_next(&s->ipc, &type, &in))
        desk_message(d, s, type, &in);
    if (ipc_waits(&s->ipc))
        ipc_flush(&s->ipc);
}

/* --- the supervisor, auth ---------------------------------------------------
 */

/* Those who may no longer ask lose their connections. */
static void reload(struct desk *d, struct wire_in *in)
{
    struct conf_problem bad;
    const char *text = wire_get_text(in);
    struct conf *c = conf_parse(d->conf->file, text, strlen(text), &bad);
    const struct conf_dataset *set =
        c ? conf_dataset(c, d->dataset->name) : NULL;
    if (!set) {
        conf_free(c);
        return;
    }
    conf_free(d->conf);
    d->conf = c;
    d->dataset = set;
    for (size_t i = d->n_sessions; i-- > 0;) {
        const struct conf_person *p = conf_person(c, d->sessions[i]->analyst);
        if (!p || p->owner != d->sessions[i]->owner ||
            (!p->owner && !conf_grant(p, set)))
            drop_session(d, i);
    }
    if (d->ready && !d->preparing) { /* caps may have grown */
        d->preparing = proc_fork("dpcount-prepare");
        if (!d->preparing)
            _exit(clerk_prepare(d->conf, d->dataset));
    }
}

static void control(struct desk *d)
{
    char type;
    struct wire_in in;
    if (!ipc_fill(&d->control))
        _exit(0);
    while (ipc_next(&d->control, &type, &in)) {
        if (type == IPC_PEER) {
            int fd = ipc_take_fd(&d->control);
            if (d->has_auth)
                ipc_fini(&d->auth);
            d->has_auth = fd >= 0;
            if (fd >= 0)
                ipc_init(&d->auth, fd, 4096);
        } else if (type == IPC_RELOAD) {
            reload(d, &in);
        } else if (type == IPC_DRAIN) {
            d->draining = true;
        }
    }
}

static void auth_ready(struct desk *d)
{
    char type;
    struct wire_in in;
    ipc_fill(&d->auth);
    while (ipc_next(&d->auth, &type, &in))
        if (type == IPC_SESSION)
            add_session(d, &in);
}

static void clerk_ready(struct desk *d, struct desk_clerk *c)
{
    char type;
    struct wire_in in;
    ipc_fill(&c->ipc);
    while (ipc_next(&c->ipc, &type, &in))
        desk_replied(d, c, &in);
    if (ipc_waits(&c->ipc))
        ipc_flush(&c->ipc);
}

/* --- the loop ---------------------------------------------------------------
 */

static struct pollfd watch(const struct ipc *c)
{
    return (struct pollfd){.fd = c->closed ? -1 : c->fd,
                           .events =
                               (short)(POLLIN | (ipc_waits(c) ? POLLOUT : 0))};
}

static size_t collect(struct desk *d, struct pollfd *p)
{
    size_t n = 0;
    p[n++] = watch(&d->control);
    p[n++] = d->has_auth ? watch(&d->auth) : (struct pollfd){.fd = -1};
    for (size_t i = 0; i < d->n_clerks; i++)
        p[n++] = d->clerks[i].running ? watch(&d->clerks[i].ipc)
                                      : (struct pollfd){.fd = -1};
    for (size_t i = 0; i < d->n_sessions; i++)
        p[n++] = watch(&d->sessions[i]->ipc);
    return n;
}

static void handle(struct desk *d, const struct pollfd *p, size_t n_clerks,
                   size_t n_sessions)
{
    const struct pollfd *clerks = p + 2, *sessions = clerks + n_clerks;
    for (size_t i = 0; i < n_clerks; i++)
        if (clerks[i].revents && d->clerks[i].running)
            clerk_ready(d, &d->clerks[i]);
    for (size_t i = 0; i < n_sessions; i++)
        if (sessions[i].revents)
            session_ready(d, d->sessions[i]);
    for (size_t i = d->n_sessions; i-- > 0;)
        if (d->sessions[i]->ipc.closed)
            drop_session(d, i);
    if (p[1].revents)
        auth_ready(d);
    if (p[0].revents)
        control(d);
}

static void serve_once(struct desk *d, struct pollfd *p)
{
    size_t n_clerks = d->n_clerks, n_sessions = d->n_sessions;
    size_t n = collect(d, p);
    int got = poll(p, (nfds_t)n, d->ready && !d->draining ? 1000 : 200);
    if (got > 0)
        handle(d, p, n_clerks, n_sessions);
    reap(d);
    if (!d->ready && !d->preparing && !d->draining &&
        proc_now_ms() >= d->retry_at)
        start_preparing(d);
    if (d->draining && desk_is_idle(d))
        _exit(0);
}

static void on_child(int signal)
{
    (void)signal; /* ends the poll */
}

_Noreturn void desk_run(struct conf *c, const struct conf_dataset *set,
                        const int *cpus, int fd)
{
    static struct desk d;
    struct sigaction act = {.sa_handler = on_child};
    struct pollfd *p =
        calloc(2 + DESK_CLERKS_MOST + DESK_SESSIONS_MOST, sizeof *p);
    if (!p)
        _exit(1);
    d = (struct desk){.conf = c,
                      .dataset = set,
                      .snapshot = -1,
                      .catalogue = -1,
                      .cpus = cpus};
    ipc_init(&d.control, fd, CONF_FILE_MOST + 4096);
    sigaction(SIGCHLD, &act, NULL);
    for (;;)
        serve_once(&d, p);
}
