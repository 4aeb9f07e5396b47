/*
 * Dictionary under construction: distinct keys, numbered as they come. A key
 * is a byte string or a short decimal as one word (packed.h).
 *
 * Open addressing over slots of eight bytes: 32 bits of the key's hash and
 * its number. The upper bits of the hash are the slot's place, so that
 * growing copies from front to back and touches no key. Lookups wait in a
 * batch (dict_later): the memory that one needs is fetched while others are
 * computed, which a dictionary larger than the cache lives by. Texts lie in
 * blocks without alignment. Memory for each entry: 16 bytes (24 at most while
 * growing) and the text, and 11 to 22 for the slots.
 */
#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/str.h"

struct dict_slot {
    uint32_t tag;       /* of the hash */
    uint32_t id_plus_1; /* 0: empty */
};

struct dict_wait; /* keys whose numbers are not looked up yet */

struct dict {
    struct mem *mem;
    struct str
        *entries; /* mem block of `cap`; p NULL: the number packed in n */
    size_t n, cap;
    struct dict_slot *slots; /* mem block of 2^bits, or NULL */
    unsigned bits;
    struct dict_wait *wait; /* or NULL */
    struct arena *texts;    /* where the bytes live; outlives the dictionary */
    char *free_text;        /* rest of the current block of texts */
    size_t n_free;
};

void dict_init(struct dict *d, struct mem *m, struct arena *texts);
void dict_fini(struct dict *d);       /* the texts stay */
void dict_drop_slots(struct dict *d); /* nothing will be looked up again */
/* No further key fits, whatever the memory. */
bool dict_is_full(const struct dict *d);

static inline struct str dict_number(uint64_t packed)
{
    return (struct str){NULL, packed};
}

/* The number of the key, added if it is new. False when memory is out or
 * there are too many entries. */
bool dict_put(struct dict *d, struct str key, uint32_t *out);
/*
 * The same for codes[row], now or at a later call; a text is copied. All
 * calls of a dictionary pass one and the same array (it may have moved). After
 * dict_flush all are written.
 */
bool dict_later(struct dict *d, struct str key, uint32_t *codes, size_t row);
bool dict_flush(struct dict *d, uint32_t *codes);
/* A copy of the text in the dictionary's blocks; NULL: no memory. */
const char *dict_keep_text(struct dict *d, struct str s);

#endif
