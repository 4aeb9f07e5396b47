/*
 * The shell: statements that end with a semicolon are released, lines that
 * begin with a backslash are commands. The data set is opened once; every
 * statement is a question of its own.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "shell.h"

enum { MAX_SET = 64 };

struct shell {
    struct invocation *inv;
    FILE *out; /* standard output, or the file of \o */
    enum shell_form form;
    bool timing, keep_going, done;
    /* the analyst's options: of the command line, then of \set */
    struct setting set[MAX_SET];
    char *owned[MAX_SET]; /* values of \set */
    size_t n_set;
    int status; /* of the last failure */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void failed(struct shell *s, int status)
{
    s->status = status;
    s->done |= !s->keep_going;
}

/* --- questions -------------------------------------------------------------
 */

typedef dpc_status ask_fn(const struct shell *s, dpc_question *q,
                          dpc_result **out, dpc_error **err);

static dpc_status ask_release(const struct shell *s, dpc_question *q,
                              dpc_result **out, dpc_error **err)
{
    return dpc_release(s->inv->dataset, q, setting_of(s->inv, "analyst"), out,
                       err);
}

static dpc_status ask_quote(const struct shell *s, dpc_question *q,
                            dpc_result **out, dpc_error **err)
{
    return dpc_quote(s->inv->dataset, q, out, err);
}

static dpc_status make_question(const struct shell *s, const char *text,
                                dpc_question **out, dpc_error **err)
{
    dpc_status st = dpc_question_new(text, out);
    for (size_t i = 0; !st && i < s->n_set; i++)
        st = dpc_question_set(*out, s->set[i].name, s->set[i].value, err);
    return st;
}

static void ask(struct shell *s, const char *text, ask_fn *fn)
{
    dpc_question *q = NULL;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    double from = seconds();
    dpc_status st = make_question(s, text, &q, &e);
    if (!st) {
        s->inv->asked = q;
        progress_start(s->inv);
        st = fn(s, q, &r, &e);
        progress_end();
    }
    if (st) {
        print_error(e, text, s->form == FORM_JSON);
        failed(s, (int)st);
    } else {
        shell_print(s->out, s->form, r);
    }
    if (s->timing)
        fprintf(stderr, "time: %.3f s\n", seconds() - from);
    dpc_result_free(r);
    dpc_error_free(e);
    dpc_question_free(q);
    s->inv->asked = NULL;
}

/* EXPLAIN is the quote. */
static void statement(struct shell *s, const char *text)
{
    while (strchr(" \t\r\n", *text) && *text)
        text++;
    if (!strncasecmp(text, "EXPLAIN", 7) && strchr(" \t\n", text[7]))
        ask(s, text + 8, ask_quote);
    else if (strcmp(text, ";"))
        ask(s, text, ask_release);
}

/* --- commands --------------------------------------------------------------
 */

static void complain(struct shell *s, const char *what, const char *name)
{
    fprintf(stderr, "dpcount: %s%s%s\n", what, *name ? " " : "", name);
    failed(s, DPC_USAGE);
}

static void print_account(struct shell *s,
                          dpc_status (*fn)(const dpc_dataset *, const char *,
                                           dpc_result **, dpc_error **))
{
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    dpc_status st = fn(s->inv->dataset, setting_of(s->inv, "analyst"), &r, &e);
    if (st) {
        print_error(e, NULL, s->form == FORM_JSON);
        failed(s, (int)st);
    } else {
        shell_print(s->out, s->form, r);
    }
    dpc_result_free(r);
    dpc_error_free(e);
}

static void set_output(struct shell *s, const char *file)
{
    if (s->out != stdout)
        fclose(s->out);
    s->out = stdout;
    if (!*file)
        return;
    FILE *to = fopen(file, "we");
    if (to)
        s->out = to;
    else
        complain(s, "could not write file", file);
}

static void show_set(const struct shell *s)
{
    for (size_t i = 0; i < s->n_set; i++)
        fprintf(s->out, "  %-16s %s\n", s->set[i].name, s->set[i].value);
}

/* \set epsilon 0.5: for the questions that follow. */
static void set_option(struct shell *s, char *rest)
{
    char *more = NULL;
    char *name = strtok_r(rest, " \t", &more),
         *value = strtok_r(NULL, "", &more);
    dpc_option o;
    size_t at, i = 0;
    if (!name) {
        show_set(s);
        return;
    }
    if (!find_option(name, strlen(name), &o, &at) ||
        o.side != DPC_SIDE_ANALYST || o.program) {
        complain(s, "no option of questions is called", name);
        return;
    }
    while (i < s->n_set && strcmp(s->set[i].name, o.name))
        i++;
    char *copy = value ? strdup(value) : NULL;
    if (i == MAX_SET || !copy) {
        complain(s, "this option needs a value:", o.name);
        free(copy);
        return;
    }
    free(s->owned[i]);
    s->owned[i] = copy;
    s->set[i] = (struct setting){o.name, copy};
    s->n_set += i == s->n_set;
}

