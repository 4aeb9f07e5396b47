/*
 * The text of one constraint, as given with --constraint:
 *
 *     R: a -> b            functional dependency
 *     R: a -> b <= 3       at most 3 values of b for one a
 *     R: (a, b) -> c, d    several columns on either side
 *     R: (a, b) -> *       a key
 *     |R| <= 1000          rows
 *     R: () -> a <= 50     distinct values
 *
 * Columns by name or by position from 1.
 */
#include "schema/schema.h"

#include <string.h>

struct scan {
    struct schema *s;
    struct str text; /* the whole */
    size_t at;
    bool quoted; /* the name taken last */
    struct err *err;
};

static enum status bad(struct scan *c, const char *what)
{
    err_set(c->err, E_SYNTAX, "constraint \"%.*s\": expected %s", PSTR(c->text),
            what);
    err_at(c->err, (long)c->at);
    err_hint(c->err, "Write for example 'R: a -> b <= 3', 'R: (a, b) -> *', "
                     "'|R| <= 1000' or 'R: () -> a <= 50'.");
    return E_SYNTAX;
}

static void skip_blanks(struct scan *c)
{
    while (c->at < c->text.n && strchr(" \t\r\n", c->text.p[c->at]))
        c->at++;
}

static bool take(struct scan *c, const char *token)
{
    size_t n = strlen(token);
    skip_blanks(c);
    if (c->text.n - c->at < n || memcmp(c->text.p + c->at, token, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
           (ch >= '0' && ch <= '9') || ch == '_' || ch == '$' || ch == '.' ||
           (unsigned char)ch >= 0x80;
}

/* A bare or double-quoted name; false when there is none. */
static bool take_name(struct scan *c, struct str *out)
{
    skip_blanks(c);
    size_t i = c->at;
    c->quoted = i < c->text.n && c->text.p[i] == '"';
    if (i < c->text.n && c->text.p[i] == '"') {
        const char *end = memchr(c->text.p + i + 1, '"', c->text.n - i - 1);
        if (!end)
            return false;
        *out =
            (struct str){c->text.p + i + 1, (size_t)(end - c->text.p) - i - 1};
        c->at = (size_t)(end - c->text.p) + 1;
        return out->n > 0;
    }
    while (i < c->text.n && is_word(c->text.p[i]))
        i++;
    *out = (struct str){c->text.p + c->at, i - c->at};
    c->at = i;
    return out->n > 0;
}

static enum status find_relation(struct scan *c, struct str name, bool quoted,
                                 size_t *out)
{
    long t;
    TRY(schema_find_option(c->s, name, quoted, &t, c->err));
    if (t >= 0) {
        *out = (size_t)t;
        return OK;
    }
    return schema_add_table(c->s, name, 0, out, c->err);
}

/* An undeclared table grows to the positions that constraints name. */
static enum status grow_to(struct scan *c, struct table *t, size_t n)
{
    if (n <= t->n_cols)
        return OK;
    struct column *cols = NEWS(c->s->arena, struct column, n);
    if (!cols)
        return err_nomem(c->err);
    if (t->n_cols)
        memcpy(cols, t->cols, t->n_cols * sizeof *cols);
    for (size_t i = t->n_cols; i < n; i++)
        cols[i].not_null = true;
    t->cols = cols;
    t->n_cols = n;
    return OK;
}

static enum status no_column(struct scan *c, const struct table *t,
                             struct str name)
{
    err_set(c->err, E_NAME, "relation \"%.*s\" has no column \"%.*s\"",
            PSTR(t->name), PSTR(name));
    err_at(c->err, (long)c->at);
    if (t->arity_known)
        err_hint(c->err,
                 "Give a column's name or its position, from 1 to "
                 "%zu.",
                 t->n_cols);
    else
        err_hint(c->err, "Nothing declares this relation: give positions from "
                         "1, or its columns with --schema or --policy.");
    return E_NAME;
}

static enum status find_column(struct scan *c, size_t table, struct str name,
                               uint32_t *out)
{
    struct table *t = &c->s->tables.p[table];
    long found = table_match_column(t, name);
    u128 pos;
    if (found >= 0) {
        *out = (uint32_t)found;
        return OK;
    }
    if (!u128_read(name.p, name.n, &pos) || pos < 1 || pos > 1600)
        return no_column(c, t, name);
    if (t->arity_known && pos > t->n_cols)
        return no_column(c, t, name);
    TRY(grow_to(c, t, (size_t)pos));
    *out = (uint32_t)pos - 1;
    return OK;
}

typedef VEC(uint32_t) cols_vec;

/* a | a, b | (a, b) | () */
static enum status read_columns(struct scan *c, size_t table, cols_vec *out)
{
    bool paren = take(c, "(");
    if (paren && take(c, ")"))
        return OK;
    do {
        struct str name;
        uint32_t col = 0;
        if (!take_name(c, &name))
            return bad(c, "a column");
        TRY(find_column(c, table, name, &col));
        if (!VEC_PUSH(c->s->arena, out, col))
            return err_nomem(c->err);
    } while (take(c, ","));
    if (paren && !take(c, ")"))
        return bad(c, "\")\"");
    return OK;
}

static enum status read_limit(struct scan *c, u128 *out)
{
    struct str digits;
    if (!take_name(c, &digits) || !u128_read(digits.p, digits.n, out) ||
        *out == U128_INF)
        return bad(c, "a whole number");
    if (*out == 0) {
        err_set(c->err, E_VALUE, "constraint \"%.*s\": the limit is 0",
                PSTR(c->text));
        err_hint(c->err, "Limits start at 1.");
        return E_VALUE;
    }
    return OK;
}

static enum status add_all(struct scan *c, size_t table, const cols_vec *x,
                           u128 k, bool is_key)
{
    struct table *t = &c->s->tables.p[table];
    TRY(table_add_whole(c->s, table, x->p, x->n, k, is_key, c->text, c->err));
    /* a key names every row, so it has no NULL; loading checks that */
    for (size_t i = 0; is_key && k == 1 && i < x->n; i++)
        t->cols[x->p[i]].not_null = true;
    return OK;
}

static enum status read_rows(struct scan *c)
{
    struct str name;
    size_t table;
    u128 k;
    cols_vec none = {0};
    if (!take_name(c, &name))
        return bad(c, "a relation");
    bool quoted = c->quoted;
    if (!take(c, "|") || !take(c, "<="))
        return bad(c, "\"| <=\"");
    TRY(read_limit(c, &k));
    TRY(find_relation(c, name, quoted, &table));
    return add_all(c, table, &none, k, false);
}

static enum status read_dependency(struct scan *c)
{
    struct str name;
    size_t table;
    u128 k = 1;
    cols_vec x = {0}, y = {0};
    if (!take_name(c, &name) || !take(c, ":"))
        return bad(c, "\"relation:\"");
    TRY(find_relation(c, name, c->quoted, &table));
    TRY(read_columns(c, table, &x));
    if (!take(c, "->"))
        return bad(c, "\"->\"");
    bool all = take(c, "*");
    if (!all)
        TRY(read_columns(c, table, &y));
    if (take(c, "<="))
        TRY(read_limit(c, &k));
    if (all)
        return add_all(c, table, &x, k, k == 1);
    if (y.n == 0)
        return bad(c, "a column on the right of ->");
    return table_add_degree(c->s, table, x.p, x.n, y.p, y.n, k, c->text,
                            c->err);
}

enum status schema_read_constraint(struct schema *s, struct str text,
                                   struct err *err)
{
    struct scan c = {.s = s, .text = str_trim(text), .err = err};
    TRY(take(&c, "|") ? read_rows(&c) : read_dependency(&c));
    skip_blanks(&c);
    return c.at == c.text.n ? OK : bad(&c, "the end");
}

enum status schema_set_privacy(struct schema *s, struct str list,
                               enum privacy p, struct err *err)
{
    struct scan c = {.s = s, .text = list, .err = err};
    do {
        struct str name;
        size_t table;
        if (!take_name(&c, &name)) {
            err_set(err, E_SYNTAX, "expected a table name in \"%.*s\"",
                    PSTR(list));
            err_hint(err, "Write names with commas between: patient,visit.");
            return E_SYNTAX;
        }
        TRY(find_relation(&c, name, c.quoted, &table));
        struct table *t = &s->tables.p[table];
        if (t->privacy != PRIVACY_UNDECLARED && t->privacy != p) {
            err_set(err, E_POLICY,
                    "table \"%.*s\" is declared both private "
                    "and public",
                    PSTR(t->name));
            err_hint(err, "Name it in one place only.");
            return E_POLICY;
        }
        t->privacy = p;
    } while (take(&c, ","));
    skip_blanks(&c);
    if (c.at == c.text.n)
        return OK;
    return err_set(err, E_SYNTAX, "unexpected text in table list \"%.*s\"",
                   PSTR(list));
}
