/*
 * Threads: n workers over one shared context, joined before returning. The
 * caller's thread is one of them, so that one worker needs no thread.
 */
#include "join/join_int.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { MOST_THREADS = 256, PAUSE = 20000000 };

struct worker {
    enum status (*work)(void *, unsigned);
    void *ctx;
    unsigned number;
    enum status status;
};

static void *enter(void *arg)
{
    struct worker *w = arg;
    w->status = w->work(w->ctx, w->number);
    return NULL;
}

/* Only the calling thread tells the user how far things are and hears that
 * they shall end, so it must not sleep here for long. */
static void wait_for(struct join *j, pthread_t id)
{
    struct timespec until;
    do {
        (void)join_cancelled(j); /* the workers see the answer themselves */
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PAUSE;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    } while (pthread_timedjoin_np(id, NULL, &until) == ETIMEDOUT);
}

enum status run_threads(struct join *j, unsigned n,
                        enum status (*work)(void *, unsigned), void *ctx,
                        struct err *err)
{
    struct worker w[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    unsigned started = 1;
    if (n < 1)
        n = 1;
    if (n > MOST_THREADS)
        n = MOST_THREADS;
    for (unsigned i = 0; i < n; i++) {
        struct worker x = {work, ctx, i, OK};
        w[i] = x;
    }
    /* fewer threads than wanted only cost time */
    while (started < n &&
           pthread_create(&id[started], NULL, enter, &w[started]) == 0)
        started++;
    enter(&w[0]);
    for (unsigned i = 1; i < started; i++)
        wait_for(j, id[i]);
    for (unsigned i = 0; i < started; i++)
        if (w[i].status == E_CANCELLED)
            return err_set(err, E_CANCELLED, "cancelled");
        else if (w[i].status != OK)
            return err_nomem(err);
    return OK;
}
