/*
 * A string of statements, read by PostgreSQL's own parser, and what kind each
 * is. The whole string is read before the first is run, as PostgreSQL does;
 * they are planned and run one by one.
 */
#include <ctype.h>
#include <pg_query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalogue/catalogue.h"
#include "serve/front_int.h"

/* --- words
 * ------------------------------------------------------------------------
 */

static size_t skip_blanks(const char *s, size_t i)
{
    for (;;) {
        while (isspace((unsigned char)s[i]))
            i++;
        if (s[i] == '-' && s[i + 1] == '-') {
            while (s[i] && s[i] != '\n')
                i++;
        } else if (s[i] == '/' && s[i + 1] == '*') {
            int depth = 0;
            do {
                if (s[i] == '/' && s[i + 1] == '*') {
                    depth++;
                    i += 2;
                } else if (s[i] == '*' && s[i + 1] == '/') {
                    depth--;
                    i += 2;
                } else {
                    i++;
                }
            } while (s[i] && depth);
        } else {
            return i;
        }
    }
}

static bool word_at(const char *s, size_t i, const char *word)
{
    size_t n = strlen(word);
    return !strncasecmp(s + i, word, n) && !isalnum((unsigned char)s[i + n]) &&
           s[i + n] != '_';
}

/* Where the SELECT of an EXPLAIN begins. The parser has accepted it. */
static size_t inside_explain(const char *s)
{
    static const char *const words[] = {"explain", "analyze", "analyse",
                                        "verbose"};
    size_t i = skip_blanks(s, 0);
    for (size_t w = 0; w < 4; w++)
        if (word_at(s, i, words[w]))
            i = skip_blanks(s, i + strlen(words[w]));
    if (s[i] != '(')
        return i;
    size_t end = i, depth = 0;
    do {
        depth += s[end] == '(';
        depth -= s[end] == ')';
        end++;
    } while (s[end] && depth);
    size_t next = skip_blanks(s, end);
    return word_at(s, next, "select") || word_at(s, next, "with") ||
                   s[next] == '(' || word_at(s, next, "values") ||
                   word_at(s, next, "table")
               ? next
               : i;
}

/* ... and of a DECLARE: behind the word FOR. */
static size_t inside_declare(const char *s)
{
    size_t i = skip_blanks(s, 0);
    while (s[i]) {
        if (s[i] == '"') {
            for (i++; s[i] && s[i] != '"'; i++)
                ;
            i += s[i] == '"';
        } else if (word_at(s, i, "for")) {
            return skip_blanks(s, i + 3);
        } else if (isalnum((unsigned char)s[i]) || s[i] == '_') {
            while (isalnum((unsigned char)s[i]) || s[i] == '_')
                i++;
        } else {
            i++;
        }
        i = skip_blanks(s, i);
    }
    return i;
}

/* --- kinds
 * ------------------------------------------------------------------------
 */

/* Is there a table of the schema dpcount in the tree? */
static bool names_own(json_t *n)
{
    const char *key;
    size_t i;
    json_t *v;
    if (json_is_array(n)) {
        json_array_foreach(n, i, v) if (names_own(v)) return true;
        return false;
    }
    if (!json_is_object(n))
        return false;
    json_t *r = json_object_get(n, "RangeVar");
    const char *schema = json_string_value(json_object_get(r, "schemaname"));
    if (schema && !strcmp(schema, "dpcount"))
        return true;
    json_object_foreach(n, key, v) if (names_own(v)) return true;
    return false;
}

static enum statement_kind select_kind(const struct statement *s)
{
    struct catalogue_error err;
    if (names_own(s->node))
        return STATEMENT_OWN;
    switch (catalogue_classify(s->sql + s->inner, &err)) {
    case CATALOGUE_SYSTEM:
        return STATEMENT_SYSTEM;
    case CATALOGUE_MIXED:
        return STATEMENT_REFUSED;
    default:
        return STATEMENT_SELECT;
    }
}

static bool wants_json(json_t *node)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(node, "options"), i, o)
    {
        json_t *d = json_object_get(o, "DefElem");
        const char *name = json_string_value(json_object_get(d, "defname"));
        const char *value = json_string_value(json_object_get(
            json_object_get(json_object_get(d, "arg"), "String"), "sval"));
        if (name && value && !strcasecmp(name, "format"))
            return !strcasecmp(value, "json");
    }
    return false;
}

