/*
 * Recounts a witness of a tree by the definition of its answers (tree/tree.h):
 * no parts, no paths, no signs. For every assignment of a node's own variables
 * its conditions are tried, then its formula, for which each child is counted
 * anew. Deliberately plain; steps are limited, and beyond the limit the witness
 * is not confirmed.
 */
#include <string.h>

#include "witness/checker_rules.h"
#include "base/map.h"

struct tree_counter {
    struct arena *a;
    const struct ctree *tree;
    const struct admissible *adm;
    const struct tree_branch *t; /* the branch that is being counted */
    const struct checker_row *rows;
    size_t n_rows, without;
    struct value *val; /* by variable of the branch */
    bool *has;
    uint64_t steps;
    bool tired, nomem;
    bool *is_bag;
    struct map answers; /* tag and outputs; what each weighs, or its ids */
    struct map ids;     /* those together with ids */
    u128 plus, minus;
};

static bool stopped(const struct tree_counter *c)
{
    return c->tired || c->nomem;
}

static const struct value *term_value(const struct tree_counter *c,
                                      struct term t)
{
    if (t.kind == TERM_CONST)
        return &c->t->b.consts.p[t.id];
    return t.kind == TERM_VAR && c->has[t.id] ? &c->val[t.id] : NULL;
}

/* --- one node ------------------------------------------------------------- */

/* False: the row does not fit. `had`: which variables the caller forgets. */
static bool take_row(struct tree_counter *c, const struct atom *at, size_t r,
                     bool *had)
{
    for (uint32_t j = 0; j < at->n_args; j++) {
        const struct value *want = term_value(c, at->args[j]);
        const struct value *is = &c->rows[r].vals[j];
        if (at->args[j].kind == TERM_ANY)
            continue;
        if (want && !checker_equal(want, is))
            return false;
        if (want)
            continue;
        uint32_t v = at->args[j].id;
        if (c->t->b.vars.p[v].nonnull && is->is_null)
            return false;
        c->val[v] = *is;
        c->has[v] = had[v] = true;
    }
    if (at->rowid >= 0) {
        c->val[at->rowid] = value_int((int64_t)r);
        c->has[at->rowid] = had[at->rowid] = true;
    }
    return true;
}

static void forget(struct tree_counter *c, const bool *had)
{
    for (size_t v = 0; v < c->t->b.vars.n; v++)
        if (had[v]) {
            c->has[v] = false;
            c->val[v] = value_null();
        }
}

/* Comparisons and equalities of the node; those with an unknown side pass. */
static bool filters_pass(const struct tree_counter *c, uint32_t node)
{
    const struct tree_branch *t = c->t;
    for (size_t i = 0; i < t->b.cmps.n; i++) {
        const struct cmp *p = &t->b.cmps.p[i];
        const struct value *l = term_value(c, p->l), *r = term_value(c, p->r);
        if (t->cmp_node.p[i] == node && l && r && !checker_compare(p->op, l, r))
            return false;
    }
    for (size_t i = 0; i < t->b.equals.n; i++) {
        const struct cmp *p = &t->b.equals.p[i];
        const struct value *l = term_value(c, p->l), *r = term_value(c, p->r);
        if (t->equal_node.p[i] == node && l && r && !checker_equal(l, r))
            return false;
    }
    return true;
}

static bool is_true(struct tree_counter *c, const struct expr *e)
{
    struct err err;
    struct value v = value_null();
    if (expr_eval(c->a, e, c->val, &v, &err) != OK)
        c->nomem = true;
    return !c->nomem && !v.is_null && v.i != 0;
}

static bool compute(struct tree_counter *c, const struct calc *k, bool *had)
{
    struct err err;
    struct value v;
    if (expr_eval(c->a, k->e, c->val, &v, &err) != OK) {
        c->nomem = true;
        return false;
    }
    if (c->has[k->var])
        return checker_equal(&v, &c->val[k->var]);
    if (c->t->b.vars.p[k->var].nonnull && v.is_null)
        return false;
    c->val[k->var] = v;
    c->has[k->var] = had[k->var] = true;
    return true;
}

static uint64_t satisfied(struct tree_counter *c, uint32_t node,
                          uint64_t enough);