static void describe(struct shell *s, const char *name)
{
    if (!*name)
        shell_print_tables(s->out, s->inv->dataset);
    else if (!shell_print_table(s->out, s->inv->dataset, name))
        complain(s, "there is no table", name);
}

static const char help_text[] =
    "  SELECT ...;         release: a noisy answer, charged to the ledger\n"
    "  EXPLAIN SELECT ...; what it would cost, for nothing; also \\quote\n"
    "  \\d [TABLE]          tables, or the columns of one\n"
    "  \\budget, \\history   what is spent and left; what was asked\n"
    "  \\set [NAME VALUE]   epsilon, delta, groups, ... of what follows\n"
    "  \\format FORM        text, csv, json or markdown\n"
    "  \\o [FILE]           answers go to a file; to the terminal again\n"
    "  \\timing             how long it took, on and off\n"
    "  \\q                  end\n"
    "  Ctrl-C              drops what was typed; stops what runs\n";

static void command(struct shell *s, char *line)
{
    char *at = NULL;
    char *name = strtok_r(line + 1, " \t", &at),
         *rest = strtok_r(NULL, "", &at);
    char none[1] = "";
    rest = rest ? rest : none;
    if (!name || !strcmp(name, "?"))
        fputs(help_text, s->out);
    else if (!strcmp(name, "d") || !strcmp(name, "dt"))
        describe(s, rest);
    else if (!strcmp(name, "budget"))
        print_account(s, dpc_budget_show);
    else if (!strcmp(name, "history"))
        print_account(s, dpc_budget_history);
    else if (!strcmp(name, "quote"))
        ask(s, rest, ask_quote);
    else if (!strcmp(name, "set"))
        set_option(s, rest);
    else if (!strcmp(name, "o"))
        set_output(s, rest);
    else if (!strcmp(name, "timing"))
        s->timing = !s->timing;
    else if (!strcmp(name, "q"))
        s->done = true;
    else if (strcmp(name, "format") || !shell_form_of(rest, &s->form))
        complain(s, "no command (\\? lists them):", name);
    fflush(s->out);
}

/* --- the loop --------------------------------------------------------------
 */

static void all_statements(struct shell *s, struct shell_lines *in,
                           struct shell_text *text)
{
    size_t n;
    while (!s->done && text->p && (n = shell_statement(text->p))) {
        char *one = strndup(text->p, n);
        memmove(text->p, text->p + n, text->n - n + 1);
        text->n -= n;
        if (!one)
            return;
        shell_lines_remember(in, one);
        statement(s, one);
        free(one);
    }
    if (text->p && shell_is_blank(text->p))
        text->p[text->n = 0] = 0;
}

static void loop(struct shell *s, struct shell_lines *in)
{
    struct shell_text text = {0};
    char *line;
    while (!s->done &&
           (line = shell_lines_next(in, text.n ? "   ...> " : "dpcount> "))) {
        if (in->dropped) {
            text.n = 0;
        } else if (!text.n && *line == '\\') {
            command(s, line);
        } else if (!shell_text_add(&text, line) ||
                   !shell_text_add(&text, "\n")) {
            complain(s, "the statement is too long", "");
            break;
        } else {
            all_statements(s, in, &text);
        }
    }
    if (!s->done && text.n && !shell_is_blank(text.p))
        statement(s, text.p); /* the last one may lack its semicolon */
    free(text.p);
}

static void take_options(struct shell *s)
{
    dpc_option o;
    size_t at;
    for (size_t i = 0; i < s->inv->n_settings && s->n_set < MAX_SET; i++) {
        const struct setting *x = &s->inv->settings[i];
        if (find_option(x->name, strlen(x->name), &o, &at) &&
            o.side == DPC_SIDE_ANALYST && !o.program)
            s->set[s->n_set++] = *x;
    }
}

int shell_run(struct invocation *inv, const char *from)
{
    struct shell s = {.inv = inv, .out = stdout, .keep_going = inv->keep_going};
    struct shell_lines in;
    bool terminal = !from && isatty(0) && isatty(1);
    FILE *file = terminal                      ? NULL
                 : !from || !strcmp(from, "-") ? stdin
                                               : fopen(from, "re");
    if (!terminal && !file)
        return usage_error(inv->json, "could not read file", from, "");
    shell_form_of(inv->form ? inv->form : inv->json ? "json" : "text", &s.form);
    s.keep_going |= terminal;
    take_options(&s);
    if (terminal)
        puts("dpcount: \\? for help, \\q to end");
    shell_lines_open(&in, file);
    loop(&s, &in);
    shell_lines_close(&in);
    if (file && file != stdin)
        fclose(file);
    set_output(&s, "");
    for (size_t i = 0; i < MAX_SET; i++)
        free(s.owned[i]);
    return terminal ? 0 : s.status;
}
