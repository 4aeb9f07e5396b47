/*
 * The static bound of a tree, part by part (PROOF.md, trees): one row of R
 * adds at most G_R answers and takes away at most H_R, each a sum over the
 * parts of one sign of what a row in the part of an own atom can bring about.
 *
 * What a change costs:
 *     insert or delete a row     max(G_R, H_R)
 *     exchange one               G_R + H_R
 *     a vector of counts         l1: G_R + H_R, l2^2: G_R^2 + H_R^2;
 *                                exchanged: 2 (G_R + H_R), 2 (G_R + H_R)^2
 */
#include "bound/advice.h"
#include "bound/bound.h"
#include "bound/path_fold.h"
#include "bound/lower_ways.h"

enum { PARTS_WORK = 20000000, ADVICE_WORK = 3000000 };

struct bound_parts {
    struct arena *a;
    const struct ctree *tree;
    const struct cq *root;
    struct work work;
    struct bound *out;
    VEC(struct part_upper) uppers; /* where witnesses are looked for */
};

/* *gone: atoms that were left out. */
static enum status chase_part(struct bound_parts *s, struct tree_part *p,
                              struct tab **t, aset *gone, struct err *err)
{
    struct cq *chased;
    aset own = p->own;
    TRY(tab_of_cq(s->a, p->path, t, err));
    TRY(tab_chase(s->a, *t, err));
    *gone = bound_fold_path(*t, own);
    TRY(tab_to_cq(s->a, *t, &chased, err));
    p->path = chased;
    p->own = bound_own_atoms(*t, own, *gone);
    return OK;
}

static struct bound_relation *relation_of(struct bound *b, uint32_t table)
{
    for (size_t i = 0; i < b->n_relations; i++)
        if (b->relations[i].table == table)
            return &b->relations[i];
    return NULL;
}

/* Each answer weighs the unit of the part at most. */
static void add_part(struct bound_parts *s, const struct tree_part *p,
                     const struct upper *up)
{
    uint64_t unit = cq_weight_most(p->path);
    for (size_t i = 0; i < up->n_tables; i++) {
        struct bound_relation *r = relation_of(s->out, up->tables[i].table);
        u128 most = u128_mul_inf(up->tables[i].upper, unit);
        if (p->gain)
            r->gain = u128_add_inf(r->gain, most);
        if (p->loss)
            r->loss = u128_add_inf(r->loss, most);
    }
}

/* Bounds reason about rows, where a NULL equals itself. */
static enum status bound_part(struct bound_parts *s, struct tree_part *p,
                              bool *keep, struct err *err)
{
    struct tab *t;
    struct upper up;
    aset raw = p->own, gone;
    TRY(chase_part(s, p, &t, &gone, err));
    *keep = !p->path->unsat;
    if (!*keep)
        return OK;
    p->fragile = !gone && p->loss && !p->gain &&
                 tree_is_anti_join(s->tree->branches[p->branch], p->node) &&
                 bound_is_fragile(p->path, p->own);
    t->plain = true;
    TRY(tab_chase(s->a, t, err));
    aset own = bound_own_atoms(t, raw, gone);
    TRY(upper_make_own(s->a, t, own, &s->work, &up, err));
    if (up.t->unsat)
        return OK;
    add_part(s, p, &up);
    struct part_upper u = {.path = p->path,
                           .branch = p->branch,
                           .node = p->node,
                           .gain = p->gain,
                           .loss = p->loss,
                           .own = own,
                           .up = up};
    return VEC_PUSH(s->a, &s->uppers, u) ? OK : err_nomem(err);
}

