/*
 * Sources: opening by what the text looks like, and loading what a query
 * needs. See source.h.
 */
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool starts_with(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static enum status open_db(struct source *src, struct str db, struct err *err)
{
    struct stat st;
    struct str copy = str_copy(&src->arena, db);
    if (!copy.p)
        return err_nomem(err);
    if (starts_with(db, "sqlite:"))
        return sqlite_open(src, copy.p + 7, err);
    if (starts_with(db, "duckdb:"))
        return duckdb_open(src, copy.p + 7, err);
    if (starts_with(db, "postgresql://") || starts_with(db, "postgres://"))
        return pg_open(src, copy.p, err);
    if (stat(copy.p, &st) == 0 && S_ISDIR(st.st_mode)) {
        TRY(duckdb_add_folder(src, copy.p, err));
        return spec_add_folder(src, copy.p, err);
    }
    if (stat(copy.p, &st) != 0 && memchr(db.p, '=', db.n))
        return pg_open(src, copy.p, err); /* "host=... dbname=..." */
    return sqlite_open(src, copy.p, err);
}

/* Only PostgreSQL tells names apart by case. */
static bool same_name(const struct src_table *x, const struct src_table *y)
{
    if (x->kind == SRC_PG && y->kind == SRC_PG)
        return str_eq(x->name, y->name);
    return str_eq_nocase(x->name, y->name);
}

static enum status check_twice(const struct source *src, struct err *err)
{
    for (size_t i = 0; i < src->tables.n; i++)
        for (size_t j = 0; j < i; j++)
            if (same_name(&src->tables.p[i], &src->tables.p[j]))
                return err_set(err, E_USAGE, "table \"%.*s\" is given twice",
                               PSTR(src->tables.p[i].name));
    return OK;
}

/* What a policy says of files does nothing for a database: a mistake. */
static enum status check_forms(const struct source *src, struct err *err)
{
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        const struct file_form *f = schema_form(src->schema, t->name);
        if (t->kind == SRC_FILE || !f || !f->at.line)
            continue;
        return err_set(err, E_POLICY,
                       "line %ld of the policy: delimiter, header and nulls "
                       "are for files, and table \"%.*s\" is in a database",
                       f->at.line, PSTR(t->name));
    }
    return OK;
}

static enum status open_all(struct source *src, const struct source_spec *spec,
                            struct err *err)
{
    src->lock = spec->lock;
    if (spec->db.n)
        TRY(open_db(src, spec->db, err));
    for (size_t i = 0; i < spec->n_tables; i++)
        TRY(duckdb_is_parquet(spec->tables[i])
                ? duckdb_add_spec(src, spec->tables[i], err)
                : spec_add_file(src, spec->tables[i], err));
    TRY(check_twice(src, err));
    TRY(check_forms(src, err));
    for (size_t i = 0; i < src->tables.n; i++)
        TRY(merge_table(src, &src->tables.p[i], err));
    TRY(source_check_types(src, err));
    for (size_t i = 0; i < src->tables.n; i++)
        TRY(merge_foreign_keys(src, &src->tables.p[i], err));
    return OK;
}

static enum status source_new(struct mem *m, struct schema *s,
                              struct source **out, struct err *err)
{
    struct source *src = mem_alloc(m, sizeof *src);
    *out = src;
    if (!src)
        return store_nomem(m, err);
    src->mem = m;
    src->schema = s;
    arena_init(&src->arena, m);
    return OK;
}

static enum status opened(struct source **src, enum status st)
{
    if (st != OK) {
        source_close(*src);
        *src = NULL;
    }
    return st;
}

enum status source_open(struct mem *m, const struct source_spec *spec,
                        struct schema *s, struct source **out, struct err *err)
{
    TRY(source_new(m, s, out, err));
    return opened(out, open_all(*out, spec, err));
}

static enum status merge_all(struct source *src, struct err *err)
{
    for (size_t i = 0; i < src->tables.n; i++)
        TRY(merge_table(src, &src->tables.p[i], err));
    for (size_t i = 0; i < src->tables.n; i++)
        TRY(merge_foreign_keys(src, &src->tables.p[i], err));
    return OK;
}

enum status source_open_schema(struct mem *m, struct str text, const char *file,
                               struct schema *s, struct source **out,
                               struct err *err)
{
    TRY(source_new(m, s, out, err));
    enum status st = sqlite_open_schema(*out, file, text, err);
    return opened(out, st == OK ? merge_all(*out, err) : st);
}

