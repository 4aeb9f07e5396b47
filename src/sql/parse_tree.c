/*
 * libpg_query's parse tree, as the JSON text it gives, read with jansson.
 *
 * The tree leaves out default values: false flags, empty lists, zeros. So an
 * absent field is never an error here, it is the default. One trap more: in
 * {"A_Const": {"ival": {}}} the value is 0 or negative (scalar.c).
 */
#include <pg_query.h>
#include <string.h>

#include "sql/sql_int.h"

/* The parser counts characters from 1; we count bytes from 0. */
static long byte_position(const char *text, int cursor)
{
    long i = 0;
    for (int chars = 1; chars < cursor && text[i]; chars++)
        do
            i++;
        while (((unsigned char)text[i] & 0xC0) == 0x80);
    return i;
}

static enum status syntax_error(const char *text, const PgQueryError *e,
                                struct err *err)
{
    err_set(err, E_SYNTAX, "%s", e->message ? e->message : "syntax error");
    if (e->cursorpos > 0)
        err_at(err, byte_position(text, e->cursorpos));
    return E_SYNTAX;
}

enum status parse_tree_make(const char *text, struct parse_tree *out,
                            struct err *err)
{
    PgQueryParseResult r = pg_query_parse(text);
    json_error_t why;
    enum status st = OK;
    out->root = NULL;
    if (r.error) {
        st = syntax_error(text, r.error, err);
    } else {
        out->root = json_loads(r.parse_tree, 0, &why);
        if (!out->root && json_error_code(&why) == json_error_stack_overflow)
            st = err_set(err, E_TOO_LARGE, "the query is nested too deeply");
        else if (!out->root)
            st = err_internal(err, "the parse tree cannot be read");
    }
    pg_query_free_parse_result(r);
    return st;
}

void parse_tree_free(struct parse_tree *t)
{
    json_decref(t->root);
    t->root = NULL;
}

const char *node_kind(const json_t *node, const json_t **fields)
{
    /* jansson's iterators take a non-const object and do not change it */
    void *it = json_object_iter((json_t *)(uintptr_t)node);
    *fields = it ? json_object_iter_value(it) : NULL;
    return it ? json_object_iter_key(it) : "";
}

const json_t *node_as(const json_t *node, const char *kind)
{
    const json_t *fields;
    return strcmp(node_kind(node, &fields), kind) == 0 ? fields : NULL;
}

const json_t *get(const json_t *fields, const char *key)
{
    return json_object_get(fields, key);
}

const char *get_text(const json_t *fields, const char *key)
{
    const char *s = json_string_value(get(fields, key));
    return s ? s : "";
}

bool get_flag(const json_t *fields, const char *key)
{
    return json_is_true(get(fields, key));
}

size_t get_size(const json_t *fields, const char *key)
{
    return json_array_size(get(fields, key));
}

long get_location(const json_t *fields)
{
    const json_t *v = get(fields, "location");
    return json_is_integer(v) ? (long)json_integer_value(v) : -1;
}

static void least_location(const json_t *node, int depth, long *best)
{
    const char *key;
    const json_t *v;
    size_t i;
    if (depth > 400)
        return;
    if (json_is_object(node)) {
        long here = get_location(node);
        if (here >= 0 && (*best < 0 || here < *best))
            *best = here;
        json_object_foreach((json_t *)(uintptr_t)node, key, v)
            least_location(v, depth + 1, best);
    } else {
        json_array_foreach((json_t *)(uintptr_t)node, i, v)
            least_location(v, depth + 1, best);
    }
}

long node_location(const json_t *node)
{
    long best = -1;
    least_location(node, 0, &best);
    return best;
}

/* Behind blanks and comments. */
static const char *skip_space(const char *p)
{
    for (;;) {
        size_t n = strspn(p, " \t\r\n\f\v");
        if (p[0] == '-' && p[1] == '-')
            n = strcspn(p, "\n");
        else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            n = end ? (size_t)(end - p) + 2 : 0;
        }
        if (n == 0)
            return p;
        p += n;
    }
}

/* Behind an identifier, bare or quoted. */
static const char *skip_name(const char *p)
{
    if (*p != '"')
        return p + strcspn(p, " \t\r\n\f\v.,;()[]+-*/<>=~!@#%^&|`?:'\"");
    do {
        p = strchr(p + 1, '"');
        p = p ? p + 1 : "";
    } while (*p == '"');
    return p;
}

bool is_quoted(const char *text, long location, size_t i)
{
    if (location < 0)
        return false;
    const char *p = text + location;
    for (; i > 0; i--) {
        p = skip_space(skip_name(p));
        if (*p != '.')
            return false;
        p = skip_space(p + 1);
    }
    return *p == '"';
}

const char *string_of(const json_t *node)
{
    return get_text(node_as(node, "String"), "sval");
}

const char *last_name(const json_t *names)
{
    size_t n = json_array_size(names);
    return n ? string_of(json_array_get(names, n - 1)) : "";
}