static enum status list_relations(struct bound_parts *s, struct err *err)
{
    const struct schema *sc = s->root->schema;
    struct bound *b = s->out;
    b->n_relations = 0;
    b->relations = NEWS(s->a, struct bound_relation, sc->tables.n + 1);
    if (!b->relations)
        return err_nomem(err);
    for (size_t i = 0; i < s->tree->n_branches; i++)
        for (size_t k = 0; k < s->tree->branches[i]->b.atoms.n; k++) {
            uint32_t table = s->tree->branches[i]->b.atoms.p[k].table;
            if (relation_of(b, table))
                continue;
            b->relations[b->n_relations++] = (struct bound_relation){
                .table = table,
                .is_private = table_is_private(&sc->tables.p[table])};
        }
    return OK;
}

static enum status bound_list(struct bound_parts *s, bool keys,
                              struct tree_part **out, size_t *out_n,
                              struct err *err)
{
    size_t n, kept = 0;
    TRY(tree_parts_of(s->a, s->tree, keys, out, &n, err));
    for (size_t i = 0; i < n; i++) {
        bool keep;
        TRY(bound_part(s, &(*out)[i], &keep, err));
        if (keep)
            (*out)[kept++] = (*out)[i];
    }
    *out_n = kept;
    return OK;
}

static u128 smaller(u128 x, u128 y)
{
    return x < y ? x : y;
}

/* Both counts bound the same change. */
static enum status bound_other(struct bound_parts *s, struct err *err)
{
    struct bound *b = s->out;
    struct bound_relation *ids = b->relations;
    TRY(list_relations(s, err));
    TRY(bound_list(s, true, &b->other_parts, &b->n_other, err));
    for (size_t i = 0; i < b->n_relations; i++) {
        b->relations[i].gain = smaller(b->relations[i].gain, ids[i].gain);
        b->relations[i].loss = smaller(b->relations[i].loss, ids[i].loss);
    }
    return OK;
}

static enum status bound_parts(struct bound_parts *s, struct err *err)
{
    struct bound *b = s->out;
    bool ids = tree_adds_ids(s->tree);
    TRY(bound_list(s, !ids, &b->parts, &b->n_parts, err));
    return ids && s->tree->branches[0]->nodes.p[0].cap != UINT32_MAX
               ? bound_other(s, err)
               : OK;
}

/* PRIVACY: from the chased tree, never from numbers. */
static void find_signs(struct bound_parts *s)
{
    struct bound *b = s->out;
    b->monotone = b->one_signed = true;
    for (size_t r = 0; r < b->n_relations; r++) {
        bool gain = false, loss = false;
        for (size_t i = 0; i < b->n_parts; i++) {
            const struct tree_part *p = &b->parts[i];
            bool own =
                cq_atoms_of_table(p->path, b->relations[r].table) & p->own;
            gain |= own && p->gain;
            loss |= own && p->loss;
        }
        if (!b->relations[r].is_private)
            continue;
        b->monotone &= !loss;
        b->one_signed &= !gain || !loss;
    }
}

static u128 larger(u128 x, u128 y)
{
    return x > y ? x : y;
}

/*
 * PRIVACY: `order` rows are changed one after another, each at the price of
 * one. A tree that mentions private tables is never called exact: that no row
 * of them matters was found by an analysis, not by leaving them unread.
 */
static void for_neighbours(struct bound_parts *s)
{
    struct bound *b = s->out;
    const struct schema *sc = s->root->schema;
    bool change = sc->neighbours == CHANGE_ONE, groups = s->root->n_group > 0;
    u128 order = sc->order ? sc->order : 1, most = 0, squares = 0;
    bool any = false;
    for (size_t i = 0; i < b->n_relations; i++) {
        struct bound_relation *r = &b->relations[i];
        u128 sum = u128_add_inf(r->gain, r->loss);
        u128 g = u128_mul_inf(r->gain, r->gain);
        r->upper = change || groups ? sum : larger(r->gain, r->loss);
        most = larger(most, r->upper);
        squares =
            larger(squares, u128_add_inf(g, u128_mul_inf(r->loss, r->loss)));
        any |= r->is_private;
    }
    if (any && !most)
        most = squares = 1;
    u128 twice = groups && change ? 2 : 1;
    b->upper = u128_mul_inf(most, order);
    b->l1_upper = u128_mul_inf(twice, b->upper);
    b->l2_squared_upper =
        groups && !change
            ? u128_mul_inf(squares, u128_mul_inf(order, order))
            : u128_mul_inf(twice, u128_mul_inf(b->upper, b->upper));
    b->paper = b->plan = b->polymatroid = b->upper;
}

