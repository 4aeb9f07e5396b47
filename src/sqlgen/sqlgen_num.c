/*
 * Numbers as SQL: what arithmetic takes, and how long its results can get.
 *
 * PRIVACY: a numeric of the server ends at 131072 digits before the point with
 * an error, and at 16383 behind it with a rounded one. Columns may be as long
 * as that. So arithmetic takes and gives no longer numbers than
 * EXPR_MAX_DIGITS (NULL, in both engines). The test is left out where the
 * types of the arguments show that it cannot fail.
 */
#include "sqlgen/sqlgen.h"

enum { INT_DIGITS = 19, MAX_PLACES = 1000 };

/* DuckDB's widest integers hold all numbers of so many digits. */
enum { HUGEINT_DIGITS = 38 };

/* At most so many digits before and behind the point. */
struct sqlgen_digits {
    size_t whole, behind;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct sqlgen_digits digits_of(const struct expr *e);

/* Of all arguments; conditions of a CASE do no harm. */
static struct sqlgen_digits longest(const struct expr *e)
{
    struct sqlgen_digits d = {INT_DIGITS, 0};
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct sqlgen_digits x = digits_of(e->args[i]);
        d.whole = larger(d.whole, x.whole);
        d.behind = larger(d.behind, x.behind);
    }
    return d;
}

/* What an operation gives before its result is tested. */
static struct sqlgen_digits result_digits(const struct expr *e)
{
    struct sqlgen_digits d = {0, 0};
    if (e->op != X_MUL) {
        d = longest(e);
        d.whole += e->op != X_DIV && e->op != X_MOD;
        return d;
    }
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct sqlgen_digits x = digits_of(e->args[i]);
        d.whole += x.whole;
        d.behind += x.behind;
    }
    return d;
}

static bool is_long(struct sqlgen_digits d)
{
    return d.whole > EXPR_MAX_DIGITS || d.behind > EXPR_MAX_DIGITS;
}

static struct sqlgen_digits at_most(struct sqlgen_digits d)
{
    d.whole = d.whole < EXPR_MAX_DIGITS ? d.whole : EXPR_MAX_DIGITS;
    d.behind = d.behind < EXPR_MAX_DIGITS ? d.behind : EXPR_MAX_DIGITS;
    return d;
}

/* As an argument of arithmetic, which takes nothing longer. */
static struct sqlgen_digits digits_of(const struct expr *e)
{
    struct sqlgen_digits d = {INT_DIGITS, 0};
    switch (e->op) {
    case X_CONST:
        if (!e->val.is_null && e->val.type == T_DEC)
            d.whole = d.behind = larger(e->val.s.n, INT_DIGITS);
        return at_most(d);
    case X_CASE:
    case X_COALESCE:
    case X_LEAST:
    case X_GREATEST:
    case X_NULLIF:
        d = longest(e);
        break;
    case X_DIV:
    case X_MOD:
        return at_most(result_digits(e));
    default:
        if (expr_is_computed(e))
            return at_most(result_digits(e));
        break;
    }
    if (e->type == T_DEC)
        d.whole = d.behind = EXPR_MAX_DIGITS;
    return at_most(d);
}

/* A decimal of a column, or one that a choice picked from there, can be longer
 * than any that was computed, or infinite (a field of an infinite date too). */
static bool may_be_long(const struct expr *e)
{
    return e->type == T_DEC && !expr_is_computed(e) && e->op != X_DIV &&
           e->op != X_MOD && (e->op != X_CONST || e->val.type == T_DEC);
}

/* The number where it is one and no longer than one may be. NaN, above all
 * numbers, and the infinities become NULL too. */
static void put_tested(struct sb *b, struct str x)
{
    sb_printf(b,
              "(CASE WHEN abs(%.*s) < 1e%d AND trunc(%.*s, %d) = %.*s THEN "
              "%.*s END)",
              PSTR(x), EXPR_MAX_DIGITS, PSTR(x), EXPR_MAX_DIGITS, PSTR(x),
              PSTR(x));
}

