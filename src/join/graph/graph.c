/*
 * Making and changing graphs: see graph.h.
 */
#include "base/reach.h"
#include "join/graph/wide_graph.h"

#include <string.h>

/* --- from a request ------------------------------------------------------ */

struct drawing {
    struct join *j;
    const struct request *r;
    struct arena *a;
    struct graph *g;
    uint8_t place[MAX_VARS]; /* of a variable in the graph */
    vset local;              /* variables that one atom aggregates out */
    enum outcome what;       /* SOLVED: so far it has a graph */
    struct err *err;
};

/* Variables of one atom only, neither boundary nor compared. A variable that
 * is counted must not be counted inside an exists. */
static vset local_vars(const struct join *j, const struct request *r)
{
    vset once = 0, twice = r->boundary;
    ASET_EACH (i, r->f) {
        twice |= once & j->atoms[i].set;
        once |= j->atoms[i].set;
    }
    for (uint32_t i = 0; i < r->n_cmps; i++)
        twice |= vset_one(r->cmps[i].l) | vset_one(r->cmps[i].r);
    vset local = once & ~twice;
    ASET_EACH (i, r->f) {
        vset set = j->atoms[i].set;
        if (set & ~local & ~r->outs & ~r->boundary)
            local &= ~(set & r->outs);
    }
    return local;
}

static enum walk_kind kind_of(const struct request *r, uint32_t v)
{
    return vset_has(r->boundary, v) ? W_MAX
           : vset_has(r->outs, v)   ? W_SUM
                                    : W_EXISTS;
}

static void draw_vars(struct drawing *d)
{
    VSET_EACH (v, d->r->vars & ~d->local) {
        if (d->g->n_vars == G_VARS) {
            d->what = PASS;
            return;
        }
        struct gvar *x = &d->g->v[d->g->n_vars];
        x->n = d->j->doms[d->j->dom_of[v]].n;
        x->kind = kind_of(d->r, v);
        d->place[v] = (uint8_t)d->g->n_vars++;
    }
}

/* a := a * b, in a new array. */
static enum status times(struct arena *a, uint32_t words, struct gvar *x,
                         const uint64_t *by, enum outcome *what,
                         struct err *err)
{
    uint64_t *out = NEWS(a, uint64_t, (size_t)x->n * (words ? words : 1));
    if (!out)
        return err_nomem(err);
    if (words)
        wide_times(x->unary, by, x->n, words, out);
    for (uint32_t i = 0; !words && i < x->n; i++)
        if (!u64_mul(x->unary ? x->unary[i] : 1, by[i], &out[i]))
            *what = WIDE;
    x->unary = out;
    return OK;
}

static void add_name(struct gvar *x, uint32_t name)
{
    if (x->n_names >= G_NAMES || name == UINT32_MAX) {
        x->n_names = G_UNNAMED;
        return;
    }
    uint32_t at = x->n_names++;
    for (; at && x->names[at - 1] > name; at--)
        x->names[at] = x->names[at - 1];
    x->names[at] = name;
}

/* name: of the factor, UINT32_MAX for one made on the way. */
static enum status add_unary(struct arena *a, uint32_t words, struct gvar *x,
                             const uint64_t *by, uint32_t name,
                             enum outcome *what, struct err *err)
{
    add_name(x, name);
    if (!x->unary) {
        x->unary = by;
        return OK;
    }
    return times(a, words, x, by, what, err);
}

static enum status add_pairs(struct join *j, struct graph *g, uint8_t a,
                             uint8_t b, const struct csr *ab,
                             enum outcome *what, struct err *err)
{
    bool wide = g->words;
    for (uint32_t i = 0; i < g->n_edges; i++) {
        struct gedge *e = &g->e[i];
        bool same = e->a == a && e->b == b, flip = e->a == b && e->b == a;
        if (!same && !flip)
            continue;
        TRY(csr_intersect(j, e->ab, same ? ab : ab->flip, &e->ab, &wide, err));
        if (wide && !g->words)
            *what = WIDE;
        return OK;
    }
    if (g->n_edges == G_EDGES) {
        *what = PASS;
        return OK;
    }
    struct gedge e = {a, b, ab};
    g->e[g->n_edges++] = e;
    return OK;
}

