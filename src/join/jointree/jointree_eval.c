/*
 * Evaluating trees: see jointree.h. The inner loops of the engine are here.
 *
 * Numbers are 64 bits: before a message is computed, the largest value times
 * the largest sum of weights is checked to fit, so the loops need no checks.
 * If it does not fit, `wide` is raised and the caller takes another way.
 */
#include "join/jointree/jointree.h"

#include <string.h>

enum status twork_open(struct twork *w, struct mem *m, uint32_t n_nodes,
                       uint32_t n_ids, struct err *err)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena, m);
    for (uint32_t i = 0; i < n_nodes; i++) {
        struct nwork *x = &w->node[i];
        x->mark_buf = NEWS(&w->arena, uint8_t, n_ids);
        x->val = NEWS(&w->arena, uint64_t, n_ids);
        /* one more: a push writes before it knows */
        x->ids = NEWS(&w->arena, uint32_t, (size_t)n_ids + 1);
        if (!x->mark_buf || !x->val || !x->ids)
            return err_nomem(err);
    }
    w->acc = NEWS(&w->arena, uint64_t, n_ids);
    w->acc_ids = NEWS(&w->arena, uint32_t, (size_t)n_ids + 1);
    return w->acc && w->acc_ids ? OK : err_nomem(err);
}

void twork_close(struct twork *w)
{
    arena_fini(&w->arena);
}

/* --- support ------------------------------------------------------------- */

/* Product of unary and list weights at id, leaving out list `skip`. */
static uint64_t weight_at(const struct tnode *n, struct twork *w,
                          const uint32_t *fixed, uint32_t id, uint32_t skip)
{
    uint64_t v = n->unary ? n->unary[id] : 1;
    if ((n->differ | n->above) && tnode_excluded(n, fixed, id))
        return 0;
    for (uint32_t i = 0; i < n->n_lists && v; i++) {
        if (i == skip)
            continue;
        uint64_t x = csr_weight(n->lists[i].c, fixed[n->lists[i].x], id);
        if (x != 1 && !u64_mul(v, x, &v))
            w->wide = true;
    }
    return v;
}

static void keep_id(struct nwork *x, uint32_t id, uint64_t v)
{
    if (x->mark)
        x->mark[id] = 1;
    else
        x->val[id] = v;
    if (v > x->top)
        x->top = v;
    x->ids[x->n_ids++] = id;
}

static void support_list(const struct tnode *n, struct twork *w,
                         struct nwork *x, const uint32_t *fixed)
{
    uint32_t lead = 0, size = UINT32_MAX, limit = tnode_limit(n, fixed);
    for (uint32_t i = 0; i < n->n_lists; i++) {
        const uint32_t *off = n->lists[i].c->off + fixed[n->lists[i].x];
        if (off[1] - off[0] < size) {
            size = off[1] - off[0];
            lead = i;
        }
    }
    const struct csr *c = n->lists[lead].c;
    uint32_t at = c->off[fixed[n->lists[lead].x]];
    const uint32_t *adj = c->adj + at;
    bool plain = n->n_lists == 1 && !n->unary && !n->differ && !c->w;
    uint32_t from = fixed[n->lists[lead].x], start = tnode_start(n, fixed);
    uint32_t i = start ? csr_seek(c, from, start) - at : 0;
    for (; i < size && adj[i] < limit; i++) {
        uint64_t v = plain ? 1 : weight_at(n, w, fixed, adj[i], lead);
        if (v && c->w && !u64_mul(v, c->w[at + i], &v))
            w->wide = true;
        if (v)
            keep_id(x, adj[i], v);
    }
}

static void support_only(const struct tnode *n, struct twork *w,
                         struct nwork *x, const uint32_t *fixed,
                         const uint32_t *only, uint32_t n_only)
{
    uint32_t limit = tnode_limit(n, fixed);
    for (uint32_t i = 0; i < n_only; i++) {
        uint64_t v =
            only[i] < limit ? weight_at(n, w, fixed, only[i], UINT32_MAX) : 0;
        if (v)
            keep_id(x, only[i], v);
    }
}

