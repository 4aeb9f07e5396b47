/* The rows of a SELECT: see answer_table.h. */
#include "release/answer_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    struct arena *arena;
    const struct sql_after *after;
    size_t n_keys, n_vars; /* variables of the expressions: keys, counts */
    const struct table_count *counts;
    size_t n_counts;
    struct err *err;
};

/* A row before its expressions are computed. */
struct raw_row {
    struct value *vars; /* keys, then counts */
    struct value *sort; /* what ORDER BY asks for */
    size_t place;       /* ties keep the order of keys */
};

/* --- rows of keys and numbers --------------------------------------------- */

struct entry { /* a number of some count */
    const struct value *key;
    size_t n_keys, count, row;
};

static int compare_keys(const struct value *a, const struct value *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int c = value_cmp(&a[i], &b[i]);
        if (c)
            return c;
    }
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare_keys(x->key, y->key, x->n_keys);
    return c ? c : (x->count > y->count) - (x->count < y->count);
}

/* Do all counts have the same keys in the same order? */
static bool aligned(const struct maker *m)
{
    const struct table_count *first = &m->counts[0];
    for (size_t c = 1; c < m->n_counts; c++) {
        const struct table_count *x = &m->counts[c];
        if (x->n != first->n ||
            compare_keys(x->keys, first->keys, x->n * m->n_keys) != 0)
            return false;
    }
    return true;
}

/* The number of count c in its row r: an integer, a sum, or an AVG made with
 * the number of the count behind it. */
static enum status read_number(const struct maker *m, size_t c, size_t r,
                               struct value *out)
{
    const struct table_count *x = &m->counts[c];
    struct str text = answer_decimal(m->arena, x->numbers[r], x->scale);
    if (x->average && (c + 1 >= m->n_counts || x[1].n <= r))
        return err_internal(m->err, "an average lacks its number");
    if (x->average)
        text = answer_average(m->arena, x->average, x->numbers[r],
                              x[1].numbers[r]);
    if (!text.p)
        return err_nomem(m->err);
    if (!value_parse_number(m->arena, text, out))
        return err_internal(m->err, "an answer is no number");
    return OK;
}

static enum status new_row(const struct maker *m, const struct value *key,
                           struct raw_row *out)
{
    out->vars = NEWS(m->arena, struct value, m->n_vars + 1);
    if (!out->vars)
        return err_nomem(m->err);
    for (size_t i = 0; i < m->n_vars; i++)
        out->vars[i] = i < m->n_keys ? key[i] : value_null();
    return OK;
}

static enum status aligned_rows(const struct maker *m, struct raw_row *rows,
                                size_t *n)
{
    const struct table_count *first = &m->counts[0];
    for (size_t r = 0; r < first->n; r++) {
        TRY(new_row(m, first->keys + r * m->n_keys, &rows[r]));
        for (size_t c = 0; c < m->n_counts; c++)
            TRY(read_number(m, c, r, &rows[r].vars[m->n_keys + c]));
    }
    *n = first->n;
    return OK;
}

/* Keys of different counts, in the order of keys. */
static enum status merged_rows(const struct maker *m, struct raw_row *rows,
                               size_t total, size_t *n)
{
    struct entry *list = NEWS(m->arena, struct entry, total + 1);
    size_t k = 0;
    if (!list)
        return err_nomem(m->err);
    for (size_t c = 0; c < m->n_counts; c++)
        for (size_t r = 0; r < m->counts[c].n; r++)
            list[k++] = (struct entry){m->counts[c].keys + r * m->n_keys,
                                       m->n_keys, c, r};
    qsort(list, total, sizeof *list, compare_entries);
    for (size_t i = 0; i < total; i++) {
        if (!i || compare_keys(list[i].key, list[i - 1].key, m->n_keys) != 0)
            TRY(new_row(m, list[i].key, &rows[(*n)++]));
        TRY(read_number(m, list[i].count, list[i].row,
                        &rows[*n - 1].vars[m->n_keys + list[i].count]));
    }
    return OK;
}

/* --- HAVING and ORDER BY -------------------------------------------------- */

