/*
 * Dictionary under construction: distinct keys, numbered as they come. A key
 * is a byte string or a short decimal as one word (packed.h).
 *
 * A hash table of buckets of eight: 32 bits of each key's hash and its number,
 * a line of the cache. A bucket is compared as a whole, so that neither how
 * full it is nor where a key lies in it makes the processor guess. The upper
 * bits of the hash are the bucket's place, so that growing copies from front
 * to back and touches no key. Lookups wait in a batch (dict_later): the memory
 * that one needs is fetched while others are computed, which a dictionary
 * larger than the cache lives by. Their texts wait where they will stay if
 * they are new. Texts lie in blocks without alignment. Memory for each entry:
 * 16 bytes (24 at most while growing, 18 when they are many) and the text, and
 * 11 to 22 for the buckets.
 */
#ifndef STORE_DICT_H
#define STORE_DICT_H

#include "base/str.h"

enum { DICT_BUCKET = 8 };

struct dict_bucket {
    uint32_t tag[DICT_BUCKET]; /* of the hash; 0: empty, and so the rest */
    uint32_t id[DICT_BUCKET];
};

struct dict_wait; /* keys whose numbers are not looked up yet */

struct dict {
    struct mem *mem;
    struct str
        *entries; /* mem block of `cap`; p NULL: the number packed in n */
    size_t n, cap;
    struct dict_bucket *buckets; /* mem block of 2^bits, or NULL */
    unsigned bits;
    uint32_t tag_mask;      /* tests take bits away, so that keys collide */
    struct dict_wait *wait; /* or NULL */
    struct arena *texts;    /* where the bytes live; outlives the dictionary */
    char *free_text;        /* rest of the current block of texts */
    size_t n_free;
    size_t n_text; /* bytes of all blocks */
};

void dict_init(struct dict *d, struct mem *m, struct arena *texts);
void dict_fini(struct dict *d);       /* the texts stay */
void dict_drop_table(struct dict *d); /* nothing will be looked up again */
/* No further key fits, whatever the memory. */
bool dict_is_full(const struct dict *d);

static inline struct str dict_number(uint64_t packed)
{
    return (struct str){NULL, packed};
}

/* The number of the key, added if it is new; not while others wait. False when
 * memory is out or there are too many entries. */
bool dict_put(struct dict *d, struct str key, uint32_t *out);
/*
 * The same for codes[row], now or at a later call; a text is copied. All
 * calls of a dictionary pass one and the same array (it may have moved). After
 * dict_flush all are written.
 */
bool dict_later(struct dict *d, struct str key, uint32_t *codes, size_t row);
bool dict_flush(struct dict *d, uint32_t *codes);
/* A copy of the text in the dictionary's blocks, while no key waits; NULL: no
 * memory. */
const char *dict_keep_text(struct dict *d, struct str s);

#endif
