/*
 * Arithmetic that cannot fail: 64-bit integers while they fit, else decimals
 * digit by digit, products in limbs of nine digits. Numbers have at most
 * EXPR_MAX_DIGITS digits before and behind the point, results too (NULL
 * beyond): one operation takes some ten microseconds at most.
 * Doubles follow IEEE 754 (where PostgreSQL raises an overflow error we get
 * an infinity).
 */
#include "cq/expr_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* sign * d[0] d[1] ... d[n-1] * 10^-scale, most significant digit first */
struct digits {
    bool neg;
    size_t n, scale;
    uint8_t *d;
};

/* NaN and the infinities of numeric are no numbers here: NULL results. */
bool expr_num_is(const struct value *v)
{
    if (v->type == T_DEC)
        return v->s.n && v->s.p[v->s.n - 1] >= '0' && v->s.p[v->s.n - 1] <= '9';
    return v->type == T_INT || v->type == T_REAL;
}

bool expr_num_is_long(const struct value *v)
{
    if (v->type != T_DEC || v->s.n <= EXPR_MAX_DIGITS)
        return false;
    size_t sign = v->s.p[0] == '-';
    const char *point = memchr(v->s.p, '.', v->s.n);
    size_t whole = point ? (size_t)(point - v->s.p) : v->s.n, end = v->s.n;
    while (point && v->s.p[end - 1] == '0')
        end--;
    return whole - sign > EXPR_MAX_DIGITS || end - whole > EXPR_MAX_DIGITS + 1;
}

static bool read_digits(struct arena *a, const struct value *v,
                        struct digits *out)
{
    char buf[32];
    struct str s = v->s;
    if (v->type == T_INT) {
        snprintf(buf, sizeof buf, "%" PRId64, v->i);
        s = str_of(buf);
    }
    *out = (struct digits){.d = NEWS(a, uint8_t, s.n + 1)};
    bool point = false;
    for (size_t i = 0; out->d && i < s.n; i++) {
        if (s.p[i] == '-') {
            out->neg = true;
        } else if (s.p[i] == '.') {
            point = true;
        } else if (s.p[i] >= '0' && s.p[i] <= '9') {
            out->d[out->n++] = (uint8_t)(s.p[i] - '0');
            out->scale += point;
        }
    }
    return out->d != NULL;
}

/* Digits that count: no zeros in front, none at the end behind the point. */
static bool is_too_long(const struct digits *x)
{
    size_t first = 0, end = x->n;
    while (first < x->n && !x->d[first])
        first++;
    while (end > first && !x->d[end - 1])
        end--;
    if (first == end)
        return false;
    /* the first digit has so many places up to the point, the last is so far
     * behind it */
    return x->n - first > x->scale + EXPR_MAX_DIGITS ||
           (x->scale > x->n - end && x->scale - (x->n - end) > EXPR_MAX_DIGITS);
}

/* The number, or NULL where it is longer than one may be. */
static bool write_digits(struct arena *a, const struct digits *x,
                         struct value *out)
{
    struct sb b;
    *out = value_null();
    if (is_too_long(x))
        return true;
    sb_init(&b, a);
    if (x->neg)
        sb_char(&b, '-');
    if (x->n <= x->scale)
        sb_char(&b, '0');
    for (size_t i = 0; i < x->n + (x->scale > x->n ? x->scale - x->n : 0);
         i++) {
        size_t pad = x->scale > x->n ? x->scale - x->n : 0;
        size_t total = x->n + pad;
        if (total - i == x->scale)
            sb_char(&b, '.');
        sb_char(&b, (char)('0' + (i < pad ? 0 : x->d[i - pad])));
    }
    return !b.failed && value_parse_number(a, sb_view(&b), out);
}

