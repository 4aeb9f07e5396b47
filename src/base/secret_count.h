/*
 * A secret count: what a counter (join, pushdown, a tree) gives to those above
 * it. Negative totals of sums are the two's complement of 128 bits; counts are
 * at most COUNT_MOST, so that is the number itself.
 *
 * It is a struct without a number in it, so that it goes to no function that
 * takes one, and no printf, comparison or sum happens by accident. PRIVACY: the
 * only way out is base/open_count.h, which the files named in src/SECRETS
 * include and no others: the draw behind a hold, and the owner's commands.
 */
#ifndef BASE_SECRET_COUNT_H
#define BASE_SECRET_COUNT_H

#include "base/checked.h"

struct secret_count {
    unsigned char sealed_[sizeof(u128)];
};

struct secret_count secret_count_of(u128 v);
/* To [-most, most], or [0, most] if it is not signed. */
void secret_count_clamp(struct secret_count *s, u128 most, bool is_signed);

#endif
