/*
 * Plan of the backtracking join: in which order variables get values, and where
 * the rest falls apart.
 *
 * The plan is a tree. A node gives one variable a value; what remains of its
 * component then splits into components that no atom or comparison joins,
 * and each becomes a child. Boundary variables come before outputs, outputs
 * before the others: max of sum of exists. The variables of an atom lie on
 * one path from the root, so the path gives the order of its trie. A request
 * that lists the boundary's values gets one path for the boundary, so that
 * its last node knows them all.
 */
#include "base/reach.h"
#include "join/walk/walk.h"

#include <string.h>

struct planner {
    struct join *j;
    const struct request *r;
    struct arena *a;
    struct walk_plan *plan;
    struct err *err;
    bool steady;
    uint32_t rank[MAX_VARS]; /* steady: the order that was asked for */
};

static vset slot_vars(const struct planner *p, uint32_t s)
{
    return p->j->atoms[p->plan->slots[s].atom].set;
}

/* The part of `open` that hangs together with its smallest member. */
static vset one_component(const struct planner *p, vset open)
{
    struct vset_reach x = {.set = vset_one(vset_min(open)), .within = open};
    while (vset_reach_round(&x)) {
        for (uint32_t s = 0; s < p->plan->n_slots; s++)
            vset_reach_edge(&x, slot_vars(p, s));
        for (uint32_t i = 0; i < p->r->n_cmps; i++)
            vset_reach_edge(&x, vset_one(p->r->cmps[i].l) |
                                    vset_one(p->r->cmps[i].r));
    }
    return x.set;
}

static enum walk_kind kind_of(const struct request *r, uint32_t v)
{
    return vset_has(r->boundary, v) ? W_MAX
           : vset_has(r->outs, v)   ? W_SUM
                                    : W_EXISTS;
}

/* Larger is better: first by kind, then variables that given ones narrow. */
static long score(const struct planner *p, uint32_t v)
{
    long linked = 0, atoms = 0, wide = 0;
    for (uint32_t s = 0; s < p->plan->n_slots; s++)
        if (vset_has(slot_vars(p, s), v)) {
            atoms++;
            wide += p->plan->slots[s].n_cols; /* long rows before short */
            linked += p->plan->slots[s].depth > 0;
        }
    long kind = 2 - (long)kind_of(p->r, v);
    long given = vset_has(p->r->fixed_set, v);
    long bound = vset_has(p->r->outside, v) ? 0 : 1;
    long first = (kind * 2 + given) * 2 + bound;
    return ((first * 100 + linked) * 100 + atoms) * 10000 + wide;
}

static uint32_t choose(const struct planner *p, vset comp)
{
    uint32_t best = vset_min(comp);
    if (p->steady) {
        VSET_EACH (v, comp)
            if (p->rank[v] < p->rank[best])
                best = v;
        return best;
    }
    VSET_EACH (v, comp)
        if (score(p, v) > score(p, best))
            best = v;
    return best;
}

static uint32_t column_of(const struct jatom *at, uint32_t v)
{
    uint32_t c = 0;
    while (at->vars[c] != v)
        c++;
    return c;
}

static enum status add_parts(struct planner *p, struct walk_node *n)
{
    n->parts = NEWS(p->a, struct walk_part, p->plan->n_slots);
    if (!n->parts)
        return err_nomem(p->err);
    for (uint32_t s = 0; s < p->plan->n_slots; s++) {
        struct walk_slot *slot = &p->plan->slots[s];
        const struct jatom *at = &p->j->atoms[slot->atom];
        if (!vset_has(at->set, n->var))
            continue;
        slot->order[slot->depth] = (uint8_t)column_of(at, n->var);
        struct walk_part part = {s, slot->depth,
                                 slot->depth + 1 == slot->n_cols};
        n->parts[n->n_parts++] = part;
        slot->depth++;
    }
    if (!n->n_parts)
        n->free_size =
            ((uint64_t)p->j->doms[p->j->dom_of[n->var]].n + 1) * p->r->scale -
            1;
    return OK;
}

