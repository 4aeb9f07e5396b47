/*
 * The static bound: see static_bound.h.
 *
 * What is fixed with the entity depends on where the path ends: at the
 * entity's table (the cells that refer to it are fixed, whether or not the row
 * is there), before it at a missing row (the cells that refer to that are), or
 * at a row with a NULL (that row is). Which of these it is, the entity's id
 * tells, so the bound is the largest of the cases. The rows between are there
 * in each case and are added to the query as atoms, so that promises about
 * them count.
 */
#include "entity/static_bound.h"

#include <string.h>

#include "schema/owners.h"

struct extended {
    struct arena *a;
    struct cq q;
    vset fixed;
    bool full; /* no room: what is not added can only raise the bound */
    struct err *err;
};

static enum status extend(struct arena *a, const struct cq *q,
                          struct extended *out, struct err *err)
{
    *out = (struct extended){.a = a, .q = *q, .err = err};
    out->q.atoms = NEWS(a, struct atom, MAX_ATOMS + 1);
    out->q.vars = NEWS(a, struct var, MAX_VARS + 1);
    if (!out->q.atoms || !out->q.vars)
        return err_nomem(err);
    memcpy(out->q.vars, q->vars, q->n_vars * sizeof *q->vars);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        struct atom *at = &out->q.atoms[i];
        *at = q->atoms[i];
        at->args = NEWS(a, struct term, at->n_args + 1);
        if (!at->args)
            return err_nomem(err);
        if (at->n_args)
            memcpy(at->args, q->atoms[i].args, at->n_args * sizeof *at->args);
    }
    return OK;
}

/* The term in a cell, a new variable where nobody asked for one. */
static struct term name_cell(struct extended *x, uint32_t atom, uint32_t col)
{
    struct atom *at = &x->q.atoms[atom];
    if (at->args[col].kind != TERM_ANY)
        return at->args[col];
    if (x->q.n_vars == MAX_VARS) {
        x->full = true;
        return at->args[col];
    }
    const struct table *t = &x->q.schema->tables.p[at->table];
    uint32_t v = x->q.n_vars++;
    x->q.vars[v] = (struct var){.name = STR("_"), .type = t->cols[col].type};
    at->args[col] = (struct term){TERM_VAR, v};
    return at->args[col];
}

/* The cells of an edge: they are not NULL where the path goes on from them. */
static vset name_via(struct extended *x, uint32_t atom,
                     const struct owner_edge *e)
{
    vset set = 0;
    for (size_t i = 0; i < e->n; i++) {
        struct term t = name_cell(x, atom, e->via[i]);
        if (t.kind != TERM_VAR)
            continue;
        x->q.vars[t.id].nonnull = true;
        set |= vset_one(t.id);
    }
    return set;
}

/* The row that an edge leads to, as an atom. */
static enum status add_row(struct extended *x, uint32_t atom,
                           const struct owner_edge *e, uint32_t *out)
{
    const struct table *t = &x->q.schema->tables.p[e->table];
    *out = x->q.n_atoms;
    if (x->q.n_atoms == MAX_ATOMS) {
        x->full = true;
        return OK;
    }
    struct atom *at = &x->q.atoms[x->q.n_atoms++];
    *at = (struct atom){
        .table = e->table, .n_args = (uint32_t)t->n_cols, .rowid = -1};
    at->args = NEWS(x->a, struct term, t->n_cols + 1);
    if (!at->args)
        return err_nomem(x->err);
    for (size_t i = 0; i < t->n_cols; i++)
        at->args[i].kind = TERM_ANY;
    for (size_t i = 0; i < e->n; i++)
        at->args[e->key[i]] = x->q.atoms[atom].args[e->via[i]];
    return OK;
}

enum ending { AT_ENTITY, AT_MISSING, AT_NULL };

/* Fixes what is known once the path of `r` ends so, after `steps` edges
 * (AT_ENTITY: all of them). */
static enum status fix(struct extended *x, struct owner_rep r, enum ending how,
                       unsigned steps)
{
    const struct schema *s = x->q.schema;
    uint32_t atom = r.atom;
    const struct table *t = &s->tables.p[x->q.atoms[atom].table];
    const struct owner_path *p = &t->paths.p[r.path];
    for (unsigned i = 0; p->edge >= 0 && !x->full; i++) {
        const struct owner_edge *e = &t->owned_by.p[p->edge];
        if (how == AT_NULL && i == steps)
            break;
        vset via = name_via(x, atom, e);
        t = &s->tables.p[e->table];
        p = &t->paths.p[p->rest];
        if ((how == AT_MISSING && i == steps) || p->edge < 0) {
            x->fixed |= via;
            return OK;
        }
        TRY(add_row(x, atom, e, &atom));
    }
    if (!x->full)
        x->fixed |= atom_vars(&x->q, atom);
    return OK;
}

