/*
 * GROUP BY: the counts of the given keys.
 *
 * The query falls into components; a key's count is the product of theirs.
 * One without a key's variable is counted once. One that is a tree with one
 * or two of the variables is counted in one pass for all keys (acyclic.c), and
 * so is one whose atoms form a tree around the keys (rows.c); with several
 * words (wide.h) where a number leaves 64 bits. Products saturate.
 * Any other is walked once for each key, with the key's variables fixed.
 *
 * Or every key that occurs: the other variables are summed out (eliminate.c),
 * or, where that needs too much room, by one walk that has the keys on its
 * path.
 */
#include "join/jointree/acyclic.h"
#include "join/message/wide.h"
#include "join/rows/rows.h"

#include <string.h>

struct grouping {
    struct join *j;
    struct arena *a;
    uint32_t n_vars;
    uint32_t vars[MAX_VARS]; /* of the keys, distinct, rising */
    vset set;
    size_t n_keys;
    uint32_t *ids; /* by key, by place in vars */
    uint8_t *ok;   /* by key: can it occur? */
    u128 *out;
    struct err *err;
};

static void list_vars(struct grouping *g)
{
    const struct cq *q = g->j->q;
    for (uint32_t i = 0; i < q->n_group; i++)
        if (q->outs[i].kind == TERM_VAR)
            g->set |= vset_one(q->outs[i].id);
    VSET_EACH (v, g->set)
        g->vars[g->n_vars++] = v;
}

static uint32_t place_of(const struct grouping *g, uint32_t v)
{
    uint32_t i = 0;
    while (g->vars[i] != v)
        i++;
    return i;
}

/* Ids of one key; false if the key cannot occur. */
static bool encode_key(const struct grouping *g, const struct value *key,
                       uint32_t *ids)
{
    const struct join *j = g->j;
    vset seen = 0;
    for (uint32_t i = 0; i < j->q->n_group; i++) {
        struct term t = j->q->outs[i];
        if (t.kind == TERM_CONST) {
            const struct value *c = &j->q->consts[t.id];
            if (c->is_null || key[i].is_null ? c->is_null != key[i].is_null
                                             : !value_eq(c, &key[i]))
                return false;
            continue;
        }
        uint32_t *at = &ids[place_of(g, t.id)];
        uint32_t id = dom_find(&j->doms[j->dom_of[t.id]], &key[i]);
        if (id == NO_ID || (vset_has(seen, t.id) && *at != id))
            return false;
        *at = id;
        seen |= vset_one(t.id);
    }
    return true;
}

/* Multiplies a key's count by that of one more component. */
static void times(const struct grouping *g, size_t key, u128 by)
{
    g->out[key] = count_mul(g->out[key], count_clamp(by));
}

/* --- one pass for all keys ------------------------------------------------ */

/* Values of the key variables of one component, by key. */
static enum status part_ids(const struct grouping *g, vset vars,
                            struct group_ids *k)
{
    VSET_EACH (v, vars) {
        uint32_t *ids = NEWS(g->a, uint32_t, g->n_keys), p = place_of(g, v);
        if (!ids)
            return err_nomem(g->err);
        for (size_t i = 0; i < g->n_keys; i++)
            ids[i] = g->ok[i] ? g->ids[i * g->n_vars + p] : NO_ID;
        k->ids[k->n_vars++] = ids;
    }
    k->n = g->n_keys;
    k->out = NEWS(g->a, uint64_t, g->n_keys);
    return k->out ? OK : err_nomem(g->err);
}

