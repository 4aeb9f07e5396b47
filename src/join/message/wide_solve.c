/*
 * Sums, maxima and groups with numbers of several words: see wide.h. The plan
 * is that of the fast engine; the loops are those of solve_sum.c and
 * solve_max.c without kernels, threads and mirrored candidates.
 *
 * Upper bounds of the search saturate: a bound beyond COUNT_MOST is as good as
 * any, because a value that reaches COUNT_MOST ends the search.
 */
#include "join/message/wide.h"
#include "join/jointree/acyclic.h"

#include <stdlib.h>

/* A value of a boundary variable and what it can reach at most. */
struct wide_choice {
    u128 bound;
    uint32_t id;
};

struct wide_run {
    struct runner r; /* the plan and what is fixed; its scratch is not used */
    struct wide_work w;
    uint32_t words;
    struct prune level[G_VARS]; /* of the fixed boundary variables */
    struct wide_choice *store[G_VARS];
    uint64_t best[WORDS_MOST];
    uint8_t *asked; /* by id of the root */
    uint32_t *only;
    uint64_t *main; /* values of the root's ids */
};

static bool stopped(struct wide_run *x)
{
    if (++x->r.steps % 64 == 0 && join_cancelled(x->r.p->j))
        x->r.stop = true;
    return x->r.stop || x->w.nomem;
}

/* --- terms ------------------------------------------------------------------
 */

/* v := v * the factors of graph g between the variables of `fixed`. */
static void by_factors(const struct wide_run *x, const struct graph *g,
                       gset fixed, uint64_t *v)
{
    const uint32_t *id = x->r.fixed;
    for (gset s = fixed; s; s &= s - 1) {
        unsigned a = (unsigned)__builtin_ctz(s);
        if (g->v[a].unary)
            words_mul(v, g->v[a].unary + (size_t)id[a] * x->words, x->words,
                      x->words);
    }
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct gedge *e = &g->e[i];
        if (!(fixed & gset_one(e->a)) || !(fixed & gset_one(e->b)))
            continue;
        uint32_t at = wide_pair(e->ab, id[e->a], id[e->b]);
        if (at == NO_ID)
            words_set(v, 0, x->words);
        else
            wide_by_weight(v, e->ab, at, x->words);
    }
}

/* v := v * the totals of the trees, but for number `skip`. */
static void by_trees(struct wide_run *x, const struct jtree *trees, uint32_t n,
                     int skip, uint64_t *v)
{
    uint64_t total[WORDS_MOST];
    for (uint32_t i = 0; i < n && !words_zero(v, x->words); i++) {
        if ((int)i == skip)
            continue;
        struct wide_node *root =
            wide_eval(&trees[i], &x->w, x->r.fixed, NULL, 0);
        if (!root)
            return;
        wide_total(&trees[i], root, x->words, total);
        wide_give(&x->w, root);
        words_mul(v, total, x->words, x->words);
    }
}

/* into += coef * v; wraps, as the sum of all terms is a count. */
static void add_signed(uint64_t *into, int64_t coef, uint64_t *v,
                       uint32_t words)
{
    uint64_t size = coef < 0 ? 0 - (uint64_t)coef : (uint64_t)coef;
    words_mul(v, &size, 1, words);
    if (coef < 0)
        words_sub(into, v, words);
    else
        words_add(into, v, words);
}

static void all_terms(struct wide_run *x, uint64_t *into)
{
    const struct plan *p = x->r.p;
    for (uint32_t i = 0; i < p->n_terms; i++) {
        const struct sterm *t = &p->terms[i];
        uint64_t v[WORDS_MOST];
        if (!t->coef)
            continue;
        words_set(v, 1, x->words);
        by_factors(x, &t->g, p->x_set, v);
        by_trees(x, t->trees, t->n_trees, -1, v);
        add_signed(into, t->coef, v, x->words);
    }
}