static enum status bound_of(struct extended *x, u128 *out)
{
    u128 v = U128_INF;
    if (!x->full)
        TRY(bound_outputs(x->a, &x->q, aset_first_n(x->q.n_atoms), x->fixed,
                          cq_free(&x->q), &v, x->err));
    *out = *out > v ? *out : v;
    return OK;
}

static enum status bound_case(struct arena *a, const struct cq *q,
                              const struct owner_var *v, enum ending how,
                              unsigned steps, u128 *out, struct err *err)
{
    struct extended x;
    TRY(extend(a, q, &x, err));
    TRY(fix(&x, v->reps[0], how, steps));
    /* At the entity's table all of them end there. */
    for (size_t i = 1; how == AT_ENTITY && i < v->n; i++)
        TRY(fix(&x, v->reps[i], how, 0));
    return bound_of(&x, out);
}

/* Can a cell of the edge be NULL in a result? */
static bool may_be_null(const struct cq *q, const struct table *t,
                        const struct owner_edge *e, uint32_t atom, bool first)
{
    for (size_t i = 0; i < e->n; i++) {
        struct term x =
            first ? q->atoms[atom].args[e->via[i]] : (struct term){TERM_ANY, 0};
        bool demanded = (x.kind == TERM_VAR && q->vars[x.id].nonnull) ||
                        x.kind == TERM_CONST;
        if (!t->cols[e->via[i]].not_null && !demanded)
            return true;
    }
    return false;
}

static enum status bound_var(struct arena *a, const struct cq *q,
                             const struct owner_var *v, u128 *out,
                             struct err *err)
{
    const struct schema *s = q->schema;
    uint32_t atom = v->reps[0].atom;
    const struct table *t = &s->tables.p[q->atoms[atom].table];
    const struct owner_path *p = &t->paths.p[v->reps[0].path];
    *out = 0;
    TRY(bound_case(a, q, v, AT_ENTITY, 0, out, err));
    for (unsigned i = 0; p->edge >= 0; i++) {
        const struct owner_edge *e = &t->owned_by.p[p->edge];
        if (may_be_null(q, t, e, atom, i == 0))
            TRY(bound_case(a, q, v, AT_NULL, i, out, err));
        t = &s->tables.p[e->table];
        p = &t->paths.p[p->rest];
        if (p->edge >= 0)
            TRY(bound_case(a, q, v, AT_MISSING, i, out, err));
    }
    return OK;
}

/* What one answer weighs at most; U128_INF where only room for numbers limits
 * it. */
static u128 weight_most(const struct cq *q)
{
    u128 most = cq_weight_most(q);
    return q->weight.on && most >= CQ_WEIGHT_MOST / 4 ? U128_INF : most;
}

static enum status bound_sum(struct arena *a, const struct cq *q,
                             const struct completion *c, u128 *out,
                             struct err *err)
{
    struct arena scratch;
    enum status s = OK;
    *out = 0;
    arena_init(&scratch, a->mem);
    for (unsigned i = 0; s == OK && i < c->k; i++) {
        u128 one;
        s = bound_var(&scratch, q, &c->vars[i], &one, err);
        if (s == OK)
            *out = u128_add_inf(*out, u128_mul_inf(one, weight_most(q)));
    }
    arena_fini(&scratch);
    return s;
}

enum status entity_bound(struct arena *a, const struct cq *q,
                         const struct completion *c, struct entity_bound *out,
                         struct err *err)
{
    u128 twice = q->n_group && q->schema->neighbours == CHANGE_ENTITY ? 2 : 1;
    *out = (struct entity_bound){0};
    if (q->unsat)
        return OK;
    TRY(bound_sum(a, q, c, &out->upper, err));
    out->upper = u128_mul_inf(out->upper, q->schema->order);
    out->l1_upper = u128_mul_inf(out->upper, twice);
    return OK;
}

/* --- trees ---------------------------------------------------------------- */

struct tree_bound {
    struct arena *a;
    u128 gain, loss;
    bool any; /* a row of some entity is read */
};

