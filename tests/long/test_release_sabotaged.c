/*
 * The black-box audit on a sabotaged program: linked so that the release gets
 * its noise from the function below, with 0.8 of the scale. The audit must
 * notice.
 */
#define SABOTAGED 1
#include "test_release_blackbox.c"

#include "noise/noise.h"

enum status __real_noise_calibrate_global(const struct guarantee *g,
                                          enum noise_kind kind, mpz_srcptr l1,
                                          mpz_srcptr l2_squared,
                                          struct noise *out, struct err *err);
enum status __wrap_noise_calibrate_global(const struct guarantee *g,
                                          enum noise_kind kind, mpz_srcptr l1,
                                          mpz_srcptr l2_squared,
                                          struct noise *out, struct err *err);

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
