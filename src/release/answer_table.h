/*
 * The rows that a SELECT gives: released numbers and keys put together, then
 * its expressions, HAVING, ORDER BY and LIMIT. PRIVACY: post-processing; all
 * that comes in was released, or is the owner's.
 */
#ifndef RELEASE_ANSWER_TABLE_H
#define RELEASE_ANSWER_TABLE_H

#include "base/json.h"
#include "sql/sql.h"

/* The numbers of one count, one for each key, or one in all. */
struct table_count {
    const struct value *keys; /* n rows of n_keys values */
    const struct str *numbers;
    size_t n;
    double p95;     /* display: error of each number; negative: not known */
    bool clamped;   /* count: a number is what counts are clamped at */
    uint32_t scale; /* of a sum: numbers and p95 are in units of 10^-scale */
    /* Its numbers and those of the next count make an AVG; NULL: no. */
    const struct sql_average *average;
};

/* 12345 in units of 10^-2 is 123.45; p is NULL without memory. */
struct str answer_decimal(struct arena *a, struct str units, uint32_t scale);
/* The same in JSON: decimals are texts. */
void answer_number_json(struct json *j, struct str units, uint32_t scale);
/* A total, which may be a two's complement, in digits; p is NULL without
 * memory. */
struct str answer_units(struct arena *a, u128 v, bool is_signed);
/* An AVG from its sum and its number, to expr_ratio_places. */
struct str answer_average(struct arena *a, const struct sql_average *v,
                          struct str sum, struct str n);

struct answer_table {
    const struct sql_after *after;
    size_t n_keys, n_cols, n_rows;
    struct value *cells; /* row by row; decimals with zeros at the end */
    double *errors; /* display: p95 of each cell to first order, negative: none
                     */
    bool *computed; /* columns: no released number or key as it is */
};

/* *v, the value of e, with as many digits behind the point as PostgreSQL shows
 * of it. of_var: digits of each variable, or PLACES_OF_RATIO for a quotient. */
enum { PLACES_OF_RATIO = UINT32_MAX };
enum status answer_show_places(struct arena *a, const struct expr *e,
                               const struct value *vars, const uint32_t *of_var,
                               struct value *v, struct err *err) WARN_UNUSED;

/* A key that one count has and another does not (each hides its own keys
 * below the threshold) gives a row in which the other number is NULL. */
enum status answer_table_make(struct arena *a, const struct sql_after *after,
                              size_t n_keys, const struct table_count *counts,
                              size_t n_counts, struct answer_table *out,
                              struct err *err) WARN_UNUSED;
/* Is it one number and nothing else? */
bool answer_table_plain(const struct sql_after *after, size_t n_keys,
                        size_t n_counts);

/* "columns": [{"name": .., "type": ..}, ..] */
void answer_columns_json(struct json *j, const struct sql_after *after);
/* "rows": [[..], ..]; if a column is computed "errors": [[..], ..] too */
void answer_rows_json(struct json *j, const struct answer_table *t);
/* A table for people: headings, numbers to the right. */
void answer_table_text(struct sb *b, const struct answer_table *t);

#endif
