/*
 * Sums: branches whose answers have weights. A conjunctive query adds up
 * numbers of one sign only, so a branch with both is two, the positive numbers
 * and the sizes of the negative ones, whose total is subtracted. PRIVACY: both
 * are bounded as sums that rise with every row; their difference rises by the
 * one and falls by the other (PROOF.md).
 */
#include "tree/tree.h"

bool tree_is_sum(const struct ctree *t, uint32_t *scale)
{
    for (size_t i = 0; t && i < t->n_branches; i++)
        if (t->branches[i]->b.weight.on) {
            *scale = t->branches[i]->b.weight.scale;
            return true;
        }
    *scale = 0;
    return false;
}

bool tree_is_signed(const struct ctree *t)
{
    for (size_t i = 0; t && i < t->n_branches; i++)
        if (cq_weight_negative(&t->branches[i]->b.weight))
            return true;
    return false;
}

/* All in the units of the finest. */
static enum status same_scale(struct ctree *t, struct err *err)
{
    uint32_t scale = 0;
    for (size_t i = 0; i < t->n_branches; i++)
        if (t->branches[i]->b.weight.scale > scale)
            scale = t->branches[i]->b.weight.scale;
    for (size_t i = 0; i < t->n_branches; i++) {
        struct cq_weight *w = &t->branches[i]->b.weight;
        for (; w->on && w->scale < scale; w->scale++) {
            if (w->lo < -CQ_WEIGHT_MOST / 10 || w->hi > CQ_WEIGHT_MOST / 10)
                return err_set(err, E_VALUE, "the range of a sum is too wide");
            w->lo *= 10;
            w->hi *= 10;
        }
    }
    return OK;
}

/* What is united as sets is clipped alike. */
static void same_range(struct ctree *t)
{
    for (size_t i = 0; i < t->n_branches; i++)
        for (size_t k = 0; k < t->n_branches; k++) {
            struct cq_weight *x = &t->branches[i]->b.weight;
            const struct cq_weight *y = &t->branches[k]->b.weight;
            if (t->branches[i]->tag != t->branches[k]->tag)
                continue;
            x->lo = y->lo < x->lo ? y->lo : x->lo;
            x->hi = y->hi > x->hi ? y->hi : x->hi;
        }
}

enum status tree_split_signs(struct arena *a, struct ctree *t, struct err *err)
{
    size_t n = t->n_branches, more = 0;
    TRY(same_scale(t, err));
    same_range(t);
    struct tree_branch **all = NEWS(a, struct tree_branch *, 2 * n + 1);
    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct tree_branch *b = t->branches[i], *minus;
        struct cq_weight *w = &b->b.weight;
        all[i] = b;
        b->tag = 2 * b->tag;
        if (!w->on || w->lo >= 0 || w->hi <= 0)
            continue;
        minus = all[n + more++] = NEW(a, struct tree_branch);
        if (!minus)
            return err_nomem(err);
        *minus = *b;
        minus->tag++;
        minus->b.weight.hi = 0;
        w->lo = 0;
    }
    t->branches = all;
    t->n_branches = n + more;
    return t->n_branches <= TREE_MAX_BRANCHES
               ? OK
               : err_set(err, E_TOO_LARGE,
                         "the sum has more than %d cases of unions and signs",
                         TREE_MAX_BRANCHES);
}
