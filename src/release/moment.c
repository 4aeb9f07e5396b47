/*
 * The owner's limits, and the moment of the reply.
 *
 * Without `respond_after` (and without --deadline) a reply comes when it is
 * ready. With it every reply, answer or lock, comes exactly so long after the
 * question began. Work that is not done then is a miss: while the ladder has
 * rungs the time is doubled, for this and for all questions on their way and
 * to come; else the worker is ended.
 *
 * PRIVACY: the moment depends on the limits and on earlier misses, which are
 * public once they show; never on when this worker was done.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "release/release.h"
#include "release/release_int.h"

void moment_begin(struct release *r)
{
    r->start_ns = clock_now_ns();
}

/* --- reading -------------------------------------------------------------- */

enum status moment_seconds(struct str text, const char *what, int64_t *out,
                           struct err *err)
{
    mpq_t v;
    mpq_init(v);
    if (text.n > 1 && text.p[text.n - 1] == 's')
        text.n--;
    enum status s = rat_read(text, what, v, err);
    double seconds = mpq_get_d(v); /* no privacy hangs on its last digit */
    mpq_clear(v);
    TRY(s);
    if (!(seconds > 0 && seconds <= 86400))
        return err_set(err, E_VALUE,
                       "%s must be a number of seconds up to 86400", what);
    *out = (int64_t)(seconds * 1e9);
    return OK;
}

static enum status refuse_deadline(struct err *err)
{
    err_set(err, E_USAGE, "--deadline is not for this ledger");
    err_detail(err, "Its owner set respond_after for all releases.");
    err_hint(err, "Leave --deadline out.");
    return E_USAGE;
}

/* From the ledger; the open one. */
static enum status read_after(struct release *r, struct err *err)
{
    struct ledger_limits l = {0};
    struct str text = r->session->opt.deadline;
    TRY(ledger_limits(r->ledger, &r->p.arena, r->session->opt.dataset, &l,
                      err));
    r->limits = l;
    r->after_ns = 0;
    if (l.respond_after.n && !str_is(l.respond_after, "none")) {
        if (text.n)
            return refuse_deadline(err);
        TRY(moment_seconds(l.respond_after, "respond_after", &r->after_ns,
                           err));
        r->after_ns <<= l.misses;
    } else if (text.n) {
        TRY(moment_seconds(text, "deadline", &r->after_ns, err));
    }
    return OK;
}

static enum status read_memory(struct release *r, struct err *err)
{
    struct str text = r->limits.memory;
    size_t own = r->session->mem.limit, most = 0;
    if (!text.n || str_is(text, "none"))
        return OK;
    TRY(session_read_size(text, &most, err));
    if (!own || most < own)
        r->session->mem.limit = most;
    return OK;
}

enum status moment_read(struct release *r, struct err *err)
{
    TRY(read_after(r, err));
    return read_memory(r, err);
}

/* --- waiting -------------------------------------------------------------- */

int64_t moment_due(const struct release *r)
{
    return r->after_ns ? r->start_ns + r->after_ns : 0;
}

/* Has another question's miss put off the moment of this one? */
static bool put_off(struct release *r)
{
    struct err why;
    int64_t before = r->after_ns;
    bool ladder = r->limits.ladder.n && !str_is(r->limits.ladder, "none") &&
                  !str_is(r->limits.ladder, "0");
    if (!ladder)
        return false;
    if (read_after(r, &why) != OK || r->after_ns < before)
        r->after_ns = before;
    return r->after_ns > before;
}

/* The moment is here, and the worker is not done. */
static bool missed(struct release *r)
{
    struct err why;
    bool left = false;
    if (put_off(r))
        return true;
    if (!r->hold || ledger_miss(r->hold, &left, &why) != OK || !left)
        return false;
    return put_off(r);
}

int moment_left(void *release)
{
    struct release *r = release;
    int64_t left = moment_due(r) - clock_now_ns();
    if (left <= 0 && !missed(r))
        return -1;
    left = moment_due(r) - clock_now_ns();
    if (left <= 0)
        return 0;
    return left > 100000000 ? 100 : (int)(left / 1000000) + 1;
}

static void sleep_until(int64_t due)
{
    struct timespec until = {.tv_sec = (time_t)(due / 1000000000),
                             .tv_nsec = due % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        ;
}

void moment_wait(struct release *r)
{
    if (!r->after_ns)
        return;
    do
        sleep_until(moment_due(r));
    while (put_off(r));
}

/* What all threads may use until the last rung. */
uint64_t moment_processor_seconds(const struct release *r, unsigned threads)
{
    u128 rungs = 0;
    if (!r->after_ns)
        return 0;
    if (!u128_read(r->limits.ladder.p, r->limits.ladder.n, &rungs))
        rungs = 0;
    rungs = rungs > r->limits.misses ? rungs - r->limits.misses : 0;
    int64_t seconds = (r->after_ns / 1000000000 + 1)
                      << (rungs > 16 ? 16 : rungs);
    return (uint64_t)seconds * threads;
}
