/* See iv_more.h. */
#include "harness/iv_more.h"

#define RISING(name)                                                           \
    void iv_##name(struct iv *out, const struct iv *x)                         \
    {                                                                          \
        mpfr_##name(out->lo, x->lo, MPFR_RNDD);                                \
        mpfr_##name(out->hi, x->hi, MPFR_RNDU);                                \
    }
RISING(tanh)
RISING(atan)
#undef RISING

void iv_abs(struct iv *out, const struct iv *x)
{
    if (mpfr_sgn(x->lo) >= 0) {
        iv_set(out, x);
    } else if (mpfr_sgn(x->hi) <= 0) {
        iv_neg(out, x);
    } else {
        if (mpfr_cmpabs(x->lo, x->hi) > 0)
            mpfr_neg(out->hi, x->lo, MPFR_RNDU);
        else
            mpfr_set(out->hi, x->hi, MPFR_RNDU);
        mpfr_set_zero(out->lo, 1);
    }
}

void iv_sqr(struct iv *out, const struct iv *x)
{
    iv_abs(out, x);
    mpfr_sqr(out->lo, out->lo, MPFR_RNDD);
    mpfr_sqr(out->hi, out->hi, MPFR_RNDU);
}

void iv_erfc(struct iv *out, const struct iv *x)
{
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(out->lo));
    mpfr_erfc(lo, x->hi, MPFR_RNDD);
    mpfr_erfc(out->hi, x->lo, MPFR_RNDU);
    mpfr_swap(out->lo, lo);
    mpfr_clear(lo);
}

void iv_sech(struct iv *out, const struct iv *x)
{
    mpfr_t lo;
    mpfr_init2(lo, mpfr_get_prec(out->lo));
    mpfr_sech(lo, x->hi, MPFR_RNDD);
    mpfr_sech(out->hi, x->lo, MPFR_RNDU);
    mpfr_swap(out->lo, lo);
    mpfr_clear(lo);
}

bool iv_less(const struct iv *x, const struct iv *y)
{
    return mpfr_less_p(x->hi, y->lo);
}
