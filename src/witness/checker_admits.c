/*
 * Does the declared schema admit the rows of a witness? By the definitions, as
 * in checker_rules.c: a foreign key whose columns are not NULL has its row, a
 * text or number is no longer than its column, a value is on its column's list,
 * and no row breaks a CHECK.
 */
#include <stdio.h>

#include "witness/checker_rules.h"

enum { CHECK_STEPS = 1000 }; /* of one row for one CHECK */

/* Digits behind the point that are zero do not count, nor do leading ones. */
static bool fits_digits(const struct number_size *d, const struct value *v)
{
    char buf[32];
    struct str s = v->s;
    size_t before = 0, behind = 0, all = 0;
    bool point = false;
    if (v->type == T_INT)
        s = (struct str){
            buf, (size_t)snprintf(buf, sizeof buf, "%lld", (long long)v->i)};
    else if (v->type != T_DEC)
        return false;
    for (size_t i = s.n && s.p[0] == '-'; i < s.n; i++) {
        bool digit = s.p[i] >= '0' && s.p[i] <= '9';
        if (!digit && (point || s.p[i] != '.'))
            return false;
        point |= !digit;
        before += digit && !point && (before || s.p[i] != '0');
        all += digit && point;
        behind = digit && point && s.p[i] != '0' ? all : behind;
    }
    return before <= d->before && behind <= d->behind;
}

bool checker_fits_column(const struct column *c, const struct value *v)
{
    size_t chars = 0;
    if (v->is_null)
        return true;
    for (size_t i = 0; v->type == T_TEXT && i < v->s.n; i++)
        chars += ((unsigned char)v->s.p[i] & 0xC0) != 0x80;
    if (c->chars && chars > c->chars)
        return false;
    if (c->digits.limited && !fits_digits(&c->digits, v))
        return false;
    for (size_t i = 0; c->own_domain && i < c->n_domain; i++)
        if (value_eq(&c->domain[i], v))
            return true;
    return !c->own_domain;
}

enum status checker_breaks(struct arena *a, const struct row_check *c,
                           const struct checker_row *row, bool *breaks,
                           struct err *err)
{
    struct checker_result r;
    TRY(c->tree ? checker_run_tree(a, c->tree, NULL, row, 1, 0, 1, CHECK_STEPS,
                                   &r, err)
                : checker_run(a, c->breaks, NULL, row, 1, 0, 1, CHECK_STEPS, &r,
                              err));
    *breaks = !r.holds || r.after != r.before;
    return OK;
}

static bool row_fits(const struct table *t, const struct checker_row *row)
{
    for (size_t i = 0; i < row->n_vals && i < t->n_cols; i++)
        if (!checker_fits_column(&t->cols[i], &row->vals[i]))
            return false;
    return true;
}

static struct str values_of(struct arena *a, const struct checker_row *row,
                            const uint32_t *cols, size_t n, bool *is_null)
{
    struct sb b;
    sb_init(&b, a);
    *is_null = false;
    for (size_t i = 0; i < n; i++) {
        *is_null |= row->vals[cols[i]].is_null;
        value_print(&b, &row->vals[cols[i]]);
        sb_char(&b, '\n');
    }
    return sb_view(&b);
}

/* Has every row that refers its row? */
static bool reference_holds(struct arena *a, const struct checker_data *d,
                            uint32_t from, const struct foreign_key *fk,
                            uint32_t to, bool *nomem)
{
    struct map there;
    bool is_null;
    map_init(&there, a);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < d->n_rows; r++) {
            const struct checker_row *row = &d->rows[r];
            if (r == d->without || row->table != (pass ? from : to))
                continue;
            struct str key = values_of(a, row, pass ? fk->cols : fk->ref_cols,
                                       fk->n_cols, &is_null);
            *nomem |= !key.p || (!pass && !map_put(&there, key, 1, NULL));
            if (*nomem || (pass && !is_null && !map_find(&there, key)))
                return false;
        }
    return true;
}

bool checker_references_hold(struct arena *a, const struct checker_data *d,
                             bool *nomem)
{
    const struct schema *s = d->schema;
    for (uint32_t t = 0; t < s->tables.n; t++)
        for (size_t f = 0; f < s->tables.p[t].fks.n; f++) {
            const struct foreign_key *fk = &s->tables.p[t].fks.p[f];
            long to = schema_find_nocase(s, fk->ref_table);
            if (to < 0 || s->tables.p[to].is_refused)
                continue; /* its rows are nobody's here: one will do */
            if (!reference_holds(a, d, t, fk, (uint32_t)to, nomem))
                return false;
        }
    return true;
}

enum status checker_rows_fit(struct arena *a, const struct admissible *adm,
                             const struct checker_data *d, bool *fit,
                             struct err *err)
{
    *fit = true;
    for (size_t r = 0; r < d->n_rows && *fit; r++) {
        const struct checker_row *row = &d->rows[r];
        *fit = !adm->is_unread[row->table] &&
               row_fits(&d->schema->tables.p[row->table], row);
        for (size_t i = 0; i < adm->n_checks && *fit; i++) {
            bool breaks = false;
            if (adm->checks[i].table == row->table)
                TRY(checker_breaks(a, &adm->checks[i], row, &breaks, err));
            *fit = !breaks;
        }
    }
    return OK;
}
