/* Vectors of numbers of the data, of any size. */
#ifndef SENS_NUMBERS_H
#define SENS_NUMBERS_H

#include <gmp.h>

#include "base/mem.h"

/* All 0, room for one more than n; NULL: no memory. */
mpz_t *sens_numbers(struct arena *a, size_t n);
/* PRIVACY: wiped. NULL is allowed. */
void sens_drop(mpz_t *v, size_t n);

#endif