static void support_all(const struct tnode *n, struct twork *w, struct nwork *x,
                        const uint32_t *fixed)
{
    uint32_t limit = tnode_limit(n, fixed);
    for (uint32_t id = tnode_start(n, fixed); id < limit; id++) {
        uint64_t v = weight_at(n, w, fixed, id, UINT32_MAX);
        if (v)
            keep_id(x, id, v);
    }
}

/* --- messages ------------------------------------------------------------ */

static bool fits(struct twork *w, const struct tnode *k, uint64_t top)
{
    uint64_t most;
    if (!u64_mul(k->up->max_sum, top, &most) || most >> 62)
        w->wide = true;
    return !w->wide;
}

/* A message as often as its child counts. */
static uint64_t power_of(struct twork *w, uint64_t v, const struct tnode *k)
{
    uint64_t p = v;
    if (v < 2)
        return k->falling ? 0 : v;
    for (uint32_t i = 1; i < k->power; i++)
        if (!u64_mul(p, k->falling ? (v > i ? v - i : 0) : v, &p))
            w->wide = true;
    return p;
}

/* Neighbours of `id` that a free leaf may take, without listing them. */
uint64_t tnode_count_free(const struct tnode *k, const uint32_t *fixed,
                          uint32_t id)
{
    const struct csr *c = k->up;
    uint32_t limit = tnode_limit(k, fixed), start = tnode_start(k, fixed);
    uint32_t at = c->off[id], end = c->off[id + 1];
    if (start)
        at = csr_seek(c, id, start);
    if (limit < k->n)
        end = csr_seek(c, id, limit);
    uint64_t n = end > at ? end - at : 0;
    for (gset s = k->differ; s; s &= s - 1) {
        uint32_t x = fixed[__builtin_ctz(s)];
        bool again = false; /* two fixed variables may have one id */
        for (gset t = k->differ & (gset_one((unsigned)__builtin_ctz(s)) - 1); t;
             t &= t - 1)
            again = again || fixed[__builtin_ctz(t)] == x;
        if (!again && x >= start && x < limit && csr_weight(c, id, x))
            n--;
    }
    return k->kind == W_SUM ? n : n > 0;
}

static uint64_t pull_marks(const uint32_t *adj, uint32_t n, uint32_t limit,
                           const uint8_t *mark, enum walk_kind kind)
{
    uint64_t sum = 0;
    if (n && adj[n - 1] < limit) {
        for (uint32_t i = 0; i < n; i++)
            sum += mark[adj[i]];
    } else {
        for (uint32_t i = 0; i < n && adj[i] < limit; i++)
            sum += mark[adj[i]];
    }
    return kind == W_SUM ? sum : sum > 0;
}

static uint64_t pull_values(const struct csr *c, uint32_t e, uint32_t end,
                            uint32_t limit, const uint64_t *val,
                            enum walk_kind kind)
{
    uint64_t sum = 0;
    for (; e < end && c->adj[e] < limit; e++) {
        uint64_t x = val[c->adj[e]];
        if (c->w)
            x *= c->w[e];
        if (kind == W_SUM)
            sum += x;
        else if (x > sum)
            sum = x;
    }
    return kind == W_EXISTS ? sum > 0 : sum;
}

static uint64_t pull_one(const struct tnode *k, const struct nwork *x,
                         const uint32_t *fixed, uint32_t limit, uint32_t id)
{
    const struct csr *c = k->up;
    if (k->is_free)
        return tnode_count_free(k, fixed, id);
    uint32_t e = tnode_first(k, id), end = c->off[id + 1];
    if (x->mark && !c->w)
        return pull_marks(c->adj + e, end - e, limit, x->mark, k->kind);
    if (x->mark) {
        uint64_t sum = 0;
        for (; e < end; e++) {
            uint64_t v = x->mark[c->adj[e]] && c->adj[e] < limit ? c->w[e] : 0;
            sum = k->kind == W_SUM ? sum + v : v > sum ? v : sum;
        }
        return k->kind == W_EXISTS ? sum > 0 : sum;
    }
    return pull_values(c, e, end, limit, x->val, k->kind);
}

