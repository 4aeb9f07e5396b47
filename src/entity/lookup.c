/*
 * Key lookups: see lookup.h.
 *
 * Keys of one column of integers, the common case, go through a table of
 * integers; a column with a dictionary is looked up once for each entry. All
 * else goes by bytes: each cell in the one form that all equal values have,
 * with a letter for its kind and its length before it.
 */
#include "entity/lookup.h"

#include <string.h>

struct lookup {
    struct mem *mem;
    struct arena arena;   /* keys */
    struct arena scratch; /* of one row; emptied now and then */
    size_t uses;
    const struct store_table *t;
    const uint32_t *key;
    size_t n;
    bool by_int; /* one column of integers, each as the source has it */
    int64_t *ints;
    uint32_t *rows; /* row + 1; 0: empty */
    size_t cap;     /* of both, a power of two */
    bool by_bytes;  /* the map below is filled */
    struct map bytes;
    struct map missing;
    uint32_t n_missing;
};

enum { SCRATCH_USES = 4096 };

size_t lookup_n_rows(const struct store_table *t)
{
    return t->n_rows + t->n_ghosts;
}

uint32_t lookup_missing(const struct lookup *l)
{
    return l->n_missing;
}

void lookup_free(struct lookup *l)
{
    if (!l)
        return;
    struct mem *m = l->mem;
    mem_free(m, l->ints, l->cap * sizeof *l->ints);
    mem_free(m, l->rows, l->cap * sizeof *l->rows);
    arena_fini(&l->scratch);
    arena_fini(&l->arena);
    mem_free(m, l, sizeof *l);
}

static struct arena *scratch(struct lookup *l)
{
    if (++l->uses >= SCRATCH_USES) {
        l->uses = 0;
        arena_fini(&l->scratch);
    }
    return &l->scratch;
}

/* --- cells as bytes ------------------------------------------------------- */

static const struct str *raw_text(const struct store_column *c, size_t row)
{
    size_t lo = 0, hi = c->n_raw;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->raw[mid].row < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n_raw && c->raw[lo].row == row ? &c->raw[lo].text : NULL;
}

struct value lookup_cell(const struct store_table *t, uint32_t col, size_t row)
{
    const struct store_column *c = &t->cols[col];
    if (row >= t->n_rows)
        return c->ghosts[row - t->n_rows];
    const struct str *raw = raw_text(c, row);
    if (raw)
        return value_text(*raw);
    return column_is_null(c, row) ? value_null() : column_value(c, row);
}

bool lookup_put_value(struct sb *b, struct arena *a, const struct value *from)
{
    struct value v = *from;
    if (!value_canonical(a, &v, T_UNKNOWN))
        return false;
    struct str s = v.s;
    bool text = v.type == T_TEXT || v.type == T_DEC || v.type == T_UUID;
    if (!text)
        s = (struct str){(const char *)&v.i, sizeof v.i};
    sb_char(b, v.is_null ? '0' : (char)('a' + v.type));
    sb_add(b, (const char *)&s.n, sizeof s.n);
    sb_add(b, s.p, s.n);
    return !b->failed;
}

/* *out with p NULL: a cell is NULL. */
static enum status row_key(struct lookup *l, const struct store_table *t,
                           const uint32_t *cols, size_t row, struct str *out,
                           struct err *err)
{
    struct arena *a = scratch(l);
    struct sb b;
    sb_init(&b, a);
    *out = (struct str){0};
    for (size_t i = 0; i < l->n; i++) {
        struct value v = lookup_cell(t, cols[i], row);
        if (v.is_null)
            return OK;
        if (!lookup_put_value(&b, a, &v))
            return store_nomem(l->mem, err);
    }
    *out = sb_view(&b);
    return OK;
}

static enum status put_key(struct lookup *l, struct map *m, struct str key,
                           uint64_t value, uint64_t *out, struct err *err)
{
    uint64_t *at = map_find(m, key);
    if (!at) {
        struct str copy = str_copy(&l->arena, key);
        at = copy.p ? map_put(m, copy, value, NULL) : NULL;
    }
    if (!at)
        return store_nomem(l->mem, err);
    *out = *at;
    return OK;
}

/* Filled when the first key that is no plain integer asks. */
static enum status fill_bytes(struct lookup *l, struct err *err)
{
    size_t n = lookup_n_rows(l->t);
    if (l->by_bytes)
        return OK;
    for (size_t row = 0; row < n; row++) {
        struct str key;
        uint64_t first;
        TRY(row_key(l, l->t, l->key, row, &key, err));
        if (key.p)
            TRY(put_key(l, &l->bytes, key, row, &first, err));
    }
    l->by_bytes = true;
    return OK;
}

static enum status number_missing(struct lookup *l, struct str key,
                                  uint32_t *id, struct err *err)
{
    uint64_t got = 0;
    TRY(put_key(l, &l->missing, key, l->n_missing, &got, err));
    if (got == l->n_missing)
        l->n_missing++;
    *id = (uint32_t)got;
    return OK;
}

static enum status find_bytes(struct lookup *l, const struct store_table *from,
                              const uint32_t *via, size_t row, uint32_t *out,
                              uint32_t *id, struct err *err)
{
    struct str key;
    TRY(row_key(l, from, via, row, &key, err));
    *out = LOOKUP_NULL;
    if (!key.p)
        return OK;
    TRY(fill_bytes(l, err));
    const uint64_t *at = map_find(&l->bytes, key);
    *out = at ? (uint32_t)*at : LOOKUP_MISSING;
    return at ? OK : number_missing(l, key, id, err);
}

