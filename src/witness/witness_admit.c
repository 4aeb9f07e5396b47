/*
 * Proposals that the declared schema admits. First the rows that foreign keys
 * ask for are added, with NULL in what refers further where that is allowed;
 * then values that do not fit are exchanged, everywhere they occur, by others
 * near the constants of the CHECKs. Only proposals: the checker decides.
 *
 * A row that others refer to cannot be inserted after them; it can take the
 * place of one to which they refer as well. That is a change of which the bound
 * speaks too, for queries without negation (bound's PROOF.md, Claim 5).
 */
#include <stdio.h>
#include <string.h>

#include "witness/checker.h"
#include "witness/lower.h"

enum { CHECK_PRICE = 100, LOOKS_PER_STEP = 8, SHARE = 8 };
enum { FIT_ROUNDS = 4, FIT_TRIES = 60, NEW_TRIES = 40, MORE_ROWS = 4000 };

struct admit {
    struct witness_search *l;
    struct witness_db *d;
    const struct schema *s;
    uint64_t left;  /* a large one leaves work for the others */
    uint64_t next;  /* of values made up */
    bool is_needed; /* the row that changes, by these columns of it */
    bool needed[1 + UINT8_MAX];
    bool ok;
};

/* --- rows that are referred to ------------------------------------------- */

/* False: the work has ended, and with it the proposal. */
static bool pay(struct admit *x, uint64_t price)
{
    x->ok &= x->left >= price;
    price = x->left < price ? x->left : price;
    x->left -= price;
    x->l->admit_work -= price;
    return x->ok;
}

static const struct table *table_at(const struct admit *x, uint32_t table)
{
    return &x->s->tables.p[table];
}

static bool cell_is_null(const struct admit *x, uint32_t r, uint32_t col)
{
    return x->d->vals.p[x->d->rows.p[r].el[col]].is_null;
}

static bool cells_equal(const struct admit *x, uint32_t e, uint32_t f)
{
    return e == f || value_eq(&x->d->vals.p[e], &x->d->vals.p[f]);
}

static bool refers(const struct admit *x, uint32_t r,
                   const struct foreign_key *fk, uint32_t to, uint32_t p)
{
    const struct tab_atom *row = &x->d->rows.p[p];
    if (row->table != to)
        return false;
    for (size_t i = 0; i < fk->n_cols; i++)
        if (!cells_equal(x, x->d->rows.p[r].el[fk->cols[i]],
                         row->el[fk->ref_cols[i]]))
            return false;
    return true;
}

/* With the hidden row id that a bag of the query has. */
static uint32_t row_width(const struct admit *x, uint32_t table)
{
    for (uint32_t i = 0; i < x->l->t->n_atoms; i++)
        if (x->l->t->atoms[i].table == table)
            return x->l->t->atoms[i].n;
    return (uint32_t)table_at(x, table)->n_cols;
}

static enum status add_value(struct admit *x, const struct value *v,
                             uint32_t *out, struct err *err)
{
    *out = (uint32_t)x->d->vals.n;
    return VEC_PUSH(x->d->a, &x->d->vals, *v) ? OK : err_nomem(err);
}

/* In another cell than those of value `but`? */
static bool is_there(struct admit *x, uint32_t but, const struct value *v)
{
    if (!pay(x, x->d->vals.n / LOOKS_PER_STEP))
        return false;
    for (uint32_t i = 0; i < x->d->vals.n; i++) {
        const struct value *w = &x->d->vals.p[i];
        if (i != but && !w->is_null && type_comparable(w->type, v->type) &&
            value_eq(w, v))
            return true;
    }
    return false;
}

static enum status new_value(struct admit *x, const struct column *c,
                             uint32_t *out, struct err *err)
{
    struct value v;
    unsigned tries = 0;
    do
        TRY(witness_db_value(x->d, c ? c->type : T_INT, x->next++, &v, err));
    while (is_there(x, NO_EL, &v) && ++tries < NEW_TRIES);
    return add_value(x, &v, out, err);
}

const struct foreign_key *witness_leads(const struct table *t, uint32_t col)
{
    for (size_t f = 0; f < t->fks.n; f++)
        for (size_t i = 0; i < t->fks.p[f].n_cols; i++)
            if (t->fks.p[f].cols[i] == col)
                return &t->fks.p[f];
    return NULL;
}

