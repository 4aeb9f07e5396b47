/*
 * dpcount: reads the arguments, asks the library, prints. Results go to
 * standard output, errors to standard error (with --format json both to
 * standard output as one object).
 */
#include "shell.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void json_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

/* What a terminal would obey is shown, not sent: names come from catalogues,
 * files and arguments. */
static void say(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s, next = (unsigned char)s[1];
        bool high = c == 0xc2 && next >= 0x80 && next < 0xa0;
        if ((c < 0x20 && c != '\n') || c == 0x7f || high)
            fprintf(stderr, "\\x%02x", high ? next : c);
        else
            fputc(c, stderr);
        s += high;
    }
}

int usage_error(bool json, const char *message, const char *what,
                const char *hint)
{
    char text[512];
    snprintf(text, sizeof text, *what ? "%s \"%.200s\"" : "%s%s", message,
             what);
    if (json) {
        printf("{\"error\": {\"code\": \"usage\", \"message\": ");
        json_text(text);
        printf(", \"detail\": \"\", \"hint\": ");
        json_text(hint);
        printf(", \"position\": null}}\n");
    } else {
        fputs("dpcount: ", stderr);
        say(text);
        fprintf(stderr, "\n%s%s%s", *hint ? "hint: " : "", hint,
                *hint ? "\n" : "");
    }
    return DPC_USAGE;
}

/* The line of the query that the position is in, and a mark under it. */
static void mark(const char *query, long position)
{
    size_t n = strlen(query), at = (size_t)position;
    if (at > n)
        return;
    size_t from = at, to = at;
    while (from && query[from - 1] != '\n')
        from--;
    while (query[to] && query[to] != '\n')
        to++;
    if (to - from > 200)
        return;
    for (size_t i = from; i < to; i++)
        if ((unsigned char)query[i] < 0x20 && query[i] != '\t')
            return;
    fprintf(stderr, "  %.*s\n  %*s^\n", (int)(to - from), query + from,
            (int)(at - from), "");
}

static void say_line(const char *what, const char *text)
{
    if (!*text)
        return;
    fputs(what, stderr);
    say(text);
    fputc('\n', stderr);
}

void print_error(const dpc_error *s, const char *query, bool json)
{
    if (json) {
        puts(dpc_error_json(s));
        return;
    }
    long line, column;
    const char *file = dpc_error_file(s, &line, &column);
    fprintf(stderr, "dpcount: ");
    say(file);
    if (*file)
        fprintf(stderr, ":");
    if (*file && line)
        fprintf(stderr, "%ld:", line);
    if (*file && line && column)
        fprintf(stderr, "%ld:", column);
    say_line(*file ? " " : "", dpc_error_message(s));
    if (query && dpc_error_position(s) >= 0)
        mark(query, dpc_error_position(s));
    say_line("detail: ", dpc_error_detail(s));
    say_line("hint: ", dpc_error_hint(s));
}

enum { MAX_QUERY = 1 << 20 };

/* A whole file; NULL and a message if it cannot be read. */
static char *read_query(const char *path, bool json)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    char *text = malloc(MAX_QUERY + 1);
    size_t n = 0;
    if (f && text)
        n = fread(text, 1, MAX_QUERY, f);
    bool bad = !f || !text || ferror(f) || n == MAX_QUERY;
    if (bad) {
        usage_error(json,
                    n == MAX_QUERY ? "the query file is too large:"
                                   : "could not read query file",
                    path, errno ? strerror(errno) : "");
        free(text);
        text = NULL;
    } else {
        text[n] = 0;
    }
    if (f && f != stdin)
        fclose(f);
    return text;
}

static int print_result(const dpc_result *r, const struct invocation *inv)
{
    enum shell_form form = FORM_TABLE;
    if (inv->json)
        puts(dpc_result_json(r));
    else if (inv->form && shell_form_of(inv->form, &form) && form != FORM_TABLE)
        shell_print(stdout, form, r);
    else
        terminal_print(stdout, dpc_result_text(r));
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "dpcount: could not write the output: %s\n",
                strerror(errno));
        return DPC_SOURCE;
    }
    return 0;
}

/* --- the two objects ------------------------------------------------------ */

/* A text that libpq would read: it may hold a password anywhere. */
static bool is_connection(const char *s)
{
    return strstr(s, "://") || strstr(s, "password");
}

/* Everybody on the machine may read the arguments of a process: once read, a
 * connection string is struck out. */
static void strike_out(const struct setting *x)
{
    char *s = (char *)(uintptr_t)x->value;
    if (!strcmp(x->name, "db") && is_connection(s))
        memset(s, 'x', strlen(s));
}

