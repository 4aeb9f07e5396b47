/*
 * All groups of a query, whatever their keys are: see pushdown_owned.h. Each
 * component leaves one relation of its keys; a query of several components has
 * every combination of their rows.
 */
#include "pushdown/pushdown_gen.h"
#include "pushdown/pushdown_owned.h"

struct list_row {
    const struct str *keys; /* by column of the component */
    u128 w;
};

struct list_part {
    uint8_t vars[MAX_VARS]; /* of the columns */
    size_t n;
    VEC(struct list_row) rows;
};

struct list_job {
    struct pushdown *c;
    struct arena arena; /* rows */
    struct list_part *parts;
    size_t n;
    struct str *of_var, *key;
    pushdown_group_fn fn;
    void *ctx;
    struct err *err;
};

static vset keys_of(const struct cq *q)
{
    vset keys = 0;
    for (uint32_t i = 0; i < q->n_group; i++)
        keys |= term_var(q->outs[i]);
    return keys;
}

/* 'v' and the value as text, or 'n' for NULL. */
static void put_key(struct list_job *x, struct gen *g, const struct gen_rel *r,
                    unsigned col)
{
    const char *text = x->c->duck ? "varchar" : "text";
    sb_cstr(g->b, "COALESCE('v' || (");
    gen_ref(g, r, "r", col);
    sb_printf(g->b, ")::%s, 'n'), ", text);
}

static enum status take_row(void *ctx, const struct str *cells, struct err *err)
{
    struct list_job *x = ctx;
    struct list_part *p = &x->parts[x->n];
    struct list_row row;
    struct str *keys = NEWS(&x->arena, struct str, p->n + 1);
    if (!keys)
        return store_nomem(x->c->src->mem, err);
    for (size_t i = 0; i < p->n; i++) {
        struct str s = cells[i];
        if (!s.n)
            return err_internal(err, "pushdown: not a key");
        if (*s.p != 'v')
            continue;
        keys[i] = str_copy(&x->arena, (struct str){s.p + 1, s.n - 1});
        if (!keys[i].p)
            return store_nomem(x->c->src->mem, err);
    }
    row.keys = keys;
    if (!count_read(cells[p->n].p, cells[p->n].n, &row.w))
        return err_internal(err, "pushdown: not the count of a group");
    return VEC_PUSH(&x->arena, &p->rows, row)
               ? OK
               : store_nomem(x->c->src->mem, err);
}

static enum status ask_rows(struct list_job *x, struct gen *g,
                            const struct gen_rel *r)
{
    struct list_part *p = &x->parts[x->n];
    const char *between = " WHERE ";
    p->n = r->n;
    for (unsigned i = 0; i < r->n; i++)
        p->vars[i] = r->cols[i];
    gen_begin(g);
    pool_with(g->pool, &r->id, 1, g->b);
    sb_cstr(g->b, "SELECT ");
    for (unsigned i = 0; i < r->n; i++)
        put_key(x, g, r, i);
    sb_printf(g->b, "(%s)::%s FROM ", r->ones ? "1" : "r.w",
              x->c->duck ? "varchar" : "text");
    gen_from(g, r->id, "r");
    gen_where(g, r->id, "r", &between);
    if (g->b->failed || g->pool->failed)
        return err_nomem(x->err);
    return pushdown_query(x->c, g->b->p, p->n + 1, take_row, x, x->err);
}

/* PRIVACY: a value is known by its text, so equal ones must have one. */
static enum status check_keys(struct list_job *x, vset keys)
{
    VSET_EACH (v, keys) {
        enum type t = cq_column_type(x->c->q, v);
        if (t == T_INT || t == T_TEXT || t == T_BOOL || t == T_UUID)
            continue;
        err_set(x->err, E_UNSUPPORTED,
                "the database does not list values of this type");
        err_hint(x->err, "Use --engine embedded for this query.");
        return E_UNSUPPORTED;
    }
    return OK;
}

static enum status list_component(struct list_job *x, const struct ask *ask)
{
    struct arena *a = &x->c->scratch;
    struct part *p = NEW(a, struct part);
    struct gen *g = NEW(a, struct gen);
    struct pool pool;
    struct str text;
    struct gen_rel *r;
    bool never = false;
    if (!p || !g)
        return store_nomem(x->c->src->mem, x->err);
    pool_init(&pool, a);
    TRY(check_keys(x, ask->boundary));
    TRY(part_init(p, x->c->q, ask, x->err));
    /* only the key stays; what it determines is summed over */
    p->outs |= p->boundary & ~ask->boundary;
    p->boundary &= ask->boundary;
    TRY(part_describe(a, p, &text, x->err));
    gen_init(g, x->c, p, &pool, x->err);
    TRY(gen_relations(g, &never));
    if (never)
        return OK;
    TRY(gen_join(g, p->boundary, &r));
    return pool.failed ? err_nomem(x->err) : ask_rows(x, g, r);
}

/* --- combinations --------------------------------------------------------- */

static enum status emit(struct list_job *x, u128 w)
{
    const struct cq *q = x->c->q;
    for (uint32_t i = 0; i < q->n_group; i++)
        x->key[i] = q->outs[i].kind == TERM_VAR ? x->of_var[q->outs[i].id]
                                                : (struct str){0};
    return w ? x->fn(x->ctx, x->key, w, x->err) : OK;
}

/* With a row of each component from i on. */
static enum status combine(struct list_job *x, size_t i, u128 w)
{
    if (i == x->n)
        return emit(x, w);
    const struct list_part *p = &x->parts[i];
    for (size_t k = 0; k < p->rows.n; k++) {
        const struct list_row *row = &p->rows.p[k];
        for (size_t c = 0; c < p->n; c++)
            x->of_var[p->vars[c]] = row->keys[c];
        TRY(combine(x, i + 1, count_mul(w, row->w)));
    }
    return OK;
}

static enum status list_all(struct list_job *x)
{
    struct pushdown *c = x->c;
    const struct cq *q = c->q;
    struct ask left = {.atoms = aset_first_n(q->n_atoms),
                       .boundary = keys_of(q),
                       .outs = cq_free(q)};
    x->parts = NEWS(&x->arena, struct list_part, q->n_atoms + 1);
    x->of_var = NEWS(&x->arena, struct str, MAX_VARS);
    x->key = NEWS(&x->arena, struct str, q->n_group + 1);
    if (!x->parts || !x->of_var || !x->key)
        return store_nomem(c->src->mem, x->err);
    enum status st = OK;
    for (; left.atoms && st == OK; x->n++) {
        struct ask one = part_cut(q, &left);
        st = list_component(x, &one);
        arena_fini(&c->scratch);
    }
    return st == OK && !c->planning ? combine(x, 0, 1) : st;
}

enum status pushdown_list(struct pushdown *c, pushdown_group_fn fn, void *ctx,
                          struct err *err)
{
    struct list_job x = {.c = c, .fn = fn, .ctx = ctx, .err = err};
    if (c->q->unsat)
        return OK;
    arena_init(&x.arena, c->src->mem);
    x.arena.wipe = true;
    enum status st = list_all(&x);
    arena_fini(&x.arena);
    return st;
}
