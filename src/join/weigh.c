/*
 * Sums: a query with a weight. The weight's variable is one of the outputs, so
 * a sum over distinct outputs is a sum over its values of what the value weighs
 * times the number of other outputs. By elimination (eliminate.c) with a factor
 * for the weight; where that needs too much room by a walk that has the
 * variable among its keys. Numbers saturate at COUNT_MOST: nothing is
 * subtracted.
 */
#include <string.h>

#include "join/join_int.h"

/* The walk's keys without the weight: their sums so far. */
struct weighing {
    struct join *j;
    struct arena *a;
    uint32_t var; /* the weight's */
    vset keys;
    struct map sums; /* by ids of the keys: u128 and the ids */
    VEC(struct weighed *) list;
};

struct weighed {
    uint64_t ids[MAX_VARS];
    u128 sum;
};

static enum status find_sum(struct weighing *w, const uint64_t *ids,
                            struct weighed **out, struct err *err)
{
    uint64_t key[MAX_VARS];
    size_t n = 0;
    VSET_EACH (v, w->keys)
        key[n++] = ids[v];
    struct str bytes = {(const char *)key, n * sizeof *key};
    uint64_t *found = map_find(&w->sums, bytes);
    if (found) {
        *out = w->list.p[*found];
        return OK;
    }
    struct weighed *x = *out = NEW(w->a, struct weighed);
    char *copy = arena_strdup(w->a, bytes.p, bytes.n);
    if (!x || !copy)
        return err_nomem(err);
    memcpy(x->ids, ids, w->j->q->n_vars * sizeof *ids);
    if (!map_put(&w->sums, (struct str){copy, bytes.n}, w->list.n, NULL) ||
        !VEC_PUSH(w->a, &w->list, x))
        return err_nomem(err);
    return OK;
}

/* Adds an answer's weight, times how often it occurs, to the sum of its key. */
static enum status weigh(void *ctx, const uint64_t *ids, u128 count,
                         struct err *err)
{
    struct weighing *w = ctx;
    struct weighed *x;
    const struct dom *d = &w->j->doms[w->j->dom_of[w->var]];
    struct value v = dom_value(d, (uint32_t)ids[w->var]);
    TRY(find_sum(w, ids, &x, err));
    x->sum =
        count_add(x->sum, count_mul(count, cq_weight_of(&w->j->q->weight, &v)));
    return OK;
}

static enum status walk_and_tell(struct weighing *w, struct request *r,
                                 each_key each, void *ctx, struct err *err)
{
    u128 most;
    TRY(join_pick(w->j, r, w->a, err));
    TRY(walk_run(w->j, r, &most, err));
    for (size_t i = 0; i < w->list.n; i++)
        TRY(each(ctx, w->list.p[i]->ids, w->list.p[i]->sum, err));
    return OK;
}

/* weigh.c, tests: by the backtracking join alone. */
static enum status join_weigh_walked(struct join *j, aset f, vset keys,
                                     vset outs, each_key each, void *ctx,
                                     struct err *err)
{
    TRY(join_encode(j, err));
    struct arena a;
    struct weighing w = {
        .j = j, .a = &a, .var = vset_min(cq_weight_var(j->q)), .keys = keys};
    struct request r = {.f = f,
                        .boundary = keys | cq_weight_var(j->q),
                        .outs = outs,
                        .scale = 1,
                        .each = weigh,
                        .ctx = &w};
    arena_init(&a, j->mem);
    a.wipe = true;
    map_init(&w.sums, &a);
    enum status s = walk_and_tell(&w, &r, each, ctx, err);
    arena_fini(&a);
    return s;
}

static enum status keep_largest(void *ctx, const uint64_t *ids, u128 sum,
                                struct err *err)
{
    u128 *most = ctx;
    (void)ids;
    (void)err;
    *most = sum > *most ? sum : *most;
    return OK;
}

/* Of atoms that hang together. */
static enum status max_of_part(struct join *j, aset f, vset boundary, vset outs,
                               u128 *out, struct err *err)
{
    enum outcome what;
    *out = 0;
    TRY(join_eliminate_weighted(j, f, boundary, outs, keep_largest, out, &what,
                                err));
    return what == SOLVED ? OK
                          : join_weigh_walked(j, f, boundary, outs,
                                              keep_largest, out, err);
}

/* The atoms that hang on the weight's variable. */
static enum status weighed_atoms(struct join *j, aset f, aset *out,
                                 struct err *err)
{
    struct request r = {.f = f, .scale = 1}, part;
    struct arena a;
    arena_init(&a, j->mem);
    enum status s = join_pick(j, &r, &a, err);
    if (s == OK)
        s = request_part(j, &r, cq_weight_var(j->q), &a, &part, err);
    *out = s == OK ? part.f : 0;
    arena_fini(&a);
    return s;
}

/* Parts that share no variable multiply, each at its own best boundary; the
 * weight is in one of them. */
enum status join_max_weighted(struct join *j, aset f, vset boundary, vset outs,
                              u128 *out, struct err *err)
{
    aset part = 0;
    u128 rest = 1;
    TRY(weighed_atoms(j, f, &part, err));
    vset mine = 0;
    ASET_EACH (i, part)
        mine |= j->atoms[i].set;
    TRY(max_of_part(j, part, boundary & mine, outs & mine, out, err));
    if (f & ~part)
        TRY(join_max(j, f & ~part, boundary & ~mine, outs & ~mine, &rest, err));
    *out = count_mul(*out, rest);
    return OK;
}

enum status join_list_weighted(struct join *j, vset keys, each_key each,
                               void *ctx, struct err *err)
{
    enum outcome what;
    aset all = aset_first_n(j->q->n_atoms);
    TRY(join_eliminate(j, keys, each, ctx, &what, err));
    return what == SOLVED
               ? OK
               : join_weigh_walked(j, all, keys, cq_free(j->q), each, ctx, err);
}
