/*
 * The values of a domain in rising order.
 *
 * 64-bit numbers of one type are marked in a table when their range is small
 * against the rows, else sorted column by column. Everything else is read
 * where it lies: a domain keeps places in dictionaries, which are in rising
 * order already, so that those of several columns are merged and none is
 * sorted; only columns without a dictionary (doubles, or numbers compared
 * with decimals) are.
 *
 * Cost: O(rows + range) for dense numbers; O(rows) for radix passes over
 * others; a comparison for each entry of a dictionary.
 */
#include "join/encode/domain.h"

#include <stdlib.h>
#include <string.h>

/* --- numbers of one type ------------------------------------------------ */

static bool is_word(enum type t)
{
    return t != T_TEXT && t != T_DEC && t != T_UUID && t != T_REAL;
}

static bool all_ints(struct dom *d)
{
    for (size_t i = 0; i < d->sources.n; i++) {
        const struct dom_source *s = &d->sources.p[i];
        enum type t = s->col ? s->col->type : s->value->type;
        if (s->col ? !column_has_ints(s->col) && s->n_rows > 0
                   : s->value->is_null)
            return false;
        if (!is_word(t) || (i && t != d->type))
            return false;
        d->type = t;
    }
    return true;
}

/* The numbers of rows from .. from + n - 1 that are not NULL, at most
 * DOM_BLOCK; returns how many. */
static size_t dom_read_ints(const struct store_column *c, size_t from, size_t n,
                            int64_t *out)
{
    size_t k = 0;
    for (size_t r = from; r < from + n; r++) {
        out[k] = column_int(c, r);
        k += !column_is_null(c, r);
    }
    return k;
}

/* The numbers of a source, in blocks: read_block(&b) until it is false. */
struct value_reader {
    const struct dom_source *s;
    size_t at, n;
    int64_t v[DOM_BLOCK];
};

static bool read_block(struct value_reader *b)
{
    size_t rows = b->s->col ? b->s->n_rows : 1;
    if (b->at >= rows)
        return false;
    size_t n = rows - b->at < DOM_BLOCK ? rows - b->at : DOM_BLOCK;
    b->n = 1;
    if (b->s->col)
        b->n = dom_read_ints(b->s->col, b->at, n, b->v);
    else
        b->v[0] = b->s->value->i;
    b->at += n;
    return true;
}

struct value_range {
    int64_t min, max;
    uint64_t n;
};

static void find_range(const struct dom_source *s, struct value_range *r)
{
    struct value_reader b = {.s = s};
    while (read_block(&b)) {
        for (size_t i = 0; i < b.n; i++) {
            r->min = r->n + i && r->min < b.v[i] ? r->min : b.v[i];
            r->max = r->n + i && r->max > b.v[i] ? r->max : b.v[i];
        }
        r->n += b.n;
    }
}

/* Which of the values from min on occur: 1 in a table as long as the range. */
static void mark(const struct dom_source *s, int64_t min, uint32_t *dense)
{
    struct value_reader b = {.s = s};
    while (read_block(&b))
        for (size_t i = 0; i < b.n; i++)
            dense[(uint64_t)b.v[i] - (uint64_t)min] = 1;
}

static enum status number_dense(struct join *j, struct dom *d,
                                const struct value_range *r, struct err *err)
{
    size_t n = (size_t)((uint64_t)r->max - (uint64_t)r->min) + 1;
    uint32_t *dense = NEWS(&j->coding, uint32_t, n);
    if (!dense)
        return err_nomem(err);
    for (size_t i = 0; i < d->sources.n; i++)
        mark(&d->sources.p[i], r->min, dense);
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

/* Radix passes over the bytes in which numbers differ; returns where the
 * sorted numbers are, a or b. */
static int64_t *sort_ints(int64_t *a, int64_t *b, size_t n)
{
    const uint64_t sign = (uint64_t)1 << 63;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t at[257] = {0};
        for (size_t i = 0; i < n; i++)
            at[(((uint64_t)a[i] ^ sign) >> shift & 255) + 1]++;
        if (n && at[(((uint64_t)a[0] ^ sign) >> shift & 255) + 1] == n)
            continue;
        for (size_t k = 0; k < 256; k++)
            at[k + 1] += at[k];
        for (size_t i = 0; i < n; i++)
            b[at[((uint64_t)a[i] ^ sign) >> shift & 255]++] = a[i];
        int64_t *t = a;
        a = b;
        b = t;
    }
    return a;
}

