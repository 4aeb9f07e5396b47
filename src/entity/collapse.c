/*
 * Collapse (PROOF.md, claim 2): entities with at most t need no constraint, so
 * a result is known by its heavy owners alone. Results with the same heavy
 * owners are one column with the sum of their weights; results without any
 * are counted outside.
 *
 * With witnesses an answer is known by the sets of heavy owners of its
 * witnesses. An answer with a witness free of heavy owners counts fully, and
 * answers with the same sets are one group.
 *
 * The signature of a group is its sets, sorted, each with its length before
 * it; a hash table finds the group of a signature.
 * Cost: one pass over the tuples, plus a sort of each answer's witnesses.
 */
#include "entity/collapse.h"

#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

typedef VEC(uint32_t) vec32;

struct collapse {
    const struct pack_input *in;
    struct arena *a;
    uint64_t t;
    uint32_t *rank; /* of entities among the heavy ones, or PACK_NONE */
    uint32_t rows;
    vec32 sign;           /* signatures, one after the other */
    vec32 at;             /* where the signature of a group begins */
    VEC(uint64_t) weight; /* of groups */
    uint32_t *slot;       /* hash table of groups, PACK_NONE: empty */
    size_t slots;         /* a power of two */
    vec32 now;            /* the signature at hand */
    u128 base;
};

unsigned pack_owners_of(const struct pack_input *in, size_t i,
                        uint32_t out[PACK_OWNERS_MAX])
{
    const uint32_t *id = in->ids + i * in->k;
    unsigned n = 0;
    for (unsigned j = 0; j < in->k; j++) {
        unsigned at = n;
        while (at > 0 && out[at - 1] > id[j])
            at--;
        if (id[j] == PACK_NONE || (at > 0 && out[at - 1] == id[j]))
            continue;
        memmove(out + at + 1, out + at, (n - at) * sizeof *out);
        out[at] = id[j];
        n++;
    }
    return n;
}

/* The heavy owners of a tuple, as rows. */
static unsigned heavy_of(const struct collapse *c, size_t i,
                         uint32_t out[PACK_OWNERS_MAX])
{
    uint32_t id[PACK_OWNERS_MAX];
    unsigned n = pack_owners_of(c->in, i, id), m = 0;
    for (unsigned j = 0; j < n; j++)
        if (c->rank[id[j]] != PACK_NONE)
            out[m++] = c->rank[id[j]];
    return m;
}

static uint64_t hash(const uint32_t *p, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static size_t sign_length(const struct collapse *c, uint32_t g)
{
    size_t end = g + 1 < c->at.n ? c->at.p[g + 1] : c->sign.n;
    return end - c->at.p[g];
}

/* The place of the signature at hand: its group or an empty slot. */
static uint32_t *find(struct collapse *c, const uint32_t *p, size_t n)
{
    size_t i = hash(p, n) & (c->slots - 1);
    for (; c->slot[i] != PACK_NONE; i = (i + 1) & (c->slots - 1)) {
        uint32_t g = c->slot[i];
        if (sign_length(c, g) == n &&
            memcmp(c->sign.p + c->at.p[g], p, n * sizeof *p) == 0)
            break;
    }
    return &c->slot[i];
}

static bool grow(struct collapse *c)
{
    c->slots = c->slots ? 2 * c->slots : 1024;
    c->slot = NEWS(c->a, uint32_t, c->slots);
    if (!c->slot)
        return false;
    memset(c->slot, 0xff, c->slots * sizeof *c->slot);
    for (uint32_t g = 0; g < c->at.n; g++)
        *find(c, c->sign.p + c->at.p[g], sign_length(c, g)) = g;
    return true;
}

/* A new group for the signature at hand. */
static bool append(struct collapse *c, uint32_t *place)
{
    *place = (uint32_t)c->at.n;
    if (!VEC_PUSH(c->a, &c->at, (uint32_t)c->sign.n) ||
        !VEC_PUSH(c->a, &c->weight, 0))
        return false;
    for (size_t i = 0; i < c->now.n; i++)
        if (!VEC_PUSH(c->a, &c->sign, c->now.p[i]))
            return false;
    return c->sign.n < UINT32_MAX / 8; /* arcs of the flow are 32 bits wide */
}

/* Adds a weight to the group of the signature at hand. */
static bool add(struct collapse *c, u128 w)
{
    if (2 * c->at.n >= c->slots && !grow(c))
        return false;
    uint32_t *place = find(c, c->now.p, c->now.n);
    if (*place == PACK_NONE && !append(c, place))
        return false;
    /* a column cannot hold more than t; the columns of a group together can */
    uint64_t *sum = &c->weight.p[*place];
    uint64_t most = c->in->answer ? UINT32_MAX : c->t;
    *sum = w >= most - *sum ? most : *sum + (uint64_t)w;
    return true;
}

static bool put_set(struct collapse *c, const uint32_t *row, unsigned n)
{
    if (!VEC_PUSH(c->a, &c->now, n))
        return false;
    for (unsigned j = 0; j < n; j++)
        if (!VEC_PUSH(c->a, &c->now, row[j]))
            return false;
    return true;
}

unsigned pack_bits(u128 v)
{
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    return high  ? 128 - (unsigned)__builtin_clzll(high)
           : low ? 64 - (unsigned)__builtin_clzll(low)
                 : 0;
}

static bool put_results(struct collapse *c, const struct by_load *order)
{
    uint32_t row[PACK_OWNERS_MAX];
    bool sorted = order && order->tuple;
    unsigned bits = pack_bits(c->t);
    size_t looked = sorted ? order->n[bits] : c->in->n;
    c->base = sorted ? order->rest[bits] : 0;
    for (size_t at = 0; at < looked; at++) {
        size_t i = sorted ? order->tuple[at] : at;
        u128 w = c->in->weight ? c->in->weight[i] : 1;
        unsigned n = w ? heavy_of(c, i, row) : 0;
        c->now.n = 0;
        if (n == 0)
            c->base = u128_add_inf(c->base, w);
        else if (!put_set(c, row, n) || !add(c, w))
            return false;
    }
    return true;
}

/* One set of rows, filled up with NONE. */
struct set {
    uint32_t n, row[PACK_OWNERS_MAX];
};

static int by_rows(const void *a, const void *b)
{
    const struct set *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->row[i] != y->row[i])
            return x->row[i] < y->row[i] ? -1 : 1;
    return 0;
}

