/*
 * How often keys were met, for the evaluation of trees. Most keys are one whole
 * number, the column that a subquery is compared by: those go into a table of
 * numbers, all others into a map of bytes. PRIVACY: secret, in an arena that is
 * wiped; which way a key goes depends on its value alone.
 */
#ifndef RELEASE_KEY_SET_H
#define RELEASE_KEY_SET_H

#include "base/map.h"

struct key_number {
    int64_t key;
    uint64_t n; /* 0: empty */
};

struct key_set {
    struct map map;
    struct arena *arena;
    struct key_number *slots;
    size_t n, cap; /* cap: 0 or a power of two */
};

void key_set_init(struct key_set *s, struct arena *a);
/* 0: not there. */
uint64_t key_set_find(const struct key_set *s, int64_t key);
/* Adds `by`, at least 1; false: no memory. *first: it was not there. */
bool key_set_add(struct key_set *s, int64_t key, uint64_t by, bool *first);

#endif
