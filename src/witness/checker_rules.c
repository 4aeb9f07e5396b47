/*
 * The constraints of a witness by their definitions, and how two values
 * compare: what the checkers of conjunctive queries and of trees share with
 * each other, and with nothing else.
 */
#include "witness/checker_rules.h"
#include "base/map.h"

struct rules {
    struct arena *a;
    const struct checker_data *d;
    bool nomem;
};

static bool add_values(struct sb *b, const struct checker_row *row,
                       const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        value_print(b, &row->vals[cols ? cols[i] : i]);
        sb_char(b, '\n');
    }
    return !b->failed;
}

static bool any_null(const struct checker_row *row, const uint32_t *cols,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row->vals[cols[i]].is_null)
            return true;
    return false;
}

/* Counts, for every value of x, the different y that go with it. A key or a
 * bound on rows counts rows, duplicates included; a row with a NULL in x is
 * not constrained. */
static bool degree_holds(struct rules *c, uint32_t table,
                         const struct degree *d)
{
    struct map per_x, seen;
    bool rows = degree_counts_rows(d);
    map_init(&per_x, c->a);
    map_init(&seen, c->a);
    for (size_t r = 0; r < c->d->n_rows; r++) {
        struct sb x, xy;
        bool is_new;
        if (r == c->d->without || c->d->rows[r].table != table ||
            any_null(&c->d->rows[r], d->x, d->n_x))
            continue;
        sb_init(&x, c->a);
        sb_init(&xy, c->a);
        sb_printf(&xy, "%zu\n", rows ? r : 0);
        sb_cstr(&x, "x");
        c->nomem |= !add_values(&x, &c->d->rows[r], d->x, d->n_x) ||
                    !add_values(&xy, &c->d->rows[r], d->x, d->n_x) ||
                    !add_values(&xy, &c->d->rows[r], d->y, d->n_y);
        uint64_t *n = c->nomem ? NULL : map_put(&per_x, sb_view(&x), 0, NULL);
        if (!n || !map_put(&seen, sb_view(&xy), 1, &is_new)) {
            c->nomem = true;
            return false;
        }
        if (is_new && ++*n > d->k)
            return false;
    }
    return true;
}

/* Tables that are not read as bags are sets. */
static bool rows_differ(struct rules *c, uint32_t table)
{
    struct map seen;
    map_init(&seen, c->a);
    for (size_t r = 0; r < c->d->n_rows; r++) {
        struct sb b;
        bool is_new;
        if (r == c->d->without || c->d->rows[r].table != table)
            continue;
        sb_init(&b, c->a);
        sb_cstr(&b, "r");
        if (!add_values(&b, &c->d->rows[r], NULL, c->d->rows[r].n_vals) ||
            !map_put(&seen, sb_view(&b), 1, &is_new)) {
            c->nomem = true;
            return false;
        }
        if (!is_new)
            return false;
    }
    return true;
}

static bool nulls_hold(const struct rules *c, const struct checker_row *row)
{
    const struct table *t = &c->d->schema->tables.p[row->table];
    for (size_t i = 0; i < row->n_vals; i++)
        if (row->vals[i].is_null && t->cols[i].not_null)
            return false;
    return true;
}

static bool constraints_hold(struct rules *c)
{
    const struct schema *s = c->d->schema;
    for (uint32_t i = 0; i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (!c->d->is_bag[i] && !rows_differ(c, i))
            return false;
        for (size_t j = 0; j < t->degrees.n; j++)
            if (!degree_holds(c, i, &t->degrees.p[j]))
                return false;
    }
    for (size_t r = 0; r < c->d->n_rows; r++)
        if (!nulls_hold(c, &c->d->rows[r]))
            return false;
    return true;
}

bool checker_constraints_hold(struct arena *a, const struct checker_data *d,
                              bool *nomem)
{
    struct rules c = {.a = a, .d = d};
    bool holds = constraints_hold(&c);
    *nomem |= c.nomem;
    return holds && !c.nomem;
}

/* --- values --------------------------------------------------------------- */

bool checker_equal(const struct value *a, const struct value *b)
{
    return !a->is_null && !b->is_null && type_comparable(a->type, b->type) &&
           value_eq(a, b);
}

bool checker_compare(enum cmp_op op, const struct value *a,
                     const struct value *b)
{
    if (a->is_null || b->is_null || !type_comparable(a->type, b->type))
        return false;
    int o = value_cmp(a, b);
    return op == CMP_NE ? o != 0 : op == CMP_LT ? o < 0 : o <= 0;
}
