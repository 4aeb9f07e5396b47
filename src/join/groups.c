/*
 * GROUP BY: the count of each given key, by fixing the key's variables; or
 * every key that occurs, by one walk that has them all on its path.
 */
#include "join/impl.h"

/* Ids of one key; false if the key cannot occur. */
static bool encode_key(const struct join *j, const struct value *key,
                       uint32_t *ids, vset *set)
{
    const struct cq *q = j->q;
    *set = 0;
    for (uint32_t i = 0; i < q->n_group; i++) {
        struct term t = q->outs[i];
        if (t.kind == TERM_CONST) {
            const struct value *c = &q->consts[t.id];
            if (c->is_null || key[i].is_null ? c->is_null != key[i].is_null
                                             : !value_eq(c, &key[i]))
                return false;
            continue;
        }
        uint32_t id = dom_find(&j->doms[j->dom_of[t.id]], &key[i]);
        if (id == NO_ID || (vset_has(*set, t.id) && ids[t.id] != id))
            return false;
        ids[t.id] = id;
        *set |= vset_one(t.id);
    }
    return true;
}

enum status join_count_groups(struct join *j, const struct value *keys,
                              size_t n_keys, u128 *out, struct err *err)
{
    uint32_t ids[MAX_VARS] = {0};
    for (size_t i = 0; i < n_keys; i++) {
        vset set;
        out[i] = 0;
        if (j->q->unsat || !encode_key(j, keys + i * j->q->n_group, ids, &set))
            continue;
        TRY(join_fixed_count(j, ids, set, &out[i], err));
    }
    return OK;
}

struct listing {
    const struct join *j;
    struct value *key;
    enum status (*each)(void *ctx, const struct value *key, u128 count,
                        struct err *err);
    void *ctx;
};

static enum status tell(void *ctx, const uint64_t *ids, u128 count,
                        struct err *err)
{
    struct listing *l = ctx;
    const struct cq *q = l->j->q;
    for (uint32_t i = 0; i < q->n_group; i++) {
        struct term t = q->outs[i];
        l->key[i] = t.kind == TERM_CONST
                        ? q->consts[t.id]
                        : dom_value(&l->j->doms[l->j->dom_of[t.id]],
                                    (uint32_t)ids[t.id]);
    }
    return l->each(l->ctx, l->key, count, err);
}

static vset key_vars(const struct cq *q)
{
    vset set = 0;
    for (uint32_t i = 0; i < q->n_group; i++)
        if (q->outs[i].kind == TERM_VAR)
            set |= vset_one(q->outs[i].id);
    return set;
}

enum status join_list_groups(struct join *j,
                             enum status (*each)(void *ctx,
                                                 const struct value *key,
                                                 u128 count, struct err *err),
                             void *ctx, struct err *err)
{
    struct arena a;
    u128 count = 0;
    if (j->q->unsat)
        return OK;
    arena_init(&a, j->mem);
    struct listing l = {j, NEWS(&a, struct value, j->q->n_group), each, ctx};
    vset set = key_vars(j->q);
    enum status s = l.key ? OK : err_nomem(err);
    if (s == OK && set)
        s = join_list_boundary(j, set, tell, &l, err);
    else if (s == OK)
        s = join_count(j, &count, err);
    if (s == OK && count) /* all keys are constants: one group */
        s = tell(&l, NULL, count, err);
    arena_fini(&a);
    return s;
}
