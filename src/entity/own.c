/*
 * Owners of rows: see own.h.
 *
 * Ids: a table's rows have consecutive ones, from the table's base; keys that
 * lead to no row have theirs after those of all rows, for each table and key
 * that is looked up. So an id is (table, row) or (table, key), and a row that
 * is found is one entity whatever leads to it.
 */
#include "entity/own.h"

#include <string.h>

#include "entity/lookup.h"

/* Keys of one table over one set of columns. */
struct index {
    uint32_t table;
    const uint32_t *key;
    size_t n;
    struct lookup *by;
    uint32_t base; /* of its missing keys, once all edges were followed */
};

struct step { /* an edge of a table: where each row leads */
    uint32_t *rows, *ids;
    struct index *to;
};

struct owners {
    struct mem *mem;
    struct arena arena;
    const struct store *st;
    uint32_t *base;      /* by table */
    struct step **steps; /* by table and edge */
    uint32_t ***cols;    /* by table and path */
    VEC(struct index *) indexes;
    uint32_t n;
};

static const struct table *def_of(const struct owners *o, uint32_t table)
{
    return &o->st->schema->tables.p[table];
}

/* The schema may have tables that came after the store. */
static bool is_here(const struct owners *o, uint32_t table)
{
    return table < o->st->n_tables && o->st->tables[table].loaded &&
           def_of(o, table)->paths.n;
}

static size_t room(const struct owners *o, uint32_t table)
{
    return lookup_n_rows(&o->st->tables[table]) * sizeof(uint32_t) + 4;
}

static uint32_t *new_column(const struct owners *o, uint32_t table)
{
    return mem_alloc(o->mem, room(o, table));
}

static void drop_column(const struct owners *o, uint32_t table, uint32_t *p)
{
    mem_free(o->mem, p, room(o, table));
}

static void free_table(struct owners *o, uint32_t table)
{
    const struct table *def = def_of(o, table);
    for (size_t i = 0; o->steps && o->steps[table] && i < def->owned_by.n;
         i++) {
        drop_column(o, table, o->steps[table][i].rows);
        drop_column(o, table, o->steps[table][i].ids);
        o->steps[table][i] = (struct step){0};
    }
}

void owners_free(struct owners *o)
{
    if (!o)
        return;
    struct mem *m = o->mem;
    for (uint32_t t = 0; t < o->st->n_tables; t++) {
        free_table(o, t);
        for (size_t p = 0; o->cols && o->cols[t] && p < def_of(o, t)->paths.n;
             p++)
            drop_column(o, t, o->cols[t][p]);
    }
    for (size_t i = 0; i < o->indexes.n; i++)
        lookup_free(o->indexes.p[i]->by);
    arena_fini(&o->arena);
    mem_free(m, o, sizeof *o);
}

uint32_t owners_count(const struct owners *o)
{
    return o->n;
}

const uint32_t *owners_column(const struct owners *o, uint32_t table,
                              uint32_t path)
{
    return o->cols[table][path];
}

/* --- where rows lead ------------------------------------------------------ */

static bool same_key(const struct index *x, const struct owner_edge *e)
{
    return x->table == e->table && x->n == e->n &&
           memcmp(x->key, e->key, e->n * sizeof *e->key) == 0;
}

static enum status index_for(struct owners *o, const struct owner_edge *e,
                             struct index **out, struct err *err)
{
    for (size_t i = 0; i < o->indexes.n; i++)
        if (same_key(o->indexes.p[i], e)) {
            *out = o->indexes.p[i];
            return OK;
        }
    struct index *x = NEW(&o->arena, struct index);
    if (!x)
        return store_nomem(o->mem, err);
    *x = (struct index){.table = e->table, .key = e->key, .n = e->n};
    TRY(lookup_new(o->mem, &o->st->tables[e->table], e->key, e->n, &x->by,
                   err));
    *out = x;
    if (VEC_PUSH(&o->arena, &o->indexes, x))
        return OK;
    lookup_free(x->by);
    return store_nomem(o->mem, err);
}

/* PRIVACY: the edge with the key's columns in the order of their table. A
 * missing row is one entity in whichever order edges name the key that it would
 * have. */
static enum status in_order(struct owners *o, const struct owner_edge *e,
                            struct owner_edge *out, struct err *err)
{
    *out = *e;
    out->key = NEWS(&o->arena, uint32_t, e->n + 1);
    out->via = NEWS(&o->arena, uint32_t, e->n + 1);
    if (!out->key || !out->via)
        return store_nomem(o->mem, err);
    for (size_t i = 0; i < e->n; i++) {
        size_t k = i;
        for (; k > 0 && out->key[k - 1] > e->key[i]; k--) {
            out->key[k] = out->key[k - 1];
            out->via[k] = out->via[k - 1];
        }
        out->key[k] = e->key[i];
        out->via[k] = e->via[i];
    }
    return OK;
}

static enum status follow(struct owners *o, uint32_t table, size_t edge,
                          struct err *err)
{
    struct owner_edge at, *e = &at;
    struct step *s = &o->steps[table][edge];
    TRY(in_order(o, &def_of(o, table)->owned_by.p[edge], e, err));
    if (!is_here(o, e->table))
        return err_internal(err, "owners: a table on a path is not loaded");
    TRY(index_for(o, e, &s->to, err));
    s->rows = new_column(o, table);
    s->ids = new_column(o, table);
    if (!s->rows || !s->ids)
        return store_nomem(o->mem, err);
    return lookup_rows(s->to->by, &o->st->tables[table], e->via, s->rows,
                       s->ids, err);
}

