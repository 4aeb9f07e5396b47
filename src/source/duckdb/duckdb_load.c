/*
 * Rows of DuckDB: the wanted columns in chunks of its vectors. Numbers, dates
 * and texts are taken as they stand in the vectors; decimals are integers with
 * a scale of their column. Chunks in which no cell can be odd are taken column
 * by column (duckdb_columns.c), the others row by row.
 *
 * PRIVACY: no statement here fails on some rows only: columns are read as they
 * are, or cast to text, or by TRY_CAST. What fails all the same (a broken page,
 * memory) is E_LOST.
 */
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "source/duckdb/duckdb_int.h"
#include "store/packed.h"

#define INT_CELL(name, T)                                                      \
    static enum status name(struct store_loader *l,                            \
                            const struct duck_cells *c, uint64_t row,          \
                            struct err *err)                                   \
    {                                                                          \
        return cell_int(l, c->i, ((const T *)c->v.data)[row], err);            \
    }
INT_CELL(cell_i8, int8_t)
INT_CELL(cell_i16, int16_t)
INT_CELL(cell_i32, int32_t)
INT_CELL(cell_i64, int64_t)
INT_CELL(cell_u8, uint8_t)
INT_CELL(cell_u16, uint16_t)
INT_CELL(cell_u32, uint32_t)
#undef INT_CELL

static enum status cell_f32(struct store_loader *l, const struct duck_cells *c,
                            uint64_t row, struct err *err)
{
    return cell_real(l, c->i, (double)((const float *)c->v.data)[row], err);
}

static enum status cell_f64(struct store_loader *l, const struct duck_cells *c,
                            uint64_t row, struct err *err)
{
    return cell_real(l, c->i, ((const double *)c->v.data)[row], err);
}

static enum status cell_string(struct store_loader *l,
                               const struct duck_cells *c, uint64_t row,
                               struct err *err)
{
    return cell_text(l, c->i, duck_text_at(&c->v, row), err);
}

static enum status typed(struct store_loader *l, size_t i, enum type t,
                         int64_t v, struct err *err)
{
    struct value x = {.type = t, .i = v};
    return cell_value(l, i, &x, err);
}

static enum status cell_bool(struct store_loader *l, const struct duck_cells *c,
                             uint64_t row, struct err *err)
{
    return typed(l, c->i, T_BOOL, ((const uint8_t *)c->v.data)[row] != 0, err);
}

static enum status cell_time(struct store_loader *l, const struct duck_cells *c,
                             uint64_t row, struct err *err)
{
    return typed(l, c->i, T_TIME, ((const int64_t *)c->v.data)[row], err);
}

/* Beyond the calendar: a value that its column does not take. */
static enum status beyond(struct store_loader *l, size_t i, int64_t v,
                          struct err *err)
{
    return cell_ill_typed(l, i, (struct str){(const char *)&v, sizeof v}, err);
}

static enum status cell_date(struct store_loader *l, const struct duck_cells *c,
                             uint64_t row, struct err *err)
{
    int64_t v = ((const int32_t *)c->v.data)[row];
    if (v == INT32_MAX || v == -INT32_MAX)
        return typed(l, c->i, T_DATE, v > 0 ? INT64_MAX : INT64_MIN, err);
    return v < duck_first_day || v > duck_last_day
               ? beyond(l, c->i, v, err)
               : typed(l, c->i, T_DATE, v, err);
}

static enum status cell_moment(struct store_loader *l,
                               const struct duck_cells *c, uint64_t row,
                               struct err *err)
{
    int64_t v = ((const int64_t *)c->v.data)[row];
    if (v == INT64_MAX || v == -INT64_MAX)
        return typed(l, c->i, T_TIMESTAMP, v > 0 ? INT64_MAX : INT64_MIN, err);
    return v < duck_first_moment ? beyond(l, c->i, v, err)
                                 : typed(l, c->i, T_TIMESTAMP, v, err);
}

