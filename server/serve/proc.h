/*
 * What every process of the service does: being born, having a name, writing
 * lines of the log.
 */
#ifndef SERVE_PROC_H
#define SERVE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child that dies with its parent, cannot be looked into, takes no signals
 * of the terminal, and has the name `title`. As fork. */
pid_t proc_fork(const char *title);
/* Closes every descriptor above 2 but those of the list (ascending or not). */
void proc_keep_only(const int *fds, size_t n);
long proc_now_ms(void); /* monotonic */
bool proc_random(void *out, size_t n);

/*
 * One line of JSON on standard error: time, event, then pairs of names and
 * values. A name that begins with '#' has an int64_t beside it, others a text
 * (NULL: left out; cut at 8 kB). Ends with a NULL name.
 * PRIVACY: never an answer, a password or a reason that rows decide.
 */
void proc_log(const char *event, ...);

#endif
