/* Advice: what declaring would make a bound finite or smaller. */
#ifndef BOUND_ADVICE_H
#define BOUND_ADVICE_H

#include "bound/bound.h"
#include "bound/upper.h"

/* Fills out->advice: dependencies that would make the bound finite, or, if
 * it is finite but large, smaller. */
enum status bound_advise(struct arena *a, const struct upper *up,
                         struct work *work, struct bound *out,
                         struct err *err) WARN_UNUSED;

#endif
