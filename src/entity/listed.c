/* Contributions from a database: see listed.h. */
#include "entity/listed.h"

#include "base/map.h"
#include "entity/view.h"
#include "pushdown/pushdown_owned.h"

struct listed {
    struct mem *mem;
    struct arena arena; /* names */
    struct source *src;
    const struct cq *q;
    const struct completion *c;
    const struct progress *progress;
    struct owner_view view; /* the schema alone */
    struct map numbers;     /* of owners, by name */
    VEC(struct str) names;
    bool planning;
};

/* One question, while it is answered. */
struct listed_question {
    struct listed *x;
    const struct cq *q;
    unsigned k; /* owners among the keys, which come first */
    const struct pushdown_apart *apart;
    contrib_each each;
    void *ctx;
    struct arena scratch;
    struct arena_mark start;
    struct value *key;
};

/* --- rows ----------------------------------------------------------------- */

static enum status number_owner(struct listed *x, struct str name,
                                struct value *out, struct err *err)
{
    const uint64_t *at = map_find(&x->numbers, name);
    uint32_t n = at ? (uint32_t)*at : (uint32_t)x->names.n;
    if (!at) {
        struct str copy = str_copy(&x->arena, name);
        if (n >= INT32_MAX)
            return err_set(err, E_LIMIT, "there are more than 2^31 owners");
        if (!copy.p || !VEC_PUSH(&x->arena, &x->names, copy) ||
            !map_put(&x->numbers, copy, n, NULL))
            return store_nomem(x->mem, err);
    }
    *out = value_int(n);
    return OK;
}

static enum status read_owner(struct listed_question *l, struct str name,
                              struct value *out, struct err *err)
{
    if (!name.p || (!name.n && !l->apart))
        return err_internal(err, "listed: a row without owner");
    if (name.n)
        return number_owner(l->x, name, out, err);
    *out = value_int(CONTRIB_LIGHT);
    return OK;
}

static enum status read_key(struct listed_question *l, uint32_t i,
                            struct str text, struct err *err)
{
    struct term t = l->q->outs[i];
    l->key[i] = value_null();
    if (t.kind == TERM_CONST)
        l->key[i] = l->q->consts[t.id];
    else if (text.p && !value_parse(&l->scratch, text,
                                    cq_column_type(l->q, t.id), &l->key[i]))
        return err_internal(err, "listed: not a value of its type");
    return OK;
}

static enum status take_group(void *ctx, const struct str *cells, u128 count,
                              struct err *err)
{
    struct listed_question *l = ctx;
    arena_release(&l->scratch, l->start);
    for (uint32_t i = 0; i < l->k; i++)
        TRY(read_owner(l, cells[i], &l->key[i], err));
    for (uint32_t i = l->k; i < l->q->n_group; i++)
        TRY(read_key(l, i, cells[i], err));
    return l->each(l->ctx, l->key, count, err);
}

/* --- questions ------------------------------------------------------------ */

/* The names of those that have more than the floor. */
static enum status names_apart(struct listed *x,
                               const struct contrib_heavy *heavy,
                               struct arena *a, struct pushdown_apart *out,
                               struct err *err)
{
    struct str *names = NEWS(a, struct str, x->names.n + 2);
    if (!names)
        return store_nomem(x->mem, err);
    *out = (struct pushdown_apart){.names = names};
    if (x->planning) {
        names[out->n++] = STR("one");
        names[out->n++] = STR("another");
    }
    for (size_t i = 0; i < x->names.n; i++)
        if (heavy->has[i] > heavy->floor)
            names[out->n++] = x->names.p[i];
    return OK;
}

static enum status ask(struct listed_question *l, struct err *err)
{
    struct pushdown *c;
    l->key = NEWS(&l->scratch, struct value, l->q->n_group + 1);
    if (!l->key)
        return store_nomem(l->x->mem, err);
    l->start = arena_mark(&l->scratch);
    TRY(pushdown_open_owned(l->x->src, l->q, l->apart, l->x->progress, &c,
                            err));
    pushdown_plan_only(c, l->x->planning);
    enum status st = pushdown_list(c, take_group, l, err);
    pushdown_close(c);
    return st;
}

static enum status list(void *from, const struct contrib_question *what,
                        contrib_each each, void *ctx, struct err *err)
{
    struct listed *x = from;
    struct arena a;
    struct cq *q;
    struct pushdown_apart apart;
    struct listed_question l = {.x = x,
                                .k = (unsigned)__builtin_popcount(what->vars),
                                .apart = what->heavy ? &apart : NULL,
                                .each = each,
                                .ctx = ctx};
    arena_init(&a, x->mem);
    arena_init(&l.scratch, x->mem);
    a.wipe = l.scratch.wipe = true;
    enum status st =
        view_query(&a, x->q, x->c, &x->view, what->vars, what->more, &q, err);
    l.q = q;
    if (st == OK && what->heavy)
        st = names_apart(x, what->heavy, &a, &apart, err);
    if (st == OK)
        st = ask(&l, err);
    arena_fini(&l.scratch);
    arena_fini(&a);
    return st;
}

static uint32_t count_owners(const void *from)
{
    const struct listed *x = from;
    return (uint32_t)x->names.n;
}

struct contrib_lister listed_lister(struct listed *x)
{
    return (struct contrib_lister){list, count_owners, x};
}

/* --- opening -------------------------------------------------------------- */

enum status listed_open(struct mem *m, struct source *src, const struct cq *q,
                        const struct completion *c, const struct progress *p,
                        struct listed **out, struct err *err)
{
    *out = NULL;
    struct listed *x = mem_alloc(m, sizeof *x);
    if (!x)
        return store_nomem(m, err);
    *x = (struct listed){.mem = m, .src = src, .q = q, .c = c, .progress = p};
    arena_init(&x->arena, m);
    x->arena.wipe = true;
    map_init(&x->numbers, &x->arena);
    enum status st =
        view_schema(&x->arena, q->schema, T_TEXT, &x->view.schema, err);
    if (st != OK) {
        listed_close(x);
        return st;
    }
    *out = x;
    return OK;
}

void listed_close(struct listed *x)
{
    if (!x)
        return;
    struct mem *m = x->mem;
    arena_fini(&x->arena);
    mem_free(m, x, sizeof *x);
}

static enum status take_nothing(void *ctx, const struct value *key, u128 count,
                                struct err *err)
{
    (void)ctx;
    (void)key;
    (void)count;
    return err_internal(err, "listed: a row of a plan");
}

enum status listed_plan(struct listed *x, bool keys, struct err *err)
{
    struct contrib_heavy none = {0};
    struct contrib_question all = {.vars = (1u << x->c->k) - 1};
    all.more = !x->c->determined ? x->q->n_outs : keys ? x->q->n_group : 0;
    enum status st = OK;
    x->planning = true;
    for (unsigned i = 0; st == OK && x->c->k > 1 && i < x->c->k; i++) {
        struct contrib_question one = {.vars = 1u << i};
        st = list(x, &one, take_nothing, NULL, err);
    }
    if (st == OK)
        st = list(x, &all, take_nothing, NULL, err);
    all.heavy = &none;
    if (st == OK && x->c->k > 1)
        st = list(x, &all, take_nothing, NULL, err);
    x->planning = false;
    return st;
}
