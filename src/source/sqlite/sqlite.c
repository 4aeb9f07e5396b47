/*
 * SQLite databases: opened read-only; the catalogue and all rows are read in
 * one transaction, so that what others write meanwhile (WAL or not) is not
 * seen. The transaction lasts as long as the source.
 *
 * SQLite's types are affinities of columns, and cells may hold anything; the
 * declared type's name decides what dpcount expects, and a cell that does not
 * fit is NULL by the cell rule (store/builder.h); check lists them.
 *
 * Views, virtual tables and the tables in which a virtual table keeps its rows
 * are listed but refused: a row of one of them is a row of others too, and one
 * person's row would count where the analysis takes rows for different ones.
 */
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum status sqlite_failed(struct source *src, const char *what,
                                 struct err *err)
{
    int code = sqlite3_errcode(src->sqlite);
    if (code == SQLITE_NOMEM)
        return err_nomem(err);
    if (code == SQLITE_INTERRUPT)
        return err_set(err, E_CANCELLED, "loading was stopped by the user");
    err_set(err, E_SOURCE, "could not %s SQLite database \"%.*s\": %s", what,
            PSTR(src->sqlite_path), sqlite3_errmsg(src->sqlite));
    if (code == SQLITE_NOTADB)
        err_hint(err, "A delimited file is given with --table 'name=FILE', or "
                      "its folder with --db FOLDER.");
    return E_SOURCE;
}

void sqlite_close(struct source *src)
{
    sqlite3_close(src->sqlite);
    src->sqlite = NULL;
}

static enum status prepare(struct source *src, const struct sb *sql,
                           sqlite3_stmt **out, struct err *err)
{
    if (sql->failed)
        return err_nomem(err);
    if (sqlite3_prepare_v2(src->sqlite, sql->p, -1, out, NULL) != SQLITE_OK)
        return sqlite_failed(src, "read", err);
    return OK;
}

/* --- catalogue
 * --------------------------------------------------------------*/

static bool has_word(const char *decl, const char *word)
{
    return strcasestr(decl, word) != NULL;
}

/* Dates and the like first: SQLite's own rules ("INT" anywhere is an integer)
 * would take POINT for one, and so do we, as the database does. */
static enum type type_of(const char *decl)
{
    if (!decl || !*decl || has_word(decl, "BLOB"))
        return T_UNKNOWN;
    if (has_word(decl, "BOOL"))
        return T_BOOL;
    if (has_word(decl, "TIMESTAMP") || has_word(decl, "DATETIME"))
        return T_TIMESTAMP;
    if (has_word(decl, "DATE"))
        return T_DATE;
    if (strcasecmp(decl, "TIME") == 0)
        return T_TIME;
    if (has_word(decl, "UUID"))
        return T_UUID;
    if (has_word(decl, "INT"))
        return T_INT;
    if (has_word(decl, "CHAR") || has_word(decl, "CLOB") ||
        has_word(decl, "TEXT"))
        return T_TEXT;
    if (has_word(decl, "REAL") || has_word(decl, "FLOA") ||
        has_word(decl, "DOUB"))
        return T_REAL;
    if (has_word(decl, "DEC") || has_word(decl, "NUM"))
        return T_DEC;
    return T_UNKNOWN;
}

/* Does SQLite keep texts that look like numbers as texts, and compare them with
 * no number? Where it knows no type by the name, it makes numbers of them. */
static bool is_by_class(const char *decl)
{
    return !decl || !*decl || has_word(decl, "BLOB") ||
           strcasecmp(decl, "ANY") == 0;
}

/* A NULL is empty; no pointer: memory is out. */
static struct str column_str(struct arena *a, sqlite3_stmt *st, int i)
{
    bool null = sqlite3_column_type(st, i) == SQLITE_NULL;
    const char *p = null ? "" : (const char *)sqlite3_column_text(st, i);
    return p ? str_copy(a, str_of(p)) : (struct str){0};
}

/* Rows that end early must not pass for all: half a key is none. */
static enum status ended(struct source *src, sqlite3_stmt *st, int rc,
                         enum status s, struct err *err)
{
    if (s == OK && rc != SQLITE_DONE)
        s = sqlite_failed(src, "read", err);
    sqlite3_finalize(st);
    return s;
}

/* PRAGMA name("arg"), as a table-valued function would be, in any version. */
static enum status pragma(struct source *src, const char *name, struct str arg,
                          sqlite3_stmt **out, struct err *err)
{
    struct sb b;
    sb_init(&b, &src->arena);
    sb_printf(&b, "PRAGMA main.%s(", name);
    sqlgen_ident(&b, arg);
    sb_char(&b, ')');
    return prepare(src, &b, out, err);
}

