/*
 * The SQL of one component, by elimination of variables (Abo Khamis, Ngo,
 * Rudra: FAQ, PODS 2016): the relations of its atoms (pushdown_atom.c), and
 * steps that join some of them and let variables go (pushdown_step.c), each
 * with a weight w >= 0.
 *
 * First what must only exist, then what is counted, then the boundary; inside
 * each kind what needs no join first, then the variable whose step leaves the
 * fewest columns. On acyclic components that is message passing. The boundary
 * last and piece by piece is sound because weights are not negative: the
 * maximum of a product over separate variables is the product of maxima.
 */
#include "pushdown/pushdown_gen.h"
#include "pushdown/pushdown_tree.h"

enum status pushdown_refuse_types(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "the database cannot compare values of these types exactly");
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

enum status gen_refuse_types(struct gen *g)
{
    return pushdown_refuse_types(g->err);
}

/* DuckDB: computed integers are too wide to be brought to a decimal's scale. */
static bool has_wide_calc(const struct cq *q)
{
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].e->type == T_INT)
            return true;
    return false;
}

/* A decimal that is joined or compared between tables. */
static bool has_decimal(const struct cq *q)
{
    for (uint32_t v = 0; v < q->n_vars; v++)
        if (cq_column_type(q, v) == T_DEC)
            return true;
    for (uint32_t i = 0; i < q->n_consts; i++)
        if (q->consts[i].type == T_DEC)
            return true;
    return false;
}

/*
 * A variable over columns of types that never compare equal (text and
 * numbers): no row joins. Types that the database would compare inexactly are
 * refused.
 */
static enum status check_types(struct gen *g, bool *never)
{
    const struct cq *q = g->p->q;
    for (size_t i = 0; i < g->p->n_atoms; i++) {
        const struct atom *at = &q->atoms[g->p->atoms[i]];
        const struct table *t = &q->schema->tables.p[at->table];
        for (uint32_t c = 0; c < at->n_args; c++) {
            if (at->args[c].kind != TERM_VAR)
                continue;
            enum type a = t->cols[c].type,
                      b = cq_column_type(q, at->args[c].id);
            *never |= !type_comparable(a, b);
            if (type_comparable(a, b) && !sqlgen_same_order(a, b))
                return gen_refuse_types(g);
        }
    }
    if (g->c->duck && has_wide_calc(q) && has_decimal(q))
        return gen_refuse_types(g);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (vset_has(g->p->vars, q->calcs[i].var) &&
            !sqlgen_same_order(q->calcs[i].e->type,
                               cq_column_type(q, q->calcs[i].var)))
            return gen_refuse_types(g);
    return OK;
}

/* Comparisons between variables of different atoms; those with a variable
 * outside are for pushdown_exact.c. */
static enum status list_cmps(struct gen *g)
{
    const struct cq *q = g->p->q;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        vset both = cmp_vars(c);
        bool decided = c->l.kind != TERM_VAR || c->r.kind != TERM_VAR;
        for (size_t k = 0; k < g->p->n_atoms; k++)
            decided |= vset_sub(both, atom_vars(q, g->p->atoms[k]));
        if (!g->p->cmps[i] || decided || (both & g->p->outside))
            continue;
        if (!sqlgen_same_order(cq_column_type(q, c->l.id),
                               cq_column_type(q, c->r.id)))
            return gen_refuse_types(g);
        g->cmps[g->n_cmps++] = (struct gcmp){c->op, c->l.id, c->r.id};
    }
    return OK;
}

static enum status begin(struct gen *g, bool *never)
{
    const struct part *p = g->p;
    *never = false;
    TRY(check_types(g, never));
    if (*never)
        return OK;
    g->exists = p->exists;
    g->outs = p->outs;
    g->boundary = p->boundary;
    TRY(list_cmps(g));
    for (size_t i = 0; i < p->n_atoms; i++)
        TRY(gen_atom(g, p->atoms[i]));
    if (!g->exists)
        TRY(gen_weight(g));
    return p->outside ? gen_outside(g) : OK;
}

