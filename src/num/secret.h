/*
 * Secret numbers: an exact count, a smooth sensitivity, a noise scale.
 *
 * They are structs, so that a secret passes to no function that takes a plain
 * number, and no printf or comparison happens by accident. PRIVACY: the only
 * way out is secret_*_open, a name that can be searched for: the draw
 * (noise_answer) and the owner's own commands use it, nothing that writes to
 * an analyst may. Wiping is explicit and covers the limbs a number owns at
 * that moment; copies that GMP made while it computed are out of reach.
 */
#ifndef NUM_SECRET_H
#define NUM_SECRET_H

#include <gmp.h>
#include "num/rat.h"

struct secret_int {
    mpz_t hidden_;
};
struct secret_rat {
    mpq_t hidden_;
};

void secret_int_init(struct secret_int *s);
void secret_int_fini(struct secret_int *s); /* wipes */
void secret_int_set_u128(struct secret_int *s, u128 v);
/* The two's complement of 128 bits. */
void secret_int_set_signed(struct secret_int *s, u128 v);

void secret_rat_init(struct secret_rat *s);
void secret_rat_fini(struct secret_rat *s); /* wipes */
void secret_rat_set(struct secret_rat *s, mpq_srcptr v);

mpz_srcptr secret_int_open(const struct secret_int *s);
mpq_srcptr secret_rat_open(const struct secret_rat *s);

/* Clear the limbs, then release: for local copies of secrets and random
 * bits. */
void mpz_wipe_clear(mpz_t v);
void mpq_wipe_clear(mpq_t v);

#endif
