/*
 * Upper bounds for the search of a maximum. Dropping edges until a tree is
 * left and moving a maximum inside a sum never lowers a value, so messages
 * along a spanning tree bound the value for every id of its root, given the
 * variables fixed so far. A node's value is also at most the value of its
 * own subtree with the node as boundary: a smaller problem of the same kind,
 * solved once and remembered.
 */
#include "join/message/message.h"
#include "join/message/prune.h"

#include <string.h>

static uint64_t dropped_weight(const struct graph *g, gset comp, uint32_t n,
                               bool *wide)
{
    uint64_t w = 1;
    uint32_t inner = 0;
    for (uint32_t i = 0; i < g->n_edges; i++)
        if ((comp & gset_one(g->e[i].a)) && (comp & gset_one(g->e[i].b))) {
            inner++;
            *wide = *wide || g->e[i].ab->wide;
            if (g->e[i].ab->max_w > 1 && !u64_mul(w, g->e[i].ab->max_w, &w))
                *wide = true;
        }
    return inner + 1 > n ? w : 1;
}

static unsigned any_root(const struct graph *g, gset comp)
{
    for (gset s = comp; s; s &= s - 1)
        if (g->v[__builtin_ctz(s)].kind == W_MAX)
            return (unsigned)__builtin_ctz(s);
    return (unsigned)__builtin_ctz(comp);
}

enum status prune_make(struct plan *p, gset fixed, unsigned y, struct prune *b,
                       struct err *err)
{
    gset open = p->live & ~fixed;
    memset(b, 0, sizeof *b);
    b->trees = NEWS(p->a, struct jtree, (size_t)__builtin_popcount(open));
    if (!b->trees)
        return err_nomem(err);
    b->slack = 1;
    b->y = y;
    b->fixed = fixed;
    while (open) {
        bool ok;
        gset comp = graph_component(&p->g, open, (unsigned)__builtin_ctz(open));
        bool has_y = comp & gset_one(y);
        if (has_y)
            b->main = b->n_trees;
        struct jtree *t = &b->trees[b->n_trees++];
        jtree_make(&p->g, comp, fixed, has_y ? y : any_root(&p->g, comp), NULL,
                   true, t, &ok);
        uint32_t n = (uint32_t)__builtin_popcount(comp);
        if (!u64_mul(b->slack, dropped_weight(&p->g, comp, n, &b->wide),
                     &b->slack))
            b->wide = true;
        if (t->n_nodes > p->max_nodes)
            p->max_nodes = t->n_nodes;
        open &= ~comp;
    }
    return OK;
}

/* The variables of a subtree; *plain false if equal children were merged. */
static gset subtree(const struct jtree *t, uint32_t at, bool *plain)
{
    const struct tnode *n = &t->node[at];
    gset s = gset_one(n->var);
    for (uint32_t i = 0; i < n->n_kids; i++) {
        *plain = *plain && t->node[n->kids[i]].power == 1;
        s |= subtree(t, n->kids[i], plain);
    }
    return s;
}

static bool has_kind(const struct graph *g, gset s, enum walk_kind kind)
{
    for (; s; s &= s - 1)
        if (g->v[__builtin_ctz(s)].kind == kind)
            return true;
    return false;
}

/* Nothing is counted and nothing has a weight. */
static bool zero_or_one(const struct graph *g, gset live)
{
    for (uint32_t v = 0; v < g->n_vars; v++)
        if ((live & gset_one(v)) && (g->v[v].kind == W_SUM || g->v[v].unary))
            return false;
    for (uint32_t i = 0; i < g->n_edges; i++)
        if (g->e[i].ab->max_w > 1)
            return false;
    return true;
}

enum status prune_caps(struct plan *p, struct prune *b, struct err *err)
{
    struct jtree *t = &b->trees[b->main];
    for (uint32_t i = 1; i < t->n_nodes; i++) {
        struct graph sub;
        uint8_t place[G_VARS];
        bool plain = true;
        enum outcome what = PASS;
        gset s = subtree(t, i, &plain);
        if (!plain || __builtin_popcount(s) < 3 || !has_kind(&p->g, s, W_MAX) ||
            !has_kind(&p->g, s, W_SUM))
            continue;
        u128 value = 0;
        graph_induce(&p->g, s, &sub, place);
        sub.v[place[t->node[i].var]].kind = W_MAX;
        if (zero_or_one(&sub, ~(gset)0)) {
            t->node[i].cap = 1;
            continue;
        }
        TRY(p->solve(p->j, &sub, &value, &what, err));
        if (what == SOLVED && !(value >> 62) && value && value < COUNT_MOST)
            t->node[i].cap = (uint64_t)value;
    }
    return OK;
}

/* At most this: from boundary variable y every sum variable is reached by
 * an edge, and has at most as many values as the largest degree there. */
static uint64_t reach_limit(const struct plan *p, unsigned y)
{
    uint64_t limit = 1;
    gset done = gset_one(y);
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < p->g.n_edges; i++) {
            const struct gedge *e = &p->g.e[i];
            bool a = done & gset_one(e->a), b = done & gset_one(e->b);
            if (a == b)
                continue;
            const struct csr *c = a ? e->ab : e->ab->flip;
            unsigned to = a ? e->b : e->a;
            uint64_t by = p->g.v[to].kind == W_MAX ? c->max_w : c->max_sum;
            if (!u64_mul(limit, by, &limit))
                return UINT64_MAX;
            done |= gset_one(to);
            again = true;
        }
    }
    return done == p->live ? limit : UINT64_MAX;
}

