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
 * In this order, and inside each kind the variable whose step leaves the
 * fewest columns first. On acyclic components that is message passing. The
 * boundary last and piece by piece is sound because weights are not negative:
 * the maximum of a product over separate variables is the product of maxima.
 *
 * A comparison is applied as soon as both sides are in one relation. A step
 * whose variable is compared (<>) with one that it does not hold yet is done
 * by subtraction, all pairs less the equal ones, so that no pairs are formed;
 * with < or several comparisons the other relation is joined.
 *
 * Sums are numeric: they do not overflow.
 */
#include "source/pushdown.h"

struct rel {
    vset vars;
    bool live;
};

struct gen {
    struct source_counter *c;
    const struct part *p;
    struct sb *b;
    struct err *err;
    struct rel rels[2 * MAX_VARS + MAX_ATOMS];
    unsigned n;
    bool applied[MAX_PUSHDOWN_CMPS];
};

static vset term_var(struct term t)
{
    return t.kind == TERM_VAR ? vset_one(t.id) : 0;
}

static vset cmp_vars(const struct cmp *c)
{
    return term_var(c->l) | term_var(c->r);
}

static void var_name(struct gen *g, unsigned v)
{
    sb_printf(g->b, "v%u", g->p->num[v]);
}

static void begin(struct gen *g)
{
    sb_printf(g->b, "%s r%u AS (", g->n ? ",\n" : "WITH", g->n);
}

static unsigned end(struct gen *g, vset vars)
{
    sb_cstr(g->b, ")");
    g->rels[g->n] = (struct rel){vars, true};
    return g->n++;
}

static const char *op_text(enum cmp_op op)
{
    return op == CMP_NE ? " <> " : op == CMP_LT ? " < " : " <= ";
}

/* --- atoms
 * -------------------------------------------------------------------*/

/* By the first column that has the variable: rules declare no types. */
static enum type var_type(const struct cq *q, uint32_t var)
{
    for (uint32_t a = 0; a < q->n_atoms; a++)
        for (uint32_t i = 0; i < q->atoms[a].n_args; i++)
            if (q->atoms[a].args[i].kind == TERM_VAR &&
                q->atoms[a].args[i].id == var)
                return q->schema->tables.p[q->atoms[a].table].cols[i].type;
    return q->vars[var].type;
}

static enum type term_type(struct gen *g, struct term t)
{
    const struct cq *q = g->p->q;
    return t.kind == TERM_VAR ? var_type(q, t.id) : q->consts[t.id].type;
}

