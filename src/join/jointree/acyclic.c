/*
 * Trees with at most two boundary variables: see acyclic.h.
 *
 * A leaf that is combined inside its neighbour (a sum inside a maximum or a
 * sum, an exists inside anything) is aggregated out, until one variable is left
 * or the path between two boundary variables.
 *
 * A boundary variable at an end whose ids have one neighbour each (a key)
 * gives its place to that neighbour: of the ids that lead to one neighbour
 * only the largest weight matters. The path gets shorter, and a side of it
 * that led from many to one and back to many leads one way only.
 *
 * Cost: one pass over the ids or pairs of each edge.
 */
#include "join/jointree/acyclic.h"

#include <string.h>

/* Of n weights; 0: there is none. */
static uint64_t largest(const uint64_t *w, uint32_t n)
{
    uint64_t top = 0;
    for (uint32_t i = 0; i < n; i++)
        top = w[i] > top ? w[i] : top;
    return top;
}

static uint32_t degree(const struct graph *g, unsigned v, uint32_t *edge)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_edges; i++)
        if (g->e[i].a == v || g->e[i].b == v) {
            *edge = i;
            n++;
        }
    return n;
}

/* All variables are live, and the largest weight of each is known: products of
 * these tell before a sum whether it could leave 64 bits. */
static void begin(struct acyclic *x, struct join *j, const struct graph *g)
{
    memset(x, 0, sizeof *x);
    x->j = j;
    x->g = *g;
    x->live = (gset)(((uint64_t)1 << g->n_vars) - 1);
    for (uint32_t v = 0; v < g->n_vars; v++) {
        x->top[v] =
            g->v[v].unary ? largest(g->v[v].unary, g->v[v].n) : g->v[v].n > 0;
        x->wide = x->wide || x->top[v] >= ACYCLIC_MOST;
    }
}

/* Aggregates out what can be, except the variables of `keep`. */
static enum status fold_leaves(struct acyclic *x, gset keep, struct err *err)
{
    bool again = true;
    while (again && !x->wide) {
        again = false;
        for (unsigned v = 0; v < x->g.n_vars && !x->wide; v++) {
            uint32_t edge = 0;
            if (!(x->live & ~keep & gset_one(v)) ||
                degree(&x->g, v, &edge) != 1)
                continue;
            const struct gedge *e = &x->g.e[edge];
            if (x->g.v[v].kind < x->g.v[e->a == v ? e->b : e->a].kind)
                continue;
            TRY(acyclic_fold(x, v, edge, err));
            again = true;
        }
    }
    return OK;
}

/* The sum over u has one term for each id of v, so max over v of
 * w(v, u(v)) f(u(v)) is max over u of f(u) times the largest w(v, u). */
static enum status move_end(struct acyclic *x, unsigned v, bool *moved,
                            struct err *err)
{
    uint32_t edge = 0;
    if (!(x->live & gset_one(v)) || x->g.v[v].kind != W_MAX ||
        degree(&x->g, v, &edge) != 1)
        return OK;
    const struct gedge *e = &x->g.e[edge];
    unsigned u = e->a == v ? e->b : e->a;
    const struct csr *c = e->a == v ? e->ab : e->ab->flip;
    if (x->g.v[u].kind != W_SUM || c->max_deg > 1)
        return OK;
    TRY(acyclic_fold(x, v, edge, err));
    x->g.v[u].kind = W_MAX;
    *moved = true;
    return OK;
}

/* Moves ends inwards, and aggregates out what that makes possible. */
static enum status move_ends(struct acyclic *x, struct err *err)
{
    bool moved = true;
    while (moved && !x->wide) {
        moved = false;
        for (unsigned v = 0; v < x->g.n_vars && !x->wide; v++)
            TRY(move_end(x, v, &moved, err));
        if (moved)
            TRY(fold_leaves(x, 0, err));
    }
    return OK;
}

static u128 total(const struct acyclic *x, unsigned v)
{
    const struct gvar *g = &x->g.v[v];
    u128 sum = 0;
    if (g->kind != W_SUM)
        return g->kind == W_EXISTS ? (u128)(x->top[v] > 0) : x->top[v];
    if (!g->unary)
        return g->n;
    for (uint32_t i = 0; i < g->n; i++)
        sum += g->unary[i]; /* 2^32 numbers below 2^62 */
    return sum;
}

/* Are the live variables a path of sums between two boundary variables? */
static bool is_path(const struct acyclic *x, unsigned *a, unsigned *b)
{
    uint32_t ends = 0, edge = 0;
    for (unsigned v = 0; v < x->g.n_vars; v++) {
        if (!(x->live & gset_one(v)))
            continue;
        uint32_t d = degree(&x->g, v, &edge);
        if (d == 2 && x->g.v[v].kind == W_SUM)
            continue;
        if (d != 1 || x->g.v[v].kind != W_MAX || ends == 2)
            return false;
        *(ends++ ? b : a) = v;
    }
    return ends == 2;
}

