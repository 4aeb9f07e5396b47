/*
 * Filters treated exactly: variables outside F that a comparison ties to F
 * are boundary variables that no atom restricts. They range over the
 * augmented active domain of Dong and Yi (section 5.2): the values that occur
 * and the gaps between them, with one place in each gap for every such
 * variable, which is as many as an order on them can tell apart. A gap
 * between declared whole numbers has no more places than numbers.
 *
 * A variable that only occurs in != can always take a fresh value; it and
 * its comparisons are left out (Corollary 5.5).
 */
#include "join/join_int.h"

static vset outside_vars(const struct join *j, vset inside)
{
    vset out = 0;
    for (uint32_t i = 0; i < j->n_cmps; i++)
        out |= vset_one(j->cmps[i].l) | vset_one(j->cmps[i].r);
    out &= ~inside;
    VSET_EACH (v, out)
        if (!cq_is_ordered(j->q, v))
            out &= ~vset_one(v);
    return out;
}

/* Comparisons of outside variables with constants. */
static enum status const_cmps(struct join *j, struct request *r,
                              struct arena *a, struct err *err)
{
    const struct cq *q = j->q;
    struct const_cmp *out = NEWS(a, struct const_cmp, q->n_cmps);
    if (!out)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        bool right = c->l.kind == TERM_VAR && c->r.kind == TERM_CONST;
        bool left = c->r.kind == TERM_VAR && c->l.kind == TERM_CONST;
        uint32_t v = right ? c->l.id : c->r.id;
        if ((!left && !right) || !vset_has(r->outside, v))
            continue;
        const struct value *k = &q->consts[right ? c->r.id : c->l.id];
        uint32_t id = dom_find(&j->doms[j->dom_of[v]], k);
        struct const_cmp x = {c->op, v, left, 0};
        x.pos = ((uint64_t)id + 1) * r->scale - 1;
        out[r->n_consts++] = x;
    }
    r->consts = out;
    return OK;
}

enum status exact_request(struct join *j, struct request *r, struct arena *a,
                          struct err *err)
{
    r->outside = outside_vars(j, r->vars);
    r->scale = 1 + vset_count(r->outside);
    r->vars |= r->outside;
    r->boundary |= r->outside;
    return const_cmps(j, r, a, err);
}

static bool is_whole(enum type t)
{
    return t == T_INT || t == T_BOOL || t == T_DATE || t == T_TIMESTAMP ||
           t == T_TIME;
}

/* How many numbers lie in the gap before the i-th value. */
static uint64_t gap_places(const struct dom *d, size_t i)
{
    int64_t least = d->type == T_BOOL ? 0 : INT64_MIN;
    int64_t most = d->type == T_BOOL ? 1 : INT64_MAX;
    if (!d->n_vals) /* the whole type */
        return d->type == T_BOOL ? 2 : UINT64_MAX;
    if (i == 0)
        return (uint64_t)d->ints[0] - (uint64_t)least;
    if (i == d->n_vals)
        return (uint64_t)most - (uint64_t)d->ints[i - 1];
    return (uint64_t)d->ints[i] - (uint64_t)d->ints[i - 1] - 1;
}

static bool is_place(const struct join *j, const struct request *r, uint32_t v,
                     uint64_t pos)
{
    const struct dom *d = &j->doms[j->dom_of[v]];
    uint64_t id = pos / r->scale, slot = pos % r->scale;
    if (slot == r->scale - 1) /* a value; NULL compares with nothing */
        return !(d->has_null && id == 0);
    if (d->has_null && id == 0)
        return false;
    /* PRIVACY: that all values are whole must not depend on rows: else one
     * text in a column without declared type opens all gaps at once */
    if (!d->is_int || d->inferred || !is_whole(j->q->vars[v].type))
        return true;
    return slot < gap_places(d, (size_t)id - d->has_null);
}

static bool holds(enum cmp_op op, uint64_t l, uint64_t r)
{
    return op == CMP_NE ? l != r : op == CMP_LT ? l < r : l <= r;
}

bool exact_allows(const struct join *j, const struct request *r, uint32_t v,
                  uint64_t pos)
{
    for (uint32_t i = 0; i < r->n_consts; i++) {
        const struct const_cmp *c = &r->consts[i];
        if (c->var == v && !(c->const_left ? holds(c->op, c->pos, pos)
                                           : holds(c->op, pos, c->pos)))
            return false;
    }
    return is_place(j, r, v, pos);
}
