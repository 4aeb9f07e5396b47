/*
 * The SQL of one component, by elimination of variables (Abo Khamis, Ngo,
 * Rudra: FAQ, PODS 2016). Every relation has its variables as columns v0, v1,
 * ... and a weight w >= 0, and each step is one common table expression that
 * is used once:
 *
 *   atoms      SELECT DISTINCT columns, 1 AS w; for a bag whose rows count,
 *              count(*) AS w GROUP BY columns
 *   exists     a variable that is neither counted nor in the boundary: join
 *              the relations that have it, SELECT DISTINCT the others
 *   counted    the same, with sum(product of weights)
 *   boundary   the same, with max(product of weights)
 *
 * In this order, and inside each kind what needs no join first, then the
 * variable whose step leaves the fewest columns, together with all that no
 * other relation holds. On acyclic components that is message passing. The
 * boundary last and piece by piece is sound because weights are not negative:
 * the maximum of a product over separate variables is the product of maxima.
 *
 * A comparison is applied as soon as both sides are in one relation. A step
 * whose variable is compared (<>) with one that it does not hold yet is done
 * by subtraction, all pairs less the equal ones, so that no pairs are formed;
 * with < or several comparisons the other relation is joined.
 *
 * A step over relations whose weights are all 1 counts rows; counts are
 * bigint, their sums and all products numeric: nothing overflows.
 */
#include "source/pushdown_gen.h"

static vset term_var(struct term t)
{
    return t.kind == TERM_VAR ? vset_one(t.id) : 0;
}

void gen_name(struct gen *g, unsigned v)
{
    const struct cq *q = g->p->q;
    if (v >= q->n_vars)
        sb_printf(g->b, "p%u", g->p->num[g->place_of[v]]);
    else
        sb_printf(g->b, "v%u", g->p->num[v]);
}

void gen_begin(struct gen *g)
{
    sb_printf(g->b, "%s r%u AS (", g->b->n ? ",\n" : "WITH", g->n);
}

unsigned gen_end(struct gen *g, vset vars)
{
    sb_cstr(g->b, ")");
    g->rels[g->n] = (struct rel){.vars = vars, .live = true, .key = vars};
    return g->n++;
}

static const char *op_text(enum cmp_op op)
{
    return op == CMP_NE ? " <> " : op == CMP_LT ? " < " : " <= ";
}

/* By the first column that has the variable: rules declare no types. */
enum type gen_var_type(const struct cq *q, uint32_t var)
{
    for (uint32_t a = 0; a < q->n_atoms; a++)
        for (uint32_t i = 0; i < q->atoms[a].n_args; i++)
            if (q->atoms[a].args[i].kind == TERM_VAR &&
                q->atoms[a].args[i].id == var)
                return q->schema->tables.p[q->atoms[a].table].cols[i].type;
    return q->vars[var].type;
}

