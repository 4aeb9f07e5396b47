/*
 * A look at the tokens before the parser sees the text.
 *
 * libpg_query recurses over what it has parsed, and jansson over the JSON
 * text; neither reports a full stack. So everything that can nest is counted
 * first. This scanner need not agree with PostgreSQL's in every case: what
 * it counts is an upper bound, and a wrong guess leads to a syntax error of
 * the real parser, never to another meaning.
 *
 * It also finds SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...), which is not
 * PostgreSQL, and overwrites it with blanks: positions stay as they are.
 *
 * Cost: one pass.
 */
#include <string.h>

#include "sql/sql_int.h"

enum kind { END, WORD, NUMBER, STRING, QUOTED, SIGN };

struct scanner {
    struct str text;
    size_t at; /* behind the current token */
    enum kind kind;
    struct str token;
    struct err *err;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct scanner *s, size_t i)
{
    return i < s->text.n ? s->text.p[i] : '\0';
}

static size_t skip_comment(const struct scanner *s, size_t i)
{
    size_t depth = 0;
    do {
        if (peek(s, i) == '/' && peek(s, i + 1) == '*') {
            depth++;
            i += 2;
        } else if (peek(s, i) == '*' && peek(s, i + 1) == '/') {
            depth--;
            i += 2;
        } else {
            i++;
        }
    } while (depth && i < s->text.n);
    return i;
}

static size_t skip_blanks(const struct scanner *s, size_t i)
{
    for (;;) {
        if (peek(s, i) && strchr(" \t\r\n\f\v", peek(s, i))) {
            i++;
        } else if (peek(s, i) == '-' && peek(s, i + 1) == '-') {
            while (i < s->text.n && peek(s, i) != '\n')
                i++;
        } else if (peek(s, i) == '/' && peek(s, i + 1) == '*') {
            i = skip_comment(s, i);
        } else {
            return i;
        }
    }
}

/* Behind the closing quote; a doubled quote stays inside. */
static size_t skip_quoted(const struct scanner *s, size_t i, char quote,
                          bool backslash)
{
    for (i++; i < s->text.n; i++) {
        if (backslash && peek(s, i) == '\\')
            i++;
        else if (peek(s, i) == quote && peek(s, i + 1) == quote)
            i++;
        else if (peek(s, i) == quote)
            return i + 1;
    }
    return s->text.n;
}

/* $tag$ ... $tag$, or 0 when there is no such string at i. */
static size_t skip_dollar(const struct scanner *s, size_t i)
{
    size_t j = i + 1;
    while (is_letter(peek(s, j)) || (j > i + 1 && is_digit(peek(s, j))))
        j++;
    if (peek(s, j) != '$')
        return 0;
    size_t n = j + 1 - i;
    const char *end =
        memmem(s->text.p + i + n, s->text.n - i - n, s->text.p + i, n);
    return end ? (size_t)(end - s->text.p) + n : s->text.n;
}

static size_t skip_word(const struct scanner *s, size_t i)
{
    while (is_letter(peek(s, i)) || is_digit(peek(s, i)) || peek(s, i) == '$')
        i++;
    return i;
}

static size_t skip_number(const struct scanner *s, size_t i)
{
    while (is_digit(peek(s, i)) || peek(s, i) == '.' || is_letter(peek(s, i)) ||
           ((peek(s, i) == '-' || peek(s, i) == '+') &&
            (peek(s, i - 1) == 'e' || peek(s, i - 1) == 'E')))
        i++;
    return i;
}

static void next(struct scanner *s)
{
    size_t i = skip_blanks(s, s->at), end = i + 1;
    char c = peek(s, i);
    s->kind = SIGN;
    if (i >= s->text.n) {
        s->kind = END;
        end = s->text.n;
        i = end;
    } else if (c == '\'' || c == '"') {
        s->kind = c == '"' ? QUOTED : STRING;
        end = skip_quoted(s, i, c, false);
    } else if ((c == 'e' || c == 'E') && peek(s, i + 1) == '\'') {
        s->kind = STRING;
        end = skip_quoted(s, i + 1, '\'', true);
    } else if (c == '$' && skip_dollar(s, i)) {
        s->kind = STRING;
        end = skip_dollar(s, i);
    } else if (is_letter(c)) {
        s->kind = WORD;
        end = skip_word(s, i);
    } else if (is_digit(c)) {
        s->kind = NUMBER;
        end = skip_number(s, i);
    }
    s->token = (struct str){s->text.p + i, end - i};
    s->at = end;
}

static bool at_word(const struct scanner *s, const char *word)
{
    return s->kind == WORD && str_eq_nocase(s->token, str_of(word));
}

static bool at_sign(const struct scanner *s, char c)
{
    return s->kind == SIGN && s->token.p[0] == c;
}

static long position(const struct scanner *s)
{
    return s->token.p - s->text.p;
}

/* --- limits --- */

/* <<, == and the like are operators that associate; < and <= are not. */
static bool is_long_operator(const struct scanner *s)
{
    char c = s->token.p[0], d = peek(s, s->at);
    if (!d || !strchr("<>=~!@#%^&|`?*/+-", d))
        return false;
    return !(d == '=' && c != '=') && !(c == '<' && d == '>');
}

