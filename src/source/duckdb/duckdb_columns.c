/*
 * A chunk of DuckDB column by column, where no cell of it can be odd: numbers
 * are copied as they stand in the vectors. All other chunks are taken row by
 * row (duckdb_load.c), as the cell rule has it.
 */
#include "source/duckdb/duckdb_int.h"

/* 4713-11-24 BC and 5874897-12-31, the calendar of PostgreSQL; days and
 * microseconds from 1970. */
const int64_t duck_first_day = -2440588, duck_last_day = 2145031948;
const int64_t duck_first_moment = -210866803200000000;

static bool is_narrow(int type)
{
    return type == DUCK_TINYINT || type == DUCK_SMALLINT ||
           type == DUCK_INTEGER || type == DUCK_UTINYINT ||
           type == DUCK_USMALLINT;
}

void duck_narrow(struct store_loader *l, const struct duck_cells *cells)
{
    for (size_t i = 0; i < l->n_cols; i++)
        if (is_narrow(cells[i].type))
            loader_narrow(l, i);
}

/* --- which chunks --------------------------------------------------------- */

/* Does the column take every value that a vector of the type can have, or all
 * but days beyond the calendar? */
static bool takes_all(const struct builder *b, int type)
{
    bool guard = b->mode == B_GUARD;
    switch (type) {
    case DUCK_TINYINT:
    case DUCK_SMALLINT:
    case DUCK_INTEGER:
    case DUCK_UTINYINT:
    case DUCK_USMALLINT:
        return b->mode == B_I32 || b->plain_int || (guard && b->want == T_INT);
    case DUCK_UINTEGER:
    case DUCK_BIGINT:
        return b->plain_int || (guard && b->want == T_INT);
    case DUCK_DATE:
        return b->want == T_DATE;
    case DUCK_TIMESTAMP:
    case DUCK_TIMESTAMP_TZ:
        return b->want == T_TIMESTAMP;
    case DUCK_VARCHAR:
        return (b->any_text && !b->formed) || (guard && b->want == T_TEXT);
    case DUCK_DECIMAL:
        return b->want == T_DEC && !b->column->form.format.n;
    default:
        return false;
    }
}

static bool is_day(int32_t v)
{
    return v >= duck_first_day && v <= duck_last_day;
}

static bool is_moment(int64_t v)
{
    return v >= duck_first_moment && v != INT64_MAX;
}

/* Where a row is NULL anything may stand. */
static bool in_calendar(const struct duck_cells *c, uint64_t n)
{
    const int32_t *day = c->v.data;
    const int64_t *moment = c->v.data;
    bool beyond = false;
    if (c->v.valid) {
        for (uint64_t row = 0; row < n; row++)
            if (!duck_is_null(&c->v, row))
                beyond |= c->type == DUCK_DATE ? !is_day(day[row])
                                               : !is_moment(moment[row]);
    } else if (c->type == DUCK_DATE) {
        for (uint64_t row = 0; row < n; row++)
            beyond |= !is_day(day[row]);
    } else {
        for (uint64_t row = 0; row < n; row++)
            beyond |= !is_moment(moment[row]);
    }
    return !beyond;
}

static bool has_null(const struct duck_cells *c, uint64_t n)
{
    for (uint64_t row = 0; c->v.valid && row < n; row++)
        if (duck_is_null(&c->v, row))
            return true;
    return false;
}

bool duck_is_plain(const struct store_loader *l, const struct duck_cells *cells,
                   uint64_t n)
{
    for (size_t i = 0; i < l->n_cols; i++) {
        const struct builder *b = &l->cols[i];
        const struct duck_cells *c = &cells[i];
        bool dated = c->type == DUCK_DATE || c->type == DUCK_TIMESTAMP ||
                     c->type == DUCK_TIMESTAMP_TZ;
        if (!takes_all(b, c->type) || (b->column->not_null && has_null(c, n)) ||
            (dated && !in_calendar(c, n)))
            return false;
    }
    return true;
}

/* --- columns -------------------------------------------------------------- */

#define COPY(to, T)                                                            \
    for (uint64_t i_ = 0; i_ < n; i_++)                                        \
    (to)[i_] = ((const T *)data)[i_]

static void copy_narrow(int32_t *to, const void *data, int type, uint64_t n)
{
    if (type == DUCK_INTEGER)
        COPY(to, int32_t);
    else if (type == DUCK_SMALLINT)
        COPY(to, int16_t);
    else if (type == DUCK_TINYINT)
        COPY(to, int8_t);
    else if (type == DUCK_USMALLINT)
        COPY(to, uint16_t);
    else
        COPY(to, uint8_t);
}

static void copy_wide(int64_t *to, const void *data, int type, uint64_t n)
{
    if (type == DUCK_UINTEGER)
        COPY(to, uint32_t);
    else if (type == DUCK_INTEGER || type == DUCK_DATE)
        COPY(to, int32_t);
    else if (type == DUCK_SMALLINT)
        COPY(to, int16_t);
    else if (type == DUCK_TINYINT)
        COPY(to, int8_t);
    else if (type == DUCK_USMALLINT)
        COPY(to, uint16_t);
    else if (type == DUCK_UTINYINT)
        COPY(to, uint8_t);
    else
        COPY(to, int64_t);
}

static enum status put_nulls(struct store_loader *l, const struct duck_cells *c,
                             size_t from, uint64_t n, struct err *err)
{
    for (uint64_t at = 0; c->v.valid && at < n; at += 64) {
        uint64_t nulls = ~c->v.valid[at / 64];
        if (n - at < 64)
            nulls &= ((uint64_t)1 << (n - at)) - 1;
        for (; nulls; nulls &= nulls - 1) {
            l->n_rows = from + at + (unsigned)__builtin_ctzll(nulls);
            TRY(cell_null(l, c->i, err));
        }
    }
    return OK;
}

static enum status put_each(struct store_loader *l, const struct duck_cells *c,
                            size_t from, uint64_t n, struct err *err)
{
    for (uint64_t row = 0; row < n; row++) {
        l->n_rows = from + row;
        TRY(duck_is_null(&c->v, row) ? cell_null(l, c->i, err)
                                     : c->fn(l, c, row, err));
    }
    return OK;
}

static enum status put_column(struct store_loader *l,
                              const struct duck_cells *c, size_t from,
                              uint64_t n, struct err *err)
{
    struct builder *b = &l->cols[c->i];
    if (b->mode == B_GUARD)
        return OK;
    if (b->mode == B_DICT)
        return put_each(l, c, from, n, err);
    if (b->mode == B_I32)
        copy_narrow(b->i32 + from, c->v.data, c->type, n);
    else
        copy_wide(b->i64 + from, c->v.data, c->type, n);
    return put_nulls(l, c, from, n, err);
}

enum status duck_put_columns(struct store_loader *l,
                             const struct duck_cells *cells, uint64_t n,
                             struct err *err)
{
    size_t from = l->n_rows;
    while (l->cap - from < n)
        TRY(loader_grow(l, err));
    for (size_t i = 0; i < l->n_cols; i++)
        TRY(put_column(l, &cells[i], from, n, err));
    l->n_rows = from + n;
    return OK;
}
