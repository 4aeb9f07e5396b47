/* Patterns in a graph: see graph_owners.h. */
#include "harness/graph_owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pairs {
    uint64_t *p;
    size_t n, cap;
};

static void *room(void *p, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return p;
    *cap = *cap ? 2 * *cap : 1024;
    return realloc(p, *cap * size);
}

static void push(struct pairs *v, uint32_t a, uint32_t b)
{
    v->p = room(v->p, v->n, &v->cap, sizeof *v->p);
    v->p[v->n++] = (uint64_t)a << 32 | b;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void read_pairs(FILE *f, struct pairs *v, uint32_t *most)
{
    char line[256];
    unsigned a, b;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || sscanf(line, "%u %u", &a, &b) != 2 || a == b)
            continue;
        push(v, a, b);
        push(v, b, a);
        *most = a > *most ? a : *most;
        *most = b > *most ? b : *most;
    }
}

bool graph_read(const char *path, struct graph *out)
{
    FILE *f = fopen(path, "r");
    struct pairs v = {0};
    uint32_t most = 0;
    if (!f)
        return false;
    read_pairs(f, &v, &most);
    fclose(f);
    qsort(v.p, v.n, sizeof *v.p, by_value);
    out->nodes = most + 1;
    out->first = calloc(out->nodes + 1, sizeof *out->first);
    out->next = malloc((v.n + 1) * sizeof *out->next);
    uint32_t n = 0;
    for (size_t i = 0; i < v.n; i++) {
        if (i > 0 && v.p[i] == v.p[i - 1])
            continue;
        out->next[n++] = (uint32_t)v.p[i];
        out->first[(v.p[i] >> 32) + 1] = n;
    }
    for (uint32_t a = 0; a < out->nodes; a++)
        if (out->first[a + 1] == 0)
            out->first[a + 1] = out->first[a];
    free(v.p);
    return true;
}

void graph_free(struct graph *g)
{
    free(g->first);
    free(g->next);
}

static bool joined(const struct graph *g, uint32_t a, uint32_t b)
{
    uint32_t lo = g->first[a], hi = g->first[a + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->next[mid] == b)
            return true;
        if (g->next[mid] < b)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static void put(struct owner_tuples *o, size_t *cap, uint32_t a, uint32_t b,
                uint32_t c)
{
    o->ids = room(o->ids, o->n, cap, o->k * sizeof *o->ids);
    uint32_t *at = o->ids + o->k * o->n++;
    at[0] = a;
    at[1] = b;
    if (o->k == 3)
        at[2] = c;
}

/* Pairs of neighbours of a: paths through a, or triangles with a smallest. */
static void put_pairs(const struct graph *g, uint32_t a, bool closed,
                      struct owner_tuples *o, size_t *cap)
{
    for (uint32_t i = g->first[a]; i < g->first[a + 1]; i++)
        for (uint32_t j = i + 1; j < g->first[a + 1]; j++)
            if (!closed ||
                (g->next[i] > a && joined(g, g->next[i], g->next[j])))
                put(o, cap, a, g->next[i], g->next[j]);
}

void graph_tuples(const struct graph *g, const char *what,
                  struct owner_tuples *out)
{
    size_t cap = 0;
    bool edges = strcmp(what, "edges") == 0;
    *out = (struct owner_tuples){.k = edges ? 2 : 3};
    for (uint32_t a = 0; a < g->nodes; a++) {
        if (!edges)
            put_pairs(g, a, strcmp(what, "triangles") == 0, out, &cap);
        for (uint32_t i = g->first[a]; edges && i < g->first[a + 1]; i++)
            if (g->next[i] > a)
                put(out, &cap, a, g->next[i], 0);
    }
}
