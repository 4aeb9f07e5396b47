/*
 * A tree as rule text, from the builder: equalities are written as such.
 */
#include "tree/tree.h"

static void name(struct sb *b, struct str s)
{
    sb_str(b, s);
}

static void term(struct sb *b, const struct cq_builder *q, struct term t)
{
    if (t.kind == TERM_ANY)
        sb_char(b, '_');
    else if (t.kind == TERM_VAR)
        name(b, q->vars.p[t.id].name);
    else
        value_print(b, &q->consts.p[t.id]);
}

static struct str var_name(const void *ctx, uint32_t var)
{
    const struct cq_builder *q = ctx;
    return q->vars.p[var].name;
}

static void comma(struct sb *b, bool *first)
{
    sb_cstr(b, *first ? "" : ", ");
    *first = false;
}

static void print_atom(struct sb *b, const struct cq_builder *q,
                       const struct atom *at)
{
    sb_str(b, q->schema->tables.p[at->table].name);
    if (at->rowid >= 0)
        sb_printf(b, "@%.*s", PSTR(q->vars.p[at->rowid].name));
    sb_char(b, '(');
    for (uint32_t k = 0; k < at->n_args; k++) {
        sb_cstr(b, k ? ", " : "");
        term(b, q, at->args[k]);
    }
    sb_char(b, ')');
}

static void print_cmp(struct sb *b, const struct cq_builder *q,
                      const struct cmp *c, const char *op)
{
    term(b, q, c->l);
    sb_printf(b, " %s ", op);
    term(b, q, c->r);
}

static void print_braces(struct sb *b, const struct cq_builder *q,
                         const struct expr *e)
{
    sb_char(b, '{');
    expr_print(b, e, var_name, q);
    sb_char(b, '}');
}

static void print_node(struct sb *b, const struct tree_branch *t,
                       uint32_t node);

/* How many there must be, and of what. */
static void print_number(struct sb *b, const struct tree_branch *t,
                         uint32_t node)
{
    const struct tree_node *n = &t->nodes.p[node];
    if (!tree_counts(n))
        return;
    sb_cstr(b, n->outside ? "not " : "");
    if (n->at_least > 1 || n->outside)
        sb_printf(b, "at least %u ", n->at_least);
    if (n->at_most)
        sb_printf(b, "at most %u ", n->at_most);
    if (n->cap == UINT32_MAX)
        sb_cstr(b, "each ");
    else if (n->cap)
        sb_printf(b, "each up to %u ", n->cap);
    sb_char(b, '(');
    for (size_t i = 0; i < n->ids.n; i++) {
        sb_cstr(b, i ? ", " : "");
        term(b, &t->b, n->ids.p[i]);
    }
    sb_cstr(b, "): ");
}

static void print_formula(struct sb *b, const struct tree_branch *t,
                          const struct formula *f)
{
    if (f->kind == F_PRED) {
        print_braces(b, &t->b, f->e);
        return;
    }
    if (f->kind == F_CHILD) {
        sb_cstr(b, f->negated ? "not { " : "{ ");
        print_number(b, t, f->child);
        print_node(b, t, f->child);
        sb_cstr(b, " }");
        return;
    }
    sb_char(b, '(');
    for (uint32_t i = 0; i < f->n_args; i++) {
        sb_cstr(b, !i ? "" : f->kind == F_AND ? ", " : " or ");
        print_formula(b, t, f->args[i]);
    }
    sb_cstr(b, f->n_args ? ")" : f->kind == F_AND ? "true)" : "false)");
}

static void print_calcs(struct sb *b, const struct tree_branch *t,
                        uint32_t node, bool *first)
{
    for (size_t i = 0; i < t->b.calcs.n; i++) {
        const struct calc *c = &t->b.calcs.p[i];
        if (t->atom_node.p[c->atom] != node)
            continue;
        comma(b, first);
        sb_printf(b, "%.*s := ", PSTR(t->b.vars.p[c->var].name));
        print_braces(b, &t->b, c->e);
    }
}

static void print_filters(struct sb *b, const struct tree_branch *t,
                          uint32_t node, bool *first)
{
    static const char *const ops[] = {"!=", "<", "<="};
    const struct cq_builder *q = &t->b;
    for (size_t i = 0; i < q->equals.n; i++)
        if (t->equal_node.p[i] == node) {
            comma(b, first);
            print_cmp(b, q, &q->equals.p[i], "=");
        }
    for (size_t i = 0; i < q->cmps.n; i++)
        if (t->cmp_node.p[i] == node) {
            comma(b, first);
            print_cmp(b, q, &q->cmps.p[i], ops[q->cmps.p[i].op]);
        }
    print_calcs(b, t, node, first);
    for (size_t i = 0; i < q->preds.n; i++)
        if (t->pred_node.p[i] == node) {
            comma(b, first);
            print_braces(b, q, q->preds.p[i].e);
        }
}

static void print_node(struct sb *b, const struct tree_branch *t, uint32_t node)
{
    bool first = true;
    for (size_t i = 0; i < t->b.atoms.n; i++)
        if (t->atom_node.p[i] == node) {
            comma(b, &first);
            print_atom(b, &t->b, &t->b.atoms.p[i]);
        }
    print_filters(b, t, node, &first);
    for (size_t v = 0; !node && v < t->b.vars.n; v++)
        if (t->b.vars.p[v].nonnull) {
            comma(b, &first);
            sb_printf(b, "%.*s != null", PSTR(t->b.vars.p[v].name));
        }
    if (t->nodes.p[node].f) {
        comma(b, &first);
        print_formula(b, t, t->nodes.p[node].f);
    }
    if (t->nodes.p[node].unsat) {
        comma(b, &first);
        sb_cstr(b, "false");
    }
}

static void print_weight(struct sb *b, const struct cq_builder *q)
{
    struct sb of;
    sb_init(&of, b->arena);
    term(&of, q, q->outs.p[q->weight.out]);
    b->failed |= of.failed;
    sb_cstr(b, q->n_group < q->outs.n ? ", " : "; ");
    if (!of.failed)
        cq_weight_print(b, &q->weight, sb_view(&of));
}

/* `added`: there are branches of other tags. */
static void print_branch(struct sb *b, const struct tree_branch *t, bool added)
{
    const struct cq_builder *q = &t->b;
    sb_str(b, q->name);
    sb_char(b, '(');
    for (size_t i = 0; i < q->outs.n; i++) {
        sb_cstr(b, !i ? "" : i == q->n_group ? "; " : ", ");
        term(b, q, q->outs.p[i]);
    }
    if (q->weight.on)
        print_weight(b, q);
    sb_cstr(b, ") :- ");
    print_number(b, t, 0);
    print_node(b, t, 0);
    sb_char(b, '.');
    if (added)
        sb_printf(b, " /* added, %llu */", (unsigned long long)t->tag);
}

void tree_print(struct sb *b, const struct ctree *t)
{
    bool added = false;
    for (size_t i = 1; i < t->n_branches; i++)
        added |= t->branches[i]->tag != t->branches[0]->tag;
    for (size_t i = 0; i < t->n_branches; i++) {
        sb_cstr(b, i ? " " : "");
        print_branch(b, t->branches[i], added);
    }
}

struct str tree_text(struct arena *a, const struct ctree *t)
{
    struct sb b;
    sb_init(&b, a);
    tree_print(&b, t);
    return b.failed ? (struct str){0} : sb_view(&b);
}