/* Copies x into exactly `n` digits with `scale` (both large enough). */
static bool widen(struct arena *a, const struct digits *x, size_t n,
                  size_t scale, struct digits *out)
{
    *out = (struct digits){x->neg, n, scale, NEWS(a, uint8_t, n + 1)};
    if (!out->d)
        return false;
    size_t right = scale - x->scale;
    memcpy(out->d + (n - right - x->n), x->d, x->n);
    return true;
}

/* |x| + |y| or |x| - |y| for equal shapes; the caller made |x| >= |y|. */
static void add_digits(struct digits *x, const struct digits *y, bool minus)
{
    int carry = 0;
    for (size_t i = x->n; i-- > 0;) {
        int s = minus ? x->d[i] - y->d[i] - carry : x->d[i] + y->d[i] + carry;
        carry = minus ? s < 0 : s > 9;
        x->d[i] = (uint8_t)(minus ? s + 10 * carry : s - 10 * carry);
    }
}

static bool wide_add(struct arena *a, const struct value *l,
                     const struct value *r, bool minus, struct value *out)
{
    struct digits x, y, wx, wy;
    if (!read_digits(a, l, &x) || !read_digits(a, r, &y))
        return false;
    size_t scale = x.scale > y.scale ? x.scale : y.scale;
    size_t ix = x.n - x.scale, iy = y.n - y.scale;
    size_t n = (ix > iy ? ix : iy) + 1 + scale;
    if (!widen(a, &x, n, scale, &wx) || !widen(a, &y, n, scale, &wy))
        return false;
    wy.neg ^= minus;
    bool smaller = memcmp(wx.d, wy.d, n) < 0;
    struct digits *big = smaller ? &wy : &wx, *small = smaller ? &wx : &wy;
    add_digits(big, small, wx.neg != wy.neg);
    return write_digits(a, big, out);
}

enum { LIMB_DIGITS = 9, LIMB = 1000000000 };

/* Limbs, lowest first, of all digits without the point. */
static size_t to_limbs(const struct digits *x, uint32_t *out)
{
    size_t n = 0;
    for (size_t end = x->n; end > 0;) {
        size_t from = end > LIMB_DIGITS ? end - LIMB_DIGITS : 0;
        uint32_t limb = 0;
        for (size_t i = from; i < end; i++)
            limb = limb * 10 + x->d[i];
        out[n++] = limb;
        end = from;
    }
    return n;
}

/* z has room for every digit of the product; higher ones are 0. */
static void from_limbs(const uint32_t *limbs, size_t n, struct digits *z)
{
    size_t at = z->n;
    for (size_t i = 0; i < n; i++) {
        uint32_t limb = limbs[i];
        for (int k = 0; k < LIMB_DIGITS && at > 0; k++, limb /= 10)
            z->d[--at] = (uint8_t)(limb % 10);
    }
}

static void mul_limbs(const uint32_t *x, size_t nx, const uint32_t *y,
                      size_t ny, uint32_t *z)
{
    for (size_t i = 0; i < nx; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; j < ny; j++) {
            uint64_t s = (uint64_t)x[i] * y[j] + z[i + j] + carry;
            z[i + j] = (uint32_t)(s % LIMB);
            carry = s / LIMB;
        }
        z[i + ny] = (uint32_t)carry;
    }
}

static bool wide_mul(struct arena *a, const struct value *l,
                     const struct value *r, struct value *out)
{
    struct digits x, y;
    if (!read_digits(a, l, &x) || !read_digits(a, r, &y))
        return false;
    struct digits z = {x.neg != y.neg, x.n + y.n, x.scale + y.scale,
                       NEWS(a, uint8_t, x.n + y.n + 1)};
    size_t nx = x.n / LIMB_DIGITS + 1, ny = y.n / LIMB_DIGITS + 1;
    uint32_t *lx = NEWS(a, uint32_t, 2 * (nx + ny));
    if (!z.d || !lx)
        return false;
    uint32_t *ly = lx + nx, *lz = ly + ny;
    nx = to_limbs(&x, lx);
    ny = to_limbs(&y, ly);
    mul_limbs(lx, nx, ly, ny, lz);
    from_limbs(lz, nx + ny, &z);
    return write_digits(a, &z, out);
}

