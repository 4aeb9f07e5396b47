/*
 * The signed terms of a plan: inclusion-exclusion over the inequalities
 * between unfixed variables, by deletion and contraction, each term with its
 * trees.
 */
#include "join/message/message.h"

#include <string.h>

struct expansion {
    struct plan *p;
    struct sterm *out;
    uint32_t n, room;
    enum outcome what; /* SOLVED: so far it can be expanded */
    struct err *err;
};

/* An inequality between two unfixed variables, or -1. */
static int open_ne(const struct plan *p, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_nes; i++)
        if (!((gset_one(g->ne[i].a) | gset_one(g->ne[i].b)) & p->x_set))
            return (int)i;
    return -1;
}

/* Terms are large and mostly few: room doubles. */
static enum status more_room(struct expansion *x)
{
    uint32_t room = x->room ? x->room * 2 : 1;
    struct sterm *out = NEWS(x->p->a, struct sterm, room);
    if (!out)
        return err_nomem(x->err);
    if (x->n)
        memcpy(out, x->out, x->n * sizeof *out);
    x->out = out;
    x->room = room;
    return OK;
}

/* Adds a term to the list: the same one with other signs only changes its
 * coefficient. PASS: there are too many. */
static enum status collect(struct expansion *x, const struct sterm *t)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (memcmp(x->out[i].rep, t->rep, sizeof t->rep) == 0) {
            x->out[i].coef += t->coef;
            return OK;
        }
    if (x->n == MOST_TERMS) {
        x->what = PASS;
        return OK;
    }
    if (x->n == x->room)
        TRY(more_room(x));
    x->out[x->n++] = *t;
    return OK;
}

/* x != y: without it, minus with y made x. A boundary variable stays. */
static enum status expand(struct expansion *x, const struct sterm *t)
{
    int ne = open_ne(x->p, &t->g);
    if (x->what != SOLVED)
        return OK;
    if (ne < 0)
        return collect(x, t);
    struct sterm *a = NEW(x->p->a, struct sterm);
    if (!a)
        return err_nomem(x->err);
    unsigned u = t->g.ne[ne].a, v = t->g.ne[ne].b;
    *a = *t;
    a->g.ne[ne] = a->g.ne[--a->g.n_nes];
    TRY(expand(x, a));
    *a = *t;
    a->g.ne[ne] = a->g.ne[--a->g.n_nes];
    /* u stays: a boundary variable, else the smaller */
    bool swap = a->g.v[u].kind != W_MAX && (a->g.v[v].kind == W_MAX || v < u);
    if (swap) {
        unsigned w = u;
        u = v;
        v = w;
    }
    bool zero = false;
    TRY(graph_contract(x->p->j, x->p->a, &a->g, u, v, &zero, &x->what, x->err));
    if (zero || x->what != SOLVED)
        return OK;
    a->coef = -t->coef;
    a->gone |= gset_one(v);
    for (uint32_t i = 0; i < G_VARS; i++)
        if (a->rep[i] == v)
            a->rep[i] = (uint8_t)u;
    if (a->lim.below_first & gset_one(v))
        a->lim.below_first |= gset_one(u);
    return expand(x, a);
}

/* --- twins ----------------------------------------------------------------
 * Leaves with the same edges that must all differ need no terms: if one has
 * m choices, the next has m - 1 left, and so on. Edges have no weights, so
 * that a message is a number of choices. */

static const struct csr *edge_to(const struct graph *g, unsigned from,
                                 unsigned to)
{
    for (uint32_t i = 0; i < g->n_edges; i++) {
        if (g->e[i].a == from && g->e[i].b == to)
            return g->e[i].ab;
        if (g->e[i].b == from && g->e[i].a == to)
            return g->e[i].ab->flip;
    }
    return NULL;
}

static bool must_differ(const struct graph *g, unsigned u, unsigned v)
{
    for (uint32_t i = 0; i < g->n_nes; i++)
        if ((g->ne[i].a == u && g->ne[i].b == v) ||
            (g->ne[i].a == v && g->ne[i].b == u))
            return true;
    return false;
}

/* One unfixed neighbour, counted, without weights of its own. */
static bool plain_leaf(const struct plan *p, const struct sterm *t, unsigned v)
{
    uint32_t inner = 0;
    if ((t->gone | p->x_set) & gset_one(v) || (int)v == p->root ||
        t->g.v[v].kind != W_SUM || t->g.v[v].unary)
        return false;
    for (unsigned w = 0; w < t->g.n_vars; w++) {
        const struct csr *c = edge_to(&t->g, w, v);
        if (c && c->w)
            return false;
        inner += c && !(p->x_set & gset_one(w));
    }
    return inner == 1;
}

/* u and v are alike, differ, and differ from no other unfixed variable that
 * is not such a twin as well. */
