/* Tokens: see token.h. Time is linear in the text. */
#include "cq/token.h"

#include <string.h>

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct tokens *p)
{
    while (p->at < p->text.n) {
        char c = p->text.p[p->at];
        if (c == '%' || c == '#') {
            while (p->at < p->text.n && p->text.p[p->at] != '\n')
                p->at++;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            p->at++;
        } else {
            return;
        }
    }
}

/* A quoted text; the quote is doubled inside. */
static enum token scan_quoted(struct tokens *p, char quote, enum token kind)
{
    struct sb b;
    sb_init(&b, p->arena);
    sb_add(&b, "", 0);
    for (size_t i = p->at + 1; i < p->text.n; i++) {
        if (p->text.p[i] != quote) {
            sb_char(&b, p->text.p[i]);
        } else if (i + 1 < p->text.n && p->text.p[i + 1] == quote) {
            sb_char(&b, quote);
            i++;
        } else {
            p->at = i + 1;
            p->word = sb_view(&b);
            return b.failed ? K_BAD : kind;
        }
    }
    return K_BAD;
}

static enum token scan_number(struct tokens *p)
{
    size_t i = p->at + 1;
    while (i < p->text.n && is_digit(p->text.p[i]))
        i++;
    if (i + 1 < p->text.n && p->text.p[i] == '.' && is_digit(p->text.p[i + 1]))
        for (i++; i < p->text.n && is_digit(p->text.p[i]); i++)
            ;
    if (i + 1 < p->text.n && (p->text.p[i] == 'e' || p->text.p[i] == 'E')) {
        size_t j = i + 1 + (p->text.p[i + 1] == '-' || p->text.p[i + 1] == '+');
        if (j < p->text.n && is_digit(p->text.p[j]))
            for (i = j; i < p->text.n && is_digit(p->text.p[i]); i++)
                ;
    }
    p->word = (struct str){p->text.p + p->at, i - p->at};
    p->at = i;
    return K_NUMBER;
}

static enum token scan_name(struct tokens *p)
{
    size_t i = p->at;
    while (i < p->text.n && (is_alpha(p->text.p[i]) || is_digit(p->text.p[i])))
        i++;
    p->word = (struct str){p->text.p + p->at, i - p->at};
    p->at = i;
    return K_NAME;
}

static enum token scan_sign(struct tokens *p)
{
    static const struct {
        const char *text;
        enum token token;
    } signs[] = {
        {":-", K_IF},    {":=", K_ASSIGN}, {"!=", K_NE},    {"<>", K_NE},
        {"<=", K_LE},    {">=", K_GE},     {"<", K_LT},     {">", K_GT},
        {"=", K_EQ},     {"(", K_LPAREN},  {")", K_RPAREN}, {"{", K_LBRACE},
        {"}", K_RBRACE}, {",", K_COMMA},   {";", K_SEMI},   {".", K_DOT},
        {"@", K_AT},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t n = strlen(signs[i].text);
        if (p->text.n - p->at >= n &&
            memcmp(p->text.p + p->at, signs[i].text, n) == 0) {
            p->at += n;
            return signs[i].token;
        }
    }
    return K_BAD;
}

void token_next(struct tokens *p)
{
    skip_blanks(p);
    p->start = p->at;
    if (p->at == p->text.n) {
        p->token = K_END;
        return;
    }
    char c = p->text.p[p->at];
    char d = p->at + 1 < p->text.n ? p->text.p[p->at + 1] : 0;
    if (c == '\'')
        p->token = scan_quoted(p, c, K_STRING);
    else if (c == '"')
        p->token = scan_quoted(p, c, K_QUOTED_NAME);
    else if (is_digit(c) || ((c == '-' || c == '+') && is_digit(d)))
        p->token = scan_number(p);
    else if (is_alpha(c))
        p->token = scan_name(p);
    else
        p->token = scan_sign(p);
}

bool token_string_follows(const struct tokens *p)
{
    struct tokens ahead = *p;
    skip_blanks(&ahead);
    return ahead.at < ahead.text.n && ahead.text.p[ahead.at] == '\'';
}

bool token_literal_type(struct str s, enum type *out)
{
    static const struct {
        const char *name;
        enum type type;
    } types[] = {{"date", T_DATE}, {"timestamp", T_TIMESTAMP},
                 {"time", T_TIME}, {"uuid", T_UUID},
                 {"real", T_REAL}, {"numeric", T_DEC}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (str_is(s, types[i].name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}