static void sum_at(struct wide_run *x, uint32_t level, uint64_t *into)
{
    const struct plan *p = x->r.p;
    uint32_t from = 0;
    if (level == p->n_x) {
        all_terms(x, into);
        return;
    }
    unsigned v = p->x[level];
    const struct csr *c = runner_shortest(&x->r, level, &from);
    uint32_t at = c ? c->off[from] : 0;
    uint32_t end = c ? c->off[from + 1] : p->g.v[v].n;
    for (; at < end && !stopped(x); at++) {
        uint32_t id = c ? c->adj[at] : at;
        x->r.fixed[v] = id;
        if (runner_may_occur(p, v, id) && runner_compatible(&x->r, level))
            sum_at(x, level + 1, into);
    }
}

/* --- maxima -----------------------------------------------------------------
 */

static bool is_full(const struct wide_run *x)
{
    return words_clamped(x->best, x->words) == COUNT_MOST;
}

/* The best so far becomes v if that is more. */
static void improve(struct wide_run *x, const uint64_t *v)
{
    if (words_cmp(v, x->best, x->words) > 0)
        words_copy(x->best, v, x->words);
}

/* The values of the root's ids in one term, times all that is beside. */
static void root_term(struct wide_run *x, const struct sterm *t, uint32_t *n)
{
    const struct jtree *tree = &t->trees[t->root_tree];
    uint64_t times[WORDS_MOST], v[WORDS_MOST];
    bool first = t == x->r.p->terms;
    words_set(times, 1, x->words);
    by_factors(x, &t->g, x->r.p->x_set, times);
    by_trees(x, t->trees, t->n_trees, t->root_tree, times);
    if (!t->coef || words_zero(times, x->words))
        return;
    struct wide_node *root =
        wide_eval(tree, &x->w, x->r.fixed, first ? NULL : x->only, *n);
    for (uint32_t i = 0; root && i < root->n_ids; i++) {
        uint32_t id = root->ids[i];
        uint64_t *main = x->main + (size_t)id * x->words;
        words_copy(v, root->val + (size_t)id * x->words, x->words);
        words_mul(v, times, x->words, x->words);
        /* the first term is an upper bound: what it does not raise is out */
        if (first && words_cmp(v, x->best, x->words) <= 0)
            continue;
        if (first) {
            x->asked[id] = 1;
            x->only[(*n)++] = id;
            words_set(main, 0, x->words);
        }
        if (x->asked[id])
            add_signed(main, t->coef, v, x->words);
    }
    wide_give(&x->w, root);
}

static void root_values(struct wide_run *x)
{
    const struct plan *p = x->r.p;
    uint32_t n = 0;
    root_term(x, &p->terms[0], &n);
    for (uint32_t i = 1; i < p->n_terms && n && !x->w.nomem; i++)
        root_term(x, &p->terms[i], &n);
    for (uint32_t i = 0; i < n; i++) {
        x->asked[x->only[i]] = 0;
        improve(x, x->main + (size_t)x->only[i] * x->words);
    }
}

static void leaf_value(struct wide_run *x)
{
    uint64_t v[WORDS_MOST];
    if (x->r.p->root >= 0) {
        root_values(x);
        return;
    }
    words_set(v, 0, x->words);
    sum_at(x, x->r.p->n_max, v);
    if (!x->r.stop && !x->w.nomem) /* else it may lack terms */
        improve(x, v);
}

/* Ids of the level's variable whose bound exceeds the best. */
static uint32_t bound_choices(struct wide_run *x, const struct prune *b,
                              struct wide_choice *out)
{
    uint64_t times[WORDS_MOST];
    uint32_t n = 0;
    words_set(times, 1, x->words);
    by_factors(x, &x->r.p->g, b->fixed, times);
    by_trees(x, b->trees, b->n_trees, (int)b->main, times);
    if (words_zero(times, x->words))
        return 0;
    u128 most = b->wide ? COUNT_MOST : b->slack;
    most = count_mul(most, words_clamped(times, x->words));
    struct wide_node *root =
        wide_eval(&b->trees[b->main], &x->w, x->r.fixed, NULL, 0);
    u128 best = words_clamped(x->best, x->words);
    for (uint32_t i = 0; root && i < root->n_ids; i++) {
        uint64_t *v = root->val + (size_t)root->ids[i] * x->words;
        struct wide_choice c = {count_mul(most, words_clamped(v, x->words)),
                                root->ids[i]};
        if (c.bound > best)
            out[n++] = c;
    }
    wide_give(&x->w, root);
    return n;
}

