/*
 * SQLite functions f_* of arrays and texts. An array is a JSON array of
 * integers, texts and nulls; written as PostgreSQL does only at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

enum { MOST_ELEMENTS = 100000 };

static const char *text(sqlite3_value *v)
{
    return (const char *)sqlite3_value_text(v);
}

/* Not json_null(): the library has a function of that name, and tests link
 * both. */
static json_t *none(void)
{
    return json_pack("n");
}

static bool is_null(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_NULL;
}

static json_t *array_of(sqlite3_value *v)
{
    json_t *a;
    if (is_null(v) || !text(v))
        return NULL;
    a = json_loads(text(v), 0, NULL);
    if (a && !json_is_array(a)) {
        json_decref(a);
        a = NULL;
    }
    return a;
}

static void give_json(sqlite3_context *x, json_t *a)
{
    char *s = a ? json_dumps(a, JSON_COMPACT) : NULL;
    if (s)
        sqlite3_result_text(x, s, -1, free);
    else
        sqlite3_result_error_nomem(x);
    json_decref(a);
}

static json_t *json_of(sqlite3_value *v)
{
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_value_int64(v));
    case SQLITE_NULL:
        return none();
    default:
        return text(v) ? json_string(text(v)) : NULL;
    }
}

static void give_element(sqlite3_context *x, const json_t *e)
{
    if (json_is_integer(e))
        sqlite3_result_int64(x, json_integer_value(e));
    else if (json_is_boolean(e))
        sqlite3_result_int(x, json_is_true(e));
    else if (json_is_string(e))
        sqlite3_result_text(x, json_string_value(e), -1, SQLITE_TRANSIENT);
}

/* An element as text, in buffer when it is a number. */
static const char *element_text(const json_t *e, char *buffer, size_t n)
{
    if (json_is_string(e))
        return json_string_value(e);
    snprintf(buffer, n, "%lld",
             json_is_boolean(e) ? (long long)json_is_true(e)
                                : (long long)json_integer_value(e));
    return buffer;
}

/* --- PostgreSQL's text form ----------------------------------------------- */

static bool must_quote(const char *s)
{
    if (!*s || !sqlite3_stricmp(s, "null"))
        return true;
    return strpbrk(s, "{},\"\\ \t\n\r\v\f") != NULL;
}

static void add_element(sqlite3_str *out, const json_t *e, bool boolean)
{
    char number[30];
    const char *s;
    if (json_is_null(e)) {
        sqlite3_str_appendall(out, "NULL");
        return;
    }
    if (json_is_array(e)) {
        sqlite3_str_appendall(out, "{}");
        return;
    }
    s = element_text(e, number, sizeof number);
    if (boolean)
        s = *s == '1' ? "t" : "f";
    if (!must_quote(s)) {
        sqlite3_str_appendall(out, s);
        return;
    }
    sqlite3_str_appendchar(out, 1, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            sqlite3_str_appendchar(out, 1, '\\');
        sqlite3_str_appendchar(out, 1, *s);
    }
    sqlite3_str_appendchar(out, 1, '"');
}

char *cat_array_text(const char *json, uint32_t type)
{
    bool vector = type == T_INT2VECTOR || type == T_OIDVECTOR;
    json_t *a = json_loads(json, 0, NULL), *e;
    sqlite3_str *out;
    char *s;
    size_t i;
    if (!json_is_array(a)) {
        json_decref(a);
        return NULL;
    }
    out = sqlite3_str_new(NULL);
    sqlite3_str_appendall(out, vector ? "" : type == T_EXPANDED ? "(" : "{");
    json_array_foreach(a, i, e)
    {
        sqlite3_str_appendall(out, !i ? "" : vector ? " " : ",");
        add_element(out, e, cat_element(type) == T_BOOL);
    }
    sqlite3_str_appendall(out, vector ? "" : type == T_EXPANDED ? ")" : "}");
    json_decref(a);
    s = sqlite3_str_finish(out);
    return s ? s : sqlite3_mprintf("");
}

