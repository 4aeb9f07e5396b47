/*
 * Released integers as the numbers that were asked for: sums in units of their
 * last digit, averages from a shifted sum and a number. PRIVACY: functions of
 * what was released and of public ranges.
 */
#include <gmp.h>
#include <string.h>

#include "num/mpz_text.h"
#include "release/answer.h"
#include "release/answer_table.h"

struct str answer_decimal(struct arena *a, struct str units, uint32_t scale)
{
    struct sb b;
    bool negative = units.n && units.p[0] == '-';
    struct str digits = {units.p + negative, units.n - negative};
    size_t zeros = digits.n <= scale ? scale + 1 - digits.n : 0;
    if (!scale)
        return units;
    sb_init(&b, a);
    if (negative)
        sb_char(&b, '-');
    for (size_t i = 0; i < zeros + digits.n; i++) {
        if (i + scale == zeros + digits.n)
            sb_char(&b, '.');
        sb_char(&b, i < zeros ? '0' : digits.p[i - zeros]);
    }
    return b.failed ? (struct str){0} : sb_view(&b);
}

void answer_number_json(struct json *j, struct str units, uint32_t scale)
{
    struct str text = answer_decimal(j->out->arena, units, scale);
    if (scale && text.p)
        json_str(j, text);
    else
        json_raw(j, units);
    j->out->failed |= !text.p;
}

struct str answer_units(struct arena *a, u128 v, bool is_signed)
{
    struct sb b;
    bool below = is_signed && v >> 127;
    sb_init(&b, a);
    sb_cstr(&b, below ? "-" : "");
    sb_u128(&b, below ? -v : v);
    return b.failed ? (struct str){0} : sb_view(&b);
}

static void set_i64(mpz_t z, int64_t v)
{
    mpz_set_ui(z, (unsigned long)(v < 0 ? -(uint64_t)v : (uint64_t)v));
    if (v < 0)
        mpz_neg(z, z);
}

/* The average is out / under, in units of the values: ((lo + hi) n + s) / (2 n)
 * within [lo, hi], the middle if n < 1. With entities (2 lo n + 2 s) / (2 n);
 * lo if n < 1. */
static void average_ratio(const struct sql_average *v, const mpz_t s,
                          const mpz_t n, mpz_t out, mpz_t under)
{
    mpz_t lo, hi;
    mpz_inits(lo, hi, NULL);
    set_i64(lo, v->lo);
    set_i64(hi, v->hi);
    bool any = mpz_sgn(n) > 0;
    mpz_set_ui(under, 2);
    if (any)
        mpz_mul(under, under, n);
    mpz_add(out, lo, v->low ? lo : hi);
    if (any) {
        mpz_mul(out, out, n);
        mpz_addmul_ui(out, s, v->low ? 2 : 1);
    }
    mpz_mul(lo, lo, under);
    mpz_mul(hi, hi, under);
    if (mpz_cmp(out, lo) < 0)
        mpz_set(out, lo);
    if (mpz_cmp(out, hi) > 0)
        mpz_set(out, hi);
    mpz_clears(lo, hi, NULL);
}

/* A decimal integer of any size. */
static bool read_mpz(struct arena *a, struct str text, mpz_t out)
{
    char *copy = arena_strdup(a, text.p, text.n);
    return copy && mpz_set_str(out, copy, 10) == 0;
}

/* The quotient of whole numbers of 10^-scale by one number. */
static struct str quotient(struct arena *a, mpz_srcptr x, uint32_t scale,
                           mpz_srcptr y)
{
    struct value v[2];
    struct err err;
    struct str above = mpz_text(a, x), under = mpz_text(a, y);
    if (!above.p || !under.p)
        return (struct str){0};
    above = answer_decimal(a, above, scale);
    if (!above.p || !value_parse_number(a, above, &v[0]) ||
        !value_parse_number(a, under, &v[1]))
        return (struct str){0};
    struct expr *side[2] = {expr_const(a, v[0]), expr_const(a, v[1])};
    struct expr *ratio =
        side[0] && side[1] ? expr_new(a, X_RATIO, 2, side) : NULL;
    struct sb b;
    sb_init(&b, a);
    if (!ratio || expr_eval(a, ratio, NULL, &v[0], &err) != OK)
        return (struct str){0};
    value_plain(&b, &v[0]);
    return b.failed ? (struct str){0} : sb_view(&b);
}

struct str answer_average(struct arena *a, const struct sql_average *v,
                          struct str sum, struct str n)
{
    mpz_t s, count, out, under;
    struct str text = {0};
    mpz_inits(s, count, out, under, NULL);
    if (read_mpz(a, sum, s) && read_mpz(a, n, count)) {
        average_ratio(v, s, count, out, under);
        text = quotient(a, out, v->scale, under);
    }
    mpz_clears(s, count, out, under, NULL);
    return text;
}

/* SELECT AVG(x): its answer, and the two released numbers it was made from. */
void answer_average_json(struct json *j, const struct prepared *p,
                         const struct released *x, const struct answer_table *t)
{
    const struct count *q = &p->counts[0];
    struct sb b;
    if (p->n_counts != 2 || !q->average || t->n_keys || t->n_cols != 1 ||
        t->n_rows != 1 || p->after.columns[0].e->op != X_VAR)
        return;
    sb_init(&b, j->out->arena);
    value_plain(&b, &t->cells[0]);
    json_key(j, "answer");
    json_str(j, sb_view(&b));
    json_key(j, "shifted_sum");
    answer_number_json(j, x[0].answer.numbers.p[0], q->scale);
    json_key(j, "number");
    json_raw(j, x[1].answer.numbers.p[0]);
    json_key(j, "error_p95");
    if (t->errors[0] < 0)
        json_null(j);
    else
        json_double(j, t->errors[0]);
    j->out->failed |= b.failed;
}
