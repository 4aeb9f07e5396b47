/*
 * A sealed copy: the tables of a source as they were loaded, in a SQLite file
 * that is written once. Names, types, keys and what else the catalogue knew
 * stand in tables of their own; rows are in tables t0, t1, ... with columns
 * c0, c1, ... that have no type of SQLite's, so that it converts nothing.
 *
 *   dpcount_seal(version)
 *   dpcount_tables(i, name, namespace)
 *   dpcount_columns(i, k, name, type, flags)       column k of table i
 *   dpcount_keys(i, key, k)                        column k is in the key
 *   dpcount_lists(i, ddl)                          values of its columns
 *   dpcount_refs(i, ref, k, to_table, to_column)   column k refers there
 *
 * Whole numbers, dates, times and booleans are INTEGERs (their number inside),
 * REALs REALs, all else texts as the dictionary has them. The file comes
 * under its name complete, mode 0400, or not at all.
 *
 * It is read by the loader of SQLite. Nothing in it is trusted: what makes it
 * a sealed version is its fingerprint in the ledger.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

struct source_copy {
    struct mem *mem;
    struct arena arena;
    const struct source *src;
    sqlite3 *db;
    const char *path, *temp;
};

static enum status failed(const struct source_copy *c, const char *what,
                          struct err *err)
{
    if (c->db && sqlite3_errcode(c->db) == SQLITE_NOMEM)
        return err_nomem(err);
    return err_set(err, E_SOURCE, "could not %s \"%s\": %s", what, c->path,
                   c->db ? sqlite3_errmsg(c->db) : strerror(errno));
}

static enum status run(const struct source_copy *c, const char *sql,
                       struct err *err)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? OK
               : failed(c, "write", err);
}

/* --- the catalogue -------------------------------------------------------- */

static void put_literal(struct sb *b, struct str s)
{
    sb_char(b, '\'');
    for (size_t i = 0; i < s.n; i++)
        sb_printf(b, "%s%c", s.p[i] == '\'' ? "'" : "", s.p[i]);
    sb_char(b, '\'');
}

enum flag {
    F_NOT_NULL = 1,
    F_ENUM = 4,
    F_PADDED = 8,
    F_VARCHAR = 16,
    F_TEXT_ONLY = 32,
    F_BY_CLASS = 64
};

static int flags_of(const struct column *c)
{
    return (c->not_null ? F_NOT_NULL : 0) | (c->is_enum ? F_ENUM : 0) |
           (c->is_padded ? F_PADDED : 0) | (c->is_varchar ? F_VARCHAR : 0) |
           (c->text_only ? F_TEXT_ONLY : 0) | (c->by_class ? F_BY_CLASS : 0);
}

/* One row of literals into a table of the catalogue. */
static enum status insert(struct source_copy *c, struct sb *b, struct err *err)
{
    sb_cstr(b, ")");
    enum status s = b->failed ? err_nomem(err) : run(c, b->p, err);
    b->n = 0;
    return s;
}

static enum status put_columns(struct source_copy *c, size_t table,
                               struct err *err)
{
    const struct table *t = &c->src->schema->tables.p[table];
    struct sb b;
    sb_init(&b, &c->arena);
    for (size_t k = 0; k < t->n_cols; k++) {
        sb_printf(&b, "INSERT INTO dpcount_columns VALUES(%zu, %zu, ", table,
                  k);
        put_literal(&b, t->cols[k].name);
        sb_printf(&b, ", %d, %d", (int)t->cols[k].type, flags_of(&t->cols[k]));
        TRY(insert(c, &b, err));
    }
    return OK;
}

static enum status put_keys(struct source_copy *c, size_t table,
                            struct err *err)
{
    const struct table *t = &c->src->schema->tables.p[table];
    struct sb b;
    sb_init(&b, &c->arena);
    for (size_t d = 0; d < t->degrees.n; d++) {
        const struct degree *g = &t->degrees.p[d];
        for (size_t k = 0; g->is_key && g->k == 1 && k < g->n_x; k++) {
            sb_printf(&b, "INSERT INTO dpcount_keys VALUES(%zu, %zu, %u", table,
                      d, g->x[k]);
            TRY(insert(c, &b, err));
        }
    }
    return OK;
}

