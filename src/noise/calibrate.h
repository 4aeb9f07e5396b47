/* What the calibrations share. */
#ifndef NOISE_CALIBRATE_H
#define NOISE_CALIBRATE_H

#include "noise/noise.h"

/* Positive, and of a size that GMP handles in no time. */
enum status noise_check_parameter(mpq_srcptr v, const char *what,
                                  struct err *err) WARN_UNUSED;
enum status noise_check_guarantee(const struct guarantee *g,
                                  struct err *err) WARN_UNUSED;
/* Of a global sensitivity. */
enum status noise_check_sensitivity(mpz_srcptr v, struct err *err) WARN_UNUSED;
/* E_VALUE below 2^-30: the slack would not cover the rounding of S. */
enum status noise_check_beta_min(mpq_srcptr beta, struct err *err) WARN_UNUSED;

/* An epsilon such that epsilon-DP implies the guarantee: epsilon itself, or
 * sqrt(2 rho) rounded down (epsilon-DP is epsilon^2/2-zCDP). */
void pure_epsilon(const struct guarantee *g, mpq_t out);
/* beta (1 + 2^-60): what the noise tolerates. */
void slack_beta(mpq_srcptr beta, mpq_t out);
/* A rational in [kappa(beta), 1] close to kappa = beta / (e^beta - 1). */
void kappa_above(mpq_srcptr beta, mpq_t out);
/* The largest alpha for 1/(1+z^4), rounded down; epsilon > 3 beta. */
void cauchy_alpha_below(mpq_srcptr epsilon, mpq_srcptr beta, mpq_t out);
/* A rho such that rho-zCDP implies (epsilon, delta)-DP, rounded down. */
void rho_below(mpq_srcptr epsilon, mpq_srcptr delta, mpq_t out);

#endif
