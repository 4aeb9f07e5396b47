/*
 * JSON writer over a string builder. It places commas, escapes strings, and
 * writes integers of any width (the contract has counts beyond 2^53). What it
 * writes is valid JSON in valid UTF-8 whatever bytes a string holds.
 *
 *     json_begin(&j, '{'); json_key(&j, "count"); json_u128(&j, n);
 *     json_end(&j, '}');
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/str.h"

struct json {
    struct sb *out;
    bool need_comma;
};

void json_init(struct json *j, struct sb *out);
void json_begin(struct json *j, char bracket); /* '{' or '[' */
void json_end(struct json *j, char bracket);   /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_key_str(struct json *j, struct str key);
void json_str(struct json *j, struct str s);
void json_cstr(struct json *j, const char *s);
void json_u128(struct json *j, u128 v);
void json_i64(struct json *j, int64_t v);
/* U128_INF is written as "inf". */
void json_bound(struct json *j, u128 v);
/* For display only; shortest form that reads back. */
void json_double(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* A literal that is JSON already, e.g. a decimal number. */
void json_raw(struct json *j, struct str s);

#endif
