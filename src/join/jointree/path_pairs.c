/*
 * Two boundary variables at the ends of a path: the count of every pair.
 *
 * From both ends, as long as each id of the next variable has at most one
 * neighbour back (a foreign key), the next variable's ids take the group of
 * that neighbour: a gather, no join. What is left is one edge whose pairs
 * (x, y) belong to the group (group of x, group of y). One pass over its pairs
 * counts them, either in a table of all groups, or group by group of one side
 * with counters for the groups of the other. Counters carry the number of the
 * group they belong to, so that nothing is cleared between groups. A maximum
 * skips groups whose pairs together are not more than the best so far.
 *
 * The sum of all counts is bounded before: counters of 32 bits where it fits
 * them, of 64 bits otherwise, and beyond 62 bits there is no result.
 */
#include "join/jointree/acyclic.h"

#include <string.h>

enum { POLL = 1 << 12, NEAR = 8, FAR = 16 };

struct pair_side {
    unsigned var;
    uint32_t n;              /* ids of var */
    uint32_t n_groups;       /* ids of the boundary variable */
    const uint32_t *group;   /* by id of var, NO_ID: none; NULL: itself */
    const uint64_t *w;       /* by id of var; NULL: ones */
    uint64_t top;            /* largest w */
    const struct csr *lists; /* from groups to ids of var, if it is there */
};

static bool small_product(uint64_t a, uint64_t b, uint64_t *out)
{
    return u64_mul(a, b, out) && *out < ACYCLIC_MOST;
}

/* --- groups from the ends ------------------------------------------------- */

static enum status side_start(struct acyclic *x, unsigned v,
                              struct pair_side *s, struct err *err)
{
    const uint64_t *w = x->g.v[v].unary;
    uint32_t n = x->g.v[v].n, zeros = 0;
    *s = (struct pair_side){.var = v, .n = n, .n_groups = n, .top = x->top[v]};
    if (!w)
        return OK;
    if (s->top > 1) {
        s->w = w;
        return OK;
    }
    for (uint32_t i = 0; i < n; i++)
        zeros += !w[i];
    if (!zeros)
        return OK;
    uint32_t *group = spare_take(x->j, (size_t)n * sizeof *group);
    if (!group)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        group[i] = w[i] ? i : NO_ID;
    s->group = group;
    return OK;
}

/* The edge from v that does not lead to `from`, or n_edges. */
static uint32_t edge_away(const struct graph *g, unsigned v, unsigned from)
{
    uint32_t i = 0;
    for (; i < g->n_edges; i++) {
        unsigned o = g->e[i].a == v ? g->e[i].b : g->e[i].a;
        if ((g->e[i].a == v || g->e[i].b == v) && o != from)
            break;
    }
    return i;
}

static const uint32_t *step_groups(struct acyclic *x, const struct pair_side *s,
                                   const struct csr *c, const uint64_t *w)
{
    if (!s->group && c->n == c->n_left && !w)
        return c->adj;
    uint32_t *group = spare_take(x->j, (size_t)c->n_left * sizeof *group);
    for (uint32_t y = 0; group && y < c->n_left; y++) {
        uint32_t e = c->off[y];
        bool none = e == c->off[y + 1] || (w && !w[y]);
        group[y] = none ? NO_ID : s->group ? s->group[c->adj[e]] : c->adj[e];
    }
    return group;
}

static uint64_t *step_weights(struct acyclic *x, const struct pair_side *s,
                              const struct csr *c, const uint64_t *w)
{
    uint64_t *out = spare_take(x->j, (size_t)c->n_left * sizeof *out);
    for (uint32_t y = 0; out && y < c->n_left; y++) {
        uint32_t e = c->off[y];
        uint64_t v = e == c->off[y + 1] ? 0 : s->w ? s->w[c->adj[e]] : 1;
        out[y] = v && c->w ? v * c->w[e] : v;
        if (w)
            out[y] *= w[y];
    }
    return out;
}

