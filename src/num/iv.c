/* Enclosures by directed rounding: see iv.h. */
#include "num/iv.h"

#include "base/mem.h"

void iv_init(struct iv *x, mpfr_prec_t prec)
{
    mpfr_init2(x->lo, prec);
    mpfr_init2(x->hi, prec);
}

void iv_fini(struct iv *x)
{
    mpfr_clear(x->lo);
    mpfr_clear(x->hi);
}

static void wipe_digits(mpfr_ptr v)
{
    mpfr_prec_t limb = GMP_NUMB_BITS;
    size_t limbs = (size_t)((mpfr_get_prec(v) + limb - 1) / limb);
    mem_wipe(v->_mpfr_d, limbs * sizeof *v->_mpfr_d);
    mpfr_set_zero(v, 1);
}

void iv_wipe_fini(struct iv *x)
{
    wipe_digits(x->lo);
    wipe_digits(x->hi);
    iv_fini(x);
}

void iv_set(struct iv *out, const struct iv *x)
{
    mpfr_set(out->lo, x->lo, MPFR_RNDD);
    mpfr_set(out->hi, x->hi, MPFR_RNDU);
}

void iv_set_ui(struct iv *out, unsigned long v)
{
    mpfr_set_ui(out->lo, v, MPFR_RNDD);
    mpfr_set_ui(out->hi, v, MPFR_RNDU);
}

void iv_set_q(struct iv *out, mpq_srcptr q)
{
    mpfr_set_q(out->lo, q, MPFR_RNDD);
    mpfr_set_q(out->hi, q, MPFR_RNDU);
}

void iv_set_z_2exp(struct iv *out, mpz_srcptr from, mpz_srcptr to,
                   mp_bitcnt_t bits)
{
    mpfr_set_z_2exp(out->lo, from, -(mpfr_exp_t)bits, MPFR_RNDD);
    mpfr_set_z_2exp(out->hi, to, -(mpfr_exp_t)bits, MPFR_RNDU);
}

void iv_neg(struct iv *out, const struct iv *x)
{
    mpfr_t old_lo;
    mpfr_init2(old_lo, mpfr_get_prec(x->lo));
    mpfr_set(old_lo, x->lo, MPFR_RNDN);
    mpfr_neg(out->lo, x->hi, MPFR_RNDD);
    mpfr_neg(out->hi, old_lo, MPFR_RNDU);
    mpfr_clear(old_lo);
}

void iv_add(struct iv *out, const struct iv *x, const struct iv *y)
{
    mpfr_add(out->lo, x->lo, y->lo, MPFR_RNDD);
    mpfr_add(out->hi, x->hi, y->hi, MPFR_RNDU);
}

void iv_sub(struct iv *out, const struct iv *x, const struct iv *y)
{
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(out->lo));
    mpfr_sub(lo, x->lo, y->hi, MPFR_RNDD);
    mpfr_sub(out->hi, x->hi, y->lo, MPFR_RNDU);
    mpfr_swap(out->lo, lo);
    mpfr_clear(lo);
}

static void mul_signed(struct iv *out, const struct iv *x, const struct iv *y)
{
    mpfr_t lo, hi, p;
    mpfr_prec_t prec = mpfr_get_prec(out->lo);
    mpfr_init2(lo, prec);
    mpfr_init2(hi, prec);
    mpfr_init2(p, prec);
    mpfr_srcptr xs[2] = {x->lo, x->hi}, ys[2] = {y->lo, y->hi};
    mpfr_mul(lo, x->lo, y->lo, MPFR_RNDD);
    mpfr_mul(hi, x->lo, y->lo, MPFR_RNDU);
    for (int i = 1; i < 4; i++) {
        mpfr_mul(p, xs[i & 1], ys[i >> 1], MPFR_RNDD);
        mpfr_min(lo, lo, p, MPFR_RNDD);
        mpfr_mul(p, xs[i & 1], ys[i >> 1], MPFR_RNDU);
        mpfr_max(hi, hi, p, MPFR_RNDU);
    }
    mpfr_swap(out->lo, lo);
    mpfr_swap(out->hi, hi);
    mpfr_clear(lo);
    mpfr_clear(hi);
    mpfr_clear(p);
}

