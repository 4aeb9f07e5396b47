/*
 * Symmetry: if automorphisms of the query move the first fixed variable to
 * others, and those are pairwise different in every result, then exactly one
 * of them is the largest, and by symmetry each is the largest equally often.
 * So the first one is taken to be the largest and the count multiplied. With
 * ids rising with degree that also bounds the work at large degrees.
 *
 * In maxima, an automorphism that moves boundary variable x to y gives the same
 * value to ids that are moved along with the variables. Moved on and on, x
 * passes through y and returns; the ids met on the way cannot fall at every
 * step, whatever order is given to ids. So a maximum needs to see only ids
 * where that of x does not come after that of y.
 */
#include "join/message/message.h"

#include <string.h>

enum { MOST_SYMMETRIC = 7 };

struct mapping {
    const struct graph *g;
    gset live, held; /* held: mapped to themselves */
    uint8_t to[G_VARS];
    gset used;
    gset *orbit; /* of each variable */
};

static const struct csr *edge_between(const struct graph *g, unsigned a,
                                      unsigned b)
{
    for (uint32_t i = 0; i < g->n_edges; i++) {
        if (g->e[i].a == a && g->e[i].b == b)
            return g->e[i].ab;
        if (g->e[i].a == b && g->e[i].b == a)
            return g->e[i].ab->flip;
    }
    return NULL;
}

static bool differs(const struct graph *g, unsigned a, unsigned b)
{
    for (uint32_t i = 0; i < g->n_nes; i++)
        if ((g->ne[i].a == a && g->ne[i].b == b) ||
            (g->ne[i].a == b && g->ne[i].b == a))
            return true;
    return false;
}

/* Does mapping v to `to` agree with what is mapped already? */
static bool agrees(const struct mapping *m, unsigned v, unsigned to, gset done)
{
    const struct graph *g = m->g;
    if (g->v[v].kind != g->v[to].kind || g->v[v].unary != g->v[to].unary ||
        g->v[v].n != g->v[to].n)
        return false;
    for (gset s = done; s; s &= s - 1) {
        unsigned u = (unsigned)__builtin_ctz(s);
        if (edge_between(g, u, v) != edge_between(g, m->to[u], to) ||
            differs(g, u, v) != differs(g, m->to[u], to))
            return false;
    }
    return true;
}

/* Backtracking over the maps of the graph onto itself, variable by variable:
 * notes in `orbit` where each may go. */
static void search(struct mapping *m, gset left, gset done)
{
    if (!left) {
        for (gset s = m->live; s; s &= s - 1) {
            unsigned v = (unsigned)__builtin_ctz(s);
            m->orbit[v] |= gset_one(m->to[v]);
        }
        return;
    }
    unsigned v = (unsigned)__builtin_ctz(left);
    gset choices = m->held & gset_one(v) ? gset_one(v) : m->live & ~m->held;
    for (gset s = choices & ~m->used; s; s &= s - 1) {
        unsigned to = (unsigned)__builtin_ctz(s);
        if (!agrees(m, v, to, done))
            continue;
        m->to[v] = (uint8_t)to;
        m->used |= gset_one(to);
        search(m, left & ~gset_one(v), done | gset_one(v));
        m->used &= ~gset_one(to);
    }
}

/* Are all members different in every result? */
static bool all_different(const struct graph *g, gset s)
{
    for (gset a = s; a; a &= a - 1)
        for (gset b = a & (a - 1); b; b &= b - 1) {
            unsigned u = (unsigned)__builtin_ctz(a);
            unsigned v = (unsigned)__builtin_ctz(b);
            const struct csr *e = edge_between(g, u, v);
            if (!differs(g, u, v) && !(e && !e->has_loop && e->same_sides))
                return false;
        }
    return true;
}

static gset orbit_of(const struct plan *p, gset held, unsigned v)
{
    gset orbit[G_VARS] = {0};
    struct mapping m = {
        .g = &p->g, .live = p->live, .held = held, .orbit = orbit};
    search(&m, p->live, 0);
    return orbit[v];
}

static bool only_sums(const struct plan *p)
{
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if ((p->live & gset_one(v)) && p->g.v[v].kind != W_SUM)
            return false;
    return true;
}

void plan_symmetry(struct plan *p)
{
    p->factor = 1;
    memset(&p->lim, 0, sizeof p->lim);
    if (!p->n_x || !only_sums(p) || p->g.n_lts ||
        __builtin_popcount(p->live) > MOST_SYMMETRIC)
        return;
    gset orbit = orbit_of(p, 0, p->x[0]);
    if (__builtin_popcount(orbit) < 2 || !all_different(&p->g, orbit))
        return;
    p->factor = (uint64_t)__builtin_popcount(orbit);
    p->lim.first = p->x[0];
    p->lim.below_first = orbit & ~gset_one(p->x[0]);
}

/* One tree, its root and one child alike: take the root to be the smaller.
 * Ids rise with degrees, and of all ids the smaller of two has the fewest
 * neighbours above itself to look through. */
void plan_second_symmetry(struct plan *p)
{
    struct sterm *t = p->terms;
    if (p->n_terms != 1 || t->n_trees != 1 || !only_sums(p) || !p->n_x ||
        p->g.n_lts || __builtin_popcount(p->live) > MOST_SYMMETRIC ||
        t->gone != 0)
        return;
    struct tnode *root = &t->trees[0].node[0];
    gset orbit = orbit_of(p, p->x_set, root->var);
    if (__builtin_popcount(orbit) != 2 || !all_different(&p->g, orbit))
        return;
    for (uint32_t i = 0; i < root->n_kids; i++) {
        struct tnode *k = &t->trees[0].node[root->kids[i]];
        if (!(orbit & gset_one(k->var)) || k->power != 1 || k->is_free)
            continue;
        k->above_parent = true;
        p->factor *= 2;
        return;
    }
}

bool plan_mirrored(const struct plan *p)
{
    return p->n_x == 1 && p->n_max == 1 && p->root >= 0 && !p->g.n_lts &&
           __builtin_popcount(p->live) <= MOST_SYMMETRIC &&
           (orbit_of(p, 0, p->x[0]) & gset_one((unsigned)p->root));
}

bool plan_exchangeable(const struct plan *p)
{
    return p->n_max >= 2 && !p->g.n_lts &&
           __builtin_popcount(p->live) <= MOST_SYMMETRIC &&
           (orbit_of(p, 0, p->x[0]) & gset_one(p->x[1]));
}
