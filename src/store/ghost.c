/*
 * What the cell rule takes away, kept for those who find owners by it
 * (entity/own.h): a cell that is not of its type is NULL for counting, but
 * still refers to what its bytes say; a row that does not exist for counting
 * still belongs to someone and hands that on.
 *
 * Only columns that `leads` are kept, and only what the rule changed: nothing
 * where every cell is fine.
 */
#include "store/builder.h"

#include "store/packed.h"

enum status loader_keep_raw(struct store_loader *l, struct builder *b,
                            struct str s, struct err *err)
{
    if (!b->column->leads || b->mode == B_GUARD)
        return OK;
    struct store_raw r = {l->n_rows, str_copy(&l->st->arena, s)};
    if (!r.text.p || !VEC_PUSH(&l->arena, &b->raw, r))
        return store_nomem(l->st->mem, err);
    return OK;
}

void loader_forget_raw(const struct store_loader *l, struct builder *b)
{
    while (b->raw.n && b->raw.p[b->raw.n - 1].row == l->n_rows)
        b->raw.n--;
}

static bool is_null(const struct builder *b, size_t row)
{
    return b->nulls && ((b->nulls[row >> 6] >> (row & 63)) & 1);
}

static const struct store_raw *raw_at(const struct builder *b, size_t row)
{
    size_t lo = 0, hi = b->raw.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->raw.p[mid].row < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < b->raw.n && b->raw.p[lo].row == row ? &b->raw.p[lo] : NULL;
}

/* An entry of a dictionary that is not finished yet, as its column will give
 * it. */
static enum status entry_value(struct store_loader *l, const struct builder *b,
                               struct str e, struct value *out, struct err *err)
{
    struct arena *a = &l->st->arena;
    char buf[PACKED_TEXT];
    bool number = !e.p || b->want == T_DEC || b->want == T_UNKNOWN;
    struct str s = e;
    if (!e.p)
        s = (struct str){buf, packed_print(e.n, buf)};
    s = str_copy(a, s);
    if (!s.p)
        return store_nomem(l->st->mem, err);
    if ((number && value_parse_number(a, s, out)) ||
        (b->want == T_UUID && value_parse(a, s, T_UUID, out)))
        return OK;
    *out = value_text(s);
    return OK;
}

static enum status cell_of(struct store_loader *l, const struct builder *b,
                           size_t row, struct value *out, struct err *err)
{
    const struct store_raw *r = raw_at(b, row);
    enum type t = b->want == T_UNKNOWN ? T_INT : b->want;
    if (r)
        *out = value_text(r->text);
    else if (is_null(b, row))
        *out = value_null();
    else if (b->mode == B_DICT)
        return entry_value(l, b, b->dict.entries[b->code[row]], out, err);
    else if (b->mode == B_F64)
        *out = (struct value){.type = T_REAL, .f = b->f64[row]};
    else
        *out = (struct value){
            .type = t, .i = b->mode == B_I32 ? b->i32[row] : b->i64[row]};
    return OK;
}

static enum status keep_cells(struct store_loader *l, struct builder *b,
                              struct store_column *c, struct err *err)
{
    struct value *v = NEWS(&l->st->arena, struct value, l->n_dropped + 1);
    if (!v)
        return store_nomem(l->st->mem, err);
    if (b->mode == B_DICT && !dict_flush(&b->dict, b->code))
        return store_nomem(l->st->mem, err);
    for (size_t i = 0; i < l->n_dropped; i++)
        TRY(cell_of(l, b, l->dropped[i], &v[i], err));
    c->ghosts = v;
    return OK;
}

/* Rows get the numbers they have once the others are gone. */
static enum status keep_raw(struct store_loader *l, const struct builder *b,
                            struct store_column *c, struct err *err)
{
    struct store_raw *to = NEWS(&l->st->arena, struct store_raw, b->raw.n + 1);
    size_t before = 0;
    if (!to)
        return store_nomem(l->st->mem, err);
    c->raw = to;
    for (size_t i = 0; i < b->raw.n; i++) {
        size_t row = b->raw.p[i].row;
        while (before < l->n_dropped && l->dropped[before] < row)
            before++;
        if (before < l->n_dropped && l->dropped[before] == row)
            continue;
        to[c->n_raw++] = (struct store_raw){row - before, b->raw.p[i].text};
    }
    return OK;
}

enum status loader_keep_ghosts(struct store_loader *l, struct err *err)
{
    struct store_table *t = &l->st->tables[l->table];
    for (size_t i = 0; i < l->n_cols; i++) {
        struct builder *b = &l->cols[i];
        struct store_column *c = &t->cols[b->index];
        if (!b->column->leads || b->mode == B_GUARD)
            continue;
        if (b->raw.n)
            TRY(keep_raw(l, b, c, err));
        if (!l->n_dropped)
            continue;
        TRY(keep_cells(l, b, c, err));
        t->n_ghosts = l->n_dropped;
    }
    return OK;
}
