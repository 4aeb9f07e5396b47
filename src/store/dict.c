/* Dictionary under construction: see dict.h. */
#include "store/dict.h"

#include <string.h>

enum {
    TEXT_BLOCK = (1 << 16) - 16, /* sixteen fill an arena's block */
    FIRST_BITS = 8,
    MOST_BITS = 32,
    WAITING = 128,      /* keys in a batch */
    WAIT_TEXTS = 8192,  /* bytes of their texts */
    LONG_TEXT = 1 << 10 /* longer ones do not wait */
};
static const size_t most_entries = (size_t)3 << 30; /* load of 2^32 slots */

struct waiting {
    struct str key;
    size_t row;
    uint32_t tag;
};

struct dict_wait {
    size_t n, used;
    struct waiting keys[WAITING];
    char texts[WAIT_TEXTS];
};

void dict_init(struct dict *d, struct mem *m, struct arena *texts)
{
    *d = (struct dict){.mem = m, .texts = texts};
}

static size_t slot_bytes(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(struct dict_slot);
}

void dict_drop_slots(struct dict *d)
{
    if (d->slots)
        mem_free(d->mem, d->slots, slot_bytes(d->bits));
    mem_free(d->mem, d->wait, sizeof *d->wait);
    d->slots = NULL;
    d->bits = 0;
    d->wait = NULL;
}

void dict_fini(struct dict *d)
{
    dict_drop_slots(d);
    mem_free(d->mem, d->entries, d->cap * sizeof *d->entries);
    *d = (struct dict){.mem = d->mem, .texts = d->texts};
}

bool dict_is_full(const struct dict *d)
{
    return d->n >= most_entries;
}

/* --- hashing --------------------------------------------------------------*/

static uint64_t read8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static uint32_t read4(const char *p)
{
    uint32_t w;
    memcpy(&w, p, 4);
    return w;
}

/* Both halves of the product: every bit of a and b reaches every bit. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 r = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) *
                          (b ^ 0xd1b54a32d192ed03u);
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* Only the spread over slots depends on its quality. */
static uint32_t tag_of(struct str key)
{
    const char *p = key.p;
    size_t n = key.n;
    uint64_t h = n;
    if (!p)
        return (uint32_t)(mix(n, 1) >> 32);
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
    return (uint32_t)(mix(h, key.n) >> 32);
}

static size_t place(uint32_t tag, unsigned bits)
{
    return (size_t)tag >> (MOST_BITS - bits);
}

/* --- growing --------------------------------------------------------------*/

static bool grow_slots(struct dict *d)
{
    unsigned bits = d->slots ? d->bits + 1 : FIRST_BITS;
    size_t n_old = d->slots ? (size_t)1 << d->bits : 0;
    size_t mask = ((size_t)1 << bits) - 1;
    struct dict_slot *slots = mem_alloc(d->mem, slot_bytes(bits));
    if (!slots)
        return false;
    for (size_t old = 0; old < n_old; old++) {
        if (!d->slots[old].id_plus_1)
            continue;
        size_t i = place(d->slots[old].tag, bits);
        while (slots[i].id_plus_1)
            i = (i + 1) & mask;
        slots[i] = d->slots[old];
    }
    if (d->slots)
        mem_free(d->mem, d->slots, slot_bytes(d->bits));
    d->slots = slots;
    d->bits = bits;
    return true;
}

static bool room_in_slots(struct dict *d)
{
    return d->slots && (d->n + 1) * 4 <= ((size_t)1 << d->bits) * 3;
}

static bool grow_entries(struct dict *d)
{
    enum { FIRST = 1 << (FIRST_BITS - 1) };
    size_t cap = d->cap ? d->cap + d->cap / 2 : FIRST;
    size_t old = d->cap * sizeof *d->entries;
    struct str *p =
        mem_resize(d->mem, d->entries, old, cap * sizeof *d->entries);
    if (!p)
        return false;
    d->entries = p;
    d->cap = cap;
    return true;
}

