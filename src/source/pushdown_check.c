/*
 * Do the declared constraints hold? Asked of the database, table by table of
 * a query; what its own catalogue enforces is not asked again. The meaning is
 * that of the embedded check: a row with a NULL in X is not constrained, and
 * for keys and row bounds every row counts.
 *
 * PRIVACY: a constraint that lowers the noise must hold in the data.
 */
#include "source/pushdown.h"

#include <libpq-fe.h>
#include "source/pg.h"

static const struct src_column *column_of(const struct src_table *t,
                                          uint32_t col)
{
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->to[i] == col)
            return &t->cols[i];
    return NULL;
}

static void from_table(struct sb *b, const struct src_table *t)
{
    sb_cstr(b, " FROM ");
    sql_ident(b, t->namespace_);
    sb_char(b, '.');
    sql_ident(b, t->name);
}

static void columns(struct sb *b, const struct src_table *t,
                    const uint32_t *cols, size_t n, const char *first,
                    char name)
{
    for (size_t i = 0; i < n; i++) {
        const struct src_column *c = column_of(t, cols[i]);
        sb_cstr(b, i ? ", " : first);
        sql_ident(b, c ? c->name : STR(""));
        /* the rows' own equality, not that of a collation */
        if (c && c->type == T_TEXT)
            sb_cstr(b, "::text COLLATE \"C\"");
        sb_printf(b, " AS %c%zu", name, i);
    }
}

static bool enforced(const struct src_table *t, const struct degree *d)
{
    for (size_t k = 0; k < t->keys.n; k++) {
        size_t same = 0;
        for (size_t i = 0; i < t->keys.p[k].n_cols; i++)
            for (size_t x = 0; x < d->n_x; x++)
                same += t->to[t->keys.p[k].cols[i]] == d->x[x];
        /* a key inside X bounds everything that X bounds */
        if (same == t->keys.p[k].n_cols)
            return true;
    }
    return false;
}

bool pg_enforces_all(const struct src_table *t, const struct table *st)
{
    for (size_t i = 0; i < st->degrees.n; i++)
        if (!enforced(t, &st->degrees.p[i]))
            return false;
    for (uint32_t i = 0; i < st->n_cols; i++) {
        const struct src_column *c = column_of(t, i);
        if (st->cols[i].not_null && !(c && c->not_null))
            return false;
    }
    return true;
}

/* SELECT 1 for one X with more than k values of Y. */
static void violation_sql(struct sb *b, const struct src_table *t,
                          const struct degree *d)
{
    bool rows = degree_counts_rows(d);
    sb_cstr(b, "SELECT 1 FROM (SELECT ");
    sb_cstr(b, rows ? "" : "DISTINCT ");
    columns(b, t, d->x, d->n_x, "", 'x');
    if (!rows)
        columns(b, t, d->y, d->n_y, d->n_x ? ", " : "", 'y');
    else if (!d->n_x)
        sb_cstr(b, "1");
    from_table(b, t);
    for (size_t i = 0; i < d->n_x; i++) {
        const struct src_column *c = column_of(t, d->x[i]);
        sb_cstr(b, i ? " AND " : " WHERE ");
        sql_ident(b, c ? c->name : STR(""));
        sb_cstr(b, " IS NOT NULL");
    }
    sb_cstr(b, ") s");
    for (size_t i = 0; i < d->n_x; i++)
        sb_printf(b, "%ss.x%zu", i ? ", " : " GROUP BY ", i);
    sb_cstr(b, " HAVING count(*) > ");
    sb_u128(b, d->k);
    sb_cstr(b, " LIMIT 1");
}

static enum status any_row(struct source_counter *c, const struct sb *b,
                           bool *out, struct err *err)
{
    struct ticker t;
    PGresult *res;
    if (b->failed)
        return err_nomem(err);
    ticker_init(&t, c->progress, "checking constraints in the database", 0);
    TRY(pg_query(c->src, b->p, &t, &res, err));
    *out = PQntuples(res) > 0;
    PQclear(res);
    return OK;
}

static enum status broken(struct source_counter *c, const struct table *st,
                          const struct degree *d, struct err *err)
{
    struct sb b;
    sb_init(&b, &c->scratch);
    degree_print(&b, st, d);
    err_set(err, E_CONSTRAINT, "the data break the declared constraint %s",
            b.p ? b.p : "");
    err_hint(err, "dpcount check lists everything that does not hold.");
    return E_CONSTRAINT;
}

static enum status check_degrees(struct source_counter *c,
                                 const struct src_table *t, struct err *err)
{
    const struct table *st = &c->q->schema->tables.p[t->table];
    for (size_t i = 0; i < st->degrees.n; i++) {
        const struct degree *d = &st->degrees.p[i];
        struct sb b;
        bool found = false;
        if (enforced(t, d))
            continue;
        sb_init(&b, &c->scratch);
        violation_sql(&b, t, d);
        TRY(any_row(c, &b, &found, err));
        if (found)
            return broken(c, st, d, err);
    }
    return OK;
}

static enum status check_nulls(struct source_counter *c,
                               const struct src_table *t, struct err *err)
{
    const struct table *st = &c->q->schema->tables.p[t->table];
    for (uint32_t i = 0; i < st->n_cols; i++) {
        const struct src_column *col = column_of(t, i);
        struct sb b;
        bool found = false;
        if (!st->cols[i].not_null || !col || col->not_null)
            continue;
        sb_init(&b, &c->scratch);
        sb_cstr(&b, "SELECT 1");
        from_table(&b, t);
        sb_cstr(&b, " WHERE ");
        sql_ident(&b, col->name);
        sb_cstr(&b, " IS NULL LIMIT 1");
        TRY(any_row(c, &b, &found, err));
        if (found) {
            err_set(err, E_CONSTRAINT,
                    "null value in column \"%.*s\", which is NOT NULL",
                    PSTR(st->cols[i].name));
            err_detail(err, "In table \"%.*s\".", PSTR(t->name));
            return E_CONSTRAINT;
        }
    }
    return OK;
}

enum status source_counter_check(struct source_counter *c, struct err *err)
{
    aset done = 0;
    for (uint32_t a = 0; a < c->q->n_atoms; a++) {
        const struct src_table *t =
            source_find_table(c->src, c->q->atoms[a].table);
        if (done & cq_atoms_of_table(c->q, c->q->atoms[a].table))
            continue;
        done |= aset_one(a);
        TRY(check_degrees(c, t, err));
        TRY(check_nulls(c, t, err));
        arena_fini(&c->scratch);
    }
    return OK;
}
