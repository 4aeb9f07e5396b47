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

/*
 * PRIVACY: what one row can cost is limited, whatever it holds. At every node,
 * not at the root alone:
 *
 *  - a computed text of more bytes is NULL;
 *  - a computed exact number with more digits before or behind the point is
 *    NULL; such a number in a column, NaN and the infinities are no numbers
 *    to arithmetic: NULL too;
 *  - values of types that do not mix are NULL.
 *
 * Nothing longer is ever built. A choice (CASE, COALESCE, NULLIF, LEAST,
 * GREATEST) computes nothing: what it picks was tested where it was made, and
 * a column or constant may be longer. So a computed value may be NULL although
 * none of its columns is. The server does the same (sqlgen/sqlgen_node.c).
 */
enum { EXPR_MAX_DIGITS = 1000, EXPR_MAX_TEXT = 65536 };

enum { RATIO_PLACES = 16, RATIO_MAX_DIGITS = 100 };

/* Nodes of all expressions of one query, each use of a shared one counted:
 * readers refuse more, before they are unfolded. */
enum { EXPR_MAX_NODES = 10000 };

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
    X_TO_REAL,      /* nearest double; what PostgreSQL compares reals with */
    X_TO_TIMESTAMP, /* date to timestamp at midnight */
    X_TO_TEXT,      /* of an integer, boolean, UUID or text */
    X_POSITION,     /* text, part: from 1, 0 when absent */
    X_RATIO,        /* quotient to expr_ratio_places; by 0, and of numbers with
                     * more than RATIO_MAX_DIGITS digits: NULL */
    X_SHIFT,        /* date or timestamp, then months, days, microseconds */
    X_YEARS,        /* whole years to the first from the second */
    X_TO_CHAR,      /* date or timestamp, format */
    X_BIN,          /* timestamp, width in microseconds, origin */
    X_REGEX,        /* text, pattern, kind: "~", "~*" or "similar" */
    X_N_OPS
};

struct expr {
    enum expr_op op;
    enum type type; /* of the result */
    uint32_t n_args;
    uint32_t n_nodes; /* of the tree, see expr_count_nodes */
    struct expr **args;
    struct value val; /* X_CONST */
    uint32_t var;     /* X_VAR */
    uint32_t places;  /* X_CONST: digits behind the point as it was written */
};

const char *expr_op_name(enum expr_op op); /* "or", "like", ... */
bool expr_op_find(struct str name, enum expr_op *out);
/* Can the operation take so many arguments? Readers must ask. */
bool expr_op_takes(enum expr_op op, size_t n_args);
/* The type of op over these arguments; T_UNKNOWN when the data decide. */
enum type expr_op_type(enum expr_op op, struct expr *const *args,
                       uint32_t n_args);
/* The type that holds every value of the expression: its own, but decimal
 * where sums and products of integers may leave 64 bits. */
enum type expr_storage_type(const struct expr *e);
/* Nodes; NULL when memory is out. expr_new takes its type from
 * expr_op_type. */
struct expr *expr_const(struct arena *a, struct value v);
struct expr *expr_var(struct arena *a, uint32_t var, enum type t);
struct expr *expr_new(struct arena *a, enum expr_op op, uint32_t n_args,
                      struct expr *const *args);
/* Nodes of a tree over these arguments; it stops at UINT32_MAX. Who makes a
 * node without expr_new sets n_nodes by it. */
uint32_t expr_count_nodes(uint32_t n_args, struct expr *const *args);
/* E_TOO_LARGE: more than EXPR_MAX_NODES. */
enum status expr_refuse_size(struct err *err, long position);
vset expr_vars(const struct expr *e);
/* Is it a result of arithmetic (of rounding too, not of division)? */
bool expr_is_computed(const struct expr *e);
bool expr_equal(const struct expr *a, const struct expr *b);
/* Digits behind the point of the quotient: RATIO_PLACES, and more where it is
 * below 1. */
size_t expr_ratio_places(struct arena *a, const struct value *x,
                         const struct value *y);
/* A copy with variable v replaced by to[v] (a variable) or, where consts[v]
 * is not NULL, by that constant. NULL when memory is out. */
struct expr *expr_map(struct arena *a, const struct expr *e, const uint32_t *to,
                      const struct value *const *consts);
/* vals[v] is the value of variable v. The result lives in `a`, as do at most
 * some 256 KB of scratch for each level of the tree. Fails only on exhausted
 * memory. An operation whose arguments have types that it
 * is not for (possible only where a column's type comes from the data) gives
 * NULL. The result has the type of e, except that an integer that leaves 64
 * bits is a decimal (see expr_storage_type) and that a T_UNKNOWN e can give
 * any type. */
enum status expr_eval(struct arena *a, const struct expr *e,
                      const struct value *vals, struct value *out,
                      struct err *err) WARN_UNUSED;
/* Is every letter of the format part of a pattern of X_TO_CHAR? */
bool time_format_known(struct str format);
void expr_print(struct sb *b, const struct expr *e,
                struct str (*var_name)(const void *ctx, uint32_t var),
                const void *ctx);

#endif
