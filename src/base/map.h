/*
 * Hash map from byte strings to 64-bit numbers, open addressing with linear
 * probing, in an arena. Keys are borrowed: they must live as long as the map.
 * There is no removal. Fixed-width keys go in as slices of their bytes.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdint.h>
#include "base/str.h"

struct map_slot {
    struct str key; /* key.p NULL: empty */
    uint64_t hash;
    uint64_t value;
};

struct map {
    struct arena *arena;
    struct map_slot *slots;
    size_t n, cap; /* cap is a power of two or 0 */
};

void map_init(struct map *m, struct arena *a);
/* The value's place, or NULL when the key is absent. */
uint64_t *map_find(const struct map *m, struct str key);
/* The value's place, new ones set to `init`; *is_new may be NULL. Returns
 * NULL when memory is out, and the map stays as it was. */
uint64_t *map_put(struct map *m, struct str key, uint64_t init, bool *is_new);

#endif
