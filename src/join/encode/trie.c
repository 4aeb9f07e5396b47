/*
 * Tries: a relation sorted by its columns in a given order, with an offset
 * table over the ids of the first column. Built when first asked for, kept
 * for all later requests. The order in which a relation is stored costs only
 * the offset table.
 *
 * Cost: O(rows + ids) per column; memory one copy of the rows per order.
 */
#include "join/join_int.h"

#include <string.h>

static bool same_order(const struct trie *t, const uint8_t *order)
{
    return memcmp(t->order, order, t->n_cols) == 0;
}

static const struct trie *find_trie(const struct rel *r, const uint8_t *order)
{
    for (size_t i = 0; i < r->tries.n; i++)
        if (same_order(r->tries.p[i], order))
            return r->tries.p[i];
    return NULL;
}

static bool is_identity(const uint8_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (order[i] != i)
            return false;
    return true;
}

static enum status copy_sorted(struct join *j, const struct rel *r,
                               struct arena *a, struct trie *t, uint32_t **cols,
                               struct err *err)
{
    uint32_t sizes[MAX_VARS], n = r->n;
    for (uint32_t c = 0; c < r->n_cols; c++) {
        cols[c] = NEWS(a, uint32_t, r->n);
        if (!cols[c])
            return err_nomem(err);
        if (r->n)
            memcpy(cols[c], r->cols[t->order[c]],
                   (size_t)r->n * sizeof(uint32_t));
        sizes[c] = j->doms[r->dom[t->order[c]]].n;
    }
    return sort_rows(j->mem, cols, r->n_cols, sizes, &n, false, err);
}

static enum status add_offsets(struct join *j, const struct rel *r,
                               struct arena *a, struct trie *t, struct err *err)
{
    uint32_t size = j->doms[r->dom[t->order[0]]].n;
    uint32_t *off = NEWS(a, uint32_t, (size_t)size + 1);
    if (!off)
        return err_nomem(err);
    for (uint32_t i = 0; i < t->n; i++)
        off[t->cols[0][i] + 1]++;
    for (uint32_t k = 0; k < size; k++)
        off[k + 1] += off[k];
    t->off = off;
    return OK;
}

static enum status make_trie(struct join *j, const struct rel *r,
                             const uint8_t *order, struct arena *a,
                             struct trie *t, struct err *err)
{
    uint32_t **cols = NEWS(a, uint32_t *, r->n_cols);
    uint8_t *copy = NEWS(a, uint8_t, r->n_cols);
    if (!cols || !copy)
        return err_nomem(err);
    if (r->n_cols)
        memcpy(copy, order, r->n_cols);
    t->n_cols = r->n_cols;
    t->n = r->n;
    t->order = copy;
    t->cols = (const uint32_t **)cols;
    if (is_identity(order, r->n_cols)) {
        for (uint32_t c = 0; c < r->n_cols; c++)
            cols[c] = r->cols[c];
    } else {
        TRY(copy_sorted(j, r, a, t, cols, err));
    }
    return r->n_cols ? add_offsets(j, r, a, t, err) : OK;
}

enum status rel_trie(struct join *j, struct rel *r, const uint8_t *order,
                     const struct trie **out, struct err *err)
{
    *out = find_trie(r, order);
    if (*out)
        return OK;
    struct trie *t = NEW(&j->arena, struct trie);
    if (!t)
        return err_nomem(err);
    TRY(make_trie(j, r, order, &j->arena, t, err));
    if (!VEC_PUSH(&j->arena, &r->tries, t))
        return err_nomem(err);
    *out = t;
    return OK;
}

enum status rel_trie_once(struct join *j, const struct rel *r,
                          const uint8_t *order, struct arena *a,
                          const struct trie **out, struct err *err)
{
    *out = find_trie(r, order);
    if (*out)
        return OK;
    struct trie *t = NEW(a, struct trie);
    if (!t)
        return err_nomem(err);
    *out = t;
    return make_trie(j, r, order, a, t, err);
}