/* What the row has where the foreign key to its own table leads: itself. */
static uint32_t own_column(const struct table *t, uint32_t col)
{
    const struct foreign_key *fk = witness_leads(t, col);
    for (size_t i = 0; fk && i < fk->n_cols; i++)
        if (fk->cols[i] == col && str_eq(fk->ref_table, t->name))
            return fk->ref_cols[i];
    return UINT32_MAX;
}

static enum status fill_row(struct admit *x, uint32_t table, uint32_t *el,
                            uint32_t n, struct err *err)
{
    const struct table *t = table_at(x, table);
    struct value null = value_null();
    for (uint32_t c = 0; c < n; c++) {
        const struct column *col = c < t->n_cols ? &t->cols[c] : NULL;
        if (el[c] != NO_EL)
            continue;
        if (col && !col->not_null && witness_leads(t, c))
            TRY(add_value(x, &null, &el[c], err));
        else if (!col || own_column(t, c) == UINT32_MAX)
            TRY(new_value(x, col, &el[c], err));
    }
    for (uint32_t c = 0; c < n; c++)
        if (el[c] == NO_EL)
            el[c] = el[own_column(t, c)];
    for (uint32_t c = 0; c < n; c++)
        x->ok &= el[c] != NO_EL;
    return OK;
}

static enum status add_parent(struct admit *x, uint32_t r,
                              const struct foreign_key *fk, uint32_t to,
                              struct err *err)
{
    struct tab_atom row = {.table = to, .n = row_width(x, to)};
    row.el = NEWS(x->d->a, uint32_t, row.n + 1);
    if (!row.el)
        return err_nomem(err);
    for (uint32_t c = 0; c < row.n; c++)
        row.el[c] = NO_EL;
    for (size_t i = 0; i < fk->n_cols; i++)
        if (fk->ref_cols[i] < row.n)
            row.el[fk->ref_cols[i]] = x->d->rows.p[r].el[fk->cols[i]];
    TRY(fill_row(x, to, row.el, row.n, err));
    return VEC_PUSH(x->d->a, &x->d->rows, row) ? OK : err_nomem(err);
}

static void need(struct admit *x, const struct foreign_key *fk)
{
    x->is_needed = true;
    x->ok &= !x->l->tree;
    for (size_t i = 0; i < fk->n_cols; i++) {
        if (fk->ref_cols[i] < sizeof x->needed)
            x->needed[fk->ref_cols[i]] = true;
        else
            x->ok = false;
    }
}

static enum status follow(struct admit *x, uint32_t r,
                          const struct foreign_key *fk, struct err *err)
{
    long to = schema_find_nocase(x->s, fk->ref_table);
    bool seen = false;
    if (!pay(x, x->d->rows.n / LOOKS_PER_STEP))
        return OK;
    if (to < 0 || x->s->tables.p[to].is_refused)
        return OK;
    for (size_t i = 0; i < fk->n_cols; i++)
        if (cell_is_null(x, r, fk->cols[i]))
            return OK;
    for (uint32_t p = 0; p < x->d->rows.n && !seen; p++) {
        seen = refers(x, r, fk, (uint32_t)to, p);
        if (seen && p == x->d->b && r != p)
            need(x, fk);
    }
    return seen ? OK : add_parent(x, r, fk, (uint32_t)to, err);
}

static enum status add_parents(struct admit *x, struct err *err)
{
    size_t most = 4 * x->d->rows.n + MORE_ROWS;
    for (uint32_t r = 0; r < x->d->rows.n && x->ok; r++) {
        const struct table *t = table_at(x, x->d->rows.p[r].table);
        for (size_t f = 0; f < t->fks.n && x->ok; f++)
            TRY(follow(x, r, &t->fks.p[f], err));
        x->ok &= x->d->rows.n <= most;
    }
    return OK;
}

/* --- values that fit ------------------------------------------------------ */

bool witness_checks(const struct row_check *k, uint32_t col)
{
    for (uint32_t j = 0; j < k->breaks->n_atoms; j++)
        if (k->breaks->atoms[j].args[col].kind != TERM_ANY)
            return true;
    return k->tree; /* its other parts may */
}

