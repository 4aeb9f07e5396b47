/*
 * The table of a graph query as an adjacency list, for the smooth sensitivity
 * of triangles (smooth.h). Loops and repeated rows fall away; a link carries
 * both directions. Nodes are renumbered by falling degree, so that the search
 * for the best pair meets the promising ones first. Cost: sorting the links.
 */
#include "sens/smooth.h"

#include <stdlib.h>
#include <string.h>
#include "store/store.h"

static int by_value(const void *x, const void *y)
{
    return value_cmp(x, y);
}

static int by_link(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

void sens_graph_free(struct sens_graph *g)
{
    if (!g->mem)
        return;
    size_t room = g->n_links ? g->n_links : 1;
    mem_free(g->mem, g->rank, (g->n + 1) * sizeof *g->rank);
    mem_free(g->mem, g->start, (g->n + 1) * sizeof *g->start);
    mem_free(g->mem, g->to, room * sizeof *g->to);
    mem_free(g->mem, g->dir, room);
    memset(g, 0, sizeof *g);
}

/* links: node, other end, direction in the lowest two bits; sorted. Folds
 * equal (node, other end) into one. */
static size_t fold(uint64_t *links, size_t n)
{
    size_t w = 0;
    for (size_t i = 0; i < n; i++)
        if (w && links[w - 1] >> 2 == links[i] >> 2)
            links[w - 1] |= links[i];
        else
            links[w++] = links[i];
    return w;
}

static enum status lay_out(const uint64_t *links, size_t n,
                           struct sens_graph *g, struct err *err)
{
    size_t room = n ? n : 1, n_nodes = g->n;
    struct mem *m = g->mem;
    g->n_links = n;
    g->start = mem_alloc(m, (n_nodes + 1) * sizeof *g->start);
    g->to = mem_alloc(m, room * sizeof *g->to);
    g->dir = mem_alloc(m, room);
    if (!g->start || !g->to || !g->dir)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        g->start[(links[i] >> 33) + 1] = i + 1;
        g->to[i] = (uint32_t)(links[i] >> 2 & 0x7fffffff);
        g->dir[i] = links[i] & 3;
    }
    for (size_t i = 1; i <= n_nodes; i++)
        if (g->start[i] < g->start[i - 1])
            g->start[i] = g->start[i - 1];
    return OK;
}

/* rank[u]: place of u by falling number of rows. */
static void rank_nodes(const uint32_t *from, const uint32_t *to, size_t n_edges,
                       size_t n_nodes, uint32_t *rank, uint64_t *keys)
{
    for (size_t u = 0; u < n_nodes; u++)
        keys[u] = u;
    for (size_t i = 0; i < n_edges; i++) {
        keys[from[i]] += (uint64_t)1 << 32;
        keys[to[i]] += (uint64_t)1 << 32;
    }
    qsort(keys, n_nodes, sizeof *keys, by_link);
    for (size_t i = 0; i < n_nodes; i++)
        rank[(uint32_t)keys[i]] = (uint32_t)(n_nodes - 1 - i);
}

static size_t make_links(const uint32_t *from, const uint32_t *to,
                         size_t n_edges, const uint32_t *rank, uint64_t *links)
{
    size_t n = 0;
    for (size_t i = 0; i < n_edges; i++) {
        uint64_t u = rank[from[i]], v = rank[to[i]];
        if (u == v)
            continue;
        links[n++] = u << 33 | v << 2 | 1;
        links[n++] = v << 33 | u << 2 | 2;
    }
    qsort(links, n, sizeof *links, by_link);
    return fold(links, n);
}