static void pull(const struct tnode *k, struct twork *w,
                 const struct nwork *kid, struct nwork *x,
                 const uint32_t *fixed)
{
    uint32_t limit = tnode_limit(k, fixed), n = 0;
    x->top = 0;
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint32_t id = x->ids[i];
        uint64_t m = pull_one(k, kid, fixed, limit, id);
        if (k->power > 1)
            m = power_of(w, m, k);
        uint64_t v = 0;
        if (!u64_mul(x->val[id], m, &v))
            w->wide = true;
        x->val[id] = v;
        if (v > x->top)
            x->top = v;
        if (v)
            x->ids[n++] = id;
    }
    x->n_ids = n;
}

/* Rows lie all over memory: they are asked for before they are read. */
enum { AHEAD = 8 };

/* acc[p] += message of the child's ids; lists the p's that were zero. */
static uint32_t push(const struct tnode *k, const struct nwork *kid,
                     uint64_t *acc, uint32_t *ids, uint32_t limit)
{
    const struct csr *c = k->up->flip;
    uint32_t n = 0;
    for (uint32_t i = 0; i < kid->n_ids; i++) {
        uint32_t id = kid->ids[i];
        uint64_t x = kid->mark ? 1 : kid->val[id];
        if (i + 2 * AHEAD < kid->n_ids) {
            __builtin_prefetch(c->off + kid->ids[i + 2 * AHEAD]);
            __builtin_prefetch(c->adj + c->off[kid->ids[i + AHEAD]]);
        }
        uint32_t e = c->off[id], end = c->off[id + 1];
        if (k->above_parent)
            end = csr_seek(c, id, id);
        if (k->kind == W_SUM && !c->w) {
            for (; e < end && c->adj[e] < limit; e++) {
                uint32_t p = c->adj[e];
                ids[n] = p;
                n += acc[p] == 0;
                acc[p] += x;
            }
            continue;
        }
        for (; e < end && c->adj[e] < limit; e++) {
            uint32_t p = c->adj[e];
            uint64_t v = k->kind == W_EXISTS ? 1 : c->w ? x * c->w[e] : x;
            if (!acc[p])
                ids[n++] = p;
            if (k->kind == W_SUM)
                acc[p] += v;
            else if (v > acc[p])
                acc[p] = v;
        }
    }
    return n;
}

/* The support of a node without lists: where one child's message arrives. */
static void support_push(const struct tnode *n, const struct tnode *k,
                         struct twork *w, const struct nwork *kid,
                         struct nwork *x, const uint32_t *fixed)
{
    uint32_t got = push(k, kid, x->val, x->ids, tnode_limit(n, fixed)),
             left = 0;
    bool plain = !n->unary && !n->above;
    for (gset s = n->differ; s; s &= s - 1)
        x->val[fixed[__builtin_ctz(s)]] = 0;
    for (uint32_t i = 0; i < got; i++) {
        uint32_t id = x->ids[i];
        uint64_t v = x->val[id];
        if (k->power > 1)
            v = power_of(w, v, k);
        if (!plain) {
            uint64_t u = weight_at(n, w, fixed, id, UINT32_MAX);
            if (u != 1 && !u64_mul(v, u, &v))
                w->wide = true;
        }
        x->val[id] = v;
        if (v > x->top)
            x->top = v;
        if (v)
            x->ids[left++] = id;
    }
    x->n_ids = left;
}

static void push_into(const struct tnode *n, const struct tnode *k,
                      struct twork *w, const struct nwork *kid, struct nwork *x,
                      const uint32_t *fixed)
{
    uint32_t got = push(k, kid, w->acc, w->acc_ids, tnode_limit(n, fixed)),
             left = 0;
    x->top = 0;
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint32_t id = x->ids[i];
        uint64_t v = 0;
        if (!u64_mul(x->val[id], power_of(w, w->acc[id], k), &v))
            w->wide = true;
        x->val[id] = v;
        if (v > x->top)
            x->top = v;
        if (v)
            x->ids[left++] = id;
    }
    x->n_ids = left;
    for (uint32_t i = 0; i < got; i++)
        w->acc[w->acc_ids[i]] = 0;
}

static void clear(const struct tnode *n, struct nwork *x)
{
    for (uint32_t i = 0; i < x->n_ids; i++) {
        if (n->is_mark)
            x->mark_buf[x->ids[i]] = 0;
        else
            x->val[x->ids[i]] = 0;
    }
    x->n_ids = 0;
    x->top = 0;
}