static bool analyzes(json_t *node)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(node, "options"), i, o)
    {
        const char *name = json_string_value(
            json_object_get(json_object_get(o, "DefElem"), "defname"));
        if (name && !strcasecmp(name, "analyze"))
            return true;
    }
    return false;
}

static enum statement_kind explain_kind(struct statement *s)
{
    json_t *inner = json_object_get(s->node, "query");
    s->inner = inside_explain(s->sql);
    s->explain_json = wants_json(s->node);
    return json_object_get(inner, "SelectStmt") && !analyzes(s->node)
               ? STATEMENT_EXPLAIN
               : STATEMENT_REFUSED;
}

static const struct {
    const char *type;
    enum statement_kind kind;
} kinds[] = {
    {"VariableSetStmt", STATEMENT_SET},
    {"VariableShowStmt", STATEMENT_SHOW},
    {"TransactionStmt", STATEMENT_TRANSACTION},
    {"DiscardStmt", STATEMENT_DISCARD},
    {"DeallocateStmt", STATEMENT_DEALLOCATE},
    {"DeclareCursorStmt", STATEMENT_DECLARE},
    {"FetchStmt", STATEMENT_FETCH},
    {"ClosePortalStmt", STATEMENT_CLOSE},
    {"AlterRoleStmt", STATEMENT_PASSWORD},
};

static enum statement_kind kind_of(struct statement *s)
{
    if (!strcmp(s->type, "SelectStmt"))
        return select_kind(s);
    if (!strcmp(s->type, "ExplainStmt"))
        return explain_kind(s);
    if (!strcmp(s->type, "DeclareCursorStmt"))
        s->inner = inside_declare(s->sql);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(s->type, kinds[i].type))
            return kinds[i].kind;
    return STATEMENT_REFUSED;
}

/* --- reading
 * ------------------------------------------------------------------------
 */

static void take_statement(struct statements *out, const char *text,
                           json_t *raw)
{
    struct statement *s = &out->list[out->n++];
    size_t all = strlen(text);
    json_t *node = json_object_get(raw, "stmt");
    size_t at =
        (size_t)json_integer_value(json_object_get(raw, "stmt_location"));
    size_t n = (size_t)json_integer_value(json_object_get(raw, "stmt_len"));
    at = at > all ? all : at;
    n = !n || n > all - at ? all - at : n;
    size_t blank = 0;
    while (blank < n && isspace((unsigned char)text[at + blank]))
        blank++;
    s->offset = at + blank;
    s->sql = front_copy(&out->pool, text + s->offset, n - blank);
    s->type = json_object_iter_key(json_object_iter(node));
    s->node = s->type ? json_object_get(node, s->type) : NULL;
    s->type = s->type ? s->type : "";
    s->kind = kind_of(s);
}

static bool take_tree(struct statements *out, const char *text,
                      const char *tree, struct problem *bad)
{
    size_t i;
    json_t *raw;
    out->tree = json_loads(tree, 0, NULL);
    json_t *list = json_object_get(out->tree, "stmts");
    if (!out->tree)
        return problem_set(bad, "54001", "the statement is too complex");
    size_t n = json_array_size(list);
    out->list = front_alloc(&out->pool, (n + 1) * sizeof *out->list);
    json_array_foreach(list, i, raw) take_statement(out, text, raw);
    return true;
}

/* The byte at which the n-th character begins; the parser counts those. */
static long byte_of(const char *text, size_t n)
{
    size_t i = 0;
    while (text[i] && n) {
        i++;
        n -= ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return (long)i;
}

bool statements_read(const char *text, struct statements *out,
                     struct problem *bad)
{
    *out = (struct statements){0};
    PgQueryParseResult r = pg_query_parse(text);
    bool ok = !r.error;
    if (ok) {
        ok = take_tree(out, text, r.parse_tree, bad);
    } else {
        problem_set(bad, "42601", "%s", r.error->message);
        bad->at = r.error->cursorpos > 0
                      ? byte_of(text, (size_t)r.error->cursorpos - 1)
                      : -1;
    }
    pg_query_free_parse_result(r);
    return ok;
}

void statements_free(struct statements *s)
{
    json_decref(s->tree);
    front_release(&s->pool);
    *s = (struct statements){0};
}
