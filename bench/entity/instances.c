/*
 * Q12 line items per order, Q10 orders per customer, Q3 line items per
 * customer, Q20 line items per supplier, Q18 the sum of quantities per
 * customer; q5 line items whose customer and supplier are of one nation, both
 * protected; q21 line items with supplier and order protected.
 */
#include "instances.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness/graph_owners.h"

bool instance_graph(const char *folder, const char *graph, const char *what,
                    double gs, struct instance *out)
{
    char path[4096];
    struct graph g;
    struct owner_tuples o;
    snprintf(path, sizeof path, "%s/ca-%s.txt", folder, graph);
    if (!graph_read(path, &g))
        return false;
    graph_tuples(&g, what, &o);
    *out = (struct instance){.gs = gs, .ids = o.ids};
    out->in = (struct pack_input){
        .k = o.k, .entities = g.nodes, .n = o.n, .ids = o.ids};
    graph_free(&g);
    return true;
}

/* A table of small numbers, row by row. */
struct numbers {
    uint32_t *p;
    size_t n;
    unsigned cols;
};

static bool read_table(const char *folder, const char *name, unsigned cols,
                       struct numbers *out)
{
    char path[4096], line[256];
    size_t cap = 1 << 20;
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        return false;
    *out = (struct numbers){malloc(cap * cols * 4), 0, cols};
    while (fgets(line, sizeof line, f)) {
        char *at = line;
        if (out->n == cap)
            out->p = realloc(out->p, (cap *= 2) * cols * 4);
        for (unsigned c = 0; c < cols; c++, at += *at == ',')
            out->p[out->n * cols + c] = (uint32_t)strtoul(at, &at, 10);
        out->n++;
    }
    fclose(f);
    return true;
}

struct tpch {
    struct numbers customer, supplier, orders, lineitem;
    uint32_t *customer_of; /* by order key */
    uint32_t keys;
};

static bool tpch_open(const char *folder, struct tpch *t)
{
    if (!read_table(folder, "customer", 2, &t->customer) ||
        !read_table(folder, "supplier", 2, &t->supplier) ||
        !read_table(folder, "orders", 2, &t->orders) ||
        !read_table(folder, "lineitem", 4, &t->lineitem))
        return false;
    t->keys = t->orders.p[2 * (t->orders.n - 1)] + 1;
    t->customer_of = calloc(t->keys, sizeof *t->customer_of);
    for (size_t i = 0; i < t->orders.n; i++)
        t->customer_of[t->orders.p[2 * i]] = t->orders.p[2 * i + 1];
    return true;
}

static void tpch_close(struct tpch *t)
{
    free(t->customer.p);
    free(t->supplier.p);
    free(t->orders.p);
    free(t->lineitem.p);
    free(t->customer_of);
}

static void push(struct instance *out, uint32_t a, uint32_t b, uint32_t w)
{
    uint32_t *to = out->ids + out->in.k * out->in.n;
    to[0] = a;
    if (out->in.k == 2)
        to[1] = b;
    if (out->weight)
        out->weight[out->in.n] = w;
    out->in.n++;
}

static void push_line(const struct tpch *t, const char *what, size_t i,
                      struct instance *out)
{
    const uint32_t *l = t->lineitem.p + 4 * i;
    uint32_t customers = (uint32_t)t->customer.n + 1, c = t->customer_of[l[0]];
    if (strcmp(what, "Q12") == 0)
        push(out, l[0], 0, 1);
    else if (strcmp(what, "Q20") == 0)
        push(out, l[2], 0, 1);
    else if (strcmp(what, "q21") == 0)
        push(out, l[2], (uint32_t)t->supplier.n + 1 + l[0], 1);
    else if (strcmp(what, "q5") != 0)
        push(out, c, 0, l[3]);
    else if (t->customer.p[2 * c - 1] == t->supplier.p[2 * l[2] - 1])
        push(out, c, customers + l[2], 1);
}

bool instance_tpch(const char *folder, const char *what, struct instance *out)
{
    struct tpch t;
    *out = (struct instance){.gs = 1e6};
    if (!tpch_open(folder, &t))
        return false;
    out->in.k = what[0] == 'q' ? 2 : 1;
    out->in.entities =
        t.keys + (uint32_t)t.customer.n + (uint32_t)t.supplier.n + 3;
    out->ids = malloc(t.lineitem.n * 8);
    if (strcmp(what, "Q18") == 0)
        out->weight = malloc(t.lineitem.n * sizeof *out->weight);
    if (strcmp(what, "Q10") == 0)
        for (size_t i = 0; i < t.orders.n; i++)
            push(out, t.orders.p[2 * i + 1], 0, 1);
    else
        for (size_t i = 0; i < t.lineitem.n; i++)
            push_line(&t, what, i, out);
    out->in.ids = out->ids;
    out->in.weight = out->weight;
    tpch_close(&t);
    return true;
}

void instance_pairs(size_t n, uint32_t nodes, struct instance *out)
{
    *out = (struct instance){.gs = 1e6};
    out->ids = malloc(n * 8);
    uint64_t s = 88172645463325252u;
    for (size_t i = 0; i < 2 * n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        double u = (double)(s >> 11) / 9007199254740992.;
        out->ids[i] = (uint32_t)(pow(u, 3) * nodes); /* density u^(-2/3) */
    }
    out->in =
        (struct pack_input){.k = 2, .entities = nodes, .n = n, .ids = out->ids};
}

void instance_free(struct instance *i)
{
    free(i->ids);
    free(i->weight);
}
