/*
 * Path queries and parts. The path query of a node has all atoms and filters
 * from the root down to it and the root's outputs; formulas are left out,
 * which only adds results. PRIVACY: it is never made smaller by a core: an own
 * atom that is redundant among the path's matches still decides whether the
 * node is satisfied (PROOF.md).
 *
 * Signs: a row that makes a child of even polarity true can add answers, one
 * of odd polarity can take them away. Every child stands once in its formula,
 * so it has one sign; in a branch of negative weights the other one. An answer
 * that must not have too many ids can come and go with every change: then each
 * part has both.
 */
#include <string.h>

#include "tree/tree_int.h"

/* The items of the nodes marked in `in`, as a builder of their own. */
static enum status select_filters(struct arena *a, const struct tree_branch *t,
                                  const bool *in, struct cq_builder *b,
                                  const uint32_t *atom_to, struct err *err)
{
    const struct cq_builder *from = &t->b;
    bool ok = true;
    for (size_t i = 0; i < from->cmps.n; i++)
        if (in[t->cmp_node.p[i]])
            ok = ok && VEC_PUSH(a, &b->cmps, from->cmps.p[i]);
    for (size_t i = 0; i < from->equals.n; i++)
        if (in[t->equal_node.p[i]])
            ok = ok && VEC_PUSH(a, &b->equals, from->equals.p[i]);
    for (size_t i = 0; i < from->calcs.n; i++) {
        struct calc c = from->calcs.p[i];
        c.atom = atom_to[c.atom];
        if (c.atom != UINT32_MAX)
            ok = ok && VEC_PUSH(a, &b->calcs, c);
    }
    for (size_t i = 0; i < from->preds.n; i++) {
        struct pred p = from->preds.p[i];
        p.atom = atom_to[p.atom];
        if (in[t->pred_node.p[i]] && p.atom == UINT32_MAX)
            return E_UNSUPPORTED; /* of an atom that is left out */
        if (in[t->pred_node.p[i]])
            ok = ok && VEC_PUSH(a, &b->preds, p);
    }
    return ok ? OK : err_nomem(err);
}

enum status tree_select(struct arena *a, const struct tree_branch *t,
                        const bool *in, struct cq_builder *b, uint32_t *atom_to,
                        struct err *err)
{
    const struct cq_builder *from = &t->b;
    cqb_init(b, a, from->schema);
    b->name = from->name;
    for (size_t i = 0; i < from->vars.n; i++)
        if (!VEC_PUSH(a, &b->vars, from->vars.p[i]))
            return err_nomem(err);
    for (uint32_t i = 0; i < from->consts.n; i++) {
        uint32_t id;
        TRY(cqb_const(b, &from->consts.p[i], &id, err));
    }
    for (uint32_t i = 0; i < from->atoms.n; i++) {
        struct atom at = from->atoms.p[i];
        atom_to[i] = UINT32_MAX;
        if (!in[t->atom_node.p[i]])
            continue;
        struct term *args = NEWS(a, struct term, at.n_args + 1);
        if (!args)
            return err_nomem(err);
        memcpy(args, at.args, at.n_args * sizeof *args);
        at.args = args;
        atom_to[i] = (uint32_t)b->atoms.n;
        if (!VEC_PUSH(a, &b->atoms, at))
            return err_nomem(err);
    }
    return select_filters(a, t, in, b, atom_to, err);
}

static void mark_path(const struct tree_branch *t, uint32_t node, bool *in,
                      bool *unsat)
{
    for (;; node = t->nodes.p[node].parent) {
        in[node] = true;
        *unsat |= t->nodes.p[node].unsat;
        if (!node)
            return;
    }
}

/* What the outputs of a path are, where answers weigh the number of ids. */
enum path_view { AS_ANSWERS, AS_IDS, AS_WEIGHED };

/* AS_WEIGHED: each answer weighs as much as one may. */
static enum status view_outs(const struct tree_branch *t, enum path_view view,
                             struct cq_builder *b, struct err *err)
{
    const struct tree_node *root = &t->nodes.p[0];
    struct value most = value_int(root->cap);
    struct term k = {.kind = TERM_CONST};
    for (size_t i = 0; view == AS_IDS && i < root->ids.n; i++)
        if (!VEC_PUSH(b->arena, &b->outs, root->ids.p[i]))
            return err_nomem(err);
    if (view != AS_WEIGHED)
        return OK;
    TRY(cqb_const(b, &most, &k.id, err));
    b->weight = (struct cq_weight){
        .on = true, .out = (uint32_t)b->outs.n, .lo = 0, .hi = root->cap};
    return VEC_PUSH(b->arena, &b->outs, k) ? OK : err_nomem(err);
}

static enum status path_as(struct arena *a, const struct tree_branch *t,
                           uint32_t node, enum path_view view, struct cq **out,
                           aset *own, struct err *err)
{
    bool in[TREE_MAX_NODES] = {0};
    struct cq_builder b;
    uint32_t *atom_to = NEWS(a, uint32_t, t->b.atoms.n + 1);
    if (!atom_to)
        return err_nomem(err);
    bool unsat = false;
    mark_path(t, node, in, &unsat);
    TRY(tree_select(a, t, in, &b, atom_to, err));
    for (size_t i = 0; i < t->b.outs.n; i++)
        if (!VEC_PUSH(a, &b.outs, t->b.outs.p[i]))
            return err_nomem(err);
    b.n_group = t->b.n_group;
    b.tidy_outs = t->b.tidy_outs;
    b.weight = t->b.weight;
    b.unsat = unsat;
    TRY(view_outs(t, view, &b, err));
    TRY(cq_finish(&b, out, err));
    /* An own atom that has become one of an ancestor's lies in the old rows
     * whenever the ancestor's does: it is not the new one. */
    aset mine = 0, above = 0;
    for (uint32_t i = 0; i < t->b.atoms.n; i++) {
        if (atom_to[i] == UINT32_MAX)
            continue;
        aset one = aset_one(b.moved[atom_to[i]]);
        if (t->atom_node.p[i] == node)
            mine |= one;
        else
            above |= one;
    }
    *own = mine & ~above;
    return OK;
}

