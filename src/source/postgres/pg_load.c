/*
 * Rows of a PostgreSQL table: binary COPY of the wanted columns. A column
 * whose type is not read natively comes as text. Declared types are the
 * server's (merge.c), so no cell is of another one.
 */
#include "source/postgres/pg.h"
#include "sqlgen/sqlgen.h"

#include "source/postgres/pg_lib.h"

struct copy {
    struct source *src;
    const struct src_table *t;
    struct store_loader *l;
    struct pg_copy in;
    struct pg_text texts;
    bool has_bytes; /* texts that come as bytes */
    struct ticker tick;
    struct err *err;
};

static enum status column_sql(struct copy *c, const struct src_column *col,
                              uint32_t *oid, struct sb *b)
{
    struct sb text;
    bool bytes = pg_text_is_bytes(c->src, col), cast = bytes || col->as_text;
    sb_init(&text, &c->l->arena);
    sqlgen_ident(&text, col->name);
    sb_cstr(&text, cast ? "::text" : "");
    *oid = bytes ? OID_BYTEA : cast ? (uint32_t)OID_TEXT : col->type_oid;
    c->has_bytes |= bytes;
    if (bytes)
        return pg_text_sql(c->src, &text, b, c->err);
    sb_str(b, sb_view(&text));
    return text.failed ? store_nomem(c->src->mem, c->err) : OK;
}

static enum status select_sql(struct copy *c, const uint32_t *from,
                              struct str where, struct sb *b)
{
    sb_cstr(b, "SELECT ");
    for (size_t i = 0; i < c->l->n_cols; i++) {
        sb_cstr(b, i ? ", " : "");
        TRY(column_sql(c, &c->t->cols[from[i]], &c->in.oids[i], b));
    }
    sb_cstr(b, c->l->n_cols ? " FROM " : "1 FROM ");
    sqlgen_ident(b, c->t->namespace_);
    sb_char(b, '.');
    sqlgen_ident(b, c->t->name);
    if (where.n) {
        sb_cstr(b, " WHERE ");
        sb_add(b, where.p, where.n);
    }
    return b->failed ? store_nomem(c->src->mem, c->err) : OK;
}

/* Takes what has arrived; *done at the end of the stream. */
static enum status drain(struct copy *c, bool *done)
{
    PGconn *conn = c->src->pg->conn;
    char *buf;
    int n;
    while ((n = PQgetCopyData(conn, &buf, 1)) > 0) {
        enum status s =
            pg_copy_message(&c->in, (struct str){buf, (size_t)n}, c->err);
        PQfreemem(buf);
        TRY(s);
        if (c->l->n_rows % 4096 == 0)
            TRY(ticker_tick(&c->tick, c->l->n_rows, c->err));
    }
    if (n == -2)
        return pg_failed(c->src, "read from", NULL, c->err);
    *done = n == -1;
    return OK;
}

static enum status stream(struct copy *c)
{
    bool done = false;
    TRY(drain(c, &done));
    while (!done) {
        TRY(pg_wait(c->src, &c->tick, c->l->n_rows, c->err));
        TRY(drain(c, &done));
    }
    enum status s = OK;
    bool whole = false; /* the server said that these were all rows */
    for (PGresult *res; (res = PQgetResult(c->src->pg->conn));) {
        if (s == OK && PQresultStatus(res) != PGRES_COMMAND_OK)
            s = pg_failed(c->src, "read from", res, c->err);
        whole = s == OK;
        PQclear(res);
    }
    return s == OK && !whole ? pg_failed(c->src, "read from", NULL, c->err) : s;
}

/* Stops a COPY that is not read to its end; the connection is not used
 * again, but the server should not go on. */
static void stop_copy(struct source *src)
{
    char text[256];
    PGcancel *cancel = PQgetCancel(src->pg->conn);
    if (cancel)
        PQcancel(cancel, text, sizeof text);
    PQfreeCancel(cancel);
}

/* PRIVACY: what stops the server between the first row and the last (its
 * memory, its disk, its clock) may depend on the rows; the release charges
 * for it, unlike for a source that cannot be opened. */
static enum status lost(enum status s, struct err *err)
{
    if (s != E_SOURCE)
        return s;
    err->status = E_LOST;
    return E_LOST;
}

enum status pg_load(struct source *src, const struct src_table *t,
                    struct str where, bool plan_only, struct store_loader *l,
                    const struct progress *p, struct err *err)
{
    struct copy c = {.src = src, .t = t, .l = l, .err = err};
    uint32_t *from;
    struct sb b;
    PGresult *res;
    ticker_init(&c.tick, p, t->name.p, 0);
    c.in = (struct pg_copy){.l = l};
    c.in.oids = NEWS(&l->arena, uint32_t, l->n_cols + 1);
    if (!c.in.oids)
        return store_nomem(src->mem, err);
    TRY(source_loader_columns(t, l, &from, err));
    sb_init(&b, &l->arena);
    sb_cstr(&b, plan_only ? "" : "COPY (");
    TRY(select_sql(&c, from, where, &b));
    if (plan_only)
        return pg_explain(src, sb_view(&b), err);
    sb_cstr(&b, ") TO STDOUT (FORMAT binary)");
    if (b.failed)
        return store_nomem(src->mem, err);
    if (c.has_bytes)
        TRY(lost(pg_text_open(src, &c.texts, err), err));
    c.in.texts = c.has_bytes ? &c.texts : NULL;
    pg_copy_begin(&c.in);
    /* Columns that grow are moved, page by page: as much time as decoding. */
    if (!where.n && t->believed_rows > 0 && t->believed_rows < 0x1p40)
        loader_reserve(l, (size_t)t->believed_rows);
    enum status s = pg_query(src, b.p, &c.tick, &res, err);
    PQclear(res);
    if (s == OK)
        s = stream(&c);
    if (s != OK)
        stop_copy(src);
    return lost(s, err);
}

enum status pg_has_more(struct source *src, const struct src_table *t,
                        size_t rows, bool *out, struct err *err)
{
    struct arena a;
    struct sb b;
    PGresult *res;
    *out = true;
    if (!t->is_lockable)
        return OK;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    sb_cstr(&b, "SELECT 1 FROM ");
    sqlgen_ident(&b, t->namespace_);
    sb_char(&b, '.');
    sqlgen_ident(&b, t->name);
    sb_printf(&b, " LIMIT 1 OFFSET %zu", rows);
    enum status s = b.failed ? store_nomem(src->mem, err)
                             : pg_query(src, b.p, NULL, &res, err);
    if (s == OK) {
        *out = PQntuples(res) > 0;
        PQclear(res);
    }
    arena_fini(&a);
    return s;
}
