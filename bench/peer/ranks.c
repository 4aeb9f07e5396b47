/*
 * Prepares a graph for the peers: drops loops and repeats and numbers the
 * vertices by rising degree, so that `src < dst` orients every edge towards
 * the larger degree, the order that suits triangle and rectangle counting.
 *
 *     make-ranks IN OUT
 *
 * IN holds two numbers a line (# begins a comment), OUT gets `src,dst` lines.
 * Prints JSON: rows, vertices, whether each edge is there in both directions,
 * and the work of the two ways of counting, as numbers of wedges visited:
 * oriented (sum of squared out-degrees / 2) and light (sum over edges of the
 * smaller degree).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct edge {
    uint32_t a, b;
};

static int cmp_edge(const void *x, const void *y)
{
    const struct edge *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "make-ranks: out of memory\n");
        exit(1);
    }
    return p;
}

static struct edge *read_edges(FILE *f, size_t *n, uint32_t *top)
{
    size_t room = 1 << 16;
    struct edge *e = must(malloc(room * sizeof *e));
    char line[256];
    for (*n = 0, *top = 0; fgets(line, sizeof line, f);) {
        char *end;
        uint32_t a = (uint32_t)strtoul(line, &end, 10);
        if (end == line)
            continue;
        uint32_t b = (uint32_t)strtoul(end + (*end == ','), NULL, 10);
        if (a == b)
            continue;
        if (*n == room)
            e = must(realloc(e, (room *= 2) * sizeof *e));
        e[(*n)++] = (struct edge){a, b};
        *top = a > *top ? a : *top;
        *top = b > *top ? b : *top;
    }
    return e;
}

static size_t drop_repeats(struct edge *e, size_t n)
{
    size_t k = 0;
    qsort(e, n, sizeof *e, cmp_edge);
    for (size_t i = 0; i < n; i++)
        if (!i || cmp_edge(&e[i], &e[i - 1]))
            e[k++] = e[i];
    return k;
}

int main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
    FILE *out = in ? fopen(argv[2], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: make-ranks IN OUT\n");
        return 2;
    }
    size_t n, vertices = 0;
    uint32_t top;
    struct edge *e = read_edges(in, &n, &top);
    n = drop_repeats(e, n);
    uint32_t *degree = must(calloc((size_t)top + 1, sizeof *degree));
    uint32_t *rank = must(calloc((size_t)top + 1, sizeof *rank));
    uint32_t *later = must(calloc((size_t)top + 1, sizeof *later));
    struct edge *order = must(malloc(((size_t)top + 1) * sizeof *order));
    for (size_t i = 0; i < n; i++)
        degree[e[i].a]++;
    for (uint32_t v = 0; v <= top; v++)
        if (degree[v])
            order[vertices++] = (struct edge){degree[v], v};
    qsort(order, vertices, sizeof *order, cmp_edge);
    for (size_t i = 0; i < vertices; i++)
        rank[order[i].b] = (uint32_t)i;
    uint64_t oriented = 0, light = 0;
    int symmetric = 1;
    fprintf(out, "src,dst\n");
    for (size_t i = 0; i < n; i++) {
        struct edge back = {e[i].b, e[i].a};
        symmetric &= bsearch(&back, e, n, sizeof *e, cmp_edge) != NULL;
        if (rank[e[i].a] < rank[e[i].b]) {
            later[e[i].a]++;
            light += degree[e[i].a];
        }
        fprintf(out, "%u,%u\n", rank[e[i].a], rank[e[i].b]);
    }
    for (uint32_t v = 0; v <= top; v++)
        oriented += (uint64_t)later[v] * (later[v] - (later[v] > 0)) / 2;
    printf("{\"rows\": %zu, \"vertices\": %zu, \"symmetric\": %s, "
           "\"oriented\": %llu, \"light\": %llu}\n",
           n, vertices, symmetric ? "true" : "false",
           (unsigned long long)oriented, (unsigned long long)light);
    return fclose(out) != 0;
}