typedef VEC(struct src_column) column_list;

/* DECIMAL(15,2): how many digits a sum is exact to. SQLite does not hold its
 * values to it; they are rounded where they are added up. */
static void read_scale(const char *decl, struct src_column *c)
{
    const char *open = decl ? strchr(decl, '(') : NULL;
    const char *comma = open ? strchr(open, ',') : NULL;
    long s = comma ? strtol(comma + 1, NULL, 10) : 0;
    c->has_scale = open && s >= 0 && s <= 12;
    c->scale = c->has_scale ? (uint8_t)s : 0;
}

/* cid, name, type, notnull, default, pk, hidden (2, 3: generated). */
static enum status read_column(struct source *src, sqlite3_stmt *st,
                               column_list *cols, struct src_key *pk,
                               struct err *err)
{
    struct str decl = column_str(&src->arena, st, 2);
    int key = sqlite3_column_int(st, 5);
    struct src_column c = {.name = column_str(&src->arena, st, 1),
                           .type = type_of(decl.p),
                           .by_class = is_by_class(decl.p)};
    /* SQLite lets a PRIMARY KEY be NULL unless it is the row id; the loader
     * refuses a NULL there. */
    if (c.type == T_DEC)
        read_scale(decl.p, &c);
    c.not_null = sqlite3_column_int(st, 3) || key > 0;
    c.is_row_id = key > 0 && !strcasecmp(decl.p ? decl.p : "", "INTEGER");
    if (!decl.p || !c.name.p || !VEC_PUSH(&src->arena, cols, c))
        return err_nomem(err);
    if (key > 0) {
        uint32_t *p = NEWS(&src->arena, uint32_t, pk->n_cols + 1);
        if (!p)
            return err_nomem(err);
        if (pk->n_cols)
            memcpy(p, pk->cols, pk->n_cols * sizeof *p);
        p[pk->n_cols++] = (uint32_t)(cols->n - 1);
        pk->cols = p;
    }
    return OK;
}

static enum status read_columns(struct source *src, struct src_table *t,
                                struct err *err)
{
    sqlite3_stmt *st;
    column_list cols = {0};
    struct src_key pk = {0};
    enum status s = OK;
    TRY(pragma(src, "table_xinfo", t->name, &st, err));
    int rc = SQLITE_DONE;
    while (s == OK && (rc = sqlite3_step(st)) == SQLITE_ROW)
        if (sqlite3_column_int(st, 6) != 1) /* of a virtual table, hidden */
            s = read_column(src, st, &cols, &pk, err);
    s = ended(src, st, rc, s, err);
    t->cols = cols.p;
    t->n_cols = cols.n;
    if (s == OK && pk.n_cols && !VEC_PUSH(&src->arena, &t->keys, pk))
        s = err_nomem(err);
    return s;
}

static uint32_t find_column(const struct src_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->n_cols; i++)
        if (str_eq_nocase(t->cols[i].name, name)) /* a foreign key's text */
            return i;
    return UINT32_MAX;
}

/* Is UNIQUE of the column an equality not finer than ours? PRIVACY: without a
 * type '01', '1' and 1 are three values there and one here. In a table that is
 * STRICT the cells are of the column's type. */
static bool keeps_apart(const struct src_table *t, uint32_t col)
{
    enum type type = t->cols[col].type;
    return t->is_strict && (type == T_INT || type == T_TEXT);
}

static bool all_typed(const struct src_table *t, const struct src_key *k)
{
    for (size_t i = 0; i < k->n_cols; i++)
        if (t->cols[k->cols[i]].type == T_UNKNOWN)
            return false;
    return true;
}

static bool is_row_id(const struct src_table *t, const struct src_key *k)
{
    return k->n_cols == 1 && t->cols[k->cols[0]].is_row_id;
}

/* Keys of columns without a type are none (see keeps_apart); of the others,
 * which does the database keep? The rest waits for a check of the rows. */
static void settle_keys(struct src_table *t)
{
    size_t n = 0;
    for (size_t k = 0; k < t->keys.n; k++) {
        struct src_key *key = &t->keys.p[k];
        key->enforced = true;
        for (size_t i = 0; i < key->n_cols; i++)
            key->enforced &= keeps_apart(t, key->cols[i]);
        key->enforced |= is_row_id(t, key);
        if (all_typed(t, key))
            t->keys.p[n++] = *key;
    }
    t->keys.n = n;
}

