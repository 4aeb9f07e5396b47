/*
 * The chase: what a functional dependency forces to be equal is made one
 * element, by union-find, until nothing changes.
 *
 * PRIVACY: the representative of a class is a constant, else an output, else
 * a variable that is not counted. Replacing an output by a variable that is
 * not counted would turn a query of unbounded sensitivity into a Boolean one
 * (PROOF.md).
 *
 * NULL: two columns that may both be NULL are "equal" under a dependency but
 * do not match in SQL. Such a pair is left alone, which is sound: a chase
 * step may always be omitted. (In a plain structure, which is never written
 * back as a query, they are merged.) Where a key makes two atoms one row all
 * their cells are the same, NULL or not: they become one atom, or none of the
 * cells that nobody named is merged.
 *
 * Cost: pairs of atoms of one table, times constraints, times rounds; the
 * order of comparisons is order_cycles.c's.
 */
#include <string.h>

#include "base/union_find.h"
#include "logic/tableau.h"

bool const_may_equal(const struct value *a, const struct value *b)
{
    return !type_comparable(a->type, b->type) || value_eq(a, b);
}

uint32_t tab_find(const struct tab *t, uint32_t e)
{
    return union_find_at(t->rep, e);
}

static unsigned rank(const struct tab *t, uint32_t e)
{
    return t->flag[e] & EL_CONST ? 2 : t->flag[e] & EL_FREE ? 1 : 0;
}

static void clash(struct tab *t, uint32_t x, uint32_t y)
{
    if (!const_may_equal(&t->q->consts[x], &t->q->consts[y]))
        t->unsat = true;
}

/* cells: x and y are one cell, which may be NULL. */
static bool unite(struct tab *t, uint32_t x, uint32_t y, bool cells)
{
    x = tab_find(t, x);
    y = tab_find(t, y);
    if (x == y)
        return false;
    if (t->flag[x] & t->flag[y] & EL_CONST) {
        clash(t, x, y);
        return false;
    }
    if ((t->flag[x] | t->flag[y]) & EL_CALC)
        return false;
    if (!cells && !((t->flag[x] | t->flag[y]) & EL_NONNULL))
        return false;
    /* PRIVACY: constant > free > bound. */
    bool x_wins =
        rank(t, x) > rank(t, y) || (rank(t, x) == rank(t, y) && x < y);
    uint32_t keep = x_wins ? x : y, gone = x_wins ? y : x;
    t->rep[gone] = keep;
    t->is_core = false;
    uint8_t inherit = EL_FIXED | EL_NONNULL | EL_ROWID;
    if (!(t->flag[keep] & EL_CONST))
        inherit |= EL_FREE;
    t->flag[keep] |= t->flag[gone] & inherit;
    if (t->var[keep] < 0 && !(t->flag[keep] & EL_CONST))
        t->var[keep] = t->var[gone];
    return true;
}

bool tab_union(struct tab *t, uint32_t x, uint32_t y)
{
    return unite(t, x, y, t->plain);
}

static bool same_x(const struct tab *t, const struct dep *d,
                   const struct tab_atom *p, const struct tab_atom *q)
{
    for (uint32_t i = 0; i < d->n_x; i++) {
        uint32_t e = tab_find(t, p->el[d->x[i]]);
        if (e != tab_find(t, q->el[d->x[i]]) || !(t->flag[e] & EL_NONNULL))
            return false;
    }
    return true;
}

static bool is_key(const struct dep *d, const struct tab_atom *p)
{
    for (uint32_t c = 0; c < p->n; c++) {
        bool has = false;
        for (uint32_t i = 0; i < d->n_x; i++)
            has |= d->x[i] == c;
        for (uint32_t i = 0; i < d->n_y; i++)
            has |= d->y[i] == c;
        if (!has)
            return false;
    }
    return true;
}

/* Can all cells be made one? PRIVACY: all or none, since a variable of two
 * atoms would no longer be NULL. */
static bool can_be_one(const struct tab *t, const struct tab_atom *p,
                       const struct tab_atom *q)
{
    for (uint32_t c = 0; c < p->n; c++) {
        uint32_t x = tab_find(t, p->el[c]), y = tab_find(t, q->el[c]);
        if (x != y && (((t->flag[x] | t->flag[y]) & EL_CALC) ||
                       (t->flag[x] & t->flag[y] & EL_CONST)))
            return false;
    }
    return true;
}

static bool unnamed(const struct tab *t, uint32_t e)
{
    e = tab_find(t, e);
    return t->var[e] < 0 && !(t->flag[e] & EL_CONST);
}

