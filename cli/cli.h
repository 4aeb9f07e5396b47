/*
 * The program: options to a data set and a question, commands to dpc_* calls,
 * results to standard output. Uses only <dpcount.h>.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dpcount.h"

enum { MAX_OPTIONS = 256, MAX_SETTINGS = 4096 };

/* An option as given: where from does not matter any more. */
struct setting {
    const char *name, *value;
};

struct invocation;
/* What a command asks of the library. */
typedef dpc_status command_fn(const struct invocation *inv, dpc_result **out,
                              dpc_error **err);

struct command {
    const char *name, *sub; /* sub: second word, or NULL */
    bool question;          /* takes a query */
    command_fn *run;        /* NULL: the shell, or program_run */
    bool owner;             /* prints private numbers */
    bool pinned;            /* the owner's settings come from --config alone */
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
    const char *form;       /* --format as given; NULL: not */
    const char *config;     /* NULL: none given */
    const char *plot;       /* file of a picture; NULL: none */
    bool json, format_given, keep_going, check_config;
    bool wants_help, wants_version, owner_flag;
    struct setting settings[MAX_SETTINGS]; /* in the order given */
    size_t n_settings, n_copies; /* the last of them are copies, to be freed */
    /* made from the settings when all are known */
    dpc_dataset *dataset;
    dpc_question *asked; /* NULL: the command takes no query */
};

/* Reads argv. On failure prints (text or JSON) and returns the exit status,
 * else 0. */
int args_read(int argc, char **argv, struct invocation *out);
/* What the environment and a configuration file say besides; `seen`: by place
 * in the table, what the arguments say. Prints and returns like args_read. */
int config_read(struct invocation *inv, bool *seen);
/* The completion of a shell, from the tables; false: not that shell. */
bool completion_print(FILE *to, const char *shell);
/* The option's value, NULL: not given. */
const char *setting_of(const struct invocation *inv, const char *name);
/* The option of that name (n bytes), and its place in the table. */
bool find_option(const char *name, size_t n, dpc_option *out, size_t *at);

/* Commands that are programs of their own: serve, passwd. Returns the exit
 * status. */
bool program_is(const struct command *c);
int program_run(const struct invocation *inv);

void help_main(FILE *to);
/* The commands of one name: budget. */
void help_group(FILE *to, const char *name);
void help_command(FILE *to, const struct command *c);

/* terminal.c: a text for people. */
void terminal_print(FILE *to, const char *text);
/* plot.c: the file, made before anything is asked; NULL and a message. */
FILE *plot_open(const char *path, bool json);
/* The rows of a release; false: they could not be written. */
bool plot_draw(FILE *to, const dpc_result *r, const char *query);
/* suggestions.c: what was meant, perhaps; NULL: nothing is near. */
const char *nearest_command(const char *asked);
const char *nearest_sub(const char *name, const char *asked);
const char *nearest_option(const char *asked);

/* A problem with the command line itself. Returns DPC_USAGE. */
int usage_error(bool json, const char *message, const char *what,
                const char *hint);
/* An error, with the place in the query marked. */
void print_error(const dpc_error *e, const char *query, bool json);

/* Progress on a terminal after the first second; Ctrl-C cancels. */
void progress_start(struct invocation *inv);
void progress_end(void);

#endif
