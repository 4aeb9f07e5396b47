/*
 * SUM and AVG: what is added up, and within which range.
 *
 * The range follows from the expression: of a column by the clip of the
 * policy and the constants that WHERE compares it with, of LEAST and GREATEST
 * by their constants, of arithmetic from its parts. PRIVACY: it is enforced
 * where values are added up (cq/weight.c), so a range that is too narrow cuts
 * values and never noise. How many digits a value has behind the point is found
 * the same way; sums are integers in units of the last one.
 *
 *   SUM(x)           the rows as COUNT(*) has them, x weighs; NULL weighs 0
 *   SUM(DISTINCT x)  the clipped values
 *   AVG(x)           two numbers: the sum of 2 x - (lo + hi), x clipped, over
 *                    the rows in which x is not NULL, and how many they are.
 *                    Shifted to the middle, the noise of both is least; a NULL
 *                    adds nothing, before the shift and after it. With
 *                    entities the sum of x - lo, which cannot fall: what one
 *                    of them adds to it can be cut.
 *
 * SUM(CASE WHEN c THEN x END) and the same with ELSE 0 are SUM(x) with the
 * condition c, which may then be about other tables, and hold subqueries.
 */
#include <string.h>

#include "sql/sql_int.h"

/* Values from lo to hi, in units of 10^-scale. */
struct spread {
    bool nothing; /* NULL: no value at all */
    bool has_lo, has_hi, has_scale;
    uint32_t scale;
    __int128 lo, hi;
};

#define SPAN_MOST ((__int128)1000000000000000000 * 1000000000000000)

static struct spread settled(struct spread s)
{
    if (s.lo > SPAN_MOST || s.lo < -SPAN_MOST)
        s.has_lo = false;
    if (s.hi > SPAN_MOST || s.hi < -SPAN_MOST)
        s.has_hi = false;
    if (s.scale > CQ_WEIGHT_SCALE)
        s.has_scale = s.has_lo = s.has_hi = false;
    if (!s.has_lo)
        s.lo = 0;
    if (!s.has_hi)
        s.hi = 0;
    return s;
}

static struct spread rescaled(struct spread s, uint32_t scale)
{
    for (; s.scale < scale; s.scale++) {
        s.lo *= 10;
        s.hi *= 10;
        s = settled(s);
    }
    return s;
}

static void same_units(struct spread *a, struct spread *b)
{
    *a = rescaled(*a, b->scale);
    *b = rescaled(*b, a->scale);
}

static struct spread any_of(struct spread a, struct spread b)
{
    if (a.nothing || b.nothing)
        return a.nothing ? b : a;
    same_units(&a, &b);
    a.has_scale &= b.has_scale;
    a.has_lo &= b.has_lo;
    a.has_hi &= b.has_hi;
    a.lo = a.lo < b.lo ? a.lo : b.lo;
    a.hi = a.hi > b.hi ? a.hi : b.hi;
    return settled(a);
}

/* ROUND(x, k), FLOOR, CEIL: digits up to k, bounds outwards. */
static struct spread rounded(struct spread s, uint32_t digits)
{
    if (s.scale > digits) {
        __int128 by = 1;
        for (uint32_t i = digits; i < s.scale; i++)
            by *= 10;
        s.lo = s.lo / by - (s.lo % by != 0 && s.lo < 0);
        s.hi = s.hi / by + (s.hi % by != 0 && s.hi > 0);
        s.scale = digits;
    } else if (!s.has_scale) {
        s = rescaled(s, digits);
    }
    s.has_scale = true;
    return s;
}

/* --- leaves --- */

static struct spread const_span(const struct value *v)
{
    struct spread s = {.has_lo = true, .has_hi = true, .has_scale = true};
    int64_t units = v->i;
    const char *point =
        v->type == T_DEC && v->s.n ? memchr(v->s.p, '.', v->s.n) : NULL;
    if (v->is_null)
        return (struct spread){.nothing = true};
    if (point)
        s.scale = (uint32_t)(v->s.p + v->s.n - point - 1);
    if (v->type == T_DEC &&
        (s.scale > CQ_WEIGHT_SCALE || !cq_weight_units(v->s, s.scale, &units)))
        return (struct spread){0};
    if (v->type != T_INT && v->type != T_DEC)
        return (struct spread){0};
    s.lo = s.hi = units;
    return s;
}

