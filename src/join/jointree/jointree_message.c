/*
 * One message: a leaf's weights combined over its edge, times the weights
 * that the neighbour has already.
 *
 * Three ways, the cheapest that applies. If the weights are one number
 * wherever the edge has pairs (a foreign key without dangling references),
 * the message is that number times the sums of the edge's rows, which the
 * edge keeps: no pair is touched. Otherwise pairs are read in the order of
 * the side with more ids, so that what is accessed at random is the smaller
 * array: a pull reads the leaf's weights at random, a push adds to the
 * message at random.
 *
 * No sum exceeds the largest weight times the largest row sum; that product
 * is checked beforehand, so the loops need no checks.
 */
#include "join/jointree/acyclic.h"

#include <string.h>

struct message_fold {
    const struct csr *c; /* from the neighbour's ids to the leaf's */
    const uint64_t *w;   /* of the leaf; NULL: ones */
    enum walk_kind kind;
    uint64_t *out;
};

/* Is w one number on all ids that the edge has? */
static bool is_constant(const struct message_fold *f, uint64_t *k)
{
    const struct csr *c = f->c->flip;
    uint32_t i = 0;
    *k = 1;
    if (!f->w)
        return true;
    while (i < c->n_left && c->off[i] == c->off[i + 1])
        i++;
    if (i == c->n_left)
        return true;
    *k = f->w[i];
    for (; i < c->n_left; i++)
        if (f->w[i] != *k && c->off[i] != c->off[i + 1])
            return false;
    return true;
}

static void by_rows(const struct message_fold *f, uint64_t k)
{
    const struct csr *c = f->c;
    uint64_t *out = f->out;
    if (f->kind == W_EXISTS)
        k = k > 0;
    if (f->kind == W_SUM && c->sum)
        for (uint32_t u = 0; u < c->n_left; u++)
            out[u] = k * c->sum[u];
    else if (f->kind == W_SUM)
        for (uint32_t u = 0; u < c->n_left; u++)
            out[u] = k * (c->off[u + 1] - c->off[u]);
    else
        for (uint32_t u = 0; u < c->n_left; u++)
            out[u] = c->off[u] == c->off[u + 1] ? 0 : k;
}

static void push_sums(const struct message_fold *f)
{
    const struct csr *c = f->c->flip;
    uint64_t *out = f->out;
    memset(out, 0, (size_t)c->n_right * sizeof *out);
    if (c->max_deg <= 1 && c->n == c->n_left && !c->w) {
        for (uint32_t e = 0; e < c->n; e++) /* one pair an id */
            out[c->adj[e]] += f->w[e];
        return;
    }
    for (uint32_t v = 0; v < c->n_left; v++)
        for (uint32_t e = c->off[v]; e < c->off[v + 1]; e++)
            out[c->adj[e]] += c->w ? f->w[v] * c->w[e] : f->w[v];
}

static void pull_sums(const struct message_fold *f)
{
    const struct csr *c = f->c;
    for (uint32_t u = 0; u < c->n_left; u++) {
        uint64_t sum = 0;
        if (c->w)
            for (uint32_t e = c->off[u]; e < c->off[u + 1]; e++)
                sum += f->w[c->adj[e]] * c->w[e];
        else
            for (uint32_t e = c->off[u]; e < c->off[u + 1]; e++)
                sum += f->w[c->adj[e]];
        f->out[u] = sum;
    }
}

static void pull_largest(const struct message_fold *f)
{
    const struct csr *c = f->c;
    for (uint32_t u = 0; u < c->n_left; u++) {
        uint64_t top = 0;
        for (uint32_t e = c->off[u]; e < c->off[u + 1]; e++) {
            uint64_t y = (f->w ? f->w[c->adj[e]] : 1) * (c->w ? c->w[e] : 1);
            top = y > top ? y : top;
        }
        f->out[u] = f->kind == W_EXISTS ? top > 0 : top;
    }
}

/* One of four loops that give the same: by lengths of rows alone where all
 * weights are equal, else from the side that has fewer rows to visit. */
static void message(const struct message_fold *f)
{
    uint64_t k;
    if ((f->kind != W_MAX || !f->c->w) && is_constant(f, &k))
        by_rows(f, k);
    else if (f->kind != W_SUM)
        pull_largest(f);
    else if (f->c->n_left < f->c->n_right)
        push_sums(f);
    else
        pull_sums(f);
}

/* out := out * by, and the largest; false beyond the bound. */
static bool times(uint64_t *out, const uint64_t *by, uint64_t by_top,
                  uint32_t n, uint64_t *top)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = out[i] > most ? out[i] : most;
    *top = most;
    if (!by)
        return true;
    if (!u64_mul(most, by_top, &most) || most >= ACYCLIC_MOST)
        return false;
    most = 0;
    for (uint32_t i = 0; i < n; i++) {
        out[i] *= by[i];
        most = out[i] > most ? out[i] : most;
    }
    *top = most;
    return true;
}

enum status acyclic_fold(struct acyclic *x, unsigned v, uint32_t edge,
                         struct err *err)
{
    struct gedge e = x->g.e[edge];
    unsigned u = e.a == v ? e.b : e.a;
    struct gvar *to = &x->g.v[u];
    struct message_fold f = {.c = e.a == v ? e.ab->flip : e.ab,
                             .w = x->g.v[v].unary,
                             .kind = x->g.v[v].kind};
    uint64_t most;
    if (!u64_mul(f.c->max_sum, x->top[v], &most) || most >= ACYCLIC_MOST) {
        x->wide = true;
        return OK;
    }
    f.out = spare_take(x->j, (size_t)to->n * sizeof *f.out);
    if (!f.out)
        return err_nomem(err);
    message(&f);
    x->wide = !times(f.out, to->unary, x->top[u], to->n, &x->top[u]);
    to->unary = f.out;
    x->g.e[edge] = x->g.e[--x->g.n_edges];
    x->live &= ~gset_one(v);
    return OK;
}