static enum status keep_row(const struct maker *m, const struct raw_row *row,
                            bool *keep)
{
    struct value v;
    *keep = true;
    if (!m->after->having)
        return OK;
    TRY(expr_eval(m->arena, m->after->having, row->vars, &v, m->err));
    *keep = !v.is_null && v.i;
    return OK;
}

static enum status filter(const struct maker *m, struct raw_row *rows,
                          size_t *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        bool keep;
        TRY(keep_row(m, &rows[i], &keep));
        if (keep)
            rows[kept++] = rows[i];
    }
    *n = kept;
    return OK;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct raw_row *x = a, *y = b;
    const struct sql_after *after = ctx;
    for (size_t i = 0; i < after->n_sorts; i++) {
        const struct sql_sort *s = &after->sorts[i];
        const struct value *v = &x->sort[i], *w = &y->sort[i];
        if (v->is_null != w->is_null)
            return v->is_null == s->nulls_first ? -1 : 1;
        int c = v->is_null ? 0 : value_cmp(v, w);
        if (c)
            return s->descending ? -c : c;
    }
    return (x->place > y->place) - (x->place < y->place);
}

static enum status sort_rows(const struct maker *m, struct raw_row *rows,
                             size_t n)
{
    const struct sql_after *after = m->after;
    for (size_t i = 0; i < n; i++) {
        rows[i].place = i;
        rows[i].sort = NEWS(m->arena, struct value, after->n_sorts + 1);
        if (!rows[i].sort)
            return err_nomem(m->err);
        for (size_t k = 0; k < after->n_sorts; k++)
            TRY(expr_eval(m->arena, after->sorts[k].e, rows[i].vars,
                          &rows[i].sort[k], m->err));
    }
    if (n && after->n_sorts)
        qsort_r(rows, n, sizeof *rows, compare_rows, (void *)(uintptr_t)after);
    return OK;
}

/* --- columns and their errors --------------------------------------------- */

static double as_double(const struct value *v) /* display */
{
    char buf[64];
    if (v->is_null)
        return NAN;
    if (v->type == T_INT)
        return (double)v->i;
    if (v->type == T_REAL)
        return v->f;
    if (v->type != T_DEC || v->s.n >= sizeof buf)
        return NAN;
    memcpy(buf, v->s.p, v->s.n);
    buf[v->s.n] = 0;
    return strtod(buf, NULL);
}

/* The expression with one count moved by `by`. */
static enum status moved(const struct maker *m, const struct expr *e,
                         struct value *vars, size_t var, double by, double *out)
{
    struct value was = vars[var], v;
    double x = as_double(&was) + by;
    char buf[400];
    snprintf(buf, sizeof buf, "%.*f", was.type == T_DEC ? 20 : 0, x);
    enum status st = OK;
    if (!value_parse_number(m->arena, str_of(buf), &vars[var]))
        *out = NAN;
    else if ((st = expr_eval(m->arena, e, vars, &v, m->err)) == OK)
        *out = as_double(&v);
    vars[var] = was;
    return st;
}

/* Of one number as it stands in a row; negative: not known. An average has that
 * of its sum and of its number, to first order. */
static double number_error(const struct maker *m, size_t c,
                           const struct value *vars)
{
    const struct table_count *x = &m->counts[c];
    double unit = pow(10, -(double)x->scale), at = 0;
    if (x->p95 < 0 || !x->average)
        return x->p95 < 0 ? -1 : x->p95 * unit;
    double n = as_double(&vars[m->n_keys + c + 1]);
    double lo = (double)x->average->lo, hi = (double)x->average->hi;
    double from = x->average->low ? lo : (lo + hi) / 2;
    if (x[1].p95 < 0 || !(n >= 1))
        return -1;
    at = as_double(&vars[m->n_keys + c]) - from * unit;
    return hypot(x->p95 * unit / (x->average->low ? 1 : 2), at * x[1].p95) / n;
}

/* To first order: half the change between either end of each count's error,
 * added as independent errors are. */
