/*
 * Of which parts is it known how many rows must go before an answer can be
 * lost (PROOF.md, fragile parts)? Of those whose matches share no row: every
 * own atom has all own variables, and no row can be two own atoms for the same
 * values of the root's variables. And of those whose root is one atom: answers
 * are listed with what they can lose, and a product of several tables has too
 * many. PRIVACY: a matter of the query alone.
 */
#include "bound/path_fold.h"

static bool fixed_by_root(struct term t, vset root)
{
    return t.kind == TERM_CONST || (t.kind == TERM_VAR && vset_has(root, t.id));
}

static bool same(struct term x, struct term y)
{
    return x.kind == y.kind && x.id == y.id;
}

static bool differ(const struct cq *q, struct term x, struct term y)
{
    if (x.kind == TERM_CONST && y.kind == TERM_CONST)
        return x.id != y.id;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (c->op != CMP_LE && ((same(c->l, x) && same(c->r, y)) ||
                                (same(c->l, y) && same(c->r, x))))
            return true;
    }
    return false;
}

/* Some column holds values of the root that are different. */
static bool never_one_row(const struct cq *q, uint32_t i, uint32_t j, vset root)
{
    const struct atom *x = &q->atoms[i], *y = &q->atoms[j];
    if (x->table != y->table)
        return true;
    for (uint32_t k = 0; k < x->n_args; k++)
        if (fixed_by_root(x->args[k], root) &&
            fixed_by_root(y->args[k], root) &&
            differ(q, x->args[k], y->args[k]))
            return true;
    return false;
}

bool bound_is_fragile(const struct cq *q, aset own)
{
    aset all = aset_first_n(q->n_atoms);
    vset root = cq_vars_of(q, all & ~own), mine = cq_vars_of(q, own) & ~root;
    /* room for the row id by which matches are told apart */
    if (!own || aset_count(all & ~own) != 1 || q->weight.on ||
        q->n_vars + 2 > MAX_VARS)
        return false;
    ASET_EACH (i, own) {
        if (q->atoms[i].rowid >= 0 || !vset_sub(mine, atom_vars(q, i)))
            return false;
        ASET_EACH (j, own)
            if (j < i && !never_one_row(q, i, j, root))
                return false;
    }
    return vset_sub(cq_free(q), root);
}
