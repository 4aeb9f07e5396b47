/*
 * PLAN: Dijkstra over sets of variables. A state is a set closed under the
 * dependencies with k = 1 (they cost nothing, so taking them at once loses
 * nothing) and cut down to the variables from which the goal can be reached.
 * Costs are integer products, saturating to "no bound"; no floating point.
 *
 * States can be exponentially many. A greedy plan is found first; it bounds
 * the search and is the answer when the work ends. Any plan is sound, by the
 * chain rule for the entropy of a random answer (PROOF.md).
 */
#include <string.h>

#include "base/map.h"
#include "bound/degree_steps.h"

struct state {
    vset set;
    u128 cost;
    uint32_t parent, via; /* state, step; NO_EL at the start */
    bool done;
};

struct heap_item {
    u128 cost;
    uint32_t state;
};

struct dijkstra {
    struct arena *a;
    const struct steps *s;
    vset useful, goal;
    u128 limit; /* plans of this cost or more are not wanted */
    VEC(struct state) states;
    VEC(struct heap_item) heap;
    struct map index;
};

/* Variables from which the goal may be reached, seen backwards. */
static vset useful_vars(const struct steps *s, vset goal)
{
    vset need = goal;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->p[i].y & ~s->p[i].x & need && !vset_sub(s->p[i].x, need)) {
                need |= s->p[i].x;
                changed = true;
            }
    }
    return need;
}

