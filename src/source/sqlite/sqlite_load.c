/* Rows of a SQLite table, by a plain scan of the wanted columns. */
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

#include <sqlite3.h>

static enum status scan_failed(struct source *src, struct err *err)
{
    if (sqlite3_errcode(src->sqlite) == SQLITE_NOMEM)
        return err_nomem(err);
    return err_set(err, E_SOURCE, "could not read SQLite database \"%.*s\": %s",
                   PSTR(src->sqlite_path), sqlite3_errmsg(src->sqlite));
}

static struct str column_in_file(const struct src_column *c)
{
    return c->stored.n ? c->stored : c->name;
}

static struct str table_in_file(const struct src_table *t)
{
    return t->stored.n ? t->stored : t->name;
}

static enum status select_sql(const struct src_table *t, const uint32_t *from,
                              struct store_loader *l, struct sb *b,
                              struct err *err)
{
    sb_init(b, &l->arena);
    sb_cstr(b, "SELECT ");
    for (size_t c = 0; c < l->n_cols; c++) {
        sb_cstr(b, c ? ", " : "");
        sqlgen_ident(b, column_in_file(&t->cols[from[c]]));
    }
    sb_cstr(b, l->n_cols ? " FROM main." : "1 FROM main.");
    sqlgen_ident(b, table_in_file(t));
    return b->failed ? store_nomem(l->st->mem, err) : OK;
}

static enum status text_cell(struct store_loader *l, sqlite3_value *v, size_t i,
                             struct err *err)
{
    const char *p = (const char *)sqlite3_value_text(v);
    if (!p)
        return err_nomem(err);
    struct str s = {p, (size_t)sqlite3_value_bytes(v)};
    return cell_text(l, i, s, err);
}

static enum status decimal_cell(struct store_loader *l, sqlite3_value *v,
                                size_t i, struct err *err)
{
    const char *p = (const char *)sqlite3_value_text(v);
    if (!p)
        return err_nomem(err);
    struct str s = {p, (size_t)sqlite3_value_bytes(v)};
    return cell_number(l, i, s, err);
}

static enum status blob_cell(struct store_loader *l, sqlite3_value *v, size_t i,
                             struct err *err)
{
    const char *p = sqlite3_value_blob(v); /* NULL: it is empty */
    struct str s = {p ? p : "", (size_t)sqlite3_value_bytes(v)};
    return cell_ill_typed(l, i, s, err);
}

/*
 * By sqlite3_value_*, which only look, where each sqlite3_column_* finds the
 * row's cell and the connection's state again: half the time of a cell. The
 * value is read at once and no other thread has the connection, as its manual
 * asks of values that nobody locked.
 */
static enum status load_cell(struct store_loader *l, sqlite3_stmt *st, size_t i,
                             struct err *err)
{
    sqlite3_value *v = sqlite3_column_value(st, (int)i);
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        return cell_int(l, i, sqlite3_value_int64(v), err);
    case SQLITE_FLOAT:
        return cell_real(l, i, sqlite3_value_double(v), err);
    case SQLITE_NULL:
        return cell_null(l, i, err);
    case SQLITE_TEXT:
        return text_cell(l, v, i, err);
    default:
        return blob_cell(l, v, i, err);
    }
}

/* In a sealed copy a date is its number and a decimal its digits, whatever the
 * files looked like that it was made from. */
static enum status load_sealed(struct store_loader *l, sqlite3_stmt *st,
                               size_t i, struct err *err)
{
    sqlite3_value *v = sqlite3_column_value(st, (int)i);
    enum type t = l->cols[i].want;
    bool by_number =
        t == T_BOOL || t == T_DATE || t == T_TIMESTAMP || t == T_TIME;
    if (t == T_DEC && sqlite3_value_type(v) == SQLITE_TEXT)
        return decimal_cell(l, v, i, err);
    if (!by_number || sqlite3_value_type(v) != SQLITE_INTEGER)
        return load_cell(l, st, i, err);
    struct value x = {.type = t, .i = sqlite3_value_int64(v)};
    return cell_value(l, i, &x, err);
}

static enum status load_row(struct store_loader *l, sqlite3_stmt *st,
                            bool sealed, struct err *err)
{
    TRY(loader_room(l, err));
    for (size_t i = 0; i < l->n_cols; i++)
        TRY(sealed ? load_sealed(l, st, i, err) : load_cell(l, st, i, err));
    return loader_end_row(l, err);
}

static enum status scan(struct source *src, sqlite3_stmt *st,
                        const struct src_table *t, struct store_loader *l,
                        const struct progress *p, struct err *err)
{
    enum { ROWS_PER_LOOK = 4096 };
    struct ticker tick;
    int rc;
    ticker_init(&tick, p, t->name.p, 0);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        TRY(load_row(l, st, src->is_sealed, err));
        if (l->n_rows % ROWS_PER_LOOK == 0)
            TRY(ticker_tick(&tick, l->n_rows, err));
    }
    return rc == SQLITE_DONE ? OK : scan_failed(src, err);
}

enum status sqlite_load(struct source *src, const struct src_table *t,
                        struct store_loader *l, const struct progress *p,
                        struct err *err)
{
    uint32_t *from;
    struct sb b;
    sqlite3_stmt *st;
    loader_guard(l);
    TRY(source_loader_columns(t, l, &from, err));
    TRY(select_sql(t, from, l, &b, err));
    if (sqlite3_prepare_v2(src->sqlite, b.p, -1, &st, NULL) != SQLITE_OK)
        return scan_failed(src, err);
    enum status s = scan(src, st, t, l, p, err);
    sqlite3_finalize(st);
    return s;
}

/* SQLite makes a value of every column of a result, long ones on pages of their
 * own included. */
enum status sqlite_read_all(struct source *src, const struct src_table *t,
                            struct err *err)
{
    struct arena a;
    struct sb b;
    sqlite3_stmt *st = NULL;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    sb_cstr(&b, "SELECT ");
    for (size_t i = 0; i < t->n_cols; i++) {
        sb_cstr(&b, i ? ", " : "");
        sqlgen_ident(&b, column_in_file(&t->cols[i]));
    }
    sb_cstr(&b, " FROM main.");
    sqlgen_ident(&b, table_in_file(t));
    int rc = b.failed ? SQLITE_NOMEM
                      : sqlite3_prepare_v2(src->sqlite, b.p, -1, &st, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW)
        rc = sqlite3_step(st);
    enum status s = rc == SQLITE_DONE ? OK
                    : b.failed        ? err_nomem(err)
                                      : scan_failed(src, err);
    sqlite3_finalize(st);
    arena_fini(&a);
    return s;
}

enum status sqlite_has_more(struct source *src, const struct src_table *t,
                            size_t rows, bool *out, struct err *err)
{
    struct arena a;
    struct sb b;
    sqlite3_stmt *st = NULL;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    sb_cstr(&b, "SELECT 1 FROM main.");
    sqlgen_ident(&b, table_in_file(t));
    sb_printf(&b, " LIMIT 1 OFFSET %zu", rows);
    int rc = b.failed ? SQLITE_NOMEM
                      : sqlite3_prepare_v2(src->sqlite, b.p, -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    *out = rc == SQLITE_ROW;
    enum status s = rc == SQLITE_ROW || rc == SQLITE_DONE ? OK
                    : b.failed                            ? err_nomem(err)
                               : scan_failed(src, err);
    sqlite3_finalize(st);
    arena_fini(&a);
    return s;
}