/* How many of its columns and CHECKs the row breaks; marks its cells in it. */
static enum status broken(struct admit *x, uint32_t r, bool *cells, uint32_t *n,
                          struct err *err)
{
    const struct tab_atom *row = &x->d->rows.p[r];
    const struct table *t = table_at(x, row->table);
    const struct admissible *adm = x->l->adm;
    struct checker_row as = {.table = row->table, .n_vals = t->n_cols};
    struct value vals[1 + UINT8_MAX];
    as.vals = vals;
    *n = 0;
    for (uint32_t c = 0; c < t->n_cols; c++) {
        vals[c] = x->d->vals.p[row->el[c]];
        cells[c] = !checker_fits_column(&t->cols[c], &vals[c]);
        *n += cells[c];
    }
    for (size_t i = 0; i < adm->n_checks; i++) {
        const struct row_check *k = &adm->checks[i];
        bool breaks = false;
        if (k->table != row->table)
            continue;
        if (!pay(x, CHECK_PRICE))
            return OK;
        TRY(checker_breaks(x->l->a, k, &as, &breaks, err));
        *n += breaks;
        for (uint32_t c = 0; breaks && c < t->n_cols; c++)
            cells[c] |= witness_checks(k, c);
    }
    return OK;
}

/* Constants of the table's CHECKs. */
static enum status hint(struct admit *x, uint32_t table, struct kinds *k,
                        const struct value **out, struct err *err)
{
    const struct admissible *adm = x->l->adm;
    uint64_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < adm->n_checks; i++) {
        struct kinds own = {0};
        const struct cq *q = adm->checks[i].breaks;
        if (adm->checks[i].table != table)
            continue;
        TRY(kinds_hints(x->l->a, q, &own, err));
        for (size_t j = 0; j < own.n_hints + q->n_consts; j++)
            if (kinds_random(k, ++n) == 0)
                *out = j < own.n_hints ? &own.hints[j]
                                       : &q->consts[j - own.n_hints];
    }
    return OK;
}

static enum status short_text(struct admit *x, struct kinds *k, size_t most,
                              struct value *v, struct err *err)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char buf[8];
    size_t n = most < 4 ? most : 1 + kinds_random(k, 4);
    for (size_t i = 0; i < n; i++)
        buf[i] = signs[kinds_random(k, sizeof signs - 1)];
    v->s = (struct str){arena_strdup(x->d->a, buf, n), n};
    return v->s.p ? OK : err_nomem(err);
}

static enum status short_number(struct admit *x, struct kinds *k,
                                const struct number_size *d, struct value *v,
                                struct err *err)
{
    char buf[48];
    unsigned most = d->before == 0 ? 1 : d->before == 1 ? 10 : 100;
    int n = snprintf(buf, sizeof buf, "%s%u", kinds_random(k, 4) ? "" : "-",
                     (unsigned)kinds_random(k, most));
    if (d->behind && kinds_random(k, 2))
        n += snprintf(buf + n, sizeof buf - (size_t)n, ".%u",
                      (unsigned)kinds_random(k, d->behind == 1 ? 10 : 100));
    struct str s = {buf, (size_t)n};
    return value_parse(x->d->a, s, v->type, v) ? OK : err_nomem(err);
}

/* A value that the column may have, as far as can be guessed. */
static enum status candidate(struct admit *x, uint32_t table, uint32_t col,
                             struct value *v, struct err *err)
{
    const struct column *c = &table_at(x, table)->cols[col];
    struct kinds *k = &x->l->kinds;
    const struct value *h;
    if (c->own_domain && c->n_domain) {
        *v = c->domain[kinds_random(k, c->n_domain)];
        return OK;
    }
    TRY(hint(x, table, k, &h, err));
    TRY(witness_db_value(x->d, c->type, kinds_random(k, 100), v, err));
    if (v->type == T_TEXT && kinds_random(k, 2))
        TRY(short_text(x, k, c->chars ? c->chars : 4, v, err));
    if ((v->type == T_INT || v->type == T_DEC) && c->digits.limited)
        TRY(short_number(x, k, &c->digits, v, err));
    if (h && kinds_random(k, 4) && type_comparable(h->type, v->type))
        *v = *h;
    if (v->type == T_INT || v->type == T_DATE || v->type == T_TIMESTAMP)
        v->i = (int64_t)((uint64_t)v->i + kinds_random(k, 5) - 2);
    return OK;
}