/* c: from the next variable's ids to this one's, at most one each. */
static enum status side_step(struct acyclic *x, struct pair_side *s,
                             unsigned next, const struct csr *c,
                             struct err *err)
{
    const uint64_t *w = x->g.v[next].unary;
    struct pair_side t = {.var = next, .n = c->n_left, .n_groups = s->n_groups};
    if (!small_product(s->top, c->max_w, &t.top) ||
        !small_product(t.top, x->top[next], &t.top)) {
        x->wide = true;
        return OK;
    }
    t.group = step_groups(x, s, c, w);
    if (!t.group)
        return err_nomem(err);
    if (t.group == c->adj)
        t.lists = c->flip;
    if (s->w || c->w || x->top[next] > 1) {
        t.w = step_weights(x, s, c, w);
        if (!t.w)
            return err_nomem(err);
    }
    *s = t;
    return OK;
}

/* Goes on from s while it can, but not to `stop`. */
static enum status side_walk(struct acyclic *x, struct pair_side *s,
                             unsigned stop, struct err *err)
{
    unsigned from = s->var;
    for (;;) {
        uint32_t i = edge_away(&x->g, s->var, from);
        if (i == x->g.n_edges || x->wide)
            return OK;
        const struct gedge *e = &x->g.e[i];
        unsigned next = e->a == s->var ? e->b : e->a;
        const struct csr *back = e->a == next ? e->ab : e->ab->flip;
        if (next == stop || back->max_deg > 1)
            return OK;
        from = s->var;
        TRY(side_step(x, s, next, back, err));
    }
}

/* --- counting --------------------------------------------------------------
 */

struct pairing {
    struct acyclic *x;
    struct pair_side out, in;     /* groups of `out` are taken in turn */
    const struct csr *c;          /* from ids of out to ids of in */
    const struct pair_keys *keys; /* first: groups of out */
    const uint32_t *off, *ids;    /* ids of each group of out; NULL: itself */
    uint64_t *acc;
    uint64_t scale; /* no pair counts more */
    uint64_t best;
};

/* What a random access costs, by the size of what is accessed. */
static double touch(uint64_t bytes)
{
    return bytes <= 1 << 14   ? 1
           : bytes <= 1 << 18 ? 2
           : bytes <= 1 << 20 ? 3
           : bytes <= 1 << 24 ? 8
                              : 16;
}

static double inner_cost(const struct pair_side *in)
{
    return (in->group ? touch((uint64_t)in->n * 4) : 0) +
           (in->w ? touch((uint64_t)in->n * 8) : 0);
}

static double group_cost(const struct pair_side *out,
                         const struct pair_side *in, const struct csr *c)
{
    double row = out->group ? 2 * touch((uint64_t)c->n * 4) : 0;
    return c->n * (touch((uint64_t)in->n_groups * 8) + inner_cost(in)) +
           out->n * (3 + row);
}

static double table_cost(const struct pair_side *out,
                         const struct pair_side *in, const struct csr *c)
{
    u128 cells = (u128)out->n_groups * in->n_groups;
    if (cells >> 30)
        return 1e300;
    return c->n * (touch((uint64_t)cells * 4) + inner_cost(in)) + out->n * 3.0 +
           (double)cells * 0.3;
}

/* How often edge e counts that begins at an id with weight wx. */
static inline uint64_t pair_weight(const struct pairing *p, uint64_t wx,
                                   uint32_t e)
{
    uint64_t w = p->c->w ? p->c->w[e] : 1;
    return wx * w * (p->in.w ? p->in.w[p->c->adj[e]] : 1);
}