/* '{a,"b c",NULL}' as JSON; one dimension; NULL: malformed. */
char *cat_array_read(const char *s, bool integers)
{
    json_t *a = json_array();
    char *out = NULL, *word = malloc(strlen(s) + 1);
    bool more;
    if (!a || !word || *s++ != '{')
        goto done;
    for (more = *s != '}'; more; s++) {
        size_t n = 0;
        bool quoted = *s == '"';
        json_t *e;
        for (s += quoted; *s && (quoted ? *s != '"' : !strchr(",}{\"", *s));
             s++) {
            if (*s == '\\' && !*++s)
                goto done;
            word[n++] = *s;
        }
        word[n] = 0;
        s += quoted && *s == '"';
        if (!quoted && !sqlite3_stricmp(word, "null")) {
            e = none();
        } else if (integers) {
            char *end;
            long long v = strtoll(word, &end, 10);
            e = end != word && !*end ? json_integer(v) : NULL;
        } else {
            e = n || quoted ? json_string(word) : NULL;
        }
        if (json_array_append_new(a, e) || (*s != ',' && *s != '}'))
            goto done;
        if (*s == '}')
            break;
    }
    if (*s == '}' && !s[1])
        out = json_dumps(a, JSON_COMPACT);
done:
    json_decref(a);
    free(word);
    return out;
}

static void f_arrayout(sqlite3_context *x, int n, sqlite3_value **v)
{
    char *s;
    if (n != 2 || is_null(v[1]) || !text(v[1]))
        return;
    s = cat_array_text(text(v[1]), (uint32_t)sqlite3_value_int64(v[0]));
    if (s)
        sqlite3_result_text(x, s, -1, sqlite3_free);
}

static void f_arrayin(sqlite3_context *x, int n, sqlite3_value **v)
{
    char *s;
    if (n != 2 || is_null(v[0]) || !text(v[0]))
        return;
    s = cat_array_read(text(v[0]), sqlite3_value_int(v[1]) != 0);
    if (s)
        sqlite3_result_text(x, s, -1, free);
    else
        cat_raise(x, "22P02", "malformed array literal: \"%.60s\"", text(v[0]));
}

/* --- sets ----------------------------------------------------------------- */

static void f_array(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 1 ? array_of(v[0]) : NULL;
    give_json(x, a ? a : json_array());
}

static void f_series(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 from, to, step;
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        if (is_null(v[i])) {
            give_json(x, a);
            return;
        }
    from = sqlite3_value_int64(v[0]);
    to = sqlite3_value_int64(v[1]);
    step = n > 2 ? sqlite3_value_int64(v[2]) : 1;
    if (step == 0 || from < INT32_MIN || from > INT32_MAX || to < INT32_MIN ||
        to > INT32_MAX || (to - from) / step > MOST_ELEMENTS) {
        json_decref(a);
        cat_raise(x, step ? "54000" : "22023", "the series is too long");
        return;
    }
    for (; step > 0 ? from <= to : from >= to; from += step)
        json_array_append_new(a, json_integer(from));
    cat_spend(sqlite3_user_data(x), json_array_size(a) * 10);
    give_json(x, a);
}

static void f_subscripts(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = array_of(v[0]), *out = json_array();
    sqlite3_int64 base = n > 2 ? sqlite3_value_int64(v[2]) : 1;
    for (size_t i = 0; sqlite3_value_int(v[1]) == 1 && i < json_array_size(a);
         i++)
        json_array_append_new(out, json_integer(base + (sqlite3_int64)i));
    json_decref(a);
    give_json(x, out);
}

static void f_expand(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 1 ? array_of(v[0]) : NULL, *out = json_array(), *e;
    size_t i;
    json_array_foreach(a, i, e)
        json_array_append_new(out, json_pack("[O,I]", e, (json_int_t)i + 1));
    json_decref(a);
    give_json(x, out);
}

