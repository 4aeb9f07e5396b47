/* Exact random objects from random bytes: see random_bits.h. */
#include "noise/random_bits.h"

#include "num/secret_scale.h"

void draw_begin(struct draw *d, struct entropy *rng, struct err *err)
{
    *d = (struct draw){rng, DRAW_BYTES, err};
}

enum status draw_stuck(struct draw *d)
{
    return err_set(d->err, E_ENTROPY,
                   "could not draw: the random bytes do not vary");
}

static enum status take(struct draw *d, void *out, size_t n)
{
    if (n > d->left)
        return draw_stuck(d);
    d->left -= n;
    return entropy_bytes(d->rng, out, n, d->err);
}

/* First bytes are the highest, so that a number refined in whole bytes is the
 * number drawn at once. */
enum status draw_bits(struct draw *d, mp_bitcnt_t n, mpz_t out)
{
    unsigned char buf[64];
    size_t bytes = (n + 7) / 8;
    mpz_set_ui(out, 0);
    while (bytes > 0) {
        size_t now = bytes < sizeof buf ? bytes : sizeof buf;
        TRY(take(d, buf, now));
        mpz_t part;
        mpz_init(part);
        mpz_import(part, now, 1, 1, 0, 0, buf);
        mpz_mul_2exp(out, out, 8 * now);
        mpz_ior(out, out, part);
        mpz_wipe_clear(part);
        bytes -= now;
    }
    mem_wipe(buf, sizeof buf);
    mpz_tdiv_r_2exp(out, out, n);
    return OK;
}

/* PRIVACY: rejection, never a remainder: every value is equally likely. */
enum status draw_below(struct draw *d, mpz_srcptr n, mpz_t out)
{
    mpz_t last;
    mpz_init(last);
    mpz_sub_ui(last, n, 1);
    mp_bitcnt_t bits = mpz_sgn(last) == 0 ? 0 : mpz_sizeinbase(last, 2);
    mpz_clear(last);
    do {
        TRY(draw_bits(d, bits, out));
    } while (mpz_cmp(out, n) >= 0);
    return OK;
}

enum status draw_below_u64(struct draw *d, uint64_t n, uint64_t *out)
{
    unsigned bits = n <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(n - 1);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t v;
    do {
        unsigned char buf[8];
        unsigned bytes = (bits + 7) / 8;
        TRY(take(d, buf, bytes));
        v = 0;
        for (unsigned i = 0; i < bytes; i++)
            v = v << 8 | buf[i];
        v &= mask;
    } while (v >= n);
    *out = v;
    return OK;
}

enum status draw_flip(struct draw *d, bool *out)
{
    unsigned char byte;
    TRY(take(d, &byte, 1));
    *out = byte & 1;
    return OK;
}

/*
 * exp(-x) for x = num/den in [0,1]: let K be the first k >= 1 at which a
 * trial with probability x/k fails. P(K > k) = x^k / k!, so
 * P(K odd) = sum over odd k of x^(k-1)/(k-1)! - x^k/k! = exp(-x).
 */
static enum status exp_unit(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                            bool *out)
{
    mpz_t bound, u;
    mpz_inits(bound, u, NULL);
    mpz_set(bound, den);
    bool odd = true;
    enum status st;
    while ((st = draw_below(d, bound, u)) == OK && mpz_cmp(u, num) < 0) {
        mpz_add(bound, bound, den);
        odd = !odd;
    }
    mpz_wipe_clear(u);
    mpz_clear(bound);
    *out = odd;
    return st;
}

/* The same in machine words; den <= 2^32, and k stays below 2^21 because
 * each round costs a byte of the draw's bound. */
static enum status exp_unit_u64(struct draw *d, uint64_t num, uint64_t den,
                                bool *out)
{
    uint64_t u, k = 1;
    for (;; k++) {
        TRY(draw_below_u64(d, k * den, &u));
        if (u >= num)
            break;
    }
    *out = k & 1;
    return OK;
}

static enum status exp_unit_best(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                                 bool fast, bool *out)
{
    if (fast && mpz_sizeinbase(den, 2) <= 32)
        return exp_unit_u64(d, mpz_get_ui(num), mpz_get_ui(den), out);
    return exp_unit(d, num, den, out);
}

/* exp(-x) = exp(-1)^floor(x) * exp(-(x - floor(x))), stopping at the first
 * failure, so a huge x costs little. */
static enum status exp_any(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                           bool fast, bool *out)
{
    mpz_t whole, rest, one;
    mpz_inits(whole, rest, NULL);
    mpz_init_set_ui(one, 1);
    mpz_fdiv_qr(whole, rest, num, den);
    enum status st = OK;
    bool alive = true;
    while (st == OK && alive && mpz_sgn(whole) > 0) {
        st = exp_unit_best(d, one, one, fast, &alive);
        mpz_sub_ui(whole, whole, 1);
    }
    if (st == OK && alive && mpz_sgn(rest) > 0)
        st = exp_unit_best(d, rest, den, fast, &alive);
    mpz_clears(whole, rest, one, NULL);
    *out = alive;
    return st;
}

enum status draw_exp(struct draw *d, mpz_srcptr num, mpz_srcptr den, bool *out)
{
    return exp_any(d, num, den, true, out);
}

enum status draw_exp_slow(struct draw *d, mpz_srcptr num, mpz_srcptr den,
                          bool *out)
{
    return exp_any(d, num, den, false, out);
}

void lazy_init(struct lazy *l)
{
    mpz_init(l->u);
    l->b = 0;
}

void lazy_fini(struct lazy *l)
{
    mpz_wipe_clear(l->u);
}

enum status lazy_start(struct lazy *l, struct draw *d, mp_bitcnt_t n)
{
    l->b = n;
    return draw_bits(d, n, l->u);
}

enum status lazy_refine(struct lazy *l, struct draw *d, mp_bitcnt_t n)
{
    mpz_t more;
    mpz_init(more);
    enum status st = draw_bits(d, n, more);
    mpz_mul_2exp(l->u, l->u, n);
    mpz_ior(l->u, l->u, more);
    l->b += n;
    mpz_wipe_clear(more);
    return st;
}

mp_bitcnt_t lazy_first_bits(mpq_srcptr scale)
{
    size_t num = mpz_sizeinbase(mpq_numref(scale), 2);
    size_t den = mpz_sizeinbase(mpq_denref(scale), 2);
    size_t whole = num > den ? num - den : 0;
    return whole <= 32 ? 96 : 64 + (whole + 31) / 32 * 32;
}
