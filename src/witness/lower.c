/*
 * Offering databases to the checker, and the witness that comes out of the
 * newness search: the glued structure itself.
 */
#include "witness/checker.h"
#include "witness/lower.h"

enum { GLUE_WORK = 300000, CANONICAL_TRIES = 400 };

/* --- offering ------------------------------------------------------------- */

static uint32_t width(const struct witness_search *l, uint32_t table)
{
    for (uint32_t i = 0; i < l->q->n_atoms; i++)
        if (l->q->atoms[i].table == table)
            return l->q->atoms[i].n_args;
    return (uint32_t)l->q->schema->tables.p[table].n_cols;
}

static enum status row_values(struct witness_search *l,
                              const struct witness_db *d,
                              struct checker_row *to, uint32_t r,
                              struct err *err)
{
    const struct tab_atom *row = &d->rows.p[r];
    uint32_t n = width(l, row->table); /* without the hidden row id */
    struct value *v = NEWS(l->a, struct value, n);
    if (!v)
        return err_nomem(err);
    for (uint32_t j = 0; j < n; j++)
        v[j] = d->vals.p[row->el[j]];
    *to = (struct checker_row){row->table, v, n};
    return OK;
}

/* The value without the type and quotes that a query would need. */
static void plain_text(struct sb *b, const struct value *v)
{
    struct sb full;
    size_t from = 0, to;
    sb_init(&full, b->arena);
    value_print(&full, v);
    if (full.failed) {
        b->failed = true;
        return;
    }
    for (to = full.n; from < full.n && full.p[from] != '\'';)
        from++;
    if (from < full.n && full.p[full.n - 1] == '\'') {
        from++;
        to--;
    } else {
        from = 0;
    }
    sb_add(b, full.p + from, to - from);
}

static enum status write_row(struct witness_search *l,
                             const struct checker_row *row,
                             struct witness_row *out, struct err *err)
{
    *out = (struct witness_row){.table = row->table, .n_vals = row->n_vals};
    out->vals = NEWS(l->a, struct str, row->n_vals);
    if (!out->vals)
        return err_nomem(err);
    for (size_t i = 0; i < row->n_vals; i++) {
        const struct value *v = &row->vals[i];
        struct sb b;
        sb_init(&b, l->a);
        if (v->is_null)
            continue;
        if (v->type == T_TEXT || v->type == T_UUID || v->type == T_DEC)
            sb_str(&b, v->s);
        else
            plain_text(&b, v);
        if (b.failed)
            return err_nomem(err);
        out->vals[i] = b.n ? sb_view(&b) : STR("");
    }
    return OK;
}

static enum status write_witness(struct witness_search *l,
                                 const struct checker_row *rows,
                                 const struct witness_db *d,
                                 const struct checker_result *c,
                                 struct err *err)
{
    struct witness *w = &l->witness;
    size_t n = d->rows.n;
    *w = (struct witness){
        .before = c->before, .after = c->after, .replaces = d->has_old};
    w->rows = NEWS(l->a, struct witness_row, n);
    if (!w->rows)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct witness_row *to = i == d->b ? &w->insert
                                 : d->has_old && i == d->old
                                     ? &w->replaced
                                     : &w->rows[w->n_rows++];
        TRY(write_row(l, &rows[i], to, err));
    }
    return OK;
}

static enum status offer(struct witness_search *l, const struct witness_db *d,
                         struct err *err)
{
    struct checker_result c;
    size_t n = d->rows.n;
    struct checker_row *rows = NEWS(l->a, struct checker_row, n);
    if (!rows)
        return err_nomem(err);
    for (uint32_t r = 0; r < n; r++)
        TRY(row_values(l, d, &rows[r], r, err));
    TRY(l->tree
            ? checker_run_tree(l->a, l->tree, l->adm, rows, n, d->b,
                               d->has_old ? d->old : n, l->check_steps, &c, err)
            : checker_run(l->a, l->q, l->adm, rows, n, d->b,
                          d->has_old ? d->old : n, l->check_steps, &c, err));
    l->check_steps -= c.steps;
    u128 change = c.after > c.before   ? c.after - c.before
                  : l->tree && c.holds ? c.before - c.after
                                       : 0;
    if (!c.holds || change <= l->best)
        return OK;
    l->best = change;
    return write_witness(l, rows, d, &c, err);
}

enum status witness_offer(struct witness_search *l, const struct witness_db *d,
                          struct err *err)
{
    struct witness_db own = {.a = l->a, .phi = d->phi, .b = d->b};
    bool ok = true;
    if (!l->adm)
        return offer(l, d, err);
    for (size_t i = 0; i < d->vals.n && ok; i++)
        ok = VEC_PUSH(l->a, &own.vals, d->vals.p[i]);
    for (size_t i = 0; i < d->rows.n && ok; i++)
        ok = VEC_PUSH(l->a, &own.rows, d->rows.p[i]);
    if (!ok)
        return err_nomem(err);
    TRY(witness_admit(l, &own, &ok, err));
    return ok ? offer(l, &own, err) : OK;
}

/* --- the glued structure -------------------------------------------------- */

static enum status db_of_tab(struct witness_search *l, const struct glue *gl,
                             struct witness_db *d, bool *ok, struct err *err)
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
                TRY(witness_db_fresh(d, &l->kinds, like, &to[e], err));
            row[j] = to[e];
            *ok = row[j] != NO_EL;
        }
        if (*ok)
            TRY(witness_db_add(d, at->table, row, at->n, &r, err));
        if (*ok && i == gl->b)
            d->b = r;
    }
    return OK;
}