/* CREATE TABLE ... CHECK (c IN ('a', 'b')), as a catalogue has it. */
static enum status put_lists(struct source_copy *c, size_t table,
                             struct err *err)
{
    const struct table *t = &c->src->schema->tables.p[table];
    struct sb b, ddl, plain;
    for (size_t k = 0; k < t->n_cols; k++) {
        const struct column *col = &t->cols[k];
        if (!col->own_domain || !col->n_domain)
            continue;
        sb_init(&b, &c->arena);
        sb_init(&ddl, &c->arena);
        sb_cstr(&ddl, "CREATE TABLE t (");
        sqlgen_ident(&ddl, col->name);
        sb_cstr(&ddl, " text CHECK (VALUE IN (");
        for (size_t i = 0; i < col->n_domain; i++) {
            sb_init(&plain, &c->arena);
            value_plain(&plain, &col->domain[i]);
            ddl.failed |= plain.failed;
            sb_cstr(&ddl, i ? ", " : "");
            put_literal(&ddl, sb_view(&plain));
        }
        sb_cstr(&ddl, ")))");
        sb_printf(&b, "INSERT INTO dpcount_lists VALUES(%zu, ", table);
        put_literal(&b, sb_view(&ddl));
        b.failed |= ddl.failed;
        TRY(insert(c, &b, err));
    }
    return OK;
}

static enum status put_refs(struct source_copy *c, size_t table,
                            struct err *err)
{
    const struct schema *s = c->src->schema;
    const struct table *t = &s->tables.p[table];
    struct sb b;
    sb_init(&b, &c->arena);
    for (size_t f = 0; f < t->fks.n; f++) {
        const struct foreign_key *fk = &t->fks.p[f];
        long to = schema_find(s, fk->ref_table);
        for (size_t k = 0; to >= 0 && k < fk->n_cols; k++) {
            const struct table *other = &s->tables.p[to];
            if (fk->ref_cols[k] >= other->n_cols)
                break;
            sb_printf(&b, "INSERT INTO dpcount_refs VALUES(%zu, %zu, %u, ",
                      table, f, fk->cols[k]);
            put_literal(&b, other->name);
            sb_cstr(&b, ", ");
            put_literal(&b, other->cols[fk->ref_cols[k]].name);
            TRY(insert(c, &b, err));
        }
    }
    return OK;
}

static enum status put_table(struct source_copy *c, size_t table,
                             struct err *err)
{
    const struct table *t = &c->src->schema->tables.p[table];
    struct sb b;
    sb_init(&b, &c->arena);
    sb_printf(&b, "INSERT INTO dpcount_tables VALUES(%zu, ", table);
    put_literal(&b, t->name);
    sb_cstr(&b, ", ");
    put_literal(&b, t->namespace_);
    TRY(insert(c, &b, err));
    sb_printf(&b, "CREATE TABLE t%zu(row INTEGER PRIMARY KEY", table);
    for (size_t k = 0; k < t->n_cols; k++)
        sb_printf(&b, ", c%zu", k);
    TRY(insert(c, &b, err));
    TRY(put_columns(c, table, err));
    TRY(put_lists(c, table, err));
    TRY(put_refs(c, table, err));
    return put_keys(c, table, err);
}

/* --- rows ----------------------------------------------------------------- */

static struct str text_at(const struct store_column *c, size_t row)
{
    return c->dict[c->code[row]];
}

static int bind(sqlite3_stmt *st, int at, const struct store_column *c,
                size_t row)
{
    if (column_is_null(c, row))
        return sqlite3_bind_null(st, at);
    if (column_has_ints(c))
        return sqlite3_bind_int64(st, at, column_int(c, row));
    if (c->f64) /* SQLite has no NaN */
        return c->f64[row] == c->f64[row]
                   ? sqlite3_bind_double(st, at, c->f64[row])
                   : sqlite3_bind_text(st, at, "NaN", 3, SQLITE_STATIC);
    struct str s = text_at(c, row);
    return sqlite3_bind_text64(st, at, s.n ? s.p : "", s.n, SQLITE_STATIC,
                               SQLITE_UTF8);
}