static bool holds(struct tree_counter *c, const struct formula *f)
{
    if (!f)
        return true;
    if (f->kind == F_PRED)
        return is_true(c, f->e);
    if (f->kind == F_CHILD) {
        uint64_t least = c->t->nodes.p[f->child].at_least;
        bool yes = satisfied(c, f->child, least) >= least;
        return yes != f->negated;
    }
    for (uint32_t i = 0; i < f->n_args && !stopped(c); i++)
        if (holds(c, f->args[i]) != (f->kind == F_AND))
            return f->kind == F_OR;
    return f->kind == F_AND;
}

/* All atoms have rows: is the assignment good? */
static bool is_good(struct tree_counter *c, uint32_t node, bool *had)
{
    const struct tree_branch *t = c->t;
    for (size_t i = 0; i < t->b.calcs.n; i++)
        if (t->atom_node.p[t->b.calcs.p[i].atom] == node &&
            !compute(c, &t->b.calcs.p[i], had))
            return false;
    for (size_t i = 0; i < t->b.preds.n; i++)
        if (t->pred_node.p[i] == node && !is_true(c, t->b.preds.p[i].e))
            return false;
    return filters_pass(c, node) && holds(c, t->nodes.p[node].f);
}

/* --- extensions ----------------------------------------------------------- */

struct extending {
    uint32_t node;
    struct map seen; /* of a child: ids of good extensions */
    uint64_t n, enough;
};

static void print_terms(struct tree_counter *c, struct sb *b,
                        const struct term *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct value *v = term_value(c, p[i]);
        if (v && !v->is_null)
            value_print(b, v);
        sb_cstr(b, v && v->is_null ? "NULL\n" : "\n");
    }
}

static bool is_first(struct tree_counter *c, struct map *m, const struct sb *b,
                     uint64_t **n)
{
    bool is_new = false;
    uint64_t *p = b->failed ? NULL : map_put(m, sb_view(b), 0, &is_new);
    c->nomem |= !p;
    if (n)
        *n = p;
    return p && is_new;
}

/* An answer once; where its ids are counted, each of them once. */
static void note_answer(struct tree_counter *c)
{
    const struct tree_branch *t = c->t;
    const struct tree_node *root = &t->nodes.p[0];
    struct sb b;
    uint64_t *n;
    sb_init(&b, c->a);
    sb_printf(&b, "%llu\n", (unsigned long long)t->tag);
    print_terms(c, &b, t->b.outs.p, t->b.outs.n);
    bool fresh = is_first(c, &c->answers, &b, &n);
    if (n && fresh && t->b.weight.on) {
        const struct value *v = term_value(c, t->b.outs.p[t->b.weight.out]);
        uint64_t w = v ? cq_weight_of(&t->b.weight, v) : 0;
        if (cq_weight_negative(&t->b.weight))
            c->minus += w;
        else
            c->plus += w;
        return;
    }
    if (!n || !root->ids.n) {
        c->plus += fresh && !t->b.weight.on;
        return;
    }
    print_terms(c, &b, root->ids.p, root->ids.n);
    *n += is_first(c, &c->ids, &b, NULL);
}

static void note_extension(struct tree_counter *c, struct extending *x)
{
    const struct tree_node *node = &c->t->nodes.p[x->node];
    struct sb b;
    if (!x->node) {
        note_answer(c);
        return;
    }
    sb_init(&b, c->a);
    sb_cstr(&b, "e");
    print_terms(c, &b, node->ids.p, node->ids.n);
    x->n += is_first(c, &x->seen, &b, NULL);
}

static void extend(struct tree_counter *c, struct extending *x, uint32_t atom)
{
    const struct tree_branch *t = c->t;
    size_t n_vars = t->b.vars.n;
    bool *had;
    while (atom < t->b.atoms.n && t->atom_node.p[atom] != x->node)
        atom++;
    if (!(had = NEWS(c->a, bool, n_vars + 1))) {
        c->nomem = true;
        return;
    }
    if (atom == t->b.atoms.n) {
        if (is_good(c, x->node, had))
            note_extension(c, x);
        forget(c, had);
        return;
    }
    const struct atom *at = &t->b.atoms.p[atom];
    for (size_t r = 0; r < c->n_rows && x->n < x->enough && !stopped(c); r++) {
        if (r == c->without || c->rows[r].table != at->table)
            continue;
        c->tired = c->steps == 0;
        c->steps -= c->steps > 0;
        memset(had, 0, n_vars * sizeof *had);
        if (!c->tired && take_row(c, at, r, had) && filters_pass(c, x->node))
            extend(c, x, atom + 1);
        forget(c, had);
    }
}

