/*
 * Messages of several words along a tree: jointree_eval.c without its
 * shortcuts. A node's values live from its evaluation to that of its parent, so
 * that few arrays serve any tree; they are cleared where they were touched.
 *
 * Cost: as jointree_eval.c, one product or sum of words in place of one step.
 */
#include "join/message/wide.h"

void wide_work_open(struct wide_work *w, struct join *j, uint32_t words,
                    uint32_t n)
{
    *w = (struct wide_work){.j = j, .words = words, .n = n};
    arena_init(&w->arena, j->mem);
}

void wide_work_close(struct wide_work *w)
{
    arena_fini(&w->arena);
}

/* A node from those given back, else a new one; NULL: no memory. */
static struct wide_node *take(struct wide_work *w)
{
    if (w->n_free)
        return w->free[--w->n_free];
    struct wide_node *x = NEW(&w->arena, struct wide_node);
    if (x) {
        x->val = NEWS(&w->arena, uint64_t, (size_t)w->n * w->words);
        x->ids = NEWS(&w->arena, uint32_t, w->n);
    }
    if (x && x->val && x->ids)
        return x;
    w->nomem = true;
    return NULL;
}

void wide_give(struct wide_work *w, struct wide_node *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->n_ids; i++)
        words_set(x->val + (size_t)x->ids[i] * w->words, 0, w->words);
    x->n_ids = 0;
    w->free[w->n_free++] = x;
}

/* --- support ---------------------------------------------------------------
 */

/* v := v * unary and list weights at id, but for list `skip`. */
static void by_weights(const struct tnode *n, uint32_t words,
                       const uint32_t *fixed, uint32_t id, uint32_t skip,
                       uint64_t *v)
{
    if ((n->differ | n->above) && tnode_excluded(n, fixed, id)) {
        words_set(v, 0, words);
        return;
    }
    if (n->unary)
        words_mul(v, n->unary + (size_t)id * words, words, words);
    for (uint32_t i = 0; i < n->n_lists; i++) {
        if (i == skip)
            continue;
        uint32_t e = wide_pair(n->lists[i].c, fixed[n->lists[i].x], id);
        if (e == NO_ID)
            words_set(v, 0, words);
        else
            wide_by_weight(v, n->lists[i].c, e, words);
    }
}

/* Sets an id's value and lists the id; zeros are not listed. */
static void keep(struct wide_node *x, uint32_t id, const uint64_t *v,
                 uint32_t words)
{
    if (words_zero(v, words))
        return;
    words_copy(x->val + (size_t)id * words, v, words);
    x->ids[x->n_ids++] = id;
}

static void support_list(const struct tnode *n, const struct wide_work *w,
                         struct wide_node *x, const uint32_t *fixed)
{
    uint32_t lead = 0, size = UINT32_MAX, limit = tnode_limit(n, fixed);
    uint64_t v[WORDS_MOST];
    for (uint32_t i = 0; i < n->n_lists; i++) {
        const uint32_t *off = n->lists[i].c->off + fixed[n->lists[i].x];
        if (off[1] - off[0] < size) {
            size = off[1] - off[0];
            lead = i;
        }
    }
    const struct csr *c = n->lists[lead].c;
    uint32_t e = c->off[fixed[n->lists[lead].x]], end = e + size;
    for (; e < end && c->adj[e] < limit; e++) {
        words_set(v, 1, w->words);
        wide_by_weight(v, c, e, w->words);
        by_weights(n, w->words, fixed, c->adj[e], lead, v);
        keep(x, c->adj[e], v, w->words);
    }
}

/* only NULL: all ids. */
static void support_only(const struct tnode *n, const struct wide_work *w,
                         struct wide_node *x, const uint32_t *fixed,
                         const uint32_t *only, uint32_t n_only)
{
    uint32_t limit = tnode_limit(n, fixed), end = only ? n_only : limit;
    uint64_t v[WORDS_MOST];
    for (uint32_t i = 0; i < end; i++) {
        uint32_t id = only ? only[i] : i;
        if (id >= limit)
            continue;
        words_set(v, 1, w->words);
        by_weights(n, w->words, fixed, id, UINT32_MAX, v);
        keep(x, id, v, w->words);
    }
}

/* --- messages --------------------------------------------------------------
 */

/* The loops over pairs are there once for two words and once for more. */
#define FOR_WORDS static inline __attribute__((always_inline))