static bool are_twins(const struct plan *p, const struct sterm *t, unsigned u,
                      unsigned v)
{
    const struct graph *g = &t->g;
    gset below = t->lim.below_first;
    if (!plain_leaf(p, t, u) || !plain_leaf(p, t, v) || !must_differ(g, u, v) ||
        edge_to(g, u, v) || /* the choice of one narrows the other's */
        !(below & gset_one(u)) != !(below & gset_one(v)) ||
        g->v[u].n != g->v[v].n)
        return false;
    for (unsigned w = 0; w < g->n_vars; w++) {
        if (w == u || w == v)
            continue;
        if (edge_to(g, w, u) != edge_to(g, w, v) ||
            must_differ(g, w, u) != must_differ(g, w, v))
            return false;
    }
    return true;
}

/* The twins of u; empty if u differs from an unfixed variable besides. */
static gset twins_of(const struct plan *p, const struct sterm *t, unsigned u)
{
    gset twins = 0;
    for (unsigned v = 0; v < t->g.n_vars; v++)
        if (v != u && are_twins(p, t, u, v))
            twins |= gset_one(v);
    for (unsigned w = 0; w < t->g.n_vars; w++)
        if (!((twins | p->x_set) & gset_one(w)) && must_differ(&t->g, u, w))
            return 0;
    return twins;
}

static void drop_vars(struct sterm *t, gset gone)
{
    struct graph *g = &t->g;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_edges; i++)
        if (!((gset_one(g->e[i].a) | gset_one(g->e[i].b)) & gone))
            g->e[n++] = g->e[i];
    g->n_edges = n;
    n = 0;
    for (uint32_t i = 0; i < g->n_nes; i++)
        if (!((gset_one(g->ne[i].a) | gset_one(g->ne[i].b)) & gone))
            g->ne[n++] = g->ne[i];
    g->n_nes = n;
    t->gone |= gone;
}

static void merge_twins(const struct plan *p, struct sterm *t)
{
    for (unsigned u = 0; u < t->g.n_vars; u++) {
        gset twins = twins_of(p, t, u);
        if (!twins)
            continue;
        t->g.v[u].twins = (uint8_t)__builtin_popcount(twins);
        drop_vars(t, twins);
    }
}

/* --- trees ---------------------------------------------------------------- */

static uint32_t tree_degree(const struct graph *g, gset comp, unsigned v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_edges; i++)
        n += (g->e[i].a == v && (comp & gset_one(g->e[i].b))) ||
             (g->e[i].b == v && (comp & gset_one(g->e[i].a)));
    return n;
}

static unsigned choose_root(const struct plan *p, const struct graph *g,
                            gset comp)
{
    if (p->root >= 0 && (comp & gset_one((unsigned)p->root)))
        return (unsigned)p->root;
    unsigned best = (unsigned)__builtin_ctz(comp);
    long top = -1;
    for (gset s = comp; s; s &= s - 1) {
        unsigned v = (unsigned)__builtin_ctz(s);
        long score = (2 - (long)g->v[v].kind) * 100 + tree_degree(g, comp, v);
        if (g->v[v].twins) /* only a child counts more than once */
            score = 0;
        if (score > top) {
            top = score;
            best = v;
        }
    }
    return best;
}

/* A join tree for each part of the term that the fixed variables leave. PASS: a
 * part is no tree. */
static enum status plant(struct plan *p, struct sterm *t, enum outcome *what,
                         struct err *err)
{
    gset keep = p->x_set | t->lim.below_first;
    if (p->root >= 0)
        keep |= gset_one((unsigned)p->root);
    TRY(graph_trim(p->a, &t->g, keep, &t->gone, what, err));
    gset open = p->live & ~p->x_set & ~t->gone;
    t->trees = NEWS(p->a, struct jtree, (size_t)__builtin_popcount(open));
    t->root_tree = -1;
    if (!t->trees)
        return err_nomem(err);
    while (open && *what == SOLVED) {
        gset comp = graph_component(&t->g, open, (unsigned)__builtin_ctz(open));
        unsigned root = choose_root(p, &t->g, comp);
        if ((int)root == p->root)
            t->root_tree = (int)t->n_trees;
        struct jtree *tree = &t->trees[t->n_trees++];
        bool planted;
        jtree_make(&t->g, comp, p->x_set, root, &t->lim, false, tree, &planted);
        if (!planted)
            *what = PASS;
        if (tree->n_nodes > p->max_nodes)
            p->max_nodes = tree->n_nodes;
        open &= ~comp;
    }
    return OK;
}

enum status plan_terms(struct plan *p, enum outcome *what, struct err *err)
{
    struct expansion x = {.p = p, .what = SOLVED, .err = err};
    struct sterm *first = NEW(p->a, struct sterm);
    if (!first)
        return err_nomem(err);
    first->coef = 1;
    first->g = p->g;
    first->gone = (gset)(((uint64_t)1 << p->g.n_vars) - 1) & ~p->live;
    first->lim = p->lim;
    for (uint32_t i = 0; i < G_VARS; i++)
        first->rep[i] = (uint8_t)i;
    if (!p->g.n_lts)
        merge_twins(p, first);
    TRY(expand(&x, first));
    for (uint32_t i = 0; i < x.n && x.what == SOLVED; i++)
        TRY(plant(p, &x.out[i], &x.what, err));
    p->terms = x.out;
    p->n_terms = x.n;
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if (p->g.v[v].n > p->max_n)
            p->max_n = p->g.v[v].n;
    *what = x.what;
    return OK;
}
