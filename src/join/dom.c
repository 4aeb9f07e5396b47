/*
 * Domains: the values of variables as dense ids. Ids rise with value_cmp
 * where an order comparison is asked; elsewhere they rise with the number of
 * rows that hold the value, so that the heavy values come last and "the
 * largest id of a result" means "the heaviest".
 *
 * Variables that are compared, or that read the same column, share a domain,
 * so that copies of one relation are the same arrays of ids and a comparison
 * of values is a comparison of ids. 64-bit numbers of one type are gathered
 * by a bitmap when their range is small, else sorted; everything else goes
 * through value_cmp on distinct values only (dictionaries).
 *
 * Cost: O(rows + range) for dense numbers, O(rows log distinct) otherwise.
 */
#include "join/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- which variables share ---------------------------------------------- */

static uint32_t uf_find(uint32_t *up, uint32_t x)
{
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

static void uf_join(uint32_t *up, uint32_t a, uint32_t b)
{
    up[uf_find(up, a)] = uf_find(up, b);
}

/* Joins variable v with the first variable seen at this place. */
static void share_place(uint32_t *up, uint32_t *first, uint32_t v)
{
    if (*first == NO_ID)
        *first = v;
    else
        uf_join(up, *first, v);
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
    for (uint32_t v = 0; v < q->n_vars; v++)
        up[v] = v;
    TRY(share_columns(j, a, up, err));
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].l.kind == TERM_VAR && q->cmps[i].r.kind == TERM_VAR)
            uf_join(up, q->cmps[i].l.id, q->cmps[i].r.id);
    uint32_t *number = NEWS(a, uint32_t, q->n_vars);
    if (!number)
        return err_nomem(err);
    memset(number, 0xff, q->n_vars * sizeof *number);
    for (uint32_t v = 0; v < q->n_vars; v++) {
        uint32_t root = uf_find(up, v);
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
    struct dom_source s = {c, n_rows, value, nulls};
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

/* --- numbers of one type ------------------------------------------------ */

static bool all_ints(struct dom *d)
{
    bool first = true;
    for (size_t i = 0; i < d->sources.n; i++) {
        const struct dom_source *s = &d->sources.p[i];
        enum type t = s->col ? s->col->type : s->value->type;
        if (s->col ? !s->col->i64 && s->n_rows > 0
                   : s->value->is_null || t == T_TEXT || t == T_DEC ||
                         t == T_UUID || t == T_REAL)
            return false;
        if (t == T_TEXT || t == T_DEC || t == T_UUID || t == T_REAL)
            return false;
        if (!first && t != d->type)
            return false;
        d->type = t;
        first = false;
    }
    return true;
}

struct range {
    int64_t min, max;
    uint64_t n;
};

static void widen(struct range *r, int64_t v)
{
    if (!r->n++ || v < r->min)
        r->min = v;
    if (r->n == 1 || v > r->max)
        r->max = v;
}

typedef void (*int_visitor)(void *ctx, int64_t v);

static void each_int(const struct dom *d, int_visitor f, void *ctx)
{
    for (size_t i = 0; i < d->sources.n; i++) {
        const struct dom_source *s = &d->sources.p[i];
        if (!s->col) {
            f(ctx, s->value->i);
            continue;
        }
        for (size_t r = 0; r < s->n_rows; r++)
            if (!column_is_null(s->col, r))
                f(ctx, s->col->i64[r]);
    }
}

static void visit_range(void *ctx, int64_t v)
{
    widen(ctx, v);
}

struct marker {
    uint32_t *dense;
    int64_t min;
};

static void visit_mark(void *ctx, int64_t v)
{
    struct marker *m = ctx;
    m->dense[(uint64_t)v - (uint64_t)m->min] = 1;
}

struct gather {
    int64_t *p;
    size_t n;
};

static void visit_gather(void *ctx, int64_t v)
{
    struct gather *g = ctx;
    g->p[g->n++] = v;
}

static enum status number_dense(struct join *j, struct dom *d,
                                const struct range *r, struct err *err)
{
    size_t n = (size_t)((uint64_t)r->max - (uint64_t)r->min) + 1;
    uint32_t *dense = NEWS(&j->arena, uint32_t, n);
    if (!dense)
        return err_nomem(err);
    struct marker m = {dense, r->min};
    each_int(d, visit_mark, &m);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += dense[i];
    int64_t *ints = NEWS(&j->arena, int64_t, count);
    if (!ints)
        return err_nomem(err);
    uint32_t id = d->has_null ? 1 : 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (dense[i])
            ints[k++] = (int64_t)((uint64_t)r->min + i);
        dense[i] = dense[i] ? id++ : NO_ID;
    }
    d->dense = dense;
    d->dense_min = r->min;
    d->dense_n = n;
    d->ints = ints;
    d->n_vals = count;
    return OK;
}

