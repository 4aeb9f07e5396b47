/* Rows by equal values: see partition.h. */
#include "store/partition.h"

#include <string.h>

enum { PLACES_A_ROW = 4, FIRST_BITS = 10 };
#define NONE UINT32_MAX

enum status partition_new(struct mem *m, size_t n_rows, struct partition *out,
                          struct err *err)
{
    *out = (struct partition){.mem = m, .n_rows = n_rows};
    if (n_rows >= NONE)
        return err_set(err, E_LIMIT, "a table has more than 2^32 - 2 rows");
    out->group = mem_alloc(m, n_rows * sizeof *out->group);
    out->n_groups = n_rows ? 1 : 0;
    return out->group ? OK : store_nomem(m, err);
}

void partition_free(struct partition *p)
{
    mem_free(p->mem, p->group, p->n_rows * sizeof *p->group);
    p->group = NULL;
}

/* Equal values have equal words. */
static uint64_t word_at(const struct store_column *c, size_t row)
{
    if (c->code)
        return c->code[row];
    if (column_has_ints(c))
        return (uint64_t)column_int(c, row);
    double d = c->f64[row];
    uint64_t w;
    if (d != d)
        return UINT64_MAX; /* one NaN, which is none of the others */
    d = d == 0 ? 0 : d;
    memcpy(&w, &d, sizeof w);
    return w;
}

/* --- by a table
 * -------------------------------------------------------------*/

/* Words lie in [*min, *min + *n); false: no such range is known. */
static bool word_range(const struct store_column *c, size_t n_rows,
                       uint64_t *min, uint64_t *n)
{
    *min = 0;
    *n = c->n_dict;
    if (c->code)
        return true;
    if (!column_has_ints(c) || !n_rows)
        return false;
    int64_t lo = column_int(c, 0), hi = lo;
    for (size_t r = 1; r < n_rows; r++) {
        int64_t v = column_int(c, r);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    *min = (uint64_t)lo;
    *n = (uint64_t)hi - (uint64_t)lo + 1;
    return *n != 0;
}

/* A place for every pair of group and word, and one for NULL. */
static enum status by_table(struct partition *p, const struct store_column *c,
                            uint64_t min, size_t n, struct err *err)
{
    size_t size = p->n_groups * (n + 1) * sizeof(uint32_t);
    uint32_t *id = mem_alloc(p->mem, size), groups = 0;
    if (!id)
        return store_nomem(p->mem, err);
    for (size_t r = 0; r < p->n_rows; r++) {
        size_t at = column_is_null(c, r) ? n : (size_t)(word_at(c, r) - min);
        uint32_t *place = &id[p->group[r] * (n + 1) + at];
        if (!*place)
            *place = ++groups;
        p->group[r] = *place - 1;
    }
    mem_free(p->mem, id, size);
    p->n_groups = groups;
    return OK;
}

/* --- by hashing
 * ---------------------------------------------------------------*/

struct pair {
    uint64_t word;
    uint32_t group;
    bool is_null;
};

struct pair_table {
    struct mem *mem;
    struct pair *pairs; /* of each new group */
    size_t n, cap;
    uint32_t *slots; /* 2^bits: new group + 1, or 0 */
    unsigned bits;
};

static size_t place_of(const struct pair *x, unsigned bits)
{
    unsigned __int128 h = (unsigned __int128)(x->word ^ 0x9e3779b97f4a7c15u) *
                          (0xd1b54a32d192ed03u + 2 * (uint64_t)x->group);
    uint64_t w = (uint64_t)h ^ (uint64_t)(h >> 64);
    return (size_t)((w * 0xff51afd7ed558ccdu + x->is_null) >> (64 - bits));
}

static void put_slot(struct pair_table *t, uint32_t group)
{
    size_t mask = ((size_t)1 << t->bits) - 1;
    size_t i = place_of(&t->pairs[group], t->bits);
    while (t->slots[i])
        i = (i + 1) & mask;
    t->slots[i] = group + 1;
}

static bool grow_slots(struct pair_table *t)
{
    unsigned bits = t->slots ? t->bits + 1 : FIRST_BITS;
    uint32_t *slots = mem_alloc(t->mem, ((size_t)4) << bits);
    if (!slots)
        return false;
    mem_free(t->mem, t->slots, ((size_t)4) << t->bits);
    t->slots = slots;
    t->bits = bits;
    for (size_t g = 0; g < t->n; g++)
        put_slot(t, (uint32_t)g);
    return true;
}

static bool grow_pairs(struct pair_table *t)
{
    size_t cap = t->cap ? t->cap + t->cap / 2 : 512;
    struct pair *p =
        mem_resize(t->mem, t->pairs, t->cap * sizeof *p, cap * sizeof *p);
    if (!p)
        return false;
    t->pairs = p;
    t->cap = cap;
    return true;
}

/* A slot in use names a pair, so a is none of no pairs. */
static bool same_pair(const struct pair *a, const struct pair *b)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    return a->word == b->word && a->group == b->group &&
           a->is_null == b->is_null;
}

/* The group of a pair, a new one if need be; false: no memory. */
static bool find_group(struct pair_table *t, const struct pair *x,
                       uint32_t *out)
{
    if ((!t->slots || (t->n + 1) * 3 > ((size_t)1 << t->bits) * 2) &&
        !grow_slots(t))
        return false;
    size_t mask = ((size_t)1 << t->bits) - 1, i = place_of(x, t->bits);
    for (; t->slots[i]; i = (i + 1) & mask) {
        *out = t->slots[i] - 1;
        if (same_pair(&t->pairs[*out], x))
            return true;
    }
    if (t->n == t->cap && !grow_pairs(t))
        return false;
    t->pairs[t->n] = *x;
    *out = (uint32_t)t->n++;
    t->slots[i] = *out + 1;
    return true;
}

static enum status by_hashing(struct partition *p, const struct store_column *c,
                              struct err *err)
{
    struct pair_table t = {.mem = p->mem};
    bool ok = true;
    for (size_t r = 0; ok && r < p->n_rows; r++) {
        bool is_null = column_is_null(c, r);
        struct pair x = {is_null ? 0 : word_at(c, r), p->group[r], is_null};
        ok = find_group(&t, &x, &p->group[r]);
    }
    p->n_groups = t.n;
    mem_free(p->mem, t.pairs, t.cap * sizeof *t.pairs);
    mem_free(p->mem, t.slots, ((size_t)4) << t.bits);
    return ok ? OK : store_nomem(p->mem, err);
}

enum status partition_refine(struct partition *p, const struct store_column *c,
                             struct err *err)
{
    uint64_t min, n, most = (uint64_t)p->n_rows * PLACES_A_ROW + 1024;
    if (!p->n_rows)
        return OK;
    if (word_range(c, p->n_rows, &min, &n) && n < most &&
        (n + 1) * p->n_groups <= most)
        return by_table(p, c, min, (size_t)n, err);
    return by_hashing(p, c, err);
}
