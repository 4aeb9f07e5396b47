/*
 * What a graph and its factors promise, looked at again: for builds that check
 * their objects (DPC_CHECKS).
 */
#include "join/graph/graph.h"

/* Neighbours rise, lie on the right side, and are as many as was said. */
static const char *side_check(const struct csr *c)
{
    if (c->off[0] != 0 || c->off[c->n_left] != c->n)
        return "csr: its pairs are not those of its rows";
    for (uint32_t l = 0; l < c->n_left; l++) {
        if (c->off[l] > c->off[l + 1] || c->off[l + 1] - c->off[l] > c->max_deg)
            return "csr: a row of too many pairs, or of less than none";
        for (uint32_t k = c->off[l]; k < c->off[l + 1]; k++)
            if (c->adj[k] >= c->n_right ||
                (k > c->off[l] && c->adj[k] <= c->adj[k - 1]))
                return "csr: neighbours not rising, or outside";
    }
    return NULL;
}

static const char *edge_check(const struct graph *g, const struct gedge *e)
{
    if (e->a >= g->n_vars || e->b >= g->n_vars || e->a == e->b)
        return "graph: an edge without two ends";
    const struct csr *c = e->ab;
    if (c->n_left != g->v[e->a].n || c->n_right != g->v[e->b].n)
        return "graph: an edge between other domains";
    if (!c->flip || c->flip->n != c->n || c->flip->n_left != c->n_right)
        return "graph: an edge whose other direction is another";
    const char *bad = side_check(c);
    return bad ? bad : side_check(c->flip);
}

const char *graph_check(const struct graph *g)
{
    const char *bad = NULL;
    if (g->n_vars > G_VARS || g->n_edges > G_EDGES || g->n_nes > G_NES)
        return "graph: more than there is room for";
    for (uint32_t i = 0; i < g->n_edges && !bad; i++)
        bad = edge_check(g, &g->e[i]);
    for (uint32_t i = 0; i < g->n_nes && !bad; i++)
        if (g->ne[i].a >= g->n_vars || g->ne[i].b >= g->n_vars)
            bad = "graph: an inequality of no variable";
    return bad;
}
