/* The shape of a query: variable sets, connectivity, acyclicity, checks. */
#include "cq/cq.h"

vset cq_free(const struct cq *q)
{
    vset s = 0;
    for (uint32_t i = 0; i < q->n_outs; i++)
        if (q->outs[i].kind == TERM_VAR)
            s |= vset_one(q->outs[i].id);
    return s;
}

enum type cq_column_type(const struct cq *q, uint32_t var)
{
    for (uint32_t a = 0; a < q->n_atoms; a++)
        for (uint32_t i = 0; i < q->atoms[a].n_args; i++)
            if (q->atoms[a].args[i].kind == TERM_VAR &&
                q->atoms[a].args[i].id == var)
                return q->schema->tables.p[q->atoms[a].table].cols[i].type;
    return q->vars[var].type;
}

vset atom_vars(const struct cq *q, uint32_t atom)
{
    const struct atom *a = &q->atoms[atom];
    vset s = a->rowid >= 0 ? vset_one((unsigned)a->rowid) : 0;
    for (uint32_t i = 0; i < a->n_args; i++)
        if (a->args[i].kind == TERM_VAR)
            s |= vset_one(a->args[i].id);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == atom)
            s |= vset_one(q->calcs[i].var);
    return s;
}

vset cq_vars_of(const struct cq *q, aset atoms)
{
    vset s = 0;
    ASET_EACH (a, atoms) {
        s |= atom_vars(q, a);
    }
    return s;
}

bool cq_is_ordered(const struct cq *q, uint32_t v)
{
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].op != CMP_NE && vset_has(cmp_vars(&q->cmps[i]), v))
            return true;
    return false;
}

vset cq_filter_vars(const struct cq *q)
{
    vset s = 0;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        s |= cmp_vars(&q->cmps[i]);
    for (uint32_t i = 0; i < q->n_preds; i++)
        s |= expr_vars(q->preds[i].e);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        s |= expr_vars(q->calcs[i].e) | vset_one(q->calcs[i].var);
    return s;
}

aset cq_atoms_of_table(const struct cq *q, uint32_t table)
{
    aset s = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table)
            s |= aset_one(i);
    return s;
}

aset cq_private_atoms(const struct cq *q)
{
    aset s = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (table_is_private(&q->schema->tables.p[q->atoms[i].table]))
            s |= aset_one(i);
    return s;
}

/* Never NULL in a match? */
static bool arg_nonnull(const struct cq *q, const struct atom *a, uint32_t col)
{
    const struct table *t = &q->schema->tables.p[a->table];
    struct term x = a->args[col];
    return t->cols[col].not_null || x.kind == TERM_CONST ||
           (x.kind == TERM_VAR && cq_var_nonnull(q, x.id));
}

/* Do the arguments that are asked for identify the row? A key does where it
 * has no NULL. */
static bool row_is_identified(const struct cq *q, const struct atom *a)
{
    const struct table *t = &q->schema->tables.p[a->table];
    if (a->rowid >= 0)
        return true;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        bool all = d->is_key && d->k == 1;
        for (size_t k = 0; all && k < d->n_x; k++)
            all =
                a->args[d->x[k]].kind != TERM_ANY && arg_nonnull(q, a, d->x[k]);
        if (all)
            return true;
    }
    return false;
}

bool cq_is_full(const struct cq *q)
{
    if (cq_free(q) != vset_first_n(q->n_vars))
        return false;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        bool any = false;
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
            any |= q->atoms[i].args[k].kind == TERM_ANY;
        if (any && !row_is_identified(q, &q->atoms[i]))
            return false;
    }
    return true;
}

bool cq_var_nonnull(const struct cq *q, uint32_t var)
{
    if (q->vars[var].nonnull || q->vars[var].is_rowid)
        return true;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct atom *a = &q->atoms[i];
        const struct table *t = &q->schema->tables.p[a->table];
        for (uint32_t k = 0; k < a->n_args; k++)
            if (a->args[k].kind == TERM_VAR && a->args[k].id == var &&
                t->cols[k].not_null)
                return true;
    }
    return false;
}

