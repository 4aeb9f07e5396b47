/*
 * The relation of one atom: its columns after constants, repeated variables,
 * predicates and the comparisons that it can decide by itself.
 */
#include "pushdown/pushdown_gen.h"
#include "pushdown/pushdown_tree.h"

static const char *op_text(enum cmp_op op)
{
    return op == CMP_NE ? " <> " : op == CMP_LT ? " < " : " <= ";
}

static enum type term_type(struct gen *g, struct term t)
{
    const struct cq *q = g->p->q;
    return t.kind == TERM_VAR ? cq_column_type(q, t.id) : q->consts[t.id].type;
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
            TRY(sqlgen_const(&g->c->sql, &q->consts[x.id], g->b, g->err));
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
        return sqlgen_const(&g->c->sql, &g->p->q->consts[t.id], g->b, g->err);
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

/* Days and moments outside of the calendar are no values (duckdb_load.c). */
static bool has_calendar(const struct src_column *c)
{
    return c->type == T_DATE || c->type == T_TIMESTAMP;
}

/* DuckDB: rows without a value where the schema says NOT NULL do not exist.
 * PostgreSQL: it is not said there unless the server keeps it. */
static enum status existence(struct gen *g, uint32_t atom)
{
    uint32_t table = g->p->q->atoms[atom].table;
    const struct src_table *t = source_find_table(g->c->src, table);
    const struct column *cols = g->p->q->schema->tables.p[table].cols;
    for (size_t i = 0; g->c->duck && i < t->n_cols; i++) {
        const struct src_column *c = &t->cols[i];
        if (t->to[i] == UINT32_MAX || !cols[t->to[i]].not_null)
            continue;
        if (cols[t->to[i]].type != c->type || (has_calendar(c) && !c->sql.n))
            return sqlgen_refuse_expr(g->err, "with a column of this type");
        if (c->not_null && !has_calendar(c))
            continue;
        sb_cstr(g->b, " AND (");
        if (c->sql.n)
            sqlgen_marked(&g->c->sql, c->sql, g->b);
        else
            sqlgen_ident(g->b, c->name);
        sb_cstr(g->b, ") IS NOT NULL");
    }
    return OK;
}

/* Comparisons inside the atom, predicates, NOT NULL. What need not be asked is
 * not: a column less may mean that an index is enough. */
static enum status conditions(struct gen *g, uint32_t atom)
{
    const struct cq *q = g->p->q;
    vset vars = atom_vars(q, atom) & g->p->vars;
    TRY(existence(g, atom));
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
    if (g->p->weighs)
        used |= cq_weight_var(q);
    for (size_t i = 0; i < g->p->n_atoms; i++)
        if (g->p->atoms[i] != atom)
            used |= atom_vars(q, g->p->atoms[i]);
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (g->p->cmps[i] && !vset_sub(cmp_vars(&q->cmps[i]), mine))
            used |= cmp_vars(&q->cmps[i]);
    return mine & used;
}

/* The columns of the schema, by their numbers, are all among `vars` or
 * constant; *key: their variables. */
static bool key_inside(const struct atom *at, const uint32_t *cols, size_t n,
                       vset vars, vset *key)
{
    *key = 0;
    for (size_t i = 0; i < n; i++) {
        if (cols[i] == UINT32_MAX || at->args[cols[i]].kind == TERM_ANY ||
            (at->args[cols[i]].kind == TERM_VAR &&
             !vset_sub(term_var(at->args[cols[i]]), vars)))
            return false;
        *key |= term_var(at->args[cols[i]]);
    }
    return true;
}

/* Parquet has no keys of its own; those of the policy are checked with all rows
 * before a release. Rows with NULLs in them do not exist (existence). */
static bool is_row_key(const struct table *st, const struct degree *d)
{
    bool yes = d->is_key && d->y_is_all && d->k == 1;
    for (size_t i = 0; yes && i < d->n_x; i++)
        yes = st->cols[d->x[i]].not_null;
    return yes;
}

/* Rows differ in these variables: a key is among them, *key. */
static bool rows_differ(const struct gen *g, uint32_t atom, vset vars,
                        vset *key)
{
    const struct atom *at = &g->p->q->atoms[atom];
    const struct table *st = &g->p->q->schema->tables.p[at->table];
    const struct src_table *t = source_find_table(g->c->src, at->table);
    uint32_t cols[MAX_VARS];
    for (size_t k = 0; k < t->keys.n; k++) {
        size_t n = t->keys.p[k].n_cols;
        for (size_t i = 0; n <= MAX_VARS && i < n; i++)
            cols[i] = t->to[t->keys.p[k].cols[i]];
        if (n <= MAX_VARS && key_inside(at, cols, n, vars, key))
            return true;
    }
    for (size_t k = 0; t->parquet && k < st->degrees.n; k++)
        if (is_row_key(st, &st->degrees.p[k]) &&
            key_inside(at, st->degrees.p[k].x, st->degrees.p[k].n_x, vars, key))
            return true;
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

void pushdown_put_table(const struct src_table *t, struct sb *b)
{
    if (t->kind == SRC_DUCKDB) {
        duck_from(b, t);
        return;
    }
    sqlgen_ident(b, t->namespace_);
    sb_char(b, '.');
    sqlgen_ident(b, t->name);
}

/* With the columns of owners, if there are any: then it needs an alias. */
static bool from_table(const struct gen *g, const struct src_table *t,
                       struct sb *b)
{
    bool owned = g->c->owned.from && g->c->owned.from[t->table].n;
    if (owned)
        sb_str(b, g->c->owned.from[t->table]);
    else
        pushdown_put_table(t, b);
    return owned;
}

/* All that the atom's rows must be. */
static enum status all_conditions(struct gen *g, uint32_t atom)
{
    TRY(equalities(g, atom));
    TRY(calc_equalities(g, atom));
    return conditions(g, atom);
}

/* The SQL of column i of the relation, or of its conditions, with marks. */
static enum status marked_text(struct gen *g, uint32_t atom, int var,
                               struct str *out)
{
    struct sb b, *before = g->b;
    sb_init(&b, g->pool->arena);
    g->b = &b;
    g->c->sql.marked = true;
    enum status s =
        var < 0 ? all_conditions(g, atom)
                : sqlgen_var(&g->c->sql, atom, (uint32_t)var, g->b, g->err);
    g->c->sql.marked = false;
    g->b = before;
    *out = sb_view(&b);
    g->pool->failed |= b.failed;
    return s;
}

/* Each row counts once: FROM may name the table itself. Without columns it
 * stays a SELECT, for its weight. */
static enum status name_table(struct gen *g, uint32_t atom,
                              const struct gen_rel *r)
{
    struct pool *pool = g->pool;
    struct str *names = NEWS(pool->arena, struct str, r->n + 1), where;
    struct sb b;
    pool->failed |= !names;
    for (unsigned i = 0; !pool->failed && i < r->n; i++)
        TRY(marked_text(g, atom, r->cols[i], &names[i]));
    TRY(marked_text(g, atom, -1, &where));
    sb_init(&b, pool->arena);
    from_table(g, source_find_table(g->c->src, g->p->q->atoms[atom].table), &b);
    pool->failed |= b.failed;
    if (pool->failed || !r->n)
        return OK;
    pool->list.p[r->id].names = names;
    pool->list.p[r->id].where = where;
    pool->list.p[r->id].table = sb_view(&b);
    return OK;
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
    sb_cstr(g->b, from_table(g, t, g->b) ? " t WHERE true" : " WHERE true");
    TRY(all_conditions(g, atom));
    if (weighted && vars) {
        sb_cstr(g->b, " GROUP BY ");
        for (unsigned i = 1; i <= vset_count(vars); i++)
            sb_printf(g->b, "%s%u", i > 1 ? ", " : "", i);
    } else if (weighted) {
        sb_cstr(g->b, " HAVING count(*) > 0");
    }
    struct gen_rel *r = gen_end(g, plain && !weighted);
    r->ones = !weighted;
    r->bits = weighted ? gen_count_bits : 0;
    r->key = key;
    return plain && !weighted ? name_table(g, atom, r) : OK;
}

enum status gen_weight(struct gen *g)
{
    const struct cq *q = g->p->q;
    if (!g->p->weighs)
        return OK;
    unsigned v = vset_min(cq_weight_var(q));
    uint32_t atom = 0;
    struct sb number;
    for (size_t i = 0; i < g->p->n_atoms; i++)
        if (vset_has(atom_vars(q, g->p->atoms[i]), v))
            atom = g->p->atoms[i];
    const struct src_table *t =
        source_find_table(g->c->src, q->atoms[atom].table);
    sb_init(&number, g->pool->arena);
    TRY(sqlgen_var(&g->c->sql, atom, v, &number, g->err));
    gen_begin(g);
    sb_printf(g->b, "SELECT DISTINCT %.*s", PSTR(sb_view(&number)));
    gen_as(g, v);
    sb_cstr(g->b, ", ");
    sb_char(&number, 0);
    if (number.failed)
        return err_nomem(g->err);
    pushdown_write_clip(g->b, &q->weight, number.p);
    sb_cstr(g->b, " AS w FROM ");
    pushdown_put_table(t, g->b);
    sb_printf(g->b, " WHERE (%s) IS NOT NULL", number.p);
    struct gen_rel *r = gen_end(g, false);
    r->ones = false;
    r->key = vset_one(v);
    return OK;
}
