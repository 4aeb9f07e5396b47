/*
 * Numbers as SQL: what arithmetic takes, and how long its results can get.
 *
 * PRIVACY: a numeric of the server ends at 131072 digits before the point with
 * an error, and at 16383 behind it with a rounded one. Columns may be as long
 * as that. So arithmetic takes no longer numbers than EXPR_MAX_DIGITS (NULL, in
 * both engines), and what could become too long from these is refused.
 */
#include "source/pushdown.h"

enum { MAX_WHOLE = 130000, MAX_BEHIND = 16000, INT_DIGITS = 19 };

/* At most so many digits before and behind the point. */
struct digits {
    size_t whole, behind;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct digits digits_of(const struct expr *e);

/* Of all arguments; conditions of a CASE do no harm. */
static struct digits longest(const struct expr *e)
{
    struct digits d = {INT_DIGITS, 0};
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct digits x = digits_of(e->args[i]);
        d.whole = larger(d.whole, x.whole);
        d.behind = larger(d.behind, x.behind);
    }
    return d;
}

static struct digits product(const struct expr *e)
{
    struct digits d = {0, 0};
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct digits x = digits_of(e->args[i]);
        d.whole += x.whole;
        d.behind += x.behind;
    }
    return d;
}

static struct digits digits_of(const struct expr *e)
{
    struct digits d = {INT_DIGITS, 0};
    switch (e->op) {
    case X_CONST:
        if (e->type == T_DEC)
            d.whole = d.behind = larger(e->val.s.n, INT_DIGITS);
        return d;
    case X_MUL:
        return product(e);
    case X_ADD:
    case X_SUB:
        d = longest(e);
        d.whole++;
        return d;
    case X_ROUND: /* to thousands and the like: a place may be set there */
        d = longest(e);
        d.whole = larger(d.whole, EXPR_MAX_DIGITS) + 2;
        return d;
    case X_NEG:
    case X_ABS:
    case X_FLOOR:
    case X_CEIL:
        d = longest(e);
        d.whole++;
        return d;
    case X_CASE:
    case X_COALESCE:
    case X_LEAST:
    case X_GREATEST:
    case X_NULLIF:
    case X_DIV:
        d = longest(e);
        break;
    default:
        break;
    }
    if (e->type == T_DEC) {
        d.whole = larger(d.whole, EXPR_MAX_DIGITS);
        d.behind = larger(d.behind, EXPR_MAX_DIGITS);
    }
    return d;
}

enum status sql_check_digits(const struct expr *e, struct err *err)
{
    struct digits d = digits_of(e);
    if (d.whole <= MAX_WHOLE && d.behind <= MAX_BEHIND)
        return OK;
    return sql_refuse_expr(err, "numbers that may become so long");
}

static enum status plain(struct source_counter *c, uint32_t atom,
                         const struct expr *e, struct sb *b, struct err *err)
{
    sb_char(b, '(');
    TRY(sql_expr(c, atom, e, b, err));
    sb_cstr(b, ")::numeric");
    return OK;
}

/* NaN, above all numbers, and the infinities go here too. */
enum status sql_numeric(struct source_counter *c, uint32_t atom,
                        const struct expr *e, struct sb *b, struct err *err)
{
    struct digits d = digits_of(e);
    if (e->type != T_INT && e->type != T_DEC)
        return sql_refuse_expr(err, "arithmetic on this type");
    TRY(sql_check_digits(e, err));
    if (expr_is_computed(e) || (e->type == T_INT && d.whole <= EXPR_MAX_DIGITS))
        return plain(c, atom, e, b, err);
    sb_cstr(b, "(CASE WHEN abs(");
    TRY(plain(c, atom, e, b, err));
    sb_printf(b, ") < 1e%d AND trunc(", EXPR_MAX_DIGITS);
    TRY(plain(c, atom, e, b, err));
    sb_printf(b, ", %d) = ", EXPR_MAX_DIGITS);
    TRY(plain(c, atom, e, b, err));
    sb_cstr(b, " THEN ");
    TRY(plain(c, atom, e, b, err));
    sb_cstr(b, " END)");
    return OK;
}
