/*
 * How large is what a query needs? By the statistics of PostgreSQL's
 * catalogue, for --engine auto. Only the choice of engine depends on it; both
 * give the same numbers.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/pg.h"

/* Rows that the catalogue believes in; partitions are added up. */
static enum status believed_rows(struct source *src, const struct src_table *t,
                                 double *out, struct err *err)
{
    struct arena a;
    struct sb b;
    PGresult *res = NULL;
    arena_init(&a, src->mem);
    sb_init(&b, &a);
    struct sb name;
    sb_init(&name, &a);
    sql_ident(&name, t->namespace_);
    sb_char(&name, '.');
    sql_ident(&name, t->name);
    sb_cstr(&b, "WITH t AS (SELECT E'");
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '\'' || name.p[i] == '\\')
            sb_char(&b, name.p[i]);
        sb_char(&b, name.p[i]);
    }
    sb_cstr(&b, "'::pg_catalog.regclass::pg_catalog.oid AS oid) "
                "SELECT COALESCE(sum(GREATEST(c.reltuples, 0)), 0) "
                "FROM pg_catalog.pg_class c WHERE c.relkind <> 'p' AND "
                "(c.oid = (SELECT oid FROM t) OR c.oid IN (SELECT i.inhrelid "
                "FROM pg_catalog.pg_inherits i "
                "WHERE i.inhparent = (SELECT oid FROM t)))");
    enum status s = b.failed || name.failed
                        ? err_nomem(err)
                        : pg_query(src, b.p, NULL, &res, err);
    if (s == OK)
        *out = strtod(PQgetvalue(res, 0, 0), NULL);
    PQclear(res);
    arena_fini(&a);
    return s;
}

static size_t columns_needed(const struct cq *q, size_t table)
{
    const struct table *t = &q->schema->tables.p[table];
    size_t n = 0;
    for (size_t c = 0; c < t->n_cols; c++) {
        bool needed = false;
        for (uint32_t a = 0; a < q->n_atoms; a++)
            needed |= q->atoms[a].table == table &&
                      q->atoms[a].args[c].kind != TERM_ANY;
        n += needed;
    }
    return n;
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
        double rows = 0;
        if (cq_atoms_of_table(q, q->atoms[a].table) & aset_first_n(a))
            continue; /* seen */
        if (!t || t->kind != SRC_PG)
            return OK; /* a file besides: only the embedded engine has both */
        TRY(believed_rows(src, t, &rows, err));
        bytes += rows * 8 * (double)columns_needed(q, q->atoms[a].table);
    }
    if (!limit)
        room = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    *out = bytes > room / 3;
    return OK;
}