static enum status refuse_types(struct gen *g)
{
    err_set(g->err, E_UNSUPPORTED,
            "the database cannot compare values of these types exactly");
    err_hint(g->err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* column = constant, and the second column of a repeated variable. */
static enum status equalities(struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    const struct atom *at = &q->atoms[atom];
    const struct table *t = &q->schema->tables.p[at->table];
    vset seen = 0;
    for (uint32_t i = 0; i < at->n_args; i++) {
        struct term x = at->args[i];
        enum type ct = t->cols[i].type;
        if (x.kind == TERM_CONST) {
            enum type vt = q->consts[x.id].type;
            sb_cstr(g->b, " AND ");
            if (!type_comparable(ct, vt)) {
                sb_cstr(g->b, "false");
                continue;
            }
            if (!sql_same_order(ct, vt))
                return refuse_types(g);
            TRY(sql_column(g->c, atom, i, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sql_const(&q->consts[x.id], g->b, g->err));
        } else if (x.kind == TERM_VAR && vset_has(seen, x.id)) {
            sb_cstr(g->b, " AND ");
            TRY(sql_column(g->c, atom, i, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sql_var(g->c, atom, x.id, g->b, g->err));
        }
        seen |= term_var(x);
    }
    return OK;
}

/* A computed variable that the atom has otherwise too: both are equal. */
static enum status calc_equalities(struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    const struct atom *at = &q->atoms[atom];
    vset seen = 0;
    for (uint32_t i = 0; i < at->n_args; i++)
        seen |= term_var(at->args[i]);
    for (uint32_t i = 0; i < q->n_calcs; i++) {
        const struct calc *k = &q->calcs[i];
        if (k->atom != atom)
            continue;
        if (vset_has(seen, k->var)) {
            sb_cstr(g->b, " AND ");
            TRY(sql_expr(g->c, atom, k->e, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sql_var(g->c, atom, k->var, g->b, g->err));
        }
        seen |= vset_one(k->var);
    }
    return OK;
}

static enum status term_sql(struct gen *g, uint32_t atom, struct term t)
{
    if (t.kind == TERM_CONST)
        return sql_const(&g->p->q->consts[t.id], g->b, g->err);
    return sql_var(g->c, atom, t.id, g->b, g->err);
}

/* Comparisons inside the atom, predicates, NOT NULL. */
static enum status conditions(struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    vset vars = atom_vars(q, atom) & g->p->vars;
    VSET_EACH (v, vars)
        if (q->vars[v].nonnull) {
            sb_cstr(g->b, " AND ");
            TRY(sql_var(g->c, atom, v, g->b, g->err));
            sb_cstr(g->b, " IS NOT NULL");
        }
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == atom) {
            sb_cstr(g->b, " AND ");
            TRY(sql_expr(g->c, atom, q->preds[i].e, g->b, g->err));
        }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (!g->p->cmps[i] || !vset_sub(cmp_vars(c), vars))
            continue;
        if (!sql_same_order(term_type(g, c->l), term_type(g, c->r)))
            return refuse_types(g);
        sb_cstr(g->b, " AND ");
        TRY(term_sql(g, atom, c->l));
        sb_cstr(g->b, op_text(c->op));
        TRY(term_sql(g, atom, c->r));
        g->applied[i] = true;
    }
    return OK;
}

/* Variables of the atom that something outside it asks for. */
static vset used_outside(const struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    vset mine = atom_vars(q, atom) & g->p->vars, used = g->p->boundary;
    for (size_t i = 0; i < g->p->n_atoms; i++)
        if (g->p->atoms[i] != atom)
            used |= atom_vars(q, g->p->atoms[i]);
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (g->p->cmps[i] && !vset_sub(cmp_vars(&q->cmps[i]), mine))
            used |= cmp_vars(&q->cmps[i]);
    return mine & used;
}

/* Rows differ in these variables: a key is among them. */
static bool rows_differ(const struct gen *g, uint32_t atom, vset vars)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    for (size_t k = 0; k < t->keys.n; k++) {
        bool inside = true;
        for (size_t i = 0; inside && i < t->keys.p[k].n_cols; i++) {
            uint32_t col = t->to[t->keys.p[k].cols[i]];
            inside = col != UINT32_MAX &&
                     (at->args[col].kind == TERM_CONST ||
                      vset_sub(term_var(at->args[col]), vars)) &&
                     at->args[col].kind != TERM_ANY;
        }
        if (inside)
            return true;
    }
    return false;
}

static enum status atom_rel(struct gen *g, uint32_t atom)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    bool weighted = aset_has(g->p->weighted, atom);
    vset vars = atom_vars(g->p->q, atom) & g->p->vars;
    vset outside = used_outside(g, atom);
    /* Rows of a bag are counted, so what only they hold needs no column;
     * neither does what only has to exist. */
    vars = weighted ? outside : vars & (outside | ~g->p->exists);
    begin(g);
    bool plain = weighted || rows_differ(g, atom, vars);
    sb_cstr(g->b, plain ? "SELECT " : "SELECT DISTINCT ");
    VSET_EACH (v, vars) {
        TRY(sql_var(g->c, atom, v, g->b, g->err));
        sb_cstr(g->b, " AS ");
        var_name(g, v);
        sb_cstr(g->b, ", ");
    }
    sb_cstr(g->b, weighted ? "count(*)::numeric AS w FROM "
                           : "1::numeric AS w FROM ");
    sql_ident(g->b, t->namespace_);
    sb_char(g->b, '.');
    sql_ident(g->b, t->name);
    sb_cstr(g->b, " WHERE true");
    TRY(equalities(g, atom));
    TRY(calc_equalities(g, atom));
    TRY(conditions(g, atom));
    if (weighted && vars) {
        sb_cstr(g->b, " GROUP BY ");
        for (unsigned i = 1; i <= vset_count(vars); i++)
            sb_printf(g->b, "%s%u", i > 1 ? ", " : "", i);
    } else if (weighted) {
        sb_cstr(g->b, " HAVING count(*) > 0");
    }
    end(g, vars);
    return OK;
}

/* --- steps
 * ---------------------------------------------------------------------*/

enum step { EXISTS, SUM, MAX };

struct bucket {
    unsigned rels[MAX_ATOMS];
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
    var_name(g, v);
}

static void weights(struct gen *g, const struct bucket *k)
{
    for (unsigned i = 0; i < k->n; i++)
        sb_printf(g->b, "%sr%u.w", i ? " * " : "", k->rels[i]);
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
            var_name(g, v);
            sb_printf(g->b, " = r%u.", k->rels[i]);
            var_name(g, v);
        }
        sb_cstr(g->b, n ? "" : "true");
    }
}