/* Sets in step: rows of their i-th elements, the shorter ones with NULLs. */
static void f_zip(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *sets[16] = {0}, *out = json_array();
    size_t longest = 0;
    for (int k = 0; k < n && k < 16; k++) {
        sets[k] = array_of(v[k]);
        if (json_array_size(sets[k]) > longest)
            longest = json_array_size(sets[k]);
    }
    for (size_t i = 0; i < longest; i++) {
        json_t *row = json_array();
        for (int k = 0; k < n && k < 16; k++) {
            json_t *e = json_array_get(sets[k], i);
            json_array_append_new(row, e ? json_incref(e) : none());
        }
        json_array_append_new(out, row);
    }
    for (int k = 0; k < n && k < 16; k++)
        json_decref(sets[k]);
    cat_spend(sqlite3_user_data(x), longest * 10);
    give_json(x, out);
}

static void f_keywords(sqlite3_context *x, int n, sqlite3_value **v)
{
    static const struct {
        const char *word, *class;
        int bare;
    } keywords[] = {
#define KEYWORD(word, class, bare) {word, class, bare},
#include "catalogue/keywords.def"
#undef KEYWORD
    };
    json_t *out = json_array();
    (void)n, (void)v;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *class = keywords[i].class;
        const char *words =
            *class == 'U'   ? "unreserved"
            : *class == 'C' ? "unreserved (cannot be function or type name)"
            : *class == 'T' ? "reserved (can be function or type name)"
                            : "reserved";
        json_array_append_new(
            out,
            json_pack("[s,s,b,s,s]", keywords[i].word, class, keywords[i].bare,
                      words,
                      keywords[i].bare ? "can be bare label" : "requires AS"));
    }
    give_json(x, out);
}

/* --- elements ------------------------------------------------------------- */

static void f_subscript(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 3 ? array_of(v[0]) : NULL;
    sqlite3_int64 at = sqlite3_value_int64(v[1]) - sqlite3_value_int64(v[2]);
    if (a && !is_null(v[1]) && at >= 0)
        give_element(x, json_array_get(a, (size_t)at));
    json_decref(a);
}

/* SQL's = ANY: NULL unless found, when something is NULL. */
static int found_in(sqlite3_value *l, const json_t *a)
{
    char number[30];
    bool nulls = false;
    size_t i;
    json_t *e;
    if (!a || is_null(l) || !text(l))
        return a && !json_array_size(a) ? 0 : -1;
    json_array_foreach(a, i, e)
    {
        if (json_is_null(e))
            nulls = true;
        else if (!strcmp(element_text(e, number, sizeof number), text(l)))
            return 1;
    }
    return nulls ? -1 : 0;
}

static void f_any(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[1]) : NULL;
    int found = found_in(v[0], a);
    if (found >= 0)
        sqlite3_result_int(x, found);
    json_decref(a);
}

static void f_none(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[1]) : NULL;
    int found = found_in(v[0], a);
    if (found >= 0)
        sqlite3_result_int(x, !found);
    json_decref(a);
}

static void f_contains(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[0]) : NULL,
           *b = n == 2 ? array_of(v[1]) : NULL;
    bool all = true;
    for (size_t i = 0; i < json_array_size(b); i++) {
        bool found = false;
        for (size_t k = 0; k < json_array_size(a); k++)
            found =
                found || json_equal(json_array_get(a, k), json_array_get(b, i));
        all = all && found;
    }
    cat_spend(sqlite3_user_data(x), json_array_size(a) * json_array_size(b));
    if (a && b)
        sqlite3_result_int(x, all);
    json_decref(a);
    json_decref(b);
}

