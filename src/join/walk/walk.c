/*
 * The backtracking join: a worst-case-optimal join by backtracking over tries,
 * with the plan's components multiplied. It answers every request; the message
 * engine is faster where it applies.
 *
 * A node intersects the ids that its atoms allow next (smallest range first,
 * the others by galloping), checks comparisons as soon as both sides are
 * known, and combines the product of its children by max, sum or exists.
 * Values are never enumerated twice, so no set of seen outputs is needed:
 * distinct outputs are exactly the nodes' assignments. Nothing is subtracted,
 * so numbers saturate at COUNT_MOST.
 */
#include "join/walk/walk.h"

#include <stdatomic.h>
#include <string.h>

struct range {
    uint32_t lo, hi;
};

struct walker {
    struct join *j;
    const struct request *r;
    const struct walk_plan *plan;
    struct range **at; /* by slot, by depth */
    uint64_t pos[MAX_VARS];
    uint64_t steps;
    uint64_t ids;                 /* tried, and nodes entered */
    uint64_t most;                /* of them; then it is left */
    const struct walk_node *root; /* being worked on */
    struct arena *shares; /* room for what threads need; NULL: one thread */
    atomic_bool *found;   /* by any thread, where that is all that is asked */
    enum status status;
    struct err *err;
};

#define ANY (UINT64_MAX - 1) /* number of ids */
enum { STEPS_PER_POLL = 1 << 16, GLANCE = 1 << 10 };
enum { SHARE_FROM = 1 << 16, CHUNKS = 512, MOST_THREADS = 256 };

static bool poll(struct walker *w)
{
    if (++w->steps % STEPS_PER_POLL == 0 && join_cancelled(w->j))
        w->status = err_set(w->err, E_CANCELLED, "cancelled");
    return w->status == OK;
}

/* First row in [lo, hi) whose id is not below v. */
static uint32_t seek(const uint32_t *col, uint32_t lo, uint32_t hi, uint32_t v)
{
    uint32_t step = 1;
    if (lo >= hi || col[lo] >= v)
        return lo;
    while (step < hi - lo && col[lo + step] < v) {
        lo += step;
        step *= 2;
    }
    if (step < hi - lo)
        hi = lo + step;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (col[mid] < v)
            lo = mid;
        else
            hi = mid;
    }
    return hi;
}

static uint32_t run_end(const struct trie *t, const struct walk_part *p,
                        uint32_t at, uint32_t hi)
{
    const uint32_t *col = t->cols[p->depth];
    if (p->last)
        return at + 1;
    if (p->depth == 0)
        return t->off[col[at] + 1];
    return seek(col, at + 1, hi, col[at] + 1);
}

/* Narrows every part to id v; false if one has no row. */
static bool narrow(struct walker *w, const struct walk_node *n, uint32_t v,
                   uint32_t *cursor)
{
    for (uint32_t i = 0; i < n->n_parts; i++) {
        const struct walk_part *p = &n->parts[i];
        const struct trie *t = w->plan->slots[p->slot].trie;
        struct range *from = &w->at[p->slot][p->depth], *to = from + 1;
        if (p->depth == 0) {
            to->lo = t->off[v];
            to->hi = t->off[v + 1];
            if (to->lo == to->hi)
                return false;
            continue;
        }
        cursor[i] = seek(t->cols[p->depth], cursor[i], from->hi, v);
        if (cursor[i] == from->hi || t->cols[p->depth][cursor[i]] != v)
            return false;
        to->lo = cursor[i];
        to->hi = run_end(t, p, cursor[i], from->hi);
    }
    return true;
}

static bool holds(enum cmp_op op, uint64_t l, uint64_t r)
{
    return op == CMP_NE ? l != r : op == CMP_LT ? l < r : l <= r;
}

static bool passes(const struct walker *w, const struct walk_node *n)
{
    for (uint32_t i = 0; i < n->n_checks; i++) {
        const struct jcmp *c = &n->checks[i];
        if (!holds(c->op, w->pos[c->l], w->pos[c->r]))
            return false;
    }
    return true;
}

