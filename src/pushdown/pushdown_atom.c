/*
 * The relation of one atom: its columns after constants, repeated variables,
 * predicates and the comparisons that it can decide by itself.
 */
#include "pushdown/pushdown_gen.h"

static const char *op_text(enum cmp_op op)
{
    return op == CMP_NE ? " <> " : op == CMP_LT ? " < " : " <= ";
}

static enum type term_type(struct gen *g, struct term t)
{
    const struct cq *q = g->p->q;
    return t.kind == TERM_VAR ? gen_var_type(q, t.id) : q->consts[t.id].type;
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
            if (!sqlgen_same_order(ct, vt))
                return gen_refuse_types(g);
            TRY(sqlgen_column(&g->c->sql, atom, i, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sqlgen_const(&q->consts[x.id], g->b, g->err));
        } else if (x.kind == TERM_VAR && vset_has(seen, x.id)) {
            sb_cstr(g->b, " AND ");
            TRY(sqlgen_column(&g->c->sql, atom, i, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sqlgen_var(&g->c->sql, atom, x.id, g->b, g->err));
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
            TRY(sqlgen_expr(&g->c->sql, atom, k->e, g->b, g->err));
            sb_cstr(g->b, " = ");
            TRY(sqlgen_var(&g->c->sql, atom, k->var, g->b, g->err));
        }
        seen |= vset_one(k->var);
    }
    return OK;
}

static enum status term_sql(struct gen *g, uint32_t atom, struct term t)
{
    if (t.kind == TERM_CONST)
        return sqlgen_const(&g->p->q->consts[t.id], g->b, g->err);
    return sqlgen_var(&g->c->sql, atom, t.id, g->b, g->err);
}

/* The database itself keeps NULLs out of the variable's first column. */
static bool never_null(const struct gen *g, uint32_t atom, unsigned v)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    uint32_t col = 0;
    while (col < at->n_args && !vset_has(term_var(at->args[col]), v))
        col++;
    for (size_t i = 0; col < at->n_args && i < t->n_cols; i++)
        if (t->to[i] == col)
            return t->cols[i].not_null;
    return false;
}

/* Comparisons inside the atom, predicates, NOT NULL. What need not be asked is
 * not: a column less may mean that an index is enough. */
static enum status conditions(struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    vset vars = atom_vars(q, atom) & g->p->vars;
    VSET_EACH (v, vars)
        if (q->vars[v].nonnull && !never_null(g, atom, v)) {
            sb_cstr(g->b, " AND ");
            TRY(sqlgen_var(&g->c->sql, atom, v, g->b, g->err));
            sb_cstr(g->b, " IS NOT NULL");
        }
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == atom) {
            sb_cstr(g->b, " AND ");
            TRY(sqlgen_expr(&g->c->sql, atom, q->preds[i].e, g->b, g->err));
        }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (!g->p->cmps[i] || !vset_sub(cmp_vars(c), vars))
            continue;
        if (!sqlgen_same_order(term_type(g, c->l), term_type(g, c->r)))
            return gen_refuse_types(g);
        sb_cstr(g->b, " AND ");
        TRY(term_sql(g, atom, c->l));
        sb_cstr(g->b, op_text(c->op));
        TRY(term_sql(g, atom, c->r));
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

/* Rows differ in these variables: a key is among them, *key. */
static bool rows_differ(const struct gen *g, uint32_t atom, vset vars,
                        vset *key)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    for (size_t k = 0; k < t->keys.n; k++) {
        bool inside = true;
        *key = 0;
        for (size_t i = 0; inside && i < t->keys.p[k].n_cols; i++) {
            uint32_t col = t->to[t->keys.p[k].cols[i]];
            inside = col != UINT32_MAX &&
                     (at->args[col].kind == TERM_CONST ||
                      vset_sub(term_var(at->args[col]), vars)) &&
                     at->args[col].kind != TERM_ANY;
            *key |= inside ? term_var(at->args[col]) : 0;
        }
        if (inside)
            return true;
    }
    *key = vars;
    return false;
}

static enum status select_column(struct gen *g, uint32_t atom, unsigned v)
{
    TRY(sqlgen_var(&g->c->sql, atom, v, g->b, g->err));
    gen_as(g, v);
    sb_cstr(g->b, ", ");
    return OK;
}

