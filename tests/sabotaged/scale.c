/*
 * Sabotage for audits: linked with --wrap=noise_calibrate_global, a program
 * gets noise of 0.8 of the scale that its guarantee needs.
 */
#include "noise/noise.h"

__typeof__(noise_calibrate_global) __real_noise_calibrate_global,
    __wrap_noise_calibrate_global;

enum status __wrap_noise_calibrate_global(const struct guarantee *g,
                                          enum noise_kind kind, mpz_srcptr l1,
                                          mpz_srcptr l2_squared,
                                          struct noise *out, struct err *err)
{
    enum status s =
        __real_noise_calibrate_global(g, kind, l1, l2_squared, out, err);
    mpq_t less;
    mpq_init(less);
    mpq_set_ui(less, 4, 5);
    mpq_mul(out->a, out->a, less);
    mpq_clear(less);
    return s;
}