/* Two atoms that agree in d's left side. */
static bool chase_pair(struct tab *t, const struct dep *d,
                       const struct tab_atom *p, const struct tab_atom *q)
{
    bool key = !t->plain && p->n == q->n && is_key(d, p);
    bool one = key && can_be_one(t, p, q), changed = false;
    for (uint32_t c = 0; c < d->n_y; c++) {
        uint32_t x = p->el[d->y[c]], y = q->el[d->y[c]];
        if (!key || one || !unnamed(t, x) || !unnamed(t, y))
            changed |= unite(t, x, y, t->plain || one);
    }
    return changed;
}

static bool chase_dep(struct tab *t, const struct dep *d)
{
    bool changed = false;
    for (uint32_t i = 0; i < t->n_atoms; i++) {
        const struct tab_atom *p = &t->atoms[i];
        for (uint32_t j = i + 1; p->table == d->table && j < t->n_atoms; j++) {
            const struct tab_atom *q = &t->atoms[j];
            if (q->table != d->table || !same_x(t, d, p, q))
                continue;
            changed |= chase_pair(t, d, p, q);
        }
    }
    return changed;
}

/* --- settling ------------------------------------------------------------- */

static bool same_atom(const struct tab_atom *p, const struct tab_atom *q)
{
    return p->table == q->table &&
           memcmp(p->el, q->el, p->n * sizeof *p->el) == 0;
}

static void settle_atoms(struct tab *t, uint32_t *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_atoms; i++) {
        struct tab_atom at = t->atoms[i];
        for (uint32_t j = 0; j < at.n; j++)
            at.el[j] = tab_find(t, at.el[j]);
        uint32_t j = 0;
        while (j < n && !same_atom(&t->atoms[j], &at))
            j++;
        if (j == n)
            t->atoms[n++] = at;
        to[i] = j;
    }
    t->n_atoms = n;
}

/* Keep the comparison? A false one makes the query unsatisfiable. */
static bool settle_cmp(struct tab *t, struct tab_cmp *c)
{
    c->l = tab_find(t, c->l);
    c->r = tab_find(t, c->r);
    if (c->l == c->r) {
        t->unsat |= c->op != CMP_LE;
        return false;
    }
    if (!(t->flag[c->l] & t->flag[c->r] & EL_CONST))
        return true;
    /* Constants of different kinds have an order too (numbers before texts),
     * the one by which rows are evaluated: nothing is left open. */
    const struct value *x = &t->q->consts[c->l], *y = &t->q->consts[c->r];
    if (x->is_null || y->is_null) {
        t->unsat = true;
        return false;
    }
    int order = value_cmp(x, y);
    bool holds = c->op == CMP_NE   ? order != 0
                 : c->op == CMP_LT ? order < 0
                                   : order <= 0;
    t->unsat |= !holds;
    return false;
}

static void settle_filters(struct tab *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_cmps; i++)
        if (settle_cmp(t, &t->cmps[i]))
            t->cmps[n++] = t->cmps[i];
    t->n_cmps = n;
    for (uint32_t i = 0; i < t->n_calcs; i++)
        for (uint32_t j = 0; j < t->calcs[i].n_in; j++)
            t->calcs[i].in[j] = tab_find(t, t->calcs[i].in[j]);
}

enum status tab_settle(struct arena *a, struct tab *t, struct err *err)
{
    uint32_t *to = NEWS(a, uint32_t, t->n_atoms);
    if (!to)
        return err_nomem(err);
    settle_atoms(t, to);
    settle_filters(t);
    for (uint32_t i = 0; i < t->n_outs; i++)
        t->outs[i] = tab_find(t, t->outs[i]);
    for (uint32_t i = 0; i < t->n_of; i++)
        t->of_atom[i] = to[t->of_atom[i]];
    return OK;
}

enum status tab_chase(struct arena *a, struct tab *t, struct err *err)
{
    bool changed = true;
    while (changed && !t->unsat) {
        changed = false;
        TRY(tab_chase_order(a, t, &changed, err));
        for (size_t i = 0; i < t->n_deps; i++)
            if (t->deps[i].k == 1)
                changed |= chase_dep(t, &t->deps[i]);
    }
    return tab_settle(a, t, err);
}

enum status logic_chase(struct arena *a, const struct cq *q, struct cq **out,
                        struct err *err)
{
    struct tab *t;
    TRY(tab_of_cq(a, q, &t, err));
    TRY(tab_chase(a, t, err));
    return tab_to_cq(a, t, out, err);
}
