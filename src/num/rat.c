/*
 * Rationals from text and back.
 *
 * Why not mpq_set_str and doubles: an epsilon of "0.1" must be one tenth, and
 * "1e999999999" must be an error and not an allocation of half a gigabyte
 * (GMP aborts the program when memory is out). So the length of the text and
 * the exponent are bounded before GMP sees a number.
 */
#include "num/mpz_text.h"
#include "num/rat.h"

#include <string.h>

enum { TEXT_MAX = 100, EXPONENT_MAX = 1000, DECIMAL_DIGITS = 40 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum status bad(struct str text, const char *what, const char *why,
                       struct err *err)
{
    int shown = text.n > 40 ? 40 : (int)text.n;
    err_set(err, E_VALUE, "%s \"%.*s%s\" %s", what, shown, text.p,
            text.n > 40 ? "..." : "", why);
    err_hint(err, "Write a number such as 0.1, 1e-6, 12 or 1/3.");
    return E_VALUE;
}

/* What a text of a number consists of. */
struct rat_scan {
    char digits[TEXT_MAX + 1]; /* of the mantissa, without the point */
    size_t n_digits;
    long places; /* digits after the point */
    long exponent;
    char denominator[TEXT_MAX + 1];
    bool negative, fraction;
};

/* Digits with at most one point; returns where it stopped. */
static size_t scan_mantissa(struct str t, size_t i, struct rat_scan *s)
{
    bool point = false;
    for (; i < t.n; i++) {
        if (is_digit(t.p[i])) {
            s->digits[s->n_digits++] = t.p[i];
            s->places += point;
        } else if (t.p[i] == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    return i;
}

/* "e-6"; false when there is no digit or the exponent is absurd. */
static bool scan_exponent(struct str t, size_t *i, struct rat_scan *s)
{
    size_t at = *i + 1;
    bool minus = at < t.n && t.p[at] == '-';
    if (at < t.n && (t.p[at] == '-' || t.p[at] == '+'))
        at++;
    if (at >= t.n)
        return false;
    long e = 0;
    for (; at < t.n && is_digit(t.p[at]) && e <= EXPONENT_MAX; at++)
        e = 10 * e + (t.p[at] - '0');
    *i = at;
    s->exponent = minus ? -e : e;
    return e <= EXPONENT_MAX;
}

static bool scan_denominator(struct str t, size_t *i, struct rat_scan *s)
{
    size_t at = *i + 1, n = 0;
    for (; at < t.n && is_digit(t.p[at]); at++)
        s->denominator[n++] = t.p[at];
    *i = at;
    s->fraction = true;
    return n > 0 && s->places == 0;
}

static enum status scan_text(struct str t, const char *what, struct rat_scan *s,
                             struct err *err)
{
    if (t.n == 0)
        return bad(t, what, "is empty", err);
    if (t.n > TEXT_MAX)
        return bad(t, what, "has more than 100 characters", err);
    s->negative = t.p[0] == '-';
    size_t i = (t.p[0] == '-' || t.p[0] == '+') ? 1 : 0;
    i = scan_mantissa(t, i, s);
    if (s->n_digits == 0)
        return bad(t, what, "is not a number", err);
    if (i < t.n && (t.p[i] == 'e' || t.p[i] == 'E')) {
        if (!scan_exponent(t, &i, s))
            return bad(t, what, "has an exponent that is not in -1000..1000",
                       err);
    } else if (i < t.n && t.p[i] == '/') {
        if (!scan_denominator(t, &i, s))
            return bad(t, what, "is not a fraction of two whole numbers", err);
    }
    return i == t.n ? OK : bad(t, what, "is not a number", err);
}

static void scale_by_ten(mpq_t v, long exponent)
{
    mpz_t ten;
    mpz_init(ten);
    mpz_ui_pow_ui(ten, 10,
                  (unsigned long)(exponent < 0 ? -exponent : exponent));
    if (exponent < 0)
        mpz_mul(mpq_denref(v), mpq_denref(v), ten);
    else
        mpz_mul(mpq_numref(v), mpq_numref(v), ten);
    mpz_clear(ten);
}

enum status rat_read(struct str text, const char *what, mpq_t out,
                     struct err *err)
{
    struct rat_scan s = {0};
    TRY(scan_text(text, what, &s, err));
    if (mpz_set_str(mpq_numref(out), s.digits, 10))
        return err_internal(err, "rat_read");
    if (mpz_set_str(mpq_denref(out), s.fraction ? s.denominator : "1", 10))
        return err_internal(err, "rat_read");
    if (mpz_sgn(mpq_denref(out)) == 0) {
        mpq_set_ui(out, 0, 1);
        return bad(text, what, "divides by zero", err);
    }
    scale_by_ten(out, s.exponent - s.places);
    mpq_canonicalize(out);
    if (s.negative)
        mpq_neg(out, out);
    return OK;
}

struct str mpz_text(struct arena *a, mpz_srcptr v)
{
    char *text = arena_alloc(a, mpz_sizeinbase(v, 10) + 2);
    return text ? str_of(mpz_get_str(text, 10, v)) : (struct str){0};
}

void rat_print_mpz(struct sb *b, mpz_srcptr v)
{
    struct str text = mpz_text(b->arena, v);
    b->failed = b->failed || !text.p;
    sb_str(b, text);
}

/* Writes v / 10^places as a decimal with exactly that many places. */
static void print_scaled(struct sb *b, mpz_srcptr v, size_t places)
{
    struct str all = mpz_text(b->arena, v);
    if (!all.p) {
        b->failed = true;
        return;
    }
    const char *text = all.p;
    if (*text == '-') {
        sb_char(b, '-');
        text++;
    }
    size_t n = strlen(text), whole = n > places ? n - places : 0;
    if (whole)
        sb_add(b, text, whole);
    else
        sb_char(b, '0');
    if (places == 0)
        return;
    sb_char(b, '.');
    for (size_t i = n; i < places; i++)
        sb_char(b, '0');
    sb_add(b, text + whole, n - whole);
}

/* The number of decimal places of v, or -1 if it has no finite decimal. */
static long decimal_places(mpq_srcptr v)
{
    mpz_t rest, p;
    mpz_init(rest);
    mpz_init_set_ui(p, 2);
    mp_bitcnt_t twos = mpz_remove(rest, mpq_denref(v), p);
    mpz_set_ui(p, 5);
    mp_bitcnt_t fives = mpz_remove(rest, rest, p);
    bool finite = mpz_cmp_ui(rest, 1) == 0;
    mpz_clear(rest);
    mpz_clear(p);
    mp_bitcnt_t places = twos > fives ? twos : fives;
    return finite && places <= DECIMAL_DIGITS ? (long)places : -1;
}

void rat_print(struct sb *b, mpq_srcptr v)
{
    long places = decimal_places(v);
    if (places >= 0 && mpz_sizeinbase(mpq_numref(v), 10) <= DECIMAL_DIGITS) {
        mpq_t scaled;
        mpq_init(scaled);
        mpq_set(scaled, v);
        scale_by_ten(scaled, places);
        mpq_canonicalize(scaled);
        print_scaled(b, mpq_numref(scaled), (size_t)places);
        mpq_clear(scaled);
        return;
    }
    rat_print_mpz(b, mpq_numref(v));
    if (mpz_cmp_ui(mpq_denref(v), 1) != 0) {
        sb_char(b, '/');
        rat_print_mpz(b, mpq_denref(v));
    }
}

void rat_print_decimal(struct sb *b, mpq_srcptr v, unsigned digits, bool up)
{
    mpz_t scaled;
    mpz_init(scaled);
    mpz_ui_pow_ui(scaled, 10, digits);
    mpz_mul(scaled, scaled, mpq_numref(v));
    if (up)
        mpz_cdiv_q(scaled, scaled, mpq_denref(v));
    else
        mpz_fdiv_q(scaled, scaled, mpq_denref(v));
    print_scaled(b, scaled, digits);
    mpz_clear(scaled);
}

void mpz_set_u128(mpz_t out, u128 v)
{
    uint64_t words[2] = {(uint64_t)v, (uint64_t)(v >> 64)};
    mpz_import(out, 2, -1, sizeof words[0], 0, 0, words);
    mem_wipe(words, sizeof words);
}

bool mpz_get_u128(mpz_srcptr v, u128 *out)
{
    if (mpz_sgn(v) < 0 || mpz_sizeinbase(v, 2) > 128)
        return false;
    uint64_t words[2] = {0, 0};
    mpz_export(words, NULL, -1, sizeof words[0], 0, 0, v);
    *out = (u128)words[1] << 64 | words[0];
    mem_wipe(words, sizeof words);
    return true;
}