/* Integer part of l / r, or the remainder with the sign of l; r is a 64-bit
 * integer other than 0, l an integer of any width. */
static bool wide_div(struct arena *a, const struct value *l, int64_t r,
                     bool rest, struct value *out)
{
    struct digits x;
    if (!read_digits(a, l, &x))
        return false;
    u128 by = r < 0 ? (u128)0 - (u128)(__int128)r : (u128)r, left = 0;
    for (size_t i = 0; i < x.n; i++) {
        left = left * 10 + x.d[i];
        x.d[i] = (uint8_t)(left / by);
        left %= by;
    }
    if (!rest) {
        x.neg = x.neg != (r < 0);
        return write_digits(a, &x, out);
    }
    __int128 m = (__int128)left; /* below 2^63 */
    *out = value_int((int64_t)(x.neg ? -m : m));
    return true;
}

static bool exact_divide(struct arena *a, enum expr_op op,
                         const struct value *l, const struct value *r,
                         struct value *out)
{
    bool whole = l->type == T_INT || !memchr(l->s.p, '.', l->s.n);
    *out = value_null();
    if (r->type != T_INT || r->i == 0 || !whole)
        return true;
    return wide_div(a, l, r->i, op == X_MOD, out);
}

static bool exact_binary(struct arena *a, enum expr_op op,
                         const struct value *l, const struct value *r,
                         struct value *out)
{
    bool narrow = l->type == T_INT && r->type == T_INT;
    int64_t z;
    *out = value_null();
    switch (op) {
    case X_ADD:
    case X_SUB:
        if (narrow && !(op == X_ADD ? __builtin_add_overflow(l->i, r->i, &z)
                                    : __builtin_sub_overflow(l->i, r->i, &z)))
            break;
        return wide_add(a, l, r, op == X_SUB, out);
    case X_MUL:
        if (narrow && !__builtin_mul_overflow(l->i, r->i, &z))
            break;
        return wide_mul(a, l, r, out);
    default:
        if (!narrow || r->i == 0 || r->i == -1)
            return exact_divide(a, op, l, r, out);
        z = op == X_DIV ? l->i / r->i : l->i % r->i;
    }
    *out = value_int(z);
    return true;
}

static struct value make_real(double f)
{
    struct value v = {.type = T_REAL, .f = f};
    return v;
}

struct value expr_num_to_real(const struct value *v)
{
    if (v->type == T_REAL)
        return *v;
    if (v->type == T_INT)
        return make_real((double)v->i);
    char buf[400];
    if (v->type != T_DEC)
        return value_null();
    /* 400 digits decide a double: longer texts lose only what rounding (to
     * nearest) would lose, save for ties beyond the cut. */
    size_t n = v->s.n < sizeof buf - 1 ? v->s.n : sizeof buf - 1;
    memcpy(buf, v->s.p, n);
    buf[n] = '\0';
    double f = strtod(buf, NULL);
    const char *point = memchr(v->s.p, '.', v->s.n);
    size_t whole = point ? (size_t)(point - v->s.p) : v->s.n;
    if (whole > n)
        f = v->s.p[0] == '-' ? -INFINITY : INFINITY;
    return make_real(f);
}

bool expr_num_to_decimal(struct arena *a, const struct value *v,
                         struct value *out)
{
    *out = (struct value){.type = T_DEC};
    if (v->type == T_REAL && !isfinite(v->f)) {
        out->s = isnan(v->f) ? STR("NaN")
                 : v->f > 0  ? STR("Infinity")
                             : STR("-Infinity");
        return true;
    }
    /* a double has at most 1074 digits behind the point */
    struct str s = v->type == T_REAL ? str_printf(a, "%.1074f", v->f)
                                     : str_printf(a, "%" PRId64, v->i);
    if (!s.p || !value_parse(a, s, T_DEC, out))
        return false;
    if (expr_num_is_long(out))
        *out = value_null();
    return true;
}