static void side(struct gen *g, const struct bucket *k, struct term t)
{
    column(g, k, t.id); /* comparisons with constants were applied in atoms */
}

static enum status where_clause(struct gen *g, const struct bucket *k)
{
    const struct cq *q = g->p->q;
    unsigned n = 0;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (!g->p->cmps[i] || g->applied[i] || !vset_sub(cmp_vars(c), k->vars))
            continue;
        if (!sql_same_order(term_type(g, c->l), term_type(g, c->r)))
            return refuse_types(g);
        sb_cstr(g->b, n++ ? " AND " : " WHERE ");
        side(g, k, c->l);
        sb_cstr(g->b, op_text(c->op));
        side(g, k, c->r);
        g->applied[i] = true;
    }
    return OK;
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
static enum status step_select(struct gen *g, const struct bucket *k,
                               enum step step, vset vars)
{
    sb_cstr(g->b, step == EXISTS ? "SELECT DISTINCT " : "SELECT ");
    VSET_EACH (v, vars) {
        column(g, k, v);
        sb_cstr(g->b, " AS ");
        var_name(g, v);
        sb_cstr(g->b, ", ");
    }
    /* Where only existence is asked, a weight other than 1 belongs to a bag
     * that a comparison brought in; all its columns stay, so it is the same
     * in equal rows. */
    sb_cstr(g->b, step == SUM ? "sum(" : step == MAX ? "max(" : "(");
    weights(g, k);
    sb_cstr(g->b, ") AS w");
    from_clause(g, k);
    TRY(where_clause(g, k));
    if (step != EXISTS)
        group_by(g, k, vars);
    return OK;
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
    const struct cq *q = g->p->q;
    unsigned n = 0;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        vset vars = cmp_vars(&q->cmps[i]);
        if (!g->p->cmps[i] || g->applied[i] || !vset_has(vars, v) ||
            vset_sub(vars, have))
            continue;
        *one = i;
        n++;
    }
    return n;
}