void source_close(struct source *src)
{
    if (!src)
        return;
    if (src->sqlite)
        sqlite_close(src);
    if (src->pg)
        pg_close(src);
    duckdb_close(src); /* and Parquet, which stands among files */
    for (size_t i = 0; i < src->tables.n; i++)
        if (src->tables.p[i].kept >= 0)
            close(src->tables.p[i].kept);
    arena_fini(&src->arena);
    mem_free(src->mem, src, sizeof *src);
}

size_t source_kept(const struct source *src, int out[SOURCE_KEPT], bool *whole)
{
    size_t n = 0;
    *whole = src && !src->pg && !src->sqlite && !src->duckdb && !src->parquet;
    for (size_t i = 0; src && i < src->tables.n; i++) {
        int fd = src->tables.p[i].kept;
        *whole &= fd >= 0;
        if (fd >= 0 && n < SOURCE_KEPT)
            out[n++] = fd;
    }
    return n;
}

/* What to load: columns by one query, rows by others (NULL: all). */
struct wish {
    const struct cq *columns;
    const struct cq *const *rows;
    size_t n_rows;
    /* not 0: so many different rows without NULLs are enough; a database
     * sends no more */
    size_t limit;
    bool plan_only; /* PostgreSQL: nothing is sent; files: nothing is done */
};

/* Each value once, by its own equality and by its bytes. */
static void each_once(const struct src_table *t, const struct store_loader *l,
                      const uint32_t *from, size_t limit, struct sb *where)
{
    for (size_t i = 0; i < l->n_cols; i++) {
        sb_cstr(where, i ? " AND " : "");
        sqlgen_ident(where, t->cols[from[i]].name);
        sb_cstr(where, " IS NOT NULL");
    }
    for (size_t i = 0; i < l->n_cols; i++) {
        const struct src_column *c = &t->cols[from[i]];
        sb_printf(where, "%s%zu", i ? ", " : " GROUP BY ", i + 1);
        if (c->type != T_TEXT && !c->as_text)
            continue;
        sb_cstr(where, ", ");
        sqlgen_ident(where, c->name);
        sb_cstr(where, "::text COLLATE \"C\"");
    }
    sb_printf(where, " LIMIT %zu", limit);
}

static enum status load_pg(struct source *src, const struct src_table *t,
                           const struct wish *w, struct store_loader *l,
                           const struct progress *p, struct err *err)
{
    struct sb where;
    uint32_t *from;
    sb_init(&where, &l->arena);
    if (w->n_rows)
        TRY(pg_filter(src, t, w->rows, w->n_rows, &where, err));
    if (w->limit && l->n_cols) {
        TRY(source_loader_columns(t, l, &from, err));
        each_once(t, l, from, w->limit, &where);
    }
    if (where.failed)
        return store_nomem(src->mem, err);
    return pg_load(src, t, where.n ? sb_view(&where) : STR(""), w->plan_only, l,
                   p, err);
}

static enum status load_table(struct source *src, const struct src_table *t,
                              const struct wish *w, const bool *wanted,
                              struct store *st, const struct progress *p,
                              struct err *err)
{
    struct store_loader *l;
    if (w->plan_only && t->kind != SRC_PG)
        return OK;
    TRY(store_load_begin(st, t->table, wanted, &l, err));
    enum status s = OK;
    switch (t->kind) {
    case SRC_FILE:
        s = file_load(src, t, l, p, err);
        break;
    case SRC_SQLITE:
        s = sqlite_load(src, t, l, p, err);
        break;
    case SRC_PG:
        s = load_pg(src, t, w, l, p, err);
        break;
    case SRC_DUCKDB:
        s = duckdb_load(src, t, l, p, err);
        break;
    }
    if (s != OK || w->plan_only) {
        store_load_abort(l);
        return s;
    }
    return store_load_end(l, err);
}

/* The columns of table `t` that some atom names; false: no atom has it. */
static bool wanted_columns(const struct cq *q, size_t t, bool *wanted)
{
    bool used = false;
    for (uint32_t a = 0; a < q->n_atoms; a++) {
        const struct atom *at = &q->atoms[a];
        if (at->table != t)
            continue;
        used = true;
        for (uint32_t i = 0; i < at->n_args; i++)
            wanted[i] |= at->args[i].kind != TERM_ANY;
    }
    return used;
}