static void f_array_position(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[0]) : NULL, *e;
    char number[30];
    size_t i;
    json_array_foreach(
        a, i,
        e) if (!is_null(v[1]) && text(v[1]) && !json_is_null(e) &&
               !strcmp(element_text(e, number, sizeof number), text(v[1])))
    {
        sqlite3_result_int64(x, (sqlite3_int64)i + 1);
        break;
    }
    json_decref(a);
}

static void bound_of(sqlite3_context *x, sqlite3_value **v, bool upper)
{
    json_t *a = array_of(v[0]);
    sqlite3_int64 base = sqlite3_value_int64(v[2]);
    size_t n = json_array_size(a);
    if (a && n && sqlite3_value_int(v[1]) == 1)
        sqlite3_result_int64(x, upper ? base + (sqlite3_int64)n - 1 : base);
    json_decref(a);
}

static void f_array_upper(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    bound_of(x, v, true);
}

static void f_array_lower(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    bound_of(x, v, false);
}

static void f_array_cat(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[0]) : NULL,
           *b = n == 2 ? array_of(v[1]) : NULL;
    if (a && b)
        json_array_extend(a, b);
    if (a || b)
        give_json(x, json_incref(a ? a : b));
    json_decref(a);
    json_decref(b);
}

static void f_array_append(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[0]) : NULL;
    if (!a)
        a = json_array();
    json_array_append_new(a, json_of(v[1]));
    give_json(x, a);
}

static void f_array_prepend(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[1]) : NULL;
    if (!a)
        a = json_array();
    json_array_insert_new(a, 0, json_of(v[0]));
    give_json(x, a);
}

static void join_elements(sqlite3_context *x, json_t *a, const char *between,
                          const char *null)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    char number[30], *s;
    bool any = false;
    size_t i;
    json_t *e;
    json_array_foreach(a, i, e)
    {
        if (json_is_null(e) && !null)
            continue;
        sqlite3_str_appendall(out, any ? between : "");
        sqlite3_str_appendall(
            out,
            json_is_null(e) ? null : element_text(e, number, sizeof number));
        any = true;
    }
    s = sqlite3_str_finish(out);
    if (s)
        sqlite3_result_text(x, s, -1, sqlite3_free);
    else
        sqlite3_result_text(x, "", -1, SQLITE_STATIC);
}

static void f_array_to_string(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = array_of(v[0]);
    if (a && !is_null(v[1]) && text(v[1]))
        join_elements(x, a, text(v[1]),
                      n > 2 && !is_null(v[2]) ? text(v[2]) : NULL);
    json_decref(a);
}

/* string_agg: NULL when nothing was there. */
static void f_join_texts(sqlite3_context *x, int n, sqlite3_value **v)
{
    json_t *a = n == 2 ? array_of(v[0]) : NULL;
    bool any = false;
    for (size_t i = 0; i < json_array_size(a); i++)
        any = any || !json_is_null(json_array_get(a, i));
    if (any)
        join_elements(x, a, is_null(v[1]) ? "" : text(v[1]), NULL);
    json_decref(a);
}

static void f_string_to_array(sqlite3_context *x, int n, sqlite3_value **v)
{
    const char *s = n == 2 ? text(v[0]) : NULL,
               *by = n == 2 ? text(v[1]) : NULL;
    json_t *a;
    if (!s || !by)
        return;
    a = json_array();
    while (*s) {
        const char *end = *by ? strstr(s, by) : NULL;
        size_t len = end ? (size_t)(end - s) : strlen(s);
        json_array_append_new(a, json_stringn(s, len));
        if (!end)
            break;
        s = end + strlen(by);
        if (!*s)
            json_array_append_new(a, json_string(""));
    }
    give_json(x, a);
}

/* --- f_collect(value, key, descending) ------------------------------------ */

struct collected {
    json_t *pairs; /* [key, value] */
    bool descending;
};

