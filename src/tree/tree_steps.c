/*
 * Evaluation, node by node from the leaves: the values of the ancestors'
 * variables for which a node is satisfied are a set of keys, found by listing
 * the node's body; its parent looks them up. Any formula, any depth, any
 * outputs. A node's body is listed by itself where it binds its keys, else
 * together with the bodies above it.
 *
 * At the root the keys are the variables that the formula needs; each stands
 * for so many answers if all of them are outputs. Otherwise (COUNT(DISTINCT x)
 * with a condition on other columns, a union) the answers are listed too.
 *
 * Cost: one pass over the keys that occur, for each node.
 */
#include <string.h>

#include "tree/tree_int.h"

struct stepper {
    struct arena *a;
    const struct tree_branch *t;
    uint32_t *owner; /* the topmost node that binds the variable */
    struct err *err;
};

static void own_var(struct stepper *s, uint32_t var, uint32_t node)
{
    if (s->owner[var] == UINT32_MAX || tree_is_above(s->t, node, s->owner[var]))
        s->owner[var] = node;
}

static enum status find_owners(struct stepper *s)
{
    const struct cq_builder *b = &s->t->b;
    s->owner = NEWS(s->a, uint32_t, b->vars.n + 1);
    if (!s->owner)
        return err_nomem(s->err);
    for (size_t v = 0; v < b->vars.n; v++)
        s->owner[v] = UINT32_MAX;
    for (size_t i = 0; i < b->atoms.n; i++) {
        const struct atom *at = &b->atoms.p[i];
        uint32_t node = s->t->atom_node.p[i];
        for (uint32_t k = 0; k < at->n_args; k++)
            if (at->args[k].kind == TERM_VAR)
                own_var(s, at->args[k].id, node);
        if (at->rowid >= 0)
            own_var(s, (uint32_t)at->rowid, node);
    }
    for (size_t i = 0; i < b->calcs.n; i++)
        own_var(s, b->calcs.p[i].var, s->t->atom_node.p[b->calcs.p[i].atom]);
    return OK;
}

static void mark_term(struct term t, bool *in)
{
    if (t.kind == TERM_VAR)
        in[t.id] = true;
}

static void mark_expr(const struct expr *e, bool *in)
{
    if (e->op == X_VAR)
        in[e->var] = true;
    for (uint32_t i = 0; i < e->n_args; i++)
        mark_expr(e->args[i], in);
}

static void mark_preds(const struct formula *f, bool *in)
{
    if (f && f->kind == F_PRED)
        mark_expr(f->e, in);
    for (uint32_t i = 0; f && i < f->n_args; i++)
        mark_preds(f->args[i], in);
}

/* Every variable that the items of `node` mention. */
static void mark_node(const struct tree_branch *t, uint32_t node, bool *in)
{
    const struct cq_builder *b = &t->b;
    for (size_t i = 0; i < b->atoms.n; i++)
        for (uint32_t k = 0;
             t->atom_node.p[i] == node && k < b->atoms.p[i].n_args; k++)
            mark_term(b->atoms.p[i].args[k], in);
    for (size_t i = 0; i < b->cmps.n; i++)
        if (t->cmp_node.p[i] == node) {
            mark_term(b->cmps.p[i].l, in);
            mark_term(b->cmps.p[i].r, in);
        }
    for (size_t i = 0; i < b->equals.n; i++)
        if (t->equal_node.p[i] == node) {
            mark_term(b->equals.p[i].l, in);
            mark_term(b->equals.p[i].r, in);
        }
    for (size_t i = 0; i < b->preds.n; i++)
        if (t->pred_node.p[i] == node)
            mark_expr(b->preds.p[i].e, in);
    mark_preds(t->nodes.p[node].f, in);
}

static enum status up_vars(struct stepper *s, uint32_t node, bool **out)
{
    size_t n = s->t->b.vars.n;
    bool *in = NEWS(s->a, bool, n + 1);
    if (!in)
        return err_nomem(s->err);
    for (uint32_t v = node; v < s->t->nodes.n; v++)
        if (tree_is_above(s->t, node, v))
            mark_node(s->t, v, in);
    for (size_t v = 0; v < n; v++)
        in[v] = in[v] && s->owner[v] != node && s->owner[v] != UINT32_MAX &&
                tree_is_above(s->t, s->owner[v], node);
    *out = in;
    return OK;
}

