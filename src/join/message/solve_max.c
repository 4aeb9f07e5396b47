/*
 * Maxima: branch and bound. Boundary variables but one are fixed in turn, the
 * candidates of each by falling upper bound, until no bound exceeds the best
 * value found. For the last one the values of all its ids come as an array;
 * only ids whose own bound exceeds the best, and whose degree suffices
 * (jointree_degree.c), are looked at, and the signed corrections of
 * inequalities are computed for those ids only where the uncorrected value is
 * still larger.
 *
 * Where boundary variables can be exchanged (plan_mirrored, for the first and
 * the root; plan_exchangeable, for the first and the second), the id of the
 * second is sought among the candidates of the first, from the fixed one on.
 * Nothing is lost: of values that exceed the best, all the ids exchanged have
 * bounds that do, so they all stay candidates; and the candidate that was tried
 * alone, before the others were put in order, was tried with every id.
 */
#include "join/message/kernel.h"
#include "join/message/prune.h"

#include <string.h>

/* Bounds cost a few passes over all pairs. */
#define CHEAP 4.0

/* Above every value: one that is not is never looked for again. */
#define NO_BOUND UINT64_MAX

struct max_runner;

struct max_job {
    struct plan *p;
    struct prune level[G_VARS]; /* of the fixed boundary variables */
    struct prune root;
    bool root_bound;         /* `root` is used */
    bool by_degree;          /* it is not: degrees bound the root's values */
    struct candidate *first; /* candidates of the first variable */
    uint32_t n_first;
    /* ids of the root by falling bound; mirrored: the same as `first` */
    struct candidate *roots;
    uint32_t n_roots;
    uint32_t *widest; /* the largest degree from a place in `roots` on */
    bool mirrored;
    /* exchangeable: by id, one more than its place in `first`, or 0 */
    uint32_t *place;
    uint64_t limit; /* no value is larger */
    bool cheap;     /* trying all ids costs less than bounding them */
    struct kernel k;
    bool roots_by_kernel; /* the root is a boundary variable */
    bool by_kernel;       /* the only fixed variable's bounds too */
    /* with a kernel: the least root id whose bound has this rank or more */
    uint32_t lowest[CANDIDATE_RANKS];
    atomic_ullong best;
    atomic_uint next;
    atomic_bool wide, tired;
    struct max_runner *main; /* the first thread's */
};

struct max_runner {
    struct runner r;
    struct max_job *job;
    uint32_t at; /* place among `first` of what is fixed */
    /* by level; then the root's; then room for ordering */
    struct candidate *store[RUNNER_LISTS];
};
enum { ROOT_LIST = G_VARS, SPARE_LIST };

static uint64_t best_of(const struct max_runner *m)
{
    return atomic_load_explicit(&m->job->best, memory_order_relaxed);
}

/* The best so far, which all threads share, becomes v if that is more. */
static void improve(struct max_runner *m, uint64_t v)
{
    unsigned long long old = atomic_load(&m->job->best);
    while (v > old && !atomic_compare_exchange_weak(&m->job->best, &old, v))
        ;
}

/* --- the last boundary variable as an array --------------------------------
 */

/* Product of everything in the term but the root's tree. */
static u128 beside(struct runner *r, const struct sterm *t)
{
    u128 v = runner_scalar(r, t);
    for (uint32_t i = 0; i < t->n_trees && v && !r->wide; i++) {
        if ((int)i == t->root_tree)
            continue;
        jtree_eval(&t->trees[i], &r->other, r->fixed, NULL, 0);
        u128 x = jtree_total(&t->trees[i], &r->other);
        jtree_reset(&t->trees[i], &r->other);
        r->wide = r->wide || r->other.wide || !u128_mul(v, x, &v);
    }
    if (v >> 62)
        r->wide = true;
    return v;
}

static const struct jtree *root_tree(const struct plan *p)
{
    return &p->terms[0].trees[p->terms[0].root_tree];
}

/* Pairs of a root id with the first child. */
static uint32_t root_degree(const struct plan *p, uint32_t id)
{
    const struct jtree *t = root_tree(p);
    const uint32_t *off = t->node[t->node[0].kids[0]].up->off;
    return off[id + 1] - off[id];
}

