/*
 * The scan over k (smooth_max.h).
 *
 * PRIVACY: e^{-beta}, its powers and the products are rounded upwards, so the
 * result is never below the true maximum; k roundings of 256 bits leave a
 * relative error below k 2^-254. The noise is built for a slightly larger
 * beta that pays for it. There can be several local maxima: the scan ends
 * only when a bound on all that follows says so.
 */
#include "sens/smooth_max.h"

#include <string.h>
#include "sens/state.h"

enum status sens_falls_from(mpq_srcptr beta, unsigned long degree,
                            unsigned long parts, uint64_t *out, struct err *err)
{
    *out = 0;
    if (!degree)
        return OK;
    mpfr_t x;
    mpfr_init2(x, SENS_PRECISION);
    mpfr_set_q(x, beta, MPFR_RNDD);
    mpfr_div_ui(x, x, degree, MPFR_RNDD);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDU);
    mpfr_ui_sub(x, 1, x, MPFR_RNDD);
    bool ok = mpfr_sgn(x) > 0;
    if (ok) {
        mpfr_ui_div(x, parts, x, MPFR_RNDU);
        ok = mpfr_cmp_ui(x, SENS_MAX_K) <= 0;
    }
    if (ok)
        *out = mpfr_get_ui(x, MPFR_RNDU);
    mpfr_clear(x);
    if (ok)
        return OK;
    err_set(err, E_TOO_LARGE,
            "epsilon is too small for noise measured on the data: beyond the "
            "distances that can be looked at");
    err_hint(err,
             "Ask with a larger epsilon (or beta), or declare constraints that "
             "bound the sensitivity.");
    return E_TOO_LARGE;
}

static void wipe_mpfr(mpfr_t x)
{
    size_t limbs = ((size_t)mpfr_get_prec(x) + 63) / 64;
    mem_wipe(x->_mpfr_d, limbs * sizeof *x->_mpfr_d);
    mpfr_clear(x);
}

struct smooth_scan {
    struct sens_sequence *seq;
    struct sens_peak *out;
    mpfr_t base, decay, product; /* e^-beta, e^{-beta k}, scratch */
    mpz_t v;
};

static enum status scan_init(struct smooth_scan *s, struct arena *a,
                             mpq_srcptr beta, struct err *err)
{
    struct sens_peak *p = s->out;
    memset(p, 0, sizeof *p);
    p->list = NEWS(a, mpz_t, SENS_LIST);
    if (!p->list)
        return err_nomem(err);
    mpfr_inits2(SENS_PRECISION, s->base, s->decay, s->product, p->best,
                (mpfr_ptr)NULL);
    mpz_init(s->v);
    p->ready = true;
    mpfr_set_q(s->base, beta, MPFR_RNDD);
    mpfr_neg(s->base, s->base, MPFR_RNDN);
    mpfr_exp(s->base, s->base, MPFR_RNDU);
    mpfr_set_ui(s->decay, 1, MPFR_RNDN);
    mpfr_set_ui(p->best, 0, MPFR_RNDN);
    return OK;
}

static void look_at(struct smooth_scan *s, uint64_t k)
{
    struct sens_peak *p = s->out;
    s->seq->value(s->seq->ctx, k, s->v);
    if (p->n_list < SENS_LIST)
        mpz_init_set(p->list[p->n_list++], s->v);
    mpfr_mul_z(s->product, s->decay, s->v, MPFR_RNDU);
    if (mpfr_cmp(s->product, p->best) > 0) {
        mpfr_set(p->best, s->product, MPFR_RNDU);
        p->k = k;
    }
}

/* Is e^{-beta k} v at most the best so far? */
static bool beaten(struct smooth_scan *s, mpz_srcptr v)
{
    mpfr_mul_z(s->product, s->decay, v, MPFR_RNDU);
    return mpfr_cmp(s->product, s->out->best) <= 0;
}

/* PRIVACY: true only if no later k exceeds the best. */
static bool may_stop(struct smooth_scan *s, uint64_t k)
{
    struct sens_sequence *q = s->seq;
    if (mpz_sgn(q->limit) >= 0 && beaten(s, q->limit))
        return true;
    if (k >= q->zero_after && mpfr_zero_p(s->out->best))
        return true;
    if (k < q->from)
        return false;
    if (!q->bound)
        return true;
    q->bound(q->ctx, k, s->v);
    return beaten(s, s->v);
}

enum status sens_scan(struct arena *a, mpq_srcptr beta,
                      struct sens_sequence *seq, struct sens_peak *out,
                      struct err *err)
{
    struct smooth_scan s = {.seq = seq, .out = out};
    TRY(scan_init(&s, a, beta, err));
    for (uint64_t k = 0;; k++) {
        look_at(&s, k);
        out->scanned = k + 1;
        if (k + 1 >= SENS_LIST_MIN && may_stop(&s, k))
            break;
        mpfr_mul(s.decay, s.decay, s.base, MPFR_RNDU);
    }
    wipe_mpfr(s.base);
    wipe_mpfr(s.decay);
    wipe_mpfr(s.product);
    mpz_wipe_clear(s.v);
    return OK;
}

void sens_peak_fini(struct sens_peak *p)
{
    if (!p->ready)
        return;
    for (size_t i = 0; i < p->n_list; i++)
        mpz_wipe_clear(p->list[i]);
    wipe_mpfr(p->best);
    p->ready = false;
}

void sens_peak_rational(const struct sens_peak *p, mpq_t out)
{
    mpq_set_ui(out, 0, 1);
    if (mpfr_zero_p(p->best))
        return;
    mpfr_exp_t e = mpfr_get_z_2exp(mpq_numref(out), p->best);
    if (e >= 0)
        mpq_mul_2exp(out, out, (mp_bitcnt_t)e);
    else
        mpq_div_2exp(out, out, (mp_bitcnt_t)-e);
}
