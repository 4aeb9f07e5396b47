/* Enclosures (num/iv.h) of what only tests compute with. */
#ifndef HARNESS_IV_MORE_H
#define HARNESS_IV_MORE_H

#include "num/iv.h"

void iv_sqr(struct iv *out, const struct iv *x);
void iv_abs(struct iv *out, const struct iv *x);
void iv_tanh(struct iv *out, const struct iv *x);
void iv_atan(struct iv *out, const struct iv *x);
void iv_erfc(struct iv *out, const struct iv *x); /* falls */
/* 1 / cosh x, for x >= 0 */
void iv_sech(struct iv *out, const struct iv *x);
bool iv_less(const struct iv *x, const struct iv *y); /* x < y, certainly */

#endif
