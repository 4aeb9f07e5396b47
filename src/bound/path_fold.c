/*
 * Atoms of a path that are not own may be left out as long as the outputs stay
 * (PROOF.md, trees): fewer conditions, larger T. Left out are those whose every
 * condition another atom has as well: then nothing is lost, and the sequence
 * has fewer rows to reckon with.
 *
 * Atom x goes if some atom y of its table has at each place the same element,
 * or x has one there that occurs nowhere else but in comparisons, each of which
 * holds of y's element too.
 */
#include "bound/path_fold.h"

struct path_fold {
    struct tab *t;
    uint32_t x, y;
};

static bool in_other_atom(const struct path_fold *f, uint32_t e)
{
    for (uint32_t i = 0; i < f->t->n_atoms; i++)
        for (uint32_t k = 0; i != f->x && k < f->t->atoms[i].n; k++)
            if (f->t->atoms[i].el[k] == e)
                return true;
    return false;
}

static bool in_filter(const struct tab *t, uint32_t e)
{
    const struct cq *q = t->q;
    for (uint32_t i = 0; i < q->n_preds; i++)
        VSET_EACH (v, expr_vars(q->preds[i].e))
            if (tab_find(t, q->n_consts + v) == e)
                return true;
    for (uint32_t i = 0; i < t->n_calcs; i++) {
        if (t->calcs[i].out == e)
            return true;
        for (uint32_t k = 0; k < t->calcs[i].n_in; k++)
            if (t->calcs[i].in[k] == e)
                return true;
    }
    return false;
}

/* Nothing but x and comparisons knows the element. */
static bool is_loose(const struct path_fold *f, uint32_t e)
{
    uint8_t fixed = EL_CONST | EL_FREE | EL_CALC | EL_ROWID;
    return !(f->t->flag[e] & fixed) && !in_other_atom(f, e) &&
           !in_filter(f->t, e);
}

/* What stands in y where x has e; NO_EL: several, or one that may be NULL. */
static uint32_t image(const struct path_fold *f, uint32_t e)
{
    const struct tab_atom *x = &f->t->atoms[f->x], *y = &f->t->atoms[f->y];
    uint32_t to = NO_EL;
    if (!is_loose(f, e))
        return e;
    for (uint32_t k = 0; k < x->n; k++) {
        if (x->el[k] != e)
            continue;
        if (to != NO_EL && to != y->el[k])
            return NO_EL;
        to = y->el[k];
    }
    bool never = to != NO_EL && (f->t->flag[to] & (EL_NONNULL | EL_CONST));
    return (f->t->flag[e] & EL_NONNULL) && !never ? NO_EL : to;
}

static bool has_cmp(const struct tab *t, enum cmp_op op, uint32_t l, uint32_t r)
{
    for (uint32_t i = 0; i < t->n_cmps; i++) {
        const struct tab_cmp *c = &t->cmps[i];
        if (c->op == op && ((c->l == l && c->r == r) ||
                            (op == CMP_NE && c->l == r && c->r == l)))
            return true;
    }
    return false;
}

static bool cmps_hold(const struct path_fold *f)
{
    for (uint32_t i = 0; i < f->t->n_cmps; i++) {
        const struct tab_cmp *c = &f->t->cmps[i];
        if (!is_loose(f, c->l) && !is_loose(f, c->r))
            continue;
        uint32_t l = image(f, c->l), r = image(f, c->r);
        /* not itself: that comparison goes with x */
        if (l == NO_EL || r == NO_EL || is_loose(f, l) || is_loose(f, r) ||
            !has_cmp(f->t, c->op, l, r))
            return false;
    }
    return true;
}

static bool folds(const struct path_fold *f)
{
    const struct tab_atom *x = &f->t->atoms[f->x], *y = &f->t->atoms[f->y];
    if (f->x == f->y || x->table != y->table || x->n != y->n)
        return false;
    for (uint32_t k = 0; k < x->n; k++)
        if ((f->t->flag[x->el[k]] & EL_ROWID) || image(f, x->el[k]) != y->el[k])
            return false;
    return cmps_hold(f);
}

static bool has_pred(const struct tab *t, uint32_t atom)
{
    for (uint32_t i = 0; i < t->q->n_preds; i++)
        if (t->of_atom[t->q->preds[i].atom] == atom)
            return true;
    for (uint32_t i = 0; i < t->q->n_calcs; i++)
        if (t->of_atom[t->q->calcs[i].atom] == atom)
            return true;
    return false;
}

static void leave_out(const struct path_fold *f, aset *gone)
{
    struct tab *t = f->t;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_cmps; i++)
        if (!is_loose(f, t->cmps[i].l) && !is_loose(f, t->cmps[i].r))
            t->cmps[n++] = t->cmps[i];
    t->n_cmps = n;
    for (uint32_t i = 0; i < t->n_of; i++) {
        if (t->of_atom[i] == f->x) {
            *gone |= aset_one(i);
            t->of_atom[i] = f->y;
        }
        t->of_atom[i] -= t->of_atom[i] > f->x;
    }
    for (uint32_t i = f->x; i + 1 < t->n_atoms; i++)
        t->atoms[i] = t->atoms[i + 1];
    t->n_atoms--;
}

static bool fold_one(struct tab *t, aset own, aset *gone)
{
    for (uint32_t x = 0; x < t->n_atoms; x++) {
        if (aset_has(own, x) || has_pred(t, x))
            continue;
        for (uint32_t y = 0; y < t->n_atoms; y++) {
            struct path_fold f = {t, x, y};
            if (!folds(&f))
                continue;
            leave_out(&f, gone);
            return true;
        }
    }
    return false;
}

aset bound_own_atoms(const struct tab *t, aset own, aset gone)
{
    aset mine = 0, above = 0;
    for (uint32_t i = 0; i < t->n_of; i++) {
        if (aset_has(gone, i))
            continue;
        if (aset_has(own, i))
            mine |= aset_one(t->of_atom[i]);
        else
            above |= aset_one(t->of_atom[i]);
    }
    return mine & ~above;
}

aset bound_fold_path(struct tab *t, aset own)
{
    aset gone = 0;
    while (!t->unsat && fold_one(t, bound_own_atoms(t, own, gone), &gone))
        ;
    return gone;
}
