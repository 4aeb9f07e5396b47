#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "harness/load_rows.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"

void tiny_random(struct tiny *t, const struct cq *q, int domain, int copies,
                 uint64_t *seed)
{
    memset(t, 0, sizeof *t);
    t->q = q;
    t->domain = domain;
    uint64_t dense = 20 + universe_random(seed, 60);
    for (unsigned i = 0; i < q->schema->tables.n; i++) {
        struct tiny_table *tab = &t->tables[i];
        for (int x = 0; x < domain * domain * copies; x++) {
            if (tab->n_rows == TINY_ROWS || universe_random(seed, 100) > dense)
                continue;
            tab->rows[tab->n_rows][0] = x / copies % domain * TINY_GAP;
            tab->rows[tab->n_rows++][1] = x / copies / domain * TINY_GAP;
        }
    }
}

struct store *store_empty(struct rules *r)
{
    struct store *st;
    if (store_new(&r->mem, &r->schema, &st, &r->err) != OK)
        fail_msg("%s", r->err.message);
    return st;
}

void store_rows(struct rules *r, struct store *st, size_t table,
                const int *rows, size_t n_rows, size_t stride)
{
    struct store_loader *l;
    bool wanted[TINY_COLS] = {true, true, true};
    size_t cols = r->schema.tables.p[table].n_cols;
    if (store_load_begin(st, table, wanted, &l, &r->err) != OK)
        fail_msg("%s", r->err.message);
    for (size_t i = 0; i < n_rows; i++) {
        struct value v[TINY_COLS];
        for (size_t c = 0; c < cols; c++)
            v[c] = value_int(rows[i * stride + c]);
        if (store_load_values(l, v, &r->err) != OK)
            fail_msg("%s", r->err.message);
    }
    if (store_load_end(l, &r->err) != OK)
        fail_msg("%s", r->err.message);
}

struct store *tiny_store(struct rules *r, const struct tiny *t)
{
    struct store *st = store_empty(r);
    for (size_t i = 0; i < r->schema.tables.n; i++)
        store_rows(r, st, i, t->tables[i].rows[0], t->tables[i].n_rows,
                   TINY_COLS);
    return st;
}