/* The child to push from when nothing else gives the support, or n_kids. */
static uint32_t best_pusher(const struct jtree *t, const struct twork *w,
                            const struct tnode *n)
{
    uint32_t best = n->n_kids;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        const struct tnode *k = &t->node[n->kids[i]];
        if (k->is_free)
            continue;
        const struct nwork *x = &w->node[n->kids[i]];
        uint64_t cost = csr_pairs_from(k->up->flip, x->ids, x->n_ids, least);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

static void multiply_kid(const struct tnode *n, const struct tnode *k,
                         struct twork *w, const struct nwork *kid,
                         struct nwork *x, const uint32_t *fixed)
{
    if (!fits(w, k, k->is_free ? 1 : kid->top))
        return;
    if (!k->is_free && tnode_pushes(k, x->ids, x->n_ids, kid->ids, kid->n_ids))
        push_into(n, k, w, kid, x, fixed);
    else
        pull(k, w, kid, x, fixed);
}

/* No value above cap: more than that is known to be impossible. */
static void lower(struct nwork *x, uint64_t cap)
{
    for (uint32_t i = 0; i < x->n_ids; i++)
        if (x->val[x->ids[i]] > cap)
            x->val[x->ids[i]] = cap;
    x->top = cap;
}

/* The node's own values, when those of its children are there. */
static void eval_node(const struct jtree *t, struct twork *w, uint32_t at,
                      const uint32_t *fixed, const uint32_t *only,
                      uint32_t n_only)
{
    const struct tnode *n = &t->node[at];
    struct nwork *x = &w->node[at];
    uint32_t pushed = n->n_kids;
    if (w->wide)
        return;
    x->mark = n->is_mark ? x->mark_buf : NULL;
    if (n->n_lists)
        support_list(n, w, x, fixed);
    else if (only)
        support_only(n, w, x, fixed, only, n_only);
    else if ((pushed = best_pusher(t, w, n)) < n->n_kids) {
        const struct tnode *k = &t->node[n->kids[pushed]];
        if (fits(w, k, w->node[n->kids[pushed]].top))
            support_push(n, k, w, &w->node[n->kids[pushed]], x, fixed);
    } else
        support_all(n, w, x, fixed);
    w->ids += x->n_ids;
    for (uint32_t i = 0; i < n->n_kids && !w->wide; i++)
        if (i != pushed)
            multiply_kid(n, &t->node[n->kids[i]], w, &w->node[n->kids[i]], x,
                         fixed);
    if (n->cap && x->top > n->cap)
        lower(x, n->cap);
}

static void eval_kids(const struct jtree *t, struct twork *w, uint32_t at,
                      const uint32_t *fixed)
{
    const struct tnode *n = &t->node[at];
    for (uint32_t i = 0; i < n->n_kids && !w->wide; i++)
        if (!t->node[n->kids[i]].is_free) {
            eval_kids(t, w, n->kids[i], fixed);
            eval_node(t, w, n->kids[i], fixed, NULL, 0);
        }
}

void jtree_eval_kids(const struct jtree *t, struct twork *w,
                     const uint32_t *fixed)
{
    eval_kids(t, w, 0, fixed);
}

void jtree_eval_root(const struct jtree *t, struct twork *w,
                     const uint32_t *fixed, const uint32_t *only,
                     uint32_t n_only)
{
    eval_node(t, w, 0, fixed, only, n_only);
}

void jtree_eval(const struct jtree *t, struct twork *w, const uint32_t *fixed,
                const uint32_t *only, uint32_t n_only)
{
    eval_kids(t, w, 0, fixed);
    eval_node(t, w, 0, fixed, only, n_only);
}

void jtree_reset(const struct jtree *t, struct twork *w)
{
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (!t->node[i].is_free)
            clear(&t->node[i], &w->node[i]);
}

u128 jtree_total(const struct jtree *t, const struct twork *w)
{
    const struct nwork *x = &w->node[0];
    u128 total = 0;
    for (uint32_t i = 0; i < x->n_ids; i++) {
        uint64_t v = x->mark ? 1 : x->val[x->ids[i]];
        if (t->node[0].kind == W_SUM)
            total += v;
        else if (v > total)
            total = t->node[0].kind == W_EXISTS ? 1 : v;
    }
    return total;
}