/* The columns of one unique index; a key if all are plain. */
static enum status read_index(struct source *src, struct src_table *t,
                              struct str index, struct err *err)
{
    sqlite3_stmt *st;
    bool is_key = true;
    struct src_key k = {.cols = NEWS(&src->arena, uint32_t, t->n_cols + 1)};
    if (!k.cols)
        return err_nomem(err);
    TRY(pragma(src, "index_info", index, &st, err));
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        int cid = sqlite3_column_int(st, 1);
        struct str name = column_str(&src->arena, st, 2);
        if (!name.p)
            return ended(src, st, rc, err_nomem(err), err);
        uint32_t c = cid < 0 ? UINT32_MAX : find_column(t, name);
        is_key = is_key && c != UINT32_MAX && k.n_cols < t->n_cols;
        if (is_key)
            k.cols[k.n_cols++] = c;
    }
    TRY(ended(src, st, rc, OK, err));
    if (is_key && k.n_cols && !VEC_PUSH(&src->arena, &t->keys, k))
        return err_nomem(err);
    return OK;
}

/* seq, name, unique, origin, partial. */
static enum status read_indexes(struct source *src, struct src_table *t,
                                struct err *err)
{
    sqlite3_stmt *st;
    enum status s = OK;
    TRY(pragma(src, "index_list", t->name, &st, err));
    int rc = SQLITE_DONE;
    while (s == OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct str name = column_str(&src->arena, st, 1);
        const char *origin = (const char *)sqlite3_column_text(st, 3);
        if (!name.p || !origin)
            s = err_nomem(err);
        else if (sqlite3_column_int(st, 2) && !sqlite3_column_int(st, 4))
            s = read_index(src, t, name, err);
        /* a row id needs no index for its key */
        for (size_t i = 0; s == OK && !strcmp(origin, "pk") && i < t->n_cols;
             i++)
            t->cols[i].is_row_id = false;
    }
    return ended(src, st, rc, s, err);
}

/* REFERENCES p: column number `seq` of its primary key; empty: it has none. */
static enum status primary_column(struct source *src, struct str table, int seq,
                                  struct str *out, struct err *err)
{
    sqlite3_stmt *st;
    int rc;
    TRY(pragma(src, "table_info", table, &st, err));
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
        if (sqlite3_column_int(st, 5) == seq + 1)
            *out = column_str(&src->arena, st, 1);
    TRY(ended(src, st, rc, OK, err));
    return out->p ? OK : err_nomem(err);
}

/* id, seq, table, from, to, ...; a new id starts a new key. */
static enum status read_fk_row(struct source *src, struct src_table *t,
                               sqlite3_stmt *st, struct err *err)
{
    struct arena *a = &src->arena;
    if (sqlite3_column_int(st, 1) == 0) {
        struct src_fk f = {.ref_table = column_str(a, st, 2)};
        f.cols = NEWS(a, uint32_t, t->n_cols + 1);
        f.ref_cols = NEWS(a, struct str, t->n_cols + 1);
        if (!f.ref_table.p || !f.cols || !f.ref_cols ||
            !VEC_PUSH(a, &t->fks, f))
            return err_nomem(err);
    }
    struct str from = column_str(a, st, 3), to = column_str(a, st, 4);
    if (!from.p || !to.p)
        return err_nomem(err);
    if (!to.n && t->fks.n)
        TRY(primary_column(src, t->fks.p[t->fks.n - 1].ref_table,
                           sqlite3_column_int(st, 1), &to, err));
    uint32_t c = find_column(t, from);
    if (!t->fks.n || c == UINT32_MAX)
        return OK;
    struct src_fk *f = &t->fks.p[t->fks.n - 1];
    if (f->n_cols < t->n_cols) {
        f->cols[f->n_cols] = c;
        f->ref_cols[f->n_cols++] = to;
    }
    return OK;
}

static enum status read_fks(struct source *src, struct src_table *t,
                            struct err *err)
{
    sqlite3_stmt *st;
    enum status s = OK;
    TRY(pragma(src, "foreign_key_list", t->name, &st, err));
    int rc = SQLITE_DONE;
    while (s == OK && (rc = sqlite3_step(st)) == SQLITE_ROW)
        s = read_fk_row(src, t, st, err);
    return ended(src, st, rc, s, err);
}

static enum status read_table(struct source *src, struct str name,
                              const char *refused, struct str sql,
                              struct err *err)
{
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_SQLITE;
    t->name = name;
    t->refused = refused;
    if (!refused && !VEC_PUSH(&src->arena, &t->lists, sql))
        return err_nomem(err);
    enum status s = read_columns(src, t, err);
    if (refused && s == E_SOURCE) { /* broken, or its module is not here */
        err_clear(err);
        return OK;
    }
    TRY(s);
    TRY(read_indexes(src, t, err));
    return read_fks(src, t, err);
}

