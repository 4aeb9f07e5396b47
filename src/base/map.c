/* Hash map: see map.h. */
#include "base/map.h"

void map_init(struct map *m, struct arena *a)
{
    *m = (struct map){.arena = a};
}

static struct map_slot *probe(const struct map *m, struct str key, uint64_t h)
{
    size_t mask = m->cap - 1;
    size_t i = (size_t)h & mask;
    while (m->slots[i].key.p &&
           !(m->slots[i].hash == h && str_eq(m->slots[i].key, key)))
        i = (i + 1) & mask;
    return &m->slots[i];
}

uint64_t *map_find(const struct map *m, struct str key)
{
    if (!m->cap)
        return NULL;
    struct map_slot *s = probe(m, key, str_hash(key));
    return s->key.p ? &s->value : NULL;
}

static bool grow(struct map *m)
{
    struct map bigger = *m;
    bigger.cap = m->cap ? m->cap * 2 : 16;
    bigger.slots = NEWS(m->arena, struct map_slot, bigger.cap);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].key.p)
            *probe(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
    *m = bigger;
    return true;
}

uint64_t *map_put(struct map *m, struct str key, uint64_t init, bool *is_new)
{
    if (key.p == NULL)
        key.p = ""; /* the empty key has an address too */
    uint64_t h = str_hash(key);
    if (m->cap) {
        struct map_slot *s = probe(m, key, h);
        if (s->key.p) {
            if (is_new)
                *is_new = false;
            return &s->value;
        }
    }
    if ((m->n + 1) * 4 > m->cap * 3 && !grow(m))
        return NULL;
    struct map_slot *s = probe(m, key, h);
    *s = (struct map_slot){key, h, init};
    m->n++;
    if (is_new)
        *is_new = true;
    return &s->value;
}
