/*
 * Sums: nested loops over the fixed variables, messages inside. The values
 * of the first fixed variable are shared out to threads in chunks: small ones
 * share evenly, large ones leave kernels more to prefetch.
 */
#include "join/message/kernel.h"

#include <string.h>

enum {
    A_STEP = 4,
    CHUNKS = 1024,
    LEAST = 32,
    MOST = 512,
    PARALLEL_FROM = 4096
};

bool runner_stopped(struct runner *r)
{
    if (++r->steps % 256 == 0 && join_cancelled(r->p->j))
        r->stop = true;
    r->tired =
        r->tired || r->steps * A_STEP + r->main.ids + r->other.ids > r->most;
    return r->stop || r->wide || r->tired;
}

u128 runner_scalar(struct runner *r, const struct sterm *t)
{
    u128 v = 1;
    for (uint32_t i = 0; i < r->p->n_x && v; i++) {
        const uint64_t *u = t->g.v[r->p->x[i]].unary;
        if (u && !u128_mul(v, u[r->fixed[r->p->x[i]]], &v))
            r->wide = true;
    }
    for (uint32_t i = 0; i < t->g.n_edges && v; i++) {
        const struct gedge *e = &t->g.e[i];
        if (!(r->p->x_set & gset_one(e->a)) || !(r->p->x_set & gset_one(e->b)))
            continue;
        if (!u128_mul(v, csr_weight(e->ab, r->fixed[e->a], r->fixed[e->b]), &v))
            r->wide = true;
    }
    return v;
}

static __int128 term_value(struct runner *r, const struct sterm *t)
{
    u128 v = runner_scalar(r, t);
    for (uint32_t i = 0; i < t->n_trees && v && !r->wide; i++) {
        jtree_eval(&t->trees[i], &r->other, r->fixed, NULL, 0);
        u128 x = jtree_total(&t->trees[i], &r->other);
        jtree_reset(&t->trees[i], &r->other);
        r->wide = r->wide || r->other.wide || !u128_mul(v, x, &v);
    }
    u128 size = (u128)(t->coef < 0 ? -t->coef : t->coef);
    if (!u128_mul(v, size, &v) || v >> 120)
        r->wide = true;
    return t->coef < 0 ? -(__int128)v : (__int128)v;
}

static __int128 all_terms(struct runner *r)
{
    __int128 sum = 0;
    for (uint32_t i = 0; i < r->p->n_terms && !r->wide; i++)
        if (r->p->terms[i].coef)
            sum += term_value(r, &r->p->terms[i]);
    return sum;
}

bool runner_compatible(const struct runner *r, uint32_t level)
{
    const struct plan *p = r->p;
    unsigned v = p->x[level];
    gset so_far = 0;
    for (uint32_t k = 0; k <= level; k++)
        so_far |= gset_one(p->x[k]);
    if ((p->lim.below_first & gset_one(v)) &&
        r->fixed[v] >= r->fixed[p->lim.first])
        return false;
    for (uint32_t i = 0; i < p->g.n_lts; i++) {
        unsigned a = p->g.lt[i].a, b = p->g.lt[i].b;
        gset both = gset_one(a) | gset_one(b);
        if ((both & gset_one(v)) && !(both & ~so_far) &&
            r->fixed[a] >= r->fixed[b])
            return false;
    }
    for (uint32_t i = 0; i < p->g.n_nes; i++) {
        unsigned a = p->g.ne[i].a, b = p->g.ne[i].b;
        unsigned o = a == v ? b : a;
        if (a != v && b != v)
            continue;
        for (uint32_t k = 0; k < level; k++)
            if (p->x[k] == o && r->fixed[o] == r->fixed[v])
                return false;
    }
    return true;
}

const struct csr *runner_shortest(const struct runner *r, uint32_t level,
                                  uint32_t *from)
{
    const struct plan *p = r->p;
    const struct csr *best = NULL;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < p->g.n_edges; i++)
        for (uint32_t k = 0; k < level; k++) {
            const struct gedge *e = &p->g.e[i];
            const struct csr *c = NULL;
            if (e->a == p->x[k] && e->b == p->x[level])
                c = e->ab;
            else if (e->b == p->x[k] && e->a == p->x[level])
                c = e->ab->flip;
            uint32_t id = r->fixed[p->x[k]];
            if (c && c->off[id + 1] - c->off[id] < least) {
                least = c->off[id + 1] - c->off[id];
                best = c;
                *from = id;
            }
        }
    return best;
}

