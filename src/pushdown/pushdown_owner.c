/*
 * Owners of rows, in SQL: see pushdown_owned.h.
 *
 * A table with owners is written as a subquery with a column more for each
 * path that is asked for:
 *
 *   (SELECT t.*, CASE WHEN t.o IS NULL THEN name of t's row
 *                     WHEN p0.c IS NULL THEN name of the row or key of orders
 *                     ELSE name of the key of customer END
 *    FROM lineitem t LEFT JOIN orders p0 ON p0.o = t.o)
 *
 * A name is the table's number and the cells of the key by which rows of that
 * table are looked up. So a row that is found and the key of a missing one have
 * one name, only one of which a database can have, and the last table of a path
 * is not looked up at all. PRIVACY: that needs one key for each table, and
 * cells that are equal in the database just where they are equal here:
 * integers, texts by their bytes, and UUIDs. All else is E_UNSUPPORTED. Keys
 * that are looked up are enforced (schema_check_lookups), so a join finds one
 * row at most.
 */
#include "pushdown/pushdown_owned.h"
#include "pushdown/pushdown_int.h"

#include <stdio.h>
#include <string.h>

#define OWNER "dpcount owner "

struct owner_writer {
    struct pushdown *c;
    const struct schema *s; /* the source's */
    struct sqlgen sql;      /* writes columns of atom i as those of table i */
    const struct pushdown_apart *apart;
    struct sb joins;
    unsigned n_joins;
    struct err *err;
};

static enum status refuse(struct err *err, const char *why)
{
    err_set(err, E_UNSUPPORTED, "the database cannot find owners: %s", why);
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* --- cells ---------------------------------------------------------------- */

static const struct table *def_of(const struct owner_writer *w, uint32_t table)
{
    return &w->s->tables.p[table];
}

/* The column of the row that FROM calls `alias`. */
static enum status cell(struct owner_writer *w, uint32_t table, uint32_t col,
                        const char *alias, struct str *out)
{
    struct sb marked, b;
    sb_init(&marked, &w->c->arena);
    sb_init(&b, &w->c->arena);
    TRY(sqlgen_column(&w->sql, table, col, &marked, w->err));
    for (size_t i = 0; i < marked.n; i++)
        if (marked.p[i] == SQLGEN_MARK)
            sb_cstr(&b, alias);
        else
            sb_char(&b, marked.p[i]);
    *out = sb_view(&b);
    return marked.failed || b.failed ? err_nomem(w->err) : OK;
}

static bool has_plain_cells(enum type t)
{
    return t == T_INT || t == T_TEXT || t == T_UUID;
}

/* "|12|" for a number, "|3|abc|" for a text: no two lists of cells have one
 * text. */
static enum status put_cell(struct owner_writer *w, uint32_t table,
                            uint32_t col, const char *alias, struct sb *b)
{
    struct str x;
    enum type t = def_of(w, table)->cols[col].type;
    if (!has_plain_cells(t) || def_of(w, table)->cols[col].text_only)
        return refuse(w->err, "by a column of this type");
    TRY(cell(w, table, col, alias, &x));
    if (t == T_TEXT)
        sb_printf(b, " || length(%.*s)::text || '|'", PSTR(x));
    sb_printf(b, " || %.*s::text || '|'", PSTR(x));
    return OK;
}

/* --- keys ----------------------------------------------------------------- */

static bool has_column(const struct owner_edge *e, uint32_t col)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->key[i] == col)
            return true;
    return false;
}

static bool same_key(const struct owner_edge *a, const struct owner_edge *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = has_column(b, a->key[i]);
    return same;
}

/* An edge that leads to the table; NULL: none does. Its key is everybody's. */
static enum status edge_to(struct owner_writer *w, uint32_t table,
                           const struct owner_edge **out)
{
    *out = NULL;
    for (size_t i = 0; i < w->s->tables.n; i++)
        for (size_t k = 0; k < w->s->tables.p[i].owned_by.n; k++) {
            const struct owner_edge *e = &w->s->tables.p[i].owned_by.p[k];
            if (e->table != table)
                continue;
            if (*out && !same_key(*out, e))
                return refuse(w->err, "rows of one table by different keys");
            *out = e;
        }
    return OK;
}