bool expr_num_binary(struct arena *a, enum expr_op op, const struct value *l,
                     const struct value *r, struct value *out)
{
    if (l->type != T_REAL && r->type != T_REAL)
        return exact_binary(a, op, l, r, out);
    double x = expr_num_to_real(l).f, y = expr_num_to_real(r).f;
    switch (op) {
    case X_ADD:
        *out = make_real(x + y);
        return true;
    case X_SUB:
        *out = make_real(x - y);
        return true;
    case X_MUL:
        *out = make_real(x * y);
        return true;
    case X_DIV:
        *out = y == 0 ? value_null() : make_real(x / y);
        return true;
    default:
        *out = value_null();
        return true;
    }
}

bool expr_num_round(struct arena *a, const struct value *v, int64_t places,
                    struct value *out)
{
    struct digits x;
    if (!read_digits(a, v, &x))
        return false;
    if (places >= 0 && (uint64_t)places >= x.scale) {
        *out = *v;
        return true;
    }
    /* the number of digits that go away */
    int64_t limit = (int64_t)x.n + 1;
    int64_t cut =
        places < -limit ? limit + (int64_t)x.scale : (int64_t)x.scale - places;
    struct digits w;
    size_t extra = (size_t)cut >= x.n ? (size_t)cut + 1 - x.n : 1;
    if (!widen(a, &x, x.n + extra, x.scale, &w))
        return false;
    size_t keep = w.n - (size_t)cut;
    bool up = w.d[keep] >= 5;
    memset(w.d + keep, 0, w.n - keep);
    for (size_t i = keep; up && i-- > 0;) {
        up = w.d[i] == 9;
        w.d[i] = (uint8_t)(up ? 0 : w.d[i] + 1);
    }
    return write_digits(a, &w, out);
}

/* Towards minus (floor) or plus infinity (ceil). */
static bool exact_floor(struct arena *a, const struct value *v, bool ceil_,
                        struct value *out)
{
    struct digits x;
    if (!read_digits(a, v, &x))
        return false;
    bool whole = true;
    for (size_t i = x.n - x.scale; i < x.n; i++)
        whole = whole && x.d[i] == 0;
    x.n -= x.scale;
    x.scale = 0;
    bool away = !whole && x.neg != ceil_;
    struct value cut;
    if (!write_digits(a, &x, &cut))
        return false;
    struct value one = value_int(x.neg ? -1 : 1);
    *out = cut;
    return !away || cut.is_null || exact_binary(a, X_ADD, &cut, &one, out);
}

static bool exact_unary(struct arena *a, enum expr_op op, const struct value *v,
                        struct value *out)
{
    struct value zero = value_int(0);
    *out = *v;
    switch (op) {
    case X_NEG:
        return exact_binary(a, X_SUB, &zero, v, out);
    case X_ABS:
        return value_cmp(v, &zero) >= 0 ||
               exact_binary(a, X_SUB, &zero, v, out);
    case X_ROUND:
        return v->type == T_INT || expr_num_round(a, v, 0, out);
    default:
        return v->type == T_INT || exact_floor(a, v, op == X_CEIL, out);
    }
}

bool expr_num_unary(struct arena *a, enum expr_op op, const struct value *v,
                    struct value *out)
{
    *out = value_null();
    if (!expr_num_is(v))
        return true;
    if (v->type != T_REAL)
        return exact_unary(a, op, v, out);
    double f = v->f;
    f = op == X_NEG     ? -f
        : op == X_ABS   ? fabs(f)
        : op == X_ROUND ? rint(f)
        : op == X_FLOOR ? floor(f)
                        : ceil(f);
    *out = make_real(f);
    return true;
}

/* --- quotients ------------------------------------------------------------ */