enum status source_allows(const struct source *src, const struct cq *q,
                          struct err *err)
{
    for (uint32_t a = 0; src && a < q->n_atoms; a++) {
        const struct src_table *t = source_find_table(src, q->atoms[a].table);
        if (t && t->refused)
            return source_refuse(t, err);
    }
    return OK;
}

static enum status load_one(struct source *src, const struct wish *w, size_t t,
                            struct store *st, const struct progress *p,
                            struct err *err)
{
    const struct cq *q = w->columns;
    const struct table *tab = &st->schema->tables.p[t];
    const struct src_table *from = source_find_table(src, t);
    bool *wanted = NULL;
    if (q) {
        wanted = NEWS(&src->arena, bool, tab->n_cols + 1);
        if (!wanted)
            return store_nomem(src->mem, err);
        if (!wanted_columns(q, t, wanted))
            return OK;
    }
    if (from && from->refused)
        return q ? source_refuse(from, err) : OK;
    if (from)
        return load_table(src, from, w, wanted, st, p, err);
    if (!q)
        return OK; /* declared, but not here: nothing to check */
    err_set(err, E_NAME, "table \"%.*s\" is not in the data source",
            PSTR(tab->name));
    err_hint(err, "Give it with --db or --table.");
    return E_NAME;
}

enum status source_load(struct source *src, const struct cq *q,
                        struct store *st, const struct progress *p,
                        struct err *err)
{
    struct wish w = {.columns = q};
    for (size_t t = 0; t < st->n_tables; t++)
        TRY(load_one(src, &w, t, st, p, err));
    return OK;
}

enum status source_load_strictly(struct source *src, size_t table,
                                 const bool *wanted, struct store *st,
                                 struct err *err)
{
    const struct src_table *t = source_find_table(src, table);
    struct wish all = {0};
    if (!t || t->refused || t->kind == SRC_PG)
        return OK;
    if (t->kind == SRC_SQLITE && wanted)
        TRY(sqlite_read_all(src, t, err));
    if (t->kind == SRC_DUCKDB && wanted)
        TRY(duckdb_read_all(src, t, err));
    return load_table(src, t, &all, wanted, st, NULL, err);
}

enum status source_load_whole(struct source *src, size_t table,
                              struct store *st, const struct progress *p,
                              struct err *err)
{
    const struct src_table *t = source_find_table(src, table);
    struct wish all = {0};
    if (!t || t->refused)
        return OK;
    return load_table(src, t, &all, NULL, st, p, err);
}

enum status source_load_once(struct source *src, const struct cq *q,
                             size_t limit, struct store *st, struct err *err)
{
    struct wish w = {.columns = q, .limit = limit};
    for (size_t t = 0; t < st->n_tables; t++)
        TRY(load_one(src, &w, t, st, NULL, err));
    return OK;
}

enum status source_load_for(struct source *src, const struct cq *columns,
                            const struct cq *const *rows, size_t n_rows,
                            struct store *st, const struct progress *p,
                            struct err *err)
{
    struct wish w = {.columns = columns, .rows = rows, .n_rows = n_rows};
    for (size_t t = 0; t < st->n_tables; t++)
        TRY(load_one(src, &w, t, st, p, err));
    return OK;
}

enum status source_load_plan(struct source *src, const struct cq *columns,
                             const struct cq *const *rows, size_t n_rows,
                             struct store *st, struct err *err)
{
    struct wish w = {
        .columns = columns, .rows = rows, .n_rows = n_rows, .plan_only = true};
    for (size_t t = 0; t < st->n_tables; t++)
        TRY(load_one(src, &w, t, st, NULL, err));
    return OK;
}

enum status source_is_small(struct source *src, size_t table, size_t rows,
                            bool *out, struct err *err)
{
    enum { ROW_BYTES = 64 };
    const struct src_table *t = source_find_table(src, table);
    struct stat st;
    bool more = true;
    *out = false;
    if (!t || t->refused)
        return OK;
    if (t->kind == SRC_SQLITE)
        TRY(sqlite_has_more(src, t, rows, &more, err));
    if (t->kind == SRC_FILE && !t->parquet && stat(t->path.p, &st) == 0 &&
        S_ISREG(st.st_mode))
        more = (uint64_t)st.st_size > rows * ROW_BYTES;
    if (t->kind == SRC_PG)
        TRY(pg_has_more(src, t, rows, &more, err));
    if (t->kind == SRC_DUCKDB) /* as its catalogue or the files' ends say */
        more = !(t->believed_rows > 0 && t->believed_rows <= (double)rows);
    *out = !more;
    return OK;
}
