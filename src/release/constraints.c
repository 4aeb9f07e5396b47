/*
 * Do the declared constraints hold in the data? A constraint (X, Y, k) is
 * checked by sorting row numbers by X, then Y, and counting distinct Y in
 * each run of X: O(n log n) comparisons, memory for one index.
 *
 * Whole rows: Y is all columns, of which only some may be loaded. Then every
 * row counts as its own value when the constraint is a key or a bound on the
 * rows (is_key, or X empty): that is what the analysis assumes of a bag.
 *
 * NULL: a row with a NULL in X is not constrained, as in SQL's UNIQUE.
 */
#include <stdlib.h>

#include "release/evaluate.h"

struct order {
    const struct store_table *t;
    const struct degree *d;
    const uint32_t *y;
    size_t n_y;
};

static int compare_cols(const struct store_table *t, const uint32_t *cols,
                        size_t n, size_t a, size_t b)
{
    for (size_t i = 0; i < n; i++) {
        struct value va = column_value(&t->cols[cols[i]], a);
        struct value vb = column_value(&t->cols[cols[i]], b);
        int c = value_cmp(&va, &vb);
        if (c)
            return c;
    }
    return 0;
}

static int compare_rows(const void *pa, const void *pb, void *ctx)
{
    const struct order *o = ctx;
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    int c = compare_cols(o->t, o->d->x, o->d->n_x, a, b);
    return c ? c : compare_cols(o->t, o->y, o->n_y, a, b);
}

static bool x_has_null(const struct order *o, size_t row)
{
    for (size_t i = 0; i < o->d->n_x; i++)
        if (column_is_null(&o->t->cols[o->d->x[i]], row))
            return true;
    return false;
}

static bool loaded(const struct store_table *t, const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!t->cols[cols[i]].present)
            return false;
    return true;
}

static enum status report(struct prepared *p, const struct order *o,
                          uint32_t table, u128 found, size_t row, size_t other,
                          struct violations *out, struct err *err)
{
    struct violation v = {table, o->d, found, NULL, row + 1, other + 1};
    v.x = NEWS(&p->arena, struct value, o->d->n_x);
    if (!v.x)
        return err_nomem(err);
    for (size_t i = 0; i < o->d->n_x; i++)
        v.x[i] = column_value(&o->t->cols[o->d->x[i]], row);
    return VEC_PUSH(&p->arena, &out->list, v) ? OK : err_nomem(err);
}

/* Walks the sorted rows; `rows_differ`: every row is a value of its own. */
static enum status scan(struct prepared *p, const struct order *o,
                        uint32_t table, const size_t *rows, size_t n,
                        bool rows_differ, struct violations *out,
                        struct err *err)
{
    size_t first = 0;
    u128 distinct = 0, worst = 0;
    size_t worst_row = 0, worst_other = 0;
    for (size_t i = 0; i < n; i++) {
        if (i &&
            !compare_cols(o->t, o->d->x, o->d->n_x, rows[i - 1], rows[i])) {
            if (rows_differ ||
                compare_cols(o->t, o->y, o->n_y, rows[i - 1], rows[i]))
                distinct++;
        } else {
            first = i;
            distinct = 1;
        }
        if (distinct > worst && !x_has_null(o, rows[i])) {
            worst = distinct;
            worst_row = rows[first];
            worst_other = rows[i];
        }
    }
    return worst > o->d->k
               ? report(p, o, table, worst, worst_row, worst_other, out, err)
               : OK;
}

static enum status check_one(struct prepared *p, uint32_t table,
                             const struct store_table *t,
                             const struct degree *d, size_t *rows,
                             struct violations *out, struct err *err)
{
    bool whole = d->y_is_all || d->n_y == t->n_cols;
    bool rows_differ = whole && (d->is_key || d->n_x == 0);
    struct order o = {t, d, d->y, rows_differ ? 0 : d->n_y};
    if (!loaded(t, d->x, d->n_x) || !loaded(t, o.y, o.n_y))
        return err_internal(err, "evaluate_constraints: column not loaded");
    for (size_t i = 0; i < t->n_rows; i++)
        rows[i] = i;
    qsort_r(rows, t->n_rows, sizeof *rows, compare_rows, &o);
    out->n_checked++;
    return scan(p, &o, table, rows, t->n_rows, rows_differ, out, err);
}

static enum status check_table(struct prepared *p, uint32_t table,
                               const struct store_table *t,
                               struct violations *out, struct err *err)
{
    const struct table *def = &p->schema.tables.p[table];
    enum status s = OK;
    if (!def->degrees.n)
        return OK;
    size_t bytes = (t->n_rows ? t->n_rows : 1) * sizeof(size_t);
    size_t *rows = mem_alloc(&p->session->mem, bytes);
    if (!rows)
        return store_nomem(&p->session->mem, err);
    for (size_t i = 0; s == OK && i < def->degrees.n; i++)
        s = check_one(p, table, t, &def->degrees.p[i], rows, out, err);
    mem_free(&p->session->mem, rows, bytes);
    return s;
}

enum status evaluate_constraints(struct prepared *p, const struct store *st,
                                 struct violations *out, struct err *err)
{
    for (size_t i = 0; i < st->n_tables; i++)
        if (st->tables[i].loaded)
            TRY(check_table(p, (uint32_t)i, &st->tables[i], out, err));
    return OK;
}

enum status evaluate_valid(struct prepared *p, const struct evaluated *e,
                           struct err *err)
{
    struct violations v = {0};
    if (e->counter)
        return source_counter_check(e->counter, err);
    TRY(evaluate_constraints(p, e->store, &v, err));
    if (!v.list.n)
        return OK;
    struct sb b;
    sb_init(&b, &p->arena);
    const struct violation *first = &v.list.p[0];
    degree_print(&b, &p->schema.tables.p[first->table], first->degree);
    err_set(err, E_CONSTRAINT, "the data break the declared constraint %s",
            b.p ? b.p : "");
    err_detail(err, "Rows %zu and %zu show it.", first->row, first->other);
    err_hint(err, "dpcount check lists everything that does not hold.");
    return E_CONSTRAINT;
}