/* 't3|' and the cells of e's key, as e->via of a row of `table` has them, or as
 * the key itself does. In the order of the key's columns in their table. */
static enum status name_by(struct owner_writer *w, const struct owner_edge *e,
                           uint32_t table, const uint32_t *cols,
                           const char *alias, struct str *out)
{
    struct sb b;
    sb_init(&b, &w->c->arena);
    sb_printf(&b, "'t%u|'", e->table);
    const struct table *to = def_of(w, e->table);
    for (uint32_t col = 0; col < to->n_cols; col++)
        for (size_t i = 0; i < e->n; i++) {
            if (e->key[i] != col)
                continue;
            if (def_of(w, table)->cols[cols[i]].type != to->cols[col].type)
                return refuse(w->err, "by columns of different types");
            TRY(put_cell(w, table, cols[i], alias, &b));
        }
    *out = sb_view(&b);
    return b.failed ? err_nomem(w->err) : OK;
}

/* Where the row stands: no key leads to it. */
static enum status name_by_place(struct owner_writer *w, uint32_t table,
                                 struct str *out)
{
    const struct src_table *t = source_find_table(w->c->src, table);
    struct sb b;
    sb_init(&b, &w->c->arena);
    if (t->kind == SRC_PG && t->is_lockable)
        sb_printf(&b, "'t%u|' || t.tableoid::text || t.ctid::text", table);
    else if (t->kind == SRC_DUCKDB && !t->parquet)
        sb_printf(&b, "'t%u|' || t.rowid::text", table);
    *out = sb_view(&b);
    return b.failed ? err_nomem(w->err) : OK;
}

/* The row that is called t; empty: nothing tells it from others. */
static enum status name_of_row(struct owner_writer *w, uint32_t table,
                               struct str *out)
{
    const struct owner_edge *e;
    TRY(edge_to(w, table, &e));
    return e ? name_by(w, e, table, e->key, "t", out)
             : name_by_place(w, table, out);
}

/* --- paths ---------------------------------------------------------------- */

static bool never_null(const struct owner_writer *w, uint32_t table,
                       uint32_t col)
{
    const struct src_table *t = source_find_table(w->c->src, table);
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->to[i] == col)
            return t->cols[i].not_null;
    return false;
}

/* "t.o IS NULL OR ..." of the cells that refer; empty: none can be NULL. */
static enum status nulls(struct owner_writer *w, const struct owner_edge *e,
                         uint32_t table, const char *alias, bool outer,
                         struct str *out)
{
    struct sb b;
    struct str x;
    sb_init(&b, &w->c->arena);
    for (size_t i = 0; i < e->n; i++) {
        if (!outer && never_null(w, table, e->via[i]))
            continue;
        TRY(cell(w, table, e->via[i], alias, &x));
        sb_printf(&b, "%s%.*s IS NULL", b.n ? " OR " : "", PSTR(x));
    }
    *out = sb_view(&b);
    return b.failed ? err_nomem(w->err) : OK;
}

static void put_table(const struct owner_writer *w, uint32_t table,
                      struct sb *b)
{
    pushdown_put_table(source_find_table(w->c->src, table), b);
}

/* LEFT JOIN the table that e leads to. */
static enum status join(struct owner_writer *w, const struct owner_edge *e,
                        uint32_t table, const char *alias, const char *next)
{
    sb_cstr(&w->joins, " LEFT JOIN ");
    put_table(w, e->table, &w->joins);
    sb_printf(&w->joins, " %s ON ", next);
    for (size_t i = 0; i < e->n; i++) {
        struct str l, r;
        TRY(cell(w, table, e->via[i], alias, &l));
        TRY(cell(w, e->table, e->key[i], next, &r));
        sb_printf(&w->joins, "%s%.*s = %.*s", i ? " AND " : "", PSTR(r),
                  PSTR(l));
    }
    return w->joins.failed ? err_nomem(w->err) : OK;
}