static int by_bound(const void *a, const void *b)
{
    u128 x = ((const struct wide_choice *)a)->bound;
    u128 y = ((const struct wide_choice *)b)->bound;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* As in solve_max.c, with numbers of several words and one thread. */
static void descend(struct wide_run *x, uint32_t level)
{
    const struct plan *p = x->r.p;
    if (level == p->n_max) {
        leaf_value(x);
        return;
    }
    struct wide_choice *c = x->store[level];
    uint32_t n = bound_choices(x, &x->level[level], c);
    if (n)
        qsort(c, n, sizeof *c, by_bound);
    for (uint32_t i = 0; i < n && !stopped(x); i++) {
        if (c[i].bound <= words_clamped(x->best, x->words) || is_full(x))
            break;
        x->r.fixed[p->x[level]] = c[i].id;
        descend(x, level + 1);
    }
}

static enum status open_max(struct wide_run *x, struct plan *p, struct err *err)
{
    gset fixed = 0;
    for (uint32_t l = 0; l < p->n_max; l++) {
        TRY(prune_make(p, fixed, p->x[l], &x->level[l], err));
        fixed |= gset_one(p->x[l]);
        x->store[l] = NEWS(p->a, struct wide_choice, p->g.v[p->x[l]].n);
        if (!x->store[l])
            return err_nomem(err);
    }
    if (p->n_max)
        TRY(prune_caps(p, &x->level[0], err));
    if (p->root < 0)
        return OK;
    uint32_t n = p->g.v[p->root].n;
    x->asked = NEWS(p->a, uint8_t, n);
    x->only = NEWS(p->a, uint32_t, n);
    x->main = NEWS(p->a, uint64_t, (size_t)n * x->words);
    return x->asked && x->only && x->main ? OK : err_nomem(err);
}

/* --- the whole --------------------------------------------------------------
 */

/* A maximum by branch and bound, or one sum over all variables. */
static enum status run(struct wide_run *x, struct plan *p, struct err *err)
{
    bool max = p->root >= 0 || p->n_max;
    if (max)
        TRY(open_max(x, p, err));
    if (max)
        descend(x, 0);
    else
        sum_at(x, 0, x->best);
    if (x->w.nomem)
        return err_nomem(err);
    if (x->r.stop)
        return err_set(err, E_CANCELLED, "cancelled");
    return OK;
}

enum status wide_solve(struct join *j, const struct graph *g,
                       graph_solver *solve, u128 *out, enum outcome *what,
                       struct err *err)
{
    struct arena a;
    arena_init(&a, j->mem);
    struct plan *p = NEW(&a, struct plan);
    struct wide_run *x = NEW(&a, struct wide_run);
    enum status s = p && x ? plan_make(j, &a, g, p, what, err) : err_nomem(err);
    if (s == OK && *what == SOLVED) {
        j->n_wide++;
        p->solve = solve;
        plan_second_symmetry(p);
        x->r.p = p;
        x->words = g->words;
        wide_work_open(&x->w, j, g->words, p->max_n);
        s = run(x, p, err);
        wide_work_close(&x->w);
        *out = words_clamped(x->best, x->words);
        if (p->root < 0 && !p->n_max)
            *out = count_mul(*out, p->factor);
    }
    arena_fini(&a);
    return s;
}

/* --- groups ------------------------------------------------------------------
 */

struct wide_keys {
    struct wide_work w;
    struct graph g; /* the path between the boundary variables */
    const struct group_ids *k;
    u128 *out;
    struct jtree tree;
    uint32_t fixed[G_VARS];
    unsigned var[2];
};

/* The counts of the keys whose first id is fixed; with one variable, of all. */
static bool read_keys(struct wide_keys *x, const uint32_t *keys, size_t n)
{
    uint32_t last = x->k->n_vars - 1, words = x->w.words;
    const uint64_t *u = last ? x->g.v[x->var[0]].unary : NULL;
    u128 times =
        u ? words_clamped(u + (size_t)x->fixed[x->var[0]] * words, words) : 1;
    struct wide_node *root = wide_eval(&x->tree, &x->w, x->fixed, NULL, 0);
    for (size_t i = 0; root && i < n; i++) {
        uint64_t *v = root->val + (size_t)x->k->ids[last][keys[i]] * words;
        x->out[keys[i]] = count_mul(times, words_clamped(v, words));
    }
    wide_give(&x->w, root);
    return root;
}

/* Keys by their first id; the first *n of them count. */
static uint32_t *list_keys(struct wide_keys *x, struct arena *a, uint32_t n_ids,
                           size_t *n)
{
    const struct group_ids *k = x->k;
    uint32_t *out = NEWS(a, uint32_t, k->n), *id = NEWS(a, uint32_t, k->n);
    uint32_t *count = NEWS(a, uint32_t, (size_t)n_ids + 2);
    if (!out || !id || !count)
        return NULL;
    for (size_t i = 0; i < k->n; i++) {
        bool counts = k->ids[0][i] != NO_ID;
        x->out[i] = 0;
        id[i] = counts ? k->ids[0][i] : n_ids;
        *n += counts;
    }
    sort_pass(id, n_ids + 1, (uint32_t)k->n, NULL, out, count);
    return out;
}

static enum status each_first(struct wide_keys *x, const uint32_t *keys,
                              size_t n, struct err *err)
{
    const uint32_t *first = x->k->ids[0];
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at; end < n; end++)
            if (x->k->n_vars > 1 && first[keys[end]] != first[keys[at]])
                break;
        x->fixed[x->var[0]] = first[keys[at]];
        if (!read_keys(x, keys + at, end - at))
            return err_nomem(err);
        if (join_cancelled(x->w.j))
            return err_set(err, E_CANCELLED, "cancelled");
    }
    return OK;
}

