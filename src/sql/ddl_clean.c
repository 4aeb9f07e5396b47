/*
 * Schema files as pg_dump and sqlite3 write them: what is no SQL of
 * PostgreSQL's grammar is replaced by blanks of the same length, so that
 * errors name the right place. See ddl_int.h.
 */
#include <string.h>
#include <strings.h>

#include "sql/ddl_int.h"

struct cleaner {
    char *p;
    size_t n, i;
};

static void blank(struct cleaner *c, size_t from, size_t to)
{
    for (size_t i = from; i < to && i < c->n; i++)
        if (c->p[i] != '\n')
            c->p[i] = ' ';
}

static size_t line_end(const struct cleaner *c, size_t from)
{
    const char *end = memchr(c->p + from, '\n', c->n - from);
    return end ? (size_t)(end - c->p) : c->n;
}

static bool begins(const struct cleaner *c, size_t at, const char *word)
{
    size_t n = strlen(word);
    return c->n - at >= n && strncasecmp(c->p + at, word, n) == 0;
}

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
           (ch >= '0' && ch <= '9') || ch == '_' || (ch & 0x80);
}

/* Blanks the word at i, if it is this one; with `next` both. */
static bool blank_word(struct cleaner *c, const char *word, const char *next)
{
    size_t end = c->i + strlen(word), after;
    if (!begins(c, c->i, word) || (end < c->n && is_word(c->p[end])))
        return false;
    if (next) {
        after = end;
        while (after < c->n && strchr(" \t\r\n", c->p[after]) && c->p[after])
            after++;
        if (!begins(c, after, next))
            return false;
        end = after + strlen(next);
    }
    blank(c, c->i, end);
    c->i = end;
    return true;
}

/* Behind what is quoted: 'x', "x"; `x` and [x] become "x". */
static void pass_quoted(struct cleaner *c, char close)
{
    bool other = close == '`' || close == ']';
    size_t start = c->i++;
    while (c->i < c->n && c->p[c->i] != close)
        c->i++;
    if (other && c->i < c->n)
        c->p[start] = c->p[c->i] = '"';
    c->i++;
}

/* Behind the next `end`, from i on. */
static void pass_until(struct cleaner *c, const char *end, size_t n)
{
    const char *at = memmem(c->p + c->i, c->n - c->i, end, n);
    c->i = at ? (size_t)(at - c->p) + n : c->n;
}

/* Tables of SQLite's own, in which columns have no types. */
static bool blank_own_table(struct cleaner *c)
{
    static const char *const words[] = {"CREATE", "TABLE", "sqlite_"};
    size_t at = c->i;
    for (size_t k = 0; k < 3; k++) {
        if (!begins(c, at, words[k]))
            return false;
        at += strlen(words[k]);
        while (k < 2 && at < c->n && (c->p[at] == ' ' || c->p[at] == '\t'))
            at++;
    }
    size_t start = c->i;
    pass_until(c, ";", 1);
    blank(c, start, c->i);
    return true;
}

static void pass_word(struct cleaner *c)
{
    if (blank_own_table(c) || blank_word(c, "AUTOINCREMENT", NULL) ||
        blank_word(c, "WITHOUT", "ROWID"))
        return;
    size_t back = c->i; /* STRICT only behind the columns */
    while (back > 0 && strchr(" \t\r\n,", c->p[back - 1]))
        back--;
    if (back > 0 && c->p[back - 1] == ')' && blank_word(c, "STRICT", NULL)) {
        if (c->p[back] == ',')
            c->p[back] = ' ';
        return;
    }
    while (c->i < c->n && is_word(c->p[c->i]))
        c->i++;
}

static void pass_line_of_psql(struct cleaner *c)
{
    size_t end = line_end(c, c->i);
    blank(c, c->i, end);
    c->i = end;
}

/* COPY t FROM stdin; its rows end with a line \\. */
static void pass_rows(struct cleaner *c)
{
    size_t end = line_end(c, c->i);
    blank(c, c->i, end);
    for (c->i = end; c->i < c->n; c->i = end) {
        end = line_end(c, c->i + 1);
        bool last = begins(c, c->i + 1, "\\.");
        blank(c, c->i, end);
        if (last)
            break;
    }
    c->i = end;
}

/* $tag$ ... $tag$: the body of a function */
static void pass_dollars(struct cleaner *c)
{
    size_t start = c->i++;
    while (c->i < c->n && is_word(c->p[c->i]))
        c->i++;
    if (c->i >= c->n || c->p[c->i] != '$')
        return;
    c->i++;
    pass_until(c, c->p + start, c->i - start);
}

static void step(struct cleaner *c, bool at_start)
{
    char ch = c->p[c->i];
    if (at_start && ch == '\\')
        pass_line_of_psql(c);
    else if (at_start && begins(c, c->i, "COPY "))
        pass_rows(c);
    else if (ch == '-' && c->i + 1 < c->n && c->p[c->i + 1] == '-')
        c->i = line_end(c, c->i);
    else if (begins(c, c->i, "/*"))
        pass_until(c, "*/", 2);
    else if (ch == '$' && !(c->i && is_word(c->p[c->i - 1])))
        pass_dollars(c);
    else if (ch == '\'' || ch == '"' || ch == '`')
        pass_quoted(c, ch);
    else if (ch == '[' && c->i + 1 < c->n && is_word(c->p[c->i + 1]) &&
             !(c->p[c->i + 1] >= '0' && c->p[c->i + 1] <= '9') &&
             !(c->i && (is_word(c->p[c->i - 1]) || c->p[c->i - 1] == ']')))
        pass_quoted(c, ']');
    else if (is_word(ch))
        pass_word(c);
    else
        c->i++;
}

enum status ddl_clean(struct arena *a, struct str text, struct str *out,
                      struct err *err)
{
    *out = str_copy(a, text);
    if (!out->p)
        return err_nomem(err);
    struct cleaner c = {.p = (char *)(uintptr_t)out->p, .n = out->n};
    while (c.i < c.n)
        step(&c, c.i == 0 || c.p[c.i - 1] == '\n');
    return OK;
}
