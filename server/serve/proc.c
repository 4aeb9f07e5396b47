/* Processes and the log: see proc.h. */
#include "serve/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "wire/wire.h"

pid_t proc_fork(const char *title)
{
    sigset_t none;
    pid_t parent = getpid(), pid = fork();
    if (pid)
        return pid;
    struct rlimit no_core = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, title);
    setrlimit(RLIMIT_CORE, &no_core);
    if (getppid() != parent)
        _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN); /* the supervisor says when to end */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    return 0;
}

void proc_keep_only(const int *fds, size_t n)
{
    struct rlimit most;
    unsigned from = 3;
    getrlimit(RLIMIT_NOFILE, &most);
    for (;;) {
        unsigned next = ~0u;
        for (size_t i = 0; i < n; i++)
            if (fds[i] >= (int)from && (unsigned)fds[i] < next)
                next = (unsigned)fds[i];
        if (next > from)
            close_range(from, next - 1, 0);
        if (next == ~0u)
            return;
        from = next + 1;
    }
}

long proc_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool proc_random(void *out, size_t n)
{
    return getrandom(out, n, 0) == (ssize_t)n;
}

/* --- the log ----------------------------------------------------------------
 */

enum { LOG_TEXT_MOST = 8192 };

static void put(struct wire_out *b, const char *s)
{
    wire_put_bytes(b, s, strlen(s));
}

static void put_quoted(struct wire_out *b, const char *s)
{
    char code[8];
    size_t n = 0;
    wire_put8(b, '"');
    for (; *s && n < LOG_TEXT_MOST; s++, n++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            wire_put8(b, '\\');
            wire_put8(b, c);
        } else if (c < 0x20 || c == 0x7f) {
            snprintf(code, sizeof code, "\\u%04x", c);
            put(b, code);
        } else {
            wire_put8(b, c);
        }
    }
    put(b, *s ? "...\"" : "\"");
}

static void put_time(struct wire_out *b)
{
    struct timespec t;
    struct tm tm;
    char text[64];
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%03ldZ", t.tv_nsec / 1000000);
    put(b, "{\"time\":");
    put_quoted(b, text);
}

static void put_pairs(struct wire_out *b, va_list ap)
{
    const char *name;
    char number[32];
    while ((name = va_arg(ap, const char *))) {
        bool is_number = *name == '#';
        long long v = is_number ? (long long)va_arg(ap, int64_t) : 0;
        const char *text = is_number ? "" : va_arg(ap, const char *);
        if (!text)
            continue;
        put(b, ",");
        put_quoted(b, name + is_number);
        put(b, ":");
        snprintf(number, sizeof number, "%lld", v);
        if (is_number)
            put(b, number);
        else
            put_quoted(b, text);
    }
}

void proc_log(const char *event, ...)
{
    struct wire_out b;
    va_list ap;
    wire_out_init(&b, 64 << 10);
    put_time(&b);
    put(&b, ",\"event\":");
    put_quoted(&b, event);
    va_start(ap, event);
    put_pairs(&b, ap);
    va_end(ap);
    put(&b, "}\n");
    if (!b.failed && write(2, b.p, b.n) < 0)
        b.failed = true; /* nobody to tell */
    wire_out_fini(&b);
}
