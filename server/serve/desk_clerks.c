/*
 * Clerks and spinners. A seat has a processor of its own where the
 * configuration has no `load_visible`; while a question has the seat, a
 * spinner of idle priority takes what the worker leaves of that processor, so
 * that it is busy to the end of the slot whatever the rows are.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve/desk_int.h"
#include "serve/proc.h"

/* The processes of the library work where their asker does, so all that a
 * question takes is done there. PRIVACY: or not at all. */
static void pin(int cpu)
{
    cpu_set_t set;
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        _exit(1);
}

/* What a clerk has no business with; the library's own descriptors stay. */
static void close_desk(const struct desk *d)
{
    close(d->control.fd);
    if (d->has_auth)
        close(d->auth.fd);
    for (size_t i = 0; i < d->n_sessions; i++)
        close(d->sessions[i]->ipc.fd);
    for (size_t i = 0; i < d->n_clerks; i++)
        if (d->clerks[i].running)
            close(d->clerks[i].ipc.fd);
}

bool desk_start_clerk(struct desk *d, struct desk_clerk *c)
{
    int ends[2];
    if (!ipc_pair(ends))
        return false;
    pid_t pid = proc_fork("dpcount-clerk");
    if (!pid) {
        close_desk(d);
        close(ends[0]);
        pin(c->cpu);
        clerk_run(d->open, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    c->pid = pid;
    c->running = true;
    c->busy = NULL;
    ipc_init(&c->ipc, ends[0], IPC_REPLY_MOST);
    return true;
}

void desk_spin(struct desk_clerk *c)
{
    struct sched_param none = {0};
    if (c->cpu < 0)
        return;
    c->spinner = proc_fork("dpcount-spin");
    if (c->spinner)
        return;
    proc_keep_only(NULL, 0);
    pin(c->cpu);
    sched_setscheduler(0, SCHED_IDLE, &none);
    for (volatile unsigned long i = 0;; i++)
        ;
}

/* PRIVACY: it is not waited for. Of idle priority it comes to its end when
 * nobody else wants the processor, and until then the reply would wait, also
 * for what a worker that was ended leaves to the kernel to clear. The loop
 * collects it. */
void desk_stop_spinning(struct desk_clerk *c)
{
    if (c->spinner > 0)
        kill(c->spinner, SIGKILL);
    c->spinner = 0;
}
