/* Open addressing with linear probing, at most three quarters full. */
#include "release/key_set.h"

void key_set_init(struct key_set *s, struct arena *a)
{
    *s = (struct key_set){.arena = a};
    map_init(&s->map, a);
}

static struct key_number *probe(const struct key_set *s, int64_t key)
{
    uint64_t h = (uint64_t)key * 0x9e3779b97f4a7c15u;
    size_t mask = s->cap - 1, i = (size_t)(h ^ h >> 32) & mask;
    while (s->slots[i].n && s->slots[i].key != key)
        i = (i + 1) & mask;
    return &s->slots[i];
}

uint64_t key_set_find(const struct key_set *s, int64_t key)
{
    return s->cap ? probe(s, key)->n : 0;
}

static bool grow(struct key_set *s)
{
    struct key_set bigger = *s;
    bigger.cap = s->cap ? s->cap * 2 : 64;
    bigger.slots = NEWS(s->arena, struct key_number, bigger.cap);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < s->cap; i++)
        if (s->slots[i].n)
            *probe(&bigger, s->slots[i].key) = s->slots[i];
    *s = bigger;
    return true;
}

bool key_set_add(struct key_set *s, int64_t key, uint64_t by, bool *first)
{
    if ((s->n + 1) * 4 > s->cap * 3 && !grow(s))
        return false;
    struct key_number *p = probe(s, key);
    *first = p->n == 0;
    s->n += *first;
    p->key = key;
    p->n += by; /* PRIVACY: of 32 bits each, never as many as would wrap */
    return true;
}