static int cmp_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static enum status number_sparse(struct join *j, struct dom *d,
                                 const struct range *r, struct err *err)
{
    size_t size = (size_t)r->n * sizeof(int64_t);
    struct gather g = {mem_alloc(j->mem, size), 0};
    if (!g.p)
        return err_nomem(err);
    each_int(d, visit_gather, &g);
    qsort(g.p, g.n, sizeof *g.p, cmp_i64);
    size_t count = 0;
    for (size_t i = 0; i < g.n; i++)
        if (!i || g.p[i] != g.p[i - 1])
            g.p[count++] = g.p[i];
    int64_t *ints = NEWS(&j->arena, int64_t, count);
    if (ints && count)
        memcpy(ints, g.p, count * sizeof *ints);
    mem_free(j->mem, g.p, size);
    d->ints = ints;
    d->n_vals = count;
    return ints ? OK : err_nomem(err);
}

static enum status number_ints(struct join *j, struct dom *d, struct err *err)
{
    struct range r = {0};
    d->is_int = true;
    each_int(d, visit_range, &r);
    if (!r.n)
        return OK;
    uint64_t span = (uint64_t)r.max - (uint64_t)r.min;
    if (span < 4096 || span / 4 < r.n)
        return number_dense(j, d, &r, err);
    return number_sparse(j, d, &r, err);
}

/* --- everything else ---------------------------------------------------- */

/* Values of types that do not compare are different: order by kind first. */
static int type_class(enum type t)
{
    return t == T_DEC || t == T_REAL ? T_INT : (int)t;
}

static int cmp_any(const struct value *a, const struct value *b)
{
    int x = type_class(a->type), y = type_class(b->type);
    if (x != y)
        return x < y ? -1 : 1;
    return value_cmp(a, b);
}

static int cmp_value(const void *a, const void *b)
{
    return cmp_any(a, b);
}

static size_t most_values(const struct dom *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->sources.n; i++) {
        const struct dom_source *s = &d->sources.p[i];
        n += !s->col ? 1 : s->col->code ? s->col->n_dict : s->n_rows;
    }
    return n;
}

static size_t source_values(const struct dom_source *s, struct value *out)
{
    if (!s->col) {
        out[0] = *s->value;
        return s->value->is_null ? 0 : 1;
    }
    size_t k = 0;
    if (s->col->code) {
        for (size_t i = 0; i < s->col->n_dict; i++) {
            out[k++] = column_dict_value(s->col, i);
        }
        return k;
    }
    for (size_t r = 0; r < s->n_rows; r++)
        if (!column_is_null(s->col, r))
            out[k++] = column_value(s->col, r);
    return k;
}

static enum status number_any(struct join *j, struct dom *d, struct err *err)
{
    size_t size = most_values(d) * sizeof(struct value), n = 0, count = 0;
    struct value *all = mem_alloc(j->mem, size);
    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < d->sources.n; i++)
        n += source_values(&d->sources.p[i], all + n);
    qsort(all, n, sizeof *all, cmp_value);
    for (size_t i = 0; i < n; i++)
        if (!count || cmp_any(&all[count - 1], &all[i]) != 0)
            all[count++] = all[i];
    struct value *vals = NEWS(&j->arena, struct value, count);
    if (vals && count)
        memcpy(vals, all, count * sizeof *vals);
    mem_free(j->mem, all, size);
    d->vals = vals;
    d->n_vals = count;
    return vals ? OK : err_nomem(err);
}

/* --- encoding ----------------------------------------------------------- */