/* schema, name, type, columns, without row id, strict: which tables belong to
 * a virtual one, and which are STRICT. SQLite before 3.37 does not tell; what
 * tells nothing gives no rows. */
static enum status read_kinds(struct source *src, struct err *err)
{
    sqlite3_stmt *st;
    struct sb b;
    sb_init(&b, &src->arena);
    sb_cstr(&b, "PRAGMA main.table_list");
    TRY(prepare(src, &b, &st, err));
    enum status s = OK;
    int rc = SQLITE_DONE;
    while (s == OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 1);
        const char *type = (const char *)sqlite3_column_text(st, 2);
        if (!name || !type)
            s = err_nomem(err);
        for (size_t i = 0; s == OK && i < src->tables.n; i++) {
            struct src_table *t = &src->tables.p[i];
            if (!str_is(t->name, name))
                continue;
            t->is_strict = sqlite3_column_int(st, 5) == 1;
            if (!strcmp(type, "shadow"))
                t->refused = "part of a virtual table";
        }
    }
    return ended(src, st, rc, s, err);
}

static const char *refusal(const char *type, const char *sql)
{
    if (!strcmp(type, "view"))
        return "a view";
    return !sqlite3_strnicmp(sql, "CREATE VIRTUAL TABLE", 20)
               ? "a virtual table"
               : NULL;
}

enum status sqlite_catalogue(struct source *src, struct err *err)
{
    sqlite3_stmt *st;
    struct sb b;
    enum status s = OK;
    sb_init(&b, &src->arena);
    sb_cstr(&b, "SELECT name, type, sql FROM main.sqlite_master "
                "WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                "ORDER BY type, name");
    TRY(prepare(src, &b, &st, err));
    int rc = SQLITE_DONE;
    while (s == OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct str name = column_str(&src->arena, st, 0);
        const char *type = (const char *)sqlite3_column_text(st, 1);
        struct str sql = column_str(&src->arena, st, 2);
        s = name.p && type && sql.p
                ? read_table(src, name, refusal(type, sql.p), sql, err)
                : err_nomem(err);
    }
    TRY(ended(src, st, rc, s, err));
    TRY(read_kinds(src, err));
    for (size_t i = 0; i < src->tables.n; i++)
        settle_keys(&src->tables.p[i]);
    return OK;
}

/* SQLite says only that it could not. */
static enum status cannot_open(struct source *src, struct err *err)
{
    struct stat st;
    if (stat(src->sqlite_path.p, &st) == 0)
        return sqlite_failed(src, "open", err);
    if (strstr(src->sqlite_path.p, "://")) /* it may hold a password */
        err_set(err, E_SOURCE, "this kind of data source is not known");
    else
        err_set(err, E_SOURCE, "could not open \"%.*s\": %s",
                PSTR(src->sqlite_path), strerror(errno));
    err_hint(err, "--db takes a SQLite file, a folder of CSV files, or "
                  "postgresql://USER@HOST/DATABASE.");
    return E_SOURCE;
}

static enum status find_seal(struct source *src, struct err *err)
{
    sqlite3_stmt *st;
    struct sb b;
    sb_init(&b, &src->arena);
    sb_cstr(&b, "PRAGMA main.application_id");
    TRY(prepare(src, &b, &st, err));
    int rc = sqlite3_step(st);
    src->is_sealed =
        rc == SQLITE_ROW && sqlite3_column_int(st, 0) == SOURCE_COPY_ID;
    return ended(src, st, rc == SQLITE_ROW ? SQLITE_DONE : rc, OK, err);
}

enum status sqlite_open(struct source *src, const char *path, struct err *err)
{
    src->sqlite_path = str_of(path);
    /* One thread reads: without a lock for every cell. */
    if (sqlite3_open_v2(path, &src->sqlite,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        if (!src->sqlite)
            return err_nomem(err);
        return cannot_open(src, err);
    }
    sqlite3_busy_timeout(src->sqlite, 5000);
    /* The first read takes the snapshot that lasts until the close. */
    if (sqlite3_exec(src->sqlite,
                     "PRAGMA query_only = on; BEGIN; "
                     "SELECT count(*) FROM main.sqlite_master",
                     NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_failed(src, "read", err);
    TRY(find_seal(src, err));
    return src->is_sealed ? sqlite_sealed_catalogue(src, err)
                          : sqlite_catalogue(src, err);
}
