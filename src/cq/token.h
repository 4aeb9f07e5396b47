/*
 * The tokens of rule text. One struct holds the place and the current token;
 * copying it is looking ahead.
 */
#ifndef CQ_TOKEN_H
#define CQ_TOKEN_H

#include "base/str.h"

enum token {
    K_END,
    K_NAME,
    K_QUOTED_NAME,
    K_STRING,
    K_NUMBER,
    K_LPAREN,
    K_RPAREN,
    K_LBRACE,
    K_RBRACE,
    K_COMMA,
    K_SEMI,
    K_DOT,
    K_IF,
    K_ASSIGN,
    K_AT,
    K_EQ,
    K_NE,
    K_LT,
    K_LE,
    K_GT,
    K_GE,
    K_BAD,
};

struct tokens {
    struct arena *arena; /* for quoted texts */
    struct str text;
    size_t at; /* after the current token */
    size_t start;
    enum token token;
    struct str word; /* name or string, unescaped */
};

void token_next(struct tokens *p);
/* Does a quoted string come next? */
bool token_string_follows(const struct tokens *p);

#endif
