/* Sorting dictionary entries: see order.c (texts) and order_number.c. */
#ifndef STORE_ORDER_H
#define STORE_ORDER_H

#include "base/str.h"

/*
 * Sorts keys[0..n) by texts[id], bytewise; the lower half of a key is the id,
 * the upper half is used and left in any state. Equal texts become
 * neighbours. `other` is room for as many keys.
 */
void order_texts(uint64_t *keys, uint64_t *other, size_t n,
                 const struct str *texts);

struct order_item {
    uint64_t head; /* what is compared first */
    uint32_t id;   /* of a text */
};

/* The head of a number: of the double nearest to it, or of its text. */
uint64_t order_double_head(double d);
uint64_t order_number_head(struct str s);
/* The same for canonical decimals (NaN last) with their heads, by their
 * numbers; equal ones may occur and become neighbours. */
void order_numbers(struct order_item *items, size_t n, const struct str *texts);

#endif
