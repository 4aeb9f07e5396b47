/*
 * Building trees out of graphs: see jointree.h.
 */
#include "join/jointree/jointree.h"

#include <string.h>

struct planting {
    const struct graph *g;
    gset comp, fixed, placed;
    const struct jtree_limits *lim;
    bool spanning, ok;
    struct jtree *t;
};

static void restrict_node(const struct planting *p, struct tnode *n)
{
    const struct graph *g = p->g;
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct gedge *e = &g->e[i];
        bool at_a = e->a == n->var, at_b = e->b == n->var;
        unsigned x = at_a ? e->b : e->a;
        if ((!at_a && !at_b) || !(p->fixed & gset_one(x)))
            continue;
        struct tlist l = {(uint8_t)x, at_a ? e->ab->flip : e->ab};
        n->lists[n->n_lists++] = l;
    }
    for (uint32_t i = 0; i < g->n_nes; i++) {
        if (g->ne[i].a == n->var)
            n->differ |= gset_one(g->ne[i].b) & p->fixed;
        if (g->ne[i].b == n->var)
            n->differ |= gset_one(g->ne[i].a) & p->fixed;
    }
    for (uint32_t i = 0; i < g->n_lts; i++)
        if (g->lt[i].a == n->var)
            n->below |= gset_one(g->lt[i].b) & p->fixed;
    for (uint32_t i = 0; i < g->n_lts; i++)
        if (g->lt[i].b == n->var)
            n->above |= gset_one(g->lt[i].a) & p->fixed;
    if (p->lim && (p->lim->below_first & gset_one(n->var)) &&
        (p->fixed & gset_one(p->lim->first))) {
        n->below |= gset_one(p->lim->first);
    }
    n->differ &= ~(n->below | n->above);
}

static uint32_t add_node(struct planting *p, unsigned v, const struct csr *up)
{
    struct tnode *n = &p->t->node[p->t->n_nodes];
    memset(n, 0, sizeof *n);
    n->var = (uint8_t)v;
    n->power = (uint8_t)(1 + p->g->v[v].twins);
    n->falling = p->g->v[v].twins;
    n->kind = p->g->v[v].kind;
    n->n = p->g->v[v].n;
    n->unary = p->g->v[v].unary;
    n->up = up;
    p->placed |= gset_one(v);
    restrict_node(p, n);
    return p->t->n_nodes++;
}

/* Breadth first, so that bounds use the shallowest tree. */
static void grow(struct planting *p)
{
    for (uint32_t at = 0; at < p->t->n_nodes; at++) {
        unsigned v = p->t->node[at].var;
        for (uint32_t i = 0; i < p->g->n_edges; i++) {
            const struct gedge *e = &p->g->e[i];
            unsigned w = e->a == v ? e->b : e->a;
            if ((e->a != v && e->b != v) || !(p->comp & gset_one(w)) ||
                (p->placed & gset_one(w)))
                continue;
            uint32_t k = add_node(p, w, e->a == v ? e->ab : e->ab->flip);
            struct tnode *parent = &p->t->node[at];
            parent->kids[parent->n_kids++] = (uint8_t)k;
            if (p->t->node[k].kind < parent->kind)
                p->ok = false;
        }
    }
}

static uint32_t inner_edges(const struct planting *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->g->n_edges; i++)
        n += (p->comp & gset_one(p->g->e[i].a)) &&
             (p->comp & gset_one(p->g->e[i].b));
    return n;
}

static bool same_subtree(const struct jtree *t, uint32_t a, uint32_t b)
{
    const struct tnode *x = &t->node[a], *y = &t->node[b];
    if (x->falling || y->falling || x->kind != y->kind || x->up != y->up ||
        x->unary != y->unary || x->differ != y->differ ||
        x->below != y->below || x->above != y->above ||
        x->n_lists != y->n_lists || x->n_kids != y->n_kids ||
        x->above_parent != y->above_parent || x->power != y->power)
        return false;
    for (uint32_t i = 0; i < x->n_lists; i++)
        if (x->lists[i].x != y->lists[i].x || x->lists[i].c != y->lists[i].c)
            return false;
    for (uint32_t i = 0; i < x->n_kids; i++)
        if (!same_subtree(t, x->kids[i], y->kids[i]))
            return false;
    return true;
}

/* Children with equal subtrees send equal messages: keep one, to a power. */
static void merge_kids(struct jtree *t, struct tnode *n)
{
    for (uint32_t i = 0; i < n->n_kids; i++)
        for (uint32_t k = i + 1; k < n->n_kids;) {
            if (!same_subtree(t, n->kids[i], n->kids[k])) {
                k++;
                continue;
            }
            t->node[n->kids[i]].power++;
            n->kids[k] = n->kids[--n->n_kids];
        }
}

/* In a bound, an exists above a sum counts instead: never less. */
static bool relax_exists(struct jtree *t, uint32_t at)
{
    struct tnode *n = &t->node[at];
    bool sum = n->kind != W_EXISTS;
    for (uint32_t i = 0; i < n->n_kids; i++)
        sum = relax_exists(t, n->kids[i]) || sum;
    if (sum && n->kind == W_EXISTS)
        n->kind = W_SUM;
    return sum;
}

/* Leaves without weights, which need no array of their own: is_free and is_mark
 * (jointree.h). */
static void classify(struct tnode *n)
{
    bool leaf = !n->n_kids && !n->unary && n->up;
    n->is_free = leaf && !n->n_lists && !n->up->w;
    n->is_mark = leaf && n->n_lists;
    for (uint32_t i = 0; i < n->n_lists; i++)
        n->is_mark = n->is_mark && !n->lists[i].c->w;
}

void jtree_make(const struct graph *g, gset comp, gset fixed, unsigned root,
                const struct jtree_limits *lim, bool spanning, struct jtree *t,
                bool *ok)
{
    struct planting p = {.g = g,
                         .comp = comp,
                         .fixed = fixed,
                         .lim = lim,
                         .spanning = spanning,
                         .ok = true,
                         .t = t};
    t->n_nodes = 0;
    add_node(&p, root, NULL);
    grow(&p);
    if (inner_edges(&p) + 1 != t->n_nodes)
        p.ok = false;
    if (spanning)
        relax_exists(t, 0);
    for (uint32_t i = t->n_nodes; i-- > 0;)
        merge_kids(t, &t->node[i]);
    for (uint32_t i = 0; i < t->n_nodes; i++)
        classify(&t->node[i]);
    *ok = p.ok || spanning;
}
