/*
 * Offering databases to the checker, and the witnesses that come out of the
 * theory directly: the pump for an unbounded query, and the glued structure
 * of the newness search.
 */
#include "bound/checker.h"
#include "bound/lower.h"

enum { GLUE_WORK = 300000, MAX_PUMP = 100000 };

/* --- offering ------------------------------------------------------------- */

static uint32_t width(const struct lower *l, uint32_t table)
{
    for (uint32_t i = 0; i < l->q->n_atoms; i++)
        if (l->q->atoms[i].table == table)
            return l->q->atoms[i].n_args;
    return 0;
}

static enum status row_values(struct lower *l, const struct db *d,
                              struct check_row *to, uint32_t r, struct err *err)
{
    const struct tab_atom *row = &d->rows.p[r];
    uint32_t n = width(l, row->table); /* without the hidden row id */
    struct value *v = NEWS(l->a, struct value, n);
    if (!v)
        return err_nomem(err);
    for (uint32_t j = 0; j < n; j++)
        v[j] = d->vals.p[row->el[j]];
    *to = (struct check_row){row->table, v, n};
    return OK;
}

static enum status write_row(struct lower *l, const struct check_row *row,
                             struct bound_row *out, struct err *err)
{
    *out = (struct bound_row){.table = row->table, .n_vals = row->n_vals};
    out->vals = NEWS(l->a, struct str, row->n_vals);
    if (!out->vals)
        return err_nomem(err);
    for (size_t i = 0; i < row->n_vals; i++) {
        const struct value *v = &row->vals[i];
        struct sb b;
        sb_init(&b, l->a);
        if (v->type == T_TEXT || v->type == T_UUID || v->type == T_DEC)
            sb_str(&b, v->s);
        else
            value_print(&b, v);
        if (b.failed)
            return err_nomem(err);
        out->vals[i] = sb_view(&b);
    }
    return OK;
}

static enum status write_witness(struct lower *l, const struct check_row *rows,
                                 size_t n, size_t b, const struct check *c,
                                 struct err *err)
{
    struct bound_witness *w = &l->witness;
    *w = (struct bound_witness){.before = c->before, .after = c->after};
    w->rows = NEWS(l->a, struct bound_row, n);
    if (!w->rows)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct bound_row *to = i == b ? &w->insert : &w->rows[w->n_rows++];
        TRY(write_row(l, &rows[i], to, err));
    }
    return OK;
}

enum status lower_offer(struct lower *l, const struct db *d, struct err *err)
{
    struct check c;
    size_t n = d->rows.n;
    struct check_row *rows = NEWS(l->a, struct check_row, n);
    if (!rows)
        return err_nomem(err);
    for (uint32_t r = 0; r < n; r++)
        TRY(row_values(l, d, &rows[r], r, err));
    TRY(checker_run(l->a, l->q, rows, n, d->b, l->check_steps, &c, err));
    l->check_steps -= c.steps;
    if (!c.holds || c.after <= c.before || c.after - c.before <= l->best)
        return OK;
    l->best = c.after - c.before;
    return write_witness(l, rows, n, d->b, &c, err);
}

/* --- the pump ------------------------------------------------------------- */

/* Everything that the marked elements determine, in the whole structure. */
static void close_elements(const struct tab *t, bool *in)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < t->n_atoms; i++)
            for (size_t j = 0; j < t->n_deps; j++) {
                const struct dep *p = &t->deps[j];
                const struct tab_atom *at = &t->atoms[i];
                bool all = p->table == at->table;
                for (uint32_t c = 0; all && c < p->n_x; c++)
                    all = in[at->el[p->x[c]]];
                for (uint32_t c = 0; all && c < p->n_y; c++) {
                    changed |= !in[at->el[p->y[c]]];
                    in[at->el[p->y[c]]] = true;
                }
            }
    }
}

/* Does the pump at atom i of t certify that no bound exists? */
static enum status pumps(struct lower *l, const struct tab *t, uint32_t i,
                         bool *in, bool *yes, struct err *err)
{
    const struct tab *root = l->up->t;
    *yes = false;
    for (uint32_t e = 0; e < t->n_el; e++)
        in[e] = t->flag[e] & EL_CONST;
    for (uint32_t j = 0; j < t->atoms[i].n; j++)
        in[t->atoms[i].el[j]] = true;
    close_elements(t, in);
    bool all = true;
    for (uint32_t k = 0; k < t->n_outs; k++)
        all &= in[t->outs[k]];
    if (all)
        return OK;
    /* no answer may survive: no match of the query in t without the atom */
    uint32_t *map = NEWS(l->a, uint32_t, root->n_el);
    if (!map)
        return err_nomem(err);
    for (uint32_t e = 0; e < root->n_el; e++)
        map[e] = root->flag[e] & EL_CONST ? e : NO_EL;
    for (uint32_t k = 0; k < root->n_outs; k++)
        map[root->outs[k]] = t->outs[k];
    enum hom h;
    TRY(tab_hom(l->a, root, t, i, l->work, map, NULL, &h, err));
    *yes = h == HOM_NO;
    return OK;
}

static enum status copy_element(struct lower *l, struct db *d, uint32_t e,
                                uint32_t *to, struct err *err)
{
    if (*to == NO_EL)
        TRY(db_fresh(d, &l->kinds, e, to, err));
    return OK;
}