/* into := into combined with v the way of the kind. */
FOR_WORDS void combine(uint64_t *into, const uint64_t *v, enum walk_kind kind,
                       uint32_t words)
{
    if (kind == W_SUM)
        words_add(into, v, words);
    else if (kind == W_MAX && words_cmp(v, into, words) > 0)
        words_copy(into, v, words);
    else if (kind == W_EXISTS && !words_zero(v, words))
        words_set(into, 1, words);
}

static bool has_weights(const struct csr *c)
{
    return c->w || c->wide;
}

/* The child's message to the parent's `id`, into m. */
FOR_WORDS void pull_pairs(const struct tnode *k, const struct wide_node *kid,
                          const uint32_t *fixed, uint32_t id, uint32_t words,
                          uint64_t *m)
{
    uint64_t v[WORDS_MOST];
    const struct csr *c = k->up;
    uint32_t limit = tnode_limit(k, fixed);
    bool weights = has_weights(c);
    words_set(m, 0, words);
    for (uint32_t e = tnode_first(k, id);
         e < c->off[id + 1] && c->adj[e] < limit; e++) {
        const uint64_t *from = kid->val + (size_t)c->adj[e] * words;
        if (weights) {
            words_copy(v, from, words);
            wide_by_weight(v, c, e, words);
            from = v;
        }
        combine(m, from, k->kind, words);
    }
}

static void pull_one(const struct tnode *k, const struct wide_node *kid,
                     const uint32_t *fixed, uint32_t id, uint32_t words,
                     uint64_t *m)
{
    if (k->is_free)
        words_set(m, tnode_count_free(k, fixed, id), words);
    else if (words == 2)
        pull_pairs(k, kid, fixed, id, 2, m);
    else
        pull_pairs(k, kid, fixed, id, words, m);
}

static void pull(const struct tnode *k, const struct wide_work *w,
                 const struct wide_node *kid, struct wide_node *x,
                 const uint32_t *fixed)
{
    uint64_t m[WORDS_MOST];
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint32_t id = x->ids[i];
        uint64_t *v = x->val + (size_t)id * w->words;
        pull_one(k, kid, fixed, id, w->words, m);
        if (k->power > 1)
            wide_power(m, k->power, k->falling, w->words);
        words_mul(v, m, w->words, w->words);
        if (!words_zero(v, w->words))
            x->ids[n++] = id;
    }
    x->n_ids = n;
}

/* Rows lie all over memory: they are asked for before they are read. */
enum { PUSH_AHEAD = 8 };

FOR_WORDS void push_pairs(const struct tnode *k, const struct wide_node *kid,
                          struct wide_node *x, uint32_t limit, uint32_t words)
{
    uint64_t v[WORDS_MOST];
    const struct csr *c = k->up->flip;
    bool weights = has_weights(c);
    uint32_t n = x->n_ids;
    for (uint32_t i = 0; i < kid->n_ids; i++) {
        uint32_t id = kid->ids[i];
        const uint64_t *own = kid->val + (size_t)id * words, *from = own;
        uint32_t e = c->off[id], end = c->off[id + 1];
        if (i + PUSH_AHEAD < kid->n_ids)
            __builtin_prefetch(c->adj + c->off[kid->ids[i + PUSH_AHEAD]]);
        if (k->above_parent)
            end = csr_seek(c, id, id);
        for (; e < end && c->adj[e] < limit; e++) {
            uint64_t *to = x->val + (size_t)c->adj[e] * words;
            if (weights) {
                words_copy(v, own, words);
                wide_by_weight(v, c, e, words);
                from = v;
            }
            if (words_zero(to, words)) /* no value or weight is 0 */
                x->ids[n++] = c->adj[e];
            combine(to, from, k->kind, words);
        }
    }
    x->n_ids = n;
}

/* The child's ids send their values to their neighbours in x, all zero. */
static void push(const struct tnode *k, const struct wide_work *w,
                 const struct wide_node *kid, struct wide_node *x,
                 uint32_t limit)
{
    if (w->words == 2)
        push_pairs(k, kid, x, limit, 2);
    else
        push_pairs(k, kid, x, limit, w->words);
}

/* The support of a node without lists: where one child's message arrives. */
static void support_push(const struct tnode *n, const struct tnode *k,
                         const struct wide_work *w, const struct wide_node *kid,
                         struct wide_node *x, const uint32_t *fixed)
{
    uint32_t left = 0;
    push(k, w, kid, x, tnode_limit(n, fixed));
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint64_t *v = x->val + (size_t)x->ids[i] * w->words;
        if (k->power > 1)
            wide_power(v, k->power, k->falling, w->words);
        by_weights(n, w->words, fixed, x->ids[i], UINT32_MAX, v);
        if (!words_zero(v, w->words))
            x->ids[left++] = x->ids[i];
    }
    x->n_ids = left;
}