static struct spread column_span(const struct lower *l, uint32_t var)
{
    const struct column *c = lower_column(l, var);
    struct spread s = {0};
    struct cq_weight w = {0};
    if (!c)
        return s;
    s.has_scale = c->type == T_INT || c->has_scale;
    s.scale = c->type == T_DEC && c->has_scale ? c->scale : 0;
    if (!c->clip_lo.n || !cq_weight_range(c->clip_lo, c->clip_hi, &w))
        return s;
    struct spread clip = {.has_lo = true,
                          .has_hi = true,
                          .has_scale =
                              true, /* digits as the policy writes it */
                          .scale = w.scale,
                          .lo = w.lo,
                          .hi = w.hi};
    return rescaled(clip, s.scale);
}

/* A bound of a row that counts, in the units of s; strict: one unit within. A
 * clip that lies beyond it stays: it is what such values are cut to. */
static void tighten(struct spread *s, const struct value *v, bool below,
                    bool strict)
{
    struct spread c = const_span(v);
    if (!c.has_lo || c.nothing || !s->has_scale)
        return;
    bool whole = c.scale <= s->scale;
    c = rounded(rescaled(c, s->scale), s->scale);
    c.lo += strict && whole;
    c.hi -= strict && whole;
    if (below && (!s->has_hi || c.hi < s->hi)) {
        s->hi = s->has_lo && c.hi < s->lo ? s->lo : c.hi;
        s->has_hi = true;
    }
    if (!below && (!s->has_lo || c.lo > s->lo)) {
        s->lo = s->has_hi && c.lo > s->hi ? s->hi : c.lo;
        s->has_lo = true;
    }
}

/* What WHERE and FILTER compare the column with, for every row that counts. */
static struct spread filtered_span(const struct lower *l, uint32_t var)
{
    struct spread s = column_span(l, var);
    for (size_t i = 0; i < l->b.cmps.n; i++) {
        const struct cmp *p = &l->b.cmps.p[i];
        bool root = i >= l->t.cmp_node.n || l->t.cmp_node.p[i] == 0;
        bool left = term_var(p->l) == vset_one(var);
        struct term other = left ? p->r : p->l;
        if (root && p->op != CMP_NE && other.kind == TERM_CONST &&
            (left || term_var(p->r) == vset_one(var)))
            tighten(&s, &l->b.consts.p[other.id], left, p->op == CMP_LT);
    }
    return settled(s);
}

/* --- operations --- */

static struct spread span_of(struct lower *l, const struct expr *e);

/* Whole numbers have no digits behind the point, whatever they come from: two
 * dates, say. */
static struct spread whole_span(struct spread s, const struct expr *e)
{
    if (e->type == T_INT && !s.has_scale)
        return (struct spread){.has_scale = true, .nothing = s.nothing};
    return s;
}

static struct spread sum_span(struct spread a, struct spread b, bool minus)
{
    struct spread s;
    same_units(&a, &b);
    s = (struct spread){.has_lo = a.has_lo && (minus ? b.has_hi : b.has_lo),
                        .has_hi = a.has_hi && (minus ? b.has_lo : b.has_hi),
                        .has_scale = a.has_scale && b.has_scale,
                        .scale = a.scale,
                        .lo = minus ? a.lo - b.hi : a.lo + b.lo,
                        .hi = minus ? a.hi - b.lo : a.hi + b.hi};
    return settled(s);
}

/* Factors below 2^60 in size, so that a product is one of 128 bits. */
static bool is_small(struct spread s)
{
    const __int128 most = (__int128)1 << 60;
    return s.has_lo && s.has_hi && s.lo > -most && s.hi < most;
}

