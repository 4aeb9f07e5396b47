/* Counting by DuckDB itself: see duckdb_int.h. */
#include <stdio.h>
#include <string.h>

#include "source/duckdb/duckdb_int.h"
#include "sqlgen/sqlgen.h"

struct duck *duck_of(const struct source *src, const struct src_table *t)
{
    return t->parquet ? src->parquet : src->duckdb;
}

static bool column_of(const void *ctx, uint32_t table, uint32_t col,
                      struct sqlgen_col *out)
{
    const struct src_column *c = source_find_column(ctx, table, col);
    if (c)
        *out = (struct sqlgen_col){
            .name = c->name, .type = c->type, .sql = c->sql};
    return c;
}

void duck_sqlgen(const struct source *src, const struct cq *q,
                 struct sqlgen *out)
{
    *out = (struct sqlgen){.q = q,
                           .duckdb = true,
                           .is_utf8 = true,
                           .column = column_of,
                           .ctx = src};
}

static enum status run(const struct duck *d, const char *sql, struct err *err)
{
    struct duck_rows r;
    TRY(duck_begin(d, sql, &r, err));
    duck_end(&r);
    return OK;
}

/* What it takes beside its own accounts, its code among that, and we. */
static size_t beside(size_t memory)
{
    const size_t least = (size_t)160 << 20;
    size_t quarter = memory / 4;
    if (memory - quarter < least)
        return memory - quarter;
    return quarter > least ? quarter : least;
}

enum status duck_for_counting(const struct source *src, const struct duck *d,
                              struct err *err)
{
    char sql[80];
    if (!src->mem->limit)
        return OK;
    snprintf(sql, sizeof sql, "SET memory_limit = '%zuB'",
             src->mem->limit - beside(src->mem->limit));
    return run(d, sql, err);
}

enum status duck_plan(const struct duck *d, const char *sql, struct err *err)
{
    duck_handle stmt = NULL;
    enum status s = OK;
    if (d->lib->prepare(d->con, sql, &stmt) != 0) {
        const char *words = d->lib->prepare_error(stmt);
        s = err_set(err, E_UNSUPPORTED, "DuckDB cannot plan this query: %.*s",
                    (int)strcspn(words ? words : "", "\n"), words ? words : "");
        err_hint(err, "Use --engine embedded for this query.");
    }
    if (stmt)
        d->lib->destroy_prepare(&stmt);
    return s;
}

/* PRIVACY: its words may hold cells. */
static enum status stopped(const struct duck *d, const char *words,
                           struct err *err)
{
    if (duck_failed(d, "count in", words, err) == E_LIMIT)
        return E_LIMIT;
    return err_set(err, E_LOST, "DuckDB stopped while it was counting");
}

/* In its tasks, on this thread, so that it can be stopped between two. */
static enum status execute(struct duck_rows *r, struct ticker *t,
                           struct err *err)
{
    const struct duck_lib *lib = r->d->lib;
    duck_handle pending = NULL;
    enum status s = OK;
    int state = DUCK_NOT_READY;
    if (lib->pending_prepared(r->stmt, &pending) != 0)
        s = stopped(r->d, lib->pending_error(pending), err);
    while (s == OK && state != DUCK_READY) {
        state = lib->pending_execute_task(pending);
        s = state == DUCK_FAILED
                ? stopped(r->d, lib->pending_error(pending), err)
                : ticker_tick(t, 0, err);
    }
    if (s == OK && lib->execute_pending(pending, &r->res) != 0)
        s = stopped(r->d, lib->result_error(&r->res), err);
    lib->destroy_pending(&pending);
    return s;
}

enum { MAX_TEXTS = 1024 };

static enum status each(struct duck_rows *r, uint64_t n_cols, duck_texts_fn fn,
                        void *ctx, struct err *err)
{
    struct str cells[MAX_TEXTS];
    bool more = true;
    enum status s = duck_next(r, &more, err);
    while (s == OK && more) {
        for (uint64_t row = 0; s == OK && row < r->n; row++) {
            for (uint64_t i = 0; i < n_cols; i++) {
                struct duck_vector v = duck_column(r, i);
                cells[i] =
                    duck_is_null(&v, row) ? STR("") : duck_text_at(&v, row);
            }
            s = fn(ctx, cells, err);
        }
        if (s == OK)
            s = duck_next(r, &more, err);
    }
    return s;
}

enum status duck_texts(const struct duck *d, const char *sql, uint64_t n_cols,
                       struct ticker *t, duck_texts_fn fn, void *ctx,
                       struct err *err)
{
    struct duck_rows r = {.d = d};
    if (n_cols > MAX_TEXTS)
        return err_internal(err, "duck_texts");
    enum status s = d->lib->prepare(d->con, sql, &r.stmt) == 0
                        ? execute(&r, t, err)
                        : stopped(d, d->lib->prepare_error(r.stmt), err);
    if (s == OK)
        s = each(&r, n_cols, fn, ctx, err);
    duck_end(&r);
    return s;
}