static bool owns(const struct owner_var *v, aset own)
{
    for (size_t i = 0; i < v->n; i++)
        if (aset_has(own, v->reps[i].atom))
            return true;
    return false;
}

/* PRIVACY: only owners of own atoms: the walk of tree/PROOF.md ends at a row of
 * the entity that is new in one of those. */
static enum status add_part(struct tree_bound *b, const struct tree_part *p,
                            struct err *err)
{
    struct completion c;
    TRY(complete_query(b->a, p->path, &c, err));
    b->any |= c.k > 0;
    for (unsigned i = 0; i < c.k; i++) {
        u128 one;
        if (!owns(&c.vars[i], p->own))
            continue;
        TRY(bound_var(b->a, p->path, &c.vars[i], &one, err));
        one = u128_mul_inf(one, weight_most(p->path));
        if (p->gain)
            b->gain = u128_add_inf(b->gain, one);
        if (p->loss)
            b->loss = u128_add_inf(b->loss, one);
    }
    return OK;
}

static enum status add_parts(struct tree_bound *b, const struct ctree *t,
                             struct err *err)
{
    struct tree_part *parts;
    size_t n;
    TRY(tree_parts(b->a, t, &parts, &n, err));
    for (size_t i = 0; i < n; i++)
        TRY(add_part(b, &parts[i], err));
    return OK;
}

enum status entity_bound_tree(struct arena *a, const struct ctree *t,
                              const struct cq *root, struct entity_bound *out,
                              struct err *err)
{
    const struct schema *s = root->schema;
    bool change = s->neighbours == CHANGE_ENTITY, groups = root->n_group > 0;
    struct arena scratch;
    struct tree_bound b = {.a = &scratch};
    *out = (struct entity_bound){0};
    arena_init(&scratch, a->mem);
    enum status st = add_parts(&b, t, err);
    arena_fini(&scratch);
    TRY(st);
    u128 most = b.gain > b.loss ? b.gain : b.loss;
    if (change || groups)
        most = u128_add_inf(b.gain, b.loss);
    if (b.any && !most) /* read, and found not to matter: never exact */
        most = 1;
    out->upper = u128_mul_inf(most, s->order ? s->order : 1);
    out->l1_upper = u128_mul_inf(out->upper, groups && change ? 2 : 1);
    return OK;
}

/* --- advice --------------------------------------------------------------- */

/* With this number for k the bound's digits in its base are its coefficients.
 */
enum { K_BASE = 1000000, MAX_EDGES = 16 };

struct promise { /* at most k rows of the table for one target of the edge */
    uint32_t table;
    const struct owner_edge *edge;
};

struct advising {
    struct arena *a;
    const struct cq *q;
    const struct completion *c;
    struct promise all[MAX_EDGES];
    size_t n;
    struct entity_advice *out;
    size_t n_out;
    struct err *err;
};

static void list_edges(struct advising *x, uint32_t table)
{
    const struct table *t = &x->q->schema->tables.p[table];
    for (size_t i = 0; i < x->n; i++)
        if (x->all[i].table == table)
            return;
    for (size_t i = 0; i < t->owned_by.n; i++)
        if (x->n < MAX_EDGES)
            x->all[x->n++] = (struct promise){table, &t->owned_by.p[i]};
    for (size_t i = 0; i < t->owned_by.n; i++)
        list_edges(x, t->owned_by.p[i].table);
}

/* The bound on a schema that has the promises of `set` too. */
static enum status bound_with(struct advising *x, uint32_t set, u128 *out)
{
    struct schema *s = NEW(x->a, struct schema);
    struct cq q = *x->q;
    if (!s)
        return err_nomem(x->err);
    *s = *x->q->schema;
    s->arena = x->a;
    s->tables.p = NEWS(x->a, struct table, s->tables.n + 1);
    if (!s->tables.p)
        return err_nomem(x->err);
    memcpy(s->tables.p, x->q->schema->tables.p,
           s->tables.n * sizeof *s->tables.p);
    q.schema = s;
    for (size_t i = 0; i < x->n; i++) {
        struct table *t = &s->tables.p[x->all[i].table];
        if (!(set >> i & 1))
            continue;
        /* A copy: pushing into the schema's own would change it. */
        struct degree *had = t->degrees.p;
        size_t n = t->degrees.n;
        t->degrees.p = NEWS(x->a, struct degree, n + MAX_EDGES + 1);
        if (!t->degrees.p)
            return err_nomem(x->err);
        if (n)
            memcpy(t->degrees.p, had, n * sizeof *had);
        t->degrees.cap = n + MAX_EDGES + 1;
        TRY(table_add_whole(s, x->all[i].table, x->all[i].edge->via,
                            x->all[i].edge->n, K_BASE, false, STR(""), x->err));
    }
    return bound_sum(x->a, &q, x->c, out, x->err);
}

