/*
 * SQLite functions f_*: what PostgreSQL's functions and operators do to texts,
 * numbers and names. Strict where PostgreSQL's are: NULL in, NULL out. What
 * takes time in proportion to its input is counted against the query's steps.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/pattern.h"
#include "catalogue/catalogue_int.h"

enum { MOST_TEXT = 1 << 16 }; /* that is matched */

bool cat_spend(struct catalogue *c, uint64_t steps)
{
    if (c->building)
        return true;
    if (steps >= c->steps) {
        c->steps = 0;
        return false;
    }
    c->steps -= steps;
    return true;
}

void cat_raise(sqlite3_context *x, const char *state, const char *format, ...)
{
    struct catalogue *c = sqlite3_user_data(x);
    va_list args;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    c->state = state;
    sqlite3_result_error(x, c->why, -1);
}

static const char *text(sqlite3_value *v)
{
    return (const char *)sqlite3_value_text(v);
}

static size_t bytes(sqlite3_value *v)
{
    return (size_t)sqlite3_value_bytes(v);
}

static bool any_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return true;
    return false;
}

static void give(sqlite3_context *x, const char *s)
{
    sqlite3_result_text(x, s, -1, SQLITE_TRANSIENT);
}

/* --- patterns ------------------------------------------------------------- */

static struct pattern *compiled(sqlite3_context *x, sqlite3_value **v)
{
    struct pattern *p = sqlite3_get_auxdata(x, 1);
    const char *why;
    if (p)
        return p;
    p = malloc(sizeof *p);
    if (!p) {
        sqlite3_result_error_nomem(x);
        return NULL;
    }
    why = pattern_compile(p, text(v[1]), bytes(v[1]), PATTERN_POSIX,
                          sqlite3_value_int(v[2]) != 0);
    if (why) {
        cat_raise(x, "0A000", "regular expression: %s", why);
        free(p);
        return NULL;
    }
    sqlite3_set_auxdata(x, 1, p, free);
    return sqlite3_get_auxdata(x, 1);
}

static void f_regex(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct pattern *p;
    if (any_null(n, v) || !text(v[0]) || !text(v[1]))
        return;
    p = compiled(x, v);
    if (!p)
        return;
    if (bytes(v[0]) > MOST_TEXT ||
        !cat_spend(sqlite3_user_data(x),
                   1000 + bytes(v[0]) * (uint64_t)p->n_states / 4)) {
        cat_raise(x, "54000", "the query takes too long");
        return;
    }
    sqlite3_result_int(x, pattern_matches(p, text(v[0]), bytes(v[0])));
}

