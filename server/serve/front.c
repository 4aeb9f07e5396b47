/* The life of a connection: see front.h. */
#include "serve/front.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "serve/front_int.h"
#include "serve/proc.h"

/* --- memory ------------------------------------------------------------------
 */

struct pool_piece {
    struct pool_piece *next;
    max_align_t data[];
};

void *front_alloc(struct front_pool *p, size_t n)
{
    struct pool_piece *x = calloc(1, sizeof *x + n);
    if (!x)
        _exit(1); /* one connection */
    x->next = p->pieces;
    p->pieces = x;
    return x->data;
}

char *front_copy(struct front_pool *p, const char *s, size_t n)
{
    char *out = front_alloc(p, n + 1);
    memcpy(out, s, n);
    return out;
}

void front_release(struct front_pool *p)
{
    for (struct pool_piece *x = p->pieces, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    p->pieces = NULL;
}

/* --- messages ----------------------------------------------------------------
 */

static void ready(struct front *f)
{
    wire_begin(&f->out, 'Z');
    wire_put8(&f->out, (uint8_t)f->transaction);
    wire_end(&f->out);
    front_flush(f);
}

/* A query string must be a text without a NUL inside. */
static void simple(struct front *f, struct wire_in *in)
{
    const char *text = wire_get_text(in);
    if (!wire_at_end(in))
        front_fatal(f, "08P01", "invalid message format");
    f->skip_to_sync = false;
    portal_close(f, "", false);
    run_simple(f, text);
    ready(f);
}

static void dispatch(struct front *f, char type, struct wire_in *in)
{
    if (type == 'X')
        front_end(f);
    if (type == 'S') {
        f->skip_to_sync = false;
        if (f->transaction == 'I')
            portal_close(f, NULL, true);
        ready(f);
    } else if (type == 'H') {
        front_flush(f);
    } else if (type == 'Q') {
        simple(f, in);
    } else if (f->skip_to_sync) {
        return; /* until Sync */
    } else if (!extended_message(f, type, in)) {
        front_fatal(f, "08P01", "unknown or malformed message");
    }
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit most = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_DATA, &most);
#endif
}

/* Processor time of a statement; a client that stays connected may use more in
 * all. */
static void limit_time(void)
{
    struct rlimit l;
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) || getrlimit(RLIMIT_CPU, &l))
        return;
    l.rlim_cur = (rlim_t)u.ru_utime.tv_sec + (rlim_t)u.ru_stime.tv_sec + 60;
    setrlimit(RLIMIT_CPU, &l);
}

static _Noreturn void converse(struct front *f)
{
    char type;
    struct wire_in in;
    for (;;) {
        long deadline = proc_now_ms() + 1000L * f->conf->idle_seconds;
        if (!front_message(f, WIRE_AFTER_MOST, deadline, &type, &in))
            front_end(f);
        limit_time();
        dispatch(f, type, &in);
    }
}

/* The snapshot comes right after the sign-in if the data set is loaded. */
static void await_snapshot(struct front *f)
{
    char type;
    struct wire_in in;
    for (int i = 0; i < 2; i++) {
        if (!ipc_wait(&f->desk, 2000, &type, &in) || type != IPC_CATALOGUE)
            return;
        front_take_snapshot(f, &in);
    }
}

_Noreturn void front_run(const struct front_client *c)
{
    static struct front f;
    f = (struct front){.client = c, .conf = c->conf, .transaction = 'I'};
    f.desk.fd = -1;
    f.desk.closed = true;
    ipc_init(&f.auth, c->auth, WIRE_BEFORE_MOST + 4096);
    wire_out_init(&f.out, FRONT_OUT_MOST);
    limit_memory();
    if (!front_jail() || !front_start(&f))
        front_end(&f);
    await_snapshot(&f);
    ready(&f);
    converse(&f);
}
