/* Dictionary under construction: see dict.h. */
#include "store/dict.h"

#include <string.h>

enum { TEXT_BLOCK = 1 << 16, FIRST_SLOTS = 256 };

void dict_init(struct dict *d, struct mem *m, struct arena *texts)
{
    *d = (struct dict){.mem = m, .texts = texts};
}

void dict_drop_slots(struct dict *d)
{
    mem_free(d->mem, d->slots, d->n_slots * sizeof *d->slots);
    d->slots = NULL;
    d->n_slots = 0;
}

void dict_fini(struct dict *d)
{
    dict_drop_slots(d);
    mem_free(d->mem, d->entries, d->cap * sizeof *d->entries);
    *d = (struct dict){.mem = d->mem, .texts = d->texts};
}

static uint64_t mix(uint64_t h)
{
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 29);
}

/* Eight bytes at a time; quality matters only for the spread over slots. */
static uint64_t head_of(struct str s)
{
    uint64_t h = s.n, w = 0;
    const char *p = s.p;
    size_t n = s.n;
    if (n <= 8) {
        if (n)
            memcpy(&w, p, n);
        return w;
    }
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&w, p, 8);
        h = mix(h ^ w);
    }
    w = 0;
    memcpy(&w, p, n);
    return mix(h ^ w);
}

static size_t place(const struct dict_slot *s, size_t n_slots)
{
    return (size_t)mix(s->head + s->n) & (n_slots - 1);
}

static bool grow_slots(struct dict *d)
{
    size_t n = d->n_slots ? d->n_slots * 2 : FIRST_SLOTS;
    struct dict_slot *slots = mem_alloc(d->mem, n * sizeof *slots);
    if (!slots)
        return false;
    for (size_t old = 0; old < d->n_slots; old++) {
        if (!d->slots[old].id_plus_1)
            continue;
        size_t i = place(&d->slots[old], n);
        while (slots[i].id_plus_1)
            i = (i + 1) & (n - 1);
        slots[i] = d->slots[old];
    }
    dict_drop_slots(d);
    d->slots = slots;
    d->n_slots = n;
    return true;
}

static bool grow_entries(struct dict *d)
{
    size_t cap = d->cap ? d->cap * 2 : FIRST_SLOTS / 2;
    size_t old = d->cap * sizeof *d->entries;
    struct str *p =
        mem_resize(d->mem, d->entries, old, cap * sizeof *d->entries);
    if (!p)
        return false;
    d->entries = p;
    d->cap = cap;
    return true;
}

static const char *keep_text(struct dict *d, struct str s)
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

static bool add(struct dict *d, struct str s, struct dict_slot key, size_t slot,
                uint32_t *out)
{
    if (d->n >= UINT32_MAX - 1)
        return false;
    if (d->n == d->cap && !grow_entries(d))
        return false;
    const char *text = keep_text(d, s);
    if (!text)
        return false;
    *out = (uint32_t)d->n;
    d->entries[d->n] = (struct str){text, s.n};
    key.id_plus_1 = *out + 1;
    d->slots[slot] = key;
    d->n++;
    return true;
}

bool dict_put(struct dict *d, struct str s, uint32_t *out, bool *is_new)
{
    if (s.n >= UINT32_MAX)
        return false;
    if ((d->n + 1) * 4 > d->n_slots * 3 && !grow_slots(d))
        return false;
    struct dict_slot key = {.head = head_of(s), .n = (uint32_t)s.n};
    size_t mask = d->n_slots - 1, i = place(&key, d->n_slots);
    for (; d->slots[i].id_plus_1; i = (i + 1) & mask) {
        if (d->slots[i].head != key.head || d->slots[i].n != key.n)
            continue;
        uint32_t id = d->slots[i].id_plus_1 - 1;
        if (s.n <= 8 || memcmp(d->entries[id].p, s.p, s.n) == 0) {
            *out = id;
            *is_new = false;
            return true;
        }
    }
    *is_new = true;
    return add(d, s, key, i, out);
}
