/*
 * Statements: PostgreSQL's or DuckDB's. See pushdown_int.h.
 *
 * Each column of a result comes as a text, whole numbers of any length among
 * them. DuckDB is asked for texts; its own numbers would be of several types.
 */
#include "source/postgres/pg_lib.h"
#include <string.h>

#include "pushdown/pushdown_int.h"

/* Engines that need a setting before they join freely, and one that compiles
 * statements which run once; for this transaction only. A cluster puts no limit
 * on what its servers hand each other: the owner's limits hold instead. */
enum status pushdown_begin(struct source *src, struct duck *duck,
                           struct err *err)
{
    if (duck)
        return duck_for_counting(src, duck, err);
    if (src->pg->is_citus) {
        TRY(pg_set(src, "citus.enable_repartition_joins", "on", err));
        TRY(pg_set(src, "citus.max_intermediate_result_size", "-1", err));
    }
    return pg_set(src, "jit", "off", err);
}

enum { MAX_COLUMNS = 1024 };

static enum status each_row(const PGresult *res, size_t n_cols,
                            pushdown_row_fn fn, void *ctx, struct err *err)
{
    struct str cells[MAX_COLUMNS];
    if (PQnfields(res) != (int)n_cols || n_cols > MAX_COLUMNS)
        return err_internal(err, "pushdown: not the columns");
    for (int row = 0; row < PQntuples(res); row++) {
        for (size_t i = 0; i < n_cols; i++)
            cells[i] = str_of(PQgetvalue(res, row, (int)i));
        TRY(fn(ctx, cells, err));
    }
    return OK;
}

enum status pushdown_query(struct pushdown *c, const char *sql, size_t n_cols,
                           pushdown_row_fn fn, void *ctx, struct err *err)
{
    struct ticker t;
    PGresult *res;
    if (c->planning)
        return c->duck ? duck_plan(c->duck, sql, err)
                       : pg_explain(c->src, str_of(sql), err);
    ticker_init(&t, c->progress, "counting in the database", 0);
    t.counts = true;
    c->n_statements++;
    if (c->duck)
        return duck_texts(c->duck, sql, n_cols, &t, fn, ctx, err);
    TRY(pg_query(c->src, sql, &t, &res, err));
    enum status s = each_row(res, n_cols, fn, ctx, err);
    PQclear(res);
    return s;
}
