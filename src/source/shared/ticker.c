/*
 * Progress of long loads, and stopping them: asked at most ten times a second,
 * so that a call for every batch of rows costs nothing.
 */
#include "base/clock.h"
#include "source/source_int.h"

void ticker_init(struct ticker *t, const struct progress *p, const char *what,
                 uint64_t total)
{
    *t = (struct ticker){.p = p, .what = what, .total = total};
}

enum status ticker_tick(struct ticker *t, uint64_t done, struct err *err)
{
    enum { TENTH = 100000000 };
    if (!t->p || !t->p->tick)
        return OK;
    int64_t now = clock_now_ns();
    if (t->last && now - t->last < TENTH)
        return OK;
    t->last = now;
    if (t->p->tick(t->p->ctx, t->what, done, t->total))
        return OK;
    return err_set(err, E_CANCELLED, "%s was stopped by the user",
                   t->counts ? "counting in the database" : "loading");
}
