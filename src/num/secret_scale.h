/*
 * A secret rational: a smooth sensitivity, the scale of a noise, a truncated
 * count, a score.
 *
 * Its number is behind a pointer to a struct that only secret_scale.c knows,
 * so that nothing outside can name it. PRIVACY: the only way out is
 * num/open_scale.h, which the files named in src/SECRETS include and no
 * others: the draw behind a hold, and the owner's commands. Wiping is explicit
 * and covers the limbs a number owns at that moment; copies that GMP made while
 * it computed are out of reach.
 */
#ifndef NUM_SECRET_SCALE_H
#define NUM_SECRET_SCALE_H

#include <gmp.h>
#include "base/secret_count.h"
#include "num/rat.h"

struct secret_scale {
    struct secret_scale_body *sealed_;
};

/* Takes memory as GMP does. The value is 0. */
void secret_scale_init(struct secret_scale *s);
void secret_scale_fini(struct secret_scale *s); /* wipes */
void secret_scale_set(struct secret_scale *s, mpq_srcptr v);
void secret_scale_copy(struct secret_scale *s, const struct secret_scale *v);
/* The smaller of both. */
void secret_scale_least(struct secret_scale *s, const struct secret_scale *v);
void secret_scale_set_count(struct secret_scale *s,
                            const struct secret_count *v);

/* Clear the limbs, then release: for local copies of secrets and random
 * bits. */
void mpz_wipe_clear(mpz_t v);
void mpq_wipe_clear(mpq_t v);

#endif
