/*
 * Loading: the life of a loader and its rows. What a cell becomes stands in
 * cell.c, what a column becomes in finish.c.
 *
 * Memory: a column's block grows by a quarter once it is large (realloc then
 * moves pages, it does not copy them) and is cut to size at the end, so the
 * peak is five quarters of the column.
 */
#include "store/builder.h"

#include <string.h>
#include "store/store_int.h"

/* Rows at first; and from where a column grows by a quarter. */
enum { FIRST_ROWS = 1024, MANY_ROWS = 1 << 16 };

static void builder_init(struct store_loader *l, struct builder *b,
                         uint32_t index)
{
    const struct table *t = &l->st->schema->tables.p[l->table];
    *b = (struct builder){.column = &t->cols[index], .index = index};
    b->want = b->column->type;
    b->mode = b->want == T_REAL ? B_F64 : B_I64;
    if (b->want == T_TEXT || b->want == T_DEC || b->want == T_UUID)
        b->mode = B_DICT;
    b->plain_int = b->want == T_INT || b->want == T_UNKNOWN;
    b->packs = b->want == T_DEC;
    b->any_text = b->want == T_TEXT;
    b->formed = b->column->form.comma || b->column->form.format.n;
    if (b->formed)
        b->plain_int = b->packs = false;
    dict_init(&b->dict, l->st->mem, &l->st->arena);
}

static bool has_column(const struct store_loader *l, uint32_t index)
{
    for (size_t i = 0; i < l->n_cols; i++)
        if (l->cols[i].index == index)
            return true;
    return false;
}

void loader_guard(struct store_loader *l)
{
    const struct table *t = &l->st->schema->tables.p[l->table];
    size_t n = l->st->tables[l->table].n_cols;
    for (uint32_t i = 0; i < n; i++) {
        struct builder *b = &l->cols[l->n_cols];
        if (!t->cols[i].not_null || has_column(l, i))
            continue;
        builder_init(l, b, i);
        b->mode = B_GUARD;
        b->plain_int = b->packs = b->any_text = false;
        l->n_cols++;
    }
}

enum status store_load_begin(struct store *st, size_t table, const bool *wanted,
                             struct store_loader **out, struct err *err)
{
    *out = NULL;
    if (table >= st->n_tables)
        return err_internal(err, "store_load_begin");
    struct store_loader *l = mem_alloc(st->mem, sizeof *l);
    if (!l)
        return store_nomem(st->mem, err);
    *l = (struct store_loader){.st = st, .table = table};
    arena_init(&l->arena, st->mem);
    arena_init(&l->scratch, st->mem);
    size_t n = st->tables[table].n_cols;
    l->cols = NEWS(&l->arena, struct builder, n);
    if (!l->cols) {
        store_load_abort(l);
        return store_nomem(st->mem, err);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!wanted || wanted[i])
            builder_init(l, &l->cols[l->n_cols++], i);
    *out = l;
    return OK;
}

void builder_fini(struct store_loader *l, struct builder *b)
{
    struct mem *m = l->st->mem;
    mem_free(m, b->i64, b->cap * sizeof *b->i64);
    mem_free(m, b->i32, b->cap * sizeof *b->i32);
    mem_free(m, b->f64, b->cap * sizeof *b->f64);
    mem_free(m, b->code, b->cap * sizeof *b->code);
    mem_free(m, b->nulls, null_words(b->null_cap) * sizeof *b->nulls);
    dict_fini(&b->dict);
    b->i64 = NULL;
    b->i32 = NULL;
    b->f64 = NULL;
    b->code = NULL;
    b->nulls = NULL;
}

void store_load_abort(struct store_loader *l)
{
    if (!l)
        return;
    struct mem *m = l->st->mem;
    for (size_t i = 0; i < l->n_cols; i++)
        builder_fini(l, &l->cols[i]);
    mem_free(m, l->dropped, l->dropped_cap * sizeof *l->dropped);
    arena_fini(&l->scratch);
    arena_fini(&l->arena);
    mem_free(m, l, sizeof *l);
}

