/*
 * Results by the sets of their MARKED ids: see census.h.
 *
 * Messages up the tree are tables of (value of the link, set, count). Most
 * values have the empty set alone, and that is an array; the others are chained
 * behind it. Sets are numbered, and so are unions of two.
 */
#include "join/census_int.h"

#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

/* A set with its count, of one value of a link. */
struct census_part {
    uint32_t key, set, next; /* next: of the same value, + 1 */
    u128 count;
};

struct census_sum {
    u128 *plain;    /* by value: of the empty set */
    uint32_t *head; /* by value: first part + 1 */
    VEC(struct census_part) part;
    uint32_t *slot; /* hash table: part + 1 */
    uint64_t slots;
};

struct census_lister {
    struct join_census *c;
    const uint8_t *mark;
    struct arena a;
    struct census_sum *sum; /* by node */
    VEC(uint32_t) ids;      /* sets, one after the other, rising */
    VEC(uint32_t) first;    /* of each set, and the end */
    uint32_t *slot;         /* hash table of sets: set + 1 */
    uint64_t slots;
    struct union_known {
        uint32_t a, b, both;
    } * known; /* a cache */
    size_t most, parts;
    uint64_t work;
    bool too_much;
    struct err *err;
};
enum { KNOWN = 1 << 12 };

/* --- sets ----------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint32_t size_of(const struct census_lister *l, uint32_t set)
{
    return l->first.p[set + 1] - l->first.p[set];
}

static uint64_t place_of(const struct census_lister *l, const uint32_t *ids,
                         uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = mix(h, ids[i]);
    for (h &= l->slots - 1; l->slot[h]; h = (h + 1) & (l->slots - 1)) {
        uint32_t set = l->slot[h] - 1;
        if (size_of(l, set) == n &&
            (!n || !memcmp(l->ids.p + l->first.p[set], ids, n * sizeof *ids)))
            break;
    }
    return h;
}

static enum status grow_sets(struct census_lister *l)
{
    l->slots = l->slots ? 4 * l->slots : 1024;
    l->slot = NEWS(&l->a, uint32_t, l->slots);
    if (!l->slot)
        return err_nomem(l->err);
    for (uint32_t s = 0; s + 1 < l->first.n; s++)
        l->slot[place_of(l, l->ids.p + l->first.p[s], size_of(l, s))] = s + 1;
    return OK;
}

static enum status number_set(struct census_lister *l, const uint32_t *ids,
                              uint32_t n, uint32_t *out)
{
    if (2 * l->first.n >= l->slots)
        TRY(grow_sets(l));
    uint32_t *slot = &l->slot[place_of(l, ids, n)];
    if (!*slot) {
        for (uint32_t i = 0; i < n; i++)
            if (!VEC_PUSH(&l->a, &l->ids, ids[i]))
                return err_nomem(l->err);
        if (!VEC_PUSH(&l->a, &l->first, (uint32_t)l->ids.n))
            return err_nomem(l->err);
        *slot = (uint32_t)l->first.n - 1;
    }
    *out = *slot - 1;
    return OK;
}

static uint32_t merge_ids(const uint32_t *a, uint32_t n, const uint32_t *b,
                          uint32_t m, uint32_t *out)
{
    uint32_t to = 0;
    for (uint32_t i = 0, k = 0; i < n || k < m;) {
        uint32_t v = k == m || (i < n && a[i] <= b[k]) ? a[i] : b[k];
        i += i < n && a[i] == v;
        k += k < m && b[k] == v;
        out[to++] = v;
    }
    return to;
}

static enum status unite(struct census_lister *l, uint32_t a, uint32_t b,
                         uint32_t *out)
{
    uint32_t ids[32];
    struct union_known *k = &l->known[mix(a, b) & (KNOWN - 1)];
    if (!a || !b || a == b) {
        *out = a ? a : b;
        return OK;
    }
    if (k->a != a || k->b != b) {
        uint32_t n = merge_ids(l->ids.p + l->first.p[a], size_of(l, a),
                               l->ids.p + l->first.p[b], size_of(l, b), ids);
        TRY(number_set(l, ids, n, &k->both));
        k->a = a;
        k->b = b;
    }
    *out = k->both;
    return OK;
}

/* --- sums ----------------------------------------------------------------- */

static uint64_t find_part(const struct census_sum *s, uint32_t key,
                          uint32_t set)
{
    uint64_t h = mix(key, set) & (s->slots - 1);
    for (; s->slot[h]; h = (h + 1) & (s->slots - 1)) {
        const struct census_part *p = &s->part.p[s->slot[h] - 1];
        if (p->key == key && p->set == set)
            break;
    }
    return h;
}

static enum status grow_parts(struct census_lister *l, struct census_sum *s)
{
    s->slots = s->slots ? 4 * s->slots : 256;
    s->slot = NEWS(&l->a, uint32_t, s->slots);
    if (!s->slot)
        return err_nomem(l->err);
    for (size_t i = 0; i < s->part.n; i++)
        s->slot[find_part(s, s->part.p[i].key, s->part.p[i].set)] =
            (uint32_t)i + 1;
    return OK;
}

