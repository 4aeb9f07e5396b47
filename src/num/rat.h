/*
 * Exact numbers: rationals from decimal strings and back (GMP). Privacy
 * parameters never pass through a double. Secret numbers (exact counts,
 * sensitivities, scales) travel in wrapper types that do not convert by
 * accident: num/secret_scale.h.
 */
#ifndef NUM_RAT_H
#define NUM_RAT_H

#include <gmp.h>
#include "base/str.h"

/* Reads "0.1", "1e-6", "12", "1/3". At most 100 characters and exponents up
 * to +-1000, so that nobody can ask for a number of a gigabyte. `out` must be
 * initialised. E_VALUE with a reason otherwise. `what` names the number in
 * messages: "epsilon". */
enum status rat_read(struct str text, const char *what, mpq_t out,
                     struct err *err) WARN_UNUSED;
/* The shortest exact decimal if there is one of at most 40 digits, else the
 * fraction "p/q". */
void rat_print(struct sb *b, mpq_srcptr v);
void rat_print_mpz(struct sb *b, mpz_srcptr v);
/* Decimal with `digits` places, rounded up (for amounts spent) or down. */
void rat_print_decimal(struct sb *b, mpq_srcptr v, unsigned digits, bool up);

void mpz_set_u128(mpz_t out, u128 v);
bool mpz_get_u128(mpz_srcptr v, u128 *out); /* false: negative or too large */

#endif