static dpc_status set_one(struct invocation *inv, const struct setting *x,
                          dpc_error **err)
{
    dpc_option o;
    size_t at;
    if (!find_option(x->name, strlen(x->name), &o, &at))
        return DPC_OK;
    if (o.side == DPC_SIDE_OWNER)
        return dpc_dataset_set(inv->dataset, x->name, x->value, err);
    if (o.side == DPC_SIDE_ANALYST && inv->asked)
        return dpc_question_set(inv->asked, x->name, x->value, err);
    return DPC_OK; /* an argument of the call */
}

static dpc_status make_objects(struct invocation *inv, const char *query,
                               dpc_error **err)
{
    dpc_status st = dpc_dataset_new(&inv->dataset);
    if (!st && inv->command->question)
        st = dpc_question_new(query, &inv->asked);
    for (size_t i = 0; !st && i < inv->n_settings; i++) {
        st = set_one(inv, &inv->settings[i], err);
        strike_out(&inv->settings[i]);
    }
    if (!st && inv->command->pinned)
        st = dpc_dataset_set(inv->dataset, "sealed", "yes", err);
    return st ? st
              : dpc_dataset_open(inv->dataset,
                                 inv->command->run ? DPC_OPEN_LATE : 0, err);
}

static int call_library(struct invocation *inv, const char *query)
{
    const struct command *c = inv->command;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    bool json = inv->json;
    FILE *picture = inv->plot ? plot_open(inv->plot, json) : NULL;
    if (inv->plot && !picture)
        return DPC_USAGE;
    dpc_status st = make_objects(inv, query, &e);
    if (!st) {
        if (picture)
            dpc_question_error_columns(inv->asked, 1);
        if (c->owner || inv->owner_flag)
            fputs("dpcount: these numbers are private; do not pass them on\n",
                  stderr);
        progress_start(inv);
        st = c->run(inv, &r, &e);
        progress_end();
    }
    /* PRIVACY: a file that is no query may be anything: its lines are shown to
     * its owner only. */
    bool show = c->owner || !inv->query_file;
    if (st && !r)
        print_error(e, show ? query : NULL, json);
    int written = r ? print_result(r, inv) : 0;
    if (picture && (st || !plot_draw(picture, r, query)) && !st)
        written = usage_error(json, "could not write", inv->plot, "");
    if (picture)
        fclose(picture);
    dpc_result_free(r);
    dpc_error_free(e);
    dpc_question_free(inv->asked);
    dpc_dataset_free(inv->dataset);
    return st ? (int)st : written;
}

/* The shell makes its questions itself. */
static int run_shell(struct invocation *inv)
{
    dpc_error *e = NULL;
    bool file = !strcmp(inv->command->name, "run");
    if (file && !inv->query)
        return usage_error(inv->json, "no file was given", "",
                           "Name it as the last argument; - is standard "
                           "input.");
    dpc_status st = make_objects(inv, "", &e);
    int status = (int)st;
    if (st)
        print_error(e, NULL, inv->json);
    else
        status = shell_run(inv, inv->query);
    dpc_error_free(e);
    dpc_dataset_free(inv->dataset);
    return status;
}

/* The query of a command that takes one, *text where it was read from a file;
 * not 0: said what is wrong. */
static int find_query(const struct invocation *inv, const char **out,
                      char **text)
{
    *out = inv->query;
    if (inv->query && inv->query_file)
        return usage_error(inv->json, "give a query or --query-file, not both",
                           "", "");
    if (inv->query_file) {
        *out = *text = read_query(inv->query_file, inv->json);
        if (!*text)
            return DPC_USAGE;
    }
    if (inv->command->question && !*out)
        return usage_error(inv->json, "no query was given", "",
                           "Write it in quotes as the last argument, or use "
                           "--query-file.");
    return 0;
}

static void say_what_it_is(const struct invocation *inv)
{
    if (inv->wants_version)
        printf("dpcount %s\n", dpc_version());
    else if (inv->command)
        help_command(stdout, inv->command);
    else if (inv->group)
        help_group(stdout, inv->group);
    else
        help_main(stdout);
}

int main(int argc, char **argv)
{
    static struct invocation inv; /* large */
    const char *query;
    char *text = NULL;
    int status = args_read(argc, argv, &inv);
    if (status < 0)
        status = 0; /* done */
    else if (status)
        ; /* said already */
    else if (inv.wants_version || inv.wants_help)
        say_what_it_is(&inv);
    else if (program_is(inv.command))
        status = program_run(&inv);
    else if (!inv.command->run)
        status = run_shell(&inv);
    else if (!(status = find_query(&inv, &query, &text)))
        status = call_library(&inv, query);
    free(text);
    while (inv.n_copies)
        free((char *)(uintptr_t)inv.settings[inv.n_settings - inv.n_copies--]
                 .value);
    return status;
}
