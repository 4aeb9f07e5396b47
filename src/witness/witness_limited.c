/*
 * What has few values in every database that the declared schema admits, so
 * that no family of witnesses grows along it (bound's PROOF.md, Claim 6). When
 * in doubt a column is limited: then a family is not found, and nothing false
 * is said.
 */
#include "witness/lower.h"

enum { FEW_CHARS = 6, FEW_DIGITS = 9, MAX_DEPTH = 8 };

static bool has_check(const struct admissible *adm, uint32_t table,
                      uint32_t col)
{
    for (size_t i = 0; i < adm->n_checks; i++)
        if (adm->checks[i].table == table &&
            witness_checks(&adm->checks[i], col))
            return true;
    return false;
}

static bool few_numbers(const struct number_size *d)
{
    return d->limited && d->before + d->behind < FEW_DIGITS;
}

/* As an integer has enough values to go on for ever, so has a text of six
 * characters. */
static bool column_is_limited(const struct witness_search *l, uint32_t table,
                              uint32_t col)
{
    const struct table *t = &l->q->schema->tables.p[table];
    if (col >= t->n_cols)
        return false;
    const struct column *c = &t->cols[col];
    return c->own_domain || c->type == T_BOOL ||
           (c->chars && c->chars < FEW_CHARS) || few_numbers(&c->digits) ||
           has_check(l->adm, table, col);
}

struct growing {
    const struct witness_search *l;
    const struct table *t;
    uint32_t table;
    const struct foreign_key *fk; /* leads here */
    const bool *varies;           /* by column of it; NULL: all do */
};

static bool table_grows(const struct growing *g, unsigned depth);

/* Can new rows have ever new values, or NULL, in the column? */
static bool column_grows(const struct growing *g, uint32_t col)
{
    const struct foreign_key *on = witness_leads(g->t, col);
    for (size_t i = 0; i < g->fk->n_cols; i++)
        if (g->fk->ref_cols[i] == col)
            return !g->varies || g->varies[i];
    if (on)
        return !g->t->cols[col].not_null;
    return !column_is_limited(g->l, g->table, col);
}

static bool degree_grows(const struct growing *g, const struct degree *d)
{
    for (size_t i = 0; i < d->n_x; i++)
        if (d->x[i] < g->t->n_cols && column_grows(g, d->x[i]))
            return true;
    return false;
}

static bool reference_grows(const struct witness_search *l,
                            const struct foreign_key *fk, const bool *varies,
                            unsigned depth)
{
    const struct schema *s = l->q->schema;
    long to = schema_find_nocase(s, fk->ref_table);
    struct growing g = {.l = l, .fk = fk, .varies = varies};
    if (to < 0 || s->tables.p[to].is_refused)
        return true;
    g.table = (uint32_t)to;
    g.t = &s->tables.p[to];
    for (size_t i = 0; i < fk->n_cols; i++)
        if (column_is_limited(l, g.table, fk->ref_cols[i]))
            return false;
    return table_grows(&g, depth);
}

/* With every new value that refers to it a row of its own: no dependency
 * stands in the way, nor what the row must refer to in turn. */
static bool table_grows(const struct growing *g, unsigned depth)
{
    for (size_t i = 0; i < g->t->degrees.n; i++)
        if (!degree_grows(g, &g->t->degrees.p[i]))
            return false;
    for (size_t f = 0; f < g->t->fks.n; f++) {
        const struct foreign_key *fk = &g->t->fks.p[f];
        bool must = !str_eq(fk->ref_table, g->t->name);
        for (size_t i = 0; i < fk->n_cols; i++)
            must &= g->t->cols[fk->cols[i]].not_null;
        if (must &&
            (depth >= MAX_DEPTH || !reference_grows(g->l, fk, NULL, depth + 1)))
            return false;
    }
    return true;
}

static bool mark_reference(const struct witness_search *l, const struct tab *t,
                           const struct tab_atom *at,
                           const struct foreign_key *fk, bool *in)
{
    bool varies[1 + UINT8_MAX], any = false;
    for (size_t i = 0; i < fk->n_cols && i < sizeof varies; i++) {
        varies[i] = !in[tab_find(t, at->el[fk->cols[i]])];
        any |= varies[i];
    }
    if (!any || reference_grows(l, fk, varies, 0))
        return false;
    for (size_t i = 0; i < fk->n_cols; i++)
        in[at->el[fk->cols[i]]] = true;
    return true;
}

static bool mark_atom(const struct witness_search *l, const struct tab *t,
                      const struct tab_atom *at, bool *in)
{
    const struct table *tb = &l->q->schema->tables.p[at->table];
    bool more = false;
    for (uint32_t j = 0; j < at->n; j++)
        if (!in[at->el[j]] && column_is_limited(l, at->table, j))
            more = in[at->el[j]] = true;
    for (size_t f = 0; f < tb->fks.n; f++)
        more |= mark_reference(l, t, at, &tb->fks.p[f], in);
    return more;
}

void witness_limited(const struct witness_search *l, const struct tab *t,
                     bool *in)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < t->n_atoms; i++)
            more |= mark_atom(l, t, &t->atoms[i], in);
        if (more)
            tab_close(t, U128_MAX, in);
    }
}
