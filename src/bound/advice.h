/* Advice: what declaring would make a bound finite or smaller. */
#ifndef BOUND_ADVICE_H
#define BOUND_ADVICE_H

#include "bound/bound.h"
#include "bound/upper.h"

/* What is to be bounded: the answers that a row in the part of an atom of `own`
 * brings about, each of weight `unit`. Those of `loss` are apart from the
 * others where one change does not do both. */
struct advised {
    const struct upper *up;
    aset own;
    uint64_t unit;
    bool gain, loss;
};

/* Fills out->advice: dependencies that would make the bound `now` finite, or,
 * if it is finite but large, smaller. `both`: what is gained and what is lost
 * add up. */
enum status bound_advise(struct arena *a, const struct advised *parts, size_t n,
                         bool both, u128 now, struct work *work,
                         struct bound *out, struct err *err) WARN_UNUSED;

#endif