/* In the order of the table's columns, whatever the variables are. */
static enum status select_columns(struct gen *g, uint32_t atom, vset vars)
{
    const struct atom *at = &g->p->q->atoms[atom];
    for (uint32_t i = 0; i < at->n_args; i++) {
        vset v = term_var(at->args[i]) & vars;
        if (v)
            TRY(select_column(g, atom, at->args[i].id));
        vars &= ~v;
    }
    VSET_EACH (v, vars)
        TRY(select_column(g, atom, v));
    return OK;
}

/* The name of the column that the variable is, where the database's value is
 * taken as it is; empty: an expression. */
static struct str bare_name(const struct gen *g, uint32_t atom, unsigned v)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    uint32_t col = 0;
    while (col < at->n_args && !vset_has(term_var(at->args[col]), v))
        col++;
    for (size_t i = 0; col < at->n_args && i < t->n_cols; i++)
        if (t->to[i] == col && t->cols[i].type != T_TEXT &&
            t->cols[i].type_oid != OID_OID &&
            t->cols[i].type_oid != OID_TIMESTAMPTZ)
            return t->cols[i].name;
    return STR("");
}

/* The relation was written without a condition, each row once: FROM may name
 * the table itself. Without columns it stays a SELECT, for its weight. */
static void name_table(struct gen *g, uint32_t atom, const struct gen_rel *r)
{
    const struct src_table *t =
        source_find_table(g->c->src, g->p->q->atoms[atom].table);
    struct pool *pool = g->pool;
    struct str *names = NEWS(pool->arena, struct str, r->n + 1);
    struct sb b;
    pool->failed |= !names;
    for (unsigned i = 0; !pool->failed && i < r->n; i++) {
        struct str name = bare_name(g, atom, r->cols[i]);
        if (!name.n)
            return;
        sb_init(&b, pool->arena);
        sqlgen_ident(&b, name);
        pool->failed |= b.failed;
        names[i] = sb_view(&b);
    }
    sb_init(&b, pool->arena);
    sqlgen_ident(&b, t->namespace_);
    sb_char(&b, '.');
    sqlgen_ident(&b, t->name);
    pool->failed |= b.failed;
    if (pool->failed || !r->n)
        return;
    pool->list.p[r->id].names = names;
    pool->list.p[r->id].table = sb_view(&b);
}

enum status gen_atom(struct gen *g, uint32_t atom)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    bool weighted = aset_has(g->p->weighted, atom);
    vset vars = atom_vars(g->p->q, atom) & g->p->vars;
    vset outside = used_outside(g, atom), key = 0;
    /* Rows of a bag are counted, so what only they hold needs no column;
     * neither does what only has to exist. */
    vars = weighted ? outside : vars & (outside | ~g->p->exists);
    /* What a key determines has one value, and the sum over it one term; but
     * not once only the existence of the key is asked. */
    if (rows_differ(g, atom, outside & ~g->p->exists, &key))
        vars = outside;
    gen_begin(g);
    bool plain = rows_differ(g, atom, vars, &key) || weighted;
    sb_cstr(g->b, plain ? "SELECT " : "SELECT DISTINCT ");
    TRY(select_columns(g, atom, vars));
    sb_cstr(g->b, weighted ? "count(*) AS w FROM " : "1 AS w FROM ");
    sqlgen_ident(g->b, t->namespace_);
    sb_char(g->b, '.');
    sqlgen_ident(g->b, t->name);
    sb_cstr(g->b, " WHERE true");
    size_t mark = g->b->n;
    TRY(equalities(g, atom));
    TRY(calc_equalities(g, atom));
    TRY(conditions(g, atom));
    bool whole = g->b->n == mark && plain && !weighted;
    if (weighted && vars) {
        sb_cstr(g->b, " GROUP BY ");
        for (unsigned i = 1; i <= vset_count(vars); i++)
            sb_printf(g->b, "%s%u", i > 1 ? ", " : "", i);
    } else if (weighted) {
        sb_cstr(g->b, " HAVING count(*) > 0");
    }
    struct gen_rel *r = gen_end(g, plain && !weighted);
    r->ones = !weighted;
    r->key = key;
    if (whole)
        name_table(g, atom, r);
    return OK;
}