/* A try builds, prints and compares every cell of the query. */
static bool try_paid(struct witness_search *l)
{
    uint64_t price = 0;
    for (uint32_t i = 0; i < l->t->n_atoms; i++)
        price += 2 + l->t->atoms[i].n;
    if (l->canonical->left < price) {
        l->canonical->left = 0;
        return false;
    }
    l->canonical->left -= price;
    return true;
}

/* Any change will do; of a sum the weights are tried as well. */
static bool wants_more(const struct witness_search *l)
{
    return l->best == 0 || (l->q->weight.on && l->best < l->target);
}

enum status witness_canonical(struct witness_search *l, struct err *err)
{
    const struct tab *t = l->t;
    for (int tries = 0; tries < CANONICAL_TRIES; tries++)
        for (uint32_t i = 0; i < t->n_atoms && wants_more(l); i++) {
            struct glue gl;
            struct witness_db d;
            bool ok;
            if (t->atoms[i].table != l->table)
                continue;
            if (!try_paid(l))
                return OK;
            TRY(glue_make(l->a, t, &i, 1, &gl, err));
            if (gl.g->unsat)
                return OK;
            TRY(witness_db_init(l->a, t, &d, err));
            TRY(db_of_tab(l, &gl, &d, &ok, err));
            if (ok)
                TRY(witness_offer(l, &d, err));
        }
    return OK;
}

/* --- copies of a part ----------------------------------------------------- */

/* Values of the query's elements; again: of those in `own` alone new ones. */
static enum status copy_values(struct witness_search *l, struct witness_db *d,
                               const bool *alone, bool again, uint32_t *to,
                               bool *ok, struct err *err)
{
    const struct tab *t = l->t;
    for (uint32_t e = 0; e < t->n_el && *ok; e++) {
        bool is_const = t->flag[e] & EL_CONST;
        if (again && (is_const || !alone[e]))
            continue;
        to[e] = e;
        if (is_const || tab_find(t, e) != e)
            continue;
        TRY(witness_db_fresh(d, &l->kinds, e, &to[e], err));
        *ok = to[e] != NO_EL;
    }
    return OK;
}

static enum status copy_rows(struct witness_search *l, struct witness_db *d,
                             aset atoms, const uint32_t *to, uint32_t b,
                             bool *ok, struct err *err)
{
    ASET_EACH (i, atoms) {
        const struct tab_atom *at = &l->t->atoms[i];
        uint32_t row[1 + UINT8_MAX], r;
        *ok = *ok && at->n <= UINT8_MAX;
        for (uint32_t j = 0; *ok && j < at->n; j++)
            row[j] = to[at->el[j]];
        if (*ok)
            TRY(witness_db_add(d, at->table, row, at->n, &r, err));
        if (*ok && i == b)
            d->b = r;
    }
    return OK;
}

static enum status mark_alone(struct witness_search *l, aset own, bool **out,
                              struct err *err)
{
    const struct tab *t = l->t;
    *out = NEWS(l->a, bool, t->n_el + 1);
    if (!*out)
        return err_nomem(err);
    ASET_EACH (i, own)
        for (uint32_t j = 0; j < t->atoms[i].n; j++)
            (*out)[t->atoms[i].el[j]] = true;
    ASET_EACH (i, aset_first_n(t->n_atoms) & ~own)
        for (uint32_t j = 0; j < t->atoms[i].n; j++)
            (*out)[t->atoms[i].el[j]] = false;
    for (uint32_t i = 0; i < t->n_outs; i++)
        (*out)[t->outs[i]] = false;
    return OK;
}

enum status witness_copies(struct witness_search *l, aset own, uint32_t copies,
                           struct err *err)
{
    bool *alone, ok = true;
    uint32_t *to = NEWS(l->a, uint32_t, l->t->n_el + 1);
    if (!to)
        return err_nomem(err);
    TRY(mark_alone(l, own, &alone, err));
    ASET_EACH (b, own) {
        struct witness_db d;
        if (l->t->atoms[b].table != l->table || !try_paid(l))
            continue;
        TRY(witness_db_init(l->a, l->t, &d, err));
        ok = true;
        TRY(copy_values(l, &d, alone, false, to, &ok, err));
        TRY(copy_rows(l, &d, aset_first_n(l->t->n_atoms), to, b, &ok, err));
        for (uint32_t c = 0; c < copies && ok; c++) {
            TRY(copy_values(l, &d, alone, true, to, &ok, err));
            TRY(copy_rows(l, &d, own, to, NO_ATOM, &ok, err));
        }
        if (ok)
            TRY(witness_offer(l, &d, err));
    }
    return OK;
}

static enum status glue_set(struct witness_search *l, const uint32_t *atoms,
                            uint32_t n, struct work *work, struct err *err)
{
    struct glue gl;
    enum newness found;
    struct witness_db d;
    bool ok;
    TRY(glue_make(l->a, l->t, atoms, n, &gl, err));
    TRY(newness_search(l->a, &gl, work, &found, err));
    if (found != NEW_FOUND)
        return OK;
    TRY(witness_db_init(l->a, l->t, &d, err));
    TRY(db_of_tab(l, &gl, &d, &ok, err));
    return ok ? witness_offer(l, &d, err) : OK;
}

enum status witness_glue(struct witness_search *l, struct err *err)
{
    const struct tab *t = l->t;
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