/* Pairs of one row into 32-bit counters; cell: where the row's group begins.*/
static inline __attribute__((always_inline)) void
row_to_table(const struct pairing *p, uint32_t *cell, uint32_t x, bool groups,
             bool weights)
{
    const struct csr *c = p->c;
    uint64_t wx = weights && p->out.w ? p->out.w[x] : 1;
    for (uint32_t e = c->off[x], end = c->off[x + 1]; e < end; e++) {
        uint32_t b = groups ? p->in.group[c->adj[e]] : c->adj[e];
        if (groups && b == NO_ID)
            continue;
        uint64_t v = weights ? pair_weight(p, wx, e) : 1;
        cell[b] += (uint32_t)v;
    }
}

static inline __attribute__((always_inline)) void
rows_to_table(const struct pairing *p, uint32_t *table, bool groups,
              bool weights)
{
    for (uint32_t x = 0; x < p->out.n; x++) {
        uint32_t a = p->out.group ? p->out.group[x] : x;
        if (a != NO_ID)
            row_to_table(p, table + (size_t)a * p->in.n_groups, x, groups,
                         weights);
    }
}

static bool has_weights(const struct pairing *p)
{
    return p->out.w || p->in.w || p->c->w;
}

static enum status count_table(struct pairing *p, struct err *err)
{
    size_t cells = (size_t)p->out.n_groups * p->in.n_groups;
    uint32_t *table = spare_take(p->x->j, cells * sizeof *table);
    if (!table)
        return err_nomem(err);
    memset(table, 0, cells * sizeof *table);
    if (has_weights(p) && p->in.group)
        rows_to_table(p, table, true, true);
    else if (has_weights(p))
        rows_to_table(p, table, false, true);
    else if (p->in.group)
        rows_to_table(p, table, true, false);
    else
        rows_to_table(p, table, false, false);
    uint32_t best = 0;
    for (size_t i = 0; i < cells; i++)
        best = table[i] > best ? table[i] : best;
    p->best = best;
    for (uint32_t a = 0; p->keys && a < p->out.n_groups; a++)
        for (uint32_t k = p->keys->off[a]; k < p->keys->off[a + 1]; k++)
            p->keys->out[k] =
                table[(size_t)a * p->in.n_groups + p->keys->second[k]];
    return OK;
}

/* Pairs of one row into counters that carry the number of their group. */
static inline __attribute__((always_inline)) uint32_t
row_to_counters(const struct pairing *p, uint64_t stamp, uint32_t x,
                uint32_t best, bool groups, bool weights)
{
    const struct csr *c = p->c;
    uint64_t wx = weights && p->out.w ? p->out.w[x] : 1;
    for (uint32_t e = c->off[x], end = c->off[x + 1]; e < end; e++) {
        uint32_t b = groups ? p->in.group[c->adj[e]] : c->adj[e];
        if (groups && b == NO_ID)
            continue;
        uint64_t v = weights ? pair_weight(p, wx, e) : 1;
        uint64_t old = p->acc[b];
        v += old >> 32 == stamp >> 32 ? old : stamp;
        p->acc[b] = v;
        best = (uint32_t)v > best ? (uint32_t)v : best;
    }
    return best;
}

/* Rows are read in falling order of their place, as the groups are. */
static inline void prefetch_rows(const struct pairing *p, uint32_t i)
{
    const struct csr *c = p->c;
    if (i < FAR)
        return;
    __builtin_prefetch(&c->off[p->ids[i - FAR]]);
    uint32_t at = c->off[p->ids[i - NEAR]];
    __builtin_prefetch(&c->adj[at]);
    if (c->w)
        __builtin_prefetch(&c->w[at]);
}

/* Can the rows i .. end-1 of p->ids together exceed the best? */
static bool may_exceed(const struct pairing *p, uint32_t i, uint32_t end)
{
    u128 pairs = 0;
    while (end-- > i) {
        uint32_t x = p->ids ? p->ids[end] : end;
        pairs += p->c->off[x + 1] - p->c->off[x];
        if (pairs * p->scale > p->best)
            return true;
    }
    return false;
}