/* The canonical decimal of m / 10^scale. */
static struct str decimal_text(u128 m, bool neg, unsigned scale,
                               char out[U128_DIGITS + 8])
{
    char digits[U128_DIGITS];
    const char *p = u128_text(m, digits);
    size_t n = strlen(p), k = 0;
    if (neg)
        out[k++] = '-';
    if (n <= scale) {
        out[k++] = '0';
        out[k++] = '.';
        for (size_t i = n; i < scale; i++)
            out[k++] = '0';
        memcpy(out + k, p, n);
        k += n;
    } else {
        memcpy(out + k, p, n - scale);
        k += n - scale;
        out[k] = '.';
        memcpy(out + k + 1, p + n - scale, scale);
        k += scale ? 1 + scale : 0;
    }
    while (scale && out[k - 1] == '0')
        k--;
    if (k && out[k - 1] == '.')
        k--;
    return (struct str){out, k};
}

static enum status decimal(struct store_loader *l, const struct duck_cells *c,
                           __int128 v, struct err *err)
{
    const int64_t most = INT64_C(1000000000000000);
    char out[U128_DIGITS + 8];
    if (l->cols[c->i].packs && v > -most && v < most &&
        c->scale <= PACKED_DIGITS)
        return cell_packed(l, c->i, packed_of((int64_t)v, c->scale), err);
    u128 m = v < 0 ? -(u128)v : (u128)v;
    return cell_number(l, c->i, decimal_text(m, v < 0 && m, c->scale, out),
                       err);
}

#define DEC_CELL(name, T)                                                      \
    static enum status name(struct store_loader *l,                            \
                            const struct duck_cells *c, uint64_t row,          \
                            struct err *err)                                   \
    {                                                                          \
        return decimal(l, c, ((const T *)c->v.data)[row], err);                \
    }
DEC_CELL(cell_d16, int16_t)
DEC_CELL(cell_d32, int32_t)
DEC_CELL(cell_d64, int64_t)
DEC_CELL(cell_du64, uint64_t)
#undef DEC_CELL

/* Two words, the lower first; vectors are aligned to 8 only. */
static enum status cell_d128(struct store_loader *l, const struct duck_cells *c,
                             uint64_t row, struct err *err)
{
    const uint64_t *w = (const uint64_t *)c->v.data + 2 * row;
    return decimal(l, c, (__int128)((u128)w[1] << 64 | w[0]), err);
}

static duck_cell_fn decimal_fn(int storage)
{
    switch (storage) {
    case DUCK_SMALLINT:
        return cell_d16;
    case DUCK_INTEGER:
        return cell_d32;
    case DUCK_BIGINT:
        return cell_d64;
    default:
        return cell_d128;
    }
}

static duck_cell_fn fn_of(int type)
{
    switch (type) {
    case DUCK_BOOLEAN:
        return cell_bool;
    case DUCK_TINYINT:
        return cell_i8;
    case DUCK_SMALLINT:
        return cell_i16;
    case DUCK_INTEGER:
        return cell_i32;
    case DUCK_BIGINT:
        return cell_i64;
    case DUCK_UTINYINT:
        return cell_u8;
    case DUCK_USMALLINT:
        return cell_u16;
    case DUCK_UINTEGER:
        return cell_u32;
    case DUCK_UBIGINT:
        return cell_du64;
    case DUCK_HUGEINT:
        return cell_d128;
    case DUCK_FLOAT:
        return cell_f32;
    case DUCK_DOUBLE:
        return cell_f64;
    case DUCK_DATE:
        return cell_date;
    case DUCK_TIME:
        return cell_time;
    case DUCK_TIMESTAMP:
    case DUCK_TIMESTAMP_TZ:
        return cell_moment;
    case DUCK_VARCHAR:
        return cell_string;
    default:
        return NULL;
    }
}

static enum status set_cells(struct duck_rows *r, struct duck_cells *cells,
                             size_t n, struct err *err)
{
    const struct duck_lib *lib = r->d->lib;
    for (size_t i = 0; i < n; i++) {
        duck_handle t = lib->column_logical_type(&r->res, i);
        int id = lib->get_type_id(t);
        cells[i] = (struct duck_cells){.i = i, .type = id, .fn = fn_of(id)};
        if (id == DUCK_DECIMAL) {
            cells[i].scale = lib->decimal_scale(t);
            cells[i].fn = decimal_fn(lib->decimal_internal_type(t));
        }
        lib->destroy_logical_type(&t);
        if (!cells[i].fn)
            return err_internal(err, "duckdb_load: a type that nobody knows");
    }
    return OK;
}

