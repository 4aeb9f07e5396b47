/*
 * The weight of a query: what is added up in place of 1 for each answer. A
 * value is clipped to the range of the weight, in units of its last decimal
 * digit; NULL and what is no number weigh nothing. PRIVACY: a range is always
 * enforced here, never trusted, and what a row weighs depends on that row
 * alone.
 */
#include "cq/cq.h"

#include <string.h>

static __int128 clip(const struct cq_weight *w, __int128 v)
{
    return v < w->lo ? w->lo : v > w->hi ? w->hi : v;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Far beyond every range, and with room for another digit. */
static __int128 push_digit(__int128 v, unsigned digit)
{
    const __int128 most = (__int128)1 << 120;
    return v > most ? v : 10 * v + (int)digit;
}

/* A decimal text in units, half a unit away from zero. */
static bool decimal_units(struct str s, uint32_t scale, __int128 *out)
{
    __int128 v = 0;
    bool negative = s.n && s.p[0] == '-', point = false, digits = false;
    uint32_t places = 0;
    unsigned next = 0; /* the first digit that is cut off */
    for (size_t i = negative; i < s.n; i++) {
        if (s.p[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(s.p[i]))
            return false;
        unsigned digit = (unsigned)(s.p[i] - '0');
        digits = true;
        if (!point || places < scale)
            v = push_digit(v, digit);
        else if (places == scale)
            next = digit;
        places += point;
    }
    for (; places < scale; places++)
        v = push_digit(v, 0);
    v += next >= 5;
    *out = negative ? -v : v;
    return digits;
}

static __int128 integer_units(int64_t i, uint32_t scale)
{
    __int128 v = i;
    for (uint32_t k = 0; k < scale; k++)
        v *= 10;
    return v;
}

/* The clipped value in units; 0 for NULL and what is no number. */
int64_t cq_weight_clip(const struct cq_weight *w, const struct value *v)
{
    __int128 units = 0;
    if (v->is_null)
        return 0;
    if (v->type == T_INT)
        units = integer_units(v->i, w->scale);
    else if (v->type != T_DEC)
        return 0;
    else if (str_is(v->s, "-Infinity"))
        units = w->lo;
    else if (str_is(v->s, "Infinity") || str_is(v->s, "NaN"))
        units = w->hi; /* as PostgreSQL orders them */
    else if (!decimal_units(v->s, w->scale, &units))
        return 0;
    return (int64_t)clip(w, units);
}

uint64_t cq_weight_of(const struct cq_weight *w, const struct value *v)
{
    int64_t x = cq_weight_clip(w, v);
    return (uint64_t)(x < 0 ? -x : x);
}

bool cq_weight_negative(const struct cq_weight *w)
{
    return w->on && w->lo < 0;
}

struct term cq_weight_term(const struct cq *q)
{
    return q->outs[q->weight.out];
}

vset cq_weight_var(const struct cq *q)
{
    return q->weight.on ? term_var(cq_weight_term(q)) : 0;
}

uint64_t cq_weight_most(const struct cq *q)
{
    const struct cq_weight *w = &q->weight;
    if (!w->on)
        return 1;
    struct term t = cq_weight_term(q);
    if (t.kind == TERM_CONST)
        return cq_weight_of(w, &q->consts[t.id]);
    return (uint64_t)(w->lo < 0 ? -w->lo : w->hi);
}

/*
 * x < 24 leaves at most 23 of a whole number. Rounding to units is monotone, so
 * a bound that lies between two of them may be rounded too.
 */
static void tighten(struct cq_weight *w, const struct value *v, bool upper,
                    bool strict)
{
    __int128 c = 0;
    if (v->type == T_INT)
        c = integer_units(v->i, w->scale);
    else if (v->type != T_DEC || !decimal_units(v->s, w->scale, &c))
        return;
    int less = strict && v->type == T_INT;
    if (upper)
        w->hi = (int64_t)clip(w, c - less);
    else
        w->lo = (int64_t)clip(w, c + less);
}

void cq_weight_tighten(struct cq *q)
{
    struct cq_weight *w = &q->weight;
    struct term t = q->weight.on ? cq_weight_term(q) : (struct term){0};
    if (t.kind != TERM_VAR)
        return;
    /* Only whole numbers step by whole units. */
    bool whole = q->vars[t.id].type == T_INT && !w->scale;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        bool left = c->l.kind == TERM_VAR && c->l.id == t.id;
        bool right = c->r.kind == TERM_VAR && c->r.id == t.id;
        if (c->op == CMP_NE)
            continue;
        if (left && c->r.kind == TERM_CONST)
            tighten(w, &q->consts[c->r.id], true, whole && c->op == CMP_LT);
        if (right && c->l.kind == TERM_CONST)
            tighten(w, &q->consts[c->l.id], false, whole && c->op == CMP_LT);
    }
}

void cq_weight_print_units(struct sb *b, int64_t v, uint32_t scale)
{
    char digits[64];
    size_t n = 0;
    uint64_t x = (uint64_t)(v < 0 ? -v : v);
    while (x || n <= scale) {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    }
    if (v < 0)
        sb_char(b, '-');
    while (n-- > 0) {
        sb_char(b, digits[n]);
        if (scale && n == scale)
            sb_char(b, '.');
    }
}

void cq_weight_print(struct sb *b, const struct cq_weight *w, struct str of)
{
    sb_printf(b, "sum(%.*s in ", PSTR(of));
    cq_weight_print_units(b, w->lo, w->scale);
    sb_cstr(b, "..");
    cq_weight_print_units(b, w->hi, w->scale);
    sb_char(b, ')');
}

static uint32_t places_of(struct str s)
{
    const char *point = s.n ? memchr(s.p, '.', s.n) : NULL;
    return point ? (uint32_t)(s.p + s.n - point - 1) : 0;
}

bool cq_weight_units(struct str number, uint32_t scale, int64_t *out)
{
    const __int128 most = CQ_WEIGHT_MOST;
    __int128 v;
    if (!decimal_units(number, scale, &v) || v > most || v < -most)
        return false;
    *out = (int64_t)v;
    return true;
}

bool cq_weight_range(struct str lo, struct str hi, struct cq_weight *w)
{
    uint32_t a = places_of(lo), b = places_of(hi);
    w->scale = a > b ? a : b;
    return w->scale <= CQ_WEIGHT_SCALE &&
           cq_weight_units(lo, w->scale, &w->lo) &&
           cq_weight_units(hi, w->scale, &w->hi) && w->lo <= w->hi;
}