static inline __attribute__((always_inline)) void
group_to_counters(struct pairing *p, uint32_t a, bool groups, bool weights)
{
    uint32_t i = p->off ? p->off[a] : a, end = p->off ? p->off[a + 1] : a + 1;
    uint32_t best = (uint32_t)p->best;
    uint64_t stamp = (uint64_t)(a + 1) << 32;
    if (p->ids)
        while (end-- > i) {
            prefetch_rows(p, end);
            best =
                row_to_counters(p, stamp, p->ids[end], best, groups, weights);
        }
    else if (!p->out.group || p->out.group[a] != NO_ID)
        best = row_to_counters(p, stamp, a, best, groups, weights);
    p->best = best;
}

static void narrow_group(struct pairing *p, uint32_t a)
{
    if (has_weights(p) && p->in.group)
        group_to_counters(p, a, true, true);
    else if (has_weights(p))
        group_to_counters(p, a, false, true);
    else if (p->in.group)
        group_to_counters(p, a, true, false);
    else
        group_to_counters(p, a, false, false);
    for (uint32_t k = p->keys ? p->keys->off[a] : 0;
         p->keys && k < p->keys->off[a + 1]; k++) {
        uint64_t v = p->acc[p->keys->second[k]];
        p->keys->out[k] = v >> 32 == a + 1 ? (uint32_t)v : 0;
    }
}

/* The same with whole words; add false: reads the largest and clears. */
static void wide_row(struct pairing *p, uint32_t x, bool add)
{
    const struct csr *c = p->c;
    for (uint32_t e = c->off[x]; e < c->off[x + 1]; e++) {
        uint32_t y = c->adj[e], b = p->in.group ? p->in.group[y] : y;
        if (b == NO_ID)
            continue;
        if (add) {
            p->acc[b] += (p->out.w ? p->out.w[x] : 1) * (c->w ? c->w[e] : 1) *
                         (p->in.w ? p->in.w[y] : 1);
            continue;
        }
        p->best = p->acc[b] > p->best ? p->acc[b] : p->best;
        p->acc[b] = 0;
    }
}

static void wide_rows(struct pairing *p, uint32_t a, bool add)
{
    if (!p->ids) {
        if (!p->out.group || p->out.group[a] != NO_ID)
            wide_row(p, a, add);
        return;
    }
    for (uint32_t i = p->off[a]; i < p->off[a + 1]; i++)
        wide_row(p, p->ids[i], add);
}

static void wide_group(struct pairing *p, uint32_t a)
{
    wide_rows(p, a, true);
    for (uint32_t k = p->keys ? p->keys->off[a] : 0;
         p->keys && k < p->keys->off[a + 1]; k++)
        p->keys->out[k] = p->acc[p->keys->second[k]];
    wide_rows(p, a, false);
}

/* The ids of every group of `out`, by counting. */
static enum status list_groups(struct pairing *p, struct err *err)
{
    const struct pair_side *s = &p->out;
    if (!s->group || s->n == s->n_groups)
        for (uint32_t i = 0;; i++) { /* groups that are ids need no lists */
            if (i == s->n || !s->group)
                return OK;
            if (s->group[i] != i && s->group[i] != NO_ID)
                break;
        }
    if (s->lists) {
        p->off = s->lists->off;
        p->ids = s->lists->adj;
        return OK;
    }
    size_t size = ((size_t)s->n_groups + 2) * sizeof(uint32_t);
    uint32_t *off = spare_take(p->x->j, size);
    uint32_t *ids = spare_take(p->x->j, (size_t)s->n * sizeof *ids);
    if (!off || !ids)
        return err_nomem(err);
    memset(off, 0, size);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->group[i] != NO_ID)
            off[s->group[i] + 2]++;
    for (uint32_t a = 0; a < s->n_groups; a++)
        off[a + 2] += off[a + 1];
    for (uint32_t i = 0; i < s->n; i++)
        if (s->group[i] != NO_ID)
            ids[off[s->group[i] + 1]++] = i;
    p->off = off;
    p->ids = ids;
    return OK;
}

