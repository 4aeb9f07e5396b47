/* Calls and their limits: see session.h. */
#include "base/clock.h"
#include "release/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum status session_new(struct session **out, struct err *err)
{
    struct mem boot; /* the block that holds the budget is not in it */
    mem_init(&boot, 0);
    struct session *s = mem_alloc(&boot, sizeof *s);
    *out = s;
    if (!s)
        return err_nomem(err);
    mem_init(&s->mem, 0);
    arena_init(&s->arena, &s->mem);
    err_clear(&s->err);
    return OK;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    struct mem boot;
    mem_init(&boot, 0);
    arena_fini(&s->arena);
    mem_free(&boot, s, sizeof *s);
}

void session_begin(struct session *s)
{
    s->caller = pthread_self();
    s->told_ns = 0;
    atomic_store(&s->stop, false);
}

/* Tells the user; false: the user wants it to end. */
static bool tell(struct session *s, const char *what, uint64_t done,
                 uint64_t total)
{
    if (s->discreet)
        return s->progress.tick(s->progress.ctx, "working", 0, 0);
    return s->progress.tick(s->progress.ctx, what, done, total);
}

/* It says nothing more; it can only be gone. */
static bool is_waited_for(int asker)
{
    struct pollfd p = {.fd = asker, .events = POLLIN | POLLRDHUP};
    return poll(&p, 1, 0) <= 0;
}

static bool tick(void *session, const char *what, uint64_t done, uint64_t total)
{
    enum { TENTH = 100000000 };
    struct session *s = session;
    if (session_stopped(s))
        return false;
    if (!pthread_equal(pthread_self(), s->caller))
        return true;
    int64_t now = clock_now_ns();
    bool go_on = !s->deadline_ns || now < s->deadline_ns;
    bool due = s->tell_always || now - s->told_ns >= TENTH;
    if (go_on && due) {
        s->told_ns = now;
        go_on = (!s->asker || is_waited_for(s->asker)) &&
                (!s->progress.tick || tell(s, what, done, total));
    }
    if (!go_on)
        atomic_store(&s->stop, true);
    return go_on;
}

bool session_stopped(const struct session *s)
{
    return atomic_load(&s->stop) || (s->cancel && atomic_load(s->cancel));
}

void session_go_on(struct session *s)
{
    s->asker = 0;
    s->cancel = NULL;
    s->progress.tick = NULL;
    atomic_store(&s->stop, false);
}

bool session_cancelled(void *session)
{
    return !tick(session, "counting", 0, 0);
}

struct progress session_progress(struct session *s)
{
    return (struct progress){tick, s};
}

enum status session_read_size(struct str v, size_t *out, struct err *err)
{
    struct str digits = v;
    unsigned shift = 0;
    char unit = v.n ? v.p[v.n - 1] : '0';
    if (unit == 'K' || unit == 'k')
        shift = 10;
    else if (unit == 'M' || unit == 'm')
        shift = 20;
    else if (unit == 'G' || unit == 'g')
        shift = 30;
    if (shift)
        digits.n--;
    u128 n;
    if (!u128_read(digits.p, digits.n, &n) || n == 0 ||
        n > (SIZE_MAX >> shift)) {
        err_set(err, E_VALUE, "\"%.*s\" is not a memory size", PSTR(v));
        err_hint(err, "Write bytes, or a number with K, M or G: 512M.");
        return E_VALUE;
    }
    *out = (size_t)n << shift;
    return OK;
}

enum status session_limits(struct session *s, unsigned *out_threads,
                           struct err *err)
{
    u128 n = 0;
    *out_threads = 0;
    if (s->opt.memory.n)
        TRY(session_read_size(s->opt.memory, &s->mem.limit, err));
    if (!s->opt.threads.n)
        return OK;
    if (!u128_read(s->opt.threads.p, s->opt.threads.n, &n) || n < 1 || n > 1024)
        return err_set(err, E_VALUE,
                       "threads must be a number from 1 to 1024, not \"%.*s\"",
                       PSTR(s->opt.threads));
    *out_threads = (unsigned)n;
    return OK;
}

enum { MAX_FILE = 64 << 20 };

static enum status slurp(struct arena *a, FILE *f, const char *what,
                         struct str path, struct str *out, struct err *err)
{
    struct sb b;
    char buf[8192];
    size_t n;
    sb_init(&b, a);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) {
        sb_add(&b, buf, n);
        if (b.n > MAX_FILE)
            return err_set(err, E_TOO_LARGE, "%s \"%.*s\" is too large", what,
                           PSTR(path));
    }
    if (ferror(f)) {
        err_set(err, E_SOURCE, "could not read %s \"%.*s\"", what, PSTR(path));
        err_detail(err, "%s.", strerror(errno));
        return E_SOURCE;
    }
    sb_cstr(&b, "");
    if (b.failed)
        return err_nomem(err);
    *out = b.p ? sb_view(&b) : STR("");
    return OK;
}

enum status session_read_file(struct arena *a, struct str path,
                              const char *what, struct str *out,
                              struct err *err)
{
    if (str_is(path, "-"))
        return slurp(a, stdin, what, path, out, err);
    FILE *f = path.p ? fopen(path.p, "re") : NULL;
    if (!f) {
        err_set(err, E_SOURCE, "could not open %s \"%.*s\"", what, PSTR(path));
        err_detail(err, "%s.", strerror(errno));
        return E_SOURCE;
    }
    enum status s = slurp(a, f, what, path, out, err);
    fclose(f);
    return s;
}
