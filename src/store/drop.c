/*
 * The cell rule's second half: rows that do not exist. While a table is
 * loaded they stay in their places and are listed; at the end they are taken
 * out of every column in one pass, in place, and dictionary entries that no
 * other row uses go with them. What is left is what loading the other rows
 * alone would have given, byte for byte: no trace of a row that does not
 * exist reaches a domain, an inferred type or a limit.
 *
 * Cost: nothing where no row is dropped, else O(rows) for each column.
 */
#include "store/builder.h"

#include <string.h>

static enum status list_row(struct store_loader *l, struct err *err)
{
    if (l->n_dropped == l->dropped_cap) {
        size_t cap = l->dropped_cap ? l->dropped_cap + l->dropped_cap / 2 : 64;
        size_t *p = mem_resize(l->st->mem, l->dropped,
                               l->dropped_cap * sizeof *p, cap * sizeof *p);
        if (!p)
            return store_nomem(l->st->mem, err);
        l->dropped = p;
        l->dropped_cap = cap;
    }
    l->dropped[l->n_dropped++] = l->n_rows;
    return OK;
}

enum status loader_settle(struct store_loader *l, struct err *err)
{
    bool drop = false;
    for (size_t i = 0; i < l->n_cols; i++) {
        struct builder *b = &l->cols[i];
        if (b->state == CELL_FINE)
            continue;
        drop |= b->column->not_null;
        b->odd.n_converted += b->state == CELL_CONVERTED;
        b->odd.n_missing += b->state == CELL_MISSING;
        if (!b->odd.first)
            b->odd.first = l->n_rows + 1;
        b->state = CELL_FINE;
    }
    l->odd = false;
    return drop ? list_row(l, err) : OK;
}

void loader_restart_row(struct store_loader *l)
{
    if (!l->odd)
        return;
    for (size_t i = 0; i < l->n_cols; i++) {
        l->cols[i].state = CELL_FINE;
        loader_forget_raw(l, &l->cols[i]);
    }
    l->odd = false;
}

/* Cells of `size` bytes. */
static void squeeze(const struct store_loader *l, void *block, size_t size)
{
    char *p = block;
    size_t to = l->dropped[0];
    for (size_t i = 0; i < l->n_dropped; i++) {
        size_t from = l->dropped[i] + 1;
        size_t end = i + 1 < l->n_dropped ? l->dropped[i + 1] : l->n_rows;
        memmove(p + to * size, p + from * size, (end - from) * size);
        to += end - from;
    }
}

/* Without a NULL left there is no bitmap, as if there never had been. */
static void squeeze_nulls(struct store_loader *l, struct builder *b)
{
    size_t to = 0, skip = 0;
    uint64_t any = 0;
    if (!b->nulls)
        return;
    for (size_t row = 0; row < l->n_rows; row++) {
        if (skip < l->n_dropped && l->dropped[skip] == row) {
            skip++;
            continue;
        }
        uint64_t bit = (b->nulls[row >> 6] >> (row & 63)) & 1;
        uint64_t *word = &b->nulls[to >> 6];
        *word = (*word & ~((uint64_t)1 << (to & 63))) | bit << (to & 63);
        any |= bit;
        to++;
    }
    for (; to < l->n_rows; to++)
        b->nulls[to >> 6] &= ~((uint64_t)1 << (to & 63));
    if (any)
        return;
    mem_free(l->st->mem, b->nulls, null_words(b->null_cap) * sizeof *b->nulls);
    b->nulls = NULL;
    b->null_cap = 0;
}

static bool is_null(const struct builder *b, size_t row)
{
    return b->nulls && ((b->nulls[row >> 6] >> (row & 63)) & 1);
}

/* Entries that a row uses, in their order; codes follow. The hash table is
 * gone by then. */
static enum status squeeze_entries(struct store_loader *l, struct builder *b,
                                   size_t n_rows, struct err *err)
{
    struct dict *d = &b->dict;
    size_t n = 0, size = (d->n + 1) * sizeof(uint32_t);
    uint32_t *to = mem_alloc(l->st->mem, size); /* zeros */
    if (!to)
        return store_nomem(l->st->mem, err);
    for (size_t row = 0; row < n_rows; row++)
        if (!is_null(b, row))
            to[b->code[row]] = 1;
    for (size_t i = 0; i < d->n; i++)
        if (to[i]) {
            d->entries[n] = d->entries[i];
            to[i] = (uint32_t)n++;
        }
    for (size_t row = 0; row < n_rows; row++)
        if (!is_null(b, row))
            b->code[row] = to[b->code[row]];
    d->n = n;
    mem_free(l->st->mem, to, size);
    return OK;
}

static enum status squeeze_codes(struct store_loader *l, struct builder *b,
                                 struct err *err)
{
    if (!dict_flush(&b->dict, b->code))
        return store_nomem(l->st->mem, err);
    dict_drop_table(&b->dict);
    squeeze(l, b->code, sizeof *b->code);
    squeeze_nulls(l, b);
    return squeeze_entries(l, b, l->n_rows - l->n_dropped, err);
}

enum status loader_drop_rows(struct store_loader *l, struct err *err)
{
    if (!l->n_dropped)
        return OK;
    for (size_t i = 0; i < l->n_cols; i++) {
        struct builder *b = &l->cols[i];
        if (b->mode == B_DICT)
            TRY(squeeze_codes(l, b, err));
        else if (b->mode == B_I64)
            squeeze(l, b->i64, sizeof *b->i64);
        else if (b->mode == B_I32)
            squeeze(l, b->i32, sizeof *b->i32);
        else if (b->mode == B_F64)
            squeeze(l, b->f64, sizeof *b->f64);
        if (b->mode != B_DICT && b->mode != B_GUARD)
            squeeze_nulls(l, b);
    }
    l->n_rows -= l->n_dropped;
    return OK;
}