static u128 eval(struct walker *w, const struct walk_node *n);

static u128 product(struct walker *w, struct walk_node *const *kids,
                    uint32_t n_kids)
{
    u128 value = 1;
    for (uint32_t i = 0; i < n_kids && value; i++)
        value = count_mul(value, eval(w, kids[i]));
    return value;
}

/* Adds the value of one assignment; true when nothing can change any more. */
static bool combine(struct walker *w, const struct walk_node *n, u128 *total)
{
    u128 value = product(w, n->kids, n->n_kids);
    if (n->tells && value && w->status == OK)
        w->status = w->r->each(w->r->ctx, w->pos, value, w->err);
    if (n->kind == W_SUM) {
        *total = count_add(*total, value);
    } else if (n->kind == W_EXISTS) {
        *total = value ? 1 : *total;
    } else if (value > *total) {
        *total = value;
    }
    return !poll(w) || (n->binary && *total) ||
           (w->found && n->binary && n == w->root && atomic_load(w->found));
}

/* The position of an id among values and the gaps between them. */
static uint64_t position(const struct walker *w, uint32_t id)
{
    return ((uint64_t)id + 1) * w->r->scale - 1;
}

/* The ids that the order comparisons leave: lo <= id < hi. */
static struct range allowed(const struct walker *w, const struct walk_node *n)
{
    uint64_t lo = 0, hi = NO_ID, scale = w->r->scale;
    for (uint32_t i = 0; i < n->n_checks; i++) {
        const struct jcmp *c = &n->checks[i];
        if (c->op == CMP_NE || c->l == c->r)
            continue;
        /* position (id + 1) * scale - 1 against the other's position */
        uint64_t p = w->pos[c->l == n->var ? c->r : c->l] + 1;
        uint64_t down = p / scale, up = (p + scale - 1) / scale;
        if (c->l == n->var)
            down = c->op == CMP_LT ? up - 1 : down;
        else
            down = c->op == CMP_LT ? down : up - 1;
        if (c->l == n->var && down < hi)
            hi = down;
        if (c->r == n->var && down > lo)
            lo = down;
    }
    struct range r = {(uint32_t)(lo < NO_ID ? lo : NO_ID), (uint32_t)hi};
    return r;
}

static bool has_ne(const struct walk_node *n)
{
    for (uint32_t i = 0; i < n->n_checks; i++)
        if (n->checks[i].op == CMP_NE)
            return true;
    return false;
}

static u128 eval_free(struct walker *w, const struct walk_node *n)
{
    u128 total = 0;
    for (uint64_t at = 0; at < n->free_size && poll(w); at++) {
        w->pos[n->var] = at;
        if (exact_allows(w->j, w->r, n->var, at) && passes(w, n) &&
            combine(w, n, &total))
            break;
    }
    return total;
}

static u128 eval_fixed(struct walker *w, const struct walk_node *n,
                       uint32_t *cursor)
{
    uint32_t v = w->r->fixed[n->var];
    u128 total = 0;
    w->pos[n->var] = position(w, v);
    if (narrow(w, n, v, cursor) && passes(w, n))
        combine(w, n, &total);
    return total;
}

static bool is_root(const struct walk_node *n)
{
    for (uint32_t i = 0; i < n->n_parts; i++)
        if (n->parts[i].depth)
            return false;
    return !n->n_checks;
}

/* A root from its last id on: domains are ordered by frequency, and whether
 * there is a result shows soonest at what is common. */
static u128 eval_back(struct walker *w, const struct walk_node *n,
                      const struct trie *t)
{
    uint32_t cursor[MAX_ATOMS], v;
    u128 total = 0;
    for (uint32_t at = t->n; at > 0; at = t->off[v]) {
        v = t->cols[0][at - 1];
        if (w->ids++ >= w->most)
            w->status = E_CANCELLED;
        w->pos[n->var] = position(w, v);
        if (narrow(w, n, v, cursor) && combine(w, n, &total))
            break;
        if (w->status != OK)
            break;
    }
    return total;
}

static enum status share_rest(struct walker *w, const struct walk_node *n,
                              uint32_t lead, struct range r, u128 *total);

