/*
 * Keys of graphs: equal requests up to the names of variables are computed
 * once. Variables are coloured by what touches them, the colours refined by
 * those of the neighbours, and the least description over all orders that
 * respect the colours is the key. If there are too many such orders the
 * first is taken: equal graphs may then get different keys, which costs time
 * only. Different graphs never get the same key.
 *
 * Which ids are below which is the same for every graph over a domain, and what
 * touches a variable tells its domain: comparisons need no more than their two
 * ends.
 */
#include "join/graph/graph.h"

#include <string.h>

enum { MOST_ORDERS = 720 };
/* What joins two places: 0: !=; an edge by its number, from 1; `<`. */
#define BELOW UINT32_MAX
#define ABOVE (UINT32_MAX - 1)

struct keying {
    const struct graph *g;
    uint64_t colour[G_VARS];
    uint8_t order[G_VARS]; /* place -> variable */
    uint8_t place[G_VARS];
    uint32_t best[G_KEY];
    size_t n_best;
    uint32_t left; /* orders that may still be tried */
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static void first_colours(struct keying *k)
{
    const struct graph *g = k->g;
    for (uint32_t v = 0; v < g->n_vars; v++) {
        uint64_t h = mix(g->v[v].kind, g->v[v].n_names);
        for (uint32_t i = 0; i < g->v[v].n_names; i++)
            h = mix(h, g->v[v].names[i]);
        k->colour[v] = h;
    }
}

/* Sums are used so that the order of edges does not matter. */
static void refine(struct keying *k)
{
    const struct graph *g = k->g;
    uint64_t next[G_VARS];
    memcpy(next, k->colour, sizeof next);
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct gedge *e = &g->e[i];
        next[e->a] += mix(k->colour[e->b], e->ab->id + 1u);
        next[e->b] += mix(k->colour[e->a], e->ab->flip->id + 1u);
    }
    for (uint32_t i = 0; i < g->n_nes; i++) {
        next[g->ne[i].a] += mix(k->colour[g->ne[i].b], 77777);
        next[g->ne[i].b] += mix(k->colour[g->ne[i].a], 77777);
    }
    for (uint32_t i = 0; i < g->n_lts; i++) {
        next[g->lt[i].a] += mix(k->colour[g->lt[i].b], 88811);
        next[g->lt[i].b] += mix(k->colour[g->lt[i].a], 99907);
    }
    for (uint32_t v = 0; v < g->n_vars; v++)
        k->colour[v] = mix(next[v], 5);
}

static int cmp_triple(const uint32_t *a, const uint32_t *b)
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void insert_triple(uint32_t (*list)[3], uint32_t n, uint32_t *t)
{
    while (n && cmp_triple(list[n - 1], t) > 0) {
        memcpy(list[n], list[n - 1], sizeof list[n]);
        n--;
    }
    memcpy(list[n], t, sizeof list[n]);
}

static size_t describe(struct keying *k, uint32_t *out)
{
    const struct graph *g = k->g;
    uint32_t lines[G_EDGES + 2 * G_NES][3];
    uint32_t n_lines = 0;
    size_t n = 0;
    for (uint32_t p = 0; p < g->n_vars; p++)
        k->place[k->order[p]] = (uint8_t)p;
    out[n++] = g->n_vars;
    for (uint32_t p = 0; p < g->n_vars; p++) {
        const struct gvar *x = &g->v[k->order[p]];
        out[n++] = x->kind;
        out[n++] = x->n_names;
        for (uint32_t i = 0; i < x->n_names; i++)
            out[n++] = x->names[i];
    }
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct gedge *e = &g->e[i];
        bool flip = k->place[e->a] > k->place[e->b];
        uint32_t t[3] = {k->place[flip ? e->b : e->a],
                         k->place[flip ? e->a : e->b],
                         1 + (flip ? e->ab->flip->id : e->ab->id)};
        insert_triple(lines, n_lines++, t);
    }
    for (uint32_t i = 0; i < g->n_nes; i++) {
        uint32_t a = k->place[g->ne[i].a], b = k->place[g->ne[i].b];
        uint32_t t[3] = {a < b ? a : b, a < b ? b : a, 0};
        insert_triple(lines, n_lines++, t);
    }
    for (uint32_t i = 0; i < g->n_lts; i++) {
        uint32_t a = k->place[g->lt[i].a], b = k->place[g->lt[i].b];
        uint32_t t[3] = {a < b ? a : b, a < b ? b : a, a < b ? BELOW : ABOVE};
        insert_triple(lines, n_lines++, t);
    }
    /* twice the same inequality says no more than once */
    for (uint32_t i = 0; i < n_lines; i++) {
        if (i && cmp_triple(lines[i - 1], lines[i]) == 0)
            continue;
        out[n++] = lines[i][0] * G_VARS + lines[i][1];
        out[n++] = lines[i][2];
    }
    return n;
}

static void try_order(struct keying *k)
{
    uint32_t now[G_KEY];
    size_t n = describe(k, now);
    if (!k->n_best || memcmp(now, k->best, n * sizeof *now) < 0) {
        memcpy(k->best, now, n * sizeof *now);
        k->n_best = n;
    }
}

/* All orders of the places from p on that keep equal colours together. */
static void permute(struct keying *k, uint32_t p)
{
    if (!k->left)
        return;
    if (p == k->g->n_vars) {
        k->left--;
        try_order(k);
        return;
    }
    for (uint32_t i = p; i < k->g->n_vars; i++) {
        if (k->colour[k->order[i]] != k->colour[k->order[p]])
            break;
        uint8_t t = k->order[p];
        k->order[p] = k->order[i];
        k->order[i] = t;
        permute(k, p + 1);
        k->order[i] = k->order[p];
        k->order[p] = t;
    }
}

size_t graph_key(const struct graph *g, uint32_t *out)
{
    struct keying k = {.g = g, .left = MOST_ORDERS};
    for (uint32_t v = 0; v < g->n_vars; v++)
        if (g->v[v].n_names == G_UNNAMED)
            return 0;
    first_colours(&k);
    for (int i = 0; i < 3; i++)
        refine(&k);
    for (uint32_t v = 0; v < g->n_vars; v++) {
        uint32_t at = v;
        for (; at && k.colour[k.order[at - 1]] > k.colour[v]; at--)
            k.order[at] = k.order[at - 1];
        k.order[at] = (uint8_t)v;
    }
    permute(&k, 0);
    memcpy(out, k.best, k.n_best * sizeof *out);
    return k.n_best;
}