static char folded(char c, bool icase)
{
    return icase && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t character(const char *s)
{
    size_t n = 1;
    while (((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* After a % only the last one is ever tried again: s times p at most. */
static bool like(const char *s, const char *p, bool icase)
{
    const char *star = NULL, *again = NULL;
    while (*s) {
        bool escaped = *p == '\\' && p[1];
        if (*p == '%') {
            star = ++p;
            again = s;
        } else if (*p == '_') {
            s += character(s);
            p++;
        } else if (*p && folded(p[escaped], icase) == folded(*s, icase)) {
            s++;
            p += 1 + escaped;
        } else if (star) {
            again += character(again);
            s = again;
            p = star;
        } else {
            return false;
        }
    }
    while (*p == '%')
        p++;
    return !*p;
}

static void f_like(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (any_null(n, v) || !text(v[0]) || !text(v[1]))
        return;
    if (bytes(v[0]) > MOST_TEXT || bytes(v[1]) > MOST_TEXT ||
        !cat_spend(sqlite3_user_data(x),
                   100 + bytes(v[0]) * (uint64_t)bytes(v[1]) / 8)) {
        cat_raise(x, "54000", "the query takes too long");
        return;
    }
    sqlite3_result_int(x,
                       like(text(v[0]), text(v[1]), sqlite3_value_int(v[2])));
}

/* --- names of things ------------------------------------------------------ */

bool cat_needs_quotes(const char *name)
{
    static const struct {
        const char *word, *class;
    } keywords[] = {
#define KEYWORD(word, class, bare) {word, class},
#include "catalogue/keywords.def"
#undef KEYWORD
    };
    if (!(*name >= 'a' && *name <= 'z') && *name != '_')
        return true;
    for (const char *c = name; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9') && *c != '_')
            return true;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (!strcmp(keywords[i].word, name) && *keywords[i].class != 'U')
            return true;
    return false;
}

static char *quoted_name(const char *name)
{
    char *out = malloc(2 * strlen(name) + 3), *to = out;
    bool quotes = cat_needs_quotes(name);
    if (!out)
        return NULL;
    if (quotes)
        *to++ = '"';
    for (; *name; name++) {
        if (*name == '"')
            *to++ = '"';
        *to++ = *name;
    }
    if (quotes)
        *to++ = '"';
    *to = 0;
    return out;
}

static void f_quote_ident(sqlite3_context *x, int n, sqlite3_value **v)
{
    char *s;
    if (any_null(n, v) || !text(v[0]))
        return;
    s = quoted_name(text(v[0]));
    if (s)
        sqlite3_result_text(x, s, -1, free);
    else
        sqlite3_result_error_nomem(x);
}

/* The first column of the first row, malloc'd; NULL: no row. */
static char *lookup(sqlite3 *db, const char *sql, sqlite3_int64 i,
                    const char *s, const char *t)
{
    sqlite3_stmt *q;
    char *out = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_int64(q, 1, i);
    if (s)
        sqlite3_bind_text(q, 2, s, -1, SQLITE_TRANSIENT);
    if (t)
        sqlite3_bind_text(q, 3, t, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0))
        out = strdup((const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return out;
}

static char *class_name(struct catalogue *c, sqlite3_int64 oid)
{
    char *name, *schema, *a, *b, *out = NULL;
    size_t n;
    const struct cat_relation *r = cat_relations(&n);
    for (size_t i = 0; i < n; i++)
        if (r[i].oid && r[i].oid == oid)
            return strcmp(r[i].schema, "pg_catalog")
                       ? sqlite3_mprintf("%s.%s", r[i].schema, r[i].name)
                       : sqlite3_mprintf("%s", r[i].name);
    name = lookup(c->db,
                  "SELECT relname FROM \"pg_catalog.pg_class\""
                  " WHERE oid=?1",
                  oid, NULL, NULL);
    schema = lookup(c->db,
                    "SELECT nspname FROM \"pg_catalog.pg_namespace\" n"
                    " JOIN \"pg_catalog.pg_class\" c ON n.oid=c.relnamespace"
                    " WHERE c.oid=?1",
                    oid, NULL, NULL);
    a = name ? quoted_name(name) : NULL;
    b = schema ? quoted_name(schema) : NULL;
    if (a && b)
        out = !strcmp(b, "public") ? sqlite3_mprintf("%s", a)
                                   : sqlite3_mprintf("%s.%s", b, a);
    free(name);
    free(schema);
    free(a);
    free(b);
    return out;
}

static const char *fixed_name(uint32_t type, sqlite3_int64 oid)
{
    size_t n;
    const struct cat_proc *procs = cat_procs(&n);
    const struct cat_type *t = cat_type_of((uint32_t)oid);
    if (type == T_REGTYPE)
        return t ? t->sql : NULL;
    for (size_t i = 0; i < n; i++)
        if (procs[i].oid == oid)
            return procs[i].name;
    return NULL;
}

/* What regclass and its kin are written as; from sqlite3_malloc. */
char *cat_reg_name(struct catalogue *c, uint32_t type, sqlite3_int64 oid)
{
    char *found, *out = NULL;
    if (oid == 0)
        return sqlite3_mprintf("-");
    if (type == T_REGCLASS) {
        out = class_name(c, oid);
    } else if (type == T_REGNAMESPACE || type == T_REGROLE) {
        found = lookup(
            c->db,
            type == T_REGROLE
                ? "SELECT rolname FROM \"pg_catalog.pg_roles\" WHERE oid=?1"
                : "SELECT nspname FROM \"pg_catalog.pg_namespace\""
                  " WHERE oid=?1",
            oid, NULL, NULL);
        out = found ? sqlite3_mprintf("%s", found) : NULL;
        free(found);
    } else if (fixed_name(type, oid)) {
        out = sqlite3_mprintf("%s", fixed_name(type, oid));
    }
    return out ? out : sqlite3_mprintf("%lld", (long long)oid);
}

static void f_regout(sqlite3_context *x, int n, sqlite3_value **v)
{
    char *s;
    if (any_null(n, v))
        return;
    s = cat_reg_name(sqlite3_user_data(x), (uint32_t)sqlite3_value_int64(v[0]),
                     sqlite3_value_int64(v[1]));
    if (s)
        sqlite3_result_text(x, s, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(x);
}

/* "schema"."name" or name, folded; false: not a name. */
static bool split_name(const char *s, char *schema, char *name, size_t room)
{
    char *to = name;
    size_t n = 0;
    *schema = 0;
    for (;; s++) {
        bool quoted = *s == '"';
        for (s += quoted; *s && (quoted || *s != '.'); s++) {
            if (quoted && *s == '"' && *++s != '"')
                break;
            if (n + 1 >= room)
                return false;
            to[n++] = quoted || *s < 'A' || *s > 'Z' ? *s : (char)(*s + 32);
        }
        to[n] = 0;
        if (!n || (*s && *s != '.'))
            return false;
        if (!*s)
            return true;
        if (*schema)
            return false;
        memcpy(schema, name, n + 1);
        n = 0;
    }
}

static sqlite3_int64 class_oid(struct catalogue *c, const char *schema,
                               const char *name)
{
    const struct cat_relation *r =
        cat_relation_find(*schema ? schema : NULL, name);
    char *found;
    sqlite3_int64 oid;
    if (r && r->oid)
        return r->oid;
    found = lookup(c->db,
                   "SELECT c.oid FROM \"pg_catalog.pg_class\" c JOIN"
                   " \"pg_catalog.pg_namespace\" n ON n.oid=c.relnamespace"
                   " WHERE ?1 IS NOT NULL AND c.relname=?2 AND n.nspname=?3",
                   0, name, *schema ? schema : "public");
    oid = found ? strtoll(found, NULL, 10) : -1;
    free(found);
    return oid;
}

static sqlite3_int64 proc_oid(const char *name)
{
    size_t n;
    const struct cat_proc *p = cat_procs(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(p[i].name, name))
            return p[i].oid;
    return -1;
}

static sqlite3_int64 reg_oid(struct catalogue *c, uint32_t type, const char *s)
{
    char schema[300], name[300], *found, *end;
    sqlite3_int64 oid = strtoll(s, &end, 10);
    const struct cat_type *t;
    if (end != s && !*end)
        return oid;
    if (!strcmp(s, "-"))
        return 0;
    if (type == T_REGTYPE && (t = cat_type_named(s)))
        return t->oid;
    if (!split_name(s, schema, name, sizeof name))
        return -1;
    if (type == T_REGCLASS)
        return class_oid(c, schema, name);
    if (type == T_REGPROC || type == T_REGPROCEDURE)
        return *schema && strcmp(schema, "pg_catalog") ? -1 : proc_oid(name);
    if (type == T_REGTYPE) {
        t = cat_type_named(name);
        return t ? (sqlite3_int64)t->oid : -1;
    }
    found =
        lookup(c->db,
               type == T_REGROLE ? "SELECT oid FROM \"pg_catalog.pg_roles\""
                                   " WHERE ?1 IS NOT NULL AND rolname=?2"
                                 : "SELECT oid FROM \"pg_catalog.pg_namespace\""
                                   " WHERE ?1 IS NOT NULL AND nspname=?2",
               0, name, NULL);
    oid = found ? strtoll(found, NULL, 10) : -1;
    free(found);
    return oid;
}

static void f_to_reg(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 oid;
    if (any_null(n, v) || !text(v[1]))
        return;
    oid = reg_oid(sqlite3_user_data(x), (uint32_t)sqlite3_value_int64(v[0]),
                  text(v[1]));
    if (oid >= 0)
        sqlite3_result_int64(x, oid);
}

static void f_regin(sqlite3_context *x, int n, sqlite3_value **v)
{
    uint32_t type = (uint32_t)sqlite3_value_int64(v[0]);
    sqlite3_int64 oid;
    if (any_null(n, v) || !text(v[1]))
        return;
    oid = reg_oid(sqlite3_user_data(x), type, text(v[1]));
    if (oid >= 0)
        sqlite3_result_int64(x, oid);
    else if (type == T_REGCLASS)
        cat_raise(x, "42P01", "relation \"%.100s\" does not exist", text(v[1]));
    else if (type == T_REGTYPE)
        cat_raise(x, "42704", "type \"%.100s\" does not exist", text(v[1]));
    else
        cat_raise(x, type == T_REGPROC ? "42883" : "42704",
                  "\"%.100s\" does not exist", text(v[1]));
}

/* varchar(n), numeric(p,s), timestamp(p) */
static void f_format_type(sqlite3_context *x, int n, sqlite3_value **v)
{
    const struct cat_type *t;
    sqlite3_int64 mod = -1;
    char out[100];
    if (n != 2 || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    if (sqlite3_value_type(v[1]) != SQLITE_NULL)
        mod = sqlite3_value_int64(v[1]);
    t = cat_type_of((uint32_t)sqlite3_value_int64(v[0]));
    if (!t) {
        give(x, sqlite3_value_int64(v[0]) ? "???" : "-");
        return;
    }
    if (mod >= 4 && (t->oid == T_VARCHAR || t->oid == T_BPCHAR))
        snprintf(out, sizeof out, "%s(%lld)", t->sql, (long long)mod - 4);
    else if (mod >= 4 && t->oid == T_NUMERIC)
        snprintf(out, sizeof out, "numeric(%lld,%lld)",
                 (long long)((mod - 4) >> 16), (long long)((mod - 4) & 0x7ff));
    else if (t->oid == T_BPCHAR && sqlite3_value_type(v[1]) != SQLITE_NULL)
        snprintf(out, sizeof out, "bpchar");
    else
        snprintf(out, sizeof out, "%s", t->sql);
    give(x, out);
}

/* --- the session ---------------------------------------------------------- */

static void f_session(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct catalogue *c = sqlite3_user_data(x);
    const char *what = n == 1 ? text(v[0]) : "";
    char *s;
    if (!strcmp(what, "user")) {
        give(x, c->user);
    } else if (!strcmp(what, "version")) {
        give(x, "PostgreSQL 15.0 (dpcount " DPC_VERSION ")");
    } else {
        s = lookup(c->db,
                   "SELECT datname FROM \"pg_catalog.pg_database\""
                   " WHERE ?1=0",
                   0, NULL, NULL);
        give(x, s ? s : "");
        free(s);
    }
}

static void f_setting(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct catalogue *c = sqlite3_user_data(x);
    char value[300];
    if (any_null(n, v) || !text(v[0]))
        return;
    if (catalogue_setting(c, text(v[0]), NULL, value, sizeof value))
        give(x, value);
    else if (n < 2 || !sqlite3_value_int(v[1]))
        cat_raise(x, "42704", "unrecognized configuration parameter \"%.60s\"",
                  text(v[0]));
}

static void f_now(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct timespec t;
    struct tm tm;
    char day[40], out[80];
    (void)n, (void)v;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(out, sizeof out, "%s.%06ld+00", day, t.tv_nsec / 1000);
    give(x, out);
}

/* Analysts may look, and nothing else. */
static void f_may(sqlite3_context *x, int n, sqlite3_value **v)
{
    const char *what = n ? text(v[n - 1]) : NULL;
    if (any_null(n, v) || !what)
        return;
    sqlite3_result_int(x, !strcasecmp(what, "select") ||
                              !strcasecmp(what, "usage") ||
                              !strcasecmp(what, "connect"));
}

static void f_index_property(sqlite3_context *x, int n, sqlite3_value **v)
{
    static const char *const yes[] = {"asc",          "orderable",
                                      "nulls_last",   "returnable",
                                      "search_array", "search_nulls"};
    if (any_null(n, v) || !text(v[1]))
        return;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!strcasecmp(text(v[1]), yes[i])) {
            sqlite3_result_int(x, 1);
            return;
        }
    sqlite3_result_int(x, 0);
}

/* pg_get_indexdef(index [, column, pretty]) */
static void f_indexdef(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct catalogue *c = sqlite3_user_data(x);
    char *s, number[30];
    sqlite3_int64 at;
    if (any_null(n, v))
        return;
    at = n > 1 ? sqlite3_value_int64(v[1]) : 0;
    if (at == 0 && n > 2 && sqlite3_value_int(v[2]))
        at = -1; /* without the schema */
    snprintf(number, sizeof number, "%lld", (long long)at);
    s = lookup(c->db,
               "SELECT def FROM \"x.indexdef\" WHERE oid=?1 AND"
               " n=CAST(?2 AS INTEGER)",
               sqlite3_value_int64(v[0]), number, NULL);
    if (s)
        give(x, s);
    else if (n > 1)
        give(x, "");
    free(s);
}

/* --- numbers -------------------------------------------------------------- */

static void ranged(sqlite3_context *x, sqlite3_int64 r, int width, bool over)
{
    if (over || (width == 4 && (r < INT32_MIN || r > INT32_MAX)) ||
        (width == 2 && (r < INT16_MIN || r > INT16_MAX)))
        cat_raise(x, "22003", "%s out of range",
                  width == 8   ? "bigint"
                  : width == 4 ? "integer"
                               : "smallint");
    else
        sqlite3_result_int64(x, r);
}

static void f_arith(sqlite3_context *x, int n, sqlite3_value **v)
{
    sqlite3_int64 a, b, r = 0;
    bool over = false;
    char op;
    if (n != 4 || any_null(n, v) || !text(v[0]))
        return;
    op = text(v[0])[0];
    a = sqlite3_value_int64(v[1]);
    b = sqlite3_value_int64(v[2]);
    if ((op == '/' || op == '%') && b == 0) {
        cat_raise(x, "22012", "division by zero");
        return;
    }
    if (op == '+')
        over = __builtin_add_overflow(a, b, &r);
    else if (op == '-')
        over = __builtin_sub_overflow(a, b, &r);
    else if (op == '*')
        over = __builtin_mul_overflow(a, b, &r);
    else if (op == '/' && b == -1)
        over = __builtin_sub_overflow(0, a, &r);
    else if (op == '/')
        r = a / b;
    else if (op == '%')
        r = b == -1 ? 0 : a % b;
    else
        r = op == '&' ? a & b : a | b;
    ranged(x, r, sqlite3_value_int(v[3]), over);
}

static int width_of(uint32_t type)
{
    return type == T_INT2 ? 2 : type == T_INT4 ? 4 : 8;
}

static void f_range(sqlite3_context *x, int n, sqlite3_value **v)
{
    if (!any_null(n, v))
        ranged(x, sqlite3_value_int64(v[0]),
               width_of((uint32_t)sqlite3_value_int64(v[1])), false);
}

static void f_integer(sqlite3_context *x, int n, sqlite3_value **v)
{
    char *end;
    long long r;
    if (any_null(n, v) || !text(v[0]))
        return;
    errno = 0;
    r = strtoll(text(v[0]), &end, 10);
    if (end == text(v[0]) || *end || errno)
        cat_raise(x, "22P02",
                  "invalid input syntax for type integer: \"%.60s\"",
                  text(v[0]));
    else
        ranged(x, r, width_of((uint32_t)sqlite3_value_int64(v[1])), false);
}

static void f_boolean(sqlite3_context *x, int n, sqlite3_value **v)
{
    const char *s = n == 1 ? text(v[0]) : NULL;
    if (!s)
        return;
    if (!strcasecmp(s, "t") || !strcasecmp(s, "true") || !strcmp(s, "1"))
        sqlite3_result_int(x, 1);
    else if (!strcasecmp(s, "f") || !strcasecmp(s, "false") || !strcmp(s, "0"))
        sqlite3_result_int(x, 0);
    else
        cat_raise(x, "22P02",
                  "invalid input syntax for type boolean: \"%.60s\"", s);
}

/* The greatest and least that are not NULL. */
static void extreme(sqlite3_context *x, int n, sqlite3_value **v, int sign)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        int order = 0;
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            continue;
        if (best >= 0 && sqlite3_value_type(v[i]) == SQLITE_INTEGER)
            order = (sqlite3_value_int64(v[i]) > sqlite3_value_int64(v[best])) -
                    (sqlite3_value_int64(v[i]) < sqlite3_value_int64(v[best]));
        else if (best >= 0)
            order = strcmp(text(v[i]), text(v[best]));
        if (best < 0 || order * sign > 0)
            best = i;
    }
    if (best >= 0)
        sqlite3_result_value(x, v[best]);
}

static void f_greatest(sqlite3_context *x, int n, sqlite3_value **v)
{
    extreme(x, n, v, 1);
}

static void f_least(sqlite3_context *x, int n, sqlite3_value **v)
{
    extreme(x, n, v, -1);
}

bool cat_functions_add(struct catalogue *c)
{
    static const struct {
        const char *name;
        int n;
        void (*f)(sqlite3_context *, int, sqlite3_value **);
        bool pure;
    } all[] = {{"f_regex", 3, f_regex, true},
               {"f_like", 3, f_like, true},
               {"f_quote_ident", 1, f_quote_ident, true},
               {"f_regout", 2, f_regout, true},
               {"f_regin", 2, f_regin, true},
               {"f_to_reg", 2, f_to_reg, true},
               {"f_format_type", 2, f_format_type, true},
               {"f_session", 1, f_session, true},
               {"f_setting", -1, f_setting, false},
               {"f_now", 0, f_now, false},
               {"f_may", -1, f_may, true},
               {"f_index_property", 2, f_index_property, true},
               {"f_indexdef", -1, f_indexdef, true},
               {"f_arith", 4, f_arith, true},
               {"f_range", 2, f_range, true},
               {"f_integer", 2, f_integer, true},
               {"f_boolean", 1, f_boolean, true},
               {"f_greatest", -1, f_greatest, true},
               {"f_least", -1, f_least, true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_create_function_v2(
                c->db, all[i].name, all[i].n,
                SQLITE_UTF8 | (all[i].pure ? SQLITE_DETERMINISTIC : 0), c,
                all[i].f, NULL, NULL, NULL) != SQLITE_OK)
            return false;
    return cat_array_functions_add(c) && cat_text_functions_add(c);
}
