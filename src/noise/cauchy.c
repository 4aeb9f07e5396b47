/*
 * Generalised Cauchy, density proportional to 1/(1 + z^4), in integers.
 *
 * |z| is a mixture: with weight 3/4 uniform on (0,1), with weight 1/4 the
 * inverse 1/X of an X with density 3 x^2. Keeping X with probability
 * 1/(1 + X^4) gives 3/4 / (1 + z^4) on either part: in the tail
 * 1/4 * 3 x^2 / (1 + x^4) * |dx/dz| with x = 1/z is 3/4 / (1 + z^4). Five in
 * six rounds are kept. X of the tail is the cube root of a uniform number.
 */
#include "noise/sampler.h"

#include "num/secret_scale.h"

struct cauchy {
    struct lazy x, w; /* raw uniforms, refined together */
    bool tail;
    mpz_t lo, hi; /* X in [lo, hi] / 2^x.b */
    mpz_t p, q;
};

static void cauchy_init(struct cauchy *c)
{
    lazy_init(&c->x);
    lazy_init(&c->w);
    mpz_inits(c->lo, c->hi, c->p, c->q, NULL);
}

static void cauchy_fini(struct cauchy *c)
{
    lazy_fini(&c->x);
    lazy_fini(&c->w);
    mpz_wipe_clear(c->lo);
    mpz_wipe_clear(c->hi);
    mpz_wipe_clear(c->p);
    mpz_wipe_clear(c->q);
}

/* Bounds of X from the bits of the uniform: itself, or its cube root
 * ((u / 2^b)^(1/3) = (u 2^2b)^(1/3) / 2^b). */
static void set_bounds(struct cauchy *c)
{
    mpz_set(c->lo, c->x.u);
    mpz_add_ui(c->hi, c->x.u, 1);
    if (!c->tail)
        return;
    mpz_mul_2exp(c->lo, c->lo, 2 * c->x.b);
    mpz_root(c->lo, c->lo, 3);
    mpz_mul_2exp(c->hi, c->hi, 2 * c->x.b);
    if (!mpz_root(c->hi, c->hi, 3))
        mpz_add_ui(c->hi, c->hi, 1);
}

/* Sign of w (1 + x^4) - 1 for w / 2^b and x / 2^b. */
static int compare_to_one(struct cauchy *c, mpz_srcptr w, mpz_srcptr x)
{
    mpz_pow_ui(c->p, x, 4);
    mpz_set_ui(c->q, 0);
    mpz_setbit(c->q, 4 * c->x.b);
    mpz_add(c->p, c->p, c->q);
    mpz_mul(c->p, c->p, w);
    mpz_set_ui(c->q, 0);
    mpz_setbit(c->q, 5 * c->x.b);
    return mpz_cmp(c->p, c->q);
}

static enum status refine(struct cauchy *c, struct draw *d)
{
    if (c->x.b > LAZY_BITS_MAX)
        return draw_stuck(d);
    mp_bitcnt_t more = c->x.b;
    TRY(lazy_refine(&c->x, d, more));
    TRY(lazy_refine(&c->w, d, more));
    set_bounds(c);
    return OK;
}

/* Whether W (1 + X^4) < 1, with as many bits as that takes. */
static enum status decide_keep(struct cauchy *c, struct draw *d, bool *keep)
{
    for (;;) {
        mpz_add_ui(c->w.u, c->w.u, 1);
        bool below = compare_to_one(c, c->w.u, c->hi) <= 0;
        mpz_sub_ui(c->w.u, c->w.u, 1);
        if (below || compare_to_one(c, c->w.u, c->lo) >= 0) {
            *keep = below;
            return OK;
        }
        TRY(refine(c, d));
    }
}

/* floor(scale z + 1/2) for z = x / 2^b, or 2^b / x in the tail. */
static void round_at(struct cauchy *c, mpq_srcptr scale, mpz_srcptr x,
                     mpz_t out)
{
    if (c->tail) {
        mpz_mul_2exp(c->p, mpq_numref(scale), c->x.b + 1);
        mpz_mul(c->q, mpq_denref(scale), x);
    } else {
        mpz_mul(c->p, mpq_numref(scale), x);
        mpz_mul_2exp(c->p, c->p, 1);
        mpz_mul_2exp(c->q, mpq_denref(scale), c->x.b);
    }
    mpz_add(c->p, c->p, c->q);
    mpz_mul_2exp(c->q, c->q, 1);
    mpz_fdiv_q(out, c->p, c->q);
}

static enum status decide_value(struct cauchy *c, struct draw *d,
                                mpq_srcptr scale, mpz_t out)
{
    mpz_t other;
    mpz_init(other);
    enum status st = OK;
    while (st == OK) {
        if (mpz_sgn(c->lo) > 0 || !c->tail) {
            round_at(c, scale, c->lo, out);
            round_at(c, scale, c->hi, other);
            if (mpz_cmp(out, other) == 0)
                break;
        }
        st = refine(c, d);
    }
    mpz_wipe_clear(other);
    return st;
}

static enum status cauchy_round(struct cauchy *c, struct draw *d,
                                mp_bitcnt_t bits, bool *keep)
{
    uint64_t part;
    TRY(draw_below_u64(d, 4, &part));
    c->tail = part == 3;
    TRY(lazy_start(&c->x, d, bits));
    TRY(lazy_start(&c->w, d, bits));
    set_bounds(c);
    return decide_keep(c, d, keep);
}

enum status sample_cauchy(struct draw *d, mpq_srcptr scale, mp_bitcnt_t bits,
                          mpz_t out)
{
    struct cauchy c;
    bool keep = false, minus = false;
    enum status st = OK;
    cauchy_init(&c);
    bits = bits ? bits : lazy_first_bits(scale);
    while (st == OK && !keep)
        st = cauchy_round(&c, d, bits, &keep);
    if (st == OK)
        st = decide_value(&c, d, scale, out);
    cauchy_fini(&c);
    TRY(st);
    TRY(draw_flip(d, &minus));
    if (minus)
        mpz_neg(out, out);
    return OK;
}