/* A row whose cells refer to nothing, and that nothing names. */
static bool may_hold_null(const struct owner_writer *w,
                          const struct owner_edge *e, uint32_t table)
{
    for (size_t i = 0; i < e->n; i++)
        if (!def_of(w, table)->cols[e->via[i]].not_null)
            return true;
    return false;
}

/* The owner on a path of the row `alias`, whose own name is `name`. */
static enum status owner(struct owner_writer *w, uint32_t table, uint32_t path,
                         const char *alias, struct str name, struct str *out)
{
    const struct owner_path *p = &def_of(w, table)->paths.p[path];
    bool outer = strcmp(alias, "t") != 0;
    struct str next, null, rest;
    char joined[16];
    if (p->edge < 0) {
        *out = name;
        return name.n ? OK : refuse(w->err, "rows without a key");
    }
    const struct owner_edge *e = &def_of(w, table)->owned_by.p[p->edge], *any;
    if (!name.n && may_hold_null(w, e, table))
        return refuse(w->err, "rows without a key");
    TRY(edge_to(w, e->table, &any)); /* one key only */
    TRY(name_by(w, e, table, e->via, alias, &next));
    TRY(nulls(w, e, table, alias, outer, &null));
    rest = next;
    if (def_of(w, e->table)->paths.p[p->rest].edge >= 0) {
        snprintf(joined, sizeof joined, "p%u", w->n_joins++);
        TRY(join(w, e, table, alias, joined));
        TRY(owner(w, e->table, p->rest, joined, next, &rest));
    }
    *out = null.n ? str_printf(&w->c->arena,
                               "CASE WHEN %.*s THEN %.*s ELSE %.*s END",
                               PSTR(null), name.n ? (int)name.n : 2,
                               name.n ? name.p : "''", PSTR(rest))
                  : rest;
    return out->p ? OK : err_nomem(w->err);
}

/* --- tables --------------------------------------------------------------- */

static void put_apart(struct owner_writer *w, struct str name, struct sb *b)
{
    if (!w->apart) {
        sb_str(b, name);
        return;
    }
    if (!w->apart->n) {
        sb_cstr(b, "''");
        return;
    }
    sb_printf(b, "CASE WHEN (%.*s) IN (VALUES ", PSTR(name));
    for (size_t i = 0; i < w->apart->n; i++) {
        sb_cstr(b, i ? ", (" : "(");
        sqlgen_text(b, w->apart->names[i]);
        sb_char(b, ')');
    }
    sb_printf(b, ") THEN %.*s ELSE '' END", PSTR(name));
}

static bool is_asked(const struct cq *q, uint32_t table, uint32_t col)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].table == table &&
            q->atoms[i].args[col].kind != TERM_ANY)
            return true;
    return false;
}

/* No column of the table's own has the name of one of ours. */
static enum status check_names(struct owner_writer *w,
                               const struct src_table *t)
{
    size_t n = sizeof OWNER - 1;
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->cols[i].name.n >= n && !memcmp(t->cols[i].name.p, OWNER, n))
            return refuse(w->err, "a column has a name of theirs");
    return OK;
}

/* Empty: no owner of its rows is asked for. */
static enum status write_table(struct owner_writer *w, uint32_t table,
                               struct str *out)
{
    const struct table *t = def_of(w, table);
    struct sb b;
    *out = (struct str){0};
    sb_init(&b, &w->c->arena);
    sb_init(&w->joins, &w->c->arena);
    w->n_joins = 0;
    for (uint32_t p = 0; p < t->paths.n; p++) {
        struct str row, name;
        if (!is_asked(w->c->q, table, (uint32_t)t->n_cols + p))
            continue;
        TRY(check_names(w, source_find_table(w->c->src, table)));
        TRY(name_of_row(w, table, &row));
        TRY(owner(w, table, p, "t", row, &name));
        sb_cstr(&b, b.n ? ", " : "(SELECT t.*, ");
        put_apart(w, name, &b);
        sb_printf(&b, " AS \"" OWNER "%u\"", p);
    }
    if (!b.n)
        return OK;
    sb_cstr(&b, " FROM ");
    put_table(w, table, &b);
    sb_printf(&b, " t%.*s)", PSTR(sb_view(&w->joins)));
    *out = sb_view(&b);
    return b.failed || w->joins.failed ? err_nomem(w->err) : OK;
}