static void join_partner(struct gen *g, unsigned v, uint32_t cmp,
                         struct bucket *k)
{
    vset other = cmp_vars(&g->p->q->cmps[cmp]) & ~vset_one(v);
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
    unsigned u = vset_min(cmp_vars(&q->cmps[cmp]) & ~vset_one(v));
    struct bucket p = {0}, one = {0};
    begin(g);
    TRY(step_select(g, k, SUM, k->vars));
    consume(g, k);
    unsigned m = end(g, k->vars);
    take(g, &one, m);
    begin(g);
    TRY(step_select(g, &one, SUM, rest));
    unsigned t = end(g, rest);
    g->rels[m].live = false;
    join_partner(g, v, cmp, &p);
    if (!p.n)
        return err_internal(g->err, "pushdown: comparison without partner");
    if (!sql_same_order(var_type(q, v), var_type(q, u)))
        return refuse_types(g);
    g->applied[cmp] = true;
    take(g, &p, t);
    vset vars = p.vars;
    begin(g);
    sb_cstr(g->b, "SELECT ");
    VSET_EACH (x, vars) {
        column(g, &p, x);
        sb_cstr(g->b, " AS ");
        var_name(g, x);
        sb_cstr(g->b, ", ");
    }
    sb_printf(g->b, "r%u.w * (r%u.w - COALESCE(r%u.w, 0)) AS w", p.rels[0], t,
              m);
    from_clause(g, &p);
    sb_printf(g->b, " LEFT JOIN r%u ON r%u.", m, m);
    var_name(g, v);
    sb_printf(g->b, " = r%u.", p.rels[0]);
    var_name(g, u);
    VSET_EACH (x, rest) {
        sb_printf(g->b, " AND r%u.", m);
        var_name(g, x);
        sb_cstr(g->b, vset_has(g->p->vars, x) && !q->vars[x].nonnull
                          ? " IS NOT DISTINCT FROM "
                          : " = ");
        sb_printf(g->b, "r%u.", t);
        var_name(g, x);
    }
    TRY(where_clause(g, &p));
    consume(g, &p);
    end(g, vars);
    return OK;
}

static enum status eliminate(struct gen *g, unsigned v, enum step step)
{
    struct bucket k;
    uint32_t cmp = 0;
    bucket_of(g, v, &k);
    if (!k.n)
        return OK; /* only existed in an atom that dropped it */
    unsigned open = open_cmps(g, v, k.vars, &cmp);
    if (step == SUM && open == 1 && g->p->q->cmps[cmp].op == CMP_NE)
        return subtract(g, &k, v, cmp);
    while (open) {
        join_partner(g, v, cmp, &k);
        open = open_cmps(g, v, k.vars, &cmp);
    }
    vset rest = k.vars & ~vset_one(v);
    begin(g);
    TRY(step_select(g, &k, step, rest));
    consume(g, &k);
    end(g, rest);
    return OK;
}

/* The variable whose step leaves the fewest columns. */
static unsigned cheapest(struct gen *g, vset vars)
{
    unsigned best = vset_min(vars), best_cost = UINT32_MAX;
    VSET_EACH (v, vars) {
        struct bucket k;
        uint32_t cmp = 0;
        bucket_of(g, v, &k);
        unsigned cost =
            4 * vset_count(k.vars) + 16 * open_cmps(g, v, k.vars, &cmp);
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
        TRY(eliminate(g, v, step));
        vars &= ~vset_one(v);
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
            enum type a = t->cols[c].type, b = var_type(q, at->args[c].id);
            *never |= !type_comparable(a, b);
            if (type_comparable(a, b) && !sql_same_order(a, b))
                return refuse_types(g);
        }
    }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (vset_has(g->p->vars, q->calcs[i].var) &&
            !sql_same_order(q->calcs[i].e->type, var_type(q, q->calcs[i].var)))
            return refuse_types(g);
    return OK;
}

enum status part_sql(struct source_counter *c, const struct part *p,
                     struct sb *out, struct err *err)
{
    struct gen *g = NEW(&c->scratch, struct gen);
    if (!g)
        return err_nomem(err);
    g->c = c;
    g->p = p;
    g->b = out;
    g->err = err;
    bool never = false;
    TRY(check_types(g, &never));
    if (never) {
        sb_cstr(out, "SELECT 0");
        return out->failed ? err_nomem(err) : OK;
    }
    for (size_t i = 0; i < p->n_atoms; i++)
        TRY(atom_rel(g, p->atoms[i]));
    TRY(eliminate_all(g, p->exists, EXISTS));
    TRY(eliminate_all(g, p->outs, SUM));
    TRY(eliminate_all(g, p->boundary, MAX));
    sb_cstr(out, "\nSELECT ");
    unsigned n = 0;
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live)
            sb_printf(out, "%sCOALESCE((SELECT max(w) FROM r%u), 0)",
                      n++ ? " * " : "", r);
    return out->failed ? err_nomem(err) : OK;
}
