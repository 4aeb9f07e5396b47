/*
 * The walker: a worst-case-optimal join by backtracking over tries, with the
 * plan's components multiplied. It answers every request; the message engine
 * is faster where it applies.
 *
 * A node intersects the ids that its atoms allow next (smallest range first,
 * the others by galloping), checks comparisons as soon as both sides are
 * known, and combines the product of its children by max, sum or exists.
 * Values are never enumerated twice, so no set of seen outputs is needed:
 * distinct outputs are exactly the nodes' assignments. Nothing is subtracted,
 * so numbers saturate at COUNT_MOST.
 */
#include "join/walk/walk.h"

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
    uint64_t ids;  /* tried, and nodes entered */
    uint64_t most; /* of them; then it is left */
    enum status status;
    struct err *err;
};

enum { STEPS_PER_POLL = 1 << 16, GLANCE = 1 << 10 };

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
    for (uint32_t i = 0; i < n_kids && value; i++) {
        value = count_mul(value, eval(w, kids[i]));
    }
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
    return !poll(w) || (n->binary && *total);
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
    for (uint32_t at = r.lo; at < r.hi; at = run_end(t, p, at, r.hi)) {
        uint32_t v = t->cols[p->depth][at];
        cursor[lead] = at;
        if (w->ids++ >= w->most)
            w->status = E_CANCELLED;
        w->pos[n->var] = position(w, v);
        if (narrow(w, n, v, cursor) && passes(w, n) && combine(w, n, &total))
            break;
    }
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

/* *left: there would have been more than w->most to try. */
static enum status walk(struct walker *w, u128 *out, bool *left)
{
    struct arena a;
    struct walk_plan plan;
    w->plan = &plan;
    *out = 0;
    arena_init(&a, w->j->mem);
    w->status = walk_plan_make(w->j, w->r, &a, &plan, w->err);
    if (w->status == OK)
        w->status = open_ranges(w, &a);
    if (w->status == OK && !plan.empty)
        *out = product(w, plan.roots, plan.n_roots);
    *left = w->ids > w->most;
    arena_fini(&a);
    return *left ? OK : w->status;
}

enum status walk_run(struct join *j, const struct request *r, u128 *out,
                     struct err *err)
{
    struct walker w = {.j = j, .r = r, .most = UINT64_MAX - 1, .err = err};
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