/* What the formula of `node` looks at. */
static enum status needs(struct stepper *s, uint32_t node, bool **out)
{
    size_t n = s->t->b.vars.n;
    bool *in = NEWS(s->a, bool, n + 1), *up;
    if (!in)
        return err_nomem(s->err);
    mark_preds(s->t->nodes.p[node].f, in);
    for (uint32_t w = node + 1; w < s->t->nodes.n; w++) {
        if (s->t->nodes.p[w].parent != node)
            continue;
        TRY(up_vars(s, w, &up));
        for (size_t v = 0; v < n; v++)
            in[v] |= up[v];
    }
    *out = in;
    return OK;
}

/* The query of a node: `whole` with the bodies above it. */
static enum status step_query(struct stepper *s, struct tree_step *x,
                              uint32_t node, bool whole, struct err *err)
{
    const struct tree_branch *t = s->t;
    bool in[TREE_MAX_NODES] = {0}, unsat = t->nodes.p[node].unsat;
    struct cq_builder b;
    uint32_t *atom_to = NEWS(s->a, uint32_t, t->b.atoms.n + 1);
    if (!atom_to)
        return err_nomem(err);
    in[node] = true;
    for (uint32_t v = node; whole && v; v = t->nodes.p[v].parent) {
        in[t->nodes.p[v].parent] = true;
        unsat |= t->nodes.p[t->nodes.p[v].parent].unsat;
    }
    TRY(tree_select(s->a, t, in, &b, atom_to, err));
    bool ok = true;
    /* PRIVACY: an ancestor's variable that the node's own atoms bind is joined
     * with the ancestor's column: NULL matches nothing. */
    for (uint32_t i = 0; node && !whole && i < x->n_up; i++)
        b.vars.p[x->vars[i]].nonnull = true;
    for (uint32_t i = 0; i < x->n_keys; i++) {
        struct term key = {TERM_VAR, x->vars[i]};
        /* an output that is a constant: its place among the root's outs */
        if (x->vars[i] == UINT32_MAX)
            key = t->b.outs.p[i];
        ok = ok && VEC_PUSH(s->a, &b.outs, key);
    }
    b.n_group = (uint32_t)b.outs.n;
    if (!node && x->counts) {
        b.weight = t->b.weight;
        b.weight.on &= !tree_counts(&t->nodes.p[0]);
        b.weight.out += (uint32_t)b.outs.n;
        for (size_t i = 0; i < t->b.outs.n; i++)
            ok = ok && VEC_PUSH(s->a, &b.outs, t->b.outs.p[i]);
    }
    /* PRIVACY: ids of a node without a threshold are not counted: the bound is
     * for the outputs alone. */
    const struct tree_node *n = &t->nodes.p[node];
    for (size_t i = 0; tree_counts(n) && !x->n_ids && i < n->ids.n; i++)
        ok = ok && VEC_PUSH(s->a, &b.outs, n->ids.p[i]);
    b.tidy_outs = true;
    b.unsat = unsat;
    return ok ? cq_finish(&b, &x->q, err) : err_nomem(err);
}

/* Do all keys stand in one atom? Then a walk over them is one over rows. */
static bool in_one_atom(const struct cq *q)
{
    vset keys = 0;
    for (uint32_t i = 0; i < q->n_group; i++)
        keys |= term_var(q->outs[i]);
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (vset_sub(keys, atom_vars(q, i)))
            return true;
    return !keys;
}

static bool is_key(const struct tree_step *x, uint32_t v)
{
    for (uint32_t i = 0; i < x->n_keys; i++)
        if (x->vars[i] == v)
            return true;
    return false;
}

static uint32_t n_atoms_with(const struct tree_branch *t, uint32_t v)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->b.atoms.n; i++) {
        const struct atom *at = &t->b.atoms.p[i];
        bool has = false;
        for (uint32_t k = 0; k < at->n_args; k++)
            has |= at->args[k].kind == TERM_VAR && at->args[k].id == v;
        n += has;
    }
    return n;
}

static bool joins(const struct tree_branch *t, uint32_t v)
{
    for (size_t i = 0; i < t->b.equals.n; i++) {
        const struct cmp *c = &t->b.equals.p[i];
        if ((c->l.kind == TERM_VAR && c->l.id == v) ||
            (c->r.kind == TERM_VAR && c->r.id == v))
            return true;
    }
    return n_atoms_with(t, v) > 1;
}

