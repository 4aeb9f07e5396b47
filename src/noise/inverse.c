/* The refining loop of inverse-survival sampling: see inverse.h. */
#include "noise/inverse.h"

#include "num/secret_scale.h"

static const struct inverse *inverse_of(enum noise_kind kind)
{
    if (kind == NOISE_SMOOTH_LAPLACE)
        return &inverse_smooth_laplace;
    return kind == NOISE_STAIRCASE ? &inverse_staircase : NULL;
}

static enum status inverse_table_build(const struct noise *n,
                                       const struct inverse *f,
                                       mpfr_prec_t prec, struct mem *m,
                                       struct inverse_table *out,
                                       struct err *err)
{
    size_t size = f->size(n, prec);
    *out = (struct inverse_table){.prec = prec};
    out->v = mem_alloc(m, size * sizeof *out->v);
    if (!out->v)
        return err_nomem(err);
    out->n = size;
    for (size_t i = 0; i < size; i++)
        iv_init(&out->v[i], prec);
    f->build(n, out);
    return OK;
}

void inverse_table_fini(struct inverse_table *t, struct mem *m)
{
    for (size_t i = 0; i < t->n; i++)
        iv_fini(&t->v[i]);
    mem_free(m, t->v, t->n * sizeof *t->v);
    *t = (struct inverse_table){0};
}

enum status noise_prepare(struct noise *n, struct err *err)
{
    const struct inverse *f = inverse_of(n->kind);
    if (!f)
        return OK;
    if (!n->table) {
        n->table = mem_alloc(&n->mem, sizeof *n->table);
        if (!n->table)
            return err_nomem(err);
    } else {
        inverse_table_fini(n->table, &n->mem);
    }
    return inverse_table_build(n, f, INVERSE_PREC, &n->mem, n->table, err);
}

/* One look at V: true when the rounded value is certain. */
static bool try_round(const struct noise *n, const struct inverse *f,
                      const struct inverse_table *t, const struct lazy *v,
                      mpq_srcptr s, mpz_t out)
{
    struct iv x, w, tmp;
    mpz_t next;
    mpz_init(next);
    iv_init(&x, t->prec);
    iv_init(&w, t->prec);
    iv_init(&tmp, t->prec);
    mpz_add_ui(next, v->u, 1);
    iv_set_z_2exp(&x, v->u, next, v->b);
    bool sure = f->eval(n, t, &x, &w, &tmp) && iv_round_scaled(out, &w, s);
    iv_wipe_fini(&x);
    iv_wipe_fini(&w);
    iv_wipe_fini(&tmp);
    mpz_wipe_clear(next);
    return sure;
}

/* A look with a table of the wanted precision: the kept one or a fresh one. */
static enum status look(const struct noise *n, const struct inverse *f,
                        mpfr_prec_t prec, const struct lazy *v, mpq_srcptr s,
                        mpz_t out, bool *sure, struct err *err)
{
    if (n->table && n->table->n && prec == n->table->prec) {
        *sure = try_round(n, f, n->table, v, s, out);
        return OK;
    }
    struct mem m;
    struct inverse_table fresh;
    mem_init(&m, 0);
    TRY(inverse_table_build(n, f, prec, &m, &fresh, err));
    *sure = try_round(n, f, &fresh, v, s, out);
    inverse_table_fini(&fresh, &m);
    return OK;
}

enum status sample_inverse(struct draw *d, const struct noise *n, mpq_srcptr s,
                           mp_bitcnt_t bits, mpfr_prec_t prec, mpz_t out)
{
    const struct inverse *f = inverse_of(n->kind);
    struct lazy v;
    bool sure = false, minus = false;
    bits = bits ? bits : lazy_first_bits(s);
    prec = prec ? prec : (mpfr_prec_t)bits + 64;
    lazy_init(&v);
    enum status st = lazy_start(&v, d, bits);
    while (st == OK) {
        st = look(n, f, prec, &v, s, out, &sure, d->err);
        if (st != OK || sure)
            break;
        prec = (mpfr_prec_t)v.b * 2 + 64;
        st = v.b > LAZY_BITS_MAX ? draw_stuck(d) : lazy_refine(&v, d, v.b);
    }
    lazy_fini(&v);
    TRY(st);
    TRY(draw_flip(d, &minus));
    if (minus)
        mpz_neg(out, out);
    return OK;
}
