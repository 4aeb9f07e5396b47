/*
 * Components that are asked together. Their relations are in one pool, so that
 * what several need is written once; components that share a relation which
 * the database has to compute go into one statement, the others into
 * statements of their own, so that no more is kept at a time than has to be.
 */
#include <string.h>

#include "pushdown/pushdown_gen.h"

struct item {
    struct str key;
    bool never; /* 0 without asking */
    const unsigned *roots;
    size_t n_roots;
    size_t group;
};

struct batch {
    struct pushdown *c;
    struct arena arena;
    struct pool pool;
    struct item items[MAX_BATCH];
    size_t n;
};

struct batch *batch_new(struct pushdown *c)
{
    struct batch *b = mem_alloc(c->src->mem, sizeof *b);
    if (!b)
        return NULL;
    b->c = c;
    b->n = 0;
    arena_init(&b->arena, c->src->mem);
    pool_init(&b->pool, &b->arena);
    return b;
}

void batch_free(struct batch *b)
{
    if (!b)
        return;
    arena_fini(&b->arena);
    mem_free(b->c->src->mem, b, sizeof *b);
}

bool batch_has(const struct batch *b, struct str key)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_eq(b->items[i].key, key))
            return true;
    return false;
}

bool batch_full(const struct batch *b)
{
    return b->n == MAX_BATCH;
}

enum status batch_add(struct batch *b, const struct part *p, struct str key,
                      struct err *err)
{
    struct item *it = &b->items[b->n];
    struct gen *g = NEW(&b->c->scratch, struct gen);
    unsigned *roots = NEWS(&b->c->scratch, unsigned, MAX_RELS);
    if (!g || !roots)
        return store_nomem(b->c->src->mem, err);
    *it = (struct item){.key = str_copy(&b->arena, key), .group = b->n};
    gen_init(g, b->c, p, &b->pool, err);
    TRY(gen_answer(g, &it->never, roots, &it->n_roots));
    unsigned *own = NEWS(&b->arena, unsigned, it->n_roots + 1);
    if (!own || !it->key.p)
        return store_nomem(b->c->src->mem, err);
    for (size_t i = 0; i < it->n_roots; i++)
        own[i] = roots[i];
    it->roots = own;
    b->n++;
    return OK;
}

/* --- statements
 * ----------------------------------------------------------------*/

static void merge(struct batch *b, size_t from, size_t to)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].group == from)
            b->items[i].group = to;
}

/* Items that share a relation which is not plain get one group. */
static enum status find_groups(struct batch *b, struct err *err)
{
    size_t n = b->pool.list.n;
    bool *marks = NEWS(&b->arena, bool, n + 1);
    size_t *first = NEWS(&b->arena, size_t, n + 1); /* its item, plus one */
    if (!marks || !first)
        return store_nomem(b->c->src->mem, err);
    for (size_t i = 0; i < b->n; i++) {
        memset(marks, 0, n * sizeof *marks);
        for (size_t r = 0; r < b->items[i].n_roots; r++)
            pool_mark(&b->pool, b->items[i].roots[r], marks);
        for (size_t id = 0; id < n; id++) {
            if (!marks[id] || b->pool.list.p[id].plain)
                continue;
            if (first[id])
                merge(b, b->items[i].group, b->items[first[id] - 1].group);
            else
                first[id] = i + 1;
        }
    }
    return OK;
}

static void from_root(const struct batch *b, unsigned id, struct sb *out)
{
    const struct pooled *p = &b->pool.list.p[id];
    if (p->plain)
        sb_printf(out, "(%.*s) a", PSTR(p->body));
    else
        sb_printf(out, "m%u", id);
}

/* The weights of its roots, a column each. */
static void item_sql(const struct batch *b, const struct item *it,
                     struct sb *out)
{
    for (size_t i = 0; i < it->n_roots; i++) {
        sb_cstr(out, i ? ",\nCOALESCE((SELECT max(w) FROM "
                       : "COALESCE((SELECT max(w) FROM ");
        from_root(b, it->roots[i], out);
        sb_cstr(out, b->c->duck ? "), 0)::varchar" : "), 0)::numeric");
    }
}

static enum status group_sql(struct batch *b, size_t group, struct sb *out,
                             struct err *err)
{
    size_t n = 0, all = 0;
    for (size_t i = 0; i < b->n; i++)
        all += b->items[i].group == group ? b->items[i].n_roots : 0;
    unsigned *roots = NEWS(&b->arena, unsigned, all + 1);
    if (!roots)
        return store_nomem(b->c->src->mem, err);
    for (size_t i = 0; i < b->n; i++)
        for (size_t r = 0;
             b->items[i].group == group && r < b->items[i].n_roots; r++)
            roots[n++] = b->items[i].roots[r];
    pool_with(&b->pool, roots, n, out);
    const char *between = "SELECT ";
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].group == group && !b->items[i].never) {
            sb_cstr(out, between);
            item_sql(b, &b->items[i], out);
            between = ",\n";
        }
    return out->failed ? store_nomem(b->c->src->mem, err) : OK;
}

/* Of all items of a group, and how many columns they have. */
struct batch_row {
    struct batch *b;
    size_t group, rows;
};

static bool is_asked(const struct batch *b, size_t i, size_t group)
{
    return b->items[i].group == group && !b->items[i].never;
}

static size_t n_columns(const struct batch *b, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        n += is_asked(b, i, group) ? b->items[i].n_roots : 0;
    return n;
}

static enum status remember(struct pushdown *c, struct str key, u128 v,
                            struct err *err)
{
    struct str copy = str_copy(&c->arena, key);
    if (!copy.p || !VEC_PUSH(&c->arena, &c->values, v) ||
        !map_put(&c->answers, copy, c->values.n - 1, NULL))
        return store_nomem(c->src->mem, err);
    return OK;
}

/* Weights are exact in the database, also where something is subtracted, or as
 * large as any (pushdown_weight.c); clamped here, when they are read. */
static enum status take_row(void *ctx, const struct str *cells, struct err *err)
{
    struct batch_row *r = ctx;
    struct batch *b = r->b;
    r->rows++;
    for (size_t i = 0; i < b->n; i++) {
        u128 product = 1, v;
        if (!is_asked(b, i, r->group))
            continue;
        for (size_t k = 0; k < b->items[i].n_roots; k++, cells++) {
            if (!count_read(cells->p, cells->n, &v))
                return err_internal(err, "pushdown: not a whole number");
            product = count_mul(product, v);
        }
        TRY(remember(b->c, b->items[i].key, product, err));
    }
    return OK;
}

static enum status send_group(struct batch *b, size_t group, struct err *err)
{
    struct batch_row r = {.b = b, .group = group};
    struct sb sql;
    sb_init(&sql, &b->arena);
    TRY(group_sql(b, group, &sql, err));
    TRY(pushdown_query(b->c, sql.p, n_columns(b, group), take_row, &r, err));
    return r.rows == 1 || b->c->planning
               ? OK
               : err_internal(err, "pushdown: not one row of numbers");
}

enum status batch_send(struct batch *b, struct err *err)
{
    TRY(find_groups(b, err));
    for (size_t i = 0; i < b->n; i++) {
        bool before = false;
        for (size_t j = 0; j < i; j++)
            before |= b->items[j].group == b->items[i].group;
        if (b->items[i].never && b->c->planning)
            continue;
        else if (b->items[i].never)
            TRY(remember(b->c, b->items[i].key, 0, err));
        else if (!before)
            TRY(send_group(b, b->items[i].group, err));
    }
    return OK;
}