static enum status put_rows(struct source_copy *c, sqlite3_stmt *st,
                            const struct store_table *t, struct err *err)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        int rc = SQLITE_OK;
        for (size_t k = 0; rc == SQLITE_OK && k < t->n_cols; k++)
            rc = bind(st, (int)k + 1, &t->cols[k], row);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(st);
        if (rc != SQLITE_DONE || sqlite3_reset(st) != SQLITE_OK)
            return failed(c, "write", err);
    }
    return OK;
}

enum status source_copy_table(struct source_copy *c, size_t table,
                              const struct store_table *t, struct err *err)
{
    struct sb b;
    sqlite3_stmt *st;
    TRY(put_table(c, table, err));
    sb_init(&b, &c->arena);
    sb_printf(&b, "INSERT INTO t%zu VALUES(NULL", table);
    for (size_t k = 0; k < t->n_cols; k++)
        sb_cstr(&b, ", ?");
    sb_cstr(&b, ")");
    if (b.failed)
        return err_nomem(err);
    if (sqlite3_prepare_v2(c->db, b.p, -1, &st, NULL) != SQLITE_OK)
        return failed(c, "write", err);
    enum status s = put_rows(c, st, t, err);
    sqlite3_finalize(st);
    return s;
}

/* --- the file ------------------------------------------------------------- */