/* Comparisons whose other side has its value already. */
static enum status add_checks(struct planner *p, struct walk_node *n,
                              vset given)
{
    n->checks = NEWS(p->a, struct jcmp, p->r->n_cmps);
    if (!n->checks)
        return err_nomem(p->err);
    for (uint32_t i = 0; i < p->r->n_cmps; i++) {
        struct jcmp c = p->r->cmps[i];
        vset both = vset_one(c.l) | vset_one(c.r);
        if (vset_has(both, n->var) && vset_sub(both, given))
            n->checks[n->n_checks++] = c;
    }
    return OK;
}

static enum status plan_parts(struct planner *p, vset open, vset given,
                              struct walk_node ***out, uint32_t *n_out);

/* Does the subtree only list the remaining columns of one atom? */
static bool counts_rows(const struct walk_node *n)
{
    if (n->kind != W_SUM || n->n_parts != 1 || n->is_fixed)
        return false;
    if (n->parts[0].last)
        return n->n_kids == 0;
    return n->n_kids == 1 && n->kids[0]->rows && !n->kids[0]->n_checks &&
           n->kids[0]->parts[0].slot == n->parts[0].slot;
}

static enum status plan_node(struct planner *p, vset comp, vset given,
                             struct walk_node **out)
{
    struct walk_node *n = NEW(p->a, struct walk_node);
    if (!n)
        return err_nomem(p->err);
    n->var = choose(p, comp);
    n->kind = kind_of(p->r, n->var);
    n->is_fixed = vset_has(p->r->fixed_set, n->var);
    given |= vset_one(n->var);
    TRY(add_parts(p, n));
    TRY(add_checks(p, n, given));
    TRY(plan_parts(p, comp & ~vset_one(n->var), given, &n->kids, &n->n_kids));
    n->rows = counts_rows(n);
    n->tells =
        p->r->each && vset_sub(p->r->boundary, given) && n->kind == W_MAX;
    n->binary = n->kind != W_SUM && !(p->r->each && n->kind == W_MAX);
    for (uint32_t i = 0; i < n->n_kids; i++)
        n->binary = n->binary && n->kids[i]->binary;
    *out = n;
    return OK;
}

static enum status plan_parts(struct planner *p, vset open, vset given,
                              struct walk_node ***out, uint32_t *n_out)
{
    *n_out = 0;
    *out = NEWS(p->a, struct walk_node *, vset_count(open));
    if (!*out)
        return err_nomem(p->err);
    while (open) {
        bool listing = p->r->each && (open & p->r->boundary);
        vset comp = listing ? open : one_component(p, open);
        TRY(plan_node(p, comp, given, &(*out)[*n_out]));
        (*n_out)++;
        open &= ~comp;
    }
    return OK;
}

static enum status open_slots(struct planner *p)
{
    struct walk_plan *plan = p->plan;
    plan->slots = NEWS(p->a, struct walk_slot, aset_count(p->r->f));
    if (!plan->slots)
        return err_nomem(p->err);
    ASET_EACH (i, p->r->f) {
        const struct jatom *at = &p->j->atoms[i];
        plan->empty = plan->empty || at->rel->n == 0;
        if (!at->rel->n_cols)
            continue;
        struct walk_slot *s = &plan->slots[plan->n_slots++];
        s->atom = i;
        s->n_cols = at->rel->n_cols;
    }
    return OK;
}

enum status walk_plan_make(struct join *j, const struct request *r,
                           struct arena *a, struct walk_plan *out,
                           struct err *err)
{
    struct planner p = {j, r, a, out, err, j->opt.steady != NULL, {0}};
    memset(out, 0, sizeof *out);
    if (p.steady)
        TRY(j->opt.steady(j->opt.steady_ctx, r->f, r->boundary, r->outs,
                          r->fixed_set != 0, p.rank, err));
    TRY(open_slots(&p));
    TRY(plan_parts(&p, r->vars, 0, &out->roots, &out->n_roots));
    for (uint32_t s = 0; s < out->n_slots; s++)
        TRY(rel_trie(j, j->atoms[out->slots[s].atom].rel, out->slots[s].order,
                     &out->slots[s].trie, err));
    return OK;
}
