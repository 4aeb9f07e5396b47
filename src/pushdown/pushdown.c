/*
 * Requests to the database: a set of atoms falls into components that share
 * no variable and no comparison; the answer is the product of theirs. Equal
 * components are asked once. See pushdown_int.h.
 *
 * PRIVACY: nothing is written to the database and no temporary table is made;
 * what it computes stays in the session and comes here as one number.
 */
#include "base/reach.h"
#include "pushdown/pushdown_int.h"
#include "pushdown/pushdown_owned.h"

static bool can_count(const struct src_table *t)
{
    return t && (t->kind == SRC_PG || t->kind == SRC_DUCKDB);
}

/* All tables are with one database, *duck: NULL if that is PostgreSQL. */
static enum status check_tables(struct source *src, const struct cq *q,
                                struct duck **duck, struct err *err)
{
    *duck = NULL;
    for (uint32_t a = 0; a < q->n_atoms; a++) {
        const struct src_table *t = source_find_table(src, q->atoms[a].table);
        if (t && t->refused)
            return source_refuse(t, err);
        struct duck *d =
            can_count(t) && t->kind == SRC_DUCKDB ? duck_of(src, t) : NULL;
        *duck = a ? *duck : d;
        if (can_count(t) && d == *duck)
            continue;
        err_set(err, E_UNSUPPORTED,
                can_count(t) ? "table \"%.*s\" is not in the database of the "
                               "others"
                             : "table \"%.*s\" is not in a database that "
                               "counts (PostgreSQL, DuckDB, Parquet)",
                PSTR(q->schema->tables.p[q->atoms[a].table].name));
        err_hint(err, "Use --engine embedded.");
        return E_UNSUPPORTED;
    }
    return OK;
}

struct ask part_cut(const struct cq *q, struct ask *left)
{
    aset part = left->atoms & (~left->atoms + 1);
    vset all = cq_vars_of(q, left->atoms) | left->outside;
    struct vset_reach x = {.within = all};
    x.set = part ? cq_vars_of(q, part) : vset_one(vset_min(left->outside));
    while (vset_reach_round(&x)) {
        for (uint32_t i = 0; i < q->n_cmps; i++)
            if (vset_sub(cmp_vars(&q->cmps[i]), all))
                vset_reach_edge(&x, cmp_vars(&q->cmps[i]));
        ASET_EACH (a, left->atoms)
            vset_reach_edge(&x, atom_vars(q, a));
    }
    vset vars = x.set;
    ASET_EACH (a, left->atoms)
        if (atom_vars(q, a) & vars)
            part |= aset_one(a);
    struct ask one = {part, left->boundary & vars, left->outs & vars,
                      left->outside & vars};
    left->atoms &= ~part;
    left->outside &= ~vars;
    return one;
}

/* Row ids are not columns: the database cannot tell two equal rows apart. */
static enum status check_rowids(const struct cq *q, struct err *err)
{
    for (uint32_t i = 0; i < q->n_cmps; i++)
        VSET_EACH (v, cmp_vars(&q->cmps[i]))
            if (q->vars[v].is_rowid) {
                err_set(err, E_UNSUPPORTED,
                        "the database cannot compare rows of a bag");
                err_hint(err, "Use --engine embedded for this query.");
                return E_UNSUPPORTED;
            }
    return OK;
}

/* --- components
 * ----------------------------------------------------------------*/

static enum status describe(struct pushdown *c, const struct ask *ask,
                            struct part **out, struct str *key, struct err *err)
{
    *out = NEW(&c->scratch, struct part);
    if (!*out)
        return store_nomem(c->src->mem, err);
    TRY(part_init(*out, c->q, ask, err));
    return part_describe(&c->scratch, *out, key, err);
}

/* Into the batch, unless it is known or there already. */
static enum status queue_part(struct pushdown *c, struct batch *b,
                              const struct ask *ask, struct err *err)
{
    struct part *p = NULL;
    struct str key = {0};
    TRY(describe(c, ask, &p, &key, err));
    if (map_find(&c->answers, key) || batch_has(b, key))
        return OK;
    return batch_add(b, p, key, err);
}

static enum status ask_alone(struct pushdown *c, const struct part *p,
                             struct str key, struct err *err)
{
    struct batch *b = batch_new(c);
    enum status s =
        b ? batch_add(b, p, key, err) : store_nomem(c->src->mem, err);
    if (s == OK)
        s = batch_send(b, err);
    batch_free(b);
    return s;
}

static enum status answer_part(struct pushdown *c, const struct ask *ask,
                               u128 *out, struct err *err)
{
    struct part *p = NULL;
    struct str key = {0};
    TRY(describe(c, ask, &p, &key, err));
    if (!map_find(&c->answers, key))
        TRY(ask_alone(c, p, key, err));
    if (c->planning)
        return OK;
    uint64_t *known = map_find(&c->answers, key);
    if (!known)
        return err_internal(err, "pushdown: no answer");
    *out = c->values.p[*known];
    return OK;
}

/* Writes the SQL of the whole query without sending it: every column, type,
 * comparison and predicate that any request may need is in it. */
static enum status dry_run(struct pushdown *c, struct err *err)
{
    struct ask left = {.atoms = aset_first_n(c->q->n_atoms),
                       .outs = cq_free(c->q)};
    struct batch *b = batch_new(c);
    enum status s = b ? OK : store_nomem(c->src->mem, err);
    while (left.atoms && s == OK) {
        struct ask one = part_cut(c->q, &left);
        s = queue_part(c, b, &one, err);
        arena_fini(&c->scratch);
    }
    batch_free(b);
    return s;
}

