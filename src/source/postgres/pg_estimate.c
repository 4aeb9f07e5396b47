/*
 * How large is what a query needs? By the statistics of PostgreSQL's
 * catalogue, for --engine auto. Only the choice of engine depends on it; both
 * give the same numbers.
 *
 * PRIVACY: the statistics come from private rows, so which engine it was is
 * for the owner only: in the output of count and sensitivity and in the
 * owner's log, never in a release.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Bytes of a row's texts among the columns `needed`. */
static void width_sql(struct sb *b, const struct src_table *t,
                      const bool *needed)
{
    sb_cstr(b, "SELECT COALESCE(sum(avg_width), 0) FROM pg_catalog.pg_stats "
               "WHERE schemaname = ");
    sqlgen_text(b, t->namespace_);
    sb_cstr(b, " AND tablename = ");
    sqlgen_text(b, t->name);
    sb_cstr(b, " AND attname IN (''");
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->to[i] != UINT32_MAX && needed[t->to[i]] &&
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

static size_t columns_needed(const struct cq *q, size_t table, bool *needed)
{
    size_t n = 0;
    for (size_t c = 0; c < q->schema->tables.p[table].n_cols; c++) {
        for (uint32_t a = 0; a < q->n_atoms; a++)
            needed[c] |= q->atoms[a].table == table &&
                         q->atoms[a].args[c].kind != TERM_ANY;
        n += needed[c];
    }
    return n;
}

/* Eight bytes for a value, and its text once more. */
static enum status believed_bytes(struct source *src, const struct cq *q,
                                  const struct src_table *t, double *out,
                                  struct err *err)
{
    struct arena a;
    struct sb rows, width;
    double n = 0, w = 0;
    arena_init(&a, src->mem);
    sb_init(&rows, &a);
    sb_init(&width, &a);
    bool *needed = NEWS(&a, bool, q->schema->tables.p[t->table].n_cols + 1);
    enum status s = needed ? OK : err_nomem(err);
    if (s == OK) {
        size_t cols = columns_needed(q, t->table, needed);
        w = 8 * (double)(cols ? cols : 1); /* rows are sent all the same */
        rows_sql(&rows, t);
        width_sql(&width, t, needed);
        s = one_number(src, &rows, &n, err);
    }
    double text = 0;
    if (s == OK)
        s = one_number(src, &width, &text, err);
    *out = n * (w + text);
    arena_fini(&a);
    return s;
}

enum status source_prefers_sql(struct source *src, const struct cq *q,
                               size_t limit, bool *out, struct err *err)
{
    double bytes = 0, room = (double)limit;
    *out = false;
    if (!src->pg)
        return OK;
    for (uint32_t a = 0; a < q->n_atoms; a++) {
        const struct src_table *t = source_find_table(src, q->atoms[a].table);
        double more = 0;
        if (cq_atoms_of_table(q, q->atoms[a].table) & aset_first_n(a))
            continue; /* seen */
        if (!t || t->kind != SRC_PG)
            return OK; /* a file besides: only the embedded engine has both */
        TRY(believed_bytes(src, q, t, &more, err));
        bytes += more;
    }
    if (!limit)
        room = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    *out = bytes > room / 3;
    return OK;
}
