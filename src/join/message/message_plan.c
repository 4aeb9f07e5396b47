/*
 * Planning: which variables to fix, and which signed terms to add up.
 *
 * 1. Variables that hang on one other are aggregated out once (graph_trim).
 * 2. Variables are fixed one by one until what remains is, for every term,
 *    a forest: all boundary variables but one (that one becomes the root of
 *    its tree and is read off as an array), then a variable of a cycle with
 *    most edges, again and again. Sums need all boundary variables fixed
 *    before the first sum variable.
 *    One variable of `<` is fixed too, if neither is: it limits ids of the
 *    other.
 * 3. Inequalities with a fixed variable are exclusions of one id. The others
 *    are expanded: a product of (1 - [x = y]) is a signed sum of queries with
 *    variables merged; equal merges are added up.
 */
#include "join/message/message.h"

#include <string.h>

static uint32_t degree(const struct graph *g, gset among, unsigned v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct gedge *e = &g->e[i];
        if (e->a == v)
            n += (among & gset_one(e->b)) != 0;
        if (e->b == v)
            n += (among & gset_one(e->a)) != 0;
    }
    return n;
}

static void fix(struct plan *p, unsigned v)
{
    uint32_t at = p->n_x;
    if (p->g.v[v].kind == W_MAX) { /* before the sums */
        for (; at > p->n_max; at--)
            p->x[at] = p->x[at - 1];
        p->n_max++;
    }
    p->x[at] = (uint8_t)v;
    p->n_x++;
    p->x_set |= gset_one(v);
}

static gset unfixed_max(const struct plan *p)
{
    gset m = 0;
    for (uint32_t v = 0; v < p->g.n_vars; v++)
        if ((p->live & ~p->x_set & gset_one(v)) && p->g.v[v].kind == W_MAX)
            m |= gset_one(v);
    return m;
}

/* Fixes v, and every boundary variable first if v is a sum. */
static bool fix_more(struct plan *p, unsigned v)
{
    if (p->g.v[v].kind == W_EXISTS)
        return false;
    if (p->g.v[v].kind == W_SUM)
        for (gset m = unfixed_max(p); m; m &= m - 1)
            fix(p, (unsigned)__builtin_ctz(m));
    fix(p, v);
    return true;
}

double plan_work(const struct plan *p, unsigned v, double *pairs)
{
    double reach[G_VARS] = {0}, work = 0;
    gset done = gset_one(v);
    uint64_t used = 0; /* edges */
    bool again = true;
    *pairs = 0;
    reach[v] = p->g.v[v].n;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < p->g.n_edges; i++) {
            const struct gedge *e = &p->g.e[i];
            bool a = done & gset_one(e->a), b = done & gset_one(e->b);
            if (a == b)
                continue;
            const struct csr *c = a ? e->ab : e->ab->flip;
            unsigned from = a ? e->a : e->b, to = a ? e->b : e->a;
            reach[to] = from == v ? c->n : reach[from] * c->mean2;
            work += reach[to];
            done |= gset_one(to);
            used |= (uint64_t)1 << i;
            again = true;
        }
    }
    for (uint32_t i = 0; i < p->g.n_edges; i++) {
        const struct gedge *e = &p->g.e[i];
        double a = reach[e->a] * e->ab->mean2;
        double b = reach[e->b] * e->ab->flip->mean2;
        *pairs += e->ab->n;
        if (!(done & gset_one(e->a))) /* joined by inequalities only */
            work += (double)p->g.v[v].n * e->ab->n;
        if (!(used >> i & 1) && e->a != v && e->b != v)
            work += a < b ? a : b;
    }
    return work;
}

/* The boundary variable that is cheapest to fix. */
static int least_work(const struct plan *p, gset among)
{
    int best = -1;
    double least = 0, pairs;
    for (gset s = among; s; s &= s - 1) {
        unsigned v = (unsigned)__builtin_ctz(s);
        double work = plan_work(p, v, &pairs);
        work += 50.0 * p->g.v[v].n; /* each id costs something */
        if (best < 0 || work < least) {
            least = work;
            best = (int)v;
        }
    }
    return best;
}