static bool heap_push(struct dijkstra *d, struct heap_item it)
{
    if (!VEC_PUSH(d->a, &d->heap, it))
        return false;
    size_t i = d->heap.n - 1;
    while (i > 0 && d->heap.p[(i - 1) / 2].cost > d->heap.p[i].cost) {
        struct heap_item t = d->heap.p[i];
        d->heap.p[i] = d->heap.p[(i - 1) / 2];
        d->heap.p[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
    return true;
}

static struct heap_item heap_pop(struct dijkstra *d)
{
    struct heap_item top = d->heap.p[0], last = d->heap.p[--d->heap.n];
    size_t i = 0, n = d->heap.n;
    while (2 * i + 1 < n) {
        size_t c = 2 * i + 1;
        if (c + 1 < n && d->heap.p[c + 1].cost < d->heap.p[c].cost)
            c++;
        if (d->heap.p[c].cost >= last.cost)
            break;
        d->heap.p[i] = d->heap.p[c];
        i = c;
    }
    if (n > 0)
        d->heap.p[i] = last;
    return top;
}

/* A set that can be reached at this cost: closed under functional dependencies,
 * and put into the heap if it is new or cheaper than before. */
static enum status relax(struct dijkstra *d, vset set, u128 cost,
                         uint32_t parent, uint32_t via, struct err *err)
{
    set = steps_closure_fd(d->s, set) & d->useful;
    if (cost == U128_INF || cost >= d->limit)
        return OK;
    vset *key = NEW(d->a, vset);
    if (!key)
        return err_nomem(err);
    *key = set;
    bool is_new;
    uint64_t *at = map_put(
        &d->index, (struct str){(const char *)key, sizeof *key}, 0, &is_new);
    if (!at)
        return err_nomem(err);
    if (is_new) {
        *at = d->states.n;
        struct state st = {.set = set, .cost = U128_INF};
        if (!VEC_PUSH(d->a, &d->states, st))
            return err_nomem(err);
    }
    struct state *st = &d->states.p[*at];
    if (st->done || st->cost <= cost)
        return OK;
    st->cost = cost;
    st->parent = parent;
    st->via = via;
    struct heap_item it = {cost, (uint32_t)*at};
    return heap_push(d, it) ? OK : err_nomem(err);
}

/* All degree steps that lead on from a set whose cost is settled. */
static enum status expand(struct dijkstra *d, uint32_t i, struct err *err)
{
    struct state at = d->states.p[i];
    d->states.p[i].done = true;
    for (uint32_t j = 0; j < d->s->n; j++) {
        const struct degree_step *st = &d->s->p[j];
        if (st->k == 1 || !vset_sub(st->x, at.set) ||
            vset_sub(st->y & d->useful, at.set))
            continue;
        TRY(relax(d, at.set | st->y, u128_mul_inf(at.cost, st->k), i, j, err));
    }
    return OK;
}

/* --- the greedy plan ------------------------------------------------------ */

static u128 path_cost(const struct steps *s, const uint32_t *path, size_t n,
                      size_t skip, vset from, vset goal)
{
    vset d = steps_closure_fd(s, from);
    u128 cost = 1;
    for (size_t i = 0; i < n; i++) {
        const struct degree_step *st = &s->p[path[i]];
        if (i == skip)
            continue;
        if (!vset_sub(st->x, d))
            return U128_INF;
        d = steps_closure_fd(s, d | st->y);
        cost = u128_mul_inf(cost, st->k);
    }
    return vset_sub(goal, d) ? cost : U128_INF;
}

static void drop_idle(const struct steps *s, struct step_plan *p, vset from,
                      vset goal)
{
    for (size_t i = p->n_steps; i-- > 0;) {
        if (path_cost(s, p->steps, p->n_steps, i, from, goal) == U128_INF)
            continue;
        memmove(&p->steps[i], &p->steps[i + 1],
                (p->n_steps - i - 1) * sizeof *p->steps);
        p->n_steps--;
    }
    p->cost = path_cost(s, p->steps, p->n_steps, p->n_steps, from, goal);
}

/* Cheapest step first until the goal is reached, then needless ones out. */
static enum status greedy(struct arena *a, const struct steps *s, vset from,
                          vset goal, vset useful, struct step_plan *p,
                          struct err *err)
{
    *p = (struct step_plan){.cost = U128_INF};
    p->steps = NEWS(a, uint32_t, s->n);
    if (!p->steps)
        return err_nomem(err);
    vset d = steps_closure_fd(s, from);
    while (!vset_sub(goal, d)) {
        uint32_t best = NO_EL;
        for (uint32_t i = 0; i < s->n; i++)
            if (vset_sub(s->p[i].x, d) && !vset_sub(s->p[i].y & useful, d) &&
                (best == NO_EL || s->p[i].k < s->p[best].k))
                best = i;
        if (best == NO_EL)
            return OK;
        d = steps_closure_fd(s, d | s->p[best].y);
        p->steps[p->n_steps++] = best;
    }
    drop_idle(s, p, from, goal);
    return OK;
}

static enum status trace(struct dijkstra *d, uint32_t i, struct step_plan *out,
                         struct err *err)
{
    size_t n = 0;
    for (uint32_t j = i; d->states.p[j].via != NO_EL; j = d->states.p[j].parent)
        n++;
    out->cost = d->states.p[i].cost;
    out->n_steps = n;
    out->steps = NEWS(d->a, uint32_t, n);
    if (!out->steps)
        return err_nomem(err);
    for (uint32_t j = i; n > 0; j = d->states.p[j].parent)
        out->steps[--n] = d->states.p[j].via;
    return OK;
}

static enum status cheapest(struct arena *a, const struct steps *s, vset from,
                            vset goal, struct work *work, struct step_plan *out,
                            struct err *err)
{
    vset useful = useful_vars(s, goal);
    TRY(greedy(a, s, from, goal, useful, out, err));
    if (out->cost == U128_INF || out->cost == 1)
        return OK;
    struct dijkstra d = {
        .a = a, .s = s, .useful = useful, .goal = goal, .limit = out->cost};
    map_init(&d.index, a);
    TRY(relax(&d, from, 1, NO_EL, NO_EL, err));
    while (d.heap.n > 0) {
        struct heap_item it = heap_pop(&d);
        if (d.states.p[it.state].done)
            continue;
        if (vset_sub(goal, d.states.p[it.state].set))
            return trace(&d, it.state, out, err);
        if (work->left < s->n) {
            work->exhausted = true;
            return OK;
        }
        work->left -= s->n;
        TRY(expand(&d, it.state, err));
    }
    return OK;
}

/* The states live in a scratch arena; the path is all that is kept. */
enum status steps_plan(struct arena *a, const struct steps *s, vset from,
                       vset goal, struct work *work, struct step_plan *out,
                       struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, a->mem);
    enum status st = cheapest(&scratch, s, from, goal, work, out, err);
    if (st == OK) {
        uint32_t *kept = NEWS(a, uint32_t, out->n_steps);
        if (kept && out->n_steps > 0)
            memcpy(kept, out->steps, out->n_steps * sizeof *kept);
        out->steps = kept;
        st = kept ? OK : err_nomem(err);
    }
    arena_fini(&scratch);
    return st;
}

/* --- walks ---------------------------------------------------------------- */

u128 steps_walk_product(const struct steps *s, vset from, vset goal)
{
    u128 dist[MAX_VARS];
    for (uint32_t v = 0; v < MAX_VARS; v++)
        dist[v] = vset_has(from, v) ? 1 : U128_INF;
    /* Bellman and Ford: factors are at least 1, so n rounds are enough. */
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->n; i++) {
            const struct degree_step *st = &s->p[i];
            if (vset_count(st->x) > 1)
                continue;
            u128 d = st->x ? dist[vset_min(st->x)] : 1;
            d = u128_mul_inf(d, st->k);
            VSET_EACH (v, st->y) {
                if (d < dist[v]) {
                    dist[v] = d;
                    changed = true;
                }
            }
        }
    }
    u128 product = 1;
    VSET_EACH (v, goal) {
        product = u128_mul_inf(product, dist[v]);
    }
    return product;
}
