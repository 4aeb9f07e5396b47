/*
 * Sizes and degrees of public tables, read from them: how many rows a table
 * has, how many values a column, and how many rows share one value. They bound
 * what one private row can do as a declaration would: who joins a public table
 * of 13 rows is in at most 13 groups.
 *
 * PRIVACY: of tables that are declared public only, which neighbours have in
 * common, whatever is asked and all columns alike. What was measured must hold
 * of the state that is counted. The content of files, SQLite and DuckDB is
 * looked at as a whole before any question: it is part of what is checked there
 * (validity.c), so a file that changes in between is another content. A server
 * counts in another transaction than the one that was measured, so it is
 * checked there again, before the draw (evaluate_sizes). Views, foreign tables
 * and those under row security are not measured: what is seen of them can hang
 * on other rows.
 */
#include <stdlib.h>

#include "release/evaluate.h"
#include "store/store.h"

enum { MOST_ROWS = 20000, MOST_COLUMNS = 40 };

struct column_sizes {
    size_t values, rows_of_one;
};

static int by_value(const void *a, const void *b)
{
    return value_cmp(a, b);
}

/* Without the NULLs: how many rows share one no degree constrains. */
static void count_values(struct value *v, size_t n, struct column_sizes *out)
{
    size_t run = 0;
    *out = (struct column_sizes){0};
    if (n)
        qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) {
        run = i && value_eq(&v[i], &v[i - 1]) ? run + 1 : 1;
        out->values += run == 1;
        if (run > out->rows_of_one)
            out->rows_of_one = run;
    }
}

static enum status add_degree(struct prepared *p, size_t table,
                              const uint32_t *x, const uint32_t *y, size_t k,
                              struct err *err)
{
    struct schema *s = &p->schema;
    u128 most = k ? k : 1;
    size_t before = s->tables.p[table].degrees.n;
    if (y)
        TRY(table_add_degree(s, table, x, x ? 1 : 0, y, 1, most, STR(""), err));
    else
        TRY(table_add_whole(s, table, x, x ? 1 : 0, most, false, STR(""), err));
    /* one that was declared already may have become smaller in its place */
    for (size_t i = before; i < s->tables.p[table].degrees.n; i++)
        s->tables.p[table].degrees.p[i].measured = true;
    return OK;
}

static enum status add_column(struct prepared *p, size_t table, uint32_t col,
                              const struct store_table *t, struct value *room,
                              struct err *err)
{
    struct column_sizes sizes;
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        room[n] = column_value(&t->cols[col], row);
        n += !room[n].is_null;
    }
    count_values(room, n, &sizes);
    /* among values NULL is one: a key of GROUP BY, a cell of a tuple */
    sizes.values += n < t->n_rows;
    TRY(add_degree(p, table, NULL, &col, sizes.values, err));
    return add_degree(p, table, &col, NULL, sizes.rows_of_one, err);
}

static enum status add_sizes(struct prepared *p, size_t table,
                             const struct store_table *t, struct err *err)
{
    struct arena a;
    arena_init(&a, &p->session->mem);
    struct value *room = NEWS(&a, struct value, t->n_rows + 1);
    enum status s = room ? add_degree(p, table, NULL, NULL, t->n_rows, err)
                         : err_nomem(err);
    for (uint32_t c = 0; s == OK && c < t->n_cols && c < MOST_COLUMNS; c++)
        s = add_column(p, table, c, t, room, err);
    arena_fini(&a);
    return s;
}

static enum status measure(struct prepared *p, size_t table, struct err *err)
{
    struct store *st = NULL;
    TRY(store_new(&p->session->mem, &p->schema, &st, err));
    enum status s = source_load_whole(p->source, table, st, NULL, err);
    if (s == OK)
        s = add_sizes(p, table, &st->tables[table], err);
    store_free(st);
    return s;
}

/* PRIVACY: statements of one transaction do not see one state of a cluster, so
 * what it counts itself may be of another than what was measured. */
static bool can_measure(const struct prepared *p)
{
    struct str engine = p->session->opt.engine;
    bool itself = str_is(engine, "sql") || str_is(engine, "auto");
    return source_is_repeatable(p->source) &&
           !(itself && source_is_distributed(p->source));
}

enum status prepare_public_sizes(struct prepared *p, struct err *err)
{
    if (!p->source || p->declared_only || !can_measure(p))
        return OK;
    for (size_t i = 0; i < p->schema.tables.n; i++) {
        const struct table *t = &p->schema.tables.p[i];
        bool small;
        if (t->privacy != PRIVACY_PUBLIC || t->is_refused)
            continue;
        TRY(source_is_small(p->source, i, MOST_ROWS, &small, err));
        if (small)
            TRY(measure(p, i, err));
    }
    return OK;
}

static void forget(struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->degrees.n; i++)
        if (!t->degrees.p[i].measured)
            t->degrees.p[n++] = t->degrees.p[i];
    t->degrees.n = n;
}

enum status prepare_sizes_again(struct prepared *p, struct err *err)
{
    if (!source_is_server(p->source))
        return OK;
    for (size_t i = 0; i < p->schema.tables.n; i++)
        forget(&p->schema.tables.p[i]);
    return prepare_public_sizes(p, err);
}

/* --- in the transaction that counts --------------------------------------- */

static bool is_measured(const struct table *t)
{
    for (size_t i = 0; i < t->degrees.n; i++)
        if (t->degrees.p[i].measured)
            return true;
    return false;
}

/* The database counts: the public table is read in the same transaction. */
static enum status still_holds(struct prepared *p, uint32_t table,
                               struct err *err)
{
    struct store *st = NULL;
    TRY(store_new(&p->session->mem, &p->schema, &st, err));
    enum status s = source_load_whole(p->source, table, st, NULL, err);
    if (s == OK)
        s = evaluate_measured(p, table, st, err);
    store_free(st);
    return s;
}

enum status evaluate_sizes(struct prepared *p, const struct evaluated *e,
                           struct err *err)
{
    const struct schema *s = &p->schema;
    if (!source_is_server(p->source))
        return OK;
    for (uint32_t t = 0; t < s->tables.n; t++) {
        bool used = false;
        for (size_t i = 0; i < p->n_counts; i++)
            used |= prepare_count_uses(&p->counts[i], t);
        if (!is_measured(&s->tables.p[t]))
            continue;
        if (e->store && e->store->tables[t].loaded)
            TRY(evaluate_measured(p, t, e->store, err));
        else if (used || s->has_entities)
            TRY(still_holds(p, t, err));
    }
    return OK;
}
