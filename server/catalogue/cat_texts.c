/*
 * SQLite functions f_* of texts that SQLite has not, or has otherwise: they
 * count characters, and NULL is passed over where PostgreSQL does so.
 */
#include <stdio.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

static const char *text(sqlite3_value *v)
{
    return (const char *)sqlite3_value_text(v);
}

static bool any_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL || !text(v[i]))
            return true;
    return false;
}

static sqlite3_int64 characters(const char *s)
{
    sqlite3_int64 n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Characters from..to, from 0, to excluded. */
static void part(sqlite3_context *x, const char *s, sqlite3_int64 from,
                 sqlite3_int64 to)
{
    const char *begin = NULL, *end;
    sqlite3_int64 at = -1;
    for (end = s; *end; end++) {
        if (((unsigned char)*end & 0xC0) != 0x80)
            at++;
        if (!begin && at >= from)
            begin = end;
        if (at >= to)
            break;
    }
    if (begin && end > begin)
        sqlite3_result_text(x, begin, (int)(end - begin), SQLITE_TRANSIENT);
    else
        sqlite3_result_text(x, "", 0, SQLITE_STATIC);
}

static void f_substr(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 from, to = INT32_MAX;
    if (any_null(n, v))
        return;
    from = sqlite3_value_int(v[1]) - (sqlite3_int64)1;
    if (n > 2 && sqlite3_value_int(v[2]) < 0) {
        cat_raise(x, "22011", "negative substring length not allowed");
        return;
    }
    if (n > 2)
        to = from + sqlite3_value_int(v[2]);
    part(x, text(v[0]), from, to);
}

static void f_left(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 k;
    if (any_null(n, v))
        return;
    k = sqlite3_value_int(v[1]);
    part(x, text(v[0]), 0, k < 0 ? characters(text(v[0])) + k : k);
}

static void f_right(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 k, all;
    if (any_null(n, v))
        return;
    k = sqlite3_value_int(v[1]);
    all = characters(text(v[0]));
    part(x, text(v[0]), k < 0 ? -k : all - k, all);
}

static void f_split_part(sqlite3_context *x, int n, sqlite3_value **v)
{
    const char *s, *by;
    int k;
    if (any_null(n, v))
        return;
    s = text(v[0]);
    by = text(v[1]);
    k = sqlite3_value_int(v[2]);
    if (k < 1) {
        cat_raise(x, "22023", "field position must be greater than zero");
        return;
    }
    while (--k && *by && strstr(s, by))
        s = strstr(s, by) + strlen(by);
    if (k)
        sqlite3_result_text(x, "", 0, SQLITE_STATIC);
    else
        sqlite3_result_text(
            x, s, *by && strstr(s, by) ? (int)(strstr(s, by) - s) : -1,
            SQLITE_TRANSIENT);
}

static void f_starts(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (!any_null(n, v))
        sqlite3_result_int(
            x, !strncmp(text(v[0]), text(v[1]), strlen(text(v[1]))));
}

static void join(sqlite3_context *x, int n, sqlite3_value **v,
                 const char *between)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool any = false;
    char *s;
    for (int i = 0; i < n; i++) {
        if (sqlite3_value_type(v[i]) == SQLITE_NULL || !text(v[i]))
            continue;
        sqlite3_str_appendall(out, any ? between : "");
        sqlite3_str_appendall(out, text(v[i]));
        any = true;
    }
    s = sqlite3_str_finish(out);
    if (s)
        sqlite3_result_text(x, s, -1, sqlite3_free);
    else
        sqlite3_result_text(x, "", 0, SQLITE_STATIC);
}

static void f_concat(sqlite3_context *x, int n, sqlite3_value **v)
{
    join(x, n, v, "");
}

static void f_concat_ws(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (n > 0 && sqlite3_value_type(v[0]) != SQLITE_NULL && text(v[0]))
        join(x, n - 1, v + 1, text(v[0]));
}

static void add_quoted(sqlite3_str *out, const char *s)
{
    if (cat_needs_quotes(s))
        sqlite3_str_appendf(out, "\"%w\"", s);
    else
        sqlite3_str_appendall(out, s);
}

/* format(): %s, %I, %L and %% */
static void f_format(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_str *out;
    char *s;
    int at = 1;
    if (n < 1 || any_null(1, v))
        return;
    out = sqlite3_str_new(NULL);
    for (const char *f = text(v[0]); *f; f++) {
        const char *arg = NULL;
        if (*f != '%' || *++f == '%') {
            sqlite3_str_append(out, f, 1);
            continue;
        }
        if (!*f || !strchr("sIL", *f) || at >= n) {
            sqlite3_free(sqlite3_str_finish(out));
            cat_raise(x, "0A000", "this format is not supported");
            return;
        }
        if (sqlite3_value_type(v[at]) != SQLITE_NULL)
            arg = text(v[at]);
        at++;
        if (*f == 'L')
            sqlite3_str_appendf(out, "%Q", arg);
        else if (*f == 'I' && arg)
            add_quoted(out, arg);
        else if (arg)
            sqlite3_str_appendall(out, arg);
    }
    s = sqlite3_str_finish(out);
    if (s)
        sqlite3_result_text(x, s, -1, sqlite3_free);
    else
        sqlite3_result_text(x, "", 0, SQLITE_STATIC);
}

bool cat_text_functions_add(struct catalogue *c)
{
    static const struct {
        const char *name;
        int n;
        void (*f)(sqlite3_context *, int, sqlite3_value **);
    } all[] = {
        {"f_substr", -1, f_substr},       {"f_left", 2, f_left},
        {"f_right", 2, f_right},          {"f_split_part", 3, f_split_part},
        {"f_starts", 2, f_starts},        {"f_concat", -1, f_concat},
        {"f_concat_ws", -1, f_concat_ws}, {"f_format", -1, f_format}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_create_function_v2(c->db, all[i].name, all[i].n,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC, c,
                                       all[i].f, NULL, NULL, NULL) != SQLITE_OK)
            return false;
    return true;
}