uint64_t prune_limit(const struct plan *p)
{
    uint64_t best = UINT64_MAX, weights = 1;
    uint32_t n = (uint32_t)__builtin_popcount(p->live);
    if (zero_or_one(&p->g, p->live))
        return 1;
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if ((p->live & gset_one(v)) && p->g.v[v].unary)
            return UINT64_MAX; /* weights of its own: not worth the care */
    for (uint32_t i = 0; i < p->g.n_edges; i++)
        if (!u64_mul(weights, p->g.e[i].ab->max_w, &weights))
            return UINT64_MAX;
    if (p->g.n_edges + 1 > n && weights > 1)
        return UINT64_MAX;
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if ((p->live & gset_one(v)) && p->g.v[v].kind == W_MAX) {
            uint64_t x = reach_limit(p, v);
            best = x < best ? x : best;
        }
    return best;
}

/* Boundary variables without weights whose edges all lead to others. */
static gset bystanders(const struct plan *p)
{
    gset s = 0;
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if ((p->live & gset_one(v)) && p->g.v[v].kind == W_MAX &&
            !p->g.v[v].unary)
            s |= gset_one(v);
    gset out = s;
    for (uint32_t i = 0; i < p->g.n_edges; i++) {
        gset a = gset_one(p->g.e[i].a), b = gset_one(p->g.e[i].b);
        if (!(s & a) || !(s & b) || p->g.e[i].ab->max_w > 1)
            out &= ~(a | b);
    }
    return out;
}

/* Whatever id a bystander has, its edges and inequalities only allow or
 * forbid what is counted without it. So no value exceeds the largest without
 * bystanders: a smaller problem, and mostly one that is asked anyway. */
enum status prune_limit_core(struct plan *p, uint64_t *limit, struct err *err)
{
    gset core = p->live & ~bystanders(p);
    struct graph sub;
    uint8_t place[G_VARS];
    enum outcome what = PASS;
    u128 value = 0;
    if (core == p->live || !has_kind(&p->g, core, W_SUM) ||
        !has_kind(&p->g, core, W_MAX) ||
        graph_component(&p->g, core, (unsigned)__builtin_ctz(core)) != core)
        return OK;
    graph_induce(&p->g, core, &sub, place);
    TRY(p->solve(p->j, &sub, &value, &what, err));
    if (what == SOLVED && value < *limit && value < COUNT_MOST)
        *limit = (uint64_t)value;
    return OK;
}

/* Factors between the fixed variables so far. */
static u128 prefix(struct runner *r, const struct prune *b)
{
    const struct graph *g = &r->p->g;
    u128 v = 1;
    for (gset s = b->fixed; s && v; s &= s - 1) {
        unsigned x = (unsigned)__builtin_ctz(s);
        if (g->v[x].unary && !u128_mul(v, g->v[x].unary[r->fixed[x]], &v))
            r->wide = true;
    }
    for (uint32_t i = 0; i < g->n_edges && v; i++) {
        const struct gedge *e = &g->e[i];
        if ((b->fixed & gset_one(e->a)) && (b->fixed & gset_one(e->b)) &&
            !u128_mul(v, csr_weight(e->ab, r->fixed[e->a], r->fixed[e->b]), &v))
            r->wide = true;
    }
    return v;
}

void candidates_order(struct candidate *c, uint32_t n, struct candidate *tmp)
{
    uint32_t at[CANDIDATE_RANKS + 1] = {0}, sum = 0;
    uint32_t top = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = candidate_rank(c[i].bound);
        at[rank]++;
        top = rank > top ? rank : top;
    }
    for (uint32_t k = top + 1; k-- > 0;) {
        uint32_t here = at[k];
        at[k] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++)
        tmp[at[candidate_rank(c[i].bound)]++] = c[i];
    if (n)
        memcpy(c, tmp, (size_t)n * sizeof *c);
}

uint32_t prune_eval(const struct prune *b, struct runner *r, uint64_t above,
                    struct candidate *out)
{
    u128 times = prefix(r, b);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_trees && times && !r->wide; i++) {
        if (i == b->main)
            continue;
        jtree_eval(&b->trees[i], &r->other, r->fixed, NULL, 0);
        u128 x = jtree_total(&b->trees[i], &r->other);
        jtree_reset(&b->trees[i], &r->other);
        r->wide = r->wide || r->other.wide || !u128_mul(times, x, &times);
    }
    if (!u128_mul(times, b->slack, &times) || b->wide || times >> 62)
        r->wide = true;
    if (!times || r->wide)
        return 0;
    jtree_eval(&b->trees[b->main], &r->other, r->fixed, NULL, 0);
    const struct nwork *x = &r->other.node[0];
    r->wide = r->wide || r->other.wide;
    for (uint32_t i = 0; i < x->n_ids && !r->wide; i++) {
        u128 v = times * x->val[x->ids[i]];
        if (v >> 62)
            r->wide = true;
        struct candidate c = {(uint64_t)v, x->ids[i]};
        if (v > above)
            out[n++] = c;
    }
    jtree_reset(&b->trees[b->main], &r->other);
    return n;
}