static bool nests(const struct scanner *s)
{
    static const char *const words[] = {
        "join",    "not",   "case",   "when",      "is",      "isnull",
        "collate", "union", "except", "intersect", "notnull", "at"};
    if (s->kind == SIGN && strchr("<>=", s->token.p[0]))
        return is_long_operator(s);
    if (s->kind == SIGN)
        return !strchr(",.;)(]", s->token.p[0]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_word(s, words[i]))
            return true;
    return false;
}

static enum status too_large(const struct scanner *s, const char *what,
                             int limit)
{
    err_set(s->err, E_TOO_LARGE, "the query has more than %d %s", limit, what);
    err_at(s->err, position(s));
    err_hint(s->err, "Split it, or move long lists into a public table.");
    return E_TOO_LARGE;
}

static enum status check_limits(struct scanner *s)
{
    int tokens = 0, operators = 0, depth = 0;
    for (next(s); s->kind != END; next(s)) {
        if (++tokens > SQL_MAX_TOKENS)
            return too_large(s, "tokens", SQL_MAX_TOKENS);
        if (nests(s) && ++operators > SQL_MAX_OPERATORS)
            return too_large(s, "operators", SQL_MAX_OPERATORS);
        if (at_sign(s, '(') || at_sign(s, '['))
            depth++;
        if (at_sign(s, ')') || at_sign(s, ']'))
            depth--;
        if (depth > SQL_MAX_NESTING)
            return too_large(s, "brackets inside each other", SQL_MAX_NESTING);
    }
    return OK;
}

/* --- the clause --- */

static enum status expect(struct scanner *s, char c)
{
    if (!at_sign(s, c)) {
        err_set(s->err, E_SYNTAX, "expected \"%c\"", c);
        err_at(s->err, position(s));
        err_hint(s->err, "Write SELECT WITH DIFFERENTIAL_PRIVACY "
                         "OPTIONS(epsilon = 1, delta = 0) COUNT(*) FROM ...");
        return E_SYNTAX;
    }
    next(s);
    return OK;
}

static enum status read_option(struct scanner *s, struct str *epsilon,
                               struct str *delta)
{
    struct str *value = at_word(s, "epsilon") ? epsilon
                        : at_word(s, "delta") ? delta
                                              : NULL;
    if (!value)
        return sql_refuse(s->err, NO_DP_OPTION, position(s));
    if (value->n) {
        err_set(s->err, E_SYNTAX, "%.*s is given twice", PSTR(s->token));
        err_at(s->err, position(s));
        return E_SYNTAX;
    }
    next(s);
    TRY(expect(s, '='));
    if (s->kind != NUMBER && !at_sign(s, '.')) {
        err_set(s->err, E_SYNTAX, "expected a number that is not negative");
        err_at(s->err, position(s));
        return E_SYNTAX;
    }
    *value = s->token;
    if (at_sign(s, '.')) {
        next(s);
        value->n += s->token.n;
    }
    next(s);
    return OK;
}

static enum status read_options(struct scanner *s, struct str *epsilon,
                                struct str *delta)
{
    TRY(expect(s, '('));
    while (!at_sign(s, ')')) {
        TRY(read_option(s, epsilon, delta));
        if (!at_sign(s, ')'))
            TRY(expect(s, ','));
    }
    return OK;
}

/* Blanks the clause if it follows the first SELECT outside of brackets. */
static enum status take_clause(struct scanner *s, char *clean,
                               struct str *epsilon, struct str *delta)
{
    int depth = 0;
    for (next(s); s->kind != END; next(s)) {
        if (at_sign(s, '('))
            depth++;
        if (at_sign(s, ')'))
            depth--;
        if (depth == 0 && at_word(s, "select"))
            break;
    }
    next(s);
    size_t from = s->at - s->token.n;
    if (!at_word(s, "with"))
        return OK;
    next(s);
    if (!at_word(s, "differential_privacy"))
        return OK;
    size_t to = s->at;
    next(s);
    if (at_word(s, "options")) {
        next(s);
        TRY(read_options(s, epsilon, delta));
        to = s->at;
    }
    memset(clean + from, ' ', to - from);
    return OK;
}

static bool is_utf8(struct str s)
{
    size_t i = 0;
    while (i < s.n) {
        unsigned char c = (unsigned char)s.p[i];
        size_t n = c < 0x80   ? 1
                   : c < 0xC2 ? 0
                   : c < 0xE0 ? 2
                   : c < 0xF0 ? 3
                   : c < 0xF5 ? 4
                              : 0;
        if (n == 0 || s.n - i < n)
            return false;
        for (size_t k = 1; k < n; k++)
            if (((unsigned char)s.p[i + k] & 0xC0) != 0x80)
                return false;
        i += n;
    }
    return true;
}

enum status sql_scan(struct arena *a, struct str text, char **clean,
                     struct str *epsilon, struct str *delta, struct err *err)
{
    struct scanner s = {.text = text, .err = err};
    if (text.n > SQL_MAX_BYTES) {
        err_set(err, E_TOO_LARGE, "the query has more than %d bytes",
                SQL_MAX_BYTES);
        err_hint(err, "Split it, or move long lists into a public table.");
        return E_TOO_LARGE;
    }
    if (memchr(text.p, '\0', text.n) || !is_utf8(text))
        return err_set(err, E_SYNTAX, "the query is not UTF-8 text");
    TRY(check_limits(&s));
    if (!(*clean = arena_strdup(a, text.p, text.n)))
        return err_nomem(err);
    s.at = 0;
    return take_clause(&s, *clean, epsilon, delta);
}