/* With numbers of one word or, `wide`, of several. */
static enum status count_at_once(struct grouping *g, const struct request *part,
                                 bool wide, enum outcome *what)
{
    struct graph *graph = NEW(g->a, struct graph);
    u128 *out = wide ? NEWS(g->a, u128, g->n_keys) : NULL;
    struct group_ids k = {0};
    *what = PASS;
    if (!graph || (wide && !out))
        return err_nomem(g->err);
    if (vset_count(part->boundary) > 2)
        return OK;
    TRY(graph_make(g->j, part, g->a, wide, graph, what, g->err));
    if (*what != SOLVED)
        return OK;
    TRY(part_ids(g, part->boundary, &k));
    TRY(wide ? wide_groups(g->j, graph, &k, out, what, g->err)
             : acyclic_groups(g->j, graph, &k, what, g->err));
    for (size_t i = 0; *what == SOLVED && i < g->n_keys; i++) {
        times(g, i, wide ? out[i] : k.out[i]);
        times(g, i, graph->scalar);
    }
    return OK;
}

/* The same row by row, for any number of variables. */
static enum status count_by_rows(struct grouping *g, const struct request *part,
                                 uint32_t words, enum outcome *what)
{
    uint32_t n = 0;
    const uint32_t **ids =
        NEWS(g->a, const uint32_t *, vset_count(part->boundary));
    struct rows_wanted k = {g->n_keys, ids, g->ok, NEWS(g->a, u128, g->n_keys)};
    if (!ids || !k.out)
        return err_nomem(g->err);
    VSET_EACH (v, part->boundary) {
        uint32_t *col = NEWS(g->a, uint32_t, g->n_keys), p = place_of(g, v);
        if (!col)
            return err_nomem(g->err);
        for (size_t i = 0; i < g->n_keys; i++)
            col[i] = g->ok[i] ? g->ids[i * g->n_vars + p] : 0;
        ids[n++] = col;
    }
    TRY(rows_count_keys(g->j, part, g->a, words, &k, what, g->err));
    for (size_t i = 0; *what == SOLVED && i < g->n_keys; i++)
        times(g, i, k.out[i]);
    return OK;
}

/* --- one walk for each key ------------------------------------------------ */

static enum status count_each(struct grouping *g, const struct request *part)
{
    uint32_t fixed[MAX_VARS] = {0};
    struct request one = *part;
    one.fixed = fixed;
    one.fixed_set = part->boundary;
    for (size_t i = 0; i < g->n_keys; i++) {
        u128 v = 0;
        if (!g->out[i])
            continue;
        for (uint32_t k = 0; k < g->n_vars; k++)
            fixed[g->vars[k]] = g->ids[i * g->n_vars + k];
        TRY(walk_run(g->j, &one, &v, g->err));
        times(g, i, v);
    }
    return OK;
}

static enum status count_part(struct grouping *g, struct request *part)
{
    enum outcome what = PASS;
    u128 v = 0;
    if (!part->boundary) {
        TRY(solve_request(g->j, part, g->a, &v, g->err));
        for (size_t i = 0; i < g->n_keys; i++)
            times(g, i, v);
        return OK;
    }
    uint32_t words = rows_words(g->j, part);
    bool steady = g->j->opt.steady, rows = !steady || !part->n_cmps;
    if (!steady && !g->j->only_wide)
        TRY(count_at_once(g, part, false, &what));
    if (!steady && what != SOLVED)
        TRY(count_at_once(g, part, true, &what));
    if (rows && what != SOLVED && !g->j->only_wide)
        TRY(count_by_rows(g, part, 1, &what));
    if (rows && what != SOLVED)
        TRY(count_by_rows(g, part, words, &what));
    return what == SOLVED ? OK : count_each(g, part);
}

/* --- given keys -------------------------------------------------------------
 */

static enum status count_keys(struct grouping *g, const struct value *keys)
{
    struct join *j = g->j;
    struct request r = {.f = aset_first_n(j->q->n_atoms),
                        .boundary = g->set,
                        .outs = cq_free(j->q),
                        .scale = 1};
    g->ids = NEWS(g->a, uint32_t, g->n_keys * g->n_vars);
    g->ok = NEWS(g->a, uint8_t, g->n_keys);
    if (!g->ids || !g->ok)
        return err_nomem(g->err);
    for (size_t i = 0; i < g->n_keys; i++) {
        g->ok[i] =
            encode_key(g, keys + i * j->q->n_group, g->ids + i * g->n_vars);
        g->out[i] = g->ok[i];
    }
    TRY(join_pick(j, &r, g->a, g->err));
    for (vset open = r.vars; open;) {
        struct request part;
        TRY(request_part(j, &r, open, g->a, &part, g->err));
        TRY(count_part(g, &part));
        open &= ~part.vars;
    }
    return OK;
}

