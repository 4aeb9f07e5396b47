/*
 * The tokens of rule text. One struct holds the place and the current token;
 * copying it is looking ahead.
 */
#ifndef CQ_TOKEN_H
#define CQ_TOKEN_H

#include "base/err.h"
#include "schema/value.h"

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
/* date, numeric, ...: the type of a literal with that word before it. */
bool token_literal_type(struct str s, enum type *out);

/* refuse.c */
enum status cq_refuse_negation(struct err *err, long at);
enum status cq_refuse_disjunction(struct err *err, long at);

#endif