static void push_into(const struct tnode *n, const struct tnode *k,
                      struct wide_work *w, const struct wide_node *kid,
                      struct wide_node *x, const uint32_t *fixed)
{
    struct wide_node *acc = take(w);
    uint32_t left = 0;
    if (!acc)
        return;
    push(k, w, kid, acc, tnode_limit(n, fixed));
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint64_t *v = x->val + (size_t)x->ids[i] * w->words;
        uint64_t *m = acc->val + (size_t)x->ids[i] * w->words;
        if (k->power > 1)
            wide_power(m, k->power, k->falling, w->words);
        words_mul(v, m, w->words, w->words);
        if (!words_zero(v, w->words))
            x->ids[left++] = x->ids[i];
    }
    x->n_ids = left;
    wide_give(w, acc);
}

static void multiply_kid(const struct tnode *n, const struct tnode *k,
                         struct wide_work *w, const struct wide_node *kid,
                         struct wide_node *x, const uint32_t *fixed)
{
    if (!k->is_free && tnode_pushes(k, x->ids, x->n_ids, kid->ids, kid->n_ids))
        push_into(n, k, w, kid, x, fixed);
    else
        pull(k, w, kid, x, fixed);
}

/* --- nodes -----------------------------------------------------------------
 */

/* The child to push from when nothing else gives the support, or n_kids. */
static uint32_t best_pusher(const struct jtree *t, const struct tnode *n,
                            struct wide_node *const *kids)
{
    uint32_t best = n->n_kids;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        const struct tnode *k = &t->node[n->kids[i]];
        if (k->is_free)
            continue;
        uint64_t cost =
            csr_pairs_from(k->up->flip, kids[i]->ids, kids[i]->n_ids, least);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

/* No value above cap, as in jointree_eval.c. */
static void lower(struct wide_node *x, uint64_t cap, uint32_t words)
{
    uint64_t most[WORDS_MOST];
    words_set(most, cap, words);
    for (uint32_t i = 0; i < x->n_ids; i++)
        if (words_cmp(x->val + (size_t)x->ids[i] * words, most, words) > 0)
            words_copy(x->val + (size_t)x->ids[i] * words, most, words);
}

/* kids: as many as n has, NULL where free. */
static struct wide_node *eval_node(const struct jtree *t, struct wide_work *w,
                                   const struct tnode *n,
                                   struct wide_node *const *kids,
                                   const uint32_t *fixed, const uint32_t *only,
                                   uint32_t n_only)
{
    struct wide_node *x = take(w);
    uint32_t pushed = n->n_kids;
    if (!x)
        return NULL;
    if (n->n_lists)
        support_list(n, w, x, fixed);
    else if (!only && (pushed = best_pusher(t, n, kids)) < n->n_kids)
        support_push(n, &t->node[n->kids[pushed]], w, kids[pushed], x, fixed);
    else
        support_only(n, w, x, fixed, only, n_only);
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (i != pushed)
            multiply_kid(n, &t->node[n->kids[i]], w, kids[i], x, fixed);
    if (n->cap)
        lower(x, n->cap, w->words);
    return x;
}

static struct wide_node *eval(const struct jtree *t, struct wide_work *w,
                              uint32_t at, const uint32_t *fixed,
                              const uint32_t *only, uint32_t n_only)
{
    const struct tnode *n = &t->node[at];
    struct wide_node *kids[G_VARS] = {NULL}, *x = NULL;
    for (uint32_t i = 0; i < n->n_kids && !w->nomem; i++)
        if (!t->node[n->kids[i]].is_free)
            kids[i] = eval(t, w, n->kids[i], fixed, NULL, 0);
    if (!w->nomem)
        x = eval_node(t, w, n, kids, fixed, only, n_only);
    for (uint32_t i = 0; i < n->n_kids; i++)
        wide_give(w, kids[i]);
    return w->nomem ? NULL : x;
}

struct wide_node *wide_eval(const struct jtree *t, struct wide_work *w,
                            const uint32_t *fixed, const uint32_t *only,
                            uint32_t n_only)
{
    return eval(t, w, 0, fixed, only, n_only);
}

void wide_total(const struct jtree *t, const struct wide_node *x,
                uint32_t words, uint64_t *out)
{
    words_set(out, 0, words);
    for (uint32_t i = 0; i < x->n_ids; i++)
        combine(out, x->val + (size_t)x->ids[i] * words, t->node[0].kind,
                words);
}