/* --- opening
 * -------------------------------------------------------------------*/

struct opening {
    bool exact, owned;
    const struct pushdown_apart *apart;
};

static enum status open_counter(struct source *src, const struct cq *q,
                                const struct opening *how,
                                const struct progress *p, struct pushdown **out,
                                struct err *err)
{
    *out = NULL;
    struct duck *duck;
    TRY(check_tables(src, q, &duck, err));
    if (q->weight.on && duck) {
        err_set(err, E_UNSUPPORTED, "the database does not add up sums");
        err_hint(err, "Use --engine embedded, or leave it out.");
        return E_UNSUPPORTED;
    }
    TRY(check_rowids(q, err));
    if (how->exact)
        TRY(part_exact_supported(q, duck, err));
    TRY(pushdown_begin(src, duck, err));
    struct pushdown *c = mem_alloc(src->mem, sizeof *c);
    if (!c)
        return store_nomem(src->mem, err);
    *c = (struct pushdown){.src = src, .duck = duck};
    if (duck)
        duck_sqlgen(src, q, &c->sql);
    else
        pg_sqlgen(src, q, &c->sql);
    c->q = q;
    c->progress = p;
    arena_init(&c->arena, src->mem);
    arena_init(&c->scratch, src->mem);
    c->arena.wipe = true;
    map_init(&c->answers, &c->arena);
    enum status s = how->owned ? pushdown_add_owners(c, how->apart, err) : OK;
    if (s == OK)
        s = dry_run(c, err);
    if (s != OK) {
        pushdown_close(c);
        return s;
    }
    *out = c;
    return OK;
}

enum status pushdown_open(struct source *src, const struct cq *q, bool exact,
                          const struct progress *p, struct pushdown **out,
                          struct err *err)
{
    struct opening how = {.exact = exact};
    return open_counter(src, q, &how, p, out, err);
}

enum status pushdown_open_owned(struct source *src, const struct cq *q,
                                const struct pushdown_apart *apart,
                                const struct progress *p, struct pushdown **out,
                                struct err *err)
{
    struct opening how = {.owned = true, .apart = apart};
    return open_counter(src, q, &how, p, out, err);
}

void pushdown_close(struct pushdown *c)
{
    if (!c)
        return;
    arena_fini(&c->scratch);
    arena_fini(&c->arena);
    mem_free(c->src->mem, c, sizeof *c);
}

void pushdown_plan_only(struct pushdown *c, bool yes)
{
    c->planning = yes;
}

uint64_t pushdown_statements(const struct pushdown *c)
{
    return c->n_statements;
}

/* --- requests
 * --------------------------------------------------------------------*/

static struct ask make_ask(const struct pushdown *c, bool exact, aset f,
                           vset boundary, vset outs)
{
    return (struct ask){f, boundary, outs,
                        exact && f ? part_exact_outside(c->q, f) : 0};
}

static enum status queue(struct pushdown *c, struct batch **b, struct ask left,
                         struct err *err)
{
    enum status s = OK;
    while ((left.atoms || left.outside) && s == OK) {
        struct ask one = part_cut(c->q, &left);
        if (batch_full(*b)) {
            s = batch_send(*b, err);
            batch_free(*b);
            *b = batch_new(c);
            if (s == OK && !*b)
                s = store_nomem(c->src->mem, err);
        }
        if (s == OK)
            s = queue_part(c, *b, &one, err);
        arena_fini(&c->scratch);
    }
    return s;
}

enum status pushdown_prepare(void *ctx, const struct pushdown_ask *asks,
                             size_t n, struct err *err)
{
    struct pushdown *c = ctx;
    if (c->q->unsat)
        return OK;
    struct batch *b = batch_new(c);
    enum status s = b ? OK : store_nomem(c->src->mem, err);
    for (size_t i = 0; i < n && s == OK; i++)
        s = queue(c, &b,
                  make_ask(c, asks[i].exact, asks[i].f, asks[i].boundary,
                           asks[i].outs),
                  err);
    if (s == OK)
        s = batch_send(b, err);
    batch_free(b);
    return s;
}

static enum status answer(struct pushdown *c, struct ask left, u128 *out,
                          struct err *err)
{
    u128 product = 1;
    enum status s = OK;
    if (c->q->unsat && left.atoms) {
        *out = 0;
        return OK;
    }
    while ((left.atoms || left.outside) && s == OK) {
        struct ask one = part_cut(c->q, &left);
        u128 n = 0;
        s = answer_part(c, &one, &n, err);
        if (s == OK)
            product = count_mul(product, n);
        arena_fini(&c->scratch);
    }
    *out = product;
    return s;
}

enum status pushdown_max(void *ctx, aset f, vset boundary, vset outs, u128 *out,
                         struct err *err)
{
    return answer(ctx, make_ask(ctx, false, f, boundary, outs), out, err);
}

enum status pushdown_max_exact(void *ctx, aset f, vset boundary, vset outs,
                               u128 *out, struct err *err)
{
    return answer(ctx, make_ask(ctx, true, f, boundary, outs), out, err);
}

enum status pushdown_count(void *ctx, struct secret_count *out, struct err *err)
{
    struct pushdown *c = ctx;
    u128 n = 0;
    TRY(pushdown_max(c, aset_first_n(c->q->n_atoms), 0, cq_free(c->q), &n,
                     err));
    *out = secret_count_of(n);
    return OK;
}
