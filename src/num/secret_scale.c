/* Secret rationals: see secret_scale.h for what they are for. */
#include "base/open_count.h"
#include "num/open_scale.h"

struct secret_scale_body {
    mpq_t v;
};

static void wipe_limbs(mpz_ptr v)
{
    if (v->_mp_alloc > 0)
        mem_wipe(v->_mp_d, (size_t)v->_mp_alloc * sizeof *v->_mp_d);
    v->_mp_size = 0;
}

void mpz_wipe_clear(mpz_t v)
{
    wipe_limbs(v);
    mpz_clear(v);
}

void mpq_wipe_clear(mpq_t v)
{
    wipe_limbs(mpq_numref(v));
    wipe_limbs(mpq_denref(v));
    mpq_clear(v);
}

void secret_scale_init(struct secret_scale *s)
{
    void *(*take)(size_t);
    mp_get_memory_functions(&take, NULL, NULL);
    s->sealed_ = take(sizeof *s->sealed_);
    mpq_init(s->sealed_->v);
}

void secret_scale_fini(struct secret_scale *s)
{
    void (*give)(void *, size_t);
    mp_get_memory_functions(NULL, NULL, &give);
    mpq_wipe_clear(s->sealed_->v);
    give(s->sealed_, sizeof *s->sealed_);
    s->sealed_ = NULL;
}

void secret_scale_set(struct secret_scale *s, mpq_srcptr v)
{
    mpq_set(s->sealed_->v, v);
}

void secret_scale_copy(struct secret_scale *s, const struct secret_scale *v)
{
    mpq_set(s->sealed_->v, v->sealed_->v);
}

void secret_scale_least(struct secret_scale *s, const struct secret_scale *v)
{
    if (mpq_cmp(v->sealed_->v, s->sealed_->v) < 0)
        mpq_set(s->sealed_->v, v->sealed_->v);
}

void secret_scale_of_count(const struct secret_count *s, mpz_t out)
{
    u128 v = secret_count_open(s);
    bool below = v >> 127;
    mpz_set_u128(out, below ? -v : v);
    if (below)
        mpz_neg(out, out);
}

void secret_scale_set_count(struct secret_scale *s,
                            const struct secret_count *v)
{
    secret_scale_of_count(v, mpq_numref(s->sealed_->v));
    mpz_set_ui(mpq_denref(s->sealed_->v), 1);
}

mpq_srcptr secret_scale_open(const struct secret_scale *s)
{
    return s->sealed_->v;
}
