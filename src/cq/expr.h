/*
 * Scalar expressions over the columns of one row: single-table predicates,
 * computed join and group keys. Total by construction: every operation is
 * defined on every input (an error on some row would be an unpaid output), so
 * division, casts and the like are refused by the SQL front end unless they
 * are guarded. Three-valued logic as in SQL: NULL is "unknown".
 *
 * Columns are named by the query's variables. Text form (prints and reads
 * back): prefix calls, e.g. or(like(n, 'a%'), lt(age, 18), isnull(d)).
 */
#ifndef CQ_EXPR_H
#define CQ_EXPR_H

#include "schema/value.h"
#include "base/bits.h"

/* Readers refuse deeper expressions, so that recursion is bounded. */
enum { EXPR_MAX_DEPTH = 200 };

enum expr_op {
    X_CONST,
    X_VAR,
    X_AND,
    X_OR,
    X_NOT,
    X_EQ,
    X_NE,
    X_LT,
    X_LE,
    X_GT,
    X_GE,
    X_ISNULL,
    X_ISTRUE,
    X_ISFALSE,
    X_DISTINCT, /* IS DISTINCT FROM */
    X_IN,       /* first argument in the others */
    X_LIKE,
    X_ILIKE, /* text, pattern, escape */
    X_CASE,  /* when, then, when, then, ..., else */
    X_COALESCE,
    X_NULLIF,
    X_ADD,
    X_SUB,
    X_MUL,
    X_NEG,
    X_ABS, /* exact; widen to decimal */
    X_DIV,
    X_MOD, /* only with a divisor that is a constant != 0 */
    X_LOWER,
    X_UPPER,
    X_LENGTH,
    X_SUBSTR,
    X_CONCAT,
    X_TRIM,
    X_LTRIM,
    X_RTRIM,
    X_REPLACE,
    X_EXTRACT,    /* field name constant, then date/timestamp */
    X_DATE_TRUNC, /* unit constant, then date/timestamp */
    X_TO_DATE,    /* timestamp to date, total */
    X_ROUND,
    X_FLOOR,
    X_CEIL,
    X_LEAST,
    X_GREATEST,
    X_N_OPS
};

struct expr {
    enum expr_op op;
    enum type type; /* of the result */
    uint32_t n_args;
    struct expr **args;
    struct value val; /* X_CONST */
    uint32_t var;     /* X_VAR */
};

const char *expr_op_name(enum expr_op op); /* "or", "like", ... */
bool expr_op_find(struct str name, enum expr_op *out);
vset expr_vars(const struct expr *e);
bool expr_equal(const struct expr *a, const struct expr *b);
/* A copy with variable v replaced by to[v] (a variable) or, where consts[v]
 * is not NULL, by that constant. NULL when memory is out. */
struct expr *expr_map(struct arena *a, const struct expr *e, const uint32_t *to,
                      const struct value *const *consts);
/* vals[v] is the value of variable v. Scratch results live in `a`. Fails
 * only on exhausted memory. */
enum status expr_eval(struct arena *a, const struct expr *e,
                      const struct value *vals, struct value *out,
                      struct err *err) WARN_UNUSED;
void expr_print(struct sb *b, const struct expr *e,
                struct str (*var_name)(const void *ctx, uint32_t var),
                const void *ctx);

#endif
