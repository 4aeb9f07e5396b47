/*
 * Building a tree: items go into one builder, and are given to the node that
 * is current when the next one is entered or left. So whoever fills a builder
 * need not know of nodes.
 */
#include "tree/tree.h"

enum status tree_begin(struct arena *a, struct tree_branch *t, struct err *err)
{
    struct tree_node root = {.at_least = 1};
    t->at = 0;
    return VEC_PUSH(a, &t->nodes, root) ? OK : err_nomem(err);
}

#define TAG(a, t, list, tags)                                                  \
    while ((tags)->n < (list)->n)                                              \
        if (!VEC_PUSH(a, tags, (t)->at))                                       \
            return err_nomem(err);

enum status tree_tag(struct arena *a, struct tree_branch *t, struct err *err)
{
    TAG(a, t, &t->b.atoms, &t->atom_node)
    TAG(a, t, &t->b.cmps, &t->cmp_node)
    TAG(a, t, &t->b.equals, &t->equal_node)
    TAG(a, t, &t->b.preds, &t->pred_node)
    return OK;
}

enum status tree_enter(struct arena *a, struct tree_branch *t, uint32_t *out,
                       struct err *err)
{
    TRY(tree_tag(a, t, err));
    if (t->nodes.n >= TREE_MAX_NODES) {
        err_set(err, E_TOO_LARGE,
                "the query has more than %d negated or alternative subqueries",
                TREE_MAX_NODES - 1);
        err_detail(err, "NOT IN over columns that may be NULL counts as "
                        "three, IN and EXCEPT as one for each case.");
        err_hint(err, "Declare columns NOT NULL, or ask about fewer cases at "
                      "a time.");
        return E_TOO_LARGE;
    }
    /* what was found of the parent so far stays with it */
    t->nodes.p[t->at].unsat |= t->b.unsat;
    t->b.unsat = false;
    struct tree_node n = {.parent = t->at, .at_least = 1};
    if (!VEC_PUSH(a, &t->nodes, n))
        return err_nomem(err);
    *out = t->at = (uint32_t)t->nodes.n - 1;
    return OK;
}

enum status tree_leave(struct arena *a, struct tree_branch *t, struct err *err)
{
    TRY(tree_tag(a, t, err));
    t->nodes.p[t->at].unsat |= t->b.unsat;
    t->b.unsat = false;
    t->at = t->nodes.p[t->at].parent;
    return OK;
}

struct formula *formula_new(struct arena *a, enum formula_kind k,
                            struct formula *x, struct formula *y)
{
    struct formula *f = NEW(a, struct formula);
    struct formula **args = NEWS(a, struct formula *, 2);
    if (!f || !args)
        return NULL;
    *f = (struct formula){.kind = k, .args = args};
    if (x)
        args[f->n_args++] = x;
    if (y)
        args[f->n_args++] = y;
    return f;
}

struct formula *formula_child(struct arena *a, uint32_t node, bool negated)
{
    struct formula *f = NEW(a, struct formula);
    if (f)
        *f = (struct formula){
            .kind = F_CHILD, .child = node, .negated = negated};
    return f;
}

struct formula *formula_pred(struct arena *a, const struct expr *e)
{
    struct formula *f = NEW(a, struct formula);
    if (f)
        *f = (struct formula){.kind = F_PRED, .e = e};
    return f;
}

enum status tree_require(struct arena *a, struct tree_branch *t,
                         struct formula *f, struct err *err)
{
    struct tree_node *n = &t->nodes.p[t->at];
    if (!f)
        return err_nomem(err);
    n->f = n->f ? formula_new(a, F_AND, n->f, f) : f;
    return n->f ? OK : err_nomem(err);
}

bool tree_counts(const struct tree_node *n)
{
    return n->at_least > 1 || n->at_most || n->cap;
}

bool tree_keeps(const struct tree_node *root, uint64_t n)
{
    bool inside = n >= root->at_least && (!root->at_most || n <= root->at_most);
    return inside != root->outside;
}

static bool is_conjunctive(const struct tree_branch *t)
{
    return t->nodes.n == 1 && !t->nodes.p[0].f && !tree_counts(&t->nodes.p[0]);
}

bool tree_is_plain(const struct tree_branch *t)
{
    return is_conjunctive(t) && !t->b.weight.on;
}

bool tree_is_plain_sum(const struct ctree *t)
{
    return t && t->n_branches == 1 && is_conjunctive(t->branches[0]) &&
           t->branches[0]->b.weight.on && t->branches[0]->b.weight.lo >= 0;
}

bool tree_is_above(const struct tree_branch *t, uint32_t above, uint32_t node)
{
    while (node != above && node != 0)
        node = t->nodes.p[node].parent;
    return node == above;
}
