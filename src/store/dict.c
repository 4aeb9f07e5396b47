/* Dictionary under construction: see dict.h. */
#include "store/dict.h"

#include <string.h>
#include "base/lanes.h"

enum {
    TEXT_BLOCK = (1 << 16) - 16,  /* sixteen fill an arena's block */
    LARGE_BLOCK = (1 << 21) - 64, /* a large page, with what an arena adds */
    MANY_TEXTS = 1 << 23,         /* bytes, from where on blocks are large */
    FIRST_BITS = 5,               /* of buckets */
    TAG_BITS = 32,
    WAITING = 64,        /* keys in a batch */
    LONG_TEXT = 1 << 10, /* longer ones do not wait */
    FIRST_ENTRIES = 128, /* and from where they grow by an eighth: */
    MANY_ENTRIES = 1 << 18,
    CACHED_ENTRIES = 1 << 12 /* so few need not be fetched */
};
static const size_t most_entries = (size_t)3 << 30; /* of 2^32 places */

struct waiting {
    struct str key;
    size_t row;
    uint32_t tag;
};

struct dict_wait {
    size_t n, used; /* keys; bytes of their texts, at dict's free_text */
    struct waiting keys[WAITING];
};

#define INLINE static inline __attribute__((always_inline))

void dict_init(struct dict *d, struct mem *m, struct arena *texts)
{
    *d = (struct dict){.mem = m, .texts = texts, .tag_mask = UINT32_MAX};
}

static size_t table_bytes(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(struct dict_bucket);
}

void dict_drop_table(struct dict *d)
{
    if (d->buckets)
        mem_free(d->mem, d->buckets, table_bytes(d->bits));
    mem_free(d->mem, d->wait, sizeof *d->wait);
    d->buckets = NULL;
    d->bits = 0;
    d->wait = NULL;
}

void dict_fini(struct dict *d)
{
    dict_drop_table(d);
    mem_free(d->mem, d->entries, d->cap * sizeof *d->entries);
    dict_init(d, d->mem, d->texts);
}

bool dict_is_full(const struct dict *d)
{
    return d->n >= most_entries;
}

/* --- short texts ----------------------------------------------------------*/

static inline uint64_t read8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static inline uint32_t read4(const char *p)
{
    uint32_t w;
    memcpy(&w, p, 4);
    return w;
}

