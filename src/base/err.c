/* Errors: see err.h. No allocation, so that it works when memory is gone. */
#define ERR_ITSELF
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum status status;
    const char *code;
    int exit_status;
    enum visibility visibility;
    const char *meaning;
} table[] = {
#define ERR(name, number, code, exit, vis, text) {name, code, exit, vis, text},
#include "base/errors.def"
#undef ERR
};

void err_clear(struct err *e)
{
    if (!e)
        return;
    memset(e, 0, sizeof *e);
    e->position = -1;
}

enum status err_set(struct err *e, enum status s, const char *fmt, ...)
{
    va_list ap;
    char text[sizeof e->message]; /* the arguments may be texts of e */
    if (!e)
        return s;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_clear(e);
    e->status = s;
    memcpy(e->message, text, strlen(text) + 1); /* no more of the stack */
    return s;
}

void err_detail(struct err *e, const char *fmt, ...)
{
    va_list ap;
    if (!e)
        return;
    va_start(ap, fmt);
    vsnprintf(e->detail, sizeof e->detail, fmt, ap);
    va_end(ap);
}

void err_hint(struct err *e, const char *fmt, ...)
{
    va_list ap;
    if (!e)
        return;
    va_start(ap, fmt);
    vsnprintf(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
}

void err_at(struct err *e, long position)
{
    if (e)
        e->position = position;
}

void err_in_file(struct err *e, const char *file, long line, long column)
{
    if (!e)
        return;
    snprintf(e->file, sizeof e->file, "%s", file);
    e->line = line;
    e->column = column;
}

enum status err_nomem(struct err *e)
{
    return err_set(e, E_NOMEM, "out of memory");
}

enum status err_internal(struct err *e, const char *where)
{
    err_set(e, E_INTERNAL, "internal error in %s", where);
    err_hint(e, "Please report it with the query and the schema.");
    return E_INTERNAL;
}

static size_t find(enum status s)
{
    size_t n = sizeof table / sizeof table[0];
    for (size_t i = 0; i < n; i++)
        if (table[i].status == s)
            return i;
    return n - 1; /* E_INTERNAL stands last */
}

const char *status_code(enum status s)
{
    return s == OK ? "ok" : table[find(s)].code;
}

int status_exit(enum status s)
{
    return s == OK ? 0 : table[find(s)].exit_status;
}

enum visibility status_visibility(enum status s)
{
    return s == OK ? ANALYST : table[find(s)].visibility;
}

const char *status_meaning(enum status s)
{
    return s == OK ? "done" : table[find(s)].meaning;
}