enum status gen_refuse_types(struct gen *g)
{
    err_set(g->err, E_UNSUPPORTED,
            "the database cannot compare values of these types exactly");
    err_hint(g->err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* --- steps
 * ---------------------------------------------------------------------*/

enum step { EXISTS, SUM, MAX };

struct bucket {
    unsigned rels[MAX_ATOMS + 2 * MAX_VARS];
    unsigned n;
    vset vars;
};

static void take(struct gen *g, struct bucket *k, unsigned r)
{
    k->rels[k->n++] = r;
    k->vars |= g->rels[r].vars;
}

/* The relation of the bucket, among the first n, that has v; n: none. */
static unsigned holder(const struct gen *g, const struct bucket *k, unsigned n,
                       unsigned v)
{
    for (unsigned i = 0; i < n; i++)
        if (vset_has(g->rels[k->rels[i]].vars, v))
            return i;
    return n;
}

static void column(struct gen *g, const struct bucket *k, unsigned v)
{
    sb_printf(g->b, "r%u.", k->rels[holder(g, k, k->n, v)]);
    gen_name(g, v);
}

/* How many relations of the bucket have weights other than 1. */
static unsigned n_weights(const struct gen *g, const struct bucket *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < k->n; i++)
        n += !g->rels[k->rels[i]].ones;
    return n;
}

/* The product of those. */
static void weights(struct gen *g, const struct bucket *k)
{
    unsigned n = 0, all = n_weights(g, k);
    for (unsigned i = 0; i < k->n; i++)
        if (!g->rels[k->rels[i]].ones)
            sb_printf(g->b, "%sr%u.w%s", n++ ? " * " : "", k->rels[i],
                      all > 1 ? "::numeric" : "");
}

static void step_weight(struct gen *g, const struct bucket *k, enum step step)
{
    if (!n_weights(g, k)) {
        sb_cstr(g->b, step == SUM ? "count(*) AS w" : "1 AS w");
        return;
    }
    sb_cstr(g->b, step == SUM ? "sum(" : step == MAX ? "max(" : "(");
    weights(g, k);
    sb_cstr(g->b, ") AS w");
}

static void from_clause(struct gen *g, const struct bucket *k)
{
    sb_printf(g->b, " FROM r%u", k->rels[0]);
    for (unsigned i = 1; i < k->n; i++) {
        unsigned n = 0;
        sb_printf(g->b, " JOIN r%u ON ", k->rels[i]);
        VSET_EACH (v, g->rels[k->rels[i]].vars) {
            unsigned h = holder(g, k, i, v);
            if (h == i)
                continue;
            sb_printf(g->b, "%sr%u.", n++ ? " AND " : "", k->rels[h]);
            gen_name(g, v);
            sb_printf(g->b, " = r%u.", k->rels[i]);
            gen_name(g, v);
        }
        sb_cstr(g->b, n ? "" : "true");
    }
}

static void where_clause(struct gen *g, const struct bucket *k)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        const struct gcmp *c = &g->cmps[i];
        if (g->applied[i] || !vset_sub(gcmp_vars(c), k->vars))
            continue;
        sb_cstr(g->b, n++ ? " AND " : " WHERE ");
        column(g, k, c->l);
        sb_cstr(g->b, op_text(c->op));
        column(g, k, c->r);
        g->applied[i] = true;
    }
}

static void group_by(struct gen *g, const struct bucket *k, vset vars)
{
    unsigned n = 0;
    VSET_EACH (v, vars) {
        sb_cstr(g->b, n++ ? ", " : " GROUP BY ");
        column(g, k, v);
    }
    if (!n)
        sb_cstr(g->b, " HAVING count(*) > 0");
}

/* SELECT vars, step(weights) over the join of the bucket. */
static void step_select(struct gen *g, const struct bucket *k, enum step step,
                        vset vars)
{
    sb_cstr(g->b, step == EXISTS ? "SELECT DISTINCT " : "SELECT ");
    VSET_EACH (v, vars) {
        column(g, k, v);
        sb_cstr(g->b, " AS ");
        gen_name(g, v);
        sb_cstr(g->b, ", ");
    }
    /* Where only existence is asked, a weight other than 1 belongs to a bag
     * that a comparison brought in; all its columns stay, so it is the same
     * in equal rows. */
    step_weight(g, k, step);
    from_clause(g, k);
    where_clause(g, k);
    if (step != EXISTS)
        group_by(g, k, vars);
}

static void bucket_of(struct gen *g, unsigned v, struct bucket *k)
{
    *k = (struct bucket){0};
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && vset_has(g->rels[r].vars, v))
            take(g, k, r);
}

/* Open comparisons of v with variables that the bucket lacks: their number,
 * and one of them. */
static unsigned open_cmps(const struct gen *g, unsigned v, vset have,
                          uint32_t *one)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        vset vars = gcmp_vars(&g->cmps[i]);
        if (g->applied[i] || !vset_has(vars, v) || vset_sub(vars, have))
            continue;
        *one = i;
        n++;
    }
    return n;
}

static void join_partner(struct gen *g, unsigned v, uint32_t cmp,
                         struct bucket *k)
{
    vset other = gcmp_vars(&g->cmps[cmp]) & ~vset_one(v);
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && vset_sub(other, g->rels[r].vars)) {
            take(g, k, r);
            return;
        }
}