static enum status add_part(struct census_lister *l, struct census_sum *s,
                            uint32_t key, uint32_t set, u128 count)
{
    if (!set) {
        s->plain[key] = count_add(s->plain[key], count);
        return OK;
    }
    if (2 * s->part.n >= s->slots)
        TRY(grow_parts(l, s));
    uint32_t *slot = &s->slot[find_part(s, key, set)];
    if (!*slot) {
        struct census_part p = {key, set, s->head[key], 0};
        l->too_much = l->too_much || ++l->parts > l->most;
        if (!VEC_PUSH(&l->a, &s->part, p))
            return err_nomem(l->err);
        *slot = s->head[key] = (uint32_t)s->part.n;
    }
    u128 *to = &s->part.p[*slot - 1].count;
    *to = count_add(*to, count);
    return OK;
}

/* --- rows ----------------------------------------------------------------- */

/* The set of a row's own ids. */
static enum status own_set(struct census_lister *l, const struct census_node *n,
                           uint32_t i, uint32_t *out)
{
    uint32_t ids[16], m = 0;
    for (uint32_t r = 0; r < n->n_roles; r++) {
        uint32_t u = n->who[r][i], at = m, same = 0;
        if (l->mark[u] != CENSUS_MARKED)
            continue;
        for (; at > 0 && ids[at - 1] >= u; at--)
            same |= ids[at - 1] == u;
        if (same)
            continue;
        memmove(ids + at + 1, ids + at, (m - at) * sizeof *ids);
        ids[at] = u;
        m++;
    }
    return number_set(l, ids, m, out);
}

/* Kid k and those after it, one choice of a part each. */
static enum status choose(struct census_lister *l, uint32_t at, uint32_t i,
                          uint32_t k, uint32_t set, u128 count)
{
    const struct census_node *n = &l->c->node[at];
    if (++l->work > (uint64_t)64 * l->most)
        l->too_much = true;
    if (l->too_much || !count)
        return OK;
    if (k == n->n_kids)
        return add_part(l, &l->sum[at], n->up ? n->up[i] : 0, set, count);
    const struct census_sum *s = &l->sum[n->kid[k]];
    uint32_t key = n->kid_key[k][i], both;
    TRY(choose(l, at, i, k + 1, set, count_mul(count, s->plain[key])));
    for (uint32_t p = s->head[key]; p && !l->too_much;
         p = s->part.p[p - 1].next) {
        const struct census_part *part = &s->part.p[p - 1];
        u128 times = part->count;
        TRY(unite(l, set, part->set, &both));
        TRY(choose(l, at, i, k + 1, both, count_mul(count, times)));
    }
    return OK;
}

static bool left_out(const struct census_lister *l, const struct census_node *n,
                     uint32_t i)
{
    for (uint32_t r = 0; r < n->n_roles; r++)
        if (l->mark[n->who[r][i]] == CENSUS_OUT)
            return true;
    return false;
}

static enum status sum_node(struct census_lister *l, uint32_t at)
{
    const struct census_node *n = &l->c->node[at];
    struct census_sum *s = &l->sum[at];
    s->plain = NEWS(&l->a, u128, census_links(n));
    s->head = NEWS(&l->a, uint32_t, census_links(n));
    if (!s->plain || !s->head)
        return err_nomem(l->err);
    s->plain[census_one(n)] = 1;
    for (uint32_t i = 0; i < n->n && !l->too_much; i++) {
        uint32_t set;
        if (left_out(l, n, i))
            continue;
        l->work -= l->work > n->n_kids ? n->n_kids + 1 : 0; /* rows are free */
        TRY(own_set(l, n, i, &set));
        TRY(choose(l, at, i, 0, set, n->times[i]));
    }
    return join_cancelled(l->c->j)
               ? err_set(l->err, E_CANCELLED, "counting was stopped")
               : OK;
}

static enum status list_all(struct census_lister *l)
{
    const uint32_t none = 0;
    uint32_t empty;
    l->sum = NEWS(&l->a, struct census_sum, l->c->n);
    l->known = NEWS(&l->a, struct union_known, KNOWN);
    if (!l->sum || !l->known || !VEC_PUSH(&l->a, &l->first, 0))
        return err_nomem(l->err);
    TRY(number_set(l, &none, 0, &empty));
    for (uint32_t at = 0; at < l->c->n && !l->too_much; at++)
        TRY(sum_node(l, l->c->order[at]));
    return OK;
}

enum status
join_census_list(struct join_census *c, const uint8_t *mark, size_t most,
                 enum status (*each)(void *ctx, const uint32_t *ids, uint32_t n,
                                     u128 count, struct err *err),
                 void *ctx, bool *done, struct err *err)
{
    struct census_lister l = {.c = c, .mark = mark, .most = most, .err = err};
    arena_init(&l.a, c->j->mem);
    l.a.wipe = true;
    enum status s = list_all(&l);
    *done = !l.too_much;
    if (s == OK && *done) {
        const struct census_sum *sum = &l.sum[c->order[c->n - 1]];
        s = each(ctx, l.ids.p, 0, sum->plain[0], err);
        for (size_t i = 0; s == OK && i < sum->part.n; i++) {
            uint32_t set = sum->part.p[i].set;
            s = each(ctx, l.ids.p + l.first.p[set], size_of(&l, set),
                     sum->part.p[i].count, err);
        }
    }
    arena_fini(&l.a);
    return s;
}