/* The values of these rows of the part `lead`. */
static void eval_rows(struct walker *w, const struct walk_node *n,
                      uint32_t lead, struct range r, uint32_t *cursor,
                      u128 *total)
{
    const struct walk_part *p = &n->parts[lead];
    const struct trie *t = w->plan->slots[p->slot].trie;
    for (uint32_t at = r.lo; at < r.hi; at = run_end(t, p, at, r.hi)) {
        uint32_t v = t->cols[p->depth][at];
        if (w->shares && n == w->root && w->ids > SHARE_FROM) {
            struct range rest = {at, r.hi};
            w->status = share_rest(w, n, lead, rest, total);
            return;
        }
        cursor[lead] = at;
        if (w->ids++ >= w->most)
            w->status = E_CANCELLED;
        w->pos[n->var] = position(w, v);
        if (narrow(w, n, v, cursor) && passes(w, n) && combine(w, n, total))
            return;
        if (w->status != OK)
            return;
    }
}

static u128 eval(struct walker *w, const struct walk_node *n)
{
    uint32_t cursor[MAX_ATOMS], lead = 0, size = UINT32_MAX;
    u128 total = 0;
    if (w->status != OK)
        return 0;
    w->ids++;
    if (!n->n_parts)
        return eval_free(w, n);
    for (uint32_t i = 0; i < n->n_parts; i++) {
        struct range *r = &w->at[n->parts[i].slot][n->parts[i].depth];
        cursor[i] = r->lo;
        if (r->hi - r->lo < size) {
            size = r->hi - r->lo;
            lead = i;
        }
    }
    if (n->is_fixed)
        return eval_fixed(w, n, cursor);
    const struct walk_part *p = &n->parts[lead];
    const struct trie *t = w->plan->slots[p->slot].trie;
    struct range r = w->at[p->slot][p->depth];
    if (w->most == GLANCE && is_root(n))
        return eval_back(w, n, t);
    if (n->n_checks) {
        struct range ids = allowed(w, n);
        r.lo = seek(t->cols[p->depth], r.lo, r.hi, ids.lo);
        r.hi = seek(t->cols[p->depth], r.lo, r.hi, ids.hi);
    }
    if (n->rows && !has_ne(n))
        return r.hi - r.lo;
    if (n->n_parts == 1 && p->last && !n->n_checks && !n->n_kids && !n->tells)
        return r.hi > r.lo;
    eval_rows(w, n, lead, r, cursor, &total);
    return total;
}

static enum status open_ranges(struct walker *w, struct arena *a)
{
    w->at = NEWS(a, struct range *, w->plan->n_slots);
    if (!w->at)
        return err_nomem(w->err);
    for (uint32_t s = 0; s < w->plan->n_slots; s++) {
        w->at[s] = NEWS(a, struct range, w->plan->slots[s].n_cols + 1);
        if (!w->at[s])
            return err_nomem(w->err);
        w->at[s][0].hi = w->plan->slots[s].trie->n;
    }
    return OK;
}

/* --- threads
 * -------------------------------------------------------------- */

struct walk_share {
    struct walker *walkers; /* by thread */
    u128 *totals;
    const struct walk_node *n;
    uint32_t lead, chunk;
    struct range rest;
    atomic_uint_fast64_t next;
    atomic_bool found;
};

/* PRIVACY: steady work is done by one thread, whose steps are what was
 * said. */
static bool may_share(const struct walker *w)
{
    return w->j->opt.threads > 1 && !w->j->opt.steady && !w->r->each;
}

/* The first row from `at` on with another value than the row before; the
 * column is the first of its trie. */
static uint32_t run_start(const struct trie *t, struct range r, uint64_t at)
{
    const uint32_t *col = t->cols[0];
    if (at <= r.lo || at >= r.hi)
        return at <= r.lo ? r.lo : r.hi;
    if (col[at] != col[at - 1])
        return (uint32_t)at;
    uint32_t end = t->off[col[at] + 1];
    return end < r.hi ? end : r.hi;
}

