/*
 * The printer's memory, texts, errors, and its view of the tree. Everything
 * is in one arena with a limit; the first error ends the printing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

struct cat_block {
    struct cat_block *next;
    max_align_t bytes[];
};

void *cat_arena_take(struct cat_arena *a, size_t n)
{
    struct cat_block *b;
    if (n > CAT_MEMORY || a->used > CAT_MEMORY - n)
        return NULL;
    b = calloc(1, sizeof *b + n);
    if (!b)
        return NULL;
    a->used += n + sizeof *b;
    b->next = a->blocks;
    a->blocks = b;
    return b->bytes;
}

void cat_arena_free(struct cat_arena *a)
{
    while (a->blocks) {
        struct cat_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->used = 0;
}

static void set_error(struct catalogue_error *err, const char *state, long at,
                      const char *format, va_list args)
{
    memset(err, 0, sizeof *err);
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", state);
    vsnprintf(err->message, sizeof err->message, format, args);
    err->position = at;
}

void cat_error(struct catalogue_error *err, const char *state, long at,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(err, state, at, format, args);
    va_end(args);
}

void cat_fail(struct cat_printer *p, const char *state, long at,
              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(p->err, state, at, format, args);
    va_end(args);
    longjmp(p->out, 1);
}

void cat_refuse(struct cat_printer *p, const json_t *at, const char *what)
{
    cat_error(p->err, "0A000", at ? cat_at(at) : -1,
              "%s in a query of the catalogue is not supported", what);
    longjmp(p->out, 1);
}

void *cat_take(struct cat_printer *p, size_t n)
{
    void *m = cat_arena_take(&p->arena, n ? n : 1);
    if (!m)
        cat_fail(p, "54001", -1, "the statement is too large");
    return m;
}

const char *cat_format(struct cat_printer *p, const char *format, ...)
{
    va_list args;
    char *s;
    int n;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        cat_fail(p, "54001", -1, "the statement is too large");
    s = cat_take(p, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(s, (size_t)n + 1, format, args);
    va_end(args);
    return s;
}

const char *cat_quote(struct cat_printer *p, const char *text)
{
    char *s = cat_take(p, 2 * strlen(text) + 3), *to = s;
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *to++ = '\'';
        *to++ = *text;
    }
    *to++ = '\'';
    *to = 0;
    return s;
}

void cat_enter(struct cat_printer *p)
{
    if (++p->depth > CAT_DEPTH)
        cat_fail(p, "54001", -1, "the statement is nested too deeply");
}

void cat_add(struct cat_printer *p, struct cat_buffer *b, const char *text)
{
    size_t n = strlen(text);
    if (b->n + n + 1 > b->room) {
        size_t room = 2 * (b->n + n + 64);
        char *s = cat_take(p, room);
        if (b->n)
            memcpy(s, b->s, b->n);
        b->s = s;
        b->room = room;
    }
    memcpy(b->s + b->n, text, n + 1);
    b->n += n;
}

const json_t *cat_get(const json_t *fields, const char *key)
{
    return json_object_get(fields, key);
}

const char *cat_kind(const json_t *node, const json_t **fields)
{
    /* jansson's iterators take a non-const object and do not change it */
    void *it = json_object_iter((json_t *)(uintptr_t)node);
    *fields = it ? json_object_iter_value(it) : NULL;
    return it ? json_object_iter_key(it) : "";
}

const json_t *cat_as(const json_t *node, const char *kind)
{
    const json_t *fields;
    return strcmp(cat_kind(node, &fields), kind) == 0 ? fields : NULL;
}

const char *cat_string(const json_t *fields, const char *key)
{
    const char *s = json_string_value(cat_get(fields, key));
    return s ? s : "";
}

bool cat_flag(const json_t *fields, const char *key)
{
    return json_is_true(cat_get(fields, key));
}

long cat_at(const json_t *fields)
{
    const json_t *at = cat_get(fields, "location");
    return at ? (long)json_integer_value(at) : -1;
}

const char *cat_name_of(const json_t *string_node)
{
    const json_t *s = cat_as(string_node, "String");
    return s ? cat_string(s, "sval") : "";
}
