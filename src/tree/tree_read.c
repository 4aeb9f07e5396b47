/*
 * Rules to trees: not { ... } is a child that must have no match, several rules
 * with one head are branches that are united as sets.
 */
#include "tree/tree.h"

struct tree_reader {
    struct arena *a;
    struct schema *schema;
    VEC(struct tree_branch *) branches;
    uint32_t node[CQ_MAX_BLOCKS + 1];
    unsigned depth;
};

static struct tree_branch *last(const struct tree_reader *r)
{
    return r->branches.p[r->branches.n - 1];
}

static enum status begin(void *ctx, struct cq_builder **b, struct err *err)
{
    struct tree_reader *r = ctx;
    struct tree_branch *t = NEW(r->a, struct tree_branch);
    if (!t)
        return err_nomem(err);
    if (r->branches.n >= TREE_MAX_BRANCHES)
        return err_set(err, E_TOO_LARGE, "there are more than %d rules",
                       TREE_MAX_BRANCHES);
    cqb_init(&t->b, r->a, r->schema);
    t->tag = 1;
    TRY(tree_begin(r->a, t, err));
    if (!VEC_PUSH(r->a, &r->branches, t))
        return err_nomem(err);
    r->depth = 0;
    *b = &t->b;
    return OK;
}

static enum status enter(void *ctx, struct err *err)
{
    struct tree_reader *r = ctx;
    return tree_enter(r->a, last(r), &r->node[++r->depth], err);
}

static enum status leave(void *ctx, struct err *err)
{
    struct tree_reader *r = ctx;
    TRY(tree_leave(r->a, last(r), err));
    return tree_require(r->a, last(r),
                        formula_child(r->a, r->node[r->depth--], true), err);
}

/* Heads of one name and form: answers are compared place by place. */
static enum status end(void *ctx, struct err *err)
{
    struct tree_reader *r = ctx;
    struct tree_branch *t = last(r);
    const struct cq_builder *x = &r->branches.p[0]->b, *y = &t->b;
    TRY(tree_tag(r->a, t, err));
    t->nodes.p[0].unsat |= t->b.unsat;
    if (str_eq(x->name, y->name) && x->outs.n == y->outs.n &&
        x->n_group == y->n_group && x->weight.on == y->weight.on &&
        x->weight.out == y->weight.out)
        return OK;
    err_set(err, E_SYNTAX, "the rules have different heads");
    err_hint(err, "Several rules are a union if their heads have one name and "
                  "as many terms.");
    return E_SYNTAX;
}

enum status tree_read(struct arena *a, struct schema *s, struct str text,
                      struct cq **q, struct ctree **tree, struct err *err)
{
    struct tree_reader r = {.a = a, .schema = s};
    struct cq_blocks blocks = {&r, begin, enter, leave, end};
    TRY(cq_read_rules(a, text, &blocks, err));
    *tree = NULL;
    if (!r.branches.n)
        return err_set(err, E_SYNTAX, "there is no rule");
    if (r.branches.n == 1 && tree_is_plain(r.branches.p[0]))
        return cq_finish(&r.branches.p[0]->b, q, err);
    *tree = NEW(a, struct ctree);
    if (!*tree)
        return err_nomem(err);
    **tree = (struct ctree){r.branches.p, r.branches.n};
    if (r.branches.p[0]->b.weight.on)
        TRY(tree_split_signs(a, *tree, err));
    aset own;
    return tree_path(a, r.branches.p[0], 0, q, &own, err);
}