/* What the atom becomes; its variables in the graph into `at_var`. */
static enum status atom_factor(struct drawing *d, const struct jatom *at,
                               const struct factor **f, uint8_t at_var[2])
{
    uint8_t keep[MAX_VARS], counted[MAX_VARS];
    uint32_t n_keep = 0, n_counted = 0;
    for (uint32_t c = 0; c < at->rel->n_cols; c++) {
        if (!vset_has(d->local, at->vars[c]))
            keep[n_keep++] = (uint8_t)c;
        else if (vset_has(d->r->outs, at->vars[c]))
            counted[n_counted++] = (uint8_t)c;
    }
    if (n_keep > 2)
        d->what = PASS;
    if (d->what != SOLVED)
        return OK;
    for (uint32_t i = 0; i < n_keep; i++)
        at_var[i] = d->place[at->vars[keep[i]]];
    return factor_make(d->j, at->rel, keep, n_keep, counted, n_counted, f,
                       d->err);
}

static uint32_t bits_of(uint64_t n)
{
    return n ? 64 - (uint32_t)__builtin_clzll(n) : 0;
}

/* By how many bits a number can grow where the factor comes in. */
static uint32_t factor_bits(const struct factor *f, uint32_t n)
{
    uint64_t top = 0;
    if (f->n_keep == 2) {
        uint64_t there = f->pairs->max_sum, back = f->pairs->flip->max_sum;
        return bits_of(there > back ? there : back);
    }
    for (uint32_t i = 0; f->n_keep == 1 && i < n; i++)
        top = f->unary[i] > top ? f->unary[i] : top;
    return bits_of(top);
}

static void join_parts(gset *part, uint32_t n_vars, uint8_t a, uint8_t b)
{
    gset both = part[a] | part[b];
    for (uint32_t v = 0; v < n_vars; v++)
        if (both & gset_one(v))
            part[v] = both;
}

/*
 * Words for every number of the graph. PRIVACY: a message is at most the
 * product of the largest sums of its edges and the largest weights of its
 * variables; a total besides of the ids of one variable for each part that
 * hangs together. It is also at most the product of the rows of its atoms.
 * Merging variables raises none of them. n inequalities have signed terms whose
 * coefficients add up to 2^n at most.
 */
static enum status draw_words(struct drawing *d)
{
    gset part[G_VARS] = {0};
    uint32_t bits = 0, by_rows = 0;
    for (uint32_t v = 0; v < d->g->n_vars; v++)
        part[v] = gset_one(v);
    ASET_EACH (i, d->r->f) {
        const struct factor *f = NULL;
        uint8_t at[2] = {0, 0};
        TRY(atom_factor(d, &d->j->atoms[i], &f, at));
        if (d->what != SOLVED)
            return OK;
        bits += factor_bits(f, d->g->v[at[0]].n);
        by_rows += bits_of(d->j->atoms[i].rel->n);
        if (f->n_keep == 2)
            join_parts(part, d->g->n_vars, at[0], at[1]);
    }
    for (uint32_t v = 0; v < d->g->n_vars; v++)
        if (!(part[v] & (gset_one(v) - 1))) { /* the first of its part */
            uint32_t most = 0;
            for (uint32_t w = 0; w < d->g->n_vars; w++)
                if ((part[v] & gset_one(w)) && d->g->v[w].n > most)
                    most = d->g->v[w].n;
            bits += bits_of(most);
        }
    bits = (bits < by_rows ? bits : by_rows) + d->r->n_cmps + 2;
    d->g->words = bits / 64 + 1;
    return OK;
}