/* How many extensions of what is known are good, told apart by ids. */
static uint64_t satisfied(struct tree_counter *c, uint32_t node,
                          uint64_t enough)
{
    struct extending x = {.node = node, .enough = enough};
    if (c->t->nodes.p[node].unsat)
        return 0;
    map_init(&x.seen, c->a);
    extend(c, &x, 0);
    return x.n;
}

/* --- the whole ------------------------------------------------------------ */

static bool count_branch(struct tree_counter *c, const struct tree_branch *t)
{
    c->t = t;
    c->val = NEWS(c->a, struct value, t->b.vars.n + 1);
    c->has = NEWS(c->a, bool, t->b.vars.n + 1);
    if (!c->val || !c->has)
        return c->nomem = true, false;
    for (size_t v = 0; v < t->b.vars.n; v++)
        c->val[v] = value_null();
    if (!t->b.unsat)
        satisfied(c, 0, UINT64_MAX);
    return !stopped(c);
}

/* Answers by the number of their ids, which one branch alone has. */
static bool weigh_ids(struct tree_counter *c)
{
    const struct tree_node *root = &c->tree->branches[0]->nodes.p[0];
    if (!root->ids.n)
        return true;
    if (c->tree->n_branches > 1)
        return false;
    for (size_t i = 0; i < c->answers.cap; i++) {
        uint64_t n = c->answers.slots[i].value;
        if (!c->answers.slots[i].key.p)
            continue;
        bool inside =
            n >= root->at_least && (!root->at_most || n <= root->at_most);
        if (root->cap)
            c->plus += n < root->cap ? n : root->cap;
        else
            c->plus += inside != root->outside;
    }
    return true;
}

static bool count(struct tree_counter *c, size_t without)
{
    struct checker_data d = {.schema = c->tree->branches[0]->b.schema,
                             .rows = c->rows,
                             .n_rows = c->n_rows,
                             .without = without,
                             .is_bag = c->is_bag};
    c->without = without;
    c->plus = c->minus = 0;
    map_init(&c->answers, c->a);
    map_init(&c->ids, c->a);
    if (!checker_constraints_hold(c->a, &d, &c->nomem) ||
        (c->adm && !checker_references_hold(c->a, &d, &c->nomem)))
        return false;
    for (size_t i = 0; i < c->tree->n_branches; i++)
        if (!count_branch(c, c->tree->branches[i]))
            return false;
    return weigh_ids(c) && !stopped(c);
}

static bool find_bags(struct tree_counter *c)
{
    const struct schema *s = c->tree->branches[0]->b.schema;
    c->is_bag = NEWS(c->a, bool, s->tables.n + 1);
    for (size_t i = 0; c->is_bag && i < c->tree->n_branches; i++) {
        const struct cq_builder *b = &c->tree->branches[i]->b;
        for (size_t k = 0; k < b->atoms.n; k++)
            c->is_bag[b->atoms.p[k].table] |= b->atoms.p[k].rowid >= 0;
    }
    return c->is_bag;
}

static enum status fit(struct tree_counter *c, bool *holds, struct err *err)
{
    struct checker_data d = {.schema = c->tree->branches[0]->b.schema,
                             .rows = c->rows,
                             .n_rows = c->n_rows};
    return *holds && c->adm ? checker_rows_fit(c->a, c->adm, &d, holds, err)
                            : OK;
}

enum status checker_run_tree(struct arena *a, const struct ctree *t,
                             const struct admissible *adm,
                             const struct checker_row *rows, size_t n_rows,
                             size_t insert, size_t old, uint64_t steps,
                             struct checker_result *out, struct err *err)
{
    struct arena scratch;
    *out = (struct checker_result){.holds = false};
    arena_init(&scratch, a->mem);
    struct tree_counter c = {.a = &scratch,
                             .tree = t,
                             .adm = adm,
                             .rows = rows,
                             .n_rows = n_rows,
                             .steps = steps};
    c.nomem = !find_bags(&c);
    out->holds = !c.nomem && count(&c, old);
    u128 plus = c.plus, minus = c.minus;
    out->holds = out->holds && count(&c, insert);
    u128 raise = minus > c.minus ? minus : c.minus;
    out->after = plus + raise - minus;
    out->before = c.plus + raise - c.minus;
    out->steps = steps - c.steps;
    enum status st = c.nomem ? err_nomem(err) : fit(&c, &out->holds, err);
    arena_fini(&scratch);
    return st;
}
