/*
 * Threads: n workers over one shared context, joined before returning. The
 * caller's thread is one of them, so that one worker needs no thread.
 */
#include "join/solve.h"

#include <pthread.h>

enum { MOST_THREADS = 256 };

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

enum status run_threads(unsigned n, enum status (*work)(void *, unsigned),
                        void *ctx, struct err *err)
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
        pthread_join(id[i], NULL);
    for (unsigned i = 0; i < started; i++)
        if (w[i].status == E_CANCELLED)
            return err_set(err, E_CANCELLED, "cancelled");
        else if (w[i].status != OK)
            return err_nomem(err);
    return OK;
}
