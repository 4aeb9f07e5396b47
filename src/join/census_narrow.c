/*
 * Fewer rows, where only some ids matter: see census.h.
 *
 * A value of a link is still if no id that matters is below it: what it counts
 * is then a number that no question changes. It goes into the rows above, and
 * the rows below are not looked at any more. Rows that are equal after that
 * are one.
 */
#include "join/census_int.h"

#include <string.h>

struct still {
    uint8_t *is; /* by value of the link above */
    u128 *count; /* of these */
};

struct narrowing {
    struct join_census *c;
    const uint8_t *never;
    struct arena a;
    struct still *still; /* by node */
    struct err *err;
};

/* Does nothing in the row or below it matter? *count: what it then counts. */
static bool row_is_still(const struct narrowing *x, const struct census_node *n,
                         uint32_t i, u128 *count)
{
    *count = n->times[i];
    for (uint32_t r = 0; r < n->n_roles; r++)
        if (!x->never[n->who[r][i]])
            return false;
    for (uint32_t k = 0; k < n->n_kids; k++) {
        const struct still *s = &x->still[n->kid[k]];
        if (!s->is[n->kid_key[k][i]])
            return false;
        *count = count_mul(*count, s->count[n->kid_key[k][i]]);
    }
    return true;
}

static enum status find_still(struct narrowing *x, uint32_t at)
{
    const struct census_node *n = &x->c->whole[at];
    struct still *s = &x->still[at];
    s->is = NEWS(&x->a, uint8_t, census_links(n));
    s->count = NEWS(&x->a, u128, census_links(n));
    if (!s->is || !s->count)
        return err_nomem(x->err);
    memset(s->is, 1, census_links(n));
    for (uint32_t i = 0; i < n->n; i++) {
        u128 count;
        if (!row_is_still(x, n, i, &count))
            s->is[n->up[i]] = 0;
        else
            s->count[n->up[i]] = count_add(s->count[n->up[i]], count);
    }
    return OK;
}

/* Row i of `from` as the last one of `to`, unless it counts nothing. */
static void put_row(const struct narrowing *x, const struct census_node *from,
                    uint32_t i, struct census_node *to)
{
    uint32_t at = to->n;
    u128 times = from->times[i];
    for (uint32_t k = 0; k < from->n_kids; k++) {
        const struct still *s = &x->still[from->kid[k]];
        uint32_t key = from->kid_key[k][i];
        to->kid_key[k][at] =
            s->is[key] ? census_one(&x->c->whole[from->kid[k]]) : key;
        if (s->is[key])
            times = count_mul(times, s->count[key]);
    }
    if (from->up)
        to->up[at] = from->up[i];
    for (uint32_t r = 0; r < from->n_roles; r++) {
        uint32_t u = from->who[r][i];
        to->who[r][at] = x->never[u] ? x->c->ids : u;
    }
    to->times[at] = times;
    to->n += times != 0;
}

/* Columns for as many rows as `from` has. */
static enum status open_rows(struct narrowing *x,
                             const struct census_node *from,
                             struct census_node *to)
{
    size_t n = (size_t)from->n + 1;
    *to = *from;
    to->n = 0;
    to->times = NEWS(&x->a, u128, n);
    to->up = from->up ? NEWS(&x->a, uint32_t, n) : NULL;
    bool all = to->times && (to->up || !from->up);
    for (uint32_t k = 0; k < from->n_kids; k++) {
        to->kid_key[k] = NEWS(&x->a, uint32_t, n);
        all = all && to->kid_key[k];
    }
    for (uint32_t r = 0; r < from->n_roles; r++) {
        to->who[r] = NEWS(&x->a, uint32_t, n);
        all = all && to->who[r];
    }
    return all ? OK : err_nomem(x->err);
}

static enum status narrow_node(struct narrowing *x, uint32_t at)
{
    const struct census_node *from = &x->c->whole[at];
    const uint8_t *still = x->still[at].is;
    struct arena_mark mark = arena_mark(&x->a);
    TRY(open_rows(x, from, &x->c->node[at]));
    for (uint32_t i = 0; i < from->n; i++)
        if (!from->up || !still[from->up[i]])
            put_row(x, from, i, &x->c->node[at]);
    TRY(join_census_merge(x->c, &x->c->node[at], &x->c->narrow, x->err));
    arena_release(&x->a, mark);
    return OK;
}

static enum status narrow_all(struct narrowing *x)
{
    struct join_census *c = x->c;
    x->still = NEWS(&x->a, struct still, c->n);
    if (!x->still)
        return err_nomem(x->err);
    for (uint32_t at = 0; at + 1 < c->n; at++)
        TRY(find_still(x, c->order[at]));
    for (uint32_t at = 0; at < c->n; at++)
        TRY(narrow_node(x, c->order[at]));
    return join_census_align(c, &c->narrow, x->err);
}

enum status join_census_narrow(struct join_census *c, const uint8_t *never,
                               struct err *err)
{
    struct narrowing x = {.c = c, .never = never, .err = err};
    arena_fini(&c->narrow);
    arena_init(&c->narrow, c->j->mem);
    c->narrow.wipe = true;
    arena_init(&x.a, c->j->mem);
    x.a.wipe = true;
    enum status s = narrow_all(&x);
    arena_fini(&x.a);
    return s;
}
