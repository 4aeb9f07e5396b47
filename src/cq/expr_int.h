/*
 * Inside the expression evaluator: the operations by kind of argument. Each
 * returns false only when memory is out; an argument of a wrong type gives
 * NULL. No argument is NULL (expr_eval.c has dealt with that).
 */
#ifndef CQ_EXPR_INT_H
#define CQ_EXPR_INT_H

#include "cq/expr.h"

/* expr_num.c: exact numbers and doubles */
bool expr_num_is(const struct value *v);      /* INT, DEC or REAL */
bool expr_num_is_long(const struct value *v); /* see EXPR_MAX_DIGITS */
bool expr_num_binary(struct arena *a, enum expr_op op, const struct value *l,
                     const struct value *r, struct value *out);
bool expr_num_unary(struct arena *a, enum expr_op op, const struct value *v,
                    struct value *out);
/* Rounds to `places` digits after the point, halves away from zero. */
bool expr_num_round(struct arena *a, const struct value *v, int64_t places,
                    struct value *out);
/* X_RATIO. */
bool expr_num_ratio(struct arena *a, const struct value *l,
                    const struct value *r, struct value *out);
struct value expr_num_to_real(const struct value *v);
/* The same number as a T_DEC, exactly. */
bool expr_num_to_decimal(struct arena *a, const struct value *v,
                         struct value *out);

/* expr_text.c */
bool expr_text_like(struct str s, struct str pattern, struct str escape,
                    bool icase);
bool expr_text_unary(struct arena *a, enum expr_op op, const struct value *v,
                     struct value *out);
/* v: n arguments of X_SUBSTR, X_CONCAT, X_TRIM.., X_REPLACE, X_POSITION */
bool expr_text_op(struct arena *a, enum expr_op op, const struct value *v,
                  uint32_t n, struct value *out);
bool expr_text_of(struct arena *a, const struct value *v, struct value *out);

/* expr_time.c; values saturate at the ends of the 64-bit range */
bool time_extract(struct arena *a, struct str field, const struct value *v,
                  struct value *out);
struct value time_trunc(struct str unit, const struct value *v);
struct value time_to_date(const struct value *v);
struct value time_to_timestamp(const struct value *v);
/* The calendar: days since 1970-01-01. */
struct civil {
    int64_t year;
    int month, day;
};
struct civil time_civil_of(int64_t days);
int64_t time_civil_days(int64_t year, int month, int day);
void time_civil_week(int64_t days, int64_t *iso_year, int64_t *week);
int time_civil_weekday(int64_t days); /* 0 is Monday */

/* expr_calendar.c: X_SHIFT (v[0] to v[3]), X_YEARS, X_BIN (v[0] to v[2]),
 * X_TO_CHAR */
struct value time_shift(const struct value *v);
struct value time_years(const struct value *later, const struct value *earlier);
struct value time_bin(const struct value *v);
bool time_to_char(struct arena *a, const struct value *v, struct str format,
                  struct value *out);
/* X_REGEX: v[0] to v[2]. */
struct value expr_text_regex(const struct value *v);

struct value time_add_days(const struct value *date, int64_t days);

#endif