bool cq_is_connected(const struct cq *q)
{
    aset seen = q->n_atoms ? 1 : 0, all = aset_first_n(q->n_atoms);
    vset reach = q->n_atoms ? atom_vars(q, 0) : 0;
    for (bool grew = true; grew;) {
        grew = false;
        ASET_EACH (a, all & ~seen) {
            if (!(atom_vars(q, a) & reach))
                continue;
            reach |= atom_vars(q, a);
            seen |= aset_one(a);
            grew = true;
        }
    }
    return seen == all;
}

/* GYO: drop variables of one edge and edges inside another, until stuck. */
bool cq_is_acyclic(const struct cq *q)
{
    vset edge[MAX_ATOMS];
    aset alive = aset_first_n(q->n_atoms);
    for (uint32_t i = 0; i < q->n_atoms; i++)
        edge[i] = atom_vars(q, i);
    for (bool changed = true; changed;) {
        vset once = 0, twice = 0;
        changed = false;
        ASET_EACH (a, alive) {
            twice |= once & edge[a];
            once |= edge[a];
        }
        ASET_EACH (b, alive) {
            changed |= (edge[b] & ~twice) != 0;
            edge[b] &= twice;
        }
        ASET_EACH (c, alive) {
            ASET_EACH (d, alive & ~aset_one(c)) {
                if (!aset_has(alive, c) || !aset_has(alive, d) ||
                    !vset_sub(edge[c], edge[d]))
                    continue;
                alive &= ~aset_one(c);
                changed = true;
            }
        }
    }
    return aset_count(alive) <= 1;
}

static const char *check_terms(const struct cq *q, const struct term *t,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].kind == TERM_VAR && t[i].id >= q->n_vars)
            return "a term names no variable";
        if (t[i].kind == TERM_CONST && t[i].id >= q->n_consts)
            return "a term names no constant";
    }
    return NULL;
}

static const char *check_rowids(const struct cq *q)
{
    for (uint32_t v = 0; v < q->n_vars; v++) {
        uint32_t uses = 0;
        for (uint32_t i = 0; i < q->n_atoms; i++) {
            const struct atom *a = &q->atoms[i];
            uses += a->rowid == (int32_t)v;
            for (uint32_t k = 0; q->vars[v].is_rowid && k < a->n_args; k++)
                uses += a->args[k].kind == TERM_VAR && a->args[k].id == v;
        }
        if (q->vars[v].is_rowid ? uses != 1 : uses != 0)
            return "a row id does not occur exactly once";
    }
    return NULL;
}

const char *cq_check(const struct cq *q)
{
    const char *bad = check_terms(q, q->outs, q->n_outs);
    if (q->n_vars > MAX_VARS || q->n_atoms > MAX_ATOMS)
        return "too many variables or atoms";
    for (uint32_t i = 0; !bad && i < q->n_atoms; i++)
        bad = check_terms(q, q->atoms[i].args, q->atoms[i].n_args);
    for (uint32_t i = 0; !bad && i < q->n_cmps; i++) {
        struct term t[2] = {q->cmps[i].l, q->cmps[i].r};
        bad = check_terms(q, t, 2);
        if (t[0].kind != TERM_VAR && t[1].kind != TERM_VAR)
            bad = "a comparison has no variable";
    }
    if (bad)
        return bad;
    if (q->weight.on &&
        (q->weight.out >= q->n_outs || (q->weight.lo < 0 && q->weight.hi > 0)))
        return "a weight is no output, or of both signs";
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (!vset_sub(expr_vars(q->preds[i].e), atom_vars(q, q->preds[i].atom)))
            return "a predicate leaves its atom";
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (!vset_sub(expr_vars(q->calcs[i].e), atom_vars(q, q->calcs[i].atom)))
            return "a computed variable leaves its atom";
    return check_rowids(q);
}