static enum status draw_atom(struct drawing *d, const struct jatom *at)
{
    const struct factor *f = NULL;
    uint8_t at_var[2];
    TRY(atom_factor(d, at, &f, at_var));
    if (d->what != SOLVED)
        return OK;
    struct graph *g = d->g;
    uint8_t a = at_var[0];
    if (f->n_keep == 0) {
        g->scalar = count_mul(g->scalar, f->scalar);
        return OK;
    }
    if (f->n_keep == 1) {
        const uint64_t *by = f->unary;
        if (g->words)
            TRY(wide_unary(d->j, by, g->v[a].n, g->words, f->id, &by, d->err));
        return add_unary(d->a, g->words, &g->v[a], by, f->id, &d->what, d->err);
    }
    return add_pairs(d->j, g, a, at_var[1], f->pairs, &d->what, d->err);
}

/* --- orders against the largest or the least ----------------------------- */

/* Is v smaller (1), larger (-1) or neither (0) in all that compares it? */
static int one_side(const struct request *r, uint32_t v)
{
    int side = 2; /* not compared so far */
    for (uint32_t i = 0; i < r->n_cmps; i++) {
        const struct jcmp *c = &r->cmps[i];
        if (c->l != v && c->r != v)
            continue;
        int here = c->op == CMP_LT && c->l != c->r ? (c->l == v ? 1 : -1) : 0;
        side = side == 2 || side == here ? here : 0;
    }
    return side == 2 ? 0 : side;
}

/* A boundary variable whose atoms have no other, compared on one side. */
static bool is_bare(const struct join *j, const struct request *r, uint32_t v)
{
    bool bare = vset_has(r->boundary, v) && one_side(r, v);
    ASET_EACH (i, r->f)
        bare = bare &&
               (j->atoms[i].rel->n_cols == 1 || !vset_has(j->atoms[i].set, v));
    return bare;
}

bool graph_orders_go(const struct join *j, const struct request *r)
{
    for (uint32_t i = 0; i < r->n_cmps; i++)
        if (r->cmps[i].op != CMP_NE && !is_bare(j, r, r->cmps[i].l) &&
            !is_bare(j, r, r->cmps[i].r))
            return false;
    return true;
}

/* Leaves the variable the ids from lo on, below hi. */
static enum status limit_ids(struct drawing *d, unsigned v, uint32_t lo,
                             uint32_t hi)
{
    struct graph *g = d->g;
    bool joined = false;
    for (uint32_t i = 0; i < g->n_edges; i++) {
        struct gedge *e = &g->e[i];
        bool left = e->a == v;
        if (!left && e->b != v)
            continue;
        const struct csr *c = left ? e->ab : e->ab->flip;
        TRY(csr_within(d->j, c, lo, hi, &c, d->err));
        e->ab = left ? c : c->flip;
        joined = true;
    }
    if (joined)
        return OK;
    uint64_t *u = NEWS(d->a, uint64_t, g->v[v].n);
    if (!u)
        return err_nomem(d->err);
    for (uint32_t id = lo; id < hi; id++)
        u[id] = 1;
    return add_unary(d->a, 0, &g->v[v], u, UINT32_MAX, &d->what, d->err);
}

/* The largest or the least id of the variable; false: its ids are not equal in
 * all else, or there is none. */
static bool extreme(const struct gvar *x, bool largest, uint32_t *out)
{
    bool found = false, equal = true;
    for (uint32_t i = 0; i < x->n && equal; i++) {
        uint64_t u = x->unary ? x->unary[i] : 1;
        if (u && (largest || !found))
            *out = i;
        found = found || u;
        equal = u < 2;
    }
    return found && equal;
}

/* The variable v is fixed to the id that leaves the others most. */
static enum status take_extreme(struct drawing *d, unsigned v, int side,
                                gset *gone)
{
    struct graph *g = d->g;
    uint32_t id = 0, n = 0;
    if (!extreme(&g->v[v], side < 0, &id))
        return OK;
    for (uint32_t i = 0; i < g->n_lts; i++) {
        struct gpair p = g->lt[i];
        if (p.a == v)
            TRY(limit_ids(d, p.b, id + 1, g->v[p.b].n));
        else if (p.b == v)
            TRY(limit_ids(d, p.a, 0, id));
        else
            g->lt[n++] = p;
    }
    *gone |= n < g->n_lts ? gset_one(v) : 0;
    g->n_lts = n;
    return OK;
}