enum status join_count_groups(struct join *j, const struct value *keys,
                              size_t n_keys, struct secret_count *out,
                              struct err *err)
{
    TRY(join_encode(j, err));
    struct arena a;
    struct grouping g = {.j = j, .a = &a, .n_keys = n_keys, .err = err};
    bool none = j->q->unsat;
    if (j->q->weight.on)
        return err_internal(err, "join_count_groups: sums are listed");
    for (uint32_t i = 0; i < j->q->n_atoms; i++)
        none = none || !j->atoms[i].rel->n;
    if (none) {
        for (size_t i = 0; i < n_keys; i++)
            out[i] = secret_count_of(0);
        return OK;
    }
    list_vars(&g);
    arena_init(&a, j->mem);
    a.wipe = true;
    g.out = NEWS(&a, u128, n_keys + 1);
    enum status s = g.out ? count_keys(&g, keys) : err_nomem(err);
    for (size_t i = 0; s == OK && i < n_keys; i++)
        out[i] = secret_count_of(g.out[i]);
    arena_fini(&a);
    return s;
}

/* --- all keys ---------------------------------------------------------------
 */

struct listing {
    const struct join *j;
    struct value *key;
    enum status (*each)(void *ctx, const struct value *key, u128 count,
                        struct err *err);
    void *ctx;
};

/* Ids become values: the key as the caller knows it. */
static enum status tell(void *ctx, const uint64_t *ids, u128 count,
                        struct err *err)
{
    struct listing *l = ctx;
    const struct cq *q = l->j->q;
    if (q->weight.on && !cq_weight_var(q)) /* the same for every answer */
        count = count_mul(count, cq_weight_most(q));
    for (uint32_t i = 0; i < q->n_group; i++) {
        struct term t = q->outs[i];
        if (t.kind == TERM_CONST)
            l->key[i] = q->consts[t.id];
        else if (q->vars[t.id].is_rowid) /* its number is its value */
            l->key[i] = value_int((int64_t)ids[t.id]);
        else
            l->key[i] =
                dom_value(&l->j->doms[l->j->dom_of[t.id]], (uint32_t)ids[t.id]);
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

static enum status list_keys(struct join *j, vset set, struct listing *l,
                             struct err *err)
{
    enum outcome what;
    if (cq_weight_var(j->q))
        return join_list_weighted(j, set, tell, l, err);
    TRY(join_eliminate(j, set, tell, l, &what, err));
    return what == SOLVED ? OK : join_list_boundary(j, set, tell, l, err);
}

enum status join_list_groups(struct join *j,
                             enum status (*each)(void *ctx,
                                                 const struct value *key,
                                                 u128 count, struct err *err),
                             void *ctx, struct err *err)
{
    TRY(join_encode(j, err));
    struct arena a;
    u128 count = 0;
    const uint64_t no_id = 0;
    if (j->q->unsat)
        return OK;
    arena_init(&a, j->mem);
    struct listing l = {j, NEWS(&a, struct value, j->q->n_group), each, ctx};
    vset set = key_vars(j->q);
    enum status s = l.key ? OK : err_nomem(err);
    if (s == OK && set)
        s = list_keys(j, set, &l, err);
    else if (s == OK)
        s = join_max(j, aset_first_n(j->q->n_atoms), 0, cq_free(j->q), &count,
                     err);
    if (s == OK && count) /* all keys are constants: one group */
        s = tell(&l, &no_id, count, err);
    arena_fini(&a);
    return s;
}