static enum status follow_all(struct owners *o, struct err *err)
{
    for (uint32_t t = 0; t < o->st->n_tables; t++) {
        const struct table *def = def_of(o, t);
        if (!is_here(o, t))
            continue;
        o->steps[t] = NEWS(&o->arena, struct step, def->owned_by.n + 1);
        o->cols[t] = NEWS(&o->arena, uint32_t *, def->paths.n + 1);
        if (!o->steps[t] || !o->cols[t])
            return store_nomem(o->mem, err);
        for (size_t e = 0; e < def->owned_by.n; e++)
            TRY(follow(o, t, e, err));
    }
    return OK;
}

/* --- ids ------------------------------------------------------------------ */

static enum status give_ids(struct owners *o, struct err *err)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < o->st->n_tables; t++) {
        o->base[t] = (uint32_t)n;
        n += is_here(o, t) ? lookup_n_rows(&o->st->tables[t]) : 0;
        if (n > INT32_MAX)
            break;
    }
    for (size_t i = 0; n <= INT32_MAX && i < o->indexes.n; i++) {
        o->indexes.p[i]->base = (uint32_t)n;
        n += lookup_missing(o->indexes.p[i]->by);
    }
    if (n > INT32_MAX)
        return err_set(err, E_LIMIT, "there are more than 2^31 rows");
    o->n = (uint32_t)n;
    return OK;
}

static enum status fill_path(struct owners *o, uint32_t table, uint32_t path,
                             struct err *err);

static enum status fill_edge(struct owners *o, uint32_t table,
                             const struct owner_path *p, uint32_t *out,
                             struct err *err)
{
    const struct owner_edge *e = &def_of(o, table)->owned_by.p[p->edge];
    const struct step *s = &o->steps[table][p->edge];
    size_t n = lookup_n_rows(&o->st->tables[table]);
    TRY(fill_path(o, e->table, p->rest, err));
    const uint32_t *next = o->cols[e->table][p->rest];
    for (size_t row = 0; row < n; row++) {
        if (s->rows[row] == LOOKUP_NULL)
            out[row] = o->base[table] + (uint32_t)row;
        else if (s->rows[row] == LOOKUP_MISSING)
            out[row] = s->to->base + s->ids[row];
        else
            out[row] = next[s->rows[row]];
    }
    return OK;
}

/* Depth is that of a path; settled paths have no cycle. */
static enum status fill_path(struct owners *o, uint32_t table, uint32_t path,
                             struct err *err)
{
    const struct owner_path *p = &def_of(o, table)->paths.p[path];
    size_t n = lookup_n_rows(&o->st->tables[table]);
    if (o->cols[table][path])
        return OK;
    uint32_t *out = o->cols[table][path] = new_column(o, table);
    if (!out)
        return store_nomem(o->mem, err);
    if (p->edge >= 0)
        return fill_edge(o, table, p, out, err);
    for (size_t row = 0; row < n; row++)
        out[row] = o->base[table] + (uint32_t)row;
    return OK;
}

static enum status find_all(struct owners *o, struct err *err)
{
    size_t n = o->st->n_tables;
    o->base = NEWS(&o->arena, uint32_t, n + 1);
    o->steps = NEWS(&o->arena, struct step *, n + 1);
    o->cols = NEWS(&o->arena, uint32_t **, n + 1);
    if (!o->base || !o->steps || !o->cols)
        return store_nomem(o->mem, err);
    TRY(follow_all(o, err));
    TRY(give_ids(o, err));
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t p = 0; is_here(o, t) && p < def_of(o, t)->paths.n; p++)
            TRY(fill_path(o, t, p, err));
    for (uint32_t t = 0; t < n; t++)
        free_table(o, t);
    return OK;
}

enum status owners_find(struct mem *m, const struct store *st,
                        struct owners **out, struct err *err)
{
    *out = NULL;
    struct owners *o = mem_alloc(m, sizeof *o);
    if (!o)
        return store_nomem(m, err);
    *o = (struct owners){.mem = m, .st = st};
    arena_init(&o->arena, m);
    enum status s = find_all(o, err);
    if (s != OK) {
        owners_free(o);
        return s;
    }
    *out = o;
    return OK;
}

/* --- what to load --------------------------------------------------------- */

struct wanting {
    const struct schema *s;
    struct atom *(*at)(void *ctx, uint32_t table);
    void *ctx;
    bool *seen;
};

static bool want(struct wanting *w, uint32_t table)
{
    const struct table *t = &w->s->tables.p[table];
    if (w->seen[table] || !t->paths.n)
        return true;
    w->seen[table] = true;
    struct atom *at = w->at(w->ctx, table);
    for (uint32_t c = 0; at && c < at->n_args; c++)
        if (t->cols[c].leads)
            at->args[c].kind = TERM_VAR;
    for (size_t e = 0; at && e < t->owned_by.n; e++)
        if (!want(w, t->owned_by.p[e].table))
            return false;
    return at;
}

enum status owners_want(const struct schema *s, const struct cq *q,
                        struct atom *(*at)(void *ctx, uint32_t table),
                        void *ctx, struct arena *a, struct err *err)
{
    struct wanting w = {s, at, ctx, NEWS(a, bool, s->tables.n + 1)};
    if (!w.seen)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (!want(&w, q->atoms[i].table))
            return err_nomem(err);
    return OK;
}
