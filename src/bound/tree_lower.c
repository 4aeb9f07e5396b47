/*
 * Lower bounds of trees. A witness is looked for part by part, as if the part's
 * path were the query, and recounted with the whole tree: negation, unions and
 * weights included. What a path's rows bring about need not be what the tree
 * loses or gains; a proposal that turns out smaller is worth what was counted.
 */
#include "bound/lower_ways.h"

enum { MOST_COPIES = 64 }; /* that numbers in a query ask for */
enum { TREE_WORK = 1500000, TREE_STEPS = 5000000 };

enum status bound_lower_ways(struct witness_search *l, uint64_t size,
                             bool *unbounded, struct err *err)
{
    if (l->best >= l->target)
        return OK;
    if (l->target == U128_INF && l->more_copies <= MOST_COPIES)
        TRY(witness_pump(l, size, unbounded, err));
    if (*unbounded)
        return OK;
    u128 enough = size > BOUND_FAMILY ? size : BOUND_FAMILY;
    if (l->target == U128_INF)
        l->target = enough;
    TRY(witness_glue(l, err));
    if (l->best < l->target)
        TRY(witness_blowup(l, err));
    if (l->best < l->target)
        TRY(witness_search(l, err));
    bool more = l->best == 0 || (l->q->weight.on && l->best < l->target);
    return more ? witness_canonical(l, err) : OK;
}

struct tree_lower {
    struct arena *a;
    const struct ctree *tree;
    const struct bound_options *opt;
    uint64_t work, canonical, steps, admit; /* of one part for one table */
    uint64_t more_copies;
};

/* A row may bring answers as well as take them, and numbers of partners may
 * matter: a family is larger than any of them. */
static uint64_t more_copies(const struct ctree *t)
{
    uint64_t most = 1;
    for (size_t i = 0; i < t->n_branches; i++)
        for (size_t v = 0; v < t->branches[i]->nodes.n; v++) {
            const struct tree_node *n = &t->branches[i]->nodes.p[v];
            most = n->at_least > most ? n->at_least : most;
            most = n->at_most > most ? n->at_most : most;
            most = n->cap > most && n->cap < UINT32_MAX ? n->cap : most;
        }
    return most + 2;
}

static bool has_own(const struct part_upper *p, uint32_t table)
{
    ASET_EACH (i, p->own)
        if (p->up.t->atoms[i].table == table)
            return true;
    return false;
}

/* A row more or less decides next to the numbers that are asked for. */
static enum status around_numbers(struct tree_lower *s,
                                  const struct part_upper *p,
                                  struct witness_search *l, struct err *err)
{
    const struct tree_node *n = &s->tree->branches[p->branch]->nodes.p[p->node];
    uint32_t most = n->at_most;
    if (n->at_least > 1 && n->at_least <= MOST_COPIES)
        TRY(witness_copies(l, p->own, n->at_least - 1, err));
    return most && most <= MOST_COPIES && l->best < l->target
               ? witness_copies(l, p->own, most, err)
               : OK;
}

static enum status search_part(struct tree_lower *s, const struct part_upper *p,
                               uint32_t table, u128 target,
                               struct witness_search *l, bool *unbounded,
                               struct err *err)
{
    struct work work = {.left = s->work}, canonical = {.left = s->canonical};
    uint64_t unit = cq_weight_most(p->path);
    u128 *most = NEWS(s->a, u128, p->up.t->n_atoms + 1);
    if (!most)
        return err_nomem(err);
    for (uint32_t i = 0; i < p->up.t->n_atoms; i++)
        most[i] = p->up.atoms[i].lp;
    *l = (struct witness_search){.a = s->a,
                                 .q = p->path,
                                 .adm = s->opt->adm,
                                 .tree = s->tree,
                                 .more_copies = s->more_copies,
                                 .t = p->up.t,
                                 .most = most,
                                 .cases = p->up.cases,
                                 .n_cases = p->up.n_cases,
                                 .work = &work,
                                 .canonical = &canonical,
                                 .check_steps = s->steps,
                                 .admit_work = s->admit,
                                 .table = table,
                                 .target = target};
    *unbounded = false;
    if (!unit)
        return OK;
    TRY(kinds_make(s->a, p->up.t, &l->kinds, err));
    TRY(around_numbers(s, p, l, err));
    return bound_lower_ways(l, s->opt->witness_n, unbounded, err);
}

/* The best witness for a row of the table, over all parts that it can be new
 * in. */
static enum status lower_of(struct tree_lower *s,
                            const struct part_upper *parts, size_t n,
                            struct bound_relation *r, struct bound *b,
                            struct err *err)
{
    u128 target = r->gain > r->loss ? r->gain : r->loss;
    for (size_t i = 0; i < n && r->lower < target; i++) {
        struct witness_search l;
        bool unbounded;
        if (!has_own(&parts[i], r->table))
            continue;
        TRY(search_part(s, &parts[i], r->table, target, &l, &unbounded, err));
        u128 found = unbounded ? U128_INF : l.best;
        if (found <= r->lower)
            continue;
        r->lower = found;
        if (b->has_witness && found <= b->lower)
            continue;
        b->lower = found;
        b->has_witness = true;
        b->witness = l.witness;
        b->witness.family = unbounded;
        b->witness.n = unbounded ? l.best : 0;
    }
    return OK;
}

enum status bound_tree_lower(struct arena *a, const struct ctree *t,
                             const struct part_upper *parts, size_t n,
                             const struct bound_options *opt, struct bound *b,
                             struct err *err)
{
    uint64_t share = n * b->n_relations + 1;
    struct tree_lower s = {.a = a,
                           .tree = t,
                           .opt = opt,
                           .more_copies = more_copies(t),
                           .work = TREE_WORK / share + 1,
                           .canonical = CANONICAL_WORK / share + 1,
                           .admit = ADMIT_WORK / share + 1,
                           .steps = TREE_STEPS / share + 1};
    for (size_t i = 0; i < b->n_relations; i++)
        if (b->relations[i].is_private)
            TRY(lower_of(&s, parts, n, &b->relations[i], b, err));
    b->exact = b->lower == b->upper;
    return OK;
}
