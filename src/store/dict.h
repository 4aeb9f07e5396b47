/*
 * Dictionary under construction: distinct byte strings, numbered as they
 * come. Open addressing over 32-bit numbers with their 32-bit hash beside
 * them (so that growing touches no text), texts in blocks without alignment:
 * 16 bytes and the text per entry, and 16 to 32 for the slots. At most 2^32 - 2
 * entries.
 */
#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/str.h"

struct dict_slot {
    uint32_t tag;       /* the hash */
    uint32_t id_plus_1; /* 0: empty */
};

struct dict {
    struct mem *mem;
    struct str *entries; /* mem block of `cap` */
    size_t n, cap;
    struct dict_slot *slots; /* mem block of n_slots, a power of two or 0 */
    size_t n_slots;
    struct arena *texts; /* where the bytes live; outlives the dictionary */
    char *free_text;     /* rest of the current block of texts */
    size_t n_free;
};

void dict_init(struct dict *d, struct mem *m, struct arena *texts);
void dict_fini(struct dict *d);       /* the texts stay */
void dict_drop_slots(struct dict *d); /* nothing will be looked up again */
/* The number of `s`, added if it is new. False when memory is out or there
 * are too many entries. */
bool dict_put(struct dict *d, struct str s, uint32_t *out, bool *is_new);

#endif