enum status sens_graph_new(struct mem *m, const uint32_t *from,
                           const uint32_t *to, size_t n_edges, size_t n_nodes,
                           struct sens_graph *out, struct err *err)
{
    memset(out, 0, sizeof *out);
    if (n_nodes >> 31 || n_edges >> 31)
        return err_set(err, E_LIMIT, "the graph is too large");
    size_t most = 2 * n_edges > n_nodes ? 2 * n_edges : n_nodes;
    size_t bytes = (most + 1) * sizeof(uint64_t);
    uint64_t *links = mem_alloc(m, bytes);
    *out = (struct sens_graph){.mem = m, .n = n_nodes};
    out->rank = mem_alloc(m, (n_nodes + 1) * sizeof *out->rank);
    enum status st = OK;
    if (!links || !out->rank) {
        st = err_nomem(err);
    } else {
        rank_nodes(from, to, n_edges, n_nodes, out->rank, links);
        size_t n = make_links(from, to, n_edges, out->rank, links);
        st = lay_out(links, n, out, err);
    }
    mem_free(m, links, bytes);
    if (st != OK)
        sens_graph_free(out);
    return st;
}

/* One column of nodes: whole numbers as they are, or values of any type. */
struct node_names {
    size_t n;
    int64_t *numbers;
    struct value *values; /* if not NULL */
};

static int by_number(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static int compare_name(const struct node_names *names, size_t i,
                        const struct store_column *c, size_t row)
{
    if (!names->values) {
        int64_t number = column_int(c, row);
        return by_number(&names->numbers[i], &number);
    }
    struct value v = column_value(c, row);
    return value_cmp(&names->values[i], &v);
}

/* The place of a cell among the sorted distinct names. */
static uint32_t place(const struct node_names *names,
                      const struct store_column *c, size_t row)
{
    size_t lo = 0, hi = names->n;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare_name(names, mid, c, row) <= 0)
            lo = mid;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

static void distinct(struct node_names *names)
{
    size_t w = 0;
    if (names->values)
        qsort(names->values, names->n, sizeof *names->values, by_value);
    else
        qsort(names->numbers, names->n, sizeof *names->numbers, by_number);
    for (size_t i = 0; i < names->n; i++) {
        bool same =
            w &&
            (names->values ? !by_value(&names->values[w - 1], &names->values[i])
                           : names->numbers[w - 1] == names->numbers[i]);
        if (same)
            continue;
        if (names->values)
            names->values[w++] = names->values[i];
        else
            names->numbers[w++] = names->numbers[i];
    }
    names->n = w;
}

/* Both ends of every edge, each node once; NULLs are no nodes. */
static void collect(const struct store_table *t, struct node_names *names)
{
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t c = 0; c < 2; c++) {
            if (column_is_null(&t->cols[c], r))
                continue;
            if (names->values)
                names->values[names->n++] = column_value(&t->cols[c], r);
            else
                names->numbers[names->n++] = column_int(&t->cols[c], r);
        }
    distinct(names);
}

static size_t read_edges(const struct store_table *t,
                         const struct node_names *names, uint32_t *from,
                         uint32_t *to)
{
    size_t n = 0;
    for (size_t r = 0; r < t->n_rows; r++) {
        if (column_is_null(&t->cols[0], r) || column_is_null(&t->cols[1], r))
            continue;
        from[n] = place(names, &t->cols[0], r);
        to[n++] = place(names, &t->cols[1], r);
    }
    return n;
}

enum status sens_graph_load(const struct store *st, uint32_t table,
                            struct sens_graph *out, struct err *err)
{
    const struct store_table *t = &st->tables[table];
    memset(out, 0, sizeof *out);
    bool numbers = t->cols[0].type == T_INT && t->cols[1].type == T_INT;
    size_t rows = t->n_rows, room = rows ? rows : 1;
    size_t bytes =
        2 * room * (numbers ? sizeof(int64_t) : sizeof(struct value));
    void *block = mem_alloc(st->mem, bytes);
    uint32_t *from = mem_alloc(st->mem, room * sizeof *from);
    uint32_t *to = mem_alloc(st->mem, room * sizeof *to);
    enum status status = OK;
    if (!block || !from || !to) {
        status = err_nomem(err);
    } else {
        struct node_names names = {.numbers = numbers ? block : NULL,
                                   .values = numbers ? NULL : block};
        collect(t, &names);
        size_t edges = read_edges(t, &names, from, to);
        status = sens_graph_new(st->mem, from, to, edges, names.n, out, err);
    }
    mem_free(st->mem, block, bytes);
    mem_free(st->mem, from, room * sizeof *from);
    mem_free(st->mem, to, room * sizeof *to);
    return status;
}