/* Ends of up to 32 bytes overlap in the middle, so no length needs a loop. */
static inline void copy_text(char *to, const char *from, size_t n)
{
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else if (n) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

static inline bool same_text(const char *a, const char *b, size_t n)
{
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8)
        return read8(a) == read8(b) && read8(a + n - 8) == read8(b + n - 8);
    if (n >= 4)
        return read4(a) == read4(b) && read4(a + n - 4) == read4(b + n - 4);
    return !n || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

static inline bool same_key(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    return a.p && b.p ? same_text(a.p, b.p, a.n) : !a.p && !b.p;
}

/* --- hashing --------------------------------------------------------------*/

/* Both halves of the product: every bit of a and b reaches every bit. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 r = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) *
                          (b ^ 0xd1b54a32d192ed03u);
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* Only the spread over buckets depends on its quality. */
static inline uint64_t hash(struct str key)
{
    const char *p = key.p;
    size_t n = key.n;
    uint64_t h = n;
    if (!p)
        return mix(n, 1);
    for (; n > 16; n -= 16, p += 16)
        h = mix(read8(p) ^ h, read8(p + 8));
    if (n >= 8)
        h = mix(read8(p) ^ h, read8(p + n - 8));
    else if (n >= 4)
        h = mix(read4(p) ^ h, read4(p + n - 4));
    else if (n)
        h = mix((uint64_t)(unsigned char)p[0] << 16 |
                    (uint64_t)(unsigned char)p[n / 2] << 8 |
                    (unsigned char)p[n - 1],
                h);
    return mix(h, key.n);
}

static inline uint32_t tag_of(const struct dict *d, struct str key)
{
    uint32_t tag = (uint32_t)(hash(key) >> 32) & d->tag_mask;
    return tag ? tag : 1;
}

static inline size_t place(uint32_t tag, unsigned bits)
{
    return (size_t)tag >> (TAG_BITS - bits);
}

/* --- growing --------------------------------------------------------------*/

static void put_moved(struct dict_bucket *to, unsigned bits, uint32_t tag,
                      uint32_t id)
{
    size_t mask = ((size_t)1 << bits) - 1, i = place(tag, bits);
    unsigned empty;
    while (!(empty = lanes_words(to[i].tag, 0)))
        i = (i + 1) & mask;
    unsigned at = (unsigned)__builtin_ctz(empty);
    to[i].tag[at] = tag;
    to[i].id[at] = id;
}

static bool grow_table(struct dict *d)
{
    unsigned bits = d->buckets ? d->bits + 1 : FIRST_BITS;
    size_t n_old = d->buckets ? (size_t)1 << d->bits : 0;
    struct dict_bucket *to = mem_alloc(d->mem, table_bytes(bits));
    if (!to)
        return false;
    for (size_t i = 0; i < n_old; i++) {
        const struct dict_bucket *b = &d->buckets[i];
        for (unsigned k = 0; k < DICT_BUCKET && b->tag[k]; k++)
            put_moved(to, bits, b->tag[k], b->id[k]);
    }
    if (d->buckets)
        mem_free(d->mem, d->buckets, table_bytes(d->bits));
    d->buckets = to;
    d->bits = bits;
    return true;
}

/* At most three quarters of the places are taken. */
static inline bool room_in_table(const struct dict *d)
{
    return d->buckets && d->n < (DICT_BUCKET * (size_t)3 / 4) << d->bits;
}

static bool grow_entries(struct dict *d)
{
    size_t more = d->cap < MANY_ENTRIES ? d->cap / 2 : d->cap / 8;
    size_t cap = d->cap ? d->cap + more : FIRST_ENTRIES;
    size_t old = d->cap * sizeof *d->entries;
    struct str *p =
        mem_resize(d->mem, d->entries, old, cap * sizeof *d->entries);
    if (!p)
        return false;
    d->entries = p;
    d->cap = cap;
    return true;
}

static bool room_for_text(struct dict *d, size_t n)
{
    if (n <= d->n_free)
        return true;
    size_t size = d->n_text < MANY_TEXTS ? TEXT_BLOCK : LARGE_BLOCK;
    char *block = arena_alloc(d->texts, size);
    if (!block)
        return false;
    d->free_text = block;
    d->n_free = size;
    d->n_text += size;
    return true;
}

const char *dict_keep_text(struct dict *d, struct str s)
{
    if (!s.n)
        return "";
    if (s.n > TEXT_BLOCK / 4)
        return arena_strdup(d->texts, s.p, s.n);
    if (!room_for_text(d, s.n))
        return NULL;
    char *p = d->free_text;
    memmove(p, s.p, s.n); /* a text that waited may lie here already */
    d->free_text += s.n;
    d->n_free -= s.n;
    return p;
}

/* --- looking up -----------------------------------------------------------*/

/* The text of a new key for good: where it waited, or moved up to there. */
static const char *settle(struct dict *d, struct str key)
{
    if (!key.n || key.p != d->free_text)
        return dict_keep_text(d, key);
    d->free_text += key.n;
    d->n_free -= key.n;
    return key.p;
}

static bool add(struct dict *d, struct str key, uint32_t tag,
                struct dict_bucket *b, unsigned at, uint32_t *out)
{
    if (d->n == d->cap && !grow_entries(d))
        return false;
    const char *text = key.p ? settle(d, key) : NULL;
    if (key.p && !text)
        return false;
    *out = (uint32_t)d->n;
    d->entries[d->n] = (struct str){text, key.n};
    b->tag[at] = tag;
    b->id[at] = *out;
    d->n++;
    return true;
}

/* The first of the places in m that holds the key. */
INLINE bool find(const struct dict *d, const struct dict_bucket *b, unsigned m,
                 struct str key, uint32_t *out)
{
    for (; m; m &= m - 1) {
        uint32_t id = b->id[__builtin_ctz(m)];
        if (same_key(d->entries[id], key)) {
            *out = id;
            return true;
        }
    }
    return false;
}

INLINE bool put_tagged(struct dict *d, struct str key, uint32_t tag,
                       uint32_t *out)
{
    if (!room_in_table(d) && (dict_is_full(d) || !grow_table(d)))
        return false;
    size_t mask = ((size_t)1 << d->bits) - 1, i = place(tag, d->bits);
    for (;; i = (i + 1) & mask) {
        struct dict_bucket *b = &d->buckets[i];
        unsigned m = lanes_words(b->tag, tag), empty = lanes_words(b->tag, 0);
        if (m && find(d, b, m, key, out))
            return true;
        if (empty)
            return add(d, key, tag, b, (unsigned)__builtin_ctz(empty), out);
    }
}

bool dict_put(struct dict *d, struct str key, uint32_t *out)
{
    return put_tagged(d, key, tag_of(d, key), out);
}

/* --- batches --------------------------------------------------------------*/

/*
 * Buckets were asked for when the keys came; now what they lead to: entries,
 * then texts. Inline, because a compiler takes a function that only fetches
 * for one that does nothing, and drops the call.
 */
INLINE void fetch(const struct dict *d, const struct dict_wait *w)
{
    const struct str *at[WAITING];
    size_t n = 0;
    if (d->n < CACHED_ENTRIES)
        return;
    for (size_t i = 0; i < w->n; i++) {
        const struct dict_bucket *b =
            &d->buckets[place(w->keys[i].tag, d->bits)];
        unsigned m = lanes_words(b->tag, w->keys[i].tag);
        at[n] = &d->entries[m ? b->id[__builtin_ctz(m)] : 0];
        __builtin_prefetch(at[n]);
        n += m != 0;
    }
    for (size_t i = 0; i < n; i++)
        if (at[i]->p)
            __builtin_prefetch(at[i]->p);
}

bool dict_flush(struct dict *d, uint32_t *codes)
{
    struct dict_wait *w = d->wait;
    if (!w)
        return true;
    fetch(d, w);
    for (size_t i = 0; i < w->n; i++)
        if (!put_tagged(d, w->keys[i].key, w->keys[i].tag,
                        &codes[w->keys[i].row]))
            return false;
    w->n = w->used = 0;
    return true;
}

static bool make_room(struct dict *d, size_t n, uint32_t *codes)
{
    if (!d->wait)
        d->wait = mem_alloc(d->mem, sizeof *d->wait);
    return d->wait && dict_flush(d, codes) && room_for_text(d, n);
}

bool dict_later(struct dict *d, struct str key, uint32_t *codes, size_t row)
{
    struct dict_wait *w = d->wait;
    size_t n = key.p ? key.n : 0;
    if (n > LONG_TEXT)
        return dict_flush(d, codes) && dict_put(d, key, &codes[row]);
    if (!w || w->n == WAITING || n > d->n_free - w->used) {
        if (!make_room(d, n, codes))
            return false;
        w = d->wait;
    }
    struct waiting *x = &w->keys[w->n++];
    x->row = row;
    x->tag = tag_of(d, key);
    if (d->buckets)
        __builtin_prefetch(&d->buckets[place(x->tag, d->bits)]);
    x->key = key;
    if (!n)
        return true;
    x->key.p = d->free_text + w->used;
    copy_text(d->free_text + w->used, key.p, n);
    w->used += n;
    return true;
}