static struct str view(const struct sqlgen_out *o, const struct sb *b,
                       enum status *s)
{
    *s = b->failed ? err_nomem(o->err) : OK;
    return sb_view(b);
}

enum status sqlgen_numeric(const struct sqlgen_out *o, const struct expr *e,
                           struct str *out)
{
    struct sb b, tested;
    struct str x;
    enum status s = OK;
    if (e->type != T_INT && e->type != T_DEC)
        return sqlgen_refuse_expr(o->err, "arithmetic on this type");
    if (o->c->duckdb && e->type != T_INT)
        return sqlgen_refuse_expr(o->err, "arithmetic on decimals");
    TRY(sqlgen_part(o, e, &x));
    sb_init(&b, o->b->arena);
    sb_printf(&b, "(%.*s)::%s", PSTR(x), o->c->duckdb ? "hugeint" : "numeric");
    *out = view(o, &b, &s);
    if (s != OK || !may_be_long(e))
        return s;
    sb_init(&tested, o->b->arena);
    put_tested(&tested, *out);
    *out = view(o, &tested, &s);
    return s;
}

/* --- operations ---------------------------------------------------------- */

/* Arithmetic of integers widens instead of overflowing: as numeric. */
static enum status infix(const struct sqlgen_out *o, const struct expr *e,
                         const char *op, struct sb *b)
{
    sb_char(b, '(');
    if (e->n_args == 1)
        sb_cstr(b, op);
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct str x;
        TRY(sqlgen_numeric(o, e->args[i], &x));
        sb_cstr(b, i ? op : "");
        sb_str(b, x);
    }
    sb_char(b, ')');
    return OK;
}

/* abs, floor, ceil, round; of doubles too: none of them can leave the type */
static enum status unary(const struct sqlgen_out *o, const struct expr *e,
                         const char *f, struct sb *b)
{
    struct str x;
    if (e->args[0]->type == T_REAL)
        TRY(sqlgen_part(o, e->args[0], &x));
    else
        TRY(sqlgen_numeric(o, e->args[0], &x));
    sb_printf(b, "%s(%.*s)", f, PSTR(x));
    return OK;
}

static bool is_int_const(const struct expr *e)
{
    return e->op == X_CONST && !e->val.is_null && e->val.type == T_INT;
}

static enum status rounded(const struct sqlgen_out *o, const struct expr *e,
                           struct sb *b)
{
    struct str x;
    if (e->n_args == 1)
        return unary(o, e, "round", b);
    if (!is_int_const(e->args[1]) || e->args[1]->val.i > MAX_PLACES ||
        e->args[1]->val.i < -MAX_PLACES)
        return sqlgen_refuse_expr(o->err, "round with so many places");
    TRY(sqlgen_numeric(o, e->args[0], &x));
    sb_printf(b, "round(%.*s, %d)", PSTR(x), (int)e->args[1]->val.i);
    return OK;
}

/* Towards zero; the remainder has the sign of the dividend. The divisor is a
 * column or a constant, so 64 bits hold it. */
static enum status divided(const struct sqlgen_out *o, const struct expr *e,
                           const char *f, struct sb *b)
{
    const struct expr *by = e->args[1];
    struct str x, y;
    if (by->op == X_NULLIF)
        by = by->args[0];
    if (e->args[0]->type != T_INT || by->type != T_INT ||
        (by->op != X_VAR && by->op != X_CONST))
        return sqlgen_refuse_expr(o->err, "this division");
    TRY(sqlgen_numeric(o, e->args[0], &x));
    TRY(sqlgen_numeric(o, e->args[1], &y));
    sb_printf(b, "%s(%.*s, NULLIF(%.*s, 0))", f, PSTR(x), PSTR(y));
    return OK;
}

static enum status operation(const struct sqlgen_out *o, const struct expr *e,
                             struct sb *b)
{
    switch (e->op) {
    case X_ADD:
        return infix(o, e, " + ", b);
    case X_SUB:
    case X_NEG:
        return infix(o, e, " - ", b);
    case X_MUL:
        return infix(o, e, " * ", b);
    case X_ABS:
        return unary(o, e, "abs", b);
    case X_FLOOR:
        return unary(o, e, "floor", b);
    case X_CEIL:
        return unary(o, e, "ceil", b);
    case X_DIV:
        return divided(o, e, "div", b);
    case X_MOD:
        return divided(o, e, "mod", b);
    default:
        return rounded(o, e, b);
    }
}