/* Where the root's candidates end that can still beat the best, or nearly. */
static uint32_t worth_asking(const struct max_job *job, uint32_t lo,
                             uint64_t best, uint32_t degree)
{
    uint32_t hi = job->n_roots, least = candidate_rank(best);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (candidate_rank(job->roots[mid].bound) >= least &&
            (!job->widest || job->widest[mid] >= degree))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The root ids to look at, into r->only; false: all. */
static bool choose_roots(struct max_runner *m, const struct jtree *tree,
                         uint64_t best, uint64_t times, uint32_t *n_only)
{
    const struct max_job *job = m->job;
    uint32_t n = 0, most = tree->node[0].n / 4;
    if (!job->n_roots || tree->node[0].n_lists)
        return false;
    uint32_t degree =
        job->widest ? jtree_least_degree(tree, &m->r.main, best / times) : 0;
    uint32_t from = job->mirrored ? m->at : 0;
    uint32_t end = worth_asking(job, from, best, degree);
    for (uint32_t i = from; i < end && n <= most; i++) {
        const struct candidate *c = &job->roots[i];
        m->r.only[n] = c->id;
        n += c->bound > best &&
             (!degree || root_degree(m->r.p, c->id) >= degree);
    }
    *n_only = n;
    return n <= most;
}

/* Fills r->main with the first term's values, times what stands beside. */
static uint32_t main_values(struct max_runner *m, const struct sterm *t,
                            uint64_t times)
{
    struct runner *r = &m->r;
    const struct jtree *tree = &t->trees[t->root_tree];
    uint64_t best = best_of(m);
    uint32_t n_only = 0;
    jtree_eval_kids(tree, &r->main, r->fixed);
    bool some = choose_roots(m, tree, best, times, &n_only);
    jtree_eval_root(tree, &r->main, r->fixed, some ? r->only : NULL, n_only);
    n_only = 0;
    r->wide = r->wide || r->main.wide;
    struct nwork *x = &r->main.node[0];
    for (uint32_t i = 0; i < x->n_ids && !r->wide; i++) {
        uint64_t v = 0;
        if (!u64_mul(x->val[x->ids[i]], times, &v) || v >> 62)
            r->wide = true;
        x->val[x->ids[i]] = v;
        if (v > best) {
            r->asked[x->ids[i]] = 1;
            r->only[n_only++] = x->ids[i];
        }
    }
    return n_only;
}

static void correct(struct max_runner *m, const struct sterm *t,
                    uint32_t n_only)
{
    struct runner *r = &m->r;
    u128 times = beside(r, t);
    if (!times || r->wide || !t->coef)
        return;
    const struct jtree *tree = &t->trees[t->root_tree];
    jtree_eval(tree, &r->other, r->fixed, r->only, n_only);
    r->wide = r->wide || r->other.wide;
    const struct nwork *x = &r->other.node[0];
    uint64_t *val = r->main.node[0].val;
    for (uint32_t i = 0; i < x->n_ids; i++)
        /* wraps cancel: the sum of all terms is a count */
        if (r->asked[x->ids[i]])
            val[x->ids[i]] +=
                (uint64_t)t->coef * (uint64_t)times * x->val[x->ids[i]];
    jtree_reset(tree, &r->other);
}

static void root_values(struct max_runner *m)
{
    struct runner *r = &m->r;
    const struct plan *p = r->p;
    u128 times = beside(r, &p->terms[0]);
    if (!times || r->wide)
        return;
    uint32_t n_only = main_values(m, &p->terms[0], (uint64_t)times);
    for (uint32_t i = 1; i < p->n_terms && n_only && !r->wide; i++)
        correct(m, &p->terms[i], n_only);
    for (uint32_t i = 0; i < n_only; i++) {
        r->asked[r->only[i]] = 0;
        if (!r->wide)
            improve(m, r->main.node[0].val[r->only[i]]);
    }
    jtree_reset(root_tree(p), &r->main);
}

static void leaf_value(struct max_runner *m)
{
    const struct max_job *job = m->job;
    uint32_t x = m->r.fixed[job->p->x[0]];
    if (job->roots_by_kernel) {
        uint32_t least = job->lowest[candidate_rank(best_of(m))];
        improve(m, kernel_max(&job->k, &m->r, least));
        return;
    }
    if (job->k.ok) {
        improve(m, kernel_sum(&job->k, &m->r, x, x + 1));
        return;
    }
    if (m->r.p->root >= 0) {
        root_values(m);
        return;
    }
    __int128 v = runner_sum(&m->r, m->r.p->n_max);
    if (v < 0 || v >> 62)
        m->r.wide = true;
    else
        improve(m, (uint64_t)v);
}

/* --- the others, one by one -------------------------------------------------
 */

/* Neither this candidate nor one of those after it can beat the best. */
static bool hopeless(const struct max_runner *m, const struct candidate *c)
{
    uint64_t best = best_of(m);
    return best >= m->job->limit ||
           candidate_rank(c->bound) < candidate_rank(best);
}

/* Branch and bound: fixes the next boundary variable to each candidate, the
 * most promising first, while its bound is above the best so far. */
static void descend(struct max_runner *m, uint32_t level)
{
    struct runner *r = &m->r;
    if (level == r->p->n_max) {
        leaf_value(m);
        return;
    }
    struct candidate *c = m->store[level];
    uint32_t n = prune_eval(&m->job->level[level], r, best_of(m), c);
    candidates_order(c, n, m->store[SPARE_LIST]);
    for (uint32_t i = 0; i < n && !runner_stopped(r); i++) {
        if (hopeless(m, &c[i]))
            break;
        if (c[i].bound <= best_of(m))
            continue;
        if (level == 1 && m->job->place && m->job->place[c[i].id] <= m->at)
            continue; /* was or will be fixed the other way round */
        r->fixed[r->p->x[level]] = c[i].id;
        if (runner_compatible(r, level))
            descend(m, level + 1);
    }
}

static enum status max_open(struct max_runner *m, struct max_job *job,
                            struct err *err)
{
    memset(m, 0, sizeof *m);
    m->job = job;
    TRY(runner_open(&m->r, job->p, err));
    if (job->p->j->most_work)
        m->r.most = job->p->j->most_work;
    for (uint32_t l = 0; l < RUNNER_LISTS; l++) {
        if (l >= job->p->n_max && l < ROOT_LIST)
            continue;
        m->store[l] = runner_list(&m->r, l);
        if (!m->store[l])
            return err_nomem(err);
    }
    return OK;
}

static void try_candidates(struct max_runner *m)
{
    struct max_job *job = m->job;
    while (!runner_stopped(&m->r) && !atomic_load(&job->wide)) {
        uint32_t at = atomic_fetch_add(&job->next, 1);
        if (at >= job->n_first || hopeless(m, &job->first[at]))
            break;
        if (job->first[at].bound <= best_of(m))
            continue;
        m->r.fixed[job->p->x[0]] = job->first[at].id;
        m->at = at;
        descend(m, 1);
    }
    if (m->r.wide)
        atomic_store(&job->wide, true);
    if (m->r.tired)
        atomic_store(&job->tired, true);
}

static enum status max_worker(void *ctx, unsigned number)
{
    struct max_job *job = ctx;
    struct max_runner own;
    struct err err;
    if (!number) {
        try_candidates(job->main);
        return job->main->r.stop ? E_CANCELLED : OK;
    }
    enum status s = max_open(&own, job, &err);
    if (s == OK)
        try_candidates(&own);
    if (s == OK && own.r.stop)
        s = E_CANCELLED;
    runner_close(&own.r);
    return s;
}

/* --- the whole --------------------------------------------------------------
 */

static uint32_t all_candidates(struct max_job *job)
{
    struct plan *p = job->p;
    const struct gvar *v = &p->g.v[p->x[0]];
    for (uint32_t id = 0; id < v->n; id++) {
        struct candidate c = {job->limit, v->n - 1 - id};
        job->first[id] = c; /* heavy ids, which come last, go first */
    }
    return v->n;
}

static uint32_t kernel_candidates(struct max_job *job)
{
    const struct gvar *v = &job->p->g.v[job->p->x[0]];
    uint32_t n = 0;
    for (uint32_t id = 0; id < v->n; id++) {
        struct candidate c = {kernel_bound(&job->k, id), id};
        job->first[n] = c;
        n += c.bound > 0;
    }
    return n;
}

static void kernel_roots(struct max_job *job)
{
    uint32_t n = job->p->g.v[job->p->root].n;
    for (uint32_t i = 0; i < CANDIDATE_RANKS; i++)
        job->lowest[i] = n;
    for (uint32_t id = n; id-- > 0;)
        job->lowest[candidate_rank(kernel_root_bound(&job->k, id))] = id;
    for (uint32_t i = CANDIDATE_RANKS - 1; i-- > 0;)
        if (job->lowest[i + 1] < job->lowest[i])
            job->lowest[i] = job->lowest[i + 1];
}

/* Candidates of the first variable: the best bound goes first and alone, its
 * value then leaves few others. */
static void first_candidates(struct max_job *job, struct max_runner *m)
{
    struct plan *p = job->p;
    uint32_t top = 0, n = 0;
    job->first = m->store[0];
    if (job->cheap) {
        job->n_first = all_candidates(job);
        return;
    }
    job->n_first = job->by_kernel
                       ? kernel_candidates(job)
                       : prune_eval(&job->level[0], &m->r, 0, job->first);
    for (uint32_t i = 1; i < job->n_first; i++)
        if (job->first[i].bound > job->first[top].bound)
            top = i;
    if (job->n_first && !m->r.wide) {
        m->r.fixed[p->x[0]] = job->first[top].id;
        job->first[top] = job->first[--job->n_first];
        descend(m, 1);
    }
    for (uint32_t i = 0; i < job->n_first; i++)
        if (job->first[i].bound > best_of(m))
            job->first[n++] = job->first[i];
    job->n_first = n;
    candidates_order(job->first, n, m->store[SPARE_LIST]);
}

/* All ids of the root by falling degree, which alone decides. */
static void roots_by_degree(struct max_job *job, struct max_runner *m)
{
    const struct plan *p = job->p;
    uint32_t n = p->g.v[p->root].n;
    for (uint32_t id = 0; id < n; id++) {
        struct candidate c = {root_degree(p, id), id};
        job->roots[job->n_roots] = c;
        job->n_roots += c.bound > 0;
    }
    candidates_order(job->roots, job->n_roots, m->store[SPARE_LIST]);
    for (uint32_t i = 0; i < job->n_roots; i++)
        job->roots[i].bound = NO_BOUND;
}

static void root_candidates(struct max_job *job, struct max_runner *m)
{
    if (job->roots_by_kernel)
        kernel_roots(job);
    if (!job->root_bound && !job->by_degree)
        return;
    job->roots = m->store[ROOT_LIST];
    if (job->by_degree) {
        roots_by_degree(job, m);
        return;
    }
    job->n_roots = prune_eval(&job->root, &m->r, 0, job->roots);
    candidates_order(job->roots, job->n_roots, m->store[SPARE_LIST]);
}

/* Largest degrees from each place in `roots` on, where degrees bound. */
static enum status root_degrees(struct max_job *job, struct err *err)
{
    const struct plan *p = job->p;
    if (job->mirrored) {
        job->roots = job->first;
        job->n_roots = job->n_first;
    }
    if (!job->n_roots || root_tree(p)->n_nodes < 2)
        return OK;
    uint32_t most = 0;
    uint32_t *widest = NEWS(p->a, uint32_t, job->n_roots);
    if (!widest)
        return err_nomem(err);
    for (uint32_t i = job->n_roots; i-- > 0;) {
        uint32_t d = root_degree(p, job->roots[i].id);
        most = d > most ? d : most;
        widest[i] = most;
    }
    job->widest = widest;
    return OK;
}

static enum status first_places(struct max_job *job, struct err *err)
{
    const struct plan *p = job->p;
    if (job->cheap || !plan_exchangeable(p))
        return OK;
    uint32_t *place = NEWS(p->a, uint32_t, p->g.v[p->x[0]].n);
    if (!place)
        return err_nomem(err);
    for (uint32_t i = 0; i < job->n_first; i++)
        place[job->first[i].id] = i + 1;
    job->place = place;
    return OK;
}

/* Which of the ways is taken: a kernel, all roots at once, or branch and bound
 * with bounds for each level. Everything that threads share is made here. */
static enum status prepare(struct max_job *job, struct err *err)
{
    struct plan *p = job->p;
    gset fixed = 0;
    double pairs = 0;
    job->limit = prune_limit(p);
    kernel_make(p, 1, &job->k);
    job->roots_by_kernel = job->k.ok && p->root >= 0;
    job->by_kernel = job->roots_by_kernel && p->n_x == 1;
    if (job->by_kernel)
        return OK;
    if (p->n_max == 1 && p->n_x == 1)
        job->cheap = plan_work(p, p->x[0], &pairs) < CHEAP * pairs;
    for (uint32_t l = 0; l < p->n_max; l++) {
        TRY(prune_make(p, fixed, p->x[l], &job->level[l], err));
        fixed |= gset_one(p->x[l]);
    }
    job->mirrored = !job->cheap && !job->roots_by_kernel && plan_mirrored(p);
    job->root_bound = p->root >= 0 && p->n_x && !job->cheap &&
                      !job->roots_by_kernel && !job->mirrored;
    if (job->root_bound)
        job->by_degree = jtree_degree_bounds(root_tree(p));
    job->root_bound = job->root_bound && !job->by_degree;
    if (job->root_bound)
        TRY(prune_make(p, 0, (unsigned)p->root, &job->root, err));
    return OK;
}

/* What other problems tell about this one. */
static enum status prepare_caps(struct max_job *job, struct err *err)
{
    struct plan *p = job->p;
    if (job->by_kernel || job->cheap)
        return OK;
    TRY(prune_limit_core(p, &job->limit, err));
    if (p->n_max)
        TRY(prune_caps(p, &job->level[0], err));
    return job->root_bound ? prune_caps(p, &job->root, err) : OK;
}

/* Where values are 0 or 1, all is known once a 1 is found: the heaviest id
 * is tried before any bound is computed. */
static enum status try_heaviest(struct max_job *job, struct err *err)
{
    struct plan *p = job->p;
    struct max_runner m;
    enum status s = max_open(&m, job, err);
    if (s == OK && p->g.v[p->x[0]].n) {
        m.r.fixed[p->x[0]] = p->g.v[p->x[0]].n - 1;
        descend(&m, 1);
    }
    if (s == OK && m.r.wide)
        atomic_store(&job->wide, true);
    if (m.r.tired)
        atomic_store(&job->tired, true);
    if (s == OK && m.r.stop)
        s = err_set(err, E_CANCELLED, "cancelled");
    runner_close(&m.r);
    return s;
}

/* The first level on this thread, which finds a good value early; then its
 * candidates are shared out among threads. */
static enum status search(struct max_job *job, struct max_runner *m,
                          struct err *err)
{
    struct plan *p = job->p;
    root_candidates(job, m);
    if (!p->n_max)
        leaf_value(m);
    else
        first_candidates(job, m);
    if (m->r.wide)
        atomic_store(&job->wide, true);
    if (m->r.tired)
        atomic_store(&job->tired, true);
    if (m->r.stop) /* the best so far is no maximum */
        return err_set(err, E_CANCELLED, "cancelled");
    if (!job->n_first || m->r.wide || m->r.tired)
        return OK;
    TRY(root_degrees(job, err));
    TRY(first_places(job, err));
    job->main = m;
    return run_threads(p->j, job->n_first < 64 ? 1 : p->j->opt.threads,
                       max_worker, job, err);
}

/* The best so far may be surpassed. */
static enum status give_up(const struct plan *p, enum outcome *what)
{
    p->j->tired = true;
    *what = PASS;
    return OK;
}

enum status solve_max(struct plan *p, u128 *out, enum outcome *what,
                      struct err *err)
{
    struct max_job *job = NEW(p->a, struct max_job);
    struct max_runner m;
    if (!job)
        return err_nomem(err);
    job->p = p;
    TRY(prepare(job, err));
    if (job->limit == 1 && p->n_max && !job->by_kernel)
        TRY(try_heaviest(job, err));
    if (atomic_load(&job->best) >= job->limit || atomic_load(&job->wide)) {
        *what = atomic_load(&job->wide) ? WIDE : SOLVED;
        *out = atomic_load(&job->best);
        return OK;
    }
    if (atomic_load(&job->tired))
        return give_up(p, what);
    TRY(prepare_caps(job, err));
    enum status s = max_open(&m, job, err);
    if (s == OK)
        s = search(job, &m, err);
    runner_close(&m.r);
    *what = atomic_load(&job->wide) ? WIDE : SOLVED;
    *out = atomic_load(&job->best);
    if (s == OK && *what == SOLVED && atomic_load(&job->tired) &&
        *out < job->limit)
        return give_up(p, what);
    return s;
}