static enum status load_chunk(const struct duck_rows *r,
                              struct duck_cells *cells, struct store_loader *l,
                              struct err *err)
{
    size_t n = l->n_cols;
    for (size_t i = 0; i < n; i++)
        cells[i].v = duck_column(r, i);
    if (duck_is_plain(l, cells, r->n))
        return duck_put_columns(l, cells, r->n, err);
    for (uint64_t row = 0; row < r->n; row++) {
        TRY(loader_room(l, err));
        for (size_t i = 0; i < n; i++)
            TRY(duck_is_null(&cells[i].v, row)
                    ? cell_null(l, i, err)
                    : cells[i].fn(l, &cells[i], row, err));
        TRY(loader_end_row(l, err));
    }
    return OK;
}

/* PRIVACY: the words of a failure may hold cells. */
static enum status lost(enum status s, struct err *err)
{
    return s == E_SOURCE ? err_set(err, E_LOST,
                                   "DuckDB stopped while its "
                                   "rows were read")
                         : s;
}

static enum status scan(const struct source *src, const struct src_table *t,
                        const char *sql, struct store_loader *l,
                        const struct progress *p, struct err *err)
{
    struct duck_rows r;
    struct ticker tick;
    bool more = true;
    struct duck_cells *cells =
        NEWS(&l->arena, struct duck_cells, l->n_cols + 1);
    if (!cells)
        return store_nomem(src->mem, err);
    ticker_init(&tick, p, t->name.p, 0);
    TRY(duck_begin(duck_of(src, t), sql, &r, err));
    enum status s = set_cells(&r, cells, l->n_cols, err);
    if (s == OK) {
        duck_narrow(l, cells);
        if (t->believed_rows > 0 && t->believed_rows < 0x1p40)
            loader_reserve(l, (size_t)t->believed_rows);
    }
    while (s == OK && (s = duck_next(&r, &more, err)) == OK && more) {
        s = load_chunk(&r, cells, l, err);
        if (s == OK)
            s = ticker_tick(&tick, l->n_rows, err);
    }
    duck_end(&r);
    return s;
}

/* What was read is what is expected: looked at once more when it was read. */
enum status duckdb_still_expected(const struct src_table *t, struct err *err)
{
    struct sha256 h;
    if (!t->expected || !t->parquet)
        return OK;
    sha256_init(&h);
    TRY(duckdb_hash_parquet(t, &h, err));
    return source_as_expected(t, &h, err);
}

enum status duckdb_load(struct source *src, const struct src_table *t,
                        struct store_loader *l, const struct progress *p,
                        struct err *err)
{
    uint32_t *from;
    struct sb b;
    loader_guard(l);
    TRY(source_loader_columns(t, l, &from, err));
    sb_init(&b, &l->arena);
    sb_cstr(&b, l->n_cols ? "SELECT " : "SELECT 1");
    for (size_t i = 0; i < l->n_cols; i++) {
        sb_cstr(&b, i ? ", " : "");
        duck_select(&b, &t->cols[from[i]]);
    }
    sb_cstr(&b, " FROM ");
    duck_from(&b, t);
    if (b.failed)
        return store_nomem(src->mem, err);
    TRY(lost(scan(src, t, b.p, l, p, err), err));
    return duckdb_still_expected(t, err);
}

enum status duckdb_read_all(struct source *src, const struct src_table *t,
                            struct err *err)
{
    struct duck_rows r;
    struct sb b;
    struct arena a;
    bool more = true;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    sb_cstr(&b, "SELECT * FROM ");
    duck_from(&b, t);
    enum status s =
        b.failed ? err_nomem(err) : duck_begin(duck_of(src, t), b.p, &r, err);
    if (s == OK) {
        while (s == OK && more)
            s = duck_next(&r, &more, err);
        duck_end(&r);
    }
    arena_fini(&a);
    return lost(s, err);
}