struct ints {
    int64_t *p;
    size_t n, size; /* size: of the block, in bytes */
};

/* The distinct numbers of one source, rising. */
static enum status source_ints(struct mem *m, const struct dom_source *s,
                               struct ints *out, struct err *err)
{
    size_t rows = s->col ? s->n_rows : 1, n = 0, k = 0;
    size_t size = rows * sizeof(int64_t);
    int64_t *a = mem_alloc(m, size), *b = mem_alloc(m, size);
    struct value_reader r = {.s = s};
    if (!a || !b) {
        mem_free(m, a, size);
        mem_free(m, b, size);
        return err_nomem(err);
    }
    while (read_block(&r)) {
        memcpy(a + n, r.v, r.n * sizeof *a);
        n += r.n;
    }
    int64_t *sorted = sort_ints(a, b, n);
    for (size_t i = 0; i < n; i++)
        if (!k || sorted[i] != sorted[k - 1])
            sorted[k++] = sorted[i];
    mem_free(m, sorted == a ? b : a, size);
    *out = (struct ints){sorted, k, size};
    return OK;
}

static size_t merge_ints(const struct ints *a, const struct ints *b,
                         int64_t *out)
{
    size_t i = 0, k = 0, n = 0;
    while (i < a->n || k < b->n) {
        bool left = k == b->n || (i < a->n && a->p[i] <= b->p[k]);
        bool right = i == a->n || (k < b->n && b->p[k] <= a->p[i]);
        out[n++] = left ? a->p[i] : b->p[k];
        i += left;
        k += right;
    }
    return n;
}

/* all := all and the numbers of the source. */
static enum status add_ints(struct mem *m, const struct dom_source *s,
                            struct ints *all, struct err *err)
{
    struct ints one = {0}, both = {0};
    TRY(source_ints(m, s, &one, err));
    both.size = (all->n + one.n) * sizeof(int64_t);
    both.p = mem_alloc(m, both.size);
    if (both.p)
        both.n = merge_ints(all, &one, both.p);
    mem_free(m, one.p, one.size);
    mem_free(m, all->p, all->size);
    *all = both;
    return both.p ? OK : err_nomem(err);
}

static enum status number_sparse(struct join *j, struct dom *d, struct err *err)
{
    struct ints all = {0};
    enum status s = OK;
    for (size_t i = 0; s == OK && i < d->sources.n; i++)
        s = add_ints(j->mem, &d->sources.p[i], &all, err);
    int64_t *ints = s == OK ? NEWS(&j->arena, int64_t, all.n) : NULL;
    if (s == OK && !ints)
        s = err_nomem(err);
    if (ints && all.n)
        memcpy(ints, all.p, all.n * sizeof *ints);
    mem_free(j->mem, all.p, all.size);
    d->ints = ints;
    d->n_vals = all.n;
    return s;
}

static enum status number_ints(struct join *j, struct dom *d, struct err *err)
{
    struct value_range r = {0};
    d->is_int = true;
    for (size_t i = 0; i < d->sources.n; i++)
        find_range(&d->sources.p[i], &r);
    if (!r.n)
        return OK;
    uint64_t span = (uint64_t)r.max - (uint64_t)r.min;
    if (span < 4096 || span / 2 < r.n)
        return number_dense(j, d, &r, err);
    return number_sparse(j, d, err);
}

/* --- everything else ---------------------------------------------------- */

struct refs {
    struct dom_ref *p;
    size_t n, size; /* size: of the block, in bytes */
};

static int cmp_refs(const void *a, const void *b, void *dom)
{
    struct value x = dom_ref_value(dom, *(const struct dom_ref *)a);
    struct value y = dom_ref_value(dom, *(const struct dom_ref *)b);
    return dom_cmp_values(&x, &y);
}

static bool is_rising(struct dom *d, const struct refs *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (cmp_refs(&r->p[i - 1], &r->p[i], d) >= 0)
            return false;
    return true;
}

/* Where the values of a source lie, as they come. */
static void list_refs(const struct dom *d, uint32_t source, struct refs *out)
{
    const struct dom_source *s = &d->sources.p[source];
    size_t n = !s->col ? 1 : s->col->code ? s->col->n_dict : s->n_rows;
    for (size_t i = 0; i < n; i++) {
        bool none = !s->col        ? s->value->is_null
                    : s->col->code ? false
                                   : column_is_null(s->col, i);
        if (!none)
            out->p[out->n++] = (struct dom_ref){source, (uint32_t)i};
    }
}

