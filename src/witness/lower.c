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
    return 0;
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
        if (v->type == T_TEXT || v->type == T_UUID || v->type == T_DEC)
            sb_str(&b, v->s);
        else
            plain_text(&b, v);
        if (b.failed)
            return err_nomem(err);
        out->vals[i] = sb_view(&b);
    }
    return OK;
}

static enum status write_witness(struct witness_search *l,
                                 const struct checker_row *rows, size_t n,
                                 size_t b, const struct checker_result *c,
                                 struct err *err)
{
    struct witness *w = &l->witness;
    *w = (struct witness){.before = c->before, .after = c->after};
    w->rows = NEWS(l->a, struct witness_row, n);
    if (!w->rows)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct witness_row *to = i == b ? &w->insert : &w->rows[w->n_rows++];
        TRY(write_row(l, &rows[i], to, err));
    }
    return OK;
}

enum status witness_offer(struct witness_search *l, const struct witness_db *d,
                          struct err *err)
{
    struct checker_result c;
    size_t n = d->rows.n;
    struct checker_row *rows = NEWS(l->a, struct checker_row, n);
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

enum status witness_canonical(struct witness_search *l, struct err *err)
{
    const struct tab *t = l->t;
    for (int tries = 0; tries < CANONICAL_TRIES; tries++)
        for (uint32_t i = 0; i < t->n_atoms && l->best == 0; i++) {
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
