/*
 * How large are all declared columns? By declared bounds, else by the
 * statistics of the catalogue, for --engine auto: one answer for all questions.
 * Only the choice of engine depends on it; both give the same numbers.
 *
 * PRIVACY: the statistics come from private rows, so which engine it was is
 * for the owner only: in the output of count and sensitivity and in the
 * owner's log, never in a release. Releases decide once for each version
 * (ledger/engines.c).
 */
#include "source/postgres/pg_lib.h"
#include <stdlib.h>

#include "source/postgres/pg.h"
#include "sqlgen/sqlgen.h"

/* Rows that the catalogue believes in, those of partitions added up. */
static void rows_sql(struct sb *b, const struct src_table *t)
{
    sb_cstr(b, "WITH RECURSIVE t(oid) AS (SELECT c.oid FROM "
               "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
               "ON n.oid = c.relnamespace WHERE n.nspname = ");
    sqlgen_text(b, t->namespace_);
    sb_cstr(b, " AND c.relname = ");
    sqlgen_text(b, t->name);
    sb_cstr(b, " UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i "
               "JOIN t ON i.inhparent = t.oid) "
               "SELECT COALESCE(sum(GREATEST(c.reltuples, 0)), 0) "
               "FROM pg_catalog.pg_class c JOIN t ON t.oid = c.oid "
               "WHERE c.relkind <> 'p'");
}

/* A cluster's coordinator has no rows: the bytes of the shards, each once. */
static void shards_sql(struct sb *b, const struct src_table *t)
{
    struct sb name;
    sb_init(&name, b->arena);
    sqlgen_ident(&name, t->namespace_);
    sb_char(&name, '.');
    sqlgen_ident(&name, t->name);
    b->failed |= name.failed;
    if (b->failed)
        return;
    sb_cstr(b, "SELECT COALESCE(sum(s), 0) FROM (SELECT max(shard_size) AS s "
               "FROM citus_shards WHERE table_name = ");
    sqlgen_text(b, sb_view(&name));
    sb_cstr(b, "::regclass GROUP BY shardid) x");
}

/* Bytes of a row's texts. */
static void width_sql(struct sb *b, const struct src_table *t)
{
    sb_cstr(b, "SELECT COALESCE(sum(avg_width), 0) FROM pg_catalog.pg_stats "
               "WHERE schemaname = ");
    sqlgen_text(b, t->namespace_);
    sb_cstr(b, " AND tablename = ");
    sqlgen_text(b, t->name);
    sb_cstr(b, " AND attname IN (''");
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->to[i] != UINT32_MAX &&
            (t->cols[i].type == T_TEXT || t->cols[i].type == T_DEC)) {
            sb_cstr(b, ", ");
            sqlgen_text(b, t->cols[i].name);
        }
    sb_cstr(b, ")");
}

static enum status one_number(struct source *src, const struct sb *b,
                              double *out, struct err *err)
{
    PGresult *res = NULL;
    if (b->failed)
        return err_nomem(err);
    TRY(pg_query(src, b->p, NULL, &res, err));
    *out = PQntuples(res) ? strtod(PQgetvalue(res, 0, 0), NULL) : 0;
    PQclear(res);
    return OK;
}

static size_t n_declared(const struct src_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_cols; i++)
        n += t->to[i] != UINT32_MAX;
    return n ? n : 1; /* rows are sent all the same */
}

/* Where the cluster does not tell: 0. */
static enum status cluster_bytes(struct source *src, const struct src_table *t,
                                 double *out, struct err *err)
{
    struct arena a;
    struct sb b;
    *out = 0;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    shards_sql(&b, t);
    enum status s =
        b.failed ? err_nomem(err) : pg_attempt_number(src, b.p, out, err);
    arena_fini(&a);
    return s;
}

/* Eight bytes for a value, and its text once more. */
static enum status believed_bytes(struct source *src, const struct src_table *t,
                                  double *out, struct err *err)
{
    struct arena a;
    struct sb rows, width;
    double n = 0, text = 0, shards = 0;
    if (src->pg->is_citus)
        TRY(cluster_bytes(src, t, &shards, err));
    arena_init(&a, src->mem);
    sb_init(&rows, &a);
    sb_init(&width, &a);
    rows_sql(&rows, t);
    width_sql(&width, t);
    enum status s = one_number(src, &rows, &n, err);
    if (s == OK && n > 0)
        s = one_number(src, &width, &text, err);
    *out = n * (8 * (double)n_declared(t) + text);
    *out = *out > shards ? *out : shards;
    arena_fini(&a);
    return s;
}

static enum status table_bytes(struct source *src, const struct src_table *t,
                               double *out, struct err *err)
{
    *out = 0;
    if (t->kind == SRC_PG)
        return believed_bytes(src, t, out, err);
    if (t->believed_rows > 0)
        *out = t->believed_rows * 8 * (double)n_declared(t);
    return OK;
}

enum status source_bytes(struct source *src, const u128 *rows, double *out,
                         bool *believed, struct err *err)
{
    *out = 0;
    *believed = false;
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        double more = 0;
        if (t->refused)
            continue;
        if (rows[t->table] != U128_INF) {
            *out += (double)rows[t->table] * 8 * (double)n_declared(t);
            continue;
        }
        TRY(table_bytes(src, t, &more, err));
        *believed = true;
        *out += more;
    }
    return OK;
}
