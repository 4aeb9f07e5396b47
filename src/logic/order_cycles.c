/*
 * What the comparisons of a structure say about order: elements on a cycle of
 * <= are one, and a cycle with a strict step has no match.
 *
 * The elements are nodes, x <= y and x < y are edges, and the constants,
 * sorted, are a path of strict edges. Two elements
 * lie on a common cycle just when they are in one strongly connected
 * component, so Tarjan's algorithm answers for all of them at once. It keeps
 * its own stack: an analyst chooses how long a chain is.
 *
 * Cost: n log n in the comparisons (the sorting), plus the pairs of variables
 * that become one.
 */
#include <stdlib.h>

#include "logic/tableau.h"

struct edge {
    uint32_t to, next; /* next edge of the same node, NO_EL: none */
    bool strict;
};

struct order_node {
    uint32_t el, first; /* first edge */
    uint32_t number, low, at, component;
    bool open;
};

struct order {
    struct tab *t;
    struct order_node *nodes;
    uint32_t n_nodes;
    uint32_t *node_of; /* element -> node, NO_EL: none */
    struct edge *edges;
    uint32_t n_edges, cap_edges;
    uint32_t *call, *stack; /* of Tarjan's algorithm */
    uint32_t n_call, n_stack, n_numbers, n_components;
};

static uint32_t add_node(struct order *o, uint32_t e)
{
    e = tab_find(o->t, e);
    if (o->node_of[e] == NO_EL) {
        o->nodes[o->n_nodes] =
            (struct order_node){.el = e, .first = NO_EL, .component = NO_EL};
        o->node_of[e] = o->n_nodes++;
    }
    return o->node_of[e];
}

/* A step left out is sound: the query only stays larger. */
static void add_edge(struct order *o, uint32_t from, uint32_t to, bool strict)
{
    if (o->n_edges == o->cap_edges)
        return;
    o->edges[o->n_edges] =
        (struct edge){.to = to, .next = o->nodes[from].first, .strict = strict};
    o->nodes[from].first = o->n_edges++;
}

/* --- constants ------------------------------------------------------------ */

struct point {
    const struct value *v;
    uint32_t node;
};

static int by_value(const void *x, const void *y)
{
    const struct point *a = x, *b = y;
    return value_cmp(a->v, b->v);
}

/* End of the run of equal constants (1 and 1.0) that begins at i. */
static uint32_t run_end(const struct point *p, uint32_t i, uint32_t n)
{
    uint32_t j = i + 1;
    while (j < n && by_value(&p[i], &p[j]) == 0)
        j++;
    return j;
}

/* A run holds one constant of each type, so edges between runs are few. */
static void order_constants(struct order *o, struct point *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n_nodes; i++) {
        uint32_t e = o->nodes[i].el;
        if (!(o->t->flag[e] & EL_CONST) || o->t->q->consts[e].is_null ||
            o->t->q->consts[e].type == T_UNKNOWN)
            continue;
        p[n++] = (struct point){&o->t->q->consts[e], i};
    }
    qsort(p, n, sizeof *p, by_value);
    for (uint32_t i = 0, j = run_end(p, 0, n); j < n;) {
        uint32_t k = run_end(p, j, n);
        for (uint32_t x = i; x < j; x++)
            for (uint32_t y = j; y < k; y++)
                add_edge(o, p[x].node, p[y].node, true);
        i = j;
        j = k;
    }
}

/* --- components ----------------------------------------------------------- */

static void open_node(struct order *o, uint32_t v)
{
    struct order_node *n = &o->nodes[v];
    n->number = n->low = ++o->n_numbers;
    n->at = n->first;
    n->open = true;
    o->call[o->n_call++] = o->stack[o->n_stack++] = v;
}

static void lower(struct order_node *n, uint32_t number)
{
    if (number < n->low)
        n->low = number;
}

static void close_node(struct order *o, uint32_t v)
{
    o->n_call--;
    if (o->n_call)
        lower(&o->nodes[o->call[o->n_call - 1]], o->nodes[v].low);
    if (o->nodes[v].low != o->nodes[v].number)
        return;
    uint32_t w;
    do {
        w = o->stack[--o->n_stack];
        o->nodes[w].open = false;
        o->nodes[w].component = o->n_components;
    } while (w != v);
    o->n_components++;
}

static void search_from(struct order *o, uint32_t start)
{
    open_node(o, start);
    while (o->n_call) {
        uint32_t v = o->call[o->n_call - 1];
        struct order_node *n = &o->nodes[v];
        if (n->at == NO_EL) {
            close_node(o, v);
            continue;
        }
        const struct edge *e = &o->edges[n->at];
        n->at = e->next;
        if (!o->nodes[e->to].number)
            open_node(o, e->to);
        else if (o->nodes[e->to].open)
            lower(n, o->nodes[e->to].number);
    }
}

/* --- what follows --------------------------------------------------------- */

static bool has_strict_cycle(const struct order *o)
{
    for (uint32_t v = 0; v < o->n_nodes; v++)
        for (uint32_t e = o->nodes[v].first; e != NO_EL; e = o->edges[e].next)
            if (o->edges[e].strict &&
                o->nodes[v].component == o->nodes[o->edges[e].to].component)
                return true;
    return false;
}

/* Every pair is tried: tab_union refuses some, which must not keep others
 * apart. `chain` links the nodes of one component. */
static bool join_components(struct order *o, uint32_t *last, uint32_t *chain)
{
    bool changed = false;
    for (uint32_t i = 0; i < o->n_components; i++)
        last[i] = NO_EL;
    for (uint32_t v = 0; v < o->n_nodes; v++) {
        uint32_t c = o->nodes[v].component;
        for (uint32_t w = last[c]; w != NO_EL; w = chain[w])
            changed |= tab_union(o->t, o->nodes[w].el, o->nodes[v].el);
        chain[v] = last[c];
        last[c] = v;
    }
    return changed;
}

enum status tab_chase_order(struct arena *a, struct tab *t, bool *changed,
                            struct err *err)
{
    size_t most = 2 * (size_t)t->n_cmps + 1;
    struct order o = {.t = t, .cap_edges = (uint32_t)(4 * most)};
    if (t->n_cmps == 0)
        return OK;
    o.nodes = NEWS(a, struct order_node, most);
    o.node_of = NEWS(a, uint32_t, t->n_el);
    o.edges = NEWS(a, struct edge, o.cap_edges);
    o.call = NEWS(a, uint32_t, most);
    o.stack = NEWS(a, uint32_t, most);
    struct point *points = NEWS(a, struct point, most);
    if (!o.nodes || !o.node_of || !o.edges || !o.call || !o.stack || !points)
        return err_nomem(err);
    for (uint32_t e = 0; e < t->n_el; e++)
        o.node_of[e] = NO_EL;
    for (uint32_t i = 0; i < t->n_cmps; i++) {
        const struct tab_cmp *c = &t->cmps[i];
        if (c->op == CMP_NE) /* says nothing about order */
            continue;
        uint32_t l = add_node(&o, c->l), r = add_node(&o, c->r);
        add_edge(&o, l, r, c->op == CMP_LT);
    }
    order_constants(&o, points);
    for (uint32_t v = 0; v < o.n_nodes; v++)
        if (!o.nodes[v].number)
            search_from(&o, v);
    if (has_strict_cycle(&o))
        t->unsat = true;
    *changed |= join_components(&o, o.call, o.stack);
    return OK;
}