/* --- words ---------------------------------------------------------------- */

static void say_part(struct sb *b, const struct tree_part *p)
{
    sb_cstr(b, p->gain ? "  + " : "  - ");
    cq_print(b, p->path);
    sb_cstr(b, "\n    the new row is one of");
    ASET_EACH (i, p->own)
        sb_printf(b, " [%.*s, atom %u]",
                  PSTR(p->path->schema->tables.p[p->path->atoms[i].table].name),
                  i);
    sb_char(b, '\n');
}

static void say_bound(struct sb *b, u128 v)
{
    if (v == U128_INF)
        sb_cstr(b, "answers without limit");
    else {
        sb_cstr(b, "at most ");
        sb_u128(b, v);
        sb_cstr(b, v == 1 ? " answer" : " answers");
    }
}

static enum status explain(struct bound_parts *s, struct err *err)
{
    struct sb b;
    struct bound *o = s->out;
    sb_init(&b, s->a);
    for (size_t i = 0; i < o->n_parts; i++)
        say_part(&b, &o->parts[i]);
    for (size_t i = 0; i < o->n_relations; i++) {
        const struct bound_relation *r = &o->relations[i];
        if (!r->is_private)
            continue;
        sb_printf(&b, "  one row of %.*s can add ",
                  PSTR(s->root->schema->tables.p[r->table].name));
        say_bound(&b, r->gain);
        sb_cstr(&b, " and remove ");
        say_bound(&b, r->loss);
        sb_char(&b, '\n');
    }
    if (b.failed)
        return err_nomem(err);
    o->explanation = sb_view(&b);
    return OK;
}

/* The dependencies that would bound all parts. */
static enum status advise(struct bound_parts *s, struct err *err)
{
    struct work work = {.left = ADVICE_WORK};
    bool both = s->root->schema->neighbours == CHANGE_ONE || s->root->n_group;
    struct advised *all = NEWS(s->a, struct advised, s->uppers.n + 1);
    u128 now = 0;
    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < s->uppers.n; i++) {
        const struct part_upper *u = &s->uppers.p[i];
        all[i] = (struct advised){.up = &u->up,
                                  .own = u->own,
                                  .unit = cq_weight_most(u->path),
                                  .gain = u->gain,
                                  .loss = u->loss};
    }
    for (size_t i = 0; i < s->out->n_relations; i++)
        now = larger(now, s->out->relations[i].upper);
    return bound_advise(s->a, all, s->uppers.n, both, now, &work, s->out, err);
}

enum status bound_tree(struct arena *a, const struct ctree *t,
                       const struct cq *root, const struct bound_options *opt,
                       struct bound *out, struct err *err)
{
    struct bound_parts s = {.a = a, .tree = t, .root = root, .out = out};
    struct cq *chased;
    *out = (struct bound){.query = root};
    s.work.left = opt->work ? opt->work : PARTS_WORK;
    TRY(logic_chase(a, root, &chased, err));
    out->simplified = chased;
    TRY(list_relations(&s, err));
    TRY(bound_parts(&s, err));
    find_signs(&s);
    for_neighbours(&s);
    out->satisfiable = out->n_parts > 0;
    out->connected = cq_is_connected(chased);
    out->acyclic = cq_is_acyclic(chased);
    out->full = cq_is_full(chased);
    out->n_free = vset_count(cq_free(root));
    out->gave_up = s.work.exhausted;
    if (opt->want_advice)
        TRY(advise(&s, err));
    if (opt->want_lower)
        TRY(bound_tree_lower(a, t, s.uppers.p, s.uppers.n, opt, out, err));
    return opt->want_words ? explain(&s, err) : OK;
}
