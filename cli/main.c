/*
 * dpcount: reads the arguments, asks the library, prints. Results go to
 * standard output, errors to standard error (with --format json both to
 * standard output as one object).
 */
#include "cli.h"

#include <errno.h>
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

void print_error(dpc_session *s, const char *query, bool json)
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

static int print_result(const dpc_result *r, bool json)
{
    if (json)
        puts(dpc_result_json(r));
    else
        fputs(dpc_result_text(r), stdout);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "dpcount: could not write the output: %s\n",
                strerror(errno));
        return DPC_SOURCE;
    }
    return 0;
}

static int ask(dpc_session *s, const struct invocation *inv, const char *query)
{
    const struct command *c = inv->command;
    dpc_result *r = NULL;
    bool json = inv->json;
    if (c->owner || inv->owner_flag)
        fputs("dpcount: these numbers are private; do not pass them on\n",
              stderr);
    progress_start(s);
    dpc_status st = c->question ? c->question(s, query, &r) : c->command(s, &r);
    progress_end();
    /* PRIVACY: a file that is no query may be anything: its lines are shown to
     * its owner only. */
    bool show = c->owner || !inv->query_file;
    if (!r)
        print_error(s, show ? query : NULL, json);
    int written = r ? print_result(r, json) : 0;
    dpc_result_free(r);
    return st ? (int)st : written;
}

static int run(dpc_session *s, const struct invocation *inv)
{
    const char *query = inv->query;
    char *text = NULL;
    if (inv->query && inv->query_file)
        return usage_error(inv->json, "give a query or --query-file, not both",
                           "", "");
    if (inv->query_file) {
        text = read_query(inv->query_file, inv->json);
        if (!text)
            return DPC_USAGE;
        query = text;
    }
    if (inv->command->question && !query)
        return usage_error(inv->json, "no query was given", "",
                           "Write it in quotes as the last argument, or use "
                           "--query-file.");
    int status = ask(s, inv, query);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    dpc_session *s;
    struct invocation inv;
    if (dpc_session_new(&s)) {
        fputs("dpcount: out of memory\n", stderr);
        return DPC_LIMIT;
    }
    int status = args_read(argc, argv, s, &inv);
    if (status) {
        /* said already */
    } else if (inv.wants_version) {
        printf("dpcount %s\n", dpc_version());
    } else if (inv.wants_help) {
        if (inv.command)
            help_command(stdout, inv.command);
        else if (inv.group)
            help_group(stdout, inv.group);
        else
            help_main(stdout);
    } else {
        status = run(s, &inv);
    }
    dpc_session_free(s);
    return status;
}
