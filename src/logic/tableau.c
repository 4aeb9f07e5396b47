/*
 * Reading a query into a structure (tableau.h) and writing it back.
 * Linear in the query, apart from the search for unused names.
 */
#include <string.h>

#include "logic/tableau.h"

static bool has_rowid(const struct cq *q, uint32_t table)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table && q->atoms[i].rowid >= 0)
            return true;
    return false;
}

static uint32_t table_width(const struct cq *q, uint32_t table)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table)
            return q->atoms[i].n_args;
    return 0;
}

static bool table_used(const struct cq *q, uint32_t table)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table)
            return true;
    return false;
}

static bool cols_inside(const uint32_t *cols, size_t n, uint32_t width)
{
    for (size_t i = 0; i < n; i++)
        if (cols[i] >= width)
            return false;
    return true;
}

/* --- constraints ---------------------------------------------------------- */

static enum status add_degree(struct arena *a, struct tab *t, uint32_t table,
                              const struct degree *d, struct err *err)
{
    uint32_t width = table_width(t->q, table);
    if (!cols_inside(d->x, d->n_x, width) || !cols_inside(d->y, d->n_y, width))
        return OK;
    /* A dependency between values says nothing about duplicates: only what
     * bounds rows reaches the row id. */
    bool rows = degree_counts_rows(d) && has_rowid(t->q, table);
    struct dep *p = &t->deps[t->n_deps];
    uint32_t n_y = (uint32_t)d->n_y + (rows ? 1 : 0);
    *p = (struct dep){.table = table, .n_x = (uint32_t)d->n_x, .n_y = n_y};
    p->x = NEWS(a, uint32_t, d->n_x);
    p->y = NEWS(a, uint32_t, n_y);
    if (!p->x || !p->y)
        return err_nomem(err);
    for (size_t i = 0; i < d->n_x; i++)
        p->x[i] = d->x[i];
    for (size_t i = 0; i < d->n_y; i++)
        p->y[i] = d->y[i];
    if (rows)
        p->y[d->n_y] = width;
    p->k = d->k;
    p->src = d;
    t->n_deps++;
    return OK;
}

static enum status add_rowid_dep(struct arena *a, struct tab *t, uint32_t table,
                                 struct err *err)
{
    uint32_t width = table_width(t->q, table);
    struct dep *p = &t->deps[t->n_deps];
    *p = (struct dep){.table = table, .n_x = 1, .n_y = width, .k = 1};
    p->x = NEWS(a, uint32_t, 1);
    p->y = NEWS(a, uint32_t, width);
    if (!p->x || !p->y)
        return err_nomem(err);
    p->x[0] = width;
    for (uint32_t i = 0; i < width; i++)
        p->y[i] = i;
    t->n_deps++;
    return OK;
}

/* What was read from public tables serves questions about a few of them: with
 * many that share nothing the search for a bound has too many ways to go.
 * Leaving it out is sound, as if nobody had measured. */
static bool has_many_measured(const struct cq *q)
{
    enum { FEW = 8 };
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct table *t = &q->schema->tables.p[q->atoms[i].table];
        bool any = false;
        for (size_t j = 0; j < t->degrees.n; j++)
            any |= t->degrees.p[j].measured;
        n += any;
    }
    return n > FEW;
}

static enum status read_deps(struct arena *a, struct tab *t, struct err *err)
{
    const struct schema *s = t->q->schema;
    bool many = has_many_measured(t->q);
    size_t n = s->tables.n;
    for (size_t i = 0; i < s->tables.n; i++)
        n += s->tables.p[i].degrees.n;
    t->deps = NEWS(a, struct dep, n);
    if (!t->deps)
        return err_nomem(err);
    for (size_t i = 0; i < s->tables.n; i++) {
        const struct table *tb = &s->tables.p[i];
        if (!table_used(t->q, (uint32_t)i))
            continue;
        for (size_t j = 0; j < tb->degrees.n; j++)
            if (!many || !tb->degrees.p[j].measured)
                TRY(add_degree(a, t, (uint32_t)i, &tb->degrees.p[j], err));
        if (has_rowid(t->q, (uint32_t)i))
            TRY(add_rowid_dep(a, t, (uint32_t)i, err));
    }
    return OK;
}

/* --- cq to structure ------------------------------------------------------ */

static uint32_t new_el(struct tab *t, uint8_t flag, int32_t var)
{
    uint32_t e = t->n_el++;
    t->rep[e] = e;
    t->flag[e] = flag;
    t->var[e] = var;
    return e;
}

static uint32_t term_el(const struct cq *q, struct term term)
{
    return term.kind == TERM_CONST ? term.id : q->n_consts + term.id;
}