static enum status count_groups(struct pairing *p, bool narrow, struct err *err)
{
    TRY(list_groups(p, err));
    size_t size = (size_t)p->in.n_groups * sizeof *p->acc;
    p->acc = spare_take(p->x->j, size);
    if (!p->acc)
        return err_nomem(err);
    memset(p->acc, 0, size);
    for (uint32_t n = p->out.n_groups, a = n; a-- > 0;) { /* heavy ones first */
        if (a % POLL == 0 && join_cancelled(p->x->j))
            return err_set(err, E_CANCELLED, "cancelled");
        uint32_t i = p->off ? p->off[a] : a,
                 end = p->off ? p->off[a + 1] : a + 1;
        if (p->keys ? p->keys->off[a] == p->keys->off[a + 1]
                    : !may_exceed(p, i, end))
            continue;
        if (narrow)
            narrow_group(p, a);
        else
            wide_group(p, a);
    }
    return OK;
}

/* --- the whole --------------------------------------------------------------
 */

/* No count, nor all together, is larger. */
static bool bound_all(const struct pairing *p, uint64_t *all)
{
    const struct csr *c = p->c;
    uint64_t sum = 0, v;
    if (small_product(c->n, p->scale, all) && !(*all >> 32))
        return true;
    for (uint32_t x = 0; x < p->out.n; x++) {
        v = c->sum ? c->sum[x] : c->off[x + 1] - c->off[x];
        if (p->out.w && !u64_mul(v, p->out.w[x], &v))
            return false;
        if (!u64_add(sum, v, &sum))
            return false;
    }
    return small_product(sum, p->in.top, all);
}

/* Exchanges the two ends of the path. */
static void turn(struct pairing *p)
{
    struct pair_side t = p->out;
    p->out = p->in;
    p->in = t;
    p->c = p->c->flip;
}

static enum status count_pairs(struct pairing *p, struct err *err)
{
    uint64_t all;
    if (!small_product(p->c->max_w, p->out.top, &p->scale) ||
        !small_product(p->scale, p->in.top, &p->scale) || !bound_all(p, &all)) {
        p->x->wide = true;
        return OK;
    }
    bool narrow = !(all >> 32);
    double table = table_cost(&p->out, &p->in, p->c);
    double group = group_cost(&p->out, &p->in, p->c);
    if (!p->keys) {
        double other = group_cost(&p->in, &p->out, p->c->flip);
        double across = table_cost(&p->in, &p->out, p->c->flip);
        if ((across < table ? across : table) < (other < group ? other : group)
                ? across < table
                : other < group) {
            turn(p);
            table = across;
            group = other;
        }
    }
    return narrow && table < group ? count_table(p, err)
                                   : count_groups(p, narrow, err);
}

enum status acyclic_pairs(struct acyclic *x, unsigned a, unsigned b,
                          const struct pair_keys *keys, uint64_t *best,
                          enum outcome *what, struct err *err)
{
    struct pairing p = {.x = x, .keys = keys};
    TRY(side_start(x, a, &p.out, err));
    TRY(side_start(x, b, &p.in, err));
    TRY(side_walk(x, &p.out, b, err));
    TRY(side_walk(x, &p.in, p.out.var, err));
    *what = x->wide ? WIDE : PASS;
    if (x->wide)
        return OK;
    for (uint32_t i = 0; i < x->g.n_edges && !p.c; i++) {
        const struct gedge *e = &x->g.e[i];
        if (e->a == p.out.var && e->b == p.in.var)
            p.c = e->ab;
        else if (e->b == p.out.var && e->a == p.in.var)
            p.c = e->ab->flip;
    }
    if (!p.c) /* several variables between the groups */
        return OK;
    TRY(count_pairs(&p, err));
    *best = p.best;
    *what = x->wide ? WIDE : SOLVED;
    return OK;
}