static enum status take_extremes(struct drawing *d)
{
    gset gone = 0;
    uint8_t place[G_VARS];
    VSET_EACH (v, d->r->boundary)
        if (d->what == SOLVED && is_bare(d->j, d->r, v))
            TRY(take_extreme(d, d->place[v], one_side(d->r, v), &gone));
    if (!gone)
        return OK;
    struct graph *rest = NEW(d->a, struct graph);
    if (!rest)
        return err_nomem(d->err);
    gset all = (gset)(((uint64_t)1 << d->g->n_vars) - 1);
    graph_induce(d->g, all & ~gone, rest, place);
    rest->scalar = d->g->scalar;
    *d->g = *rest;
    return OK;
}

enum status graph_make(struct join *j, const struct request *r, struct arena *a,
                       bool wide, struct graph *g, enum outcome *what,
                       struct err *err)
{
    struct drawing d = {.j = j, .r = r, .a = a, .g = g, .err = err};
    memset(g, 0, sizeof *g);
    g->scalar = 1;
    if (r->outside || r->fixed_set || r->n_cmps > G_NES)
        d.what = PASS;
    d.local = local_vars(j, r);
    if (d.what == SOLVED)
        draw_vars(&d);
    for (uint32_t i = 0; d.what == SOLVED && i < r->n_cmps; i++) {
        if (r->cmps[i].op != CMP_NE && (r->cmps[i].op != CMP_LT || wide))
            d.what = PASS;
        struct gpair p = {d.place[r->cmps[i].l], d.place[r->cmps[i].r]};
        if (r->cmps[i].op == CMP_NE)
            g->ne[g->n_nes++] = p;
        else
            g->lt[g->n_lts++] = p;
    }
    if (d.what == SOLVED && wide)
        TRY(draw_words(&d));
    ASET_EACH (i, r->f)
        if (d.what == SOLVED)
            TRY(draw_atom(&d, &j->atoms[i]));
    if (d.what == SOLVED && g->n_lts && g->scalar)
        TRY(take_extremes(&d));
    *what = d.what;
    if (d.what == SOLVED && g->scalar)
        OBJECT_CHECK(graph_check(g), err);
    return OK;
}

/* --- parts --------------------------------------------------------------- */

gset graph_component(const struct graph *g, gset within, unsigned from)
{
    struct vset_reach x = {.set = vset_one(from), .within = within};
    while (vset_reach_round(&x))
        for (uint32_t i = 0; i < g->n_edges; i++)
            vset_reach_edge(&x, gset_one(g->e[i].a) | gset_one(g->e[i].b));
    return (gset)x.set;
}

void graph_induce(const struct graph *g, gset keep, struct graph *out,
                  uint8_t *place)
{
    memset(out, 0, sizeof *out);
    out->scalar = 1;
    out->words = g->words;
    for (uint32_t v = 0; v < g->n_vars; v++)
        if (keep & gset_one(v)) {
            place[v] = (uint8_t)out->n_vars;
            out->v[out->n_vars++] = g->v[v];
        }
    for (uint32_t i = 0; i < g->n_edges; i++) {
        struct gedge e = g->e[i];
        if (!(keep & gset_one(e.a)) || !(keep & gset_one(e.b)))
            continue;
        e.a = place[e.a];
        e.b = place[e.b];
        out->e[out->n_edges++] = e;
    }
    for (uint32_t i = 0; i < g->n_nes; i++) {
        struct gpair p = g->ne[i];
        if (!(keep & gset_one(p.a)) || !(keep & gset_one(p.b)))
            continue;
        p.a = place[p.a];
        p.b = place[p.b];
        out->ne[out->n_nes++] = p;
    }
    for (uint32_t i = 0; i < g->n_lts; i++) {
        struct gpair p = g->lt[i];
        if ((keep & gset_one(p.a)) && (keep & gset_one(p.b)))
            out->lt[out->n_lts++] = (struct gpair){place[p.a], place[p.b]};
    }
}