static bool grow_nulls(struct mem *m, struct builder *b, size_t cap)
{
    if (!b->nulls || b->null_cap >= cap)
        return true;
    size_t from = null_words(b->null_cap), to = null_words(cap);
    uint64_t *p = mem_resize(m, b->nulls, from * 8, to * 8);
    if (!p)
        return false;
    memset(p + from, 0, (to - from) * 8);
    b->nulls = p;
    b->null_cap = cap;
    return true;
}

/* The block of a column; the row type is known by its size. */
static bool grow_block(struct mem *m, void **p, struct builder *b, size_t cap,
                       size_t size)
{
    if (b->cap >= cap)
        return true;
    void *q = mem_resize(m, *p, b->cap * size, cap * size);
    if (!q)
        return false;
    *p = q;
    b->cap = cap;
    return true;
}

static bool grow_builder(struct mem *m, struct builder *b, size_t cap)
{
    switch (b->mode) {
    case B_I64:
        return grow_block(m, (void **)&b->i64, b, cap, sizeof *b->i64);
    case B_I32:
        return grow_block(m, (void **)&b->i32, b, cap, sizeof *b->i32);
    case B_F64:
        return grow_block(m, (void **)&b->f64, b, cap, sizeof *b->f64);
    case B_DICT:
        return grow_block(m, (void **)&b->code, b, cap, sizeof *b->code);
    case B_GUARD:
        return true;
    }
    return false;
}

/* All columns to one capacity; those that have it keep it when one fails. */
static bool grow_to(struct store_loader *l, size_t cap)
{
    struct mem *m = l->st->mem;
    for (size_t i = 0; i < l->n_cols; i++)
        if (!grow_builder(m, &l->cols[i], cap) ||
            !grow_nulls(m, &l->cols[i], cap))
            return false;
    l->cap = cap;
    return true;
}

enum status loader_grow(struct store_loader *l, struct err *err)
{
    size_t more = l->cap < MANY_ROWS ? l->cap : l->cap / 4;
    size_t cap = l->cap ? l->cap + more : FIRST_ROWS;
    /* Codes are 32 bits, but rows need not be; half the address space is the
     * end of growing. */
    if (l->cap > SIZE_MAX / 32 || !grow_to(l, cap))
        return store_nomem(l->st->mem, err);
    return OK;
}

void loader_narrow(struct store_loader *l, size_t i)
{
    struct builder *b = &l->cols[i];
    if (b->cap || !b->plain_int)
        return;
    b->mode = B_I32;
    b->plain_int = false;
}

/* At most a quarter of what the limit leaves: the guess may be too high, and
 * dictionaries need room besides. */
void loader_reserve(struct store_loader *l, size_t rows)
{
    const struct mem *m = l->st->mem;
    size_t used = atomic_load(&m->used), each = 8 * (l->n_cols + 1);
    size_t left = m->limit ? m->limit - (used < m->limit ? used : m->limit)
                           : SIZE_MAX / 32;
    if (rows > l->cap && rows >= FIRST_ROWS && rows <= left / 4 / each)
        (void)!grow_to(l, rows + rows / 64);
}

enum status store_load_end(struct store_loader *l, struct err *err)
{
    struct store *st = l->st;
    struct store_table *t = &st->tables[l->table];
    store_table_clear(st, l->table);
    enum status s = loader_keep_ghosts(l, err);
    if (s == OK)
        s = loader_drop_rows(l, err);
    t->n_rows = l->n_rows;
    t->n_dropped = l->n_dropped;
    for (size_t i = 0; s == OK && i < l->n_cols; i++) {
        struct store_column *c = &t->cols[l->cols[i].index];
        c->odd = l->cols[i].odd;
        if (l->cols[i].mode != B_GUARD)
            s = builder_finish(l, &l->cols[i], c, err);
    }
    t->loaded = s == OK;
    if (s != OK)
        store_table_clear(st, l->table);
    store_load_abort(l);
    return s;
}
