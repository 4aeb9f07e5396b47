/*
 * Groups of rows that agree in several columns: see rows.h. Columns are added
 * one after the other; a pair of group and id gets the next free number in
 * the order of two counting passes.
 *
 * Cost: O(rows + ids) per column, and nothing for a single one.
 */
#include "join/rows/rows.h"

#include <string.h>

struct numbering {
    uint32_t n;    /* rows of both lists */
    uint32_t *of;  /* the group so far */
    uint32_t *key; /* the next column */
    uint32_t *a, *b, *count;
};

/* of := number of (of, key); returns how many there are. */
static uint32_t refine(const struct numbering *x, uint32_t n_groups,
                       uint32_t n_ids)
{
    uint32_t next = 0, group = 0, id = 0;
    sort_pass(x->key, n_ids, x->n, NULL, x->a, x->count);
    sort_pass(x->of, n_groups, x->n, x->a, x->b, x->count);
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t row = x->b[i];
        if (!i || x->of[row] != group || x->key[row] != id)
            next++;
        group = x->of[row];
        id = x->key[row];
        x->of[row] = next - 1;
    }
    return next;
}

static void join_lists(uint32_t *out, const uint32_t *const col[2],
                       const uint32_t n[2])
{
    if (n[0])
        memcpy(out, col[0], (size_t)n[0] * sizeof *out);
    if (n[1])
        memcpy(out + n[0], col[1], (size_t)n[1] * sizeof *out);
}

static enum status number(struct mem *m, struct arena *a, const uint32_t n[2],
                          const struct rows_key *keys, uint32_t n_keys,
                          struct rows_groups *out, struct err *err)
{
    struct numbering x = {.n = n[0] + n[1]};
    struct arena scratch;
    uint32_t most = x.n;
    for (uint32_t k = 0; k < n_keys; k++)
        most = keys[k].size > most ? keys[k].size : most;
    arena_init(&scratch, m);
    x.of = NEWS(a, uint32_t, x.n);
    x.key = NEWS(&scratch, uint32_t, x.n);
    x.a = NEWS(&scratch, uint32_t, x.n);
    x.b = NEWS(&scratch, uint32_t, x.n);
    x.count = NEWS(&scratch, uint32_t, (size_t)most + 2);
    enum status s =
        x.of && x.key && x.a && x.b && x.count ? OK : err_nomem(err);
    if (s == OK) {
        join_lists(x.of, keys[0].col, n);
        out->n = keys[0].size;
        for (uint32_t k = 1; k < n_keys; k++) {
            join_lists(x.key, keys[k].col, n);
            out->n = refine(&x, out->n, keys[k].size);
        }
        out->of[0] = x.of;
        out->of[1] = x.of + n[0];
    }
    arena_fini(&scratch);
    return s;
}

enum status rows_group(struct mem *m, struct arena *a, const uint32_t n[2],
                       const struct rows_key *keys, uint32_t n_keys,
                       struct rows_groups *out, struct err *err)
{
    *out = (struct rows_groups){.n = 1};
    if (!n_keys)
        return OK;
    if (n_keys == 1) {
        out->of[0] = keys[0].col[0];
        out->of[1] = keys[0].col[1];
        out->n = keys[0].size;
        return OK;
    }
    return number(m, a, n, keys, n_keys, out, err);
}