static enum status read_elements(struct arena *a, struct tab *t,
                                 struct err *err)
{
    const struct cq *q = t->q;
    size_t cap = (size_t)q->n_consts + q->n_vars;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        cap += q->atoms[i].n_args + 1;
    t->cap_el = (uint32_t)cap;
    t->rep = NEWS(a, uint32_t, cap);
    t->flag = NEWS(a, uint8_t, cap);
    t->var = NEWS(a, int32_t, cap);
    if (!t->rep || !t->flag || !t->var)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_consts; i++)
        new_el(t, EL_CONST | EL_NONNULL, -1);
    vset out = cq_free(q), filter = cq_filter_vars(q);
    for (uint32_t v = 0; v < q->n_vars; v++) {
        unsigned f = vset_has(out, v) ? EL_FREE : 0;
        if (vset_has(filter, v))
            f |= EL_FIXED;
        if (cq_var_nonnull(q, v))
            f |= EL_NONNULL;
        if (q->vars[v].is_rowid)
            f |= EL_ROWID | EL_NONNULL;
        new_el(t, (uint8_t)f, (int32_t)v);
    }
    return OK;
}

static bool column_not_null(const struct cq *q, uint32_t table, uint32_t col)
{
    const struct table *tb = &q->schema->tables.p[table];
    return col < tb->n_cols && tb->cols[col].not_null;
}

static enum status read_atom(struct arena *a, struct tab *t, uint32_t i,
                             struct err *err)
{
    const struct cq *q = t->q;
    const struct atom *at = &q->atoms[i];
    bool bag = has_rowid(q, at->table);
    struct tab_atom *to = &t->atoms[i];
    *to =
        (struct tab_atom){.table = at->table, .n = at->n_args + (bag ? 1 : 0)};
    to->el = NEWS(a, uint32_t, to->n);
    if (!to->el)
        return err_nomem(err);
    for (uint32_t j = 0; j < at->n_args; j++) {
        uint8_t f = column_not_null(q, at->table, j) ? EL_NONNULL : 0;
        to->el[j] = at->args[j].kind == TERM_ANY ? new_el(t, f, -1)
                                                 : term_el(q, at->args[j]);
    }
    if (bag)
        to->el[at->n_args] = at->rowid >= 0 ? q->n_consts + (uint32_t)at->rowid
                                            : new_el(t, EL_NONNULL, -1);
    t->of_atom[i] = i;
    return OK;
}

static enum status read_filters(struct arena *a, struct tab *t, struct err *err)
{
    const struct cq *q = t->q;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        t->cmps[i] = (struct tab_cmp){.op = q->cmps[i].op,
                                      .l = term_el(q, q->cmps[i].l),
                                      .r = term_el(q, q->cmps[i].r)};
    t->n_cmps = q->n_cmps;
    for (uint32_t i = 0; i < q->n_calcs; i++) {
        struct tab_calc *c = &t->calcs[i];
        vset in = expr_vars(q->calcs[i].e);
        c->in = NEWS(a, uint32_t, vset_count(in));
        if (!c->in)
            return err_nomem(err);
        VSET_EACH (v, in) {
            c->in[c->n_in++] = q->n_consts + v;
        }
        c->out = q->n_consts + q->calcs[i].var;
        t->flag[c->out] |= EL_CALC | EL_FIXED;
    }
    t->n_calcs = q->n_calcs;
    return OK;
}

enum status tab_of_cq(struct arena *a, const struct cq *q, struct tab **out,
                      struct err *err)
{
    struct tab *t = NEW(a, struct tab);
    if (!t)
        return err_nomem(err);
    t->q = q;
    t->unsat = q->unsat;
    t->atoms = NEWS(a, struct tab_atom, q->n_atoms);
    t->of_atom = NEWS(a, uint32_t, q->n_atoms);
    t->cmps = NEWS(a, struct tab_cmp, q->n_cmps);
    t->calcs = NEWS(a, struct tab_calc, q->n_calcs);
    t->outs = NEWS(a, uint32_t, q->n_outs);
    if (!t->atoms || !t->of_atom || !t->cmps || !t->calcs || !t->outs)
        return err_nomem(err);
    TRY(read_deps(a, t, err));
    TRY(read_elements(a, t, err));
    for (uint32_t i = 0; i < q->n_atoms; i++)
        TRY(read_atom(a, t, i, err));
    t->n_atoms = t->n_of = q->n_atoms;
    TRY(read_filters(a, t, err));
    for (uint32_t i = 0; i < q->n_outs; i++)
        t->outs[i] = term_el(q, q->outs[i]);
    t->n_outs = q->n_outs;
    *out = t;
    return OK;
}

