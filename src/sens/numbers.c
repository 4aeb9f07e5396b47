/* See numbers.h. */
#include "sens/numbers.h"

#include "num/secret_scale.h"

mpz_t *sens_numbers(struct arena *a, size_t n)
{
    mpz_t *v = NEWS(a, mpz_t, n + 1);
    for (size_t i = 0; v && i < n; i++)
        mpz_init(v[i]);
    return v;
}

void sens_drop(mpz_t *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        mpz_wipe_clear(v[i]);
}