static bool is_out(const struct tree_branch *t, uint32_t v)
{
    for (size_t i = 0; i < t->b.outs.n; i++)
        if (t->b.outs.p[i].kind == TERM_VAR && t->b.outs.p[i].id == v)
            return true;
    return false;
}

/* Keys of several atoms would be walked in all combinations; with the variables
 * that join the atoms among them only matches are. A set forgets how often a
 * key came; where numbers add up only variables that change none may join. */
static enum status make_step(struct stepper *s, struct tree_step *x,
                             uint32_t node, bool whole, struct err *err)
{
    const struct tree_branch *t = s->t;
    uint32_t before = x->n_keys;
    TRY(step_query(s, x, node, whole, err));
    if (tree_counts(&t->nodes.p[node]) || in_one_atom(x->q))
        return OK;
    for (uint32_t v = 0; v < t->b.vars.n; v++)
        if (!is_key(x, v) && joins(t, v) && s->owner[v] == node &&
            (!x->counts || is_out(t, v)))
            x->vars[x->n_keys++] = v;
    return x->n_keys > before ? step_query(s, x, node, whole, err) : OK;
}

/* Ids are told apart one by one where a condition looks at more than what they
 * are counted for: the same id may be good with several values of the rest. */
static void list_ids(struct stepper *s, uint32_t node, struct tree_step *x)
{
    const struct tree_node *n = &s->t->nodes.p[node];
    if (!tree_counts(n) || x->n_keys == x->n_up)
        return;
    for (size_t i = 0; i < n->ids.n; i++)
        x->vars[x->n_keys++] = n->ids.p[i].id;
    x->n_ids = (uint32_t)n->ids.n;
}

static enum status inner_step(struct stepper *s, uint32_t node,
                              struct tree_step *x)
{
    size_t n = s->t->b.vars.n;
    bool *up, *need;
    TRY(up_vars(s, node, &up));
    TRY(needs(s, node, &need));
    x->vars = NEWS(s->a, uint32_t, n + s->t->nodes.p[node].ids.n + 1);
    if (!x->vars)
        return err_nomem(s->err);
    for (uint32_t v = 0; v < n; v++)
        if (up[v])
            x->vars[x->n_keys++] = v;
    x->n_up = x->n_keys;
    for (uint32_t v = 0; v < n; v++)
        if (need[v] && !up[v])
            x->vars[x->n_keys++] = v;
    list_ids(s, node, x);
    struct err why;
    uint32_t n_keys = x->n_keys;
    enum status st = make_step(s, x, node, false, &why);
    if (st == E_SYNTAX || st == E_UNSUPPORTED) {
        x->n_keys = n_keys;
        return make_step(s, x, node, true, s->err);
    }
    if (st != OK && s->err)
        *s->err = why;
    return st;
}

static enum status root_step(struct stepper *s, bool list, struct tree_step *x)
{
    const struct cq_builder *b = &s->t->b;
    size_t n = b->vars.n;
    bool *need;
    TRY(needs(s, 0, &need));
    x->vars = NEWS(s->a, uint32_t, n + b->outs.n + s->t->nodes.p[0].ids.n + 1);
    if (!x->vars)
        return err_nomem(s->err);
    x->counts = !list && !tree_counts(&s->t->nodes.p[0]);
    for (uint32_t v = 0; v < n; v++)
        x->counts = x->counts && (!need[v] || is_out(s->t, v));
    size_t n_up = x->counts ? b->n_group : b->outs.n;
    for (size_t i = 0; i < n_up; i++)
        x->vars[x->n_keys++] =
            b->outs.p[i].kind == TERM_VAR ? b->outs.p[i].id : UINT32_MAX;
    x->n_up = x->n_keys;
    for (uint32_t v = 0; v < n; v++)
        if (need[v] && !(tree_counts(&s->t->nodes.p[0]) && is_out(s->t, v)))
            x->vars[x->n_keys++] = v;
    list_ids(s, 0, x);
    return make_step(s, x, 0, true, s->err);
}

enum status tree_steps(struct arena *a, const struct tree_branch *t, bool list,
                       struct tree_step **out, struct err *err)
{
    struct stepper s = {.a = a, .t = t, .err = err};
    TRY(find_owners(&s));
    *out = NEWS(a, struct tree_step, t->nodes.n);
    if (!*out)
        return err_nomem(err);
    TRY(root_step(&s, list, &(*out)[0]));
    for (uint32_t v = 1; v < t->nodes.n; v++)
        TRY(inner_step(&s, v, &(*out)[v]));
    return OK;
}
