/* `dpcount serve`: analysts ask with tools of their own. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>

/* Runs until SIGTERM or SIGINT; returns the exit status of the program. With
 * `check` only checks the configuration and tells what it means. */
int serve_run(const char *config, bool check);

#endif
