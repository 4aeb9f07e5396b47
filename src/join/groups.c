/*
 * GROUP BY: the count of each given key, by fixing the key's variables.
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
