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

/* Digits behind those of the values. */
enum { AVERAGE_DIGITS = 6 };

static void set_i64(mpz_t z, int64_t v)
{
    mpz_set_ui(z, (unsigned long)(v < 0 ? -(uint64_t)v : (uint64_t)v));
    if (v < 0)
        mpz_neg(z, z);
}

/* ((lo + hi) n + s) / (2 n), within [lo, hi]; the middle if n < 1. With
 * entities (2 lo n + 2 s) / (2 n); lo if n < 1. In units of AVERAGE_DIGITS more
 * digits.
 */
static void average_units(const struct sql_average *v, mpz_t s, mpz_t n,
                          mpz_t out)
{
    mpz_t lo, hi, more;
    mpz_inits(lo, hi, more, NULL);
    set_i64(lo, v->lo);
    set_i64(hi, v->hi);
    mpz_ui_pow_ui(more, 10, AVERAGE_DIGITS);
    mpz_mul(lo, lo, more);
    mpz_mul(hi, hi, more);
    mpz_add(out, lo, v->low ? lo : hi);
    if (mpz_sgn(n) > 0) {
        mpz_mul(s, s, more);
        mpz_mul_ui(s, s, v->low ? 2 : 1);
        mpz_mul(out, out, n);
        mpz_add(out, out, s);
        mpz_fdiv_q(out, out, n);
    }
    mpz_fdiv_q_2exp(out, out, 1);
    if (mpz_cmp(out, lo) < 0)
        mpz_set(out, lo);
    if (mpz_cmp(out, hi) > 0)
        mpz_set(out, hi);
    mpz_clears(lo, hi, more, NULL);
}

/* A decimal integer of any size. */
static bool read_mpz(struct arena *a, struct str text, mpz_t out)
{
    char *copy = arena_strdup(a, text.p, text.n);
    return copy && mpz_set_str(out, copy, 10) == 0;
}

struct str answer_average(struct arena *a, const struct sql_average *v,
                          struct str sum, struct str n)
{
    mpz_t s, count, out;
    struct str text = {0};
    mpz_inits(s, count, out, NULL);
    if (read_mpz(a, sum, s) && read_mpz(a, n, count)) {
        average_units(v, s, count, out);
        struct str digits = mpz_text(a, out);
        if (digits.p)
            text = answer_decimal(a, digits, v->scale + AVERAGE_DIGITS);
    }
    mpz_clears(s, count, out, NULL);
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
