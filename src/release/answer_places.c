/*
 * How many digits behind the point a computed column shows: those that
 * PostgreSQL gives the same expression, zeros at the end with them. Values
 * here have no such zeros (schema/value.h), so the number is found beside them.
 */
#include "release/answer_table.h"

struct shown_row {
    struct arena *arena;
    const struct value *vars;
    const uint32_t *of_var;
    struct err *err;
};

static enum status find(const struct shown_row *p, const struct expr *e,
                        size_t *out);

static enum status value_of(const struct shown_row *p, const struct expr *e,
                            struct value *out)
{
    return expr_eval(p->arena, e, p->vars, out, p->err);
}

static enum status of_quotient(const struct shown_row *p, const struct expr *x,
                               const struct expr *y, size_t *out)
{
    struct value v, w = value_int(1);
    TRY(value_of(p, x, &v));
    if (y)
        TRY(value_of(p, y, &w));
    *out = v.is_null || w.is_null ? 0 : expr_ratio_places(p->arena, &v, &w);
    return OK;
}

/* Those of the argument that became the value. */
static enum status of_chosen(const struct shown_row *p, const struct expr *e,
                             size_t *out)
{
    struct value whole, v;
    uint32_t step = e->op == X_CASE ? 2 : 1;
    TRY(value_of(p, e, &whole));
    for (uint32_t i = 0; i < e->n_args; i += step) {
        bool taken = i + 1 == e->n_args || e->op == X_NULLIF;
        uint32_t arg = step == 2 && !taken ? i + 1 : i;
        if (!taken) {
            TRY(value_of(p, e->args[i], &v));
            taken =
                !v.is_null && (e->op == X_CASE       ? v.i != 0
                               : e->op == X_COALESCE ? true
                                                     : value_eq(&v, &whole));
        }
        if (taken)
            return find(p, e->args[arg], out);
    }
    return OK;
}

static enum status of_both(const struct shown_row *p, const struct expr *e,
                           size_t *out)
{
    size_t x, y;
    TRY(find(p, e->args[0], &x));
    TRY(find(p, e->args[1], &y));
    *out = e->op == X_MUL ? x + y : x > y ? x : y;
    return OK;
}

static enum status of_round(const struct shown_row *p, const struct expr *e,
                            size_t *out)
{
    struct value v;
    if (e->n_args < 2)
        return OK;
    TRY(value_of(p, e->args[1], &v));
    if (!v.is_null && v.type == T_INT && v.i > 0)
        *out = (size_t)v.i;
    return OK;
}

static enum status of_ratio(const struct shown_row *p, const struct expr *e,
                            size_t *out)
{
    size_t own;
    TRY(of_both(p, e, out));
    TRY(of_quotient(p, e->args[0], e->args[1], &own));
    if (own > *out)
        *out = own;
    return OK;
}

static enum status find(const struct shown_row *p, const struct expr *e,
                        size_t *out)
{
    *out = 0;
    switch (e->op) {
    case X_CONST:
        *out = e->places;
        return OK;
    case X_VAR:
        if (p->of_var[e->var] == PLACES_OF_RATIO)
            return of_quotient(p, e, NULL, out);
        *out = p->of_var[e->var];
        return OK;
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_MOD:
        return of_both(p, e, out);
    case X_RATIO:
        return of_ratio(p, e, out);
    case X_NEG:
    case X_ABS:
        return find(p, e->args[0], out);
    case X_ROUND:
        return of_round(p, e, out);
    case X_CASE:
    case X_COALESCE:
    case X_NULLIF:
    case X_LEAST:
    case X_GREATEST:
        return of_chosen(p, e, out);
    default:
        return OK;
    }
}

/* Zeros behind the digits that there are. */
static bool pad(struct arena *a, struct value *v, size_t places)
{
    struct sb b;
    size_t has = 0;
    sb_init(&b, a);
    value_plain(&b, v);
    struct str s = sb_view(&b);
    if (b.failed)
        return false;
    for (size_t i = s.n; i-- > 0 && !has;)
        has = s.p[i] == '.' ? s.n - i - 1 : 0;
    if (has < places && s.n && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9') {
        if (!has)
            sb_char(&b, '.');
        for (size_t i = has; i < places; i++)
            sb_char(&b, '0');
        *v = (struct value){.type = T_DEC, .s = sb_view(&b)};
    }
    return !b.failed;
}

enum status answer_show_places(struct arena *a, const struct expr *e,
                               const struct value *vars, const uint32_t *of_var,
                               struct value *v, struct err *err)
{
    struct shown_row p = {a, vars, of_var, err};
    size_t places;
    if (v->is_null || (v->type != T_DEC && v->type != T_INT) ||
        e->type != T_DEC)
        return OK;
    TRY(find(&p, e, &places));
    if (places > EXPR_MAX_DIGITS)
        places = EXPR_MAX_DIGITS;
    return pad(a, v, places) ? OK : err_nomem(err);
}