static void *dup(struct arena *a, const void *p, size_t n, size_t size)
{
    void *to = arena_array(a, n, size);
    if (to && n)
        memcpy(to, p, n * size);
    return to;
}

enum status tab_copy(struct arena *a, const struct tab *t, struct tab **out,
                     struct err *err)
{
    struct tab *c = NEW(a, struct tab);
    if (!c)
        return err_nomem(err);
    *c = *t;
    c->is_core = false;
    c->cap_el = t->n_el;
    c->rep = dup(a, t->rep, t->n_el, sizeof *t->rep);
    c->flag = dup(a, t->flag, t->n_el, sizeof *t->flag);
    c->var = dup(a, t->var, t->n_el, sizeof *t->var);
    c->atoms = dup(a, t->atoms, t->n_atoms, sizeof *t->atoms);
    c->cmps = dup(a, t->cmps, t->n_cmps, sizeof *t->cmps);
    c->calcs = dup(a, t->calcs, t->n_calcs, sizeof *t->calcs);
    c->outs = dup(a, t->outs, t->n_outs, sizeof *t->outs);
    c->of_atom = dup(a, t->of_atom, t->n_of, sizeof *t->of_atom);
    if (!c->rep || !c->flag || !c->var || !c->atoms || !c->cmps || !c->calcs ||
        !c->outs || !c->of_atom)
        return err_nomem(err);
    for (uint32_t i = 0; i < c->n_atoms; i++)
        if (!(c->atoms[i].el =
                  dup(a, t->atoms[i].el, t->atoms[i].n, sizeof(uint32_t))))
            return err_nomem(err);
    for (uint32_t i = 0; i < c->n_calcs; i++)
        if (!(c->calcs[i].in =
                  dup(a, t->calcs[i].in, t->calcs[i].n_in, sizeof(uint32_t))))
            return err_nomem(err);
    *out = c;
    return OK;
}

bool tab_dep_applies(const struct tab *t, const struct dep *d,
                     const struct tab_atom *at)
{
    if (d->table != at->table)
        return false;
    for (uint32_t i = 0; i < d->n_x; i++)
        if (!(t->flag[at->el[d->x[i]]] & EL_NONNULL))
            return false;
    return true;
}

void tab_close(const struct tab *t, u128 max_k, bool *in)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < t->n_atoms; i++)
            for (size_t j = 0; j < t->n_deps; j++) {
                const struct dep *p = &t->deps[j];
                const struct tab_atom *at = &t->atoms[i];
                bool all = p->table == at->table && p->k <= max_k;
                for (uint32_t c = 0; all && c < p->n_x; c++)
                    all = in[at->el[p->x[c]]];
                for (uint32_t c = 0; all && c < p->n_y; c++) {
                    changed |= !in[at->el[p->y[c]]];
                    in[at->el[p->y[c]]] = true;
                }
            }
    }
}

bool tab_has_filters(const struct tab *t)
{
    return t->n_cmps > 0 || t->n_calcs > 0 || t->q->n_preds > 0;
}

bool tab_private_atom(const struct tab *t, uint32_t atom)
{
    return table_is_private(&t->q->schema->tables.p[t->atoms[atom].table]);
}

static bool same_cells(const struct tab_atom *p, const struct tab_atom *q,
                       const uint32_t *cols, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (p->el[cols[i]] != q->el[cols[i]])
            return false;
    return true;
}

static uint32_t distinct_rows(const struct tab *t, const struct dep *d,
                              uint32_t first, uint32_t *rows, uint32_t max)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < t->n_atoms && n < max; i++) {
        const struct tab_atom *p = &t->atoms[i];
        if (p->table != d->table ||
            !same_cells(p, &t->atoms[first], d->x, d->n_x))
            continue;
        bool repeat = false;
        for (uint32_t j = 0; j < n; j++)
            repeat |= same_cells(p, &t->atoms[rows[j]], d->y, d->n_y);
        if (!repeat)
            rows[n++] = i;
    }
    return n;
}

const struct dep *tab_violation(const struct tab *t, uint32_t *rows,
                                uint32_t max_rows, uint32_t *n_rows)
{
    for (size_t i = 0; i < t->n_deps; i++) {
        const struct dep *d = &t->deps[i];
        for (uint32_t j = 0; d->k < max_rows && j < t->n_atoms; j++) {
            if (!tab_dep_applies(t, d, &t->atoms[j]))
                continue;
            *n_rows = distinct_rows(t, d, j, rows, (uint32_t)d->k + 1);
            if (*n_rows > d->k)
                return d;
        }
    }
    return NULL;
}
