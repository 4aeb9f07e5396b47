/*
 * The smooth sensitivity of triangle queries (smooth.h), exactly, for rows as
 * directed pairs: the algorithm of Nissim, Raskhodnikova and Smith carried
 * over from edges to rows.
 *
 * The row (u, v) takes part in results with a third node w that depend on
 * which of A: u->w, B: v->w, C: w->u, D: w->v are there. E(a,b),E(b,c),E(a,c)
 * gives three results: AB, CD and AD; E(a,b),E(b,c),E(c,a) gives BC three
 * times. k more rows are best spent where one row adds most:
 *   - transitive: +2 for one row (u or v lacks one of two results), then a
 *     node with B and C only, +3 for two rows, then +1 for one row; fresh
 *     nodes give 0, 0, 1, 2, 3 for 0..4 rows;
 *   - cycle: +3 for one row where B or C is there, +3 for two rows elsewhere.
 *
 * All pairs are considered; those that cannot beat the best so far even if
 * every row added the most are skipped. Doubles: for display only.
 */
#include "sens/smooth.h"

#include <math.h>
#include <string.h>

enum { LINK_OUT = 1, LINK_IN = 2, WORK = 400000000 };

/* What one pair of nodes has: results now, and nodes by what a row adds. */
struct chances {
    uint64_t now;
    uint64_t twos, pairs, ones; /* transitive */
    uint64_t threes;            /* cycle */
};

