/*
 * dpcount shell and dpcount run: statements from a terminal, a file or standard
 * input, asked one after the other of one data set.
 */
#ifndef CLI_SHELL_H
#define CLI_SHELL_H

#include "cli.h"

enum shell_form { FORM_TABLE, FORM_CSV, FORM_JSON, FORM_MARKDOWN };
bool shell_form_of(const char *name, enum shell_form *out);

/* shell_read.c: lines, from a terminal with editing and history. */
struct shell_lines {
    FILE *from; /* NULL: a terminal */
    char *line; /* the last one; the reader's */
    size_t cap;
    bool dropped;       /* Ctrl-C: what was typed so far is not meant */
    char history[4096]; /* its file; empty: none */
};
void shell_lines_open(struct shell_lines *r, FILE *from);
/* The next line without its end, or NULL. */
char *shell_lines_next(struct shell_lines *r, const char *prompt);
void shell_lines_remember(struct shell_lines *r, const char *statement);
void shell_lines_close(struct shell_lines *r);

/* Text that grows. */
struct shell_text {
    char *p;
    size_t n, cap;
};
/* False: no memory, or longer than a query may be. */
bool shell_text_add(struct shell_text *t, const char *s);
/* Length of the first statement with its semicolon; 0: it is not whole yet.
 * Quotes, dollar quotes and comments are skipped; a rule ends with a point at
 * the end of its line. */
size_t shell_statement(const char *text);
bool shell_is_blank(const char *text);

/* shell_print.c */
void shell_print(FILE *to, enum shell_form form, const dpc_result *r);
void shell_print_tables(FILE *to, const dpc_dataset *d);
/* False: there is no such table. */
bool shell_print_table(FILE *to, const dpc_dataset *d, const char *name);

/* shell.c; from: - is standard input, NULL a terminal if there is one. */
int shell_run(struct invocation *inv, const char *from);

#endif