/* Aggregates out all but the path between the boundary variables, and plants it
 * at the second of them. */
static enum status make_path(struct wide_keys *x, struct arena *a, bool *ok,
                             struct err *err)
{
    const struct group_ids *k = x->k;
    unsigned end = x->var[k->n_vars - 1];
    gset gone = 0, fixed = k->n_vars == 2 ? gset_one(x->var[0]) : 0;
    enum outcome what = SOLVED;
    TRY(graph_trim(a, &x->g, fixed | gset_one(end), &gone, &what, err));
    gset all = (gset)(((uint64_t)1 << x->g.n_vars) - 1) & ~gone & ~fixed;
    gset comp = graph_component(&x->g, all, end);
    *ok = what == SOLVED && comp == all;
    if (*ok)
        jtree_make(&x->g, comp, fixed, end, NULL, false, &x->tree, ok);
    return OK;
}

static enum status count_keys(struct wide_keys *x, struct arena *a,
                              enum outcome *what, struct err *err)
{
    uint32_t n_ids = 0;
    size_t n = 0;
    bool ok = true;
    TRY(make_path(x, a, &ok, err));
    if (!ok)
        return OK;
    for (uint32_t v = 0; v < x->g.n_vars; v++)
        n_ids = x->g.v[v].n > n_ids ? x->g.v[v].n : n_ids;
    x->w.n = n_ids;
    x->w.j->n_wide++;
    uint32_t *keys = list_keys(x, a, x->g.v[x->var[0]].n, &n);
    TRY(keys ? each_first(x, keys, n, err) : err_nomem(err));
    *what = SOLVED;
    return OK;
}

enum status wide_groups(struct join *j, const struct graph *g,
                        const struct group_ids *k, u128 *out,
                        enum outcome *what, struct err *err)
{
    uint32_t n_max = 0;
    struct arena a;
    *what = PASS;
    arena_init(&a, j->mem);
    struct wide_keys *x = NEW(&a, struct wide_keys);
    if (!x)
        return err_nomem(err);
    x->k = k;
    x->out = out;
    x->g = *g;
    for (uint32_t v = 0; v < g->n_vars; v++)
        if (g->v[v].kind == W_MAX && n_max++ < 2)
            x->var[n_max - 1] = v;
    enum status s = OK;
    if (!g->n_nes && g->n_edges + 1 == g->n_vars && k->n < NO_ID && n_max &&
        n_max <= 2 && n_max == k->n_vars) {
        wide_work_open(&x->w, j, g->words, 0);
        s = count_keys(x, &a, what, err);
        wide_work_close(&x->w);
    }
    arena_fini(&a);
    return s;
}