/* The weight comes in when rows are no longer kept once. */
static enum status end_exists(struct gen *g)
{
    TRY(gen_eliminate(g, g->exists, EXISTS));
    return g->exists ? gen_weight(g) : OK;
}

enum status gen_relations(struct gen *g, bool *never)
{
    TRY(begin(g, never));
    if (*never)
        return OK;
    TRY(end_exists(g));
    return gen_count_out(g);
}

/* --- the count from a residual
 * --------------------------------------------------*/

/* Does a live relation rest on one that is grouped and was there before? */
static bool shares(const struct gen *g, size_t before)
{
    bool *marks = NEWS(g->pool->arena, bool, g->pool->list.n + 1);
    bool found = false;
    for (unsigned r = 0; marks && r < g->n; r++)
        if (g->rels[r].live)
            pool_mark(g->pool, g->rels[r].id, marks);
    for (size_t i = 0; marks && i < before; i++)
        found |= marks[i] && !g->pool->list.p[i].plain;
    return found;
}

static bool all_known(const struct gen *g, unsigned but, size_t before)
{
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && r != but && g->rels[r].id >= before)
            return false;
    return true;
}

/* The atom with the fewest rows, by the statistics, that was not tried. */
static unsigned smallest(const struct gen *g, const bool *tried)
{
    const struct part *p = g->p;
    unsigned best = (unsigned)p->n_atoms;
    double least = 0;
    for (unsigned i = 0; i < p->n_atoms; i++) {
        const struct atom *at = &p->q->atoms[p->atoms[i]];
        double n = source_find_table(g->c->src, at->table)->believed_rows;
        if (tried[i] || (best < p->n_atoms && n >= least))
            continue;
        best = i;
        least = n;
    }
    return best;
}

/*
 * All atoms but one, grouped by what they share with that one, are what the
 * residual without it asks for: where that was written before, the count joins
 * it with the one that is left. *g: as after begin.
 */
static enum status from_residual(struct gen *g, size_t before, bool *done)
{
    bool tried[MAX_ATOMS] = {false};
    struct gen *t = NEW(&g->c->scratch, struct gen);
    if (!t)
        return err_nomem(g->err);
    for (unsigned x; !*done && (x = smallest(g, tried)) < g->p->n_atoms;) {
        tried[x] = true;
        *t = *g;
        t->b = &t->body;
        t->rels[x].live = false;
        TRY(gen_eliminate(t, t->outs & ~t->rels[x].vars, SUM));
        t->rels[x].live = true;
        *done = all_known(t, x, before) && shares(t, before);
        if (*done)
            TRY(gen_eliminate(t, t->outs & t->rels[x].vars, SUM));
    }
    if (*done) {
        *g = *t;
        g->b = &g->body;
    }
    return OK;
}

/* Comparisons between atoms would miss the one that is set aside. */
static bool is_count(const struct gen *g)
{
    return !g->boundary && !g->exists && !g->n_cmps && !g->p->outside &&
           g->p->n_atoms > 2;
}

/* A plan of its own, unless it shares nothing and a residual would do. */
static enum status count_relations(struct gen *g, bool *never)
{
    size_t before = g->pool->list.n;
    bool done = false;
    TRY(begin(g, never));
    if (*never)
        return OK;
    struct gen *own = is_count(g) ? NEW(&g->c->scratch, struct gen) : NULL;
    if (own) {
        *own = *g;
        own->b = &own->body;
        TRY(gen_eliminate(own, own->outs, SUM));
        if (!shares(own, before))
            TRY(from_residual(g, before, &done));
    }
    if (done)
        return OK;
    TRY(end_exists(g));
    return gen_count_out(g);
}

enum status gen_answer(struct gen *g, bool *never, unsigned *roots, size_t *n)
{
    *n = 0;
    TRY(count_relations(g, never));
    if (*never)
        return OK;
    TRY(gen_any(g));
    TRY(gen_eliminate(g, g->boundary, MAX));
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live)
            roots[(*n)++] = g->rels[r].id;
    return g->pool->failed ? err_nomem(g->err) : OK;
}