void iv_mul(struct iv *out, const struct iv *x, const struct iv *y)
{
    if (mpfr_sgn(x->lo) < 0 || mpfr_sgn(y->lo) < 0) {
        mul_signed(out, x, y);
        return;
    }
    mpfr_mul(out->lo, x->lo, y->lo, MPFR_RNDD);
    mpfr_mul(out->hi, x->hi, y->hi, MPFR_RNDU);
}

void iv_div(struct iv *out, const struct iv *x, const struct iv *y)
{
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(out->lo));
    mpfr_div(lo, x->lo, mpfr_sgn(x->lo) < 0 ? y->lo : y->hi, MPFR_RNDD);
    mpfr_div(out->hi, x->hi, mpfr_sgn(x->hi) < 0 ? y->hi : y->lo, MPFR_RNDU);
    mpfr_swap(out->lo, lo);
    mpfr_clear(lo);
}

void iv_mul_q(struct iv *out, const struct iv *x, mpq_srcptr q)
{
    if (mpq_sgn(q) >= 0) {
        mpfr_mul_q(out->lo, x->lo, q, MPFR_RNDD);
        mpfr_mul_q(out->hi, x->hi, q, MPFR_RNDU);
        return;
    }
    struct iv p;
    iv_init(&p, mpfr_get_prec(out->lo));
    mpfr_mul_q(p.lo, x->hi, q, MPFR_RNDD);
    mpfr_mul_q(p.hi, x->lo, q, MPFR_RNDU);
    iv_set(out, &p);
    iv_fini(&p);
}

#define RISING(name)                                                           \
    void iv_##name(struct iv *out, const struct iv *x)                         \
    {                                                                          \
        mpfr_##name(out->lo, x->lo, MPFR_RNDD);                                \
        mpfr_##name(out->hi, x->hi, MPFR_RNDU);                                \
    }
RISING(exp)
RISING(expm1)
RISING(log)
RISING(log1p)
RISING(sinh)
RISING(sqrt)
#undef RISING

void iv_pow_q(struct iv *out, const struct iv *x, mpq_srcptr e)
{
    iv_log(out, x);
    iv_mul_q(out, out, e);
    iv_exp(out, out);
}

bool iv_at_most(const struct iv *x, const struct iv *y)
{
    return mpfr_lessequal_p(x->hi, y->lo);
}

void iv_hi_q(mpq_t out, const struct iv *x)
{
    mpfr_get_q(out, x->hi);
}

void iv_lo_q(mpq_t out, const struct iv *x)
{
    mpfr_get_q(out, x->lo);
}

/* floor(s v + 1/2) with s v + 1/2 rounded in direction `way` first. */
static bool round_end(mpz_t out, mpfr_srcptr v, mpq_srcptr s, mpfr_rnd_t way)
{
    mpfr_t x, half;
    mpfr_init2(x, mpfr_get_prec(v));
    mpfr_init2(half, 2);
    mpfr_set_ui_2exp(half, 1, -1, MPFR_RNDN);
    mpfr_mul_q(x, v, s, way);
    mpfr_add(x, x, half, way);
    bool finite = mpfr_number_p(x);
    if (finite)
        mpfr_get_z(out, x, MPFR_RNDD);
    wipe_digits(x);
    mpfr_clear(x);
    mpfr_clear(half);
    return finite;
}

bool iv_round_scaled(mpz_t out, const struct iv *x, mpq_srcptr s)
{
    mpz_t high;
    mpz_init(high);
    bool same = round_end(out, x->lo, s, MPFR_RNDD) &&
                round_end(high, x->hi, s, MPFR_RNDU) && mpz_cmp(out, high) == 0;
    mpz_clear(high);
    return same;
}
