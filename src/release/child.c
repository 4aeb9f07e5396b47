/*
 * Work in a process of its own: see child.h.
 *
 * The message is one frame: a header, then the bytes. A child that dies in the
 * middle leaves an incomplete frame, which is no message. The parent trusts
 * nothing in it but its length, and that only up to a limit.
 */
#include "release/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TENTH = 100, MOST_BYTES = 64 << 20, MAX_KEEP = 80 };

struct frame {
    uint64_t n;      /* bytes behind it */
    uint32_t status; /* OK: the message; else a struct err */
    uint32_t mark;
};
enum { FRAME_MARK = 0x64706331 };

/* --- the child ------------------------------------------------------------ */

/* Lets the owner's memory be taken from the child first. */
static void prefer_for_killing(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, "1000", 4);
    (void)ignored;
    close(fd);
}

/* Address space that is in use already; 0: not known. */
static size_t in_use(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* These need far more address space than memory. */
static bool watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
#endif
}

static void limit(int what, rlim_t most)
{
    struct rlimit x;
    if (getrlimit((__rlimit_resource_t)what, &x) != 0)
        return;
    if (x.rlim_max == RLIM_INFINITY || most < x.rlim_max)
        x.rlim_max = most;
    x.rlim_cur = x.rlim_max;
    setrlimit((__rlimit_resource_t)what, &x);
}

static void set_limits(const struct child_limits *l)
{
    size_t base = in_use();
    if (l->memory && base && !watched())
        limit(RLIMIT_AS, (rlim_t)base + l->memory);
    if (l->seconds)
        limit(RLIMIT_CPU, l->seconds);
    limit(RLIMIT_CORE, 0);
}

/* PRIVACY: a core dump holds rows; RLIMIT_CORE alone does not keep a program
 * that collects dumps from getting one. */
static void become_private(pid_t parent, bool detached)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (detached) {
        setsid();
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) /* it died before that */
        _exit(1);
}

/* A held charge is worked off whatever the terminal says. */
static void ignore_terminal(void)
{
    const int signals[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM};
    struct sigaction sa = {.sa_handler = SIG_IGN};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &sa, NULL);
}

static void no_terminal(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

static void close_between(unsigned from, unsigned to)
{
    if (from > to || close_range(from, to, 0) == 0)
        return;
    for (unsigned fd = from; fd <= to && fd < 65536; fd++)
        close((int)fd);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void close_others(int pipe_end, const struct child_limits *l)
{
    int keep[MAX_KEEP + 1] = {pipe_end};
    size_t n = 1;
    for (size_t i = 0; i < l->n_keep && n <= MAX_KEEP; i++)
        if (l->keep[i] > 2)
            keep[n++] = l->keep[i];
    qsort(keep, n, sizeof keep[0], by_number);
    unsigned from = 3;
    for (size_t i = 0; i < n; i++) {
        if (keep[i])
            close_between(from, (unsigned)keep[i] - 1);
        from = (unsigned)keep[i] + 1;
    }
    close_between(from, ~0u);
}

static bool write_all(int fd, const void *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return false;
        p = (const char *)p + w;
        n -= (size_t)w;
    }
    return true;
}

static void send_frame(int fd, uint32_t status, const void *p, size_t n)
{
    struct frame f = {n, status, FRAME_MARK};
    if (write_all(fd, &f, sizeof f))
        (void)write_all(fd, p, n);
}

void child_say(int fd, enum status s, struct str message, const struct err *why)
{
    if (s == OK)
        send_frame(fd, OK, message.p, message.n);
    else
        send_frame(fd, (uint32_t)s, why, sizeof *why);
}

/* Nothing of the parent is undone or flushed: it ends here. */
void child_exit(void)
{
    extern void __gcov_dump(void) __attribute__((weak)); /* builds that count */
    if (__gcov_dump)
        __gcov_dump();
    _exit(0);
}

void child_settle(int fd, const int *keep, size_t n_keep)
{
    struct child_limits l = {.keep = keep, .n_keep = n_keep};
    become_private(0, true);
    ignore_terminal();
    no_terminal();
    close_others(fd, &l);
    set_limits(&l);
}

/* As usual, whatever a server does. */
static void hear_children(void)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &child, NULL);
}

static void be_child(int fd, pid_t parent, const struct child_limits *l,
                     child_fn *fn, void *ctx)
{
    struct str message = {0};
    struct err why;
    err_clear(&why);
    hear_children();
    if (!l->detached)
        prefer_for_killing();
    become_private(parent, l->detached);
    ignore_terminal();
    no_terminal();
    close_others(fd, l);
    set_limits(l);
    child_say(fd, fn(ctx, &message, &why), message, &why);
    child_exit();
}

/* --- the parent ----------------------------------------------------------- */