static void consume(struct gen *g, const struct bucket *k)
{
    for (unsigned i = 0; i < k->n; i++)
        g->rels[k->rels[i]].live = false;
}

/*
 * v <> u, u elsewhere. M = the bucket, summed to v and the rest; T = M summed
 * over v. Then for each row of the relation P that has u:
 * P.w * (T.w - M.w where M.v = P.u). T and M share the columns `rest`; P joins
 * them on what it shares with them.
 */
static enum status subtract(struct gen *g, const struct bucket *k, unsigned v,
                            uint32_t cmp)
{
    const struct cq *q = g->p->q;
    vset rest = k->vars & ~vset_one(v);
    unsigned u = vset_min(gcmp_vars(&g->cmps[cmp]) & ~vset_one(v));
    struct bucket p = {0}, one = {0};
    gen_begin(g);
    step_select(g, k, SUM, k->vars);
    consume(g, k);
    unsigned m = gen_end(g, k->vars);
    take(g, &one, m);
    gen_begin(g);
    step_select(g, &one, SUM, rest);
    unsigned t = gen_end(g, rest);
    g->rels[m].live = false;
    join_partner(g, v, cmp, &p);
    if (!p.n)
        return err_internal(g->err, "pushdown: comparison without partner");
    g->applied[cmp] = true;
    take(g, &p, t);
    vset vars = p.vars;
    gen_begin(g);
    sb_cstr(g->b, "SELECT ");
    VSET_EACH (x, vars) {
        column(g, &p, x);
        sb_cstr(g->b, " AS ");
        gen_name(g, x);
        sb_cstr(g->b, ", ");
    }
    sb_printf(g->b, "r%u.w::numeric * (r%u.w - COALESCE(r%u.w, 0)) AS w",
              p.rels[0], t, m);
    from_clause(g, &p);
    sb_printf(g->b, " LEFT JOIN r%u ON r%u.", m, m);
    gen_name(g, v);
    sb_printf(g->b, " = r%u.", p.rels[0]);
    gen_name(g, u);
    VSET_EACH (x, rest) {
        sb_printf(g->b, " AND r%u.", m);
        gen_name(g, x);
        sb_cstr(g->b, x < q->n_vars && !q->vars[x].nonnull
                          ? " IS NOT DISTINCT FROM "
                          : " = ");
        sb_printf(g->b, "r%u.", t);
        gen_name(g, x);
    }
    where_clause(g, &p);
    consume(g, &p);
    gen_end(g, vars);
    return OK;
}

/* Those of `vars` that only the bucket holds and nothing outside compares:
 * one step does for all of them. */
static vset only_here(const struct gen *g, const struct bucket *k, vset vars)
{
    vset here = vars & k->vars, elsewhere = 0;
    uint32_t cmp;
    for (unsigned r = 0; r < g->n; r++) {
        bool mine = false;
        for (unsigned i = 0; i < k->n; i++)
            mine |= k->rels[i] == r;
        if (g->rels[r].live && !mine)
            elsewhere |= g->rels[r].vars;
    }
    here &= ~elsewhere;
    VSET_EACH (v, here)
        if (open_cmps(g, v, k->vars, &cmp))
            here &= ~vset_one(v);
    return here;
}

/* v, and what of *vars goes with it; all of that is taken out of *vars. */
static enum status eliminate(struct gen *g, unsigned v, enum step step,
                             vset *vars)
{
    struct bucket k;
    uint32_t cmp = 0;
    bucket_of(g, v, &k);
    *vars &= ~vset_one(v);
    if (!k.n)
        return OK; /* only existed in an atom that dropped it */
    unsigned open = open_cmps(g, v, k.vars, &cmp);
    if (step == SUM && open == 1 && g->cmps[cmp].op == CMP_NE)
        return subtract(g, &k, v, cmp);
    while (open) {
        join_partner(g, v, cmp, &k);
        open = open_cmps(g, v, k.vars, &cmp);
    }
    vset gone = vset_one(v) | only_here(g, &k, *vars);
    bool ones = step != SUM && !n_weights(g, &k);
    gen_begin(g);
    step_select(g, &k, step, k.vars & ~gone);
    consume(g, &k);
    g->rels[gen_end(g, k.vars & ~gone)].ones = ones;
    *vars &= ~gone;
    return OK;
}

