/*
 * The program: options to dpc_set, commands to dpc_* calls, results to
 * standard output. Uses only <dpcount.h>.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dpcount.h"

typedef dpc_status question_fn(dpc_session *s, const char *query,
                               dpc_result **out);
typedef dpc_status command_fn(dpc_session *s, dpc_result **out);

struct command {
    const char *name, *sub; /* sub: second word, or NULL */
    question_fn *question;  /* takes a query, or */
    command_fn *command;    /* does not */
    bool owner;             /* prints private numbers */
    const char *summary;    /* one line */
    const char *help;       /* what it does, in a few lines, with examples */
};
extern const struct command commands[];
extern const size_t n_commands;

/* Does the command take the option? */
bool command_takes(const struct command *c, const dpc_option *o);

/* What the arguments say. */
struct invocation {
    const struct command *command;
    const char *group;      /* help for all commands of this name; or NULL */
    const char *query;      /* NULL: none */
    const char *query_file; /* NULL: none */
    bool json;
    bool wants_help, wants_version, owner_flag;
};

/* Reads argv, setting options of the session as it goes. On failure prints
 * (text or JSON) and returns the exit status, else 0. */
int args_read(int argc, char **argv, dpc_session *s, struct invocation *out);

void help_main(FILE *to);
/* The commands of one name: budget. */
void help_group(FILE *to, const char *name);
void help_command(FILE *to, const struct command *c);

/* A problem with the command line itself. Returns DPC_USAGE. */
int usage_error(bool json, const char *message, const char *what,
                const char *hint);
/* The session's error, with the place in the query marked. */
void print_error(dpc_session *s, const char *query, bool json);

/* Progress on a terminal after the first second; Ctrl-C cancels. */
void progress_start(dpc_session *s);
void progress_end(void);

#endif
