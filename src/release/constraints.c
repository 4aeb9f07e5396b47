/*
 * Do the declared constraints hold in the data? A constraint (X, Y, k) is
 * checked by numbering the groups of rows that agree in X, and in them those
 * that agree in Y too (store/partition.h), and counting the latter for each of
 * the former: O(rows) for each column, and exact.
 *
 * Whole rows: Y is all columns, of which only some may be loaded. Then every
 * row counts as its own value when the constraint is a key, a bound on the rows
 * or measured (degree_counts_rows): that is what the analysis assumes of a bag.
 *
 * NULL: a row with a NULL in X is not constrained, as in SQL's UNIQUE.
 */
#include <string.h>

#include "entity/own.h"
#include "release/evaluate.h"
#include "store/partition.h"

struct check {
    struct prepared *p;
    uint32_t table;
    const struct store_table *t;
    const struct degree *d;
    bool rows_differ; /* every row is a value of its own */
};

static bool x_has_null(const struct check *c, size_t row)
{
    for (size_t i = 0; i < c->d->n_x; i++)
        if (column_is_null(&c->t->cols[c->d->x[i]], row))
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

static enum status report(const struct check *c, u128 found, size_t row,
                          size_t other, struct violations *out, struct err *err)
{
    struct violation v = {c->table, c->d, found, NULL, row + 1, other + 1};
    v.x = NEWS(&c->p->arena, struct value, c->d->n_x);
    if (!v.x)
        return err_nomem(err);
    for (size_t i = 0; i < c->d->n_x; i++)
        v.x[i] = column_value(&c->t->cols[c->d->x[i]], row);
    return VEC_PUSH(&c->p->arena, &out->list, v) ? OK : err_nomem(err);
}

static enum status refine(struct partition *g, const struct store_table *t,
                          const uint32_t *cols, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        TRY(partition_refine(g, &t->cols[cols[i]], err));
    return OK;
}

struct tally { /* of a group of X */
    uint32_t first, n;
};

/*
 * fine: the groups of X and Y, numbered as their first rows come, so a row
 * brings a new value of Y just when its number is the next one; NULL: each
 * row does. The group with the most, the earliest of equals, is reported.
 */
static enum status count(const struct check *c, const struct partition *x,
                         const struct partition *fine, struct tally *tally,
                         struct violations *out, struct err *err)
{
    uint32_t seen = 0, groups = 0, worst = 0;
    size_t first = 0, other = 0;
    for (size_t r = 0; r < x->n_rows; r++) {
        struct tally *g = &tally[x->group[r]];
        if (x->group[r] == groups) {
            groups++;
            g->first = (uint32_t)r;
        }
        if (fine && fine->group[r] != seen)
            continue;
        seen++;
        if (++g->n > worst && !x_has_null(c, r)) {
            worst = g->n;
            first = g->first;
            other = r;
        }
    }
    return worst > c->d->k ? report(c, worst, first, other, out, err) : OK;
}

/* Groups of X and Y, refined from those of X; counted for each X. */
static enum status count_y(const struct check *c, const struct partition *x,
                           struct tally *tally, struct violations *out,
                           struct err *err)
{
    struct partition fine;
    if (c->rows_differ)
        return count(c, x, NULL, tally, out, err);
    TRY(partition_new(x->mem, x->n_rows, &fine, err));
    memcpy(fine.group, x->group, x->n_rows * sizeof *x->group);
    fine.n_groups = x->n_groups;
    enum status s = refine(&fine, c->t, c->d->y, c->d->n_y, err);
    if (s == OK)
        s = count(c, x, &fine, tally, out, err);
    partition_free(&fine);
    return s;
}

static enum status check_one(const struct check *c, struct violations *out,
                             struct err *err)
{
    struct mem *m = &c->p->session->mem;
    struct partition x;
    size_t n_y = c->rows_differ ? 0 : c->d->n_y;
    if (!loaded(c->t, c->d->x, c->d->n_x) || !loaded(c->t, c->d->y, n_y))
        return err_internal(err, "evaluate_constraints: column not loaded");
    TRY(partition_new(m, c->t->n_rows, &x, err));
    enum status s = refine(&x, c->t, c->d->x, c->d->n_x, err);
    size_t size = (x.n_groups + 1) * sizeof(struct tally);
    if (s == OK) {
        struct tally *tally = mem_alloc(m, size);
        s = tally ? count_y(c, &x, tally, out, err) : store_nomem(m, err);
        mem_free(m, tally, size);
    }
    partition_free(&x);
    out->n_checked++;
    return s;
}

/* Rows that do not exist for counting still hand on owners. */
static enum status check_ghosts(const struct check *c, const struct store *st,
                                struct violations *out, struct err *err)
{
    u128 most;
    TRY(owners_degree(&c->p->session->mem, st, c->table, c->d, &most, err));
    if (most <= c->d->k)
        return OK;
    struct violation v = {c->table, c->d, most, NULL, 0, 0};
    v.x = NEWS(&c->p->arena, struct value, c->d->n_x + 1);
    for (size_t i = 0; v.x && i < c->d->n_x; i++)
        v.x[i] = value_null();
    return v.x && VEC_PUSH(&c->p->arena, &out->list, v) ? OK : err_nomem(err);
}

/* Bytes of the texts of a column, as often as they occur. */
static u128 text_bytes(const struct store_column *c, size_t n_rows)
{
    u128 sum = 0;
    for (size_t r = 0; c->present && c->dict && r < n_rows; r++)
        if (!column_is_null(c, r))
            sum += column_value(c, r).s.n;
    return sum;
}

static enum status check_bytes(const struct table *def,
                               const struct store_table *t, struct err *err)
{
    u128 sum = 0;
    for (size_t c = 0; def->bytes_at_most && c < t->n_cols; c++)
        sum += text_bytes(&t->cols[c], t->n_rows);
    if (sum <= def->bytes_at_most)
        return OK;
    return err_set(err, E_CONSTRAINT,
                   "the texts of \"%.*s\" have more bytes than bytes_at_most",
                   PSTR(def->name));
}

static enum status check_degree(struct prepared *p, uint32_t table,
                                const struct degree *d, const struct store *st,
                                struct violations *out, struct err *err)
{
    struct check c = {p, table, &st->tables[table], d, degree_counts_rows(d)};
    size_t had = out->list.n;
    TRY(check_one(&c, out, err));
    return out->list.n == had ? check_ghosts(&c, st, out, err) : OK;
}

static enum status check_table(struct prepared *p, uint32_t table,
                               const struct store *st, struct violations *out,
                               struct err *err)
{
    const struct store_table *t = &st->tables[table];
    const struct table *def = &p->schema.tables.p[table];
    if (def->bytes_at_most)
        TRY(check_bytes(def, t, err));
    for (size_t i = 0; i < def->degrees.n; i++)
        TRY(check_degree(p, table, &def->degrees.p[i], st, out, err));
    return OK;
}

enum status evaluate_constraints(struct prepared *p, const struct store *st,
                                 struct violations *out, struct err *err)
{
    for (size_t i = 0; i < st->n_tables; i++)
        if (st->tables[i].loaded)
            TRY(check_table(p, (uint32_t)i, st, out, err));
    return OK;
}

enum status evaluate_measured(struct prepared *p, uint32_t table,
                              const struct store *st, struct err *err)
{
    struct violations v = {0};
    const struct table *t = &p->schema.tables.p[table];
    for (size_t i = 0; i < t->degrees.n; i++)
        if (t->degrees.p[i].measured)
            TRY(check_degree(p, table, &t->degrees.p[i], st, &v, err));
    return v.list.n
               ? err_set(err, E_DATA, "public table \"%.*s\" grew meanwhile",
                         PSTR(t->name))
               : OK;
}

enum status evaluate_valid(struct prepared *p, struct evaluated *e,
                           struct err *err)
{
    struct violations v = {0};
    if (e->sql) /* what it does not enforce was left out */
        return OK;
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
