/*
 * Dictionary under construction: distinct byte strings, numbered as they
 * come. Open addressing; a slot holds the text itself if it is short, else
 * its hash, so that a short text costs one cache miss and growing touches no
 * text. Texts lie in blocks without alignment. Memory for each entry: 16
 * bytes and the text, and 21 to 43 for the slots.
 */
#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/str.h"

struct dict_slot {
    uint64_t head;      /* the text, zero-padded, if n <= 8; else its hash */
    uint32_t n;         /* length of the text, at most UINT32_MAX - 1 */
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
