/*
 * Progress and cancelling. The first Ctrl-C asks the library to stop, which
 * leaves the ledger in order; the second ends the program at once (the ledger
 * stays in order too: it survives being killed).
 */
#include "cli.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* What runs now; cancelling is async-signal-safe. */
static dpc_dataset *dataset;
static dpc_question *question;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (question)
        dpc_question_cancel(question);
    if (dataset)
        dpc_dataset_cancel(dataset);
}

struct meter {
    double start;
    bool shown, terminal;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct meter meter;

static int tick(void *ctx, const char *what, unsigned long long done,
                unsigned long long total)
{
    struct meter *m = ctx;
    double elapsed = now() - m->start;
    if (!m->terminal || elapsed < 1)
        return 1;
    m->shown = true;
    if (total)
        fprintf(stderr, "\r%s: %.0f %%, %.0f s \033[K", what,
                100.0 * (double)done / (double)total, elapsed);
    else if (done)
        fprintf(stderr, "\r%s: %llu, %.0f s \033[K", what, done, elapsed);
    else
        fprintf(stderr, "\r%s: %.0f s \033[K", what, elapsed);
    return 1;
}

void progress_start(struct invocation *inv)
{
    struct sigaction sa = {.sa_handler = on_interrupt};
    meter = (struct meter){.start = now(), .terminal = isatty(2)};
    dataset = inv->dataset;
    question = inv->asked;
    sa.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    dpc_dataset_progress(dataset, tick, &meter);
    if (question)
        dpc_question_progress(question, tick, &meter);
}

void progress_end(void)
{
    dataset = NULL;
    question = NULL;
    if (meter.shown)
        fputs("\r\033[K", stderr);
}
