/*
 * Builders: the columns of a table while it is loaded. For the store's own
 * loader and for sources that write cells without going through struct value
 * (delimited files, binary COPY).
 *
 *     for each row:
 *         TRY(loader_room(l, err));
 *         for each column i: one of cell_*(l, i, ...)
 *         TRY(loader_end_row(l, err));
 *
 * The cell rule. PRIVACY: a value that is not of its column's declared type is
 * NULL, and a row with a NULL in a NOT NULL column does not exist. Each row
 * decides for itself, so neighbouring sources give neighbouring or equal
 * tables, and no row makes a load fail. Rows that do not exist are taken out
 * at the end, with the dictionary entries that only they used, as if they had
 * never been there. For that a loader of cells that nobody has checked yet
 * looks at all NOT NULL columns, also at those that were not asked for
 * (loader_guard): whether a row exists must not depend on the question.
 *
 * A column without declared type starts as integers and stays so while every
 * text is a canonical integer (the one that printing gives back), so that
 * nothing is lost when a later cell is not: then the integers go into a
 * dictionary, numbers by their value and all else as raw text, and
 * builder_finish decides.
 */
#ifndef STORE_BUILDER_H
#define STORE_BUILDER_H

#include "store/dict.h"
#include "store/store.h"

/* B_GUARD keeps nothing: it looks whether the row exists. */
enum builder_mode { B_I64, B_I32, B_F64, B_DICT, B_GUARD };

/* Of the current row's cell. */
enum cell_state { CELL_FINE, CELL_CONVERTED, CELL_MISSING };

struct builder {
    const struct column *column; /* name, type, NOT NULL */
    uint32_t index;              /* in the table */
    enum type want;              /* the declared type */
    enum builder_mode mode;
    bool plain_int; /* B_I64 and INT or undeclared: takes integers as is */
    bool packs;     /* B_DICT and DEC or undeclared: numbers go in packed */
    bool formed;    /* texts are written in a form of their own (schema.h) */
    bool any_text;  /* B_DICT and TEXT or undeclared: takes texts unasked */
    int64_t *i64;   /* one of these four, of `cap` rows */
    int32_t *i32;   /* after loader_narrow */
    double *f64;
    uint32_t *code;
    uint64_t *nulls; /* NULL until the first null; of null_cap rows */
    size_t cap, null_cap;
    struct dict dict;
    enum cell_state state;
    struct store_odd odd;
    VEC(struct store_raw) raw; /* ghost.c; rows as loaded */
};

struct store_loader {
    struct store *st;
    size_t table;
    struct builder *cols; /* the wanted ones, then guards */
    size_t n_cols;
    bool odd;        /* a cell of the current row is not CELL_FINE */
    size_t *dropped; /* rows that do not exist, rising */
    size_t n_dropped, dropped_cap;
    size_t n_rows, cap;   /* room that every column has */
    struct arena arena;   /* of the loader */
    struct arena scratch; /* for parsing one cell; emptied now and then */
    size_t scratch_uses;
};

/* Makes room for row n_rows in every column. */
enum status loader_grow(struct store_loader *l, struct err *err) WARN_UNUSED;
/* Column i gets integers of 32 bits and NULLs only: half the room from the
 * first row on. Before any room is made, else nothing happens; nor where the
 * column is not one of integers. */
void loader_narrow(struct store_loader *l, size_t i);
/* Room for about so many rows at once, where memory is plenty: only a hint,
 * nothing fails. */
void loader_reserve(struct store_loader *l, size_t rows);
static inline enum status loader_room(struct store_loader *l, struct err *err)
{
    return l->n_rows < l->cap ? OK : loader_grow(l, err);
}

/* NOT NULL columns that are not wanted are looked at, too. Before the first
 * row; columns of the loader follow for which cells are then given. */
void loader_guard(struct store_loader *l);
/* Counts what the cell rule did to the row, and takes it out if need be. */
enum status loader_settle(struct store_loader *l, struct err *err) WARN_UNUSED;
/* The row's cells will be given once more, from the first on. */
void loader_restart_row(struct store_loader *l);
static inline enum status loader_end_row(struct store_loader *l,
                                         struct err *err)
{
    if (__builtin_expect(l->odd, 0))
        TRY(loader_settle(l, err));
    l->n_rows++;
    return OK;
}
/* ghost.c: keeps the bytes of the current row's cell if it may lead to an
 * owner; takes that back; and, before rows are dropped, keeps what they and
 * such cells say of owners. */
enum status loader_keep_raw(struct store_loader *l, struct builder *b,
                            struct str s, struct err *err) WARN_UNUSED;
void loader_forget_raw(const struct store_loader *l, struct builder *b);
enum status loader_keep_ghosts(struct store_loader *l,
                               struct err *err) WARN_UNUSED;
/* drop.c: takes the rows that do not exist out of all columns. */
enum status loader_drop_rows(struct store_loader *l,
                             struct err *err) WARN_UNUSED;

/* A value that its column does not take (a BLOB): by the cell rule. raw: its
 * bytes, by which owners may still be found. */
enum status cell_ill_typed(struct store_loader *l, size_t i, struct str raw,
                           struct err *err) WARN_UNUSED;
enum status cell_null(struct store_loader *l, size_t i,
                      struct err *err) WARN_UNUSED;
enum status cell_text(struct store_loader *l, size_t i, struct str s,
                      struct err *err) WARN_UNUSED;
/* Digits that are a number in the source already: a decimal comma of the policy
 * is for texts. */
enum status cell_number(struct store_loader *l, size_t i, struct str s,
                        struct err *err) WARN_UNUSED;
/* A short decimal (packed.h) where the builder `packs`. */
enum status cell_packed(struct store_loader *l, size_t i, uint64_t packed,
                        struct err *err) WARN_UNUSED;
enum status cell_int(struct store_loader *l, size_t i, int64_t v,
                     struct err *err) WARN_UNUSED;
enum status cell_real(struct store_loader *l, size_t i, double v,
                      struct err *err) WARN_UNUSED;
/* DATE, TIMESTAMP, TIME, BOOL by their number, when the column has just that
 * type; the text otherwise. */
enum status cell_value(struct store_loader *l, size_t i, const struct value *v,
                       struct err *err) WARN_UNUSED;

/* Moves the builder's content into the column; frees the rest. */
enum status builder_finish(struct store_loader *l, struct builder *b,
                           struct store_column *out,
                           struct err *err) WARN_UNUSED;
void builder_fini(struct store_loader *l, struct builder *b);

/* Decimals that are not digits; NaN is the largest number. */
static inline bool is_special_decimal(struct str s)
{
    return str_is(s, "NaN") || str_is(s, "Infinity") || str_is(s, "-Infinity");
}

static inline size_t null_words(size_t rows)
{
    return (rows + 63) / 64;
}

#endif
