/*
 * smooth-laplace: the density with the steepest logarithm that the
 * infinitesimal criterion of PROOF.md (claim 1) allows at each point.
 *
 *   slope of -ln h at w:  min( e, (e+b)/(k+bw), (e-b)/(k-bw) )
 *
 * for e = epsilon, b = beta, k = kappa. On [0,w1] it is a power that bends
 * down, on [w1,w2] an exponential, beyond w2 a Pareto tail with exponent e/b,
 * the lightest that pure privacy with a smooth scale permits.
 */
#include "noise/inverse.h"

enum {
    R,   /* b/e */
    C,   /* k/b */
    W1,  /* end of the core */
    L,   /* C + w2 */
    E,   /* e */
    C1,  /* height at w1 */
    C2,  /* height at w2 */
    UM,  /* (1 - w1/C)^(e/b) */
    M3,  /* mass of the tail */
    M23, /* and of the middle */
    TOT, /* and of the core: all of one side */
    KE,  /* e/k */
    N_ENTRIES
};

static size_t laplace_size(const struct noise *n, mpfr_prec_t prec)
{
    (void)n;
    (void)prec;
    return N_ENTRIES;
}

/* The numbers that are rational stay rational as long as possible. */
struct shape {
    mpq_t r, c, w1, w2, u, m; /* m = e/b */
};

static void shape_init(struct shape *s, const struct noise *n)
{
    mpq_t slack, eb, one;
    mpq_inits(s->r, s->c, s->w1, s->w2, s->u, s->m, slack, eb, one, NULL);
    mpq_set_ui(one, 1, 1);
    mpq_div(s->r, n->beta, n->epsilon);
    mpq_inv(s->m, s->r);
    mpq_div(s->c, n->a, n->beta);
    mpq_sub(slack, one, n->a);
    mpq_mul(slack, slack, n->epsilon); /* e (1 - k) */
    mpq_mul(eb, n->epsilon, n->beta);
    mpq_sub(s->w1, n->beta, slack);
    if (mpq_sgn(s->w1) < 0)
        mpq_set_ui(s->w1, 0, 1);
    mpq_div(s->w1, s->w1, eb);
    mpq_add(s->w2, n->beta, slack);
    mpq_div(s->w2, s->w2, eb);
    mpq_div(s->u, s->w1, s->c);
    mpq_sub(s->u, one, s->u);
    mpq_clears(slack, eb, one, NULL);
}

static void shape_fini(struct shape *s)
{
    mpq_clears(s->r, s->c, s->w1, s->w2, s->u, s->m, NULL);
}

static void build_heights(const struct noise *n, const struct shape *s,
                          struct iv *v)
{
    mpq_t q;
    mpq_init(q);
    iv_set_q(&v[C1], s->u);
    iv_set(&v[UM], &v[C1]);
    iv_pow_q(&v[UM], &v[UM], s->m);
    iv_div(&v[C1], &v[UM], &v[C1]); /* u^(m-1) */
    mpq_sub(q, s->w1, s->w2);
    mpq_mul(q, q, n->epsilon);
    iv_set_q(&v[C2], q);
    iv_exp(&v[C2], &v[C2]);
    iv_mul(&v[C2], &v[C2], &v[C1]);
    mpq_clear(q);
}

static void laplace_build(const struct noise *n, struct inverse_table *t)
{
    struct iv *v = t->v;
    struct shape s;
    mpq_t q;
    mpq_init(q);
    shape_init(&s, n);
    iv_set_q(&v[R], s.r);
    iv_set_q(&v[C], s.c);
    iv_set_q(&v[W1], s.w1);
    iv_set_q(&v[E], n->epsilon);
    mpq_add(q, s.c, s.w2);
    iv_set_q(&v[L], q);
    mpq_div(q, n->epsilon, n->a);
    iv_set_q(&v[KE], q);
    build_heights(n, &s, v);
    /* m3 = c2 L / m, m2 = (c1 - c2) / e, m1 = (1 - u^m) k / e */
    iv_mul(&v[M3], &v[C2], &v[L]);
    iv_mul(&v[M3], &v[M3], &v[R]);
    iv_sub(&v[M23], &v[C1], &v[C2]);
    iv_div(&v[M23], &v[M23], &v[E]);
    iv_add(&v[M23], &v[M23], &v[M3]);
    iv_set_ui(&v[TOT], 1);
    iv_sub(&v[TOT], &v[TOT], &v[UM]);
    iv_div(&v[TOT], &v[TOT], &v[KE]);
    iv_add(&v[TOT], &v[TOT], &v[M23]);
    shape_fini(&s);
    mpq_clear(q);
}

/* Mass t beyond w in the tail: t = m3 (L / (C + w))^(e/b). */
static void tail_at(const struct iv *v, const struct iv *t, struct iv *w)
{
    iv_div(w, &v[M3], t);
    iv_log(w, w);
    iv_mul(w, w, &v[R]);
    iv_exp(w, w);
    iv_mul(w, w, &v[L]);
    iv_sub(w, w, &v[C]);
}

/* t - m3 = (c1 exp(-e (w - w1)) - c2) / e. */
static void middle_at(const struct iv *v, const struct iv *t, struct iv *w)
{
    iv_sub(w, t, &v[M3]);
    iv_mul(w, w, &v[E]);
    iv_add(w, w, &v[C2]);
    iv_div(w, w, &v[C1]);
    iv_log(w, w);
    iv_div(w, w, &v[E]);
    iv_sub(w, &v[W1], w);
}

/* t - m3 - m2 = (k/e) ((1 - w/C)^(e/b) - u^(e/b)). */
static void core_at(const struct iv *v, const struct iv *t, struct iv *w,
                    struct iv *one)
{
    iv_sub(w, t, &v[M23]);
    iv_mul(w, w, &v[KE]);
    iv_add(w, w, &v[UM]);
    iv_log(w, w);
    iv_mul(w, w, &v[R]);
    iv_exp(w, w);
    iv_set_ui(one, 1);
    iv_sub(w, one, w);
    iv_mul(w, w, &v[C]);
}

static bool laplace_eval(const struct noise *n, const struct inverse_table *t,
                         const struct iv *v, struct iv *w, struct iv *tmp)
{
    (void)n;
    struct iv *c = t->v;
    iv_mul(tmp, v, &c[TOT]);
    /* PRIVACY: each comparison is certain, so no draw takes a wrong piece. */
    if (iv_at_most(tmp, &c[M3]))
        tail_at(c, tmp, w);
    else if (iv_at_most(&c[M3], tmp) && iv_at_most(tmp, &c[M23]))
        middle_at(c, tmp, w);
    else if (iv_at_most(&c[M23], tmp))
        core_at(c, tmp, w, tmp);
    else
        return false;
    if (mpfr_sgn(w->lo) < 0)
        mpfr_set_zero(w->lo, 1);
    return !mpfr_nan_p(w->lo) && mpfr_number_p(w->hi);
}

const struct inverse inverse_smooth_laplace = {laplace_size, laplace_build,
                                               laplace_eval};