/* Prefers variables next to fixed ones, then many edges. */
static int most_edges(const struct plan *p, gset among, gset count)
{
    int best = -1;
    uint32_t top = 0;
    for (gset s = among; s; s &= s - 1) {
        unsigned v = (unsigned)__builtin_ctz(s);
        if (p->g.v[v].kind == W_EXISTS)
            continue;
        uint32_t near = p->n_x && degree(&p->g, p->x_set, v) ? 1 : 0;
        uint32_t score = 1 + near * 1000 + degree(&p->g, count, v);
        if (score > top) {
            top = score;
            best = (int)v;
        }
    }
    return best;
}

/* Variables on cycles among the unfixed ones (and paths between cycles). */
static gset cyclic_core(const struct plan *p)
{
    gset s = p->live & ~p->x_set;
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t v = 0; v < p->g.n_vars; v++)
            if ((s & gset_one(v)) && degree(&p->g, s, v) < 2) {
                s &= ~gset_one(v);
                again = true;
            }
    }
    return s;
}

static gset open_nes(const struct plan *p, gset *with_exists)
{
    gset s = 0;
    *with_exists = 0;
    for (uint32_t i = 0; i < p->g.n_nes; i++) {
        gset both = gset_one(p->g.ne[i].a) | gset_one(p->g.ne[i].b);
        if (both & p->x_set)
            continue;
        s |= both;
        if (p->g.v[p->g.ne[i].a].kind == W_EXISTS ||
            p->g.v[p->g.ne[i].b].kind == W_EXISTS)
            *with_exists |= both;
    }
    return s;
}

/* The larger variables of order comparisons of which neither is fixed: one that
 * is limits the other (jointree.h). */
static gset open_lts(const struct plan *p)
{
    gset s = 0;
    for (uint32_t i = 0; i < p->g.n_lts; i++)
        if (!(p->x_set & (gset_one(p->g.lt[i].a) | gset_one(p->g.lt[i].b))))
            s |= gset_one(p->g.lt[i].b);
    return s;
}

static bool order_within(const struct plan *p, gset s)
{
    for (uint32_t i = 0; i < p->g.n_lts; i++)
        if ((s & gset_one(p->g.lt[i].a)) && (s & gset_one(p->g.lt[i].b)))
            return true;
    return false;
}

/* Fixes the next variable; false if none helps. */
static bool fix_next(struct plan *p)
{
    gset open = p->live & ~p->x_set, m = unfixed_max(p), exists;
    gset core = cyclic_core(p), nes = open_nes(p, &exists);
    gset lts = open_lts(p);
    int v = -1;
    if (__builtin_popcount(m) == 2 && !p->n_x && order_within(p, m))
        v = __builtin_ctz(m & lts); /* the smaller one stays */
    else if (__builtin_popcount(m) > 1)
        v = p->n_x ? most_edges(p, m, p->live) : least_work(p, m);
    else if (core & m)
        v = __builtin_ctz(core & m);
    else if (core)
        v = most_edges(p, core & lts ? core & lts : core, core);
    if (v < 0 && lts)
        v = most_edges(p, lts, p->live);
    if (v < 0 && exists)
        v = most_edges(p, exists & open, p->live);
    if (v < 0 && nes)
        v = most_edges(p, nes & open, p->live);
    return v >= 0 && fix_more(p, (unsigned)v);
}

static enum status try_terms(struct plan *p, enum outcome *what,
                             struct err *err)
{
    gset m = unfixed_max(p), exists;
    *what = PASS;
    p->root = -1;
    if (__builtin_popcount(m) > 1 || (m && p->n_x > p->n_max))
        return OK;
    (void)open_nes(p, &exists);
    if (exists || open_lts(p) || cyclic_core(p))
        return OK;
    if (m)
        p->root = __builtin_ctz(m);
    plan_symmetry(p);
    return plan_terms(p, what, err);
}

enum status plan_make(struct join *j, struct arena *a, const struct graph *g,
                      struct plan *p, enum outcome *what, struct err *err)
{
    gset gone = 0;
    memset(p, 0, sizeof *p);
    p->j = j;
    p->a = a;
    p->g = *g;
    *what = SOLVED;
    TRY(graph_trim(a, &p->g, 0, &gone, what, err));
    p->live = (gset)(((uint64_t)1 << g->n_vars) - 1) & ~gone;
    if (*what != SOLVED)
        return OK;
    for (;;) {
        TRY(try_terms(p, what, err));
        if (*what == SOLVED)
            return OK;
        if (!fix_next(p))
            return OK;
    }
}