/* What is left when nothing can be folded any more: one variable, whose weights
 * are added up, or a path between two that keep their values. */
static enum status finish(struct acyclic *x, u128 *out, enum outcome *what,
                          struct err *err)
{
    unsigned a = 0, b = 0;
    uint64_t best = 0;
    if (x->wide)
        *what = WIDE;
    if (x->wide)
        return OK;
    if (!(x->live & (x->live - 1))) {
        *out = total(x, (unsigned)__builtin_ctz(x->live));
        *what = SOLVED;
        return OK;
    }
    if (!is_path(x, &a, &b))
        return OK;
    TRY(acyclic_pairs(x, a, b, NULL, &best, what, err));
    *out = best;
    return OK;
}

enum status acyclic_solve(struct join *j, const struct graph *g, u128 *out,
                          enum outcome *what, struct err *err)
{
    struct acyclic x;
    uint32_t n_max = 0;
    *what = PASS;
    for (uint32_t v = 0; v < g->n_vars; v++)
        n_max += g->v[v].kind == W_MAX;
    /* the graph hangs together: this many edges are a tree */
    if (g->n_nes || g->n_lts || g->n_edges + 1 != g->n_vars || n_max > 2)
        return OK;
    spare_open(j);
    begin(&x, j, g);
    enum status s = fold_leaves(&x, 0, err);
    if (s == OK)
        s = move_ends(&x, err);
    if (s == OK)
        s = finish(&x, out, what, err);
    spare_close(j);
    return s;
}

/* --- counts of keys --------------------------------------------------------
 */

static void read_keys(const struct acyclic *x, unsigned v,
                      const struct group_ids *k)
{
    const uint64_t *w = x->g.v[v].unary;
    for (size_t i = 0; i < k->n; i++) {
        uint32_t id = k->ids[0][i];
        k->out[i] = id == NO_ID ? 0 : w ? w[id] : 1;
    }
}

/* Counts of pairs: the keys by their first id, by counting. */
static enum status pair_counts(struct acyclic *x, unsigned a, unsigned b,
                               const struct group_ids *k, enum outcome *what,
                               struct err *err)
{
    uint32_t n = x->g.v[a].n;
    uint32_t *off = spare_take(x->j, ((size_t)n + 2) * sizeof *off);
    uint32_t *second = spare_take(x->j, k->n * sizeof *second);
    uint32_t *key = spare_take(x->j, k->n * sizeof *key);
    uint64_t *out = spare_take(x->j, k->n * sizeof *out);
    uint64_t best = 0;
    if (!off || !second || !key || !out)
        return err_nomem(err);
    memset(off, 0, ((size_t)n + 2) * sizeof *off);
    for (size_t i = 0; i < k->n; i++)
        if (k->ids[0][i] != NO_ID)
            off[k->ids[0][i] + 2]++;
    for (uint32_t i = 0; i < n; i++)
        off[i + 2] += off[i + 1];
    for (size_t i = 0; i < k->n; i++) {
        k->out[i] = 0;
        if (k->ids[0][i] == NO_ID)
            continue;
        uint32_t at = off[k->ids[0][i] + 1]++;
        second[at] = k->ids[1][i];
        key[at] = (uint32_t)i;
        out[at] = 0;
    }
    struct pair_keys pairs = {off, second, out};
    TRY(acyclic_pairs(x, a, b, &pairs, &best, what, err));
    for (uint32_t i = 0; *what == SOLVED && i < off[n]; i++)
        k->out[key[i]] = out[i];
    return OK;
}

enum status acyclic_groups(struct join *j, const struct graph *g,
                           const struct group_ids *k, enum outcome *what,
                           struct err *err)
{
    struct acyclic x;
    gset keep = 0;
    unsigned a = 0, b = 0;
    *what = PASS;
    for (uint32_t v = 0; v < g->n_vars; v++)
        if (g->v[v].kind == W_MAX)
            keep |= gset_one(v);
    if (g->n_nes || g->n_lts || g->n_edges + 1 != g->n_vars || k->n >= NO_ID ||
        (uint32_t)__builtin_popcount(keep) != k->n_vars || !keep)
        return OK;
    spare_open(j);
    begin(&x, j, g);
    enum status s = fold_leaves(&x, keep, err);
    if (s == OK && !x.wide && x.live == keep && k->n_vars == 1) {
        read_keys(&x, (unsigned)__builtin_ctz(keep), k);
        *what = SOLVED;
    } else if (s == OK && !x.wide && k->n_vars == 2 && is_path(&x, &a, &b)) {
        s = pair_counts(&x, a, b, k, what, err);
    }
    spare_close(j);
    return s;
}