/* More of what the child says; false: it has ended, or says too much. */
static bool read_some(int fd, size_t most, struct sb *b)
{
    char buf[65536];
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n <= 0 || b->n + (size_t)n > most)
        return false;
    sb_add(b, buf, (size_t)n);
    return !b->failed;
}

/* False: the wait was ended before the child did. */
static bool listen_to(int fd, const struct child_limits *l, struct sb *b)
{
    size_t most = (l->most ? l->most : MOST_BYTES) + sizeof(struct frame);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (bool more = true; more;) {
        int pause = l->wait ? l->wait(l->ctx) : TENTH;
        if (pause < 0)
            return false;
        int n = poll(&p, 1, pause < TENTH ? pause : TENTH);
        if (n > 0)
            more = read_some(fd, most, b);
        else
            more = n == 0 || errno == EINTR;
    }
    return true;
}

/* How it ended, in words for the owner. */
static enum status describe_end(int status, struct err *err)
{
    if (WIFSIGNALED(status))
        return err_set(err, E_CHILD, "the evaluation was ended by signal %d",
                       WTERMSIG(status));
    return err_set(err, E_CHILD, "the evaluation gave no answer");
}

/* The texts of an error that came through the pipe end within their bounds. */
static enum status take_error(struct str bytes, uint32_t status,
                              struct err *err)
{
    struct err e;
    if (bytes.n != sizeof e)
        return err_set(err, E_CHILD, "the evaluation gave no reason");
    memcpy(&e, bytes.p, sizeof e);
    e.message[sizeof e.message - 1] = e.detail[sizeof e.detail - 1] = 0;
    e.hint[sizeof e.hint - 1] = 0;
    e.file[sizeof e.file - 1] = 0;
    e.status = (enum status)status;
    if (err)
        *err = e;
    return e.status;
}

static enum status take_frame(struct str bytes, int end, struct str *out,
                              struct err *err)
{
    struct frame f;
    if (bytes.n < sizeof f)
        return describe_end(end, err);
    memcpy(&f, bytes.p, sizeof f);
    struct str rest = {bytes.p + sizeof f, bytes.n - sizeof f};
    if (f.mark != FRAME_MARK || f.n != rest.n)
        return describe_end(end, err);
    if (f.status != OK)
        return take_error(rest, f.status, err);
    *out = rest;
    return OK;
}

static int reap(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL); /* it has said all that it may */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static enum status parent_side(struct arena *a, int fd, pid_t child,
                               const struct child_limits *l, struct str *out,
                               struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    if (!listen_to(fd, l, &b) && l->detached)
        return err_set(err, E_CANCELLED, "cancelled");
    int end = reap(child);
    return b.failed ? err_nomem(err)
                    : take_frame(b.p ? sb_view(&b) : STR(""), end, out, err);
}

static enum status no_process(struct err *err)
{
    err_set(err, E_CHILD, "could not start a process: %s", strerror(errno));
    return E_CHILD;
}

/* The system may be short of processes for a moment. */
static pid_t start(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    pid_t child = fork();
    for (int i = 0; child < 0 && i < 20; i++) {
        nanosleep(&pause, NULL);
        child = fork();
    }
    return child;
}

int child_start(int fd, const struct child_limits *limits, child_fn *fn,
                void *ctx)
{
    pid_t parent = getpid(), child = start();
    if (child == 0)
        be_child(fd, parent, limits, fn, ctx);
    return child;
}

enum status child_listen(int fd, int process, struct arena *a,
                         const struct child_limits *l, struct str *out,
                         struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    if (!listen_to(fd, l, &b)) {
        if (l->detached)
            return err_set(err, E_CANCELLED, "cancelled");
        if (process >= 0)
            syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
        return err_set(err, E_CHILD, "the evaluation was not done in time");
    }
    return b.failed ? err_nomem(err)
                    : take_frame(b.p ? sb_view(&b) : STR(""), 0, out, err);
}

enum status child_run(struct arena *a, const struct child_limits *limits,
                      child_fn *fn, void *ctx, struct str *out, struct err *err)
{
    int ends[2];
    pid_t parent = getpid();
    *out = (struct str){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return no_process(err);
    pid_t child = start();
    if (child == 0)
        be_child(ends[1], parent, limits, fn, ctx);
    close(ends[1]);
    enum status s = child < 0
                        ? no_process(err)
                        : parent_side(a, ends[0], child, limits, out, err);
    close(ends[0]);
    return s;
}

enum status child_possible(struct err *err)
{
    unsigned long threads = 1;
    char line[128];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %lu", &threads) == 1)
            break;
    if (f)
        fclose(f);
#if defined(__SANITIZE_THREAD__)
    threads = 1; /* its own does no harm */
#endif
    return threads <= 1 ? OK
                        : err_set(err, E_USAGE,
                                  "a program with several threads cannot "
                                  "isolate releases in a process");
}