/* The distinct values of a source, rising. */
static enum status source_refs(struct mem *m, struct dom *d, uint32_t source,
                               struct refs *out, struct err *err)
{
    const struct dom_source *s = &d->sources.p[source];
    size_t n = !s->col ? 1 : s->col->code ? s->col->n_dict : s->n_rows, k = 0;
    *out = (struct refs){.size = n * sizeof *out->p};
    out->p = mem_alloc(m, out->size);
    if (!out->p)
        return err_nomem(err);
    list_refs(d, source, out);
    if (is_rising(d, out))
        return OK;
    qsort_r(out->p, out->n, sizeof *out->p, cmp_refs, d);
    for (size_t i = 0; i < out->n; i++)
        if (!k || cmp_refs(&out->p[k - 1], &out->p[i], d) != 0)
            out->p[k++] = out->p[i];
    out->n = k;
    return OK;
}

/* Of equal values the left one is kept. */
static size_t merge_refs(const struct dom *d, const struct refs *a,
                         const struct refs *b, struct dom_ref *out)
{
    size_t i = 0, k = 0, n = 0;
    struct value x = a->n ? dom_ref_value(d, a->p[0]) : value_null();
    struct value y = b->n ? dom_ref_value(d, b->p[0]) : value_null();
    while (i < a->n || k < b->n) {
        int c = k == b->n ? -1 : i == a->n ? 1 : dom_cmp_values(&x, &y);
        out[n++] = c <= 0 ? a->p[i] : b->p[k];
        if (c <= 0 && ++i < a->n)
            x = dom_ref_value(d, a->p[i]);
        if (c >= 0 && ++k < b->n)
            y = dom_ref_value(d, b->p[k]);
    }
    return n;
}

static enum status add_refs(struct mem *m, struct dom *d, uint32_t source,
                            struct refs *all, struct err *err)
{
    struct refs one = {0}, both = {0};
    TRY(source_refs(m, d, source, &one, err));
    if (!all->n) {
        mem_free(m, all->p, all->size);
        *all = one;
        return OK;
    }
    both.size = (all->n + one.n) * sizeof *both.p;
    both.p = mem_alloc(m, both.size);
    if (both.p)
        both.n = merge_refs(d, all, &one, both.p);
    mem_free(m, one.p, one.size);
    mem_free(m, all->p, all->size);
    *all = both;
    return both.p ? OK : err_nomem(err);
}

/* Places of a dictionary's entries in rising order: both rise, so one walk
 * finds them all. A dictionary that does not rise is searched. */
static enum status place_codes(struct join *j, struct dom *d, uint32_t source,
                               struct err *err)
{
    struct dom_source *s = &d->sources.p[source];
    if (!s->col || !s->col->code)
        return OK;
    uint32_t *place = NEWS(&j->coding, uint32_t, s->col->n_dict);
    size_t at = 0;
    if (!place)
        return err_nomem(err);
    for (size_t i = 0; i < s->col->n_dict; i++) {
        struct value v = column_dict_value(s->col, i);
        for (; at < d->n_vals; at++) {
            struct dom_ref r = d->refs[at];
            if (r.source == source && r.at == i)
                break;
            struct value x = dom_ref_value(d, r);
            if (dom_cmp_values(&x, &v) == 0)
                break;
        }
        if (at == d->n_vals)
            return OK; /* not rising */
        place[i] = (uint32_t)at;
    }
    s->place = place;
    return OK;
}

static enum status number_any(struct join *j, struct dom *d, struct err *err)
{
    struct refs all = {0};
    enum status s = OK;
    for (size_t i = 0; s == OK && i < d->sources.n; i++)
        s = add_refs(j->mem, d, (uint32_t)i, &all, err);
    struct dom_ref *refs =
        s == OK ? NEWS(&j->arena, struct dom_ref, all.n) : NULL;
    if (s == OK && !refs)
        s = err_nomem(err);
    if (refs && all.n)
        memcpy(refs, all.p, all.n * sizeof *refs);
    mem_free(j->mem, all.p, all.size);
    d->refs = refs;
    d->n_vals = all.n;
    for (size_t i = 0; s == OK && i < d->sources.n; i++)
        s = place_codes(j, d, (uint32_t)i, err);
    return s;
}

enum status dom_number(struct join *j, struct dom *d, struct err *err)
{
    return all_ints(d) ? number_ints(j, d, err) : number_any(j, d, err);
}
