/*
 * Domains: the values of variables as dense ids. Ids rise with value_cmp
 * where an order comparison is asked; elsewhere they rise with the number of
 * rows that hold the value, so that the heavy values come last and "the
 * largest id of a result" means "the heaviest".
 *
 * Variables that are compared, or that read the same column, share a domain,
 * so that copies of one relation are the same arrays of ids and a comparison
 * of values is a comparison of ids.
 *
 *   domain.c      which variables share, where values come from, frequencies
 *   domain_values.c   the values of a domain in rising order
 *   domain_encode.c   ids of values and of columns
 *
 * Cost: O(rows + range) for dense numbers, O(rows log distinct) otherwise.
 */
#include "join/encode/domain.h"

#include "base/union_find.h"

#include <string.h>

/* --- which variables share ---------------------------------------------- */

/* Joins variable v with the first variable seen at this place. */
static void share_place(uint32_t *up, uint32_t *first, uint32_t v)
{
    if (*first == NO_ID)
        *first = v;
    else
        union_find_join(up, *first, v);
}

static enum status share_columns(struct join *j, struct arena *a, uint32_t *up,
                                 struct err *err)
{
    const struct cq *q = j->q;
    uint32_t **first = NEWS(a, uint32_t *, j->st->n_tables);
    if (!first)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct atom *at = &q->atoms[i];
        if (!first[at->table]) {
            /* one place more, for the row id */
            first[at->table] = NEWS(a, uint32_t, at->n_args + 1);
            if (!first[at->table])
                return err_nomem(err);
            memset(first[at->table], 0xff, (at->n_args + 1) * 4);
        }
        for (uint32_t k = 0; k < at->n_args; k++)
            if (at->args[k].kind == TERM_VAR)
                share_place(up, &first[at->table][k], at->args[k].id);
        if (at->rowid >= 0)
            share_place(up, &first[at->table][at->n_args], (uint32_t)at->rowid);
    }
    return OK;
}

static enum status assign_domains(struct join *j, struct arena *a,
                                  struct err *err)
{
    const struct cq *q = j->q;
    uint32_t *up = NEWS(a, uint32_t, q->n_vars);
    j->dom_of = NEWS(&j->arena, uint32_t, q->n_vars);
    j->doms = NEWS(&j->arena, struct dom, q->n_vars);
    if (!up || !j->dom_of || !j->doms)
        return err_nomem(err);
    union_find_init(up, q->n_vars);
    TRY(share_columns(j, a, up, err));
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].l.kind == TERM_VAR && q->cmps[i].r.kind == TERM_VAR)
            union_find_join(up, q->cmps[i].l.id, q->cmps[i].r.id);
    uint32_t *number = NEWS(a, uint32_t, q->n_vars);
    if (!number)
        return err_nomem(err);
    memset(number, 0xff, q->n_vars * sizeof *number);
    for (uint32_t v = 0; v < q->n_vars; v++) {
        uint32_t root = union_find_root(up, v);
        if (number[root] == NO_ID)
            number[root] = j->n_doms++;
        j->dom_of[v] = number[root];
    }
    return OK;
}

/* --- sources ------------------------------------------------------------ */

static enum status add_source(struct join *j, uint32_t v,
                              const struct store_column *c, size_t n_rows,
                              const struct value *value, struct err *err)
{
    struct dom *d = &j->doms[j->dom_of[v]];
    bool nulls = c && c->nulls && !j->q->vars[v].nonnull;
    for (size_t i = 0; c && i < d->sources.n; i++)
        if (d->sources.p[i].col == c) {
            d->sources.p[i].nulls |= nulls;
            return OK;
        }
    struct dom_source s = {c, n_rows, value, nulls, NULL};
    return VEC_PUSH(&j->arena, &d->sources, s) ? OK : err_nomem(err);
}

static enum status atom_sources(struct join *j, const struct atom *at,
                                struct err *err)
{
    const struct store_table *t = &j->st->tables[at->table];
    if (!t->loaded)
        return err_internal(err, "join: table not loaded");
    if (t->n_rows >= NO_ID)
        return err_set(err, E_LIMIT, "a table has more than 2^32 - 2 rows");
    for (uint32_t k = 0; k < at->n_args; k++) {
        if (at->args[k].kind != TERM_VAR)
            continue;
        if (k >= t->n_cols || !t->cols[k].present)
            return err_internal(err, "join: column not loaded");
        TRY(add_source(j, at->args[k].id, &t->cols[k], t->n_rows, NULL, err));
    }
    if (at->rowid >= 0) {
        struct dom *d = &j->doms[j->dom_of[at->rowid]];
        d->is_rows = true;
        d->n = (uint32_t)t->n_rows;
    }
    return OK;
}