/* Position of the first value not below v, and whether it equals v. */
static size_t find_int(const struct dom *d, int64_t v, bool *equal)
{
    size_t lo = 0, hi = d->n_vals;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->ints[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    *equal = lo < d->n_vals && d->ints[lo] == v;
    return lo;
}

static struct value nth_value(const struct dom *d, size_t i)
{
    if (!d->is_int)
        return d->vals[i];
    struct value v = {0};
    v.type = d->type;
    v.i = d->ints[i];
    return v;
}

static size_t find_any(const struct dom *d, const struct value *v, bool *equal)
{
    size_t lo = 0, hi = d->n_vals;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        struct value x = nth_value(d, mid);
        if (cmp_any(&x, v) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *equal = false;
    if (lo < d->n_vals) {
        struct value x = nth_value(d, lo);
        *equal = cmp_any(&x, v) == 0;
    }
    return lo;
}

/* The id of the value at a place in rising order. */
static uint32_t id_at(const struct dom *d, size_t at)
{
    return (d->rank ? d->rank[at] : (uint32_t)at) + d->has_null;
}

uint32_t dom_find(const struct dom *d, const struct value *v)
{
    bool equal = false;
    if (v->is_null)
        return d->has_null ? 0 : NO_ID;
    size_t at = find_any(d, v, &equal);
    return equal ? id_at(d, at) : NO_ID;
}

struct value dom_value(const struct dom *d, uint32_t id)
{
    if (d->has_null && id == 0)
        return value_null();
    uint32_t at = id - d->has_null;
    return nth_value(d, d->unrank ? d->unrank[at] : at);
}

static uint32_t encode_int(const struct dom *d, int64_t v)
{
    if (d->dense)
        return d->dense[(uint64_t)v - (uint64_t)d->dense_min];
    bool equal = false;
    size_t at = find_int(d, v, &equal);
    return equal ? id_at(d, at) : NO_ID;
}

static enum status encode_codes(const struct dom *d, struct mem *m,
                                const struct store_column *c, size_t n_rows,
                                uint32_t null_id, uint32_t *out,
                                struct err *err)
{
    size_t size = c->n_dict * sizeof(uint32_t);
    uint32_t *id = mem_alloc(m, size);
    if (!id)
        return err_nomem(err);
    for (size_t i = 0; i < c->n_dict; i++) {
        struct value v = column_dict_value(c, i);
        id[i] = dom_find(d, &v);
    }
    for (size_t r = 0; r < n_rows; r++)
        out[r] = column_is_null(c, r) ? null_id : id[c->code[r]];
    mem_free(m, id, size);
    return OK;
}

enum status dom_encode(const struct dom *d, struct mem *m,
                       const struct store_column *c, size_t n_rows,
                       bool nonnull, uint32_t *out, struct err *err)
{
    uint32_t null_id = nonnull || !d->has_null ? NO_ID : 0;
    if (c->code)
        return encode_codes(d, m, c, n_rows, null_id, out, err);
    if (d->is_int) {
        for (size_t r = 0; r < n_rows; r++)
            out[r] = column_is_null(c, r) ? null_id : encode_int(d, c->i64[r]);
        return OK;
    }
    for (size_t r = 0; r < n_rows; r++) {
        struct value v = column_value(c, r);
        out[r] = v.is_null ? null_id : dom_find(d, &v);
    }
    return OK;
}

/* --- ids by frequency ---------------------------------------------------- */

static enum status count_ids(struct join *j, const struct dom *d,
                             uint32_t *count, struct err *err)
{
    for (size_t i = 0; i < d->sources.n; i++) {
        const struct dom_source *s = &d->sources.p[i];
        size_t size = s->n_rows * sizeof(uint32_t);
        if (!s->col)
            continue;
        uint32_t *ids = mem_alloc(j->mem, size);
        if (!ids)
            return err_nomem(err);
        enum status st =
            dom_encode(d, j->mem, s->col, s->n_rows, true, ids, err);
        for (size_t r = 0; st == OK && r < s->n_rows; r++)
            if (ids[r] != NO_ID)
                count[ids[r] - d->has_null]++;
        mem_free(j->mem, ids, size);
        TRY(st);
    }
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
    TRY(count_ids(j, d, rank, err));
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
        for (size_t k = 0; k < d->sources.n; k++)
            d->has_null |= d->sources.p[k].nulls;
        TRY(all_ints(d) ? number_ints(j, d, err) : number_any(j, d, err));
        if (d->n_vals >= NO_ID - 1)
            return err_set(err, E_LIMIT,
                           "a column has more than 2^32 - 3 values");
        d->n = (uint32_t)d->n_vals + d->has_null;
        if (!d->ordered)
            TRY(order_by_frequency(j, d, err));
    }
    return OK;
}