static __int128 sum_at(struct runner *r, uint32_t level, uint32_t id)
{
    unsigned v = r->p->x[level];
    const uint64_t *u = r->p->g.v[v].unary;
    r->fixed[v] = id;
    if ((u && !u[id]) || !runner_compatible(r, level))
        return 0;
    return runner_sum(r, level + 1);
}

__int128 runner_sum(struct runner *r, uint32_t level)
{
    __int128 sum = 0;
    uint32_t from = 0;
    if (level == r->p->n_x)
        return all_terms(r);
    const struct csr *c = runner_shortest(r, level, &from);
    uint32_t at = c ? c->off[from] : 0;
    uint32_t end = c ? c->off[from + 1] : r->p->g.v[r->p->x[level]].n;
    for (; at < end && !runner_stopped(r); at++)
        sum += sum_at(r, level, c ? c->adj[at] : at);
    if (sum >> 124 != 0 && sum >> 124 != -1)
        r->wide = true;
    return sum;
}

struct sum_job {
    struct plan *p;
    uint32_t chunk;
    atomic_uint_fast64_t next; /* passes the last id by some chunks */
    atomic_bool wide;
    struct kernel k;
    __int128 sums[256];
};

bool runner_may_occur(const struct plan *p, unsigned v, uint32_t id)
{
    for (uint32_t i = 0; i < p->g.n_edges; i++) {
        const struct gedge *e = &p->g.e[i];
        const struct csr *c = e->a == v   ? e->ab
                              : e->b == v ? e->ab->flip
                                          : NULL;
        if (c && c->off[id] == c->off[id + 1])
            return false;
    }
    return true;
}

static enum status sum_worker(void *ctx, unsigned number)
{
    struct sum_job *job = ctx;
    struct plan *p = job->p;
    struct runner r;
    struct err err;
    unsigned v = p->x[0];
    enum status s = runner_open(&r, p, &err);
    __int128 sum = 0;
    while (s == OK) {
        uint64_t next = atomic_fetch_add(&job->next, job->chunk);
        r.stop = r.stop || join_cancelled(p->j);
        if (next >= p->g.v[v].n || atomic_load(&job->wide) || r.stop || r.wide)
            break;
        uint32_t at = (uint32_t)next, left = p->g.v[v].n - at;
        uint32_t end = at + (left < job->chunk ? left : job->chunk);
        if (job->k.ok)
            sum += kernel_sum(&job->k, &r, at, end);
        for (; !job->k.ok && at < end && !r.wide; at++)
            if (runner_may_occur(p, v, at))
                sum += sum_at(&r, 0, at);
    }
    if (s == OK && (r.wide || (sum >> 124 != 0 && sum >> 124 != -1)))
        atomic_store(&job->wide, true);
    if (s == OK && r.stop)
        s = E_CANCELLED;
    job->sums[number] = sum;
    runner_close(&r);
    return s;
}

static uint32_t chunk_size(const struct plan *p)
{
    uint32_t n = p->n_x ? p->g.v[p->x[0]].n / CHUNKS : 0;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

enum status solve_sum(struct plan *p, u128 *out, enum outcome *what,
                      struct err *err)
{
    struct sum_job *job = NEW(p->a, struct sum_job);
    if (!job)
        return err_nomem(err);
    job->p = p;
    job->chunk = chunk_size(p);
    kernel_make(p, job->chunk, &job->k);
    __int128 sum = 0;
    if (!p->n_x) {
        struct runner r;
        enum status s = runner_open(&r, p, err);
        if (s == OK)
            sum = runner_sum(&r, 0);
        atomic_store(&job->wide, r.wide);
        runner_close(&r);
        TRY(s);
    } else {
        unsigned n = p->j->opt.threads;
        if (n > 256 || p->g.v[p->x[0]].n < PARALLEL_FROM)
            n = n > 256 ? 256 : 1;
        TRY(run_threads(p->j, n, sum_worker, job, err));
        for (unsigned i = 0; i < n; i++)
            sum += job->sums[i];
    }
    bool fits = !atomic_load(&job->wide) && sum >= 0;
    *what = fits && u128_mul((u128)sum, p->factor, out) ? SOLVED : WIDE;
    return OK;
}