static void print_power(struct sb *b, u128 coefficient, unsigned power)
{
    if (coefficient != 1 || !power)
        sb_u128(b, coefficient);
    sb_cstr(b, coefficient != 1 && power ? "*" : "");
    if (power == 1)
        sb_char(b, 'k');
    else if (power)
        sb_printf(b, "k^%u", power);
}

/* A number in base K_BASE as a polynomial in k, highest power first. */
static struct str polynomial(struct arena *a, u128 v)
{
    u128 digit[8] = {0};
    unsigned n = 0;
    struct sb b;
    sb_init(&b, a);
    for (; v && n < 8; v /= K_BASE)
        digit[n++] = v % K_BASE;
    for (unsigned i = n; i-- > 0;)
        if (digit[i]) {
            sb_cstr(&b, b.n ? " + " : "");
            print_power(&b, digit[i], i);
        }
    return b.failed ? STR("") : b.n ? sb_view(&b) : STR("0");
}

static void print_promise(struct sb *b, struct sb *words,
                          const struct schema *s, const struct promise *p)
{
    const struct table *t = &s->tables.p[p->table];
    sb_printf(b, "%s%.*s: %s", b->n ? "; " : "", PSTR(t->name),
              p->edge->n > 1 ? "(" : "");
    for (size_t i = 0; i < p->edge->n; i++)
        sb_printf(b, "%s%.*s", i ? ", " : "",
                  PSTR(t->cols[p->edge->via[i]].name));
    sb_printf(b, "%s -> * <= k", p->edge->n > 1 ? ")" : "");
    sb_printf(words, "%sk rows of %.*s for one %.*s",
              words->n ? " and " : "at most ", PSTR(t->name),
              PSTR(s->tables.p[p->edge->table].name));
    for (size_t i = 0; owner_edge_has_twin(t, p->edge) && i < p->edge->n; i++)
        sb_printf(words, "%s%.*s", i ? ", " : " through ",
                  PSTR(t->cols[p->edge->via[i]].name));
}

static enum status try_set(struct advising *x, uint32_t set, bool *good)
{
    u128 v;
    struct sb b, words;
    TRY(bound_with(x, set, &v));
    *good = v != U128_INF;
    if (!*good || x->n_out == MAX_ENTITY_ADVICE)
        return OK;
    sb_init(&b, x->a);
    sb_init(&words, x->a);
    for (size_t i = 0; i < x->n; i++)
        if (set >> i & 1)
            print_promise(&b, &words, x->q->schema, &x->all[i]);
    if (b.failed || words.failed)
        return err_nomem(x->err);
    x->out[x->n_out++] = (struct entity_advice){sb_view(&b), sb_view(&words),
                                                polynomial(x->a, v)};
    return OK;
}

/* One promise where one is enough; else all of them, less those that are not
 * needed. */
static enum status advise(struct advising *x)
{
    uint32_t all = (1u << x->n) - 1;
    bool good;
    for (size_t i = 0; i < x->n; i++)
        TRY(try_set(x, 1u << i, &good));
    if (x->n_out || x->n < 2)
        return OK;
    u128 v;
    TRY(bound_with(x, all, &v));
    if (v == U128_INF)
        return OK;
    for (size_t i = 0; i < x->n; i++) {
        TRY(bound_with(x, all & ~(1u << i), &v));
        if (v != U128_INF)
            all &= ~(1u << i);
    }
    return try_set(x, all, &good);
}

enum status entity_advise(struct arena *a, const struct cq *q,
                          const struct completion *c,
                          struct entity_advice out[static MAX_ENTITY_ADVICE],
                          size_t *n, struct err *err)
{
    struct advising x = {.a = a, .q = q, .c = c, .out = out, .err = err};
    u128 now;
    *n = 0;
    if (q->unsat)
        return OK;
    TRY(bound_sum(a, q, c, &now, err));
    if (now != U128_INF || weight_most(q) >= K_BASE)
        return OK;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        list_edges(&x, q->atoms[i].table);
    TRY(advise(&x));
    *n = x.n_out;
    return OK;
}
