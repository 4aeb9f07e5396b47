/* Secret numbers: see secret.h for what the wrappers are for. */
#include "num/secret.h"

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

void secret_int_init(struct secret_int *s)
{
    mpz_init(s->hidden_);
}

void secret_int_fini(struct secret_int *s)
{
    mpz_wipe_clear(s->hidden_);
}

void secret_int_set_u128(struct secret_int *s, u128 v)
{
    mpz_set_u128(s->hidden_, v);
}

void secret_int_set_signed(struct secret_int *s, u128 v)
{
    bool below = v >> 127;
    secret_int_set_u128(s, below ? -v : v);
    if (below)
        mpz_neg(s->hidden_, s->hidden_);
}

void secret_rat_init(struct secret_rat *s)
{
    mpq_init(s->hidden_);
}

void secret_rat_fini(struct secret_rat *s)
{
    mpq_wipe_clear(s->hidden_);
}

void secret_rat_set(struct secret_rat *s, mpq_srcptr v)
{
    mpq_set(s->hidden_, v);
}

mpz_srcptr secret_int_open(const struct secret_int *s)
{
    return s->hidden_;
}

mpq_srcptr secret_rat_open(const struct secret_rat *s)
{
    return s->hidden_;
}