/* --- integers ------------------------------------------------------------- */

/* Every cell is an integer as it stands, or NULL. */
static bool is_plain(const struct store_column *c)
{
    return c->type == T_INT && column_has_ints(c) && !c->n_raw;
}

static size_t slot_of(const struct lookup *l, int64_t v)
{
    uint64_t h = (uint64_t)v * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h ^ h >> 29) & (l->cap - 1);
}

static void put_int(struct lookup *l, int64_t v, uint32_t row)
{
    size_t i = slot_of(l, v);
    while (l->rows[i] && l->ints[i] != v)
        i = (i + 1) & (l->cap - 1);
    if (l->rows[i])
        return;
    l->ints[i] = v;
    l->rows[i] = row + 1;
}

static uint32_t find_int(const struct lookup *l, int64_t v)
{
    size_t i = slot_of(l, v);
    while (l->rows[i] && l->ints[i] != v)
        i = (i + 1) & (l->cap - 1);
    return l->rows[i] ? l->rows[i] - 1 : LOOKUP_MISSING;
}

static enum status fill_ints(struct lookup *l, struct err *err)
{
    const struct store_column *c = &l->t->cols[l->key[0]];
    size_t cap = 16;
    while (cap < 2 * l->t->n_rows)
        cap *= 2;
    l->ints = mem_alloc(l->mem, cap * sizeof *l->ints);
    l->rows = l->ints ? mem_alloc(l->mem, cap * sizeof *l->rows) : NULL;
    if (!l->rows) {
        mem_free(l->mem, l->ints, cap * sizeof *l->ints);
        l->ints = NULL;
        return store_nomem(l->mem, err);
    }
    l->cap = cap;
    for (size_t row = 0; row < l->t->n_rows; row++)
        if (!column_is_null(c, row))
            put_int(l, column_int(c, row), (uint32_t)row);
    return OK;
}

static enum status ints_to_rows(struct lookup *l,
                                const struct store_table *from, uint32_t via,
                                uint32_t *rows, uint32_t *ids, struct err *err)
{
    const struct store_column *c = &from->cols[via];
    for (size_t row = 0; row < from->n_rows; row++) {
        bool null = column_is_null(c, row);
        rows[row] = null ? LOOKUP_NULL : find_int(l, column_int(c, row));
        if (rows[row] == LOOKUP_MISSING) {
            struct str key;
            TRY(row_key(l, from, &via, row, &key, err));
            TRY(number_missing(l, key, &ids[row], err));
        }
    }
    return OK;
}

/* --- dictionaries --------------------------------------------------------- */

struct found { /* by entry */
    uint32_t row, id;
    bool known;
};

static enum status codes_to_rows(struct lookup *l,
                                 const struct store_table *from, uint32_t via,
                                 uint32_t *rows, uint32_t *ids, struct err *err)
{
    const struct store_column *c = &from->cols[via];
    size_t size = (c->n_dict + 1) * sizeof(struct found);
    struct found *by = mem_alloc(l->mem, size);
    enum status s = by ? OK : store_nomem(l->mem, err);
    for (size_t row = 0; s == OK && row < from->n_rows; row++) {
        if (column_is_null(c, row)) {
            rows[row] = LOOKUP_NULL;
            continue;
        }
        struct found *f = &by[c->code[row]];
        if (!f->known)
            s = find_bytes(l, from, &via, row, &f->row, &f->id, err);
        f->known = true;
        rows[row] = f->row;
        ids[row] = f->id;
    }
    mem_free(l->mem, by, size);
    return s;
}

/* --- all of it ------------------------------------------------------------ */

enum status lookup_new(struct mem *m, const struct store_table *t,
                       const uint32_t *key, size_t n, struct lookup **out,
                       struct err *err)
{
    struct lookup *l = mem_alloc(m, sizeof *l);
    *out = l;
    if (!l)
        return store_nomem(m, err);
    *l = (struct lookup){.mem = m, .t = t, .key = key, .n = n};
    arena_init(&l->arena, m);
    arena_init(&l->scratch, m);
    map_init(&l->bytes, &l->arena);
    map_init(&l->missing, &l->arena);
    l->by_int = n == 1 && is_plain(&t->cols[key[0]]) && !t->n_ghosts;
    enum status s = l->by_int ? fill_ints(l, err) : OK;
    if (s != OK) {
        lookup_free(l);
        *out = NULL;
    }
    return s;
}

enum status lookup_rows(struct lookup *l, const struct store_table *from,
                        const uint32_t *via, uint32_t *rows, uint32_t *ids,
                        struct err *err)
{
    const struct store_column *c = &from->cols[via[0]];
    size_t row = 0;
    if (l->by_int && is_plain(c)) {
        TRY(ints_to_rows(l, from, via[0], rows, ids, err));
        row = from->n_rows;
    } else if (l->n == 1 && c->code && !c->n_raw) {
        TRY(codes_to_rows(l, from, via[0], rows, ids, err));
        row = from->n_rows;
    }
    for (; row < lookup_n_rows(from); row++)
        TRY(find_bytes(l, from, via, row, &rows[row], &ids[row], err));
    return OK;
}