/* x with zeros behind it, as one integer. */
static bool shift_digits(struct arena *a, const struct digits *x, size_t zeros,
                         struct digits *out)
{
    *out = (struct digits){x->neg, x->n + zeros, 0,
                           NEWS(a, uint8_t, x->n + zeros + 1)};
    if (out->d)
        memcpy(out->d, x->d, x->n);
    return out->d != NULL;
}

/* x := the integer part of x / y, digit by digit; `rest` has one digit more
 * than y and is 0. */
static void divide_digits(struct digits *x, const struct digits *y,
                          uint8_t *rest)
{
    size_t n = y->n + 1;
    for (size_t i = 0; i < x->n; i++) {
        memmove(rest, rest + 1, n - 1);
        rest[n - 1] = x->d[i];
        x->d[i] = 0;
        while (rest[0] || memcmp(rest + 1, y->d, y->n) >= 0) {
            struct digits r = {.n = y->n, .d = rest + 1};
            bool borrow = memcmp(rest + 1, y->d, y->n) < 0;
            add_digits(&r, y, true);
            rest[0] = (uint8_t)(rest[0] - borrow);
            x->d[i]++;
        }
    }
}

static bool is_zero(const struct digits *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->d[i])
            return false;
    return true;
}

/* The first group of four digits that is not 0, and how many groups stand
 * between it and the point; of 0 it is the one before the point. */
static int64_t first_group(const struct digits *x, int64_t *weight)
{
    size_t i = 0;
    while (i < x->n && !x->d[i])
        i++;
    int64_t before = (int64_t)x->n - (int64_t)x->scale - (int64_t)i;
    int64_t group = 0;
    *weight = 0;
    if (i == x->n)
        return 0;
    *weight = (before > 0 ? before - 1 : before - 4) / 4;
    for (int64_t k = before - 4 * *weight; k > 0; k--, i++)
        group = 10 * group + (i < x->n ? x->d[i] : 0);
    return group;
}

/* Digits behind the point, as PostgreSQL chooses them from the first groups,
 * but never fewer than RATIO_PLACES. */
static size_t ratio_places(const struct digits *x, const struct digits *y)
{
    int64_t p, q;
    int64_t f = first_group(x, &p), g = first_group(y, &q);
    int64_t weight = p - q - (f <= g);
    return RATIO_PLACES + (weight < 0 ? 4 * (size_t)-weight : 0);
}

size_t expr_ratio_places(struct arena *a, const struct value *x,
                         const struct value *y)
{
    struct digits dx, dy;
    return expr_num_is(x) && expr_num_is(y) && x->type != T_REAL &&
                   y->type != T_REAL && read_digits(a, x, &dx) &&
                   read_digits(a, y, &dy)
               ? ratio_places(&dx, &dy)
               : RATIO_PLACES;
}

/* One digit more than is kept is computed, and rounded away: the integer part
 * rounded by its last digit is the quotient rounded, halves away from zero. */
bool expr_num_ratio(struct arena *a, const struct value *l,
                    const struct value *r, struct value *out)
{
    struct digits x, y, wx, wy;
    struct value v;
    *out = value_null();
    if (l->type == T_REAL || r->type == T_REAL || !expr_num_is(l) ||
        !expr_num_is(r))
        return true;
    if (!read_digits(a, l, &x) || !read_digits(a, r, &y))
        return false;
    if (is_zero(&y) || x.n > RATIO_MAX_DIGITS || y.n > RATIO_MAX_DIGITS)
        return true;
    size_t places = ratio_places(&x, &y);
    if (!shift_digits(a, &x, places + 1 + y.scale, &wx) ||
        !shift_digits(a, &y, x.scale, &wy))
        return false;
    uint8_t *rest = NEWS(a, uint8_t, wy.n + 2);
    if (!rest)
        return false;
    divide_digits(&wx, &wy, rest);
    wx.neg = x.neg != y.neg;
    wx.scale = places + 1;
    return write_digits(a, &wx, &v) &&
           (v.is_null || expr_num_round(a, &v, (int64_t)places, out));
}