static enum status cell_error(const struct maker *m, const struct expr *e,
                              struct value *vars, double *out)
{
    double sum = 0;
    *out = -1;
    if (e->type != T_INT && e->type != T_DEC && e->type != T_REAL)
        return OK;
    if (e->op == X_VAR) {
        if (e->var >= m->n_keys && !vars[e->var].is_null)
            *out = number_error(m, e->var - m->n_keys, vars);
        return OK;
    }
    for (size_t c = 0; c < m->n_counts; c++) {
        double up = 0, down = 0, p95 = number_error(m, c, vars);
        if (p95 < 0 || vars[m->n_keys + c].is_null)
            return OK;
        TRY(moved(m, e, vars, m->n_keys + c, p95, &up));
        TRY(moved(m, e, vars, m->n_keys + c, -p95, &down));
        sum += (up - down) * (up - down) / 4;
    }
    if (isfinite(sum))
        *out = sqrt(sum);
    return OK;
}

static uint32_t *var_places(const struct maker *m)
{
    uint32_t *out = NEWS(m->arena, uint32_t, m->n_vars + 1);
    for (size_t i = 0; out && i < m->n_counts; i++)
        out[m->n_keys + i] =
            m->counts[i].average ? PLACES_OF_RATIO : m->counts[i].scale;
    return out;
}

static enum status fill(const struct maker *m, const struct raw_row *rows,
                        struct answer_table *t)
{
    size_t n = t->n_cols;
    uint32_t *places = var_places(m);
    t->computed = NEWS(m->arena, bool, n + 1);
    t->cells = NEWS(m->arena, struct value, t->n_rows * n + 1);
    t->errors = NEWS(m->arena, double, t->n_rows *n + 1);
    if (!t->cells || !t->errors || !places || !t->computed)
        return err_nomem(m->err);
    for (size_t c = 0; c < n; c++) {
        const struct expr *e = m->after->columns[c].e;
        t->computed[c] = e->op != X_VAR || places[e->var] == PLACES_OF_RATIO;
    }
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t c = 0; c < n; c++) {
            const struct expr *e = m->after->columns[c].e;
            TRY(expr_eval(m->arena, e, rows[i].vars, &t->cells[i * n + c],
                          m->err));
            TRY(answer_show_places(m->arena, e, rows[i].vars, places,
                                   &t->cells[i * n + c], m->err));
            TRY(cell_error(m, e, rows[i].vars, &t->errors[i * n + c]));
        }
    return OK;
}

/* The rows that LIMIT and OFFSET leave, as a slice. */
static struct raw_row *limit_rows(const struct sql_after *after,
                                  struct raw_row *rows, size_t *n)
{
    size_t skip = after->offset < *n ? (size_t)after->offset : *n;
    *n -= skip;
    if (after->limit < *n)
        *n = (size_t)after->limit;
    return rows + skip;
}

enum status answer_table_make(struct arena *a, const struct sql_after *after,
                              size_t n_keys, const struct table_count *counts,
                              size_t n_counts, struct answer_table *out,
                              struct err *err)
{
    struct maker m = {a,      after,    n_keys, n_keys + n_counts,
                      counts, n_counts, err};
    size_t total = 0, n = 0;
    for (size_t c = 0; c < n_counts; c++)
        total += counts[c].n;
    struct raw_row *rows = NEWS(a, struct raw_row, total + 1);
    if (!rows)
        return err_nomem(err);
    TRY(aligned(&m) ? aligned_rows(&m, rows, &n)
                    : merged_rows(&m, rows, total, &n));
    TRY(filter(&m, rows, &n));
    TRY(sort_rows(&m, rows, n));
    rows = limit_rows(after, rows, &n);
    *out = (struct answer_table){.after = after,
                                 .n_keys = n_keys,
                                 .n_cols = after->n_columns,
                                 .n_rows = n};
    return fill(&m, rows, out);
}

bool answer_table_plain(const struct sql_after *after, size_t n_keys,
                        size_t n_counts)
{
    return !n_keys && n_counts == 1 && after->n_columns == 1 &&
           after->columns[0].e->op == X_VAR && !after->having &&
           !after->offset && after->limit == UINT64_MAX;
}