static void collect_step(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct collected *c = sqlite3_aggregate_context(x, sizeof *c);
    if (!c || n != 3)
        return;
    if (!c->pairs)
        c->pairs = json_array();
    if (json_array_size(c->pairs) >= MOST_ELEMENTS) {
        cat_raise(x, "54000", "the array is too long");
        return;
    }
    c->descending = sqlite3_value_int(v[2]) != 0;
    json_array_append_new(c->pairs,
                          json_pack("[o,o]", json_of(v[1]), json_of(v[0])));
}

static int by_key(const void *a, const void *b)
{
    const json_t *l = json_array_get(*(json_t *const *)a, 0),
                 *r = json_array_get(*(json_t *const *)b, 0);
    if (json_is_null(l) || json_is_null(r))
        return (json_is_null(l) ? 1 : 0) - (json_is_null(r) ? 1 : 0);
    if (json_is_integer(l) && json_is_integer(r))
        return (json_integer_value(l) > json_integer_value(r)) -
               (json_integer_value(l) < json_integer_value(r));
    if (json_is_string(l) && json_is_string(r))
        return strcmp(json_string_value(l), json_string_value(r));
    return 0;
}

static json_t *sorted_values(const struct collected *c)
{
    size_t n = json_array_size(c->pairs);
    json_t **p = malloc((n + 1) * sizeof *p), *out = json_array();
    for (size_t i = 0; p && i < n; i++)
        p[i] = json_array_get(c->pairs, i);
    if (p && n)
        qsort(p, n, sizeof *p, by_key);
    for (size_t i = 0; p && i < n; i++)
        json_array_append(out,
                          json_array_get(p[c->descending ? n - 1 - i : i], 1));
    free(p);
    return out;
}

static bool has_keys(const json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++)
        if (!json_is_null(json_array_get(json_array_get(pairs, i), 0)))
            return true;
    return false;
}

static void collect_final(sqlite3_context *x)
{
    struct collected *c = sqlite3_aggregate_context(x, 0);
    json_t *out;
    if (!c || !c->pairs)
        return; /* of nothing: NULL */
    if (has_keys(c->pairs)) {
        out = sorted_values(c);
    } else {
        out = json_array();
        for (size_t i = 0; i < json_array_size(c->pairs); i++)
            json_array_append(out,
                              json_array_get(json_array_get(c->pairs, i), 1));
    }
    json_decref(c->pairs);
    c->pairs = NULL;
    give_json(x, out);
}

bool cat_array_functions_add(struct catalogue *c)
{
    static const struct {
        const char *name;
        int n;
        void (*f)(sqlite3_context *, int, sqlite3_value **);
    } all[] = {{"f_arrayout", 2, f_arrayout},
               {"f_arrayin", 2, f_arrayin},
               {"f_array", 1, f_array},
               {"f_series", -1, f_series},
               {"f_subscripts", 3, f_subscripts},
               {"f_expand", 1, f_expand},
               {"f_zip", -1, f_zip},
               {"f_keywords", 0, f_keywords},
               {"f_subscript", 3, f_subscript},
               {"f_any", 2, f_any},
               {"f_none", 2, f_none},
               {"f_contains", 2, f_contains},
               {"f_array_position", 2, f_array_position},
               {"f_array_upper", 3, f_array_upper},
               {"f_array_lower", 3, f_array_lower},
               {"f_array_cat", 2, f_array_cat},
               {"f_array_append", 2, f_array_append},
               {"f_array_prepend", 2, f_array_prepend},
               {"f_array_to_string", -1, f_array_to_string},
               {"f_join_texts", 2, f_join_texts},
               {"f_string_to_array", 2, f_string_to_array}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_create_function_v2(c->db, all[i].name, all[i].n,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC, c,
                                       all[i].f, NULL, NULL, NULL) != SQLITE_OK)
            return false;
    return sqlite3_create_function_v2(c->db, "f_collect", 3, SQLITE_UTF8, c,
                                      NULL, collect_step, collect_final,
                                      NULL) == SQLITE_OK;
}