enum status tree_path(struct arena *a, const struct tree_branch *t,
                      uint32_t node, struct cq **out, aset *own,
                      struct err *err)
{
    return path_as(a, t, node, AS_ANSWERS, out, own, err);
}

/* --- parts ----------------------------------------------------------------
 */

/* +1, -1; 0: the node is in no formula. */
static int polarity(const struct formula *f, uint32_t node)
{
    if (!f)
        return 0;
    if (f->kind == F_CHILD)
        return f->child != node ? 0 : f->negated ? -1 : 1;
    for (uint32_t i = 0; i < f->n_args; i++) {
        int p = polarity(f->args[i], node);
        if (p)
            return p;
    }
    return 0;
}

static int sign_of(const struct tree_branch *t, uint32_t node)
{
    int s = 1;
    for (; node; node = t->nodes.p[node].parent)
        s *= polarity(t->nodes.p[t->nodes.p[node].parent].f, node);
    return s;
}

bool tree_is_anti_join(const struct tree_branch *t, uint32_t node)
{
    const struct tree_node *n = &t->nodes.p[node];
    if (!node || n->parent || n->f || tree_counts(n) ||
        tree_counts(&t->nodes.p[0]) || sign_of(t, node) >= 0)
        return false;
    for (uint32_t v = 1; v < t->nodes.n; v++)
        if (t->nodes.p[v].parent == node)
            return false;
    return true;
}

/* --- outer joins ---------------------------------------------------------- */

static bool has_child(const struct formula *f)
{
    if (f && f->kind == F_CHILD)
        return true;
    for (uint32_t i = 0; f && i < f->n_args; i++)
        if (has_child(f->args[i]))
            return true;
    return false;
}

static bool is_empty(const struct tree_branch *t)
{
    return t->nodes.p[0].unsat || t->b.unsat;
}

/* A case: rows of the one side, with or without partners. */
static bool is_case(const struct tree_branch *t)
{
    bool sums = t->b.weight.on || t->b.n_group;
    if (t->uses_absent || tree_counts(&t->nodes.p[0]) ||
        cq_weight_negative(&t->b.weight) ||
        (t->has_full && (t->n_outer > 1 || sums)))
        return false;
    for (uint32_t v = 1; v < t->nodes.n; v++)
        if (!t->nodes.p[v].absent || tree_counts(&t->nodes.p[v]) ||
            has_child(t->nodes.p[v].f))
            return false;
    return true;
}

/* PRIVACY: conditions, keys and values are then of the side that stays, and
 * answers of different cases are told apart. */
static bool tree_is_outer_join(const struct ctree *t)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        if (!is_empty(t->branches[i]) && !is_case(t->branches[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (t->branches[k]->tag == t->branches[i]->tag)
                return false;
    }
    return true;
}

/* PRIVACY: min(m, cap) moves by no more than m; a jump from nothing to several
 * (HAVING COUNT(*) >= 3) does not. */
bool tree_adds_ids(const struct ctree *t)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        const struct tree_node *root = &t->branches[i]->nodes.p[0];
        if (!root->cap || root->at_least > 1 || root->at_most || root->outside)
            return false;
    }
    return true;
}

enum status tree_parts(struct arena *a, const struct ctree *t,
                       struct tree_part **out, size_t *n, struct err *err)
{
    return tree_parts_of(a, t, !tree_adds_ids(t), out, n, err);
}

static enum path_view view_of(const struct tree_branch *t, bool keys)
{
    return !t->nodes.p[0].cap ? AS_ANSWERS : keys ? AS_WEIGHED : AS_IDS;
}

enum status tree_parts_of(struct arena *a, const struct ctree *t, bool keys,
                          struct tree_part **out, size_t *n, struct err *err)
{
    VEC(struct tree_part) parts = {0};
    bool outer = tree_is_outer_join(t);
    for (uint32_t i = 0; i < t->n_branches; i++)
        for (uint32_t v = 0; v < t->branches[i]->nodes.n; v++) {
            int sign = sign_of(t->branches[i], v);
            if (cq_weight_negative(&t->branches[i]->b.weight))
                sign = -sign; /* what it adds up is subtracted */
            bool both = t->branches[i]->nodes.p[0].at_most > 0;
            struct tree_part p = {.branch = i,
                                  .node = v,
                                  .gain = sign > 0 || both,
                                  .loss = sign < 0 || both};
            struct cq *path;
            if (!sign || (outer && t->branches[i]->nodes.p[v].absent))
                continue;
            TRY(path_as(a, t->branches[i], v, view_of(t->branches[i], keys),
                        &path, &p.own, err));
            p.path = path;
            if (!path->unsat && !VEC_PUSH(a, &parts, p))
                return err_nomem(err);
        }
    *out = parts.p;
    *n = parts.n;
    return OK;
}