static enum status check_table(struct owner_writer *w, uint32_t table,
                               bool *seen)
{
    const struct src_table *t = source_find_table(w->c->src, table);
    const struct table *def = def_of(w, table);
    if (seen[table])
        return OK;
    seen[table] = true;
    if (!t || t->refused || (t->kind != SRC_PG && t->kind != SRC_DUCKDB) ||
        (t->kind == SRC_DUCKDB ? duck_of(w->c->src, t) : NULL) != w->c->duck)
        return refuse(w->err, "a table on the way to them is elsewhere");
    for (size_t i = 0; i < def->owned_by.n; i++)
        TRY(check_table(w, def->owned_by.p[i].table, seen));
    return OK;
}

/* Columns of ours are texts; those of the source are as they were. */
static bool column_of(const void *ctx, uint32_t table, uint32_t col,
                      struct sqlgen_col *out)
{
    const struct pushdown *c = ctx;
    size_t own = c->src->schema->tables.p[table].n_cols;
    if (col < own)
        return c->owned.column(c->owned.ctx, table, col, out);
    const struct str *names = c->owned.names;
    *out = (struct sqlgen_col){.name = names[2 * (col - own)],
                               .type = T_TEXT,
                               .sql = names[2 * (col - own) + 1]};
    return col - own < MAX_OWNER_PATHS;
}

/* Plain, and as DuckDB's are given, with a mark. */
static enum status make_names(struct pushdown *c, struct err *err)
{
    c->owned.names = NEWS(&c->arena, struct str, 2 * MAX_OWNER_PATHS);
    if (!c->owned.names)
        return err_nomem(err);
    for (unsigned i = 0; i < MAX_OWNER_PATHS; i++) {
        struct str *name = &c->owned.names[2 * (size_t)i];
        name[0] = str_printf(&c->arena, OWNER "%u", i);
        name[1] = str_printf(&c->arena, "%c.\"" OWNER "%u\" COLLATE \"C\"",
                             SQLGEN_MARK, i);
        if (!name[0].p || !name[1].p)
            return err_nomem(err);
    }
    return OK;
}

/* A query that is good for one thing: its atom i is table i. */
static enum status make_writer(struct pushdown *c, struct owner_writer *w,
                               struct err *err)
{
    struct cq *q = NEW(&c->arena, struct cq);
    size_t n = w->s->tables.n;
    if (!q || !(q->atoms = NEWS(&c->arena, struct atom, n + 1)))
        return err_nomem(err);
    q->schema = w->s;
    for (uint32_t i = 0; i < n; i++)
        q->atoms[i].table = i;
    q->n_atoms = (uint32_t)n;
    w->sql = c->sql;
    w->sql.q = q;
    w->sql.marked = true;
    return OK;
}

static enum status write_owners(struct pushdown *c, struct owner_writer *w)
{
    size_t n = w->s->tables.n;
    bool *seen = NEWS(&c->arena, bool, n + 1);
    c->owned.from = NEWS(&c->arena, struct str, n + 1);
    if (!seen || !c->owned.from)
        return err_nomem(w->err);
    TRY(make_writer(c, w, w->err));
    for (uint32_t i = 0; i < c->q->n_atoms; i++)
        TRY(check_table(w, c->q->atoms[i].table, seen));
    for (uint32_t i = 0; i < n; i++)
        if (seen[i])
            TRY(write_table(w, i, &c->owned.from[i]));
    return make_names(c, w->err);
}

enum status pushdown_add_owners(struct pushdown *c,
                                const struct pushdown_apart *apart,
                                struct err *err)
{
    struct owner_writer w = {
        .c = c, .s = c->src->schema, .apart = apart, .err = err};
    TRY(write_owners(c, &w));
    c->owned.column = c->sql.column;
    c->owned.ctx = c->sql.ctx;
    c->sql.column = column_of;
    c->sql.ctx = c;
    return OK;
}