static struct spread product_span(struct spread a, struct spread b)
{
    struct spread s = {.has_scale = a.has_scale && b.has_scale,
                       .scale = a.scale + b.scale};
    if (is_small(a) && is_small(b)) {
        __int128 v[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
        s.has_lo = s.has_hi = true;
        s.lo = s.hi = v[0];
        for (int i = 1; i < 4; i++) {
            s.lo = v[i] < s.lo ? v[i] : s.lo;
            s.hi = v[i] > s.hi ? v[i] : s.hi;
        }
    }
    return settled(s);
}

static struct spread size_span(struct spread s)
{
    __int128 a = s.lo < 0 ? -s.lo : s.lo, b = s.hi < 0 ? -s.hi : s.hi;
    s.has_hi = s.has_lo && s.has_hi;
    s.hi = a > b ? a : b;
    s.lo = 0;
    s.has_lo = true;
    return settled(s);
}

static struct spread round_span(struct lower *l, const struct expr *e)
{
    struct spread s = span_of(l, e->args[0]);
    const struct expr *k =
        e->op == X_ROUND && e->n_args > 1 ? e->args[1] : NULL;
    if (e->op != X_ROUND || !k)
        return rounded(s, 0);
    bool fits = k->op == X_CONST && !k->val.is_null && k->val.type == T_INT &&
                k->val.i >= 0 && k->val.i <= CQ_WEIGHT_SCALE;
    return fits ? rounded(s, (uint32_t)k->val.i) : (struct spread){0};
}

/* The choices of CASE, COALESCE and NULLIF. */
static struct spread choice_span(struct lower *l, const struct expr *e)
{
    struct spread s = {.nothing = true};
    for (uint32_t i = 0; i < e->n_args; i++) {
        bool chosen = e->op == X_CASE     ? i % 2 == 1 || i + 1 == e->n_args
                      : e->op == X_NULLIF ? i == 0
                                          : true;
        if (chosen)
            s = any_of(s, span_of(l, e->args[i]));
    }
    return s;
}

/*
 * LEAST and GREATEST leave out NULLs, as in PostgreSQL: LEAST(x, 50) is 50
 * where x is NULL, so only an argument that never is limits the others.
 */
static struct spread extreme_span(struct lower *l, const struct expr *e)
{
    struct spread s = {.nothing = true};
    bool least = e->op == X_LEAST;
    for (uint32_t i = 0; i < e->n_args; i++)
        s = any_of(s, span_of(l, e->args[i]));
    for (uint32_t i = 0; i < e->n_args; i++) {
        struct spread x = span_of(l, e->args[i]);
        if (!sql_is_never_null(l, e->args[i]))
            continue;
        same_units(&s, &x);
        if (least && x.has_hi && (!s.has_hi || x.hi < s.hi)) {
            s.has_hi = true;
            s.hi = x.hi;
        }
        if (!least && x.has_lo && (!s.has_lo || x.lo > s.lo)) {
            s.has_lo = true;
            s.lo = x.lo;
        }
    }
    return settled(s);
}

static struct spread span_of(struct lower *l, const struct expr *e)
{
    static const struct spread zero = {
        .has_lo = true, .has_hi = true, .has_scale = true};
    switch (e->op) {
    case X_CONST:
        return const_span(&e->val);
    case X_VAR:
        return filtered_span(l, e->var);
    case X_CASE:
    case X_COALESCE:
    case X_NULLIF:
        return choice_span(l, e);
    case X_LEAST:
    case X_GREATEST:
        return extreme_span(l, e);
    case X_ADD:
    case X_SUB:
        return whole_span(sum_span(span_of(l, e->args[0]),
                                   span_of(l, e->args[1]), e->op == X_SUB),
                          e);
    case X_NEG:
        return sum_span(zero, span_of(l, e->args[0]), true);
    case X_MUL:
        return product_span(span_of(l, e->args[0]), span_of(l, e->args[1]));
    case X_ABS:
        return size_span(span_of(l, e->args[0]));
    case X_ROUND:
    case X_FLOOR:
    case X_CEIL:
        return round_span(l, e);
    default:
        return (struct spread){.has_scale = e->type == T_INT};
    }
}

/* --- the range of a sum --- */

static enum status refuse_scale(struct lower *l, long at)
{
    return sql_refuse(l->err, NO_SUM_DIGITS, at);
}

/* With entities what one of them adds is limited when it is drawn: a sum that
 * cannot fall needs no range. */
static enum status read_range(struct lower *l, const struct expr *e, long at,
                              struct cq_weight *out)
{
    struct spread s = span_of(l, e);
    if (s.nothing)
        s = const_span(&(struct value){.type = T_INT});
    if (!s.has_hi && s.has_lo && s.lo >= 0 && l->schema->has_entities) {
        s.has_hi = true;
        s.hi = CQ_WEIGHT_MOST;
    }
    if (!s.has_lo || !s.has_hi)
        return sql_refuse(l->err, NO_SUM_RANGE, at);
    if (!s.has_scale)
        return refuse_scale(l, at);
    if (s.lo < -CQ_WEIGHT_MOST || s.hi > CQ_WEIGHT_MOST)
        return sql_refuse(l->err, NO_SUM_RANGE, at);
    *out = (struct cq_weight){.on = true,
                              .lo = (int64_t)s.lo,
                              .hi = (int64_t)(s.hi < s.lo ? s.lo : s.hi),
                              .scale = s.scale};
    return OK;
}

static enum status units_const(struct lower *l, int64_t units, uint32_t scale,
                               struct expr **out)
{
    struct sb b;
    struct value v;
    sb_init(&b, l->arena);
    cq_weight_print_units(&b, units, scale);
    if (b.failed || !value_parse_number(l->arena, sb_view(&b), &v))
        return err_nomem(l->err);
    return make_const(l, v, out);
}

/* LEAST(GREATEST(e, lo), hi) */
static enum status clipped(struct lower *l, struct expr *e,
                           const struct cq_weight *w, struct expr **out)
{
    struct expr *lo, *hi;
    TRY(units_const(l, w->lo, w->scale, &lo));
    TRY(units_const(l, w->hi, w->scale, &hi));
    TRY(make2(l, X_GREATEST, e, lo, &e));
    return make2(l, X_LEAST, e, hi, out);
}

/* x - lo, x clipped. */
static enum status from_low(struct lower *l, struct expr *e,
                            struct cq_weight *w, struct expr **out)
{
    struct expr *lo;
    TRY(clipped(l, e, w, &e));
    TRY(units_const(l, w->lo, w->scale, &lo));
    w->hi -= w->lo;
    w->lo = 0;
    return make2(l, X_SUB, e, lo, out);
}

/* 2 x - (lo + hi), x clipped; *w becomes its range. */
static enum status shifted(struct lower *l, struct expr *e, struct cq_weight *w,
                           struct expr **out)
{
    struct expr *two, *ends;
    if (l->schema->has_entities)
        return from_low(l, e, w, out);
    TRY(clipped(l, e, w, &e));
    TRY(units_const(l, w->lo + w->hi, w->scale, &ends));
    TRY(make_const(l, value_int(2), &two));
    TRY(make2(l, X_MUL, two, e, &e));
    TRY(make2(l, X_SUB, e, ends, out));
    int64_t width = w->hi - w->lo;
    w->lo = -width;
    w->hi = width;
    return OK;
}

/* --- the argument --- */

static bool is_nothing(const json_t *node, bool zero_too)
{
    const json_t *c = node_as(node, "A_Const");
    if (!node)
        return true;
    if (!c)
        return false;
    if (get_flag(c, "isnull"))
        return true;
    /* {"ival": {}} is 0 */
    return zero_too && get(c, "ival") &&
           json_integer_value(get(get(c, "ival"), "ival")) == 0;
}

/* CASE WHEN c THEN x [ELSE 0] END: c becomes a condition, x the argument. */
static enum status unfold_case(struct lower *l, struct scope *sc, bool average,
                               const json_t **arg)
{
    for (;;) {
        const json_t *e = node_as(*arg, "CaseExpr");
        const json_t *when =
            node_as(json_array_get(get(e, "args"), 0), "CaseWhen");
        if (!e || get(e, "arg") || get_size(e, "args") != 1 ||
            !is_nothing(get(e, "defresult"), !average))
            return OK;
        TRY(lower_condition(l, sc, get(when, "expr"), false));
        *arg = get(when, "result");
    }
}

static enum status lower_argument(struct lower *l, struct scope *sc,
                                  const json_t *call, bool average,
                                  struct expr **out, long *at)
{
    const json_t *arg = json_array_get(get(call, "args"), 0);
    if (get(call, "agg_filter"))
        TRY(lower_condition(l, sc, get(call, "agg_filter"), false));
    TRY(unfold_case(l, sc, average, &arg));
    *at = node_location(arg);
    TRY(lower_scalar(l, sc, arg, out));
    if (is_untyped(*out))
        TRY(give_type(l, out, T_DEC, *at));
    enum type t = (*out)->type;
    return t == T_INT || t == T_DEC || t == T_UNKNOWN
               ? OK
               : sql_refuse(l->err, NO_SUM_TYPE, *at);
}

static enum status push_weight(struct lower *l, const struct expr *e, long at,
                               const struct cq_weight *w)
{
    struct term t;
    enum status st = term_of(l, e, at, &t);
    if (st == E_UNSUPPORTED)
        return sql_refuse(l->err, NO_SUM_ACROSS, at);
    TRY(st);
    l->b.weight = *w;
    l->b.weight.out = (uint32_t)l->b.outs.n;
    return VEC_PUSH(l->arena, &l->b.outs, t) ? OK : err_nomem(l->err);
}

enum status lower_sum(struct lower *l, struct scope *sc, const json_t *call)
{
    struct expr *e;
    struct cq_weight w;
    long at;
    bool distinct = get_flag(call, "agg_distinct"), done;
    TRY(lower_number_sum(l, sc, call, &done));
    if (done)
        return OK;
    TRY(lower_argument(l, sc, call, false, &e, &at));
    TRY(read_range(l, e, at, &w));
    if (distinct && e->op != X_CONST) {
        TRY(sql_require_value(l, e, at));
        TRY(clipped(l, e, &w, &e));
    }
    if (!distinct)
        TRY(sql_count_rows(l));
    return push_weight(l, e, at, &w);
}

/* The range of all branches, in the units of the finest. */
static enum status common_range(struct lower *l, long at, struct cq_weight *w)
{
    struct cq_weight *c = &l->common->range;
    struct spread all = {.has_lo = true,
                         .has_hi = true,
                         .has_scale = true,
                         .scale = c->scale,
                         .lo = c->lo,
                         .hi = c->hi};
    struct spread one = all;
    one.scale = w->scale;
    one.lo = w->lo;
    one.hi = w->hi;
    if (!l->common->fixed) {
        all = c->on ? any_of(all, one) : one;
        if (l->schema->has_entities && all.hi > CQ_WEIGHT_MOST / 4)
            all.hi = CQ_WEIGHT_MOST / 4;
        if (!all.has_lo || !all.has_hi || all.hi > CQ_WEIGHT_MOST / 4 ||
            all.lo < -CQ_WEIGHT_MOST / 4)
            return sql_refuse(l->err, NO_SUM_RANGE, at);
        *c = (struct cq_weight){.on = true,
                                .lo = (int64_t)all.lo,
                                .hi = (int64_t)all.hi,
                                .scale = all.scale};
    }
    *w = *c;
    return OK;
}

enum status lower_average(struct lower *l, struct scope *sc, const json_t *call,
                          bool number)
{
    struct expr *e;
    struct cq_weight w;
    long at;
    if (get_flag(call, "agg_distinct"))
        return sql_refuse(l->err, NO_AVG_DISTINCT, get_location(call));
    TRY(lower_argument(l, sc, call, true, &e, &at));
    TRY(read_range(l, e, at, &w));
    TRY(common_range(l, at, &w));
    enum status st = sql_require_value(l, e, at);
    if (st == E_UNSUPPORTED)
        return sql_refuse(l->err, NO_SUM_ACROSS, at);
    TRY(st);
    TRY(sql_count_rows(l));
    if (number)
        return OK;
    TRY(shifted(l, e, &w, &e));
    return push_weight(l, e, at, &w);
}
