/*
 * What a catalogue enforces. A constraint lowers the noise only where it holds
 * of every state the data can have: in a database that is written to, that is
 * what the database itself refuses to break. All else that was declared of its
 * tables is left out before the query is read, for every use (bounds, chase,
 * NULLs), as if nobody had said it.
 *
 * PRIVACY: decided by the catalogue and the declarations alone. Were a
 * constraint checked on the rows when a question is asked, the outcome would
 * tell whether it holds. Files and SQLite are checked as a whole, before any
 * question (release/validity.c); not where one of the files is a pipe, which
 * can be read only once.
 */
#include "source/source_int.h"

static const struct src_column *column_of(const struct src_table *t,
                                          uint32_t col)
{
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->to[i] == col)
            return &t->cols[i];
    return NULL;
}

/* PRIVACY: '1' and '01' are two keys of a TEXT column and one integer, if the
 * policy makes integers of them. */
static bool is_own_type(const struct src_table *t, const struct table *st,
                        uint32_t col)
{
    return st->cols[t->to[col]].type == t->cols[col].type;
}

/* A key inside X bounds everything that X bounds. Rows with a NULL in the key
 * have one in X and are not constrained by either. */
static bool degree_enforced(const struct src_table *t, const struct table *st,
                            const struct degree *d)
{
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct src_key *key = &t->keys.p[k];
        size_t same = 0;
        for (size_t i = 0; i < key->n_cols; i++)
            for (size_t x = 0; x < d->n_x; x++)
                same += t->to[key->cols[i]] == d->x[x] &&
                        is_own_type(t, st, key->cols[i]);
        if (key->enforced && same == key->n_cols)
            return true;
    }
    return false;
}

/* Outside of servers the cell rule makes it true. */
static bool not_null_enforced(const struct src_table *t, uint32_t col)
{
    const struct src_column *c = column_of(t, col);
    return t->kind != SRC_PG || (c && c->not_null);
}

bool source_enforces_all(const struct src_table *t, const struct table *st)
{
    for (size_t i = 0; i < st->degrees.n; i++)
        if (!degree_enforced(t, st, &st->degrees.p[i]))
            return false;
    for (uint32_t i = 0; i < st->n_cols; i++)
        if (st->cols[i].not_null && !not_null_enforced(t, i))
            return false;
    return true;
}

static void name_column(struct sb *b, const struct table *st, uint32_t col)
{
    sb_cstr(b, b->n ? "; " : "");
    sb_printf(b, "%.*s.%.*s NOT NULL", PSTR(st->name),
              PSTR(st->cols[col].name));
}

static void keep_enforced(const struct src_table *t, struct table *st,
                          struct sb *left_out)
{
    size_t n = 0;
    for (size_t i = 0; i < st->degrees.n; i++) {
        const struct degree *d = &st->degrees.p[i];
        if (degree_enforced(t, st, d)) {
            st->degrees.p[n++] = *d;
            continue;
        }
        sb_cstr(left_out, left_out->n ? "; " : "");
        degree_print(left_out, st, d);
    }
    st->degrees.n = n;
    for (uint32_t i = 0; i < st->n_cols; i++) {
        if (!st->cols[i].not_null || not_null_enforced(t, i))
            continue;
        st->cols[i].not_null = false;
        name_column(left_out, st, i);
    }
}

void source_keep_enforced(const struct source *src, struct sb *left_out)
{
    bool checked = src && source_is_repeatable(src);
    for (size_t i = 0; src && i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        if (t->kind == SRC_PG || !checked)
            keep_enforced(t, &src->schema->tables.p[t->table], left_out);
    }
}