/* Another value for the cell, after which the row breaks less. */
static enum status exchange(struct admit *x, uint32_t r, uint32_t col,
                            uint32_t had, bool *better, struct err *err)
{
    const struct tab_atom *row = &x->d->rows.p[r];
    bool cells[1 + UINT8_MAX];
    uint32_t e = row->el[col], n;
    struct value old = x->d->vals.p[e];
    *better = false;
    if (e < x->l->q->n_consts || old.is_null)
        return OK;
    for (unsigned i = 0; i < FIT_TRIES && !*better && x->ok; i++) {
        struct value v;
        TRY(candidate(x, row->table, col, &v, err));
        if (i < NEW_TRIES && is_there(x, e, &v))
            continue;
        x->d->vals.p[e] = v;
        TRY(broken(x, r, cells, &n, err));
        *better = n < had;
        if (!*better)
            x->d->vals.p[e] = old;
    }
    return OK;
}

static enum status fit_row(struct admit *x, uint32_t r, bool *all,
                           struct err *err)
{
    bool cells[1 + UINT8_MAX], better = true;
    uint32_t n = 0, cols = (uint32_t)table_at(x, x->d->rows.p[r].table)->n_cols;
    TRY(broken(x, r, cells, &n, err));
    *all &= n == 0;
    while (n > 0 && better && x->ok) {
        better = false;
        for (uint32_t c = 0; c < cols && !better; c++)
            if (cells[c])
                TRY(exchange(x, r, c, n, &better, err));
        if (better)
            TRY(broken(x, r, cells, &n, err));
    }
    x->ok &= n == 0;
    return OK;
}

static enum status fit_values(struct admit *x, struct err *err)
{
    bool all = false;
    for (unsigned i = 0; i < FIT_ROUNDS && !all && x->ok; i++) {
        all = true;
        for (uint32_t r = 0; r < x->d->rows.n && x->ok; r++)
            TRY(fit_row(x, r, &all, err));
    }
    x->ok &= all;
    return OK;
}

/* Rows that have become equal are one, in a table that is a set. */
static void drop_equal(struct admit *x)
{
    struct witness_db *d = x->d;
    for (uint32_t r = 0; r < d->rows.n; r++)
        for (uint32_t p = 0; p < r; p++) {
            const struct tab_atom *a = &d->rows.p[r], *b = &d->rows.p[p];
            bool same = a->table == b->table && r != d->b;
            for (uint32_t c = 0; same && c < a->n; c++)
                same = cells_equal(x, a->el[c], b->el[c]);
            if (!same)
                continue;
            memmove(&d->rows.p[r], &d->rows.p[r + 1],
                    (d->rows.n - r - 1) * sizeof d->rows.p[0]);
            d->rows.n--;
            d->b -= d->b > r;
            r--;
            break;
        }
}

/* The row in whose place b comes: other values where nobody refers to it, and
 * where it does not refer to others. */
static enum status add_old(struct admit *x, struct err *err)
{
    const struct tab_atom *b = &x->d->rows.p[x->d->b];
    const struct table *t = table_at(x, b->table);
    struct tab_atom old = {.table = b->table, .n = b->n};
    bool all = true, differs = false;
    old.el = NEWS(x->d->a, uint32_t, old.n + 1);
    if (!old.el)
        return err_nomem(err);
    for (uint32_t c = 0; c < b->n; c++) {
        bool keep =
            c >= t->n_cols || x->needed[c] || witness_leads(t, c) != NULL;
        old.el[c] = b->el[c];
        differs |= !keep;
        if (!keep)
            TRY(new_value(x, &t->cols[c], &old.el[c], err));
    }
    x->d->old = (uint32_t)x->d->rows.n;
    x->d->has_old = true;
    x->ok &= differs;
    if (!VEC_PUSH(x->d->a, &x->d->rows, old))
        return err_nomem(err);
    return x->ok ? fit_row(x, x->d->old, &all, err) : OK;
}

static bool is_wide(const struct admit *x)
{
    for (uint32_t r = 0; r < x->d->rows.n; r++)
        if (x->d->rows.p[r].n > UINT8_MAX)
            return true;
    return false;
}

enum status witness_admit(struct witness_search *l, struct witness_db *d,
                          bool *ok, struct err *err)
{
    struct admit x = {.l = l,
                      .d = d,
                      .s = l->q->schema,
                      .left = l->admit_work / SHARE,
                      .next = d->vals.n - l->q->n_consts + 1,
                      .ok = true};
    TRY(add_parents(&x, err));
    x.ok &= !is_wide(&x);
    if (x.ok)
        TRY(fit_values(&x, err));
    if (x.ok)
        drop_equal(&x);
    if (x.ok && x.is_needed)
        TRY(add_old(&x, err));
    *ok = x.ok;
    return OK;
}
