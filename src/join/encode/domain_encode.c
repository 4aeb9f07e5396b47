/*
 * Ids of values and of columns: see domain.c.
 */
#include "join/encode/domain.h"

/* One number for types that compare (type_comparable). */
static int type_class(enum type t)
{
    if (t == T_TIMESTAMP)
        return T_DATE;
    return t == T_DEC || t == T_REAL ? T_INT : (int)t;
}

int dom_cmp_values(const struct value *a, const struct value *b)
{
    int x = type_class(a->type), y = type_class(b->type);
    if (x != y)
        return x < y ? -1 : 1;
    return value_cmp(a, b);
}

struct value dom_ref_value(const struct dom *d, struct dom_ref r)
{
    const struct dom_source *s = &d->sources.p[r.source];
    if (!s->col)
        return *s->value;
    return s->col->code ? column_dict_value(s->col, r.at)
                        : column_value(s->col, r.at);
}

static struct value dom_nth(const struct dom *d, size_t at)
{
    if (!d->is_int)
        return dom_ref_value(d, d->refs[at]);
    struct value v = {0};
    v.type = d->type;
    v.i = d->ints[at];
    return v;
}

/* --- finding ------------------------------------------------------------- */

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

static size_t find_any(const struct dom *d, const struct value *v, bool *equal)
{
    size_t lo = 0, hi = d->n_vals;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        struct value x = dom_nth(d, mid);
        if (dom_cmp_values(&x, v) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *equal = false;
    if (lo < d->n_vals) {
        struct value x = dom_nth(d, lo);
        *equal = dom_cmp_values(&x, v) == 0;
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
    return dom_nth(d, d->unrank ? d->unrank[at] : at);
}

/* --- columns ------------------------------------------------------------- */

static const struct dom_source *source_of(const struct dom *d,
                                          const struct store_column *c)
{
    for (size_t i = 0; i < d->sources.n; i++)
        if (d->sources.p[i].col == c)
            return &d->sources.p[i];
    return NULL;
}

enum status coder_open(struct coder *k, struct mem *m, const struct dom *d,
                       const struct store_column *c, bool nonnull,
                       struct err *err)
{
    const struct dom_source *s = source_of(d, c);
    *k = (struct coder){.mem = m, .d = d, .col = c};
    k->null_id = nonnull || !d->has_null ? NO_ID : 0;
    if (!c->code)
        return OK;
    k->ids = mem_alloc(m, c->n_dict * sizeof *k->ids);
    if (!k->ids)
        return err_nomem(err);
    for (size_t i = 0; i < c->n_dict; i++) {
        if (s && s->place) {
            k->ids[i] = id_at(d, s->place[i]);
            continue;
        }
        struct value v = column_dict_value(c, i);
        k->ids[i] = dom_find(d, &v);
    }
    return OK;
}

void coder_close(struct coder *k)
{
    if (k->col->code)
        mem_free(k->mem, k->ids, k->col->n_dict * sizeof *k->ids);
}

static uint32_t encode_int(const struct dom *d, int64_t v)
{
    if (d->dense)
        return d->dense[(uint64_t)v - (uint64_t)d->dense_min];
    bool equal = false;
    size_t at = find_int(d, v, &equal);
    return equal ? id_at(d, at) : NO_ID;
}

void coder_read(const struct coder *k, size_t from, size_t n, uint32_t *out)
{
    const struct store_column *c = k->col;
    if (c->code) {
        for (size_t i = 0; i < n; i++)
            out[i] = column_is_null(c, from + i) ? k->null_id
                                                 : k->ids[c->code[from + i]];
        return;
    }
    if (k->d->is_int) {
        for (size_t i = 0; i < n; i++)
            out[i] = column_is_null(c, from + i)
                         ? k->null_id
                         : encode_int(k->d, column_int(c, from + i));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct value v = column_value(c, from + i);
        out[i] = v.is_null ? k->null_id : dom_find(k->d, &v);
    }
}

enum status dom_encode(const struct dom *d, struct mem *m,
                       const struct store_column *c, size_t n_rows,
                       bool nonnull, uint32_t *out, struct err *err)
{
    struct coder k;
    TRY(coder_open(&k, m, d, c, nonnull, err));
    coder_read(&k, 0, n_rows, out);
    coder_close(&k);
    return OK;
}