static enum status pump_db(struct lower *l, const struct tab *t, uint32_t atom,
                           const bool *in, uint64_t n, struct db *d, bool *ok,
                           struct err *err)
{
    uint32_t *to = NEWS(l->a, uint32_t, t->n_el), row[1 + UINT8_MAX];
    *ok = to != NULL;
    if (!to)
        return err_nomem(err);
    for (uint32_t e = 0; e < t->n_el; e++)
        to[e] = t->flag[e] & EL_CONST ? e : NO_EL;
    for (uint64_t copy = 0; copy < n && *ok; copy++) {
        for (uint32_t e = 0; copy > 0 && e < t->n_el; e++)
            if (!in[e])
                to[e] = NO_EL;
        for (uint32_t i = 0; i < t->n_atoms && *ok; i++) {
            const struct tab_atom *at = &t->atoms[i];
            uint32_t r;
            *ok = at->n <= UINT8_MAX;
            for (uint32_t j = 0; *ok && j < at->n; j++) {
                TRY(copy_element(l, d, at->el[j], &to[at->el[j]], err));
                row[j] = to[at->el[j]];
                *ok = row[j] != NO_EL;
            }
            if (*ok)
                TRY(db_add(d, at->table, row, at->n, &r, err));
            if (*ok && i == atom)
                d->b = r;
        }
    }
    return OK;
}

static enum status pump_at(struct lower *l, const struct tab *t, uint64_t n,
                           bool *unbounded, struct err *err)
{
    bool *in = NEWS(l->a, bool, t->n_el);
    if (!in)
        return err_nomem(err);
    for (uint32_t i = 0; i < t->n_atoms && !*unbounded; i++) {
        struct db d;
        bool yes, ok;
        if (t->atoms[i].table != l->table)
            continue;
        TRY(pumps(l, t, i, in, &yes, err));
        if (!yes)
            continue;
        TRY(db_init(l->a, l->up->t, &d, err));
        TRY(pump_db(l, t, i, in, n, &d, &ok, err));
        if (ok)
            TRY(lower_offer(l, &d, err));
        *unbounded = ok && l->best >= n;
    }
    return OK;
}

static bool is_database(const struct tab *t)
{
    uint32_t rows[MAX_ATOMS + 1], n;
    return !tab_violation(t, rows, MAX_ATOMS + 1, &n);
}

enum status lower_pump(struct lower *l, uint64_t n, bool *unbounded,
                       struct err *err)
{
    const struct upper *u = l->up;
    *unbounded = false;
    /* With filters, or without the core, the argument does not hold. */
    if (tab_has_filters(u->t) || !u->complete_core)
        return OK;
    if (n == 0)
        n = 3;
    if (n > MAX_PUMP)
        n = MAX_PUMP;
    if (is_database(u->t))
        TRY(pump_at(l, u->t, n, unbounded, err));
    for (size_t i = 0; i < u->n_cases && !*unbounded; i++)
        if (is_database(u->cases[i]))
            TRY(pump_at(l, u->cases[i], n, unbounded, err));
    return OK;
}

/* --- the glued structure -------------------------------------------------- */

static enum status db_of_tab(struct lower *l, const struct glue *gl,
                             struct db *d, bool *ok, struct err *err)
{
    const struct tab *g = gl->g;
    uint32_t *to = NEWS(l->a, uint32_t, g->n_el), row[1 + UINT8_MAX];
    uint32_t base = l->q->n_consts, size = gl->phi->n_el - base;
    *ok = true;
    if (!to)
        return err_nomem(err);
    for (uint32_t e = 0; e < g->n_el; e++)
        to[e] = g->flag[e] & EL_CONST ? e : NO_EL;
    for (uint32_t i = 0; i < g->n_atoms && *ok; i++) {
        const struct tab_atom *at = &g->atoms[i];
        uint32_t r;
        *ok = at->n <= UINT8_MAX;
        for (uint32_t j = 0; *ok && j < at->n; j++) {
            uint32_t e = at->el[j];
            uint32_t like = e < base ? e : base + (e - base) % size;
            if (to[e] == NO_EL)
                TRY(db_fresh(d, &l->kinds, like, &to[e], err));
            row[j] = to[e];
            *ok = row[j] != NO_EL;
        }
        if (*ok)
            TRY(db_add(d, at->table, row, at->n, &r, err));
        if (*ok && i == gl->b)
            d->b = r;
    }
    return OK;
}

static enum status glue_set(struct lower *l, const uint32_t *atoms, uint32_t n,
                            struct work *work, struct err *err)
{
    struct glue gl;
    enum newness found;
    struct db d;
    bool ok;
    TRY(glue_make(l->a, l->up->t, atoms, n, &gl, err));
    TRY(newness_search(l->a, &gl, work, &found, err));
    if (found != NEW_FOUND)
        return OK;
    TRY(db_init(l->a, l->up->t, &d, err));
    TRY(db_of_tab(l, &gl, &d, &ok, err));
    return ok ? lower_offer(l, &d, err) : OK;
}

enum status lower_glue(struct lower *l, struct err *err)
{
    const struct tab *t = l->up->t;
    uint32_t all[GLUE_MAX], n = 0;
    struct work work = {.left = GLUE_WORK};
    if (tab_has_filters(t))
        return OK;
    for (uint32_t i = 0; i < t->n_atoms && n < GLUE_MAX; i++)
        if (t->atoms[i].table == l->table)
            all[n++] = i;
    for (uint32_t size = n; size > 0; size--)
        for (unsigned m = 1; m < 1u << n && size > l->best; m++) {
            uint32_t pick[GLUE_MAX], k = 0;
            if (aset_count(m) != size || work.exhausted)
                continue;
            for (uint32_t i = 0; i < n; i++)
                if (m >> i & 1)
                    pick[k++] = all[i];
            TRY(glue_set(l, pick, k, &work, err));
            if (l->best >= l->target)
                return OK;
        }
    return OK;
}