enum status sqlgen_arithmetic(const struct sqlgen_out *o, const struct expr *e)
{
    struct sb b;
    enum status s = OK;
    if (o->c->duckdb &&
        (e->type == T_REAL || result_digits(e).whole > HUGEINT_DIGITS))
        return sqlgen_refuse_expr(o->err, "arithmetic on numbers so large");
    if (e->type == T_REAL || !is_long(result_digits(e)))
        return operation(o, e, o->b);
    sb_init(&b, o->b->arena);
    TRY(operation(o, e, &b));
    struct str x = view(o, &b, &s);
    if (s == OK)
        put_tested(o->b, x);
    return s;
}

/* --- doubles ------------------------------------------------------------- */

/* 2^1024 - 2^970: from here on the nearest double is infinite. */
static void put_bound(struct sb *b)
{
    enum { DIGITS = 310 };
    unsigned char d[DIGITS] = {1}; /* lowest first */
    for (unsigned n = 0; n < 1024; n++) {
        /* 2^54 - 1, and then 970 times as much */
        unsigned carry = 0;
        for (unsigned i = 0; i < DIGITS; i++) {
            unsigned x = 2U * d[i] + carry;
            d[i] = (unsigned char)(x % 10);
            carry = x / 10;
        }
        for (unsigned i = 0; n == 53; i++) {
            bool borrow = !d[i];
            d[i] = borrow ? 9 : (unsigned char)(d[i] - 1);
            if (!borrow)
                break;
        }
    }
    unsigned top = DIGITS;
    while (top > 1 && !d[top - 1])
        top--;
    while (top)
        sb_char(b, (char)('0' + d[--top]));
}

/* 2^-1075, 5^1075 behind the point: up to here the nearest double is 0. */
static void put_small(struct sb *b)
{
    enum { POWER = 1075 };
    unsigned char d[POWER] = {1};
    for (unsigned n = 0; n < POWER; n++) {
        unsigned carry = 0;
        for (unsigned i = 0; i < POWER; i++) {
            unsigned x = 5U * d[i] + carry;
            d[i] = (unsigned char)(x % 10);
            carry = x / 10;
        }
    }
    sb_cstr(b, "0.");
    for (unsigned i = POWER; i;)
        sb_char(b, (char)('0' + d[--i]));
}

/* A wide numeric would be an error; the nearest double is infinite, or 0. */
enum status sqlgen_to_real(const struct sqlgen_out *o, const struct expr *e)
{
    const struct expr *x = e->args[0];
    struct str part;
    if (x->type != T_REAL && x->type != T_INT && x->type != T_DEC)
        return sqlgen_refuse_expr(o->err,
                                  "a conversion of this to floating point");
    TRY(sqlgen_part(o, x, &part));
    if (x->type == T_REAL) {
        sb_str(o->b, part);
        return OK;
    }
    if (x->type == T_INT && (x->op == X_VAR || x->op == X_CONST)) {
        sb_printf(o->b, "(%.*s)::float8", PSTR(part));
        return OK;
    }
    sb_printf(o->b,
              "(CASE WHEN (%.*s)::numeric = 'NaN' THEN 'NaN'::float8 WHEN "
              "(%.*s)::numeric >= ",
              PSTR(part), PSTR(part));
    put_bound(o->b);
    sb_printf(o->b, " THEN 'Infinity'::float8 WHEN (%.*s)::numeric <= -",
              PSTR(part));
    put_bound(o->b);
    sb_printf(o->b, " THEN '-Infinity'::float8 WHEN abs((%.*s)::numeric) <= ",
              PSTR(part));
    put_small(o->b);
    sb_printf(o->b, " THEN 0::float8 ELSE (%.*s)::numeric::float8 END)",
              PSTR(part));
    return OK;
}
