/* Reading for the shell: lines, by libedit on a terminal, and statements. */
#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "line_editor.h"
#include "shell.h"

enum { MOST = 1 << 20 };

void shell_lines_open(struct shell_lines *r, FILE *from)
{
    const char *home = getenv("HOME");
    *r = (struct shell_lines){.from = from};
    if (from || !line_editor_open() || !home)
        return;
    snprintf(r->history, sizeof r->history, "%s/.dpcount_history", home);
    line_editor.using_history();
    line_editor.read_history(r->history);
}

/* Ctrl-C while a line is typed: back to before it. One that came a little
 * earlier, between two lines, is kept until then. */
static sigjmp_buf before_line;
static volatile sig_atomic_t reading, interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    if (reading)
        siglongjmp(before_line, 1);
}

static char *read_line(const char *prompt)
{
    char *line = NULL;
    size_t cap = 0;
    if (line_editor.readline)
        return line_editor.readline(prompt);
    fputs(prompt, stdout);
    fflush(stdout);
    ssize_t n = getline(&line, &cap, stdin);
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = 0;
    if (n > 0)
        return line;
    free(line);
    return NULL;
}

/* The handler stays: between two lines nothing else should take the signal,
 * and a question that runs brings its own. */
static char *edited_line(const char *prompt)
{
    struct sigaction sa = {.sa_handler = on_interrupt};
    sigemptyset(&sa.sa_mask);
    sigaction(SIGINT, &sa, NULL);
    if (sigsetjmp(before_line, 1)) {
        reading = 0;
        return NULL;
    }
    reading = 1;
    char *line = interrupted ? NULL : read_line(prompt);
    reading = 0;
    return line;
}

char *shell_lines_next(struct shell_lines *r, const char *prompt)
{
    if (!r->from) {
        free(r->line);
        r->line = edited_line(prompt);
        r->dropped = interrupted;
        interrupted = 0;
        if (!r->dropped)
            return r->line;
        putchar('\n');
        free(r->line);
        return r->line = strdup("");
    }
    ssize_t n = getline(&r->line, &r->cap, r->from);
    if (n < 0)
        return NULL;
    while (n && (r->line[n - 1] == '\n' || r->line[n - 1] == '\r'))
        r->line[--n] = 0;
    return r->line;
}

void shell_lines_remember(struct shell_lines *r, const char *statement)
{
    if (!r->from && line_editor.add_history)
        line_editor.add_history(statement);
}

/* What was asked may be nobody else's business: for its user only. */
void shell_lines_close(struct shell_lines *r)
{
    if (!r->from && *r->history) {
        mode_t old = umask(077);
        line_editor.write_history(r->history);
        umask(old);
    }
    free(r->line);
}

bool shell_text_add(struct shell_text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n >= MOST)
        return false;
    if (t->n + n + 1 > t->cap) {
        size_t cap = 2 * (t->n + n) + 256;
        char *p = realloc(t->p, cap);
        if (!p)
            return false;
        t->p = p;
        t->cap = cap;
    }
    memcpy(t->p + t->n, s, n + 1);
    t->n += n;
    return true;
}

bool shell_is_blank(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return !*text;
}

/* Behind the quoted text that begins at p, or NULL: it is not closed. */
static const char *after_quote(const char *p)
{
    const char *end = strchr(p + 1, *p);
    return end ? end + 1 : NULL;
}

/* $tag$ ... $tag$; p itself, where none begins. */
static const char *after_dollar(const char *p)
{
    const char *q = p + 1;
    char tag[64];
    while (isalnum((unsigned char)*q) || *q == '_')
        q++;
    size_t n = (size_t)(q - p) + 1;
    if (*q != '$' || isdigit((unsigned char)p[1]) || n >= sizeof tag)
        return p;
    memcpy(tag, p, n);
    tag[n] = 0;
    const char *end = strstr(q + 1, tag);
    return end ? end + n : NULL;
}

/* Comments of SQL nest. */
static const char *after_comment(const char *p)
{
    int depth = 0;
    for (; *p; p++) {
        if (p[0] == '/' && p[1] == '*') {
            depth++;
            p++;
        } else if (p[0] == '*' && p[1] == '/') {
            p++;
            if (--depth == 0)
                return p + 1;
        }
    }
    return NULL;
}

static bool is_rule(const char *text, const char *end)
{
    const char *at = strstr(text, ":-");
    return at && at < end;
}

static bool ends_line(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return !*p || *p == '\n';
}

size_t shell_statement(const char *text)
{
    const char *p = text;
    while (p && *p) {
        const char *from = p;
        if (*p == ';')
            return (size_t)(p - text) + 1;
        if (*p == '.' && ends_line(p + 1) && is_rule(text, p))
            return (size_t)(p - text) + 1;
        if (*p == '\'' || *p == '"')
            p = after_quote(p);
        else if (*p == '-' && p[1] == '-')
            p += strcspn(p, "\n");
        else if (*p == '/' && p[1] == '*')
            p = after_comment(p);
        else if (*p == '$')
            p = after_dollar(p);
        if (p == from)
            p++;
    }
    return 0;
}