static enum status collect_sources(struct join *j, struct err *err)
{
    const struct cq *q = j->q;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        TRY(atom_sources(j, &q->atoms[i], err));
    for (uint32_t i = 0; i < q->n_calcs; i++) {
        uint32_t table = q->atoms[q->calcs[i].atom].table;
        TRY(add_source(j, q->calcs[i].var, &j->calc_cols[i],
                       j->st->tables[table].n_rows, NULL, err));
    }
    /* constants of comparisons, so that every one has its own place */
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        struct term l = q->cmps[i].l, r = q->cmps[i].r;
        if (l.kind == TERM_VAR && r.kind == TERM_CONST)
            TRY(add_source(j, l.id, NULL, 0, &q->consts[r.id], err));
        if (r.kind == TERM_VAR && l.kind == TERM_CONST)
            TRY(add_source(j, r.id, NULL, 0, &q->consts[l.id], err));
    }
    return OK;
}

/* --- ids by frequency ---------------------------------------------------- */

static enum status count_source(struct join *j, const struct dom *d,
                                const struct dom_source *s, uint32_t *count,
                                struct err *err)
{
    uint32_t ids[DOM_BLOCK];
    struct coder k;
    TRY(coder_open(&k, j->mem, d, s->col, true, err));
    for (size_t r = 0; r < s->n_rows; r += DOM_BLOCK) {
        size_t n = s->n_rows - r < DOM_BLOCK ? s->n_rows - r : DOM_BLOCK;
        coder_read(&k, r, n, ids);
        for (size_t i = 0; i < n; i++)
            if (ids[i] != NO_ID)
                count[ids[i] - d->has_null]++;
    }
    coder_close(&k);
    return OK;
}

/* Places sorted by count: buckets for small counts, which are most. */
static enum status sort_by_count(struct join *j, const uint32_t *count,
                                 uint32_t n, uint32_t *order, struct err *err)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        if (count[i] > most)
            most = count[i];
    size_t size = ((size_t)most + 2) * sizeof(uint32_t);
    uint32_t *at = mem_alloc(j->mem, size);
    if (!at)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        at[count[i] + 1]++;
    for (uint32_t c = 0; c <= most; c++)
        at[c + 1] += at[c];
    for (uint32_t i = 0; i < n; i++)
        order[at[count[i]]++] = i;
    mem_free(j->mem, at, size);
    return OK;
}

static enum status order_by_frequency(struct join *j, struct dom *d,
                                      struct err *err)
{
    uint32_t n = (uint32_t)d->n_vals;
    uint32_t *rank = NEWS(&j->arena, uint32_t, n);
    uint32_t *unrank = NEWS(&j->arena, uint32_t, n);
    if (!rank || !unrank)
        return err_nomem(err);
    for (size_t i = 0; i < d->sources.n; i++)
        if (d->sources.p[i].col)
            TRY(count_source(j, d, &d->sources.p[i], rank, err));
    TRY(sort_by_count(j, rank, n, unrank, err));
    for (uint32_t i = 0; i < n; i++)
        rank[unrank[i]] = i;
    d->rank = rank;
    d->unrank = unrank;
    /* the table of numbers was filled with places */
    for (size_t i = 0; d->dense && i < d->dense_n; i++)
        if (d->dense[i] != NO_ID)
            d->dense[i] = rank[d->dense[i] - d->has_null] + d->has_null;
    return OK;
}

/* Domains in which < or <= is asked. */
static void find_ordered(struct join *j)
{
    for (uint32_t i = 0; i < j->q->n_cmps; i++) {
        const struct cmp *c = &j->q->cmps[i];
        if (c->op == CMP_NE)
            continue;
        if (c->l.kind == TERM_VAR)
            j->doms[j->dom_of[c->l.id]].ordered = true;
        if (c->r.kind == TERM_VAR)
            j->doms[j->dom_of[c->r.id]].ordered = true;
    }
}

enum status dom_build_all(struct join *j, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, j->mem);
    enum status s = assign_domains(j, &scratch, err);
    arena_fini(&scratch);
    TRY(s);
    TRY(collect_sources(j, err));
    find_ordered(j);
    for (uint32_t i = 0; i < j->n_doms; i++) {
        struct dom *d = &j->doms[i];
        if (d->is_rows)
            continue;
        for (size_t k = 0; k < d->sources.n; k++) {
            const struct store_column *c = d->sources.p[k].col;
            d->has_null |= d->sources.p[k].nulls;
            d->inferred |= c && c->inferred;
        }
        TRY(dom_number(j, d, err));
        if (d->n_vals >= NO_ID - 1)
            return err_set(err, E_LIMIT,
                           "a column has more than 2^32 - 3 values");
        d->n = (uint32_t)d->n_vals + d->has_null;
        if (!d->ordered)
            TRY(order_by_frequency(j, d, err));
    }
    return OK;
}

void dom_forget_tables(struct join *j)
{
    for (uint32_t i = 0; i < j->n_doms; i++) {
        j->doms[i].dense = NULL;
        for (size_t k = 0; k < j->doms[i].sources.n; k++)
            j->doms[i].sources.p[k].place = NULL;
    }
    arena_fini(&j->coding);
}