static enum status share_worker(void *ctx, unsigned number)
{
    struct walk_share *x = ctx;
    struct walker *w = &x->walkers[number];
    const struct trie *t = w->plan->slots[x->n->parts[x->lead].slot].trie;
    uint32_t cursor[MAX_ATOMS];
    while (w->status == OK && !atomic_load(&x->found)) {
        uint64_t from = atomic_fetch_add(&x->next, x->chunk);
        if (from >= x->rest.hi)
            break;
        struct range r = {run_start(t, x->rest, from),
                          run_start(t, x->rest, from + x->chunk)};
        eval_rows(w, x->n, x->lead, r, cursor, &x->totals[number]);
        if (x->n->binary && x->totals[number])
            atomic_store(&x->found, true);
    }
    return w->status;
}

/* A walker like w, with ranges of its own. */
static bool open_like(const struct walker *w, struct walker *to)
{
    *to = *w;
    to->shares = NULL;
    to->ids = 0;
    to->at = NEWS(w->shares, struct range *, w->plan->n_slots);
    for (uint32_t s = 0; to->at && s < w->plan->n_slots; s++) {
        uint32_t n = w->plan->slots[s].n_cols + 1;
        to->at[s] = NEWS(w->shares, struct range, n);
        if (!to->at[s])
            return false;
        memcpy(to->at[s], w->at[s], n * sizeof **to->at);
    }
    return to->at;
}

static enum status share_rest(struct walker *w, const struct walk_node *n,
                              uint32_t lead, struct range r, u128 *total)
{
    unsigned threads = w->j->opt.threads;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    struct walk_share x = {.n = n, .lead = lead, .rest = r};
    x.chunk = (r.hi - r.lo) / CHUNKS + 1;
    x.walkers = NEWS(w->shares, struct walker, threads);
    x.totals = NEWS(w->shares, u128, threads);
    struct err *errs = NEWS(w->shares, struct err, threads);
    atomic_store(&x.next, r.lo);
    if (!x.walkers || !x.totals || !errs)
        return err_nomem(w->err);
    for (unsigned i = 0; i < threads; i++) {
        if (!open_like(w, &x.walkers[i]))
            return err_nomem(w->err);
        x.walkers[i].found = &x.found;
        x.walkers[i].err = &errs[i];
    }
    TRY(run_threads(w->j, threads, share_worker, &x, w->err));
    for (unsigned i = 0; i < threads; i++) {
        u128 v = x.totals[i];
        *total = n->kind == W_SUM ? count_add(*total, v)
                 : v > *total     ? v
                                  : *total;
    }
    return OK;
}

/* --- the whole
 * ------------------------------------------------------------ */

/* *left: there would have been more than w->most to try. */
static enum status walk(struct walker *w, u128 *out, bool *left)
{
    struct arena a;
    struct walk_plan plan;
    w->plan = &plan;
    *out = 0;
    arena_init(&a, w->j->mem);
    w->shares = w->most == ANY && may_share(w) ? &a : NULL;
    w->status = walk_plan_make(w->j, w->r, &a, &plan, w->err);
    if (w->status == OK)
        w->status = open_ranges(w, &a);
    *out = w->status == OK && !plan.empty;
    for (uint32_t i = 0; i < plan.n_roots && *out; i++) {
        w->root = plan.roots[i];
        *out = count_mul(*out, eval(w, plan.roots[i]));
    }
    *left = w->ids > w->most;
    arena_fini(&a);
    return *left ? OK : w->status;
}

enum status walk_run(struct join *j, const struct request *r, u128 *out,
                     struct err *err)
{
    struct walker w = {.j = j, .r = r, .most = ANY, .err = err};
    bool left;
    enum status s = walk(&w, out, &left);
    j->n_walked++;
    j->steps += w.ids;
    return s;
}

enum status walk_glance(struct join *j, const struct request *r, u128 *out,
                        enum outcome *what, struct err *err)
{
    struct walker w = {.j = j, .r = r, .most = GLANCE, .err = err};
    bool left;
    TRY(walk(&w, out, &left));
    *what = left ? PASS : SOLVED;
    return OK;
}
