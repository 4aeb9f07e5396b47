/* Checks that the calibrations share. */
#ifndef NOISE_CALIBRATE_H
#define NOISE_CALIBRATE_H

#include "noise/noise.h"

/* Positive, and of a size that GMP handles in no time. */
enum status check_parameter(mpq_srcptr v, const char *what,
                            struct err *err) WARN_UNUSED;
enum status check_guarantee(const struct guarantee *g,
                            struct err *err) WARN_UNUSED;

#endif