/* How many relations of the bucket, but one, are joined otherwise than by
 * their key: each may multiply the rows. */
static unsigned multiplied(const struct gen *g, const struct bucket *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < k->n; i++) {
        vset others = 0;
        for (unsigned j = 0; j < k->n; j++)
            others |= i == j ? 0 : g->rels[k->rels[j]].vars;
        n += !vset_sub(g->rels[k->rels[i]].key, others);
    }
    return n ? n - 1 : 0;
}

/* A variable whose step joins nothing, if there is one: what is joined later
 * has fewer rows then. Otherwise the one whose step joins by keys and leaves
 * the fewest columns, and of those the one that joins the fewest relations. */
static unsigned cheapest(struct gen *g, vset vars)
{
    unsigned best = vset_min(vars), best_cost = UINT32_MAX;
    VSET_EACH (v, vars) {
        struct bucket k;
        uint32_t cmp = 0;
        bucket_of(g, v, &k);
        vset gone = vset_one(v) | only_here(g, &k, vars);
        unsigned cost = 64 * vset_count(k.vars & ~gone) +
                        256 * multiplied(g, &k) +
                        256 * open_cmps(g, v, k.vars, &cmp) +
                        (k.n > 1 ? (1U << 16) + k.n : 0);
        if (cost < best_cost) {
            best = v;
            best_cost = cost;
        }
    }
    return best;
}

static enum status eliminate_all(struct gen *g, vset vars, enum step step)
{
    while (vars) {
        unsigned v = cheapest(g, vars);
        TRY(eliminate(g, v, step, &vars));
    }
    return OK;
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
            enum type a = t->cols[c].type, b = gen_var_type(q, at->args[c].id);
            *never |= !type_comparable(a, b);
            if (type_comparable(a, b) && !sql_same_order(a, b))
                return gen_refuse_types(g);
        }
    }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (vset_has(g->p->vars, q->calcs[i].var) &&
            !sql_same_order(q->calcs[i].e->type,
                            gen_var_type(q, q->calcs[i].var)))
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
        vset both = term_var(c->l) | term_var(c->r);
        bool decided = c->l.kind != TERM_VAR || c->r.kind != TERM_VAR;
        for (size_t k = 0; k < g->p->n_atoms; k++)
            decided |= vset_sub(both, atom_vars(q, g->p->atoms[k]));
        if (!g->p->cmps[i] || decided || (both & g->p->outside))
            continue;
        if (!sql_same_order(gen_var_type(q, c->l.id), gen_var_type(q, c->r.id)))
            return gen_refuse_types(g);
        g->cmps[g->n_cmps++] = (struct gcmp){c->op, c->l.id, c->r.id};
    }
    return OK;
}

enum status gen_relations(struct gen *g, bool *never)
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
    if (p->outside)
        TRY(gen_outside(g));
    TRY(eliminate_all(g, g->exists, EXISTS));
    return eliminate_all(g, g->outs, SUM);
}

enum status part_sql(struct source_counter *c, const struct part *p,
                     struct sb *out, struct err *err)
{
    struct gen *g = NEW(&c->scratch, struct gen);
    if (!g)
        return err_nomem(err);
    *g = (struct gen){.c = c, .p = p, .b = out, .err = err};
    bool never = false;
    TRY(gen_relations(g, &never));
    if (never) {
        sb_cstr(out, "SELECT 0");
        return out->failed ? err_nomem(err) : OK;
    }
    TRY(eliminate_all(g, g->boundary, MAX));
    sb_cstr(out, "\nSELECT ");
    unsigned n = 0;
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live)
            sb_printf(out, "%sCOALESCE((SELECT max(w) FROM r%u), 0)::numeric",
                      n++ ? " * " : "", r);
    return out->failed ? err_nomem(err) : OK;
}
