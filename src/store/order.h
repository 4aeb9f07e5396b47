/* Sorting dictionary entries: see order.c. */
#ifndef STORE_ORDER_H
#define STORE_ORDER_H

#include "base/str.h"

struct order_item {
    uint64_t head; /* what is compared first; set by the sort */
    uint32_t id;   /* of a text */
};

/* Sorts items[0..n) by texts[id], bytewise; the texts are distinct. `spare`
 * has room for n items. */
void order_texts(struct order_item *items, struct order_item *spare, size_t n,
                 const struct str *texts);
/* The same for canonical decimals (NaN last), by their numbers; equal ones
 * may occur and become neighbours. */
void order_numbers(struct order_item *items, struct order_item *spare, size_t n,
                   const struct str *texts);

#endif