/* state: A 1, C 2 (as dir of u's link), B 4, D 8 (dir of v's, times 4). */
static void note(struct chances *c, unsigned state, bool cycle)
{
    bool a = state & 1, back = state & 2, b = state & 4, d = state & 8;
    if (cycle) {
        c->now += b && back ? 3 : 0;
        c->threes += b != back;
        return;
    }
    c->now += (unsigned)(a && b) + (unsigned)(back && d) + (unsigned)(a && d);
    switch (state) {
    case 1:
    case 2:
    case 4:
    case 8: /* one of four: each of three rows adds one */
        c->ones += 3;
        break;
    case 1 | 4:
    case 1 | 8:
    case 2 | 8: /* A with B, A with D, C with D */
        c->ones += 2;
        break;
    case 1 | 2:
    case 4 | 8: /* A with C lacks D for two results; B with D lacks A */
        c->twos++;
        c->ones++;
        break;
    case 4 | 2: /* B with C: A and D together complete three */
        c->pairs++;
        break;
    case 1 | 4 | 2:
    case 4 | 2 | 8:
        c->twos++;
        break;
    case 1 | 4 | 8:
    case 1 | 2 | 8:
        c->ones++;
        break;
    default:
        break;
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The most that k more rows add. */
static uint64_t gain(const struct chances *c, bool cycle, uint64_t k)
{
    if (cycle) {
        uint64_t one = least(k, c->threes);
        return 3 * (one + (k - one) / 2);
    }
    uint64_t use = least(k, c->twos), sum = 2 * use;
    k -= use;
    use = least(c->pairs, k / 2);
    sum += 3 * use;
    k -= 2 * use;
    use = least(k, c->ones + (c->pairs > use ? 1 : 0));
    sum += use;
    k -= use;
    return sum + k / 4 * 3 + (k % 4 > 1 ? k % 4 - 1 : 0);
}

static struct chances look(const struct sens_graph *g, bool cycle, size_t u,
                           size_t v)
{
    struct chances c = {0};
    size_t i = u < g->n ? g->start[u] : 0,
           i_end = u < g->n ? g->start[u + 1] : 0;
    size_t j = v < g->n ? g->start[v] : 0,
           j_end = v < g->n ? g->start[v + 1] : 0;
    while (i < i_end || j < j_end) {
        size_t wi = i < i_end ? g->to[i] : SIZE_MAX;
        size_t wj = j < j_end ? g->to[j] : SIZE_MAX;
        size_t w = wi < wj ? wi : wj;
        unsigned state = 0;
        if (wi == w)
            state |= g->dir[i++];
        if (wj == w)
            state |= (unsigned)g->dir[j++] << 2;
        if (w != u && w != v)
            note(&c, state, cycle);
    }
    return c;
}

uint64_t sens_triangle_pair(const struct sens_graph *g, bool cycle, size_t u,
                            size_t v, uint64_t k)
{
    struct chances c = look(g, cycle, u, v);
    return c.now + gain(&c, cycle, k);
}

struct triangle_search {
    const struct sens_graph *g;
    bool cycle;
    double beta, best;
    uint64_t k;
    long long work; /* left */
};

static size_t degree(const struct sens_graph *g, size_t u)
{
    return u < g->n ? g->start[u + 1] - g->start[u] : 0;
}

/* max over real k >= 0 of e^{-beta k} (y + slope k), y at k = 0. */
static double peak_of_line(double beta, double y, double slope)
{
    double k = 1 / beta - y / slope;
    return k <= 0 ? y : exp(-beta * k) * (y + slope * k);
}

/* No k gives this pair of nodes more: the first degree-many rows add `most`
 * each, the others 3/2. Rounded up a little. */
static double at_most(const struct triangle_search *s, size_t common,
                      size_t degrees)
{
    double most = s->cycle ? 3 : 2, n = (double)degrees;
    double y = 3 * (double)common;
    double first = peak_of_line(s->beta, y, most);
    /* The second line meets the first at k = n: y2 + 1.5 n = y + most n. */
    double second = peak_of_line(s->beta, y + (most - 1.5) * n, 1.5);
    return (first < second ? first : second) * (1 + 1e-9);
}

static void try_pair(struct triangle_search *s, size_t u, size_t v)
{
    struct chances c = look(s->g, s->cycle, u, v);
    s->work -= (long long)(degree(s->g, u) + degree(s->g, v) + 8);
    double most = s->cycle ? 3 : 2;
    for (uint64_t k = 0;; k++) {
        double e = exp(-s->beta * (double)k);
        double value = e * (double)(c.now + gain(&c, s->cycle, k));
        if (value > s->best) {
            s->best = value;
            s->k = k;
        }
        s->work--;
        if ((double)k * s->beta >= 1 &&
            e * ((double)c.now + most * (double)k) <= s->best)
            return;
    }
}

static void try_both(struct triangle_search *s, size_t u, size_t v)
{
    try_pair(s, u, v);
    try_pair(s, v, u);
}

/* Pairs of u and a node of higher rank with a common neighbour. */
static void near_pairs(struct triangle_search *s, size_t u, uint32_t *common,
                       uint32_t *touched)
{
    const struct sens_graph *g = s->g;
    size_t n = 0;
    for (size_t i = g->start[u]; i < g->start[u + 1]; i++) {
        size_t w = g->to[i];
        for (size_t j = g->start[w]; j < g->start[w + 1]; j++) {
            uint32_t v = g->to[j];
            if (v >= u)
                break;
            if (!common[v]++)
                touched[n++] = v;
        }
        s->work -= (long long)degree(g, w);
    }
    for (size_t i = 0; i < n; i++) {
        size_t v = touched[i], c = common[v];
        common[v] = 0;
        if (s->work > 0 && at_most(s, c, degree(g, u) + degree(g, v)) > s->best)
            try_both(s, u, v);
    }
}

/* Pairs without one, by falling degrees; two fresh nodes come last. */
static void far_pairs(struct triangle_search *s, const uint32_t *order,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            size_t d = degree(s->g, order[i]) + degree(s->g, order[j]);
            if (s->work <= 0 || at_most(s, 0, d) <= s->best) {
                if (j == i + 1)
                    return;
                break;
            }
            try_both(s, order[i], order[j]);
        }
}

static void sort_by_degree(const struct sens_graph *g, uint32_t *order,
                           uint32_t *count, size_t n)
{
    /* Counting sort: degrees are below n. */
    memset(count, 0, n * sizeof *count);
    for (size_t u = 0; u < n; u++)
        count[degree(g, u)]++;
    uint32_t at = 0;
    for (size_t d = n; d-- > 0;) {
        uint32_t c = count[d];
        count[d] = at;
        at += c;
    }
    for (size_t u = 0; u < n; u++)
        order[count[degree(g, u)]++] = (uint32_t)u;
}

enum status sens_triangle_peak(const struct sens_graph *g, bool cycle,
                               double beta, bool *done, double *value,
                               uint64_t *k, struct err *err)
{
    struct triangle_search s = {
        .g = g, .cycle = cycle, .beta = beta, .work = WORK};
    size_t n = g->n + 2; /* with two fresh nodes */
    uint32_t *a = mem_alloc(g->mem, 3 * n * sizeof *a);
    if (!a)
        return err_nomem(err);
    uint32_t *order = a, *common = a + n, *touched = a + 2 * n;
    sort_by_degree(g, order, common, n);
    memset(common, 0, n * sizeof *common);
    size_t most = degree(g, order[0]);
    for (size_t u = 0; u < g->n && s.work > 0; u++)
        if (at_most(&s, degree(g, u), degree(g, u) + most) > s.best)
            near_pairs(&s, u, common, touched);
    far_pairs(&s, order, n);
    mem_free(g->mem, a, 3 * n * sizeof *a);
    *done = s.work > 0;
    *value = s.best;
    *k = s.k;
    return OK;
}
