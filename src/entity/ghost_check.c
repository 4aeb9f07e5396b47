/*
 * Do promises hold of rows that do not exist for counting, where those hand on
 * owners? A lookup finds them, so a key must tell them apart from the others;
 * and the static bound counts rows between a result and its owner by promises
 * about their table. Asked only where there are such rows.
 */
#include "entity/lookup.h"
#include "entity/own.h"
#include "schema/owners.h"

struct degree_count {
    struct arena arena;
    const struct store_table *t;
    const struct degree *d;
    bool rows_differ;  /* every row is a value of its own */
    struct map groups; /* of X: values of Y so far */
    struct map values; /* of X and Y */
    u128 most;
};

/* The cells of a row, each in the form that equal values have; false: memory.
 * *null: one of them is NULL. */
static bool cells(struct degree_count *c, const uint32_t *cols, size_t n,
                  size_t row, struct sb *b, bool *null)
{
    for (size_t i = 0; i < n; i++) {
        struct value v = lookup_cell(c->t, cols[i], row);
        *null |= v.is_null;
        if (!lookup_put_value(b, &c->arena, &v))
            return false;
    }
    sb_char(b, '.');
    return !b->failed;
}

static bool count_row(struct degree_count *c, size_t row)
{
    struct sb x, both;
    bool null = false, any = false, is_new = true;
    sb_init(&x, &c->arena);
    sb_init(&both, &c->arena);
    if (!cells(c, c->d->x, c->d->n_x, row, &x, &null))
        return false;
    if (null)
        return true; /* not constrained */
    if (!c->rows_differ) {
        sb_str(&both, sb_view(&x));
        if (!cells(c, c->d->y, c->d->n_y, row, &both, &any) ||
            !map_put(&c->values, sb_view(&both), 0, &is_new))
            return false;
    }
    uint64_t *n = map_put(&c->groups, sb_view(&x), 0, NULL);
    if (!n)
        return false;
    *n += is_new;
    c->most = *n > c->most ? *n : c->most;
    return true;
}

static bool all_kept(const struct store_table *t, const uint32_t *cols,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!t->cols[cols[i]].present || !t->cols[cols[i]].ghosts)
            return false;
    return true;
}

static bool is_looked_up(const struct schema *s, uint32_t table,
                         const struct degree *d)
{
    for (size_t i = 0; i < s->tables.n; i++)
        for (size_t k = 0; k < s->tables.p[i].owned_by.n; k++) {
            const struct owner_edge *e = &s->tables.p[i].owned_by.p[k];
            if (e->table == table && (!d || owner_edge_key(s, e) == d))
                return true;
        }
    return false;
}

/* Looked up, or a promise about rows on the way to an owner. */
static bool matters(const struct schema *s, uint32_t table,
                    const struct degree *d)
{
    return is_looked_up(s, table, d) ||
           (s->tables.p[table].owned_by.n && is_looked_up(s, table, NULL));
}

enum status owners_degree(struct mem *m, const struct store *st, uint32_t table,
                          const struct degree *d, u128 *most, struct err *err)
{
    struct degree_count c = {.t = &st->tables[table], .d = d};
    c.rows_differ = degree_counts_rows(d);
    *most = 0;
    if (!c.t->n_ghosts || !matters(st->schema, table, d))
        return OK;
    if (!all_kept(c.t, d->x, d->n_x) ||
        (!c.rows_differ && !all_kept(c.t, d->y, d->n_y))) {
        *most = U128_INF; /* nobody can tell */
        return OK;
    }
    bool ok = true;
    arena_init(&c.arena, m);
    map_init(&c.groups, &c.arena);
    map_init(&c.values, &c.arena);
    for (size_t row = 0; ok && row < lookup_n_rows(c.t); row++)
        ok = count_row(&c, row);
    *most = c.most;
    arena_fini(&c.arena);
    return ok ? OK : store_nomem(m, err);
}