const char *dict_keep_text(struct dict *d, struct str s)
{
    if (!s.n)
        return "";
    if (s.n > TEXT_BLOCK / 4)
        return arena_strdup(d->texts, s.p, s.n);
    if (s.n > d->n_free) {
        char *block = arena_alloc(d->texts, TEXT_BLOCK);
        if (!block)
            return NULL;
        d->free_text = block;
        d->n_free = TEXT_BLOCK;
    }
    char *p = d->free_text;
    memcpy(p, s.p, s.n);
    d->free_text += s.n;
    d->n_free -= s.n;
    return p;
}

/* --- looking up -----------------------------------------------------------*/

static bool add(struct dict *d, struct str key, uint32_t tag, size_t slot,
                uint32_t *out)
{
    if (d->n == d->cap && !grow_entries(d))
        return false;
    const char *text = key.p ? dict_keep_text(d, key) : NULL;
    if (key.p && !text)
        return false;
    *out = (uint32_t)d->n;
    d->entries[d->n] = (struct str){text, key.n};
    d->slots[slot] = (struct dict_slot){tag, *out + 1};
    d->n++;
    return true;
}

static bool same_key(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    return a.p && b.p ? memcmp(a.p, b.p, a.n) == 0 : !a.p && !b.p;
}

static bool put_tagged(struct dict *d, struct str key, uint32_t tag,
                       uint32_t *out)
{
    if (!room_in_slots(d) && (dict_is_full(d) || !grow_slots(d)))
        return false;
    size_t mask = ((size_t)1 << d->bits) - 1, i = place(tag, d->bits);
    for (; d->slots[i].id_plus_1; i = (i + 1) & mask) {
        uint32_t id = d->slots[i].id_plus_1 - 1;
        if (d->slots[i].tag == tag && same_key(d->entries[id], key)) {
            *out = id;
            return true;
        }
    }
    return add(d, key, tag, i, out);
}

bool dict_put(struct dict *d, struct str key, uint32_t *out)
{
    return put_tagged(d, key, tag_of(key), out);
}

/* --- batches --------------------------------------------------------------*/

/* The entry that the first slot with this tag leads to, if it is near. */
static inline __attribute__((always_inline)) const struct str *
likely(const struct dict *d, uint32_t tag)
{
    enum { NEAR = 8 };
    size_t mask = ((size_t)1 << d->bits) - 1, at = place(tag, d->bits);
    for (size_t i = 0; i < NEAR; i++) {
        const struct dict_slot *s = &d->slots[(at + i) & mask];
        if (!s->id_plus_1)
            return NULL;
        if (s->tag == tag)
            return &d->entries[s->id_plus_1 - 1];
    }
    return NULL;
}

/* Slots were asked for when the keys came; now what they lead to. */
static inline __attribute__((always_inline)) void fetch(const struct dict *d)
{
    const struct str *at[WAITING];
    const struct dict_wait *w = d->wait;
    if (!d->slots)
        return;
    for (size_t i = 0; i < w->n; i++) {
        at[i] = likely(d, w->keys[i].tag);
        if (at[i])
            __builtin_prefetch(at[i]);
    }
    for (size_t i = 0; i < w->n; i++)
        if (at[i] && at[i]->p)
            __builtin_prefetch(at[i]->p);
}

bool dict_flush(struct dict *d, uint32_t *codes)
{
    struct dict_wait *w = d->wait;
    if (!w)
        return true;
    fetch(d);
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
    if (!d->wait)
        return false;
    bool room = d->wait->n < WAITING && d->wait->used + n <= WAIT_TEXTS;
    return room || dict_flush(d, codes);
}

bool dict_later(struct dict *d, struct str key, uint32_t *codes, size_t row)
{
    size_t n = key.p ? key.n : 0;
    if (n > LONG_TEXT)
        return dict_put(d, key, &codes[row]);
    if (!make_room(d, n, codes))
        return false;
    struct dict_wait *w = d->wait;
    struct waiting *x = &w->keys[w->n++];
    *x = (struct waiting){key, row, tag_of(key)};
    if (d->slots)
        __builtin_prefetch(&d->slots[place(x->tag, d->bits)]);
    if (!key.p)
        return true;
    x->key.p = memcpy(w->texts + w->used, key.p, n);
    w->used += n;
    return true;
}
