/*
 * The relations of a statement, each text once. See pushdown_gen.h.
 *
 * A relation that several others use is a common table expression that they
 * share; the database computes it once and keeps it for the statement. So
 * messages are shared without a temporary table, in a transaction that may
 * only read.
 */
#include "pushdown/pushdown_gen.h"

void pool_init(struct pool *pool, struct arena *a)
{
    *pool = (struct pool){.arena = a};
    map_init(&pool->ids, a);
}

void gen_init(struct gen *g, struct pushdown *c, const struct part *p,
              struct pool *pool, struct err *err)
{
    *g = (struct gen){.c = c, .p = p, .pool = pool, .err = err};
    g->b = &g->body;
}

void gen_begin(struct gen *g)
{
    sb_init(g->b, g->pool->arena);
    g->n_deps = 0;
    g->n_cols = 0;
}

void gen_as(struct gen *g, unsigned v)
{
    sb_printf(g->b, " AS c%u", g->n_cols);
    g->cols[g->n_cols++] = (uint8_t)v;
}

static bool add(struct gen *g, struct str body, bool plain)
{
    struct pool *pool = g->pool;
    unsigned *deps = NEWS(pool->arena, unsigned, g->n_deps + 1);
    if (!deps)
        return false;
    for (unsigned i = 0; i < g->n_deps; i++)
        deps[i] = g->deps[i];
    struct pooled one = {
        .body = body, .plain = plain, .deps = deps, .n_deps = g->n_deps};
    return VEC_PUSH(pool->arena, &pool->list, one);
}

unsigned gen_pool(struct gen *g, bool plain)
{
    struct pool *pool = g->pool;
    struct str body = sb_view(g->b);
    bool is_new = false;
    uint64_t *id = NULL;
    if (!g->b->failed)
        id = map_put(&pool->ids, body, pool->list.n, &is_new);
    if (!id || (is_new && !add(g, body, plain))) {
        pool->failed = true;
        return 0;
    }
    return (unsigned)*id;
}

struct gen_rel *gen_end(struct gen *g, bool plain)
{
    struct gen_rel *r = &g->rels[g->n++];
    *r = (struct gen_rel){.live = true, .n = g->n_cols};
    for (unsigned i = 0; i < g->n_cols; i++) {
        r->cols[i] = g->cols[i];
        r->vars |= vset_one(g->cols[i]);
    }
    r->key = r->vars;
    r->id = gen_pool(g, plain);
    return r;
}

void gen_from(struct gen *g, unsigned id, const char *alias)
{
    if (g->pool->failed)
        return;
    const struct pooled *p = &g->pool->list.p[id];
    if (p->table.n)
        sb_printf(g->b, "%.*s %s", PSTR(p->table), alias);
    else if (p->plain)
        sb_printf(g->b, "(%.*s) %s", PSTR(p->body), alias);
    else
        sb_printf(g->b, "m%u %s", id, alias);
    g->deps[g->n_deps++] = id;
}

/* The alias for each mark. */
static void put_named(struct sb *b, struct str text, const char *alias)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == SQLGEN_MARK)
            sb_cstr(b, alias);
        else
            sb_char(b, text.p[i]);
}

void gen_where(struct gen *g, unsigned id, const char *alias,
               const char **between)
{
    const size_t and = sizeof " AND " - 1;
    if (g->pool->failed || !g->pool->list.p[id].where.n)
        return;
    struct str where = g->pool->list.p[id].where;
    sb_cstr(g->b, *between);
    put_named(g->b, (struct str){where.p + and, where.n - and}, alias);
    *between = " AND ";
}

unsigned gen_col(const struct gen_rel *r, unsigned v)
{
    unsigned i = 0;
    while (r->cols[i] != v)
        i++;
    return i;
}

void gen_ref(struct gen *g, const struct gen_rel *r, const char *alias,
             unsigned col)
{
    if (g->pool->failed)
        return;
    const struct pooled *p = &g->pool->list.p[r->id];
    if (p->table.n)
        put_named(g->b, p->names[col], alias);
    else
        sb_printf(g->b, "%s.c%u", alias, col);
}

void pool_mark(const struct pool *pool, unsigned root, bool *marks)
{
    if (marks[root])
        return;
    marks[root] = true;
    for (size_t i = 0; i < pool->list.p[root].n_deps; i++)
        pool_mark(pool, pool->list.p[root].deps[i], marks);
}

void pool_with(const struct pool *pool, const unsigned *roots, size_t n,
               struct sb *out)
{
    bool *marks = NEWS(pool->arena, bool, pool->list.n + 1);
    const char *between = "WITH ";
    if (!marks || pool->failed) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        pool_mark(pool, roots[i], marks);
    for (unsigned i = 0; i < pool->list.n; i++) {
        const struct pooled *p = &pool->list.p[i];
        if (!marks[i] || p->plain)
            continue;
        sb_printf(out, "%sm%u AS (%.*s)", between, i, PSTR(p->body));
        between = ",\n";
    }
    sb_char(out, '\n');
}