/* --- contracting --------------------------------------------------------- */

static enum status diagonal(struct arena *a, uint32_t words, struct gvar *x,
                            const struct csr *c, enum outcome *what,
                            struct err *err)
{
    uint64_t *u = NEWS(a, uint64_t, (size_t)x->n * (words ? words : 1));
    if (!u)
        return err_nomem(err);
    if (words)
        wide_diagonal(c, x->n, words, u);
    for (uint32_t i = 0; !words && i < x->n; i++)
        u[i] = csr_weight(c, i, i);
    return add_unary(a, words, x, u, UINT32_MAX, what, err);
}

static uint8_t renamed(uint8_t v, unsigned x, unsigned y)
{
    return v == y ? (uint8_t)x : v;
}

static void contract_nes(struct graph *g, unsigned x, unsigned y, bool *zero)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_nes; i++) {
        struct gpair p = {renamed(g->ne[i].a, x, y), renamed(g->ne[i].b, x, y)};
        bool seen = false;
        *zero = *zero || p.a == p.b;
        for (uint32_t k = 0; k < n; k++)
            seen = seen || (g->ne[k].a == p.a && g->ne[k].b == p.b) ||
                   (g->ne[k].a == p.b && g->ne[k].b == p.a);
        if (!seen)
            g->ne[n++] = p;
    }
    g->n_nes = n;
    for (uint32_t i = 0; i < g->n_lts; i++) {
        struct gpair *p = &g->lt[i];
        *p = (struct gpair){renamed(p->a, x, y), renamed(p->b, x, y)};
        *zero = *zero || p->a == p->b;
    }
}

enum status graph_contract(struct join *j, struct arena *a, struct graph *g,
                           unsigned x, unsigned y, bool *zero,
                           enum outcome *what, struct err *err)
{
    struct gedge old[G_EDGES];
    uint32_t n_old = g->n_edges;
    struct gvar *to = &g->v[x], *from = &g->v[y];
    memcpy(old, g->e, sizeof old);
    contract_nes(g, x, y, zero);
    for (uint32_t i = 0; i < n_old && !*zero; i++)
        if (((old[i].a == x && old[i].b == y) ||
             (old[i].a == y && old[i].b == x)) &&
            !old[i].ab->has_loop)
            *zero = true;
    if (*zero)
        return OK;
    if (from->kind < to->kind)
        to->kind = from->kind;
    if (from->unary)
        TRY(add_unary(a, g->words, to, from->unary, UINT32_MAX, what, err));
    from->unary = NULL;
    g->n_edges = 0;
    for (uint32_t i = 0; i < n_old; i++) {
        uint8_t l = renamed(old[i].a, x, y), r = renamed(old[i].b, x, y);
        if (l == r)
            TRY(diagonal(a, g->words, to, old[i].ab, what, err));
        else
            TRY(add_pairs(j, g, l, r, old[i].ab, what, err));
    }
    return OK;
}

/* --- trimming ------------------------------------------------------------ */

/* out[u] := the neighbours of u combined the way of the variable's kind. */
static bool message(const struct gvar *w, const struct csr *c, uint64_t *out)
{
    for (uint32_t u = 0; u < c->n_left; u++) {
        uint64_t sum = 0;
        if (!w->unary && !c->w) { /* ones: only how many */
            uint32_t n = c->off[u + 1] - c->off[u];
            out[u] = w->kind == W_SUM ? n : n > 0;
            continue;
        }
        for (uint32_t e = c->off[u]; e < c->off[u + 1]; e++) {
            uint64_t x = w->unary ? w->unary[c->adj[e]] : 1;
            if (c->w && !u64_mul(x, c->w[e], &x))
                return false;
            if (w->kind == W_SUM) {
                if (!u64_add(sum, x, &sum))
                    return false;
            } else if (x > sum) {
                sum = w->kind == W_EXISTS ? 1 : x;
            }
        }
        out[u] = sum;
    }
    return true;
}

