/* Numbers of any size as texts. */
#ifndef NUM_MPZ_TEXT_H
#define NUM_MPZ_TEXT_H

#include <gmp.h>
#include "base/str.h"

/* As a decimal number; p NULL: no memory. */
struct str mpz_text(struct arena *a, mpz_srcptr v);

#endif