static enum status open_temp(struct source_copy *c, struct str version,
                             struct err *err)
{
    struct sb b;
    int fd = open(c->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(c, "create", err);
    close(fd);
    if (sqlite3_open_v2(c->temp, &c->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return failed(c, "create", err);
    TRY(run(c,
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; "
            "PRAGMA application_id = 0x64706373; BEGIN; "
            "CREATE TABLE dpcount_seal(version); "
            "CREATE TABLE dpcount_tables(i, name, namespace); "
            "CREATE TABLE dpcount_columns(i, k, name, type, flags); "
            "CREATE TABLE dpcount_keys(i, key, k); "
            "CREATE TABLE dpcount_lists(i, ddl); "
            "CREATE TABLE dpcount_refs(i, ref, k, to_table, to_column)",
            err));
    sb_init(&b, &c->arena);
    sb_cstr(&b, "INSERT INTO dpcount_seal VALUES(");
    put_literal(&b, version);
    return insert(c, &b, err);
}

static void discard(struct source_copy *c)
{
    sqlite3_close(c->db);
    if (c->temp)
        unlink(c->temp);
    arena_fini(&c->arena);
    mem_free(c->mem, c, sizeof *c);
}

enum status source_copy_begin(const struct source *src, const char *path,
                              struct str version, struct source_copy **out,
                              struct err *err)
{
    struct source_copy *c = mem_alloc(src->mem, sizeof *c);
    *out = NULL;
    if (!c)
        return err_nomem(err);
    c->mem = src->mem;
    c->src = src;
    arena_init(&c->arena, c->mem);
    struct str copy = str_copy(&c->arena, str_of(path));
    struct str temp = str_printf(&c->arena, "%s.%ld", path, (long)getpid());
    c->path = copy.p;
    enum status s = copy.p && temp.p ? OK : err_nomem(err);
    if (s == OK && access(path, F_OK) == 0)
        s = err_set(err, E_SOURCE, "\"%s\" exists already", path);
    if (s == OK) {
        c->temp = temp.p;
        s = open_temp(c, version, err);
    }
    if (s != OK) {
        discard(c);
        return s;
    }
    *out = c;
    return OK;
}

/* Durable before it has its name; an existing file is never replaced. */
static enum status publish(const struct source_copy *c, struct err *err)
{
    int fd = open(c->temp, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0 && fchmod(fd, 0400) == 0;
    if (fd >= 0)
        close(fd);
    if (!ok ||
        renameat2(AT_FDCWD, c->temp, AT_FDCWD, c->path, RENAME_NOREPLACE) != 0)
        return err_set(err, E_SOURCE, "could not write \"%s\": %s", c->path,
                       strerror(errno));
    return OK;
}

enum status source_copy_end(struct source_copy *c, struct err *err)
{
    enum status s = run(c, "COMMIT", err);
    if (s == OK && sqlite3_close(c->db) != SQLITE_OK)
        s = failed(c, "write", err);
    else if (s == OK)
        c->db = NULL;
    if (s == OK)
        s = publish(c, err);
    if (s == OK)
        c->temp = NULL;
    discard(c);
    return s;
}

void source_copy_abort(struct source_copy *c)
{
    if (c)
        discard(c);
}

/* --- reading it back ------------------------------------------------------ */

static struct str text_of(struct arena *a, sqlite3_stmt *st, int i)
{
    const char *p = (const char *)sqlite3_column_text(st, i);
    return str_copy(
        a,
        (struct str){p ? p : "", p ? (size_t)sqlite3_column_bytes(st, i) : 0});
}

static struct src_table *by_number(struct source *src, sqlite3_int64 i)
{
    for (size_t t = 0; t < src->tables.n; t++)
        if (src->tables.p[t].number == (uint64_t)i)
            return &src->tables.p[t];
    return NULL;
}

static enum status take_table(struct source *src, sqlite3_stmt *st,
                              struct err *err)
{
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_SQLITE;
    t->number = (uint64_t)sqlite3_column_int64(st, 0);
    t->name = text_of(&src->arena, st, 1);
    t->namespace_ = text_of(&src->arena, st, 2);
    t->stored = str_printf(&src->arena, "t%llu", (unsigned long long)t->number);
    return t->name.p && t->namespace_.p && t->stored.p ? OK : err_nomem(err);
}

static enum status broken(struct err *err)
{
    return err_set(err, E_SOURCE, "the sealed copy is malformed");
}

static enum status take_column(struct source *src, sqlite3_stmt *st,
                               struct err *err)
{
    struct src_table *t = by_number(src, sqlite3_column_int64(st, 0));
    int type = sqlite3_column_int(st, 3), flags = sqlite3_column_int(st, 4);
    if (!t || sqlite3_column_int64(st, 1) != (sqlite3_int64)t->n_cols ||
        type < 0 || type > T_UUID)
        return broken(err);
    struct src_column *c = source_add_column(src, t);
    if (!c)
        return err_nomem(err);
    c->name = text_of(&src->arena, st, 2);
    c->stored = str_printf(&src->arena, "c%zu", t->n_cols - 1);
    c->type = (enum type)type;
    c->not_null = flags & F_NOT_NULL;
    c->is_enum = flags & F_ENUM;
    c->is_padded = flags & F_PADDED;
    c->is_varchar = flags & F_VARCHAR;
    c->text_only = flags & F_TEXT_ONLY;
    c->by_class = flags & F_BY_CLASS;
    return c->name.p && c->stored.p ? OK : err_nomem(err);
}

/* Rows come sorted by table and key. */
static enum status take_key(struct source *src, sqlite3_stmt *st,
                            struct err *err)
{
    struct src_table *t = by_number(src, sqlite3_column_int64(st, 0));
    uint64_t number = (uint64_t)sqlite3_column_int64(st, 1);
    sqlite3_int64 col = sqlite3_column_int64(st, 2);
    if (!t || col < 0 || (uint64_t)col >= t->n_cols)
        return broken(err);
    struct src_key *last = t->keys.n ? &t->keys.p[t->keys.n - 1] : NULL;
    if (!last || last->number != number) {
        struct src_key k = {.number = number};
        k.cols = NEWS(&src->arena, uint32_t, t->n_cols + 1);
        if (!k.cols || !VEC_PUSH(&src->arena, &t->keys, k))
            return err_nomem(err);
        last = &t->keys.p[t->keys.n - 1];
    }
    if (last->n_cols == t->n_cols)
        return broken(err);
    last->cols[last->n_cols++] = (uint32_t)col;
    return OK;
}

static enum status take_list(struct source *src, sqlite3_stmt *st,
                             struct err *err)
{
    struct src_table *t = by_number(src, sqlite3_column_int64(st, 0));
    struct str ddl = text_of(&src->arena, st, 1);
    if (!t)
        return broken(err);
    return ddl.p && VEC_PUSH(&src->arena, &t->lists, ddl) ? OK : err_nomem(err);
}

/* Rows come sorted by table and reference. */
static enum status take_ref(struct source *src, sqlite3_stmt *st,
                            struct err *err)
{
    struct arena *a = &src->arena;
    struct src_table *t = by_number(src, sqlite3_column_int64(st, 0));
    sqlite3_int64 col = sqlite3_column_int64(st, 2);
    uint64_t number = (uint64_t)sqlite3_column_int64(st, 1);
    if (!t || col < 0 || (uint64_t)col >= t->n_cols)
        return broken(err);
    struct src_fk *f = t->fks.n ? &t->fks.p[t->fks.n - 1] : NULL;
    if (!f || f->number != number) {
        struct src_fk new = {.number = number, .ref_table = text_of(a, st, 3)};
        new.cols = NEWS(a, uint32_t, t->n_cols + 1);
        new.ref_cols = NEWS(a, struct str, t->n_cols + 1);
        if (!new.cols || !new.ref_cols || !new.ref_table.p ||
            !VEC_PUSH(a, &t->fks, new))
            return err_nomem(err);
        f = &t->fks.p[t->fks.n - 1];
    }
    if (f->n_cols == t->n_cols)
        return broken(err);
    f->cols[f->n_cols] = (uint32_t)col;
    f->ref_cols[f->n_cols] = text_of(a, st, 4);
    return f->ref_cols[f->n_cols++].p ? OK : err_nomem(err);
}

static enum status each(struct source *src, const char *sql,
                        enum status (*take)(struct source *, sqlite3_stmt *,
                                            struct err *),
                        struct err *err)
{
    sqlite3_stmt *st;
    enum status s = OK;
    int rc;
    if (sqlite3_prepare_v2(src->sqlite, sql, -1, &st, NULL) != SQLITE_OK)
        return broken(err);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && s == OK)
        s = take(src, st, err);
    sqlite3_finalize(st);
    return s != OK ? s : rc == SQLITE_DONE ? OK : broken(err);
}

enum status sqlite_sealed_catalogue(struct source *src, struct err *err)
{
    TRY(each(src, "SELECT i, name, namespace FROM dpcount_tables ORDER BY i",
             take_table, err));
    TRY(each(src,
             "SELECT i, k, name, type, flags FROM dpcount_columns "
             "ORDER BY i, k",
             take_column, err));
    TRY(each(src, "SELECT i, key, k FROM dpcount_keys ORDER BY i, key, k",
             take_key, err));
    TRY(each(src, "SELECT i, ddl FROM dpcount_lists ORDER BY rowid", take_list,
             err));
    return each(src,
                "SELECT i, ref, k, to_table, to_column FROM dpcount_refs "
                "ORDER BY i, ref, rowid",
                take_ref, err);
}

/* --- what was written is what is read ------------------------------------- */

static void add_cell(struct sha256 *h, const struct store_column *c, size_t row)
{
    char kind = 'n';
    if (column_is_null(c, row)) {
        sha256_add(h, &kind, 1);
    } else if (column_has_ints(c)) {
        int64_t v = column_int(c, row);
        kind = 'i';
        sha256_add(h, &kind, 1);
        sha256_add(h, &v, sizeof v);
    } else if (c->f64) {
        double v = c->f64[row] == c->f64[row] ? c->f64[row] + 0.0 : 0;
        kind = c->f64[row] == c->f64[row] ? 'r' : 'N';
        sha256_add(h, &kind, 1);
        sha256_add(h, &v, sizeof v);
    } else {
        struct str s = text_at(c, row);
        kind = 't';
        sha256_add(h, &kind, 1);
        sha256_add(h, &s.n, sizeof s.n);
        sha256_add(h, s.p, s.n);
    }
}

void source_hash_rows(const struct store_table *t, struct sha256 *h)
{
    sha256_add(h, &t->n_rows, sizeof t->n_rows);
    sha256_add(h, &t->n_cols, sizeof t->n_cols);
    for (size_t k = 0; k < t->n_cols; k++)
        for (size_t row = 0; row < t->n_rows; row++)
            add_cell(h, &t->cols[k], row);
}