/* All different: each of the twins has one value less to choose from. */
static bool falling(uint64_t *m, uint32_t n, uint32_t twins)
{
    for (uint32_t u = 0; u < n; u++) {
        uint64_t v = m[u];
        for (uint32_t i = 1; i <= twins; i++)
            if (!u64_mul(m[u], v > i ? v - i : 0, &m[u]))
                return false;
    }
    return true;
}

static bool is_compared(const struct graph *g, unsigned v)
{
    for (uint32_t i = 0; i < g->n_nes; i++)
        if (g->ne[i].a == v || g->ne[i].b == v)
            return true;
    for (uint32_t i = 0; i < g->n_lts; i++)
        if (g->lt[i].a == v || g->lt[i].b == v)
            return true;
    return false;
}

/* The one edge of v, or -1. */
static int only_edge(const struct graph *g, unsigned v)
{
    int found = -1;
    for (uint32_t i = 0; i < g->n_edges; i++)
        if (g->e[i].a == v || g->e[i].b == v) {
            if (found >= 0)
                return -1;
            found = (int)i;
        }
    return found;
}

/* Is the weight 1 wherever the rest of the edges lets u be? Every id that one
 * of them has may have the folded one too. */
static bool says_nothing(const struct graph *g, unsigned u, const uint64_t *m)
{
    bool nothing = false;
    for (uint32_t i = 0; i < g->n_edges && !nothing; i++) {
        if (g->e[i].a != u && g->e[i].b != u)
            continue;
        const struct csr *c = g->e[i].a == u ? g->e[i].ab : g->e[i].ab->flip;
        nothing = true;
        for (uint32_t id = 0; id < c->n_left && nothing; id++)
            nothing = m[id] == 1 || c->off[id] == c->off[id + 1];
    }
    return nothing;
}

static enum status fold_leaf(struct arena *a, struct graph *g, unsigned v,
                             int edge, enum outcome *what, struct err *err)
{
    struct gedge e = g->e[edge];
    unsigned u = e.a == v ? e.b : e.a;
    const struct csr *c = e.a == v ? e.ab->flip : e.ab; /* from u to v */
    uint32_t words = g->words;
    uint64_t *m = NEWS(a, uint64_t, (size_t)c->n_left * (words ? words : 1));
    if (!m)
        return err_nomem(err);
    if (words)
        wide_message(&g->v[v], c, words, m);
    else if (!message(&g->v[v], c, m) ||
             !falling(m, c->n_left, g->v[v].twins)) {
        *what = WIDE;
        return OK;
    }
    g->e[edge] = g->e[--g->n_edges];
    if (!words && says_nothing(g, u, m))
        return OK;
    return add_unary(a, words, &g->v[u], m, UINT32_MAX, what, err);
}

enum status graph_trim(struct arena *a, struct graph *g, gset keep, gset *gone,
                       enum outcome *what, struct err *err)
{
    bool again = true;
    while (again && *what == SOLVED) {
        again = false;
        for (unsigned v = 0; v < g->n_vars && *what == SOLVED; v++) {
            int edge = only_edge(g, v);
            if (edge < 0 || (keep & gset_one(v)) || (*gone & gset_one(v)) ||
                is_compared(g, v))
                continue;
            unsigned u = g->e[edge].a == v ? g->e[edge].b : g->e[edge].a;
            /* twins are leaves to the end: theirs is the power */
            if (g->v[v].kind < g->v[u].kind || g->v[u].twins)
                continue;
            TRY(fold_leaf(a, g, v, edge, what, err));
            *gone |= gset_one(v);
            again = true;
        }
    }
    return OK;
}
