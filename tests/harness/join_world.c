/* A rule, its tables and an open engine: see join_world.h. */
#include "harness/join_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "join/join_int.h"

void world_read(struct world *w, const char *rule)
{
    memset(w, 0, sizeof *w);
    w->polls = -1;
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
    assert_int_equal(
        cq_read(&w->arena, &w->schema, str_of(rule), &w->q, &w->err), OK);
    assert_int_equal(store_new(&w->mem, &w->schema, &w->st, &w->err), OK);
}

void world_lend(struct world *w, size_t table, size_t n_rows,
                const int64_t *const *wide, const int32_t *const *narrow)
{
    struct store_table *t = &w->st->tables[table];
    size_t n = w->schema.tables.p[table].n_cols;
    struct store_column *c = NEWS(&w->arena, struct store_column, n);
    assert_non_null(c);
    for (size_t i = 0; i < n; i++) {
        c[i].present = true;
        c[i].type = T_INT;
        c[i].i64 = narrow ? NULL : wide[i];
        c[i].i32 = narrow ? narrow[i] : NULL;
    }
    t->cols = c;
    t->n_cols = n;
    t->n_rows = n_rows;
    t->loaded = true;
    w->lent |= (uint64_t)1 << table;
}

static bool too_long(void *ctx)
{
    atomic_long *left = ctx;
    long n = atomic_load(left);
    while (n > 0 && !atomic_compare_exchange_weak(left, &n, n - 1))
        ;
    return n > 0 ? n == 1 : n == 0;
}

void world_join(struct world *w, unsigned threads, bool large)
{
    struct join_options opt = {
        .threads = threads, .cancelled = too_long, .ctx = &w->polls};
    assert_int_equal(join_open(&w->mem, w->q, w->st, &opt, &w->j, &w->err), OK);
    if (large)
        w->j->near = 0;
}

void world_close(struct world *w)
{
    join_close(w->j);
    for (size_t k = 0; k < w->st->n_tables; k++)
        if (w->lent >> k & 1) {
            w->st->tables[k].cols = NULL;
            w->st->tables[k].n_cols = 0;
            w->st->tables[k].loaded = false;
        }
    store_free(w->st);
    arena_fini(&w->arena);
    assert_int_equal(atomic_load(&w->mem.used), 0);
}