/* The sets of an answer's witnesses; 0: one of them is free. */
static size_t sets_of(const struct collapse *c, const struct by_answer *by,
                      uint32_t answer, struct set *out)
{
    size_t n = 0;
    for (uint32_t i = by->first[answer]; i < by->first[answer + 1]; i++) {
        out[n].n = heavy_of(c, by->tuple[i], out[n].row);
        if (out[n++].n == 0)
            return 0;
    }
    qsort(out, n, sizeof *out, by_rows);
    return n;
}

static bool put_answer(struct collapse *c, const struct set *set, size_t n)
{
    c->now.n = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_rows(set + i - 1, set + i) != 0)
            if (!put_set(c, set[i].row, set[i].n))
                return false;
    return add(c, 1);
}

static bool put_answers(struct collapse *c, const struct by_answer *by)
{
    uint32_t most = 1;
    for (uint32_t p = 0; p < c->in->answers; p++)
        if (by->first[p + 1] - by->first[p] > most)
            most = by->first[p + 1] - by->first[p];
    struct set *set = NEWS(c->a, struct set, most);
    for (uint32_t p = 0; set && p < c->in->answers; p++) {
        if (by->first[p] == by->first[p + 1])
            continue;
        size_t n = sets_of(c, by, p, set);
        if (n == 0)
            c->base++;
        else if (!put_answer(c, set, n))
            return false;
    }
    return set != NULL;
}

/* Which entities are heavy: more than t, so every one that could matter. */
static bool rank_heavy(struct collapse *c, const u128 *load)
{
    c->rank = NEWS(c->a, uint32_t, c->in->entities);
    for (uint32_t u = 0; c->rank && u < c->in->entities; u++)
        c->rank[u] = load[u] > c->t ? c->rows++ : PACK_NONE;
    return c->rank != NULL;
}

/* Spreads the signatures out into columns. */
static bool spread(const struct collapse *c, struct packing *out)
{
    size_t sets = 0, owners = 0;
    for (size_t i = 0; i < c->sign.n; i += 1 + c->sign.p[i])
        sets++, owners += c->sign.p[i];
    uint32_t *first = NEWS(c->a, uint32_t, c->at.n + 1);
    uint32_t *start = NEWS(c->a, uint32_t, sets + 1);
    uint32_t *owner = NEWS(c->a, uint32_t, owners);
    if (!first || !start || !owner)
        return false;
    uint32_t col = 0, to = 0;
    for (uint32_t g = 0; g < c->at.n; g++) {
        const uint32_t *p = c->sign.p + c->at.p[g];
        const uint32_t *end = p + sign_length(c, g);
        for (first[g] = col; p < end; p += 1 + p[0]) {
            memcpy(owner + to, p + 1, p[0] * sizeof *p);
            start[col++] = to;
            to += p[0];
        }
    }
    first[c->at.n] = col;
    start[col] = to;
    *out = (struct packing){c->t,  c->rows, (uint32_t)c->at.n, col, first,
                            start, owner,   c->weight.p};
    return true;
}

enum status packing_collapse(const struct pack_input *in, const u128 *load,
                             const struct by_answer *by,
                             const struct by_load *order, uint64_t t,
                             struct arena *a, struct packing *out, u128 *base,
                             struct err *err)
{
    struct collapse c = {.in = in, .a = a, .t = t};
    if (!rank_heavy(&c, load) ||
        !(in->answer ? put_answers(&c, by) : put_results(&c, order)) ||
        !spread(&c, out))
        return err_nomem(err);
    *base = c.base;
    /* Light entities hold at most t each; more means that a result without
     * owner was passed off as one of a light entity. */
    return c.base >> 96 ? err_internal(err, "packing_collapse") : OK;
}
