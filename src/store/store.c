/* The store: see store.h. Columns are blocks of the budget, one each. */
#include "store/store.h"

#include "store/builder.h"
#include "store/store_int.h"

enum status store_nomem(const struct mem *m, struct err *err)
{
    if (!atomic_load(&m->over_limit))
        return err_nomem(err);
    err_set(err, E_LIMIT, "the data do not fit the memory limit of %zu bytes",
            m->limit);
    err_hint(err, "Raise --memory, or let the database compute.");
    return E_LIMIT;
}

enum status store_new(struct mem *m, const struct schema *s, struct store **out,
                      struct err *err)
{
    *out = NULL;
    struct store *st = mem_alloc(m, sizeof *st);
    if (!st)
        return store_nomem(m, err);
    st->mem = m;
    st->schema = s;
    st->n_tables = s->tables.n;
    arena_init(&st->arena, m);
    st->tables = NEWS(&st->arena, struct store_table, st->n_tables);
    bool ok = st->tables != NULL;
    for (size_t t = 0; ok && t < st->n_tables; t++) {
        st->tables[t].n_cols = s->tables.p[t].n_cols;
        st->tables[t].cols =
            NEWS(&st->arena, struct store_column, s->tables.p[t].n_cols);
        ok = st->tables[t].cols != NULL;
    }
    if (!ok) {
        store_free(st);
        return store_nomem(m, err);
    }
    *out = st;
    return OK;
}

void store_table_clear(struct store *st, size_t table)
{
    struct store_table *t = &st->tables[table];
    size_t n = t->n_rows;
    for (size_t i = 0; t->cols && i < t->n_cols; i++) {
        struct store_column *c = &t->cols[i];
        mem_free(st->mem, (void *)(uintptr_t)c->i64, n * sizeof *c->i64);
        mem_free(st->mem, (void *)(uintptr_t)c->i32, n * sizeof *c->i32);
        mem_free(st->mem, (void *)(uintptr_t)c->f64, n * sizeof *c->f64);
        mem_free(st->mem, (void *)(uintptr_t)c->code, n * sizeof *c->code);
        mem_free(st->mem, (void *)(uintptr_t)c->dict,
                 c->n_dict * sizeof *c->dict);
        mem_free(st->mem, (void *)(uintptr_t)c->nulls,
                 null_words(n) * sizeof *c->nulls);
        *c = (struct store_column){0};
    }
    t->n_rows = t->n_dropped = t->n_ghosts = 0;
    t->loaded = false;
}

void store_free(struct store *st)
{
    if (!st)
        return;
    for (size_t t = 0; st->tables && t < st->n_tables; t++)
        store_table_clear(st, t);
    arena_fini(&st->arena);
    mem_free(st->mem, st, sizeof *st);
}

struct value column_dict_value(const struct store_column *c, size_t code)
{
    struct value v = {.type = c->type, .s = c->dict[code]};
    if (c->type == T_TEXT && code < c->n_numeric)
        v.type = T_DEC;
    struct value whole;
    if (c->inferred && v.type == T_DEC && value_parse(NULL, v.s, T_INT, &whole))
        return whole; /* reading an integer allocates nothing */
    return v;
}

struct value column_value(const struct store_column *c, size_t row)
{
    if (column_is_null(c, row))
        return value_null();
    if (c->code)
        return column_dict_value(c, c->code[row]);
    struct value v = {.type = c->type};
    if (c->type == T_REAL)
        v.f = c->f64[row];
    else
        v.i = column_int(c, row);
    return v;
}
